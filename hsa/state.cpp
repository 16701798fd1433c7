#include "hsa/state.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "hsa/doorbells.h"
#include "hsa/signal.h"
#include "machine/guard.h"
#include "machine/interrupt.h"
#include "runtime/environment.h"
#include "runtime/program_options.h"
#include "runtime/program_target.h"

namespace wj::hsa {
namespace {

std::mutex init_mutex;
State* instance = nullptr;  // never deleted
ForkGuard guard;

// The library's destructors have run. From then on hsa_init fails, as the real one's does: LLVM's
// OpenMP runtime asks its plug-in for devices once more when the program's own destructors run, and
// it is the failing hsa_init that keeps the plug-in from what it has destroyed already.
std::atomic<bool> ended{false};
struct AtEnd {
    ~AtEnd() { ended.store(true); }
} at_end;

uint64_t host_memory_bytes() {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string host_processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) {
            const size_t at = line.find(": ");
            if (at != std::string::npos) return line.substr(at + 2, 63);
        }
    return "CPU";
}

const char* variable(const char* name) {
    const char* text = std::getenv(name);
    return text && *text ? text : nullptr;
}

void add_pool(Agent& agent, hsa_region_segment_t segment, uint32_t flags, uint64_t size,
              const char* label) {
    auto pool = std::make_unique<Pool>();
    pool->agent = &agent;
    pool->segment = segment;
    pool->flags = flags;
    pool->size = size;
    pool->label = label;
    pool->used = &agent.memory_used;
    agent.pools.push_back(std::move(pool));
}

void add_cache(Agent& agent, const char* name, uint8_t level, uint32_t size) {
    agent.caches.push_back(std::make_unique<Cache>(Cache{name, level, size}));
}

std::unique_ptr<Agent> make_cpu_agent() {
    auto agent = std::make_unique<Agent>();
    agent->name = agent->product = host_processor_name();
    agent->vendor = "CPU";
    agent->uuid = "CPU-XX";
    agent->compute_units = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    agent->memory_bytes = host_memory_bytes();
    constexpr auto global = HSA_REGION_SEGMENT_GLOBAL;
    // Order and flags: contract 4.1.
    add_pool(*agent, global, HSA_REGION_GLOBAL_FLAG_FINE_GRAINED, agent->memory_bytes,
             "fine-grained host memory");
    add_pool(*agent, global, HSA_REGION_GLOBAL_FLAG_FINE_GRAINED | HSA_REGION_GLOBAL_FLAG_KERNARG,
             agent->memory_bytes, "kernel argument memory");
    add_pool(*agent, global, HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED, agent->memory_bytes,
             "coarse-grained host memory");
    add_cache(*agent, "L1", 1, 32 << 10);
    return agent;
}

Result<std::unique_ptr<Agent>> make_gpu_agent(const runtime::DeviceOptions& options,
                                              uint32_t index) {
    auto device = runtime::Device::create(options);
    if (!device) return device.status();
    auto agent = std::make_unique<Agent>();
    agent->gpu = true;
    agent->node = index + 1;
    agent->device = std::move(*device);
    agent->device->set_look_around([] { doorbells().look(); });
    const Target& target = agent->device->target();
    agent->name = target.name;
    agent->vendor = "AMD";
    agent->product = "wavejit emulated " + agent->name;
    char uuid[32];
    std::snprintf(uuid, sizeof uuid, "GPU-%016x", 0x776a0000 + index);
    agent->uuid = uuid;
    agent->facts = &agent_facts(target.name);
    const char* xnack = variable("HSA_XNACK");
    agent->isa.agent = agent.get();
    agent->isa.name = isa_name(target, *agent->facts, options.target, xnack && *xnack == '1');
    agent->compute_units = agent->device->options().compute_units;
    agent->memory_bytes = options.memory_bytes ? options.memory_bytes : host_memory_bytes() / 4 * 3;
    constexpr auto global = HSA_REGION_SEGMENT_GLOBAL;
    add_pool(*agent, global, HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED, agent->memory_bytes,
             "device memory");
    add_pool(*agent, global, HSA_REGION_GLOBAL_FLAG_FINE_GRAINED, agent->memory_bytes,
             "fine-grained device memory");
    add_pool(*agent, HSA_REGION_SEGMENT_GROUP, 0, target.traits.lds_bytes, "LDS");
    add_cache(*agent, "L1", 1, 16 << 10);
    add_cache(*agent, "L2", 2, agent->facts->l2_bytes);
    return agent;
}

// HIP compiles its fill and copy kernels when a program first needs them, with files in the folder
// that LLVM takes for temporary ones. Where it cannot, HIP dies of a null pointer in silence.
void check_temporary_folder() {
    const char* folder = "/tmp";
    for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
        if (const char* value = std::getenv(name)) {
            folder = value;
            break;
        }
    // Only a file shows it: access() knows neither full disks nor folders like /proc.
    std::string name = std::string(folder) + "/wavejit-XXXXXX";
    constexpr off_t small_program = 256 << 10;  // bytes
    const int file = mkostemp(name.data(), O_CLOEXEC);
    const int error = file < 0 ? errno : posix_fallocate(file, 0, small_program);
    if (file >= 0) {
        close(file);
        unlink(name.c_str());
    }
    if (error)
        log_error(std::string("the folder for temporary files, ") + folder +
                  ", cannot be written (" + std::strerror(error) +
                  "): HIP compiles kernels of its own there, and crashes where it cannot; set "
                  "TMPDIR to a folder that can be written");
}

// As `wavejit run` does for programs that it starts: HIP says at most that there is no binary, and
// HIP 7 crashes instead. Only said, as programs may have libraries with code of their own.
void look_at_program(runtime::DeviceOptions& options) {
    std::error_code error;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (const char* target = variable("WAVEJIT_TARGET")) {
        if (Status s = runtime::check_target(program, target); !s) log_error(s.message());
        return;
    }
    auto chosen = runtime::choose_target(program);
    if (!chosen)
        log_error(chosen.status().message());
    else if (!chosen->empty())
        options.target = *chosen;
}

Status build(State& s) {
    runtime::DeviceOptions base;
    base.cache = true;
    look_at_program(base);
    runtime::report_unknown_variables();
    const auto program = runtime::ProgramOptions::from_environment(base);
    if (!program) return program.status();
    runtime::DeviceOptions options = program->device;
    s.timeout_ns = program->timeout_ns;
    s.checked_memory = options.memory_mode == machine::MemoryMode::Checked;
    s.agents.push_back(make_cpu_agent());
    for (uint32_t i = 0; i < program->agents; i++) {
        auto agent = make_gpu_agent(options, i);
        if (!agent) return agent.status();
        options.findings = (*agent)->device->options().findings;  // one report for all
        options.coverage_to = (*agent)->device->options().coverage_to;
        options.unwritten = (*agent)->device->options().unwritten;
        s.gpus.push_back(agent->get());
        s.agents.push_back(std::move(*agent));
    }
    return {};
}

int log_level() {
    static const int level = [] {
        const char* text = variable("WAVEJIT_LOG");
        return text ? std::atoi(text) : 1;
    }();
    return level;
}

}  // namespace

