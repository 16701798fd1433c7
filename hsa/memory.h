// Every range of memory that agents may use: pool allocations, locked host memory, SVM ranges.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "hsa/state.h"
#include "machine/unwritten_memory.h"
#include "memory/host_pages.h"

namespace wj::hsa {

struct Block {
    uint64_t host = 0;   // first byte as the host sees it
    uint64_t agent = 0;  // as agents see it; differs for registered memory (bit 47)
    uint64_t size = 0;
    hsa_amd_pointer_type_t type = HSA_EXT_POINTER_TYPE_HSA;
    Pool* pool = nullptr;
    void* user_data = nullptr;
    int file = -1;            // the shared file that backs an allocation with an IPC handle
    memory::HostPages pages;  // of memory of another process
    std::vector<Agent*> accessible;
    struct Callback {
        hsa_amd_deallocation_callback_t function;
        void* data;
    };
    std::vector<Callback> callbacks;
};

class MemoryMap {
public:
    hsa_status_t allocate(Pool& pool, uint64_t size, void** out);
    hsa_status_t free(void* pointer);
    hsa_status_t lock(void* host, uint64_t size, bool alias, Pool* pool, std::vector<Agent*> agents,
                      void** out);
    hsa_status_t unlock(void* host);
    // Ranges that others have made (hsa/vmem.cpp, hsa/ipc.cpp) and take away: only entries.
    void enter(Block block);
    void leave(uint64_t host);
    // Runs f on the block that contains the address; false = none does.
    template <class F>
    bool with_block(const void* pointer, F&& f) {
        std::unique_lock lock(mutex_);
        Block* b = containing(reinterpret_cast<uint64_t>(pointer));
        if (b) f(*b);
        return b != nullptr;
    }

private:
    Block* containing(uint64_t address);

    std::shared_mutex mutex_;
    std::map<uint64_t, Block> allocated_;    // by host address
    std::multimap<uint64_t, Block> locked_;  // ranges may repeat and overlap
    uint64_t largest_locked_ = 0;
    bool alias_used_ = false;
};

MemoryMap& memory_map();  // leaked

// Which bytes of the GPUs' memory nobody has written, if a checker wants to know; or null.
machine::UnwrittenMemory* unwritten_memory();

// Makes host memory visible to all agents (checked mode has to know it), and hides it again.
Status share_host_range(uint64_t host, uint64_t size, const char* label);
void unshare_host_range(uint64_t host);

}  // namespace wj::hsa
