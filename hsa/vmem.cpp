// Virtual memory management (hsa_amd_vmem_*, from ROCm 6 on; HIP's hipMem* and its stream-ordered
// pools): ranges of addresses, memory without an address, and mappings of the one in the other.
// Memory is a shared file, since the same memory may be mapped at several addresses, and by several
// processes. Functions, errors and which sizes must be equal: AMD's hsa_ext_amd.h, which Debian
// 12's lacks.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>

#include "hsa/memory.h"
#include "hsa/shared_file.h"
#include "memory/address_space.h"
#include "memory/host_pages.h"

using namespace wj::hsa;

// As the newer header declares them.
struct hsa_amd_vmem_alloc_handle_t {
    uint64_t handle;
};
struct hsa_amd_memory_access_desc_t {
    hsa_access_permission_t permissions;
    hsa_agent_t agent_handle;
};

namespace {

constexpr uint64_t page = wj::memory::page_size;
// HSA_AMD_VMEM_ADDRESS_NO_REGISTER of ROCm 7: the range is memory of the host until something is
// mapped there. HIP 7 takes managed memory from such ranges.
constexpr uint64_t flag_no_register = 1;
constexpr auto pointer_reserved = static_cast<hsa_amd_pointer_type_t>(5);  // ..._RESERVED_ADDR

struct Memory {
    int file = -1;
    uint64_t size = 0;
    Pool* pool = nullptr;
    uint32_t type = 0;      // hsa_amd_memory_type_t
    uint32_t handles = 1;   // of the program
    uint32_t mappings = 0;  // keep the memory when there is no handle left
    bool counted = false;   // in the bytes that are used of the pool: by the process that made it
};

struct Mapping {
    uint64_t size = 0;
    Memory* memory = nullptr;
    std::map<Agent*, hsa_access_permission_t> access;
};

struct Range {
    uint64_t size = 0;
    void* reserved = nullptr;
    uint64_t reserved_bytes = 0;
    int protection = PROT_NONE;  // of addresses with no mapping
};

class VirtualMemory {
public:
    hsa_status_t reserve(void** va, uint64_t size, uint64_t wanted, uint64_t alignment,
                         int protection);
    hsa_status_t release_range(uint64_t va, uint64_t size);
    hsa_status_t create(Pool& pool, uint64_t size, uint32_t type, uint64_t* handle);
    hsa_status_t release(uint64_t handle);
    hsa_status_t map(uint64_t va, uint64_t size, uint64_t offset, uint64_t handle);
    hsa_status_t unmap(uint64_t va, uint64_t size);
    hsa_status_t set_access(uint64_t va, uint64_t size, const hsa_amd_memory_access_desc_t* list,
                            size_t count);
    hsa_status_t get_access(uint64_t va, Agent& agent, hsa_access_permission_t* out);
    hsa_status_t retain(uint64_t va, uint64_t* handle);
    hsa_status_t share(uint64_t handle, int* descriptor);
    hsa_status_t import(int descriptor, uint64_t* handle);
    hsa_status_t properties(uint64_t handle, hsa_amd_memory_pool_t* pool, uint32_t* type);

private:
    Memory* with_handle(uint64_t handle) {
        auto* m = reinterpret_cast<Memory*>(handle);
        return memories_.contains(m) && m->handles ? m : nullptr;
    }
    std::map<uint64_t, Mapping>::iterator mapping_of(uint64_t va) {
        auto it = mappings_.upper_bound(va);
        if (it == mappings_.begin()) return mappings_.end();
        --it;
        return va - it->first < it->second.size ? it : mappings_.end();
    }
    uint64_t enter(Memory* m) {
        memories_.insert(m);
        return reinterpret_cast<uint64_t>(m);
    }
    void drop_unused(Memory* m);
    hsa_status_t apply_access(uint64_t va, Mapping& m);