hsa_status_t initialize() {
    if (ended.load()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (left_behind()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    std::lock_guard lock(init_mutex);
    if (!instance) {
        auto fresh = std::make_unique<State>();
        if (Status r = build(*fresh); !r) {
            // Programs ask again and again.
            static std::string told;
            if (r.message() != told) log_error(told = r.message());
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
        check_temporary_folder();
        instance = fresh.release();
        machine::set_interrupt_handler(on_interrupt);
    }
    if (instance->references.fetch_add(1) == UINT32_MAX - 1)
        return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
    return HSA_STATUS_SUCCESS;
}

State* state() {
    if (guard.left_behind()) [[unlikely]]
        return nullptr;
    return instance && instance->references.load(std::memory_order_relaxed) ? instance : nullptr;
}

Agent* agent_of(hsa_agent_t agent) {
    if (!instance) return nullptr;
    for (auto& a : instance->agents)
        if (a->handle().handle == agent.handle) return a.get();
    return nullptr;
}

Pool* pool_of(uint64_t handle) {
    if (!instance) return nullptr;
    for (auto& a : instance->agents)
        for (auto& p : a->pools)
            if (reinterpret_cast<uint64_t>(p.get()) == handle) return p.get();
    return nullptr;
}

Isa* isa_of(hsa_isa_t isa) {
    if (!instance) return nullptr;
    for (Agent* a : instance->gpus)
        if (reinterpret_cast<uint64_t>(&a->isa) == isa.handle) return &a->isa;
    return nullptr;
}

uint64_t allocate_shared(uint64_t size, const char* label, memory::AddressSpace* home,
                         memory::Extent extent) {
    if (!home) home = &instance->home();
    auto address = home->allocate(size, memory::read_write, label, extent);
    if (!address) {
        log_debug(address.status().message());
        return 0;
    }
    for (Agent* a : instance->gpus) {
        memory::AddressSpace& other = a->device->memory();
        if (&other == home) continue;
        Status s =
            other.map(*address, reinterpret_cast<void*>(*address), size, memory::read_write, label);
        if (!s) log_error(s.message());
    }
    return *address;
}

void free_shared(uint64_t address, memory::AddressSpace* home) {
    if (!home) home = &instance->home();
    for (Agent* a : instance->gpus)
        if (&a->device->memory() != home)
            if (Status s = a->device->memory().unmap(address); !s) log_error(s.message());
    if (Status s = home->free(address); !s) log_error(s.message());
}

void log_error(const std::string& message) {
    if (log_level() < 1) return;
    const std::string line = "wavejit: " + message + "\n";
    std::fputs(line.c_str(), stderr);
}

void log_debug(const std::string& message) {
    if (log_level() >= 2) log_error(message);
}

hsa_status_t not_supported(const char* function) {
    static auto* mutex = new std::mutex;
    static auto* said = new std::set<std::string>;
    std::lock_guard lock(*mutex);
    if (said->insert(function).second)
        log_error(std::string(function) + " is not supported by the emulated HSA runtime");
    return HSA_STATUS_ERROR;
}

hsa_status_t status_of(Code code) {
    switch (code) {
        case Code::Ok:
            return HSA_STATUS_SUCCESS;
        case Code::InvalidCodeObject:
            return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
        case Code::UnsupportedTarget:
            return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
        case Code::NotFound:
            return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
        case Code::OutOfMemory:
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        case Code::InvalidArgument:
        case Code::OutOfRange:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        default:
            return HSA_STATUS_ERROR;
    }
}

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

bool start_thread(std::function<void()> main) {
    try {
        std::thread(std::move(main)).detach();
        return true;
    } catch (const std::system_error& error) {
        log_error(std::string("a thread of the runtime cannot be started: ") + error.what() +
                  "; raise the limit of processes and threads (ulimit -u, pids.max of the control "
                  "group)");
        return false;
    }
}

bool left_behind() {
    if (!guard.left_behind()) [[likely]]
        return false;
    static std::once_flag said;
    std::call_once(said, [] { log_error(left_behind_text); });
    return true;
}

void note_use() {
    guard.use();
}

}  // namespace wj::hsa
