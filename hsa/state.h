// The drop-in's process-wide state: agents with their pools and instruction sets. Created by the
// first hsa_init and leaked on purpose: HIP calls into the library from static destructors and
// worker threads outlive main (contract section 14).
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/fork.h"
#include "hsa/agent_facts.h"
#include "runtime/device.h"

namespace wj::hsa {

struct Agent;

struct Pool {
    Agent* agent = nullptr;
    hsa_region_segment_t segment = HSA_REGION_SEGMENT_GLOBAL;
    uint32_t flags = 0;  // hsa_region_global_flag_t
    uint64_t size = 0;
    const char* label = "";
    std::atomic<uint64_t>* used =
        nullptr;  // bytes in use of the memory that the agent's pools share
};

struct Isa {
    Agent* agent = nullptr;
    std::string name;  // "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
};

struct Cache {
    std::string name;
    uint8_t level = 1;
    uint32_t size = 0;
};

struct Agent {
    bool gpu = false;
    uint32_t node = 0;
    std::string name, vendor, product, uuid;
    const AgentFacts* facts = nullptr;        // GPU agents
    std::unique_ptr<runtime::Device> device;  // GPU agents
    std::vector<std::unique_ptr<Pool>> pools;
    std::vector<std::unique_ptr<Cache>> caches;
    Isa isa;
    uint64_t memory_bytes = 0;
    uint32_t compute_units = 0;
    std::atomic<uint64_t> memory_used{0};

    hsa_agent_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

struct State {
    std::vector<std::unique_ptr<Agent>> agents;  // the CPU first
    std::vector<Agent*> gpus;
    std::atomic<uint32_t> references{0};
    std::atomic<int32_t> busy{0};  // dispatches in flight: guest code may write signals
    bool checked_memory = false;
    uint64_t timeout_ns = 0;  // WAVEJIT_TIMEOUT

    memory::AddressSpace& home() { return gpus.front()->device->memory(); }
};

hsa_status_t initialize();  // hsa_init
State* state();             // null before hsa_init and after the last hsa_shut_down

Agent* agent_of(hsa_agent_t agent);  // null = no such agent
Pool* pool_of(uint64_t handle);
Isa* isa_of(hsa_isa_t isa);

// Memory that every agent and the host can use; page aligned, zeroed. 0 = out of memory.
uint64_t allocate_shared(uint64_t size, const char* label, memory::AddressSpace* home = nullptr,
                         memory::Extent extent = memory::Extent::Pages);
void free_shared(uint64_t address, memory::AddressSpace* home = nullptr);

// hipHostRegister memory has an alias with bit 47 set (contract 4.3).
inline constexpr uint64_t alias_bit = uint64_t{1} << 47;
inline uint64_t without_alias(uint64_t address) {
    return (address >> 47) == 1 ? address & ~alias_bit : address;
}
template <class T>
T* without_alias(T* pointer) {
    return reinterpret_cast<T*>(without_alias(reinterpret_cast<uint64_t>(pointer)));
}

// Messages on stderr. WAVEJIT_LOG=0 none, 1 errors (default), 2 also what the runtime does.
void log_error(const std::string& message);
void log_debug(const std::string& message);
hsa_status_t not_supported(const char* function);  // says so once per function

hsa_status_t status_of(Code code);  // for results of the runtime's own functions

// Answers of the get_info functions, whose room the caller has by the attribute's type.
template <class T>
hsa_status_t put(void* out, const T& value) {
    std::memcpy(out, &value, sizeof value);
    return HSA_STATUS_SUCCESS;
}

uint64_t now_ns();
bool start_thread(std::function<void()> main);  // detached; false = the system has none, as logged
// The process was forked from one that had used queues or threads: HSA functions answer that they
// are not initialized. Says so once, where the program wants something, not where it ends.
bool left_behind();
void note_use();  // of queues or threads

}  // namespace wj::hsa
