#include "hsa/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "machine/checks.h"

namespace wj::hsa {
namespace {

constexpr uint64_t granule = 4096;  // of every global pool

}  // namespace

MemoryMap& memory_map() {
    static MemoryMap* m = new MemoryMap;
    return *m;
}

machine::UnwrittenMemory* unwritten_memory() {
    return state()->gpus.front()->device->unwritten();
}

Status share_host_range(uint64_t host, uint64_t size, const char* label) {
    State* s = state();
    for (size_t i = 0; i < s->gpus.size(); i++) {
        Status r = s->gpus[i]->device->memory().map(host, reinterpret_cast<void*>(host), size,
                                                    memory::read_write, label);
        if (r) continue;
        for (size_t k = 0; k < i; k++)
            if (Status undo = s->gpus[k]->device->memory().unmap(host); !undo)
                log_debug(undo.message());
        return r;
    }
    return {};
}

void unshare_host_range(uint64_t host) {
    for (Agent* a : state()->gpus)
        if (Status r = a->device->memory().unmap(host); !r) log_debug(r.message());
}

Block* MemoryMap::containing(uint64_t address) {
    address = without_alias(address);
    auto it = allocated_.upper_bound(address);
    if (it != allocated_.begin()) {
        Block& b = std::prev(it)->second;
        if (address - b.host < b.size) return &b;
    }
    const uint64_t low = address > largest_locked_ ? address - largest_locked_ : 0;
    for (auto l = locked_.lower_bound(low); l != locked_.end() && l->first <= address; ++l)
        if (address - l->second.host < l->second.size) return &l->second;
    return nullptr;
}

hsa_status_t MemoryMap::allocate(Pool& pool, uint64_t size, void** out) {
    if (pool.segment != HSA_REGION_SEGMENT_GLOBAL) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (size > pool.size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    const uint64_t rounded = (size + granule - 1) / granule * granule;
    if (pool.used->fetch_add(rounded) + rounded > pool.size) {
        pool.used->fetch_sub(rounded);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    memory::AddressSpace* home = pool.agent->gpu ? &pool.agent->device->memory() : nullptr;
    // Whole granules are what the pool promises; a checker holds programs to what they asked for.
    const bool exact = state()->gpus.front()->device->options().checks & machine::check_memory;
    const uint64_t address = allocate_shared(exact ? size : rounded, pool.label, home,
                                             exact ? memory::Extent::Bytes : memory::Extent::Pages);
    if (!address) {
        pool.used->fetch_sub(rounded);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    if (auto* unwritten = unwritten_memory(); unwritten && pool.agent->gpu)
        unwritten->add(address, exact ? size : rounded);
    Block b;
    b.host = b.agent = address;
    b.size = rounded;
    b.pool = &pool;
    b.accessible.push_back(pool.agent);
    std::unique_lock lock(mutex_);
    allocated_.emplace(address, std::move(b));
    *out = reinterpret_cast<void*>(address);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t MemoryMap::free(void* pointer) {
    Block b;
    {
        std::unique_lock lock(mutex_);
        auto it = allocated_.find(reinterpret_cast<uint64_t>(pointer));
        if (it == allocated_.end() || it->second.type != HSA_EXT_POINTER_TYPE_HSA)
            return HSA_STATUS_ERROR_INVALID_ALLOCATION;
        b = std::move(it->second);
        allocated_.erase(it);
    }
    for (auto& c : b.callbacks) c.function(pointer, c.data);
    if (auto* unwritten = unwritten_memory()) unwritten->remove(b.host);
    free_shared(b.host, b.pool->agent->gpu ? &b.pool->agent->device->memory() : nullptr);
    if (b.file >= 0) close(b.file);
    b.pool->used->fetch_sub(b.size);
    return HSA_STATUS_SUCCESS;
}

void MemoryMap::enter(Block block) {
    std::unique_lock lock(mutex_);
    allocated_.emplace(block.host, std::move(block));
}

void MemoryMap::leave(uint64_t host) {
    std::unique_lock lock(mutex_);
    allocated_.erase(host);
}

hsa_status_t MemoryMap::lock(void* host, uint64_t size, bool alias, Pool* pool,
                             std::vector<Agent*> agents, void** out) {
    Block b;
    b.host = b.agent = reinterpret_cast<uint64_t>(host);
    b.size = size;
    b.type = HSA_EXT_POINTER_TYPE_LOCKED;
    b.pool = pool;
    b.accessible = std::move(agents);
    // Memory that is allocated from a pool is locked already.
    {
        std::shared_lock lock(mutex_);
        auto it = allocated_.upper_bound(b.host);
        if (it != allocated_.begin()) {
            const Block& owner = std::prev(it)->second;
            if (b.host - owner.host < owner.size) {
                *out = host;
                return HSA_STATUS_SUCCESS;
            }
        }
    }
    if (Status s = share_host_range(b.host, size, "registered host memory"); !s) {
        log_debug(s.message());
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    if (alias) {
        b.agent |= alias_bit;
        std::unique_lock lock(mutex_);
        if (!alias_used_)
            for (Agent* a : state()->gpus) a->device->set_alias_bit47(true);
        alias_used_ = true;
    }
    *out = reinterpret_cast<void*>(b.agent);
    std::unique_lock lock(mutex_);
    largest_locked_ = std::max(largest_locked_, size);
    locked_.emplace(b.host, std::move(b));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t MemoryMap::unlock(void* host) {
    const uint64_t address = without_alias(reinterpret_cast<uint64_t>(host));
    {
        std::unique_lock lock(mutex_);
        auto it = locked_.find(address);
        if (it == locked_.end()) return HSA_STATUS_SUCCESS;  // pool memory, or never locked
        locked_.erase(it);
    }
    unshare_host_range(address);
    return HSA_STATUS_SUCCESS;
}

}  // namespace wj::hsa

using namespace wj::hsa;

namespace {

hsa_status_t pool_info(const Pool& p, uint32_t attribute, void* value) {
    const bool global = p.segment == HSA_REGION_SEGMENT_GLOBAL;
    switch (attribute) {
        case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
            return put(value, p.segment);
        case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
            return put(value, p.flags);
        case HSA_AMD_MEMORY_POOL_INFO_SIZE:
            return put(value, size_t{p.size});
        case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
            return put(value, global);
        case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
        case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
        case 18:  // recommended granule, from ROCm 6 on
            return put(value, size_t{global ? granule : 0});
        case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
            return put(value, global && !p.agent->gpu);
        case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
            return put(value, size_t{global ? p.size : 0});
        case 17:
            return put(value, uint32_t{p.agent->gpu});  // location, from ROCm 6 on
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

std::vector<Agent*> agents_from(uint32_t count, const hsa_agent_t* agents) {
    std::vector<Agent*> list;
    for (uint32_t i = 0; i < count; i++)
        if (Agent* a = agent_of(agents[i])) list.push_back(a);
    return list;
}

bool same_node(const Agent& a, const Pool& p) {
    return &a == p.agent;
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t memory_pool, void* data),
    void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    for (auto& p : a->pools)
        if (hsa_status_t r = callback({reinterpret_cast<uint64_t>(p.get())}, data);
            r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t memory_pool,
                                          hsa_amd_memory_pool_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Pool* p = pool_of(memory_pool.handle);
    if (!p) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return pool_info(*p, static_cast<uint32_t>(attribute), value);
}

// The host may use device memory: HIP then copies small pieces by itself, unless a checker has to
// know of it.
hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent,
                                                hsa_amd_memory_pool_t memory_pool,
                                                hsa_amd_agent_memory_pool_info_t attribute,
                                                void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    Pool* p = pool_of(memory_pool.handle);
    if (!p) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const bool own = same_node(*a, *p);
    switch (attribute) {
        case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
            if (!own && (p->segment != HSA_REGION_SEGMENT_GLOBAL ||
                         (unwritten_memory() && p->agent->gpu && !a->gpu)))
                return put(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
            return put(value, own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                  : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
        case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
            return put(value, uint32_t{!own});
        case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
            if (own) return HSA_STATUS_SUCCESS;
            hsa_amd_memory_pool_link_info_t link{};
            link.min_latency = link.max_latency = 100;
            link.min_bandwidth = link.max_bandwidth = 16000;
            link.atomic_support_32bit = link.atomic_support_64bit = link.coherent_support = true;
            link.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE;
            link.numa_distance = 20;
            return put(value, link);
        }
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t memory_pool, size_t size, uint32_t,
                                          void** ptr) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!size || !ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Pool* p = pool_of(memory_pool.handle);
    if (!p) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    return memory_map().allocate(*p, size, ptr);
}

hsa_status_t hsa_amd_memory_pool_free(void* ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return ptr ? memory_map().free(ptr) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t* agents,
                                         const uint32_t* flags, const void* ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!num_agents || !agents || flags || !ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::vector<Agent*> list = agents_from(num_agents, agents);
    if (list.size() != num_agents) return HSA_STATUS_ERROR_INVALID_AGENT;
    const bool found = memory_map().with_block(ptr, [&](Block& b) {
        b.accessible = std::move(list);
        const auto host = std::ranges::find(b.accessible, false, &Agent::gpu);
        if (auto* unwritten = unwritten_memory(); unwritten && host != b.accessible.end())
            unwritten->give_away(b.host);
        if (b.pool && std::find(b.accessible.begin(), b.accessible.end(), b.pool->agent) ==
                          b.accessible.end())
            b.accessible.push_back(b.pool->agent);
    });
    return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t, hsa_amd_memory_pool_t,
                                             bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = false;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_migrate(const void*, hsa_amd_memory_pool_t, uint32_t) {
    return not_supported("hsa_amd_memory_migrate");
}

hsa_status_t hsa_amd_memory_lock(void* host_ptr, size_t size, hsa_agent_t* agents, int num_agent,
                                 void** agent_ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!host_ptr || !size || !agent_ptr || (agents != nullptr) != (num_agent > 0))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Pool* pool = state()->agents.front()->pools.front().get();
    return memory_map().lock(host_ptr, size, false, pool,
                             agents_from(static_cast<uint32_t>(num_agent), agents), agent_ptr);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void* host_ptr, size_t size, hsa_agent_t* agents,
                                         int num_agent, hsa_amd_memory_pool_t pool, uint32_t flags,
                                         void** agent_ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!host_ptr || !size || !agent_ptr || flags || (agents != nullptr) != (num_agent > 0))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Pool* p = pool_of(pool.handle);
    if (!p || p->agent->gpu) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    // Fine-grained: this is hipHostRegister, whose two addresses HIP 5 wants to differ
    // (contract 4.3).
    const bool alias = p->flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED;
    return memory_map().lock(host_ptr, size, alias, p,
                             agents_from(static_cast<uint32_t>(num_agent), agents), agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void* host_ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return memory_map().unlock(host_ptr);
}

hsa_status_t hsa_amd_pointer_info(const void* ptr, hsa_amd_pointer_info_t* info,
                                  void* (*alloc)(size_t), uint32_t* num_agents_accessible,
                                  hsa_agent_t** accessible) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !info || !info->size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_amd_pointer_info_t full{};
    full.size = std::min<uint32_t>(info->size, sizeof full);
    std::vector<Agent*> list;
    memory_map().with_block(ptr, [&](Block& b) {
        full.type = b.type;
        full.agentBaseAddress = reinterpret_cast<void*>(b.agent);
        full.hostBaseAddress = reinterpret_cast<void*>(b.host);
        full.sizeInBytes = b.size;
        full.userData = b.user_data;
        full.agentOwner = b.pool ? b.pool->agent->handle() : hsa_agent_t{0};
        full.global_flags = b.pool ? b.pool->flags : 0;
        list = b.accessible;
    });
    std::memcpy(info, &full, full.size);
    if (alloc && num_agents_accessible && accessible) {
        *num_agents_accessible = static_cast<uint32_t>(list.size());
        *accessible = nullptr;
        if (!list.empty()) {
            *accessible = static_cast<hsa_agent_t*>(alloc(list.size() * sizeof(hsa_agent_t)));
            if (!*accessible) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
            for (size_t i = 0; i < list.size(); i++) (*accessible)[i] = list[i]->handle();
        }
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void* ptr, void* userdata) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return memory_map().with_block(ptr, [&](Block& b) { b.user_data = userdata; })
               ? HSA_STATUS_SUCCESS
               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_register_deallocation_callback(void* ptr,
                                                    hsa_amd_deallocation_callback_t callback,
                                                    void* user_data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return memory_map().with_block(ptr,
                                   [&](Block& b) {
                                       b.callbacks.push_back({callback, user_data});
                                   })
               ? HSA_STATUS_SUCCESS
               : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void* ptr,
                                                      hsa_amd_deallocation_callback_t callback) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    size_t removed = 0;
    memory_map().with_block(ptr, [&](Block& b) {
        removed = std::erase_if(b.callbacks, [&](const auto& c) { return c.function == callback; });
    });
    return removed ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// Regions: the older view of the same pools.
hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent,
                                       hsa_status_t (*callback)(hsa_region_t region, void* data),
                                       void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    std::vector<Pool*> pools;
    for (auto& p : a->pools) pools.push_back(p.get());
    // GPU agents list the host's memory too: regions say what an agent can reach.
    if (a->gpu)
        for (auto& p : state()->agents.front()->pools) pools.push_back(p.get());
    for (Pool* p : pools)
        if (hsa_status_t r = callback({reinterpret_cast<uint64_t>(p)}, data);
            r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Pool* p = pool_of(region.handle);
    if (!p) return HSA_STATUS_ERROR_INVALID_REGION;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const bool global = p->segment == HSA_REGION_SEGMENT_GLOBAL;
    switch (static_cast<uint32_t>(attribute)) {
        case HSA_REGION_INFO_ALLOC_MAX_SIZE:
            return put(value, size_t{global ? p->size : 0});
        case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
            return put(value, uint32_t{0});
        case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
            return put(value, global);
        case HSA_AMD_REGION_INFO_BASE:
            return put(value, static_cast<void*>(nullptr));
        default:
            return pool_info(*p, static_cast<uint32_t>(attribute), value);
    }
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void** ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!size || !ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Pool* p = pool_of(region.handle);
    return p ? memory_map().allocate(*p, size, ptr) : HSA_STATUS_ERROR_INVALID_REGION;
}

hsa_status_t hsa_memory_free(void* ptr) {
    return hsa_amd_memory_pool_free(ptr);
}

hsa_status_t hsa_memory_assign_agent(void* ptr, hsa_agent_t agent, hsa_access_permission_t) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_memory_register(void* ptr, size_t size) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr && size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!size) return HSA_STATUS_SUCCESS;
    void* agent_ptr;
    return memory_map().lock(ptr, size, false, nullptr, {}, &agent_ptr);
}

hsa_status_t hsa_memory_deregister(void* ptr, size_t) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return memory_map().unlock(ptr);
}

}  // extern "C"
