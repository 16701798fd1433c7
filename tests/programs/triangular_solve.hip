// A triangular solve whose work-groups wait, by flags in memory, for the rows that theirs depend
// on: rocSPARSE's csrsv on a band whose rows need the one in front and some far away. Checked
// against the solution that the right side was made from.
// Usage: triangular_solve [rows] [busy]; with `busy` a host thread takes up a processor meanwhile.
// hipcc-flags: -lrocsparse
#include <rocsparse/rocsparse.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

static void sparse_check(rocsparse_status status, const char* what) {
    if (status == rocsparse_status_success) return;
    std::printf("FAIL %s: rocsparse status %d\n", what, int(status));
    std::exit(1);
}
#define SPARSE_CHECK(call) sparse_check(call, #call)

int main(int argc, char** argv) {
    const int rows = int(check::argument(argc, argv, 1, 32768));
    const bool busy = argc > 2 && std::string(argv[2]) == "busy";
    // L x = b with x[i] = 1 + i % 7, exact in double: coefficients are small integers, the diagonal
    // is 1.
    std::vector<int> begin{0}, column;
    std::vector<double> value, x(rows), b(rows);
    for (int i = 0; i < rows; i++) x[i] = 1 + i % 7;
    for (int i = 0; i < rows; i++) {
        const auto add = [&](int j, double v) {
            column.push_back(j);
            value.push_back(v);
            b[i] += v * x[j];
        };
        if (i >= 500 && i % 3 == 0) add(i - 500, -1);
        if (i >= 64 && i % 2 == 0) add(i - 64, 1);
        if (i >= 1 && i % 16) add(i - 1, i % 2 ? 1 : -1);
        add(i, 1);
        begin.push_back(int(column.size()));
    }
    const int entries = int(column.size());
    int *d_begin, *d_column;
    double *d_value, *d_b, *d_y;
    HIP_CHECK(hipMalloc(&d_begin, begin.size() * sizeof(int)));
    HIP_CHECK(hipMalloc(&d_column, column.size() * sizeof(int)));
    HIP_CHECK(hipMalloc(&d_value, value.size() * sizeof(double)));
    HIP_CHECK(hipMalloc(&d_b, rows * sizeof(double)));
    HIP_CHECK(hipMalloc(&d_y, rows * sizeof(double)));
    HIP_CHECK(hipMemcpy(d_begin, begin.data(), begin.size() * sizeof(int), hipMemcpyHostToDevice));
    HIP_CHECK(
        hipMemcpy(d_column, column.data(), column.size() * sizeof(int), hipMemcpyHostToDevice));
    HIP_CHECK(
        hipMemcpy(d_value, value.data(), value.size() * sizeof(double), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_b, b.data(), rows * sizeof(double), hipMemcpyHostToDevice));

    std::atomic<bool> stop{false};
    std::thread beside([&] {
        while (busy && !stop.load(std::memory_order_relaxed)) {
        }
    });

    rocsparse_handle handle;
    rocsparse_mat_descr triangle;
    rocsparse_mat_info info;
    SPARSE_CHECK(rocsparse_create_handle(&handle));
    SPARSE_CHECK(rocsparse_create_mat_descr(&triangle));
    SPARSE_CHECK(rocsparse_set_mat_fill_mode(triangle, rocsparse_fill_mode_lower));
    SPARSE_CHECK(rocsparse_set_mat_diag_type(triangle, rocsparse_diag_type_non_unit));
    SPARSE_CHECK(rocsparse_create_mat_info(&info));
    const auto none = rocsparse_operation_none;
    size_t bytes = 0;
    SPARSE_CHECK(rocsparse_dcsrsv_buffer_size(handle, none, rows, entries, triangle, d_value,
                                              d_begin, d_column, info, &bytes));
    void* buffer;
    HIP_CHECK(hipMalloc(&buffer, bytes));
    SPARSE_CHECK(rocsparse_dcsrsv_analysis(handle, none, rows, entries, triangle, d_value, d_begin,
                                           d_column, info, rocsparse_analysis_policy_force,
                                           rocsparse_solve_policy_auto, buffer));
    const double alpha = 1;
    for (int times = 0; times < 3; times++) {
        HIP_CHECK(hipMemset(d_y, 0xff, rows * sizeof(double)));
        SPARSE_CHECK(rocsparse_dcsrsv_solve(handle, none, rows, entries, &alpha, triangle, d_value,
                                            d_begin, d_column, info, d_b, d_y,
                                            rocsparse_solve_policy_auto, buffer));
        std::vector<double> y(rows);
        HIP_CHECK(hipMemcpy(y.data(), d_y, rows * sizeof(double), hipMemcpyDeviceToHost));
        for (int i = 0; i < rows; i++)
            if (y[i] != x[i]) return std::printf("FAIL row %d: %g, not %g\n", i, y[i], x[i]), 1;
    }
    stop = true;
    beside.join();
    std::printf("PASS triangular_solve\n");
}
