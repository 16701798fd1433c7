// The hsa_queue_* functions and what the AMD extension says about queues.
#include <bit>

#include "hsa/queue.h"

using namespace wj::hsa;

namespace {

constexpr uint32_t smallest_queue = 64, largest_queue = 131072;

// `field` of the amd_queue_t behind a queue handle.
uint64_t* write_index(const hsa_queue_t* queue) {
    auto* q = reinterpret_cast<const amd_queue_t*>(queue);
    return const_cast<uint64_t*>(&q->write_dispatch_id);
}
uint64_t* read_index(const hsa_queue_t* queue) {
    auto* q = reinterpret_cast<const amd_queue_t*>(queue);
    return const_cast<uint64_t*>(&q->read_dispatch_id);
}
uint64_t compare_exchange(uint64_t* word, uint64_t expected, uint64_t value) {
    __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

}  // namespace

extern "C" {

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t status, hsa_queue_t* source,
                                               void* data),
                              void* data, uint32_t, uint32_t, hsa_queue_t** queue) {
    if (left_behind()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!queue || size < smallest_queue || size > largest_queue || !std::has_single_bit(size) ||
        type > HSA_QUEUE_TYPE_COOPERATIVE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!a->gpu) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    return Queue::create(*a, size, type, callback, data, queue);
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    q->destroy();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    q->inactivate();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_soft_queue_create(hsa_region_t, uint32_t, hsa_queue_type32_t, uint32_t,
                                   hsa_signal_t, hsa_queue_t**) {
    return not_supported("hsa_soft_queue_create");
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!Queue::of(queue)) return HSA_STATUS_ERROR_INVALID_QUEUE;
    return priority <= HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_SUCCESS
                                                   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// A mask changes where work-groups run, not what they compute: it is kept and otherwise ignored.
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t num_cu_mask_count,
                                       const uint32_t* cu_mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (num_cu_mask_count % 32 || (num_cu_mask_count && !cu_mask))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    q->cu_mask.assign(cu_mask, cu_mask + num_cu_mask_count / 32);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t* queue, uint32_t num_cu_mask_count,
                                       uint32_t* cu_mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (!num_cu_mask_count || num_cu_mask_count % 32 || !cu_mask)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < num_cu_mask_count / 32; i++) {
        const uint32_t units = q->agent().compute_units, first = i * 32;
        const uint32_t all = units >= first + 32 ? ~0u
                             : units > first     ? (1u << (units - first)) - 1
                                                 : 0;
        cu_mask[i] = q->cu_mask.empty() ? all : i < q->cu_mask.size() ? q->cu_mask[i] : 0;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int enable) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    uint32_t& properties = q->abi().queue_properties;
    properties = enable ? properties | AMD_QUEUE_PROPERTIES_ENABLE_PROFILING
                        : properties & ~AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
    return HSA_STATUS_SUCCESS;
}

// Timestamps are always taken.
hsa_status_t hsa_amd_profiling_async_copy_enable(bool) {
    return state() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = signal_of(signal);
    if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *time = {s->abi.start_ts, s->abi.end_ts};
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t* time) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = signal_of(signal);
    if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *time = {s->abi.start_ts, s->abi.end_ts};
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t agent_tick,
                                                             uint64_t* system_tick) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!system_tick) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *system_tick = agent_tick;  // one clock
    return HSA_STATUS_SUCCESS;
}

#define WJ_LOAD(index, order)                                             \
    uint64_t hsa_queue_load_##index##_##order(const hsa_queue_t* queue) { \
        return __atomic_load_n(index(queue), __ATOMIC_ACQUIRE);           \
    }
WJ_LOAD(read_index, acquire)
WJ_LOAD(read_index, scacquire)
WJ_LOAD(read_index, relaxed)
WJ_LOAD(write_index, acquire)
WJ_LOAD(write_index, scacquire)
WJ_LOAD(write_index, relaxed)

#define WJ_STORE(index, order)                                                         \
    void hsa_queue_store_##index##_##order(const hsa_queue_t* queue, uint64_t value) { \
        __atomic_store_n(index(queue), value, __ATOMIC_RELEASE);                       \
    }
WJ_STORE(read_index, relaxed)
WJ_STORE(read_index, release)
WJ_STORE(read_index, screlease)
WJ_STORE(write_index, relaxed)
WJ_STORE(write_index, release)
WJ_STORE(write_index, screlease)

#define WJ_CHANGE(order)                                                                    \
    uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t* queue, uint64_t value) {  \
        return __atomic_fetch_add(write_index(queue), value, __ATOMIC_SEQ_CST);             \
    }                                                                                       \
    uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t* queue, uint64_t expected, \
                                               uint64_t value) {                            \
        return compare_exchange(write_index(queue), expected, value);                       \
    }
WJ_CHANGE(acq_rel)
WJ_CHANGE(acquire)
WJ_CHANGE(relaxed)
WJ_CHANGE(release)
WJ_CHANGE(scacq_screl)
WJ_CHANGE(scacquire)
WJ_CHANGE(screlease)

}  // extern "C"