    std::mutex mutex_;
    std::map<uint64_t, Range> ranges_;  // by first address; disjoint
    std::map<uint64_t, Mapping> mappings_;
    std::set<Memory*> memories_;
};

VirtualMemory& virtual_memory() {
    static auto* all = new VirtualMemory;  // leaked as the rest of the state
    return *all;
}

void* pointer(uint64_t address) {
    return reinterpret_cast<void*>(address);
}

// HIP 7 reserves managed memory of any size.
uint64_t whole_pages(uint64_t size) {
    return (size + page - 1) / page * page;
}

// Addresses without a mapping are reserved as they were before it.
bool reserve_again(uint64_t va, uint64_t size, int protection) {
    return mmap(pointer(va), size, protection,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

hsa_status_t VirtualMemory::reserve(void** va, uint64_t size, uint64_t wanted, uint64_t alignment,
                                    int protection) {
    // Larger requests would leave no room for the alignment and the guard below.
    if (size > uint64_t{1} << 46 || alignment > uint64_t{1} << 46)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    size = whole_pages(size);
    const uint64_t slack = std::max(alignment, wj::memory::huge_page_bytes);
    const uint64_t total = size + slack + wj::memory::guard_bytes;
    void* hint = wanted % page == 0 ? pointer(wanted) : nullptr;
    void* raw = mmap(hint, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const uint64_t start = reinterpret_cast<uint64_t>(raw);
    // The wanted address is taken as it is when it has the alignment that was asked for.
    const bool as_wanted = hint && raw == hint && (!alignment || start % alignment == 0);
    const uint64_t first = as_wanted ? start : (start + slack - 1) & ~(slack - 1);
    if (mprotect(pointer(first), size, protection) != 0) {
        munmap(raw, total);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    std::lock_guard lock(mutex_);
    ranges_[first] = {size, raw, total, protection};
    *va = pointer(first);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::release_range(uint64_t va, uint64_t size) {
    std::lock_guard lock(mutex_);
    auto it = ranges_.find(va);
    if (it == ranges_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    size = whole_pages(size);
    if (it->second.size != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto mapped = mappings_.lower_bound(va);
    if (mapped != mappings_.end() && mapped->first - va < size)
        return HSA_STATUS_ERROR_RESOURCE_FREE;
    munmap(it->second.reserved, it->second.reserved_bytes);
    ranges_.erase(it);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::create(Pool& pool, uint64_t size, uint32_t type, uint64_t* handle) {
    if (pool.segment != HSA_REGION_SEGMENT_GLOBAL || size > pool.size)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (pool.used->fetch_add(size) + size > pool.size) {
        pool.used->fetch_sub(size);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    const int file = make_shared_file(size, pool);
    if (file < 0) {
        pool.used->fetch_sub(size);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    std::lock_guard lock(mutex_);
    *handle = enter(new Memory{file, size, &pool, type, 1, 0, true});
    return HSA_STATUS_SUCCESS;
}

void VirtualMemory::drop_unused(Memory* m) {
    if (m->handles || m->mappings) return;
    close(m->file);
    if (m->counted) m->pool->used->fetch_sub(m->size);
    memories_.erase(m);
    delete m;
}

hsa_status_t VirtualMemory::release(uint64_t handle) {
    std::lock_guard lock(mutex_);
    Memory* m = with_handle(handle);
    if (!m) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    m->handles--;
    drop_unused(m);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::map(uint64_t va, uint64_t size, uint64_t offset, uint64_t handle) {
    std::lock_guard lock(mutex_);
    Memory* m = with_handle(handle);
    if (!m || va % page || offset % page || !size || offset > m->size || size > m->size - offset)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto range = ranges_.upper_bound(va);
    if (range == ranges_.begin()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    --range;
    const uint64_t at = va - range->first;
    if (at >= range->second.size || size > range->second.size - at)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto next = mappings_.lower_bound(va);
    if (mapping_of(va) != mappings_.end() || (next != mappings_.end() && next->first - va < size))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (mmap(pointer(va), size, PROT_NONE, MAP_SHARED | MAP_FIXED, m->file,
             static_cast<off_t>(offset)) == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    m->mappings++;
    mappings_[va] = {size, m, {}};
    Block b;
    b.host = b.agent = va;
    b.size = size;
    b.type = pointer_reserved;
    b.pool = m->pool;
    memory_map().enter(std::move(b));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::unmap(uint64_t va, uint64_t size) {
    std::lock_guard lock(mutex_);
    auto it = mappings_.find(va);
    if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (it->second.size != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    it->second.access.clear();
    hsa_status_t status = apply_access(va, it->second);
    if (!reserve_again(va, size, std::prev(ranges_.upper_bound(va))->second.protection))
        status = HSA_STATUS_ERROR;
    memory_map().leave(va);
    Memory* m = it->second.memory;
    mappings_.erase(it);
    m->mappings--;
    drop_unused(m);
    return status;
}

uint32_t rights_of(hsa_access_permission_t permission) {
    uint32_t rights = 0;
    if (permission & HSA_ACCESS_PERMISSION_RO) rights |= wj::memory::readable;
    if (permission & HSA_ACCESS_PERMISSION_WO) rights |= wj::memory::writable;
    return rights;
}

// The host's pages have the rights of all agents together (in identity mode all use these pages);
// the address space of each GPU has its own.
hsa_status_t VirtualMemory::apply_access(uint64_t va, Mapping& m) {
    uint32_t all = 0;
    for (auto& [agent, permission] : m.access) all |= rights_of(permission);
    if (!wj::memory::protect_host_pages(pointer(va), m.size, all)) return HSA_STATUS_ERROR;
    for (Agent* gpu : state()->gpus) {
        wj::memory::AddressSpace& space = gpu->device->memory();
        wj::memory::Allocation present;
        if (space.find(va, present))
            if (wj::Status s = space.unmap(va); !s) log_debug(s.message());
        auto it = m.access.find(gpu);
        const uint32_t rights = it != m.access.end() ? rights_of(it->second) : 0;
        if (!rights) continue;
        if (wj::Status s = space.map(va, pointer(va), m.size, rights, "mapped device memory"); !s) {
            log_error(s.message());
            return HSA_STATUS_ERROR;
        }
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::set_access(uint64_t va, uint64_t size,
                                       const hsa_amd_memory_access_desc_t* list, size_t count) {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < count; i++)
        if (!agent_of(list[i].agent_handle)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (mapping_of(va) == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    // HIP sets the access of several neighbours at once: whole mappings, without holes.
    uint64_t end = va;
    while (end - va < size) {
        auto it = mappings_.find(end);
        if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        end += it->second.size;
    }
    if (end - va != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (auto it = mappings_.find(va); it != mappings_.end() && it->first < end; ++it) {
        for (size_t i = 0; i < count; i++)
            it->second.access[agent_of(list[i].agent_handle)] = list[i].permissions;
        if (hsa_status_t r = apply_access(it->first, it->second); r != HSA_STATUS_SUCCESS) return r;
        std::vector<Agent*> accessible;
        for (auto& [agent, permission] : it->second.access)
            if (rights_of(permission)) accessible.push_back(agent);
        memory_map().with_block(pointer(it->first),
                                [&](Block& b) { b.accessible = std::move(accessible); });
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::get_access(uint64_t va, Agent& agent, hsa_access_permission_t* out) {
    std::lock_guard lock(mutex_);
    auto it = mapping_of(va);
    if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    auto found = it->second.access.find(&agent);
    if (found == it->second.access.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    *out = found->second;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::retain(uint64_t va, uint64_t* handle) {
    std::lock_guard lock(mutex_);
    auto it = mapping_of(va);
    if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    it->second.memory->handles++;
    *handle = reinterpret_cast<uint64_t>(it->second.memory);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::share(uint64_t handle, int* descriptor) {
    std::lock_guard lock(mutex_);
    Memory* m = with_handle(handle);
    if (!m) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    *descriptor = fcntl(m->file, F_DUPFD_CLOEXEC, 0);
    return *descriptor < 0 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::import(int descriptor, uint64_t* handle) {
    SharedFile shared;
    if (!read_shared_file(descriptor, shared)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    const int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    std::lock_guard lock(mutex_);
    *handle = enter(new Memory{file, shared.size, shared.pool});
    return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::properties(uint64_t handle, hsa_amd_memory_pool_t* pool,
                                       uint32_t* type) {
    std::lock_guard lock(mutex_);
    Memory* m = with_handle(handle);
    if (!m) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    pool->handle = reinterpret_cast<uint64_t>(m->pool);
    *type = m->type;
    return HSA_STATUS_SUCCESS;
}

uint64_t address(const void* p) {
    return reinterpret_cast<uint64_t>(p);
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_vmem_address_reserve_align(void** va, size_t size, uint64_t wanted,
                                                uint64_t alignment, uint64_t flags) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!va || !size || flags & ~flag_no_register ||
        (alignment && (alignment < page || !std::has_single_bit(alignment))))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().reserve(va, size, wanted, alignment,
                                    flags & flag_no_register ? PROT_READ | PROT_WRITE : PROT_NONE);
}

hsa_status_t hsa_amd_vmem_address_reserve(void** va, size_t size, uint64_t wanted, uint64_t flags) {
    return hsa_amd_vmem_address_reserve_align(va, size, wanted, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* va, size_t size) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return virtual_memory().release_range(address(va), size);
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, uint32_t type,
                                        uint64_t flags, hsa_amd_vmem_alloc_handle_t* handle) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!size || size % page || flags || !handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Pool* p = pool_of(pool.handle);
    if (!p) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    return virtual_memory().create(*p, size, type, &handle->handle);
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return virtual_memory().release(handle.handle);
}

hsa_status_t hsa_amd_vmem_map(void* va, size_t size, size_t in_offset,
                              hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (flags) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().map(address(va), size, in_offset, handle.handle);
}

hsa_status_t hsa_amd_vmem_unmap(void* va, size_t size) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return virtual_memory().unmap(address(va), size);
}

hsa_status_t hsa_amd_vmem_set_access(void* va, size_t size,
                                     const hsa_amd_memory_access_desc_t* desc, size_t desc_cnt) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!desc || !desc_cnt || !size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().set_access(address(va), size, desc, desc_cnt);
}

hsa_status_t hsa_amd_vmem_get_access(void* va, hsa_access_permission_t* perms, hsa_agent_t agent) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!perms) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    return virtual_memory().get_access(address(va), *a, perms);
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* descriptor,
                                                  hsa_amd_vmem_alloc_handle_t handle,
                                                  uint64_t flags) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!descriptor || flags) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().share(handle.handle, descriptor);
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int descriptor,
                                                  hsa_amd_vmem_alloc_handle_t* handle) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().import(descriptor, &handle->handle);
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* handle, void* addr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().retain(address(addr), &handle->handle);
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool,
                                                           uint32_t* type) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pool || !type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return virtual_memory().properties(handle.handle, pool, type);
}

}  // extern "C"
