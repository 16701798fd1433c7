// libFuzzer: packets of a queue. An input is up to 16 packets of 64 bytes, as a program writes
// them, but for what names memory of the process, on hardware as here: signals are one of a few,
// kernel objects and arguments mostly. Each is carried out, refused by the queue's callback, or
// cancelled with the queue; then a good packet on the next queue works. Memory is checked, so
// kernels that are started with anything reach nothing of the host's.
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr uint64_t packet_bytes = 64, most_packets = 16, ring = 64, patience_ns = 3'000'000;
constexpr uint32_t items = 64;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "packets: %s\n", what);
    std::abort();
}
void require(hsa_status_t status, const char* call) {
    require(status == HSA_STATUS_SUCCESS, call);
}
#define HSA_OK(call) require(call, #call)

struct Process {
    hsa_agent_t gpu{};
    hsa_amd_memory_pool_t pool{};
    hsa_executable_t executable{};
    std::vector<uint64_t> kernels;
    uint32_t** arguments = nullptr;
    hsa_signal_t zero{}, one{}, completion{};
    std::atomic<uint32_t> refused{0};

    Process() {
        HSA_OK(hsa_init());
        hsa_iterate_agents(
            [](hsa_agent_t agent, void* self) {
                hsa_device_type_t type;
                hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
                if (type == HSA_DEVICE_TYPE_GPU) static_cast<Process*>(self)->gpu = agent;
                return HSA_STATUS_SUCCESS;
            },
            this);
        hsa_amd_agent_iterate_memory_pools(
            gpu,
            [](hsa_amd_memory_pool_t p, void* self) {
                bool may = false;
                hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                             &may);
                if (may) static_cast<Process*>(self)->pool = p;
                return HSA_STATUS_SUCCESS;
            },
            this);
        load(WJ_KERNELS);
        arguments = allocate<uint32_t*>(64);
        for (int i = 0; i < 64; i++) arguments[i] = i < 2 ? allocate<uint32_t>(1024) : nullptr;
        HSA_OK(hsa_signal_create(0, 0, nullptr, &zero));
        HSA_OK(hsa_signal_create(1, 0, nullptr, &one));
        HSA_OK(hsa_signal_create(0, 0, nullptr, &completion));
    }

    template <class T>
    T* allocate(size_t count) {
        void* p = nullptr;
        HSA_OK(hsa_amd_memory_pool_allocate(pool, count * sizeof(T), 0, &p));
        return static_cast<T*>(p);
    }

    void load(const char* path) {
        hsa_code_object_reader_t reader;
        const int file = open(path, O_RDONLY);
        require(file >= 0, path);
        HSA_OK(hsa_code_object_reader_create_from_file(file, &reader));
        HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         nullptr, &executable));
        HSA_OK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
        HSA_OK(hsa_executable_freeze(executable, nullptr));
        HSA_OK(hsa_code_object_reader_destroy(reader));
        close(file);
        for (const char* name : {"copy.kd", "sum.kd", "private_array.kd", "ids.kd"}) {
            hsa_executable_symbol_t symbol;
            uint64_t object = 0;
            HSA_OK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
            HSA_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                                  &object));
            kernels.push_back(object);
        }
    }
};

Process& process() {
    static Process& p = *new Process;
    return p;
}

class Queue {
public:
    Queue() {
        const auto refuse = [](hsa_status_t status, hsa_queue_t*, void*) {
            require(status != HSA_STATUS_SUCCESS, "a queue that fails says that it does not");
            process().refused++;
        };
        HSA_OK(hsa_queue_create(process().gpu, ring, HSA_QUEUE_TYPE_MULTI, refuse, nullptr,
                                UINT32_MAX, UINT32_MAX, &queue_));
    }
    ~Queue() { HSA_OK(hsa_queue_destroy(queue_)); }

