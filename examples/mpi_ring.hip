// HIP and MPI: every rank hands a device buffer to the next one, by its device pointer, and works
// on what it gets. Usage: mpirun -n 2 mpi_ring [elements] [rounds]
// hipcc-flags: -I/usr/lib/x86_64-linux-gnu/openmpi/include -DOMPI_SKIP_MPICXX -lmpi
#include <mpi.h>

#include "check.h"

__global__ void work(uint32_t* data, size_t n, uint32_t rank) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * 1664525u + rank + 1;
}

int main(int argc, char** argv) {
    // Open MPI's topology library would load every OpenCL driver, and with PoCL's a second LLVM
    // beside HIP's.
    setenv("HWLOC_COMPONENTS", "-opencl", 0);
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t n = check::argument(argc, argv, 1, 50000);
    int rounds = int(check::argument(argc, argv, 2, 3));
    std::vector<uint32_t> first(n), want(n);
    for (size_t i = 0; i < n; i++) first[i] = uint32_t(i) ^ uint32_t(rank) << 24;
    check::Device<uint32_t> mine(first), theirs(n);
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    for (int round = 0; round < rounds; round++) {
        work<<<check::blocks(n, 256), 256>>>(mine, n, uint32_t(rank));
        check::launched();
        // Device pointers: the emulated GPU's memory is host memory, so MPI needs no GPU support.
        MPI_Sendrecv(mine.get(), int(n), MPI_UINT32_T, next, round, theirs.get(), int(n),
                     MPI_UINT32_T, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        HIP_CHECK(hipMemcpy(mine, theirs, n * sizeof(uint32_t), hipMemcpyDeviceToDevice));
        HIP_CHECK(hipDeviceSynchronize());
    }
    // After the rounds a rank holds what began `rounds` ranks before it.
    int origin = ((rank - rounds) % ranks + ranks) % ranks;
    for (size_t i = 0; i < n; i++) {
        want[i] = uint32_t(i) ^ uint32_t(origin) << 24;
        for (int round = 0; round < rounds; round++)
            want[i] = want[i] * 1664525u + uint32_t((origin + round) % ranks) + 1;
    }
    int ok = check::equal("data", mine.to_host(), want), all = 0;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all) std::printf("%d ranks\n", ranks);
    int status = rank == 0 ? check::result("mpi_ring", all) : !all;
    MPI_Finalize();
    return status;
}