    void submit(const uint8_t* packet) {
        const uint64_t index = hsa_queue_add_write_index_screlease(queue_, 1);
        auto* slot = static_cast<uint8_t*>(queue_->base_address) + index % ring * packet_bytes;
        uint32_t first;
        std::memcpy(&first, packet, 4);
        std::memcpy(slot + 4, packet + 4, packet_bytes - 4);
        __atomic_store_n(reinterpret_cast<uint32_t*>(slot), first, __ATOMIC_RELEASE);
        hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    }
    void check_indices() {
        require(hsa_queue_load_read_index_scacquire(queue_) <=
                    hsa_queue_load_write_index_scacquire(queue_),
                "a packet was read that nobody wrote");
    }

private:
    hsa_queue_t* queue_ = nullptr;
};

uint64_t read(const uint8_t* at) {
    uint64_t value;
    std::memcpy(&value, at, 8);
    return value;
}

void name_signal(uint8_t* at, uint32_t choices) {
    const hsa_signal_t which[] = {{0}, process().completion, process().zero, process().one};
    const uint64_t handle = which[*at % choices].handle;
    std::memcpy(at, &handle, 8);
}

// What names memory of the process, by the format that the packet's header says.
void name_memory(uint8_t* packet) {
    Process& p = process();
    name_signal(packet + 56, 2);
    const uint8_t type = packet[0];
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
        uint64_t object = read(packet + 32), arguments = read(packet + 40);
        if (object >> 56 < 2) {
            const uint64_t beside = object >> 56 ? object >> 8 & 0xffff : 0;
            object = p.kernels[object % p.kernels.size()] + beside;
        }
        if (!(arguments >> 56))
            arguments = reinterpret_cast<uint64_t>(p.arguments) + (arguments & 0xf8);
        std::memcpy(packet + 32, &object, 8);
        std::memcpy(packet + 40, &arguments, 8);
    } else if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
        name_signal(packet + 8, 4);
    } else {
        for (int i = 0; i < 5; i++) name_signal(packet + 8 + 8 * i, 4);
    }
}

bool done() {
    return hsa_signal_wait_scacquire(process().completion, HSA_SIGNAL_CONDITION_LT, 1, patience_ns,
                                     HSA_WAIT_STATE_BLOCKED) < 1;
}

void check_good_packet() {
    Process& p = process();
    hsa_kernel_dispatch_packet_t good{};
    good.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
    good.setup = 1;
    good.workgroup_size_x = good.grid_size_x = items;
    good.workgroup_size_y = good.workgroup_size_z = good.grid_size_y = good.grid_size_z = 1;
    good.kernel_object = p.kernels[0];
    good.kernarg_address = p.arguments;
    good.completion_signal = p.completion;
    uint32_t* const from = p.arguments[0];
    uint32_t* const to = p.arguments[1];
    for (uint32_t i = 0; i < items; i++) from[i] = 7 + i, to[i] = 0;
    hsa_signal_store_screlease(p.completion, 1);
    Queue queue;
    queue.submit(reinterpret_cast<const uint8_t*>(&good));
    for (int i = 0; i < 3000 && !done(); i++) {
    }
    for (uint32_t i = 0; i < items; i++)
        require(to[i] == 7 + i, "a good packet behind others is not carried out");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Process& p = process();
    const uint64_t count = std::min<uint64_t>(size / packet_bytes, most_packets);
    uint32_t completions = 0;
    std::vector<uint8_t> packets(data, data + count * packet_bytes);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t* const packet = &packets[i * packet_bytes];
        name_memory(packet);
        completions += read(packet + 56) != 0;
    }
    hsa_signal_store_screlease(p.zero, 0);
    hsa_signal_store_screlease(p.one, 1);
    hsa_signal_store_screlease(p.completion, completions);
    // What kernels were given may be what others have changed.
    static uint32_t* const memory[] = {p.arguments[0], p.arguments[1]};
    std::memset(p.arguments, 0, 64 * sizeof(uint32_t*));
    std::memcpy(p.arguments, memory, sizeof memory);
    const uint32_t refused = p.refused;
    {
        Queue queue;
        for (uint64_t i = 0; i < count; i++) queue.submit(&packets[i * packet_bytes]);
        if (p.refused == refused) (void)done();
        queue.check_indices();
    }
    static uint64_t inputs = 0;
    std::memcpy(p.arguments, memory, sizeof memory);
    if (++inputs % 64 == 0) check_good_packet();
    return 0;
}
