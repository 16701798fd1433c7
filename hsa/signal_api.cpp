// The hsa_signal_* functions. All memory orders are served by the strongest one: on x86 the only
// difference would be a plain store instead of an exchange, and notify() needs the order anyway.
#include <vector>

#include "hsa/monitor.h"
#include "hsa/signal.h"
#include "hsa/state.h"

using namespace wj::hsa;

namespace {

void store(hsa_signal_t handle, int64_t value) {
    Signal* s = signal_of(handle);
    if (!s) return;
    int64_t* word = s->word();
    Queue* rung = s->rung_queue();
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    notify(*s, word, rung);
}

int64_t load(hsa_signal_t handle) {
    Signal* s = signal_of(handle);
    return s ? s->load() : 0;
}

template <class Operation>
int64_t change(hsa_signal_t handle, Operation operation) {
    Signal* s = signal_of(handle);
    if (!s) return 0;
    int64_t* word = s->word();
    Queue* rung = s->rung_queue();
    const int64_t before = operation(word);
    notify(*s, word, rung);
    return before;
}

hsa_status_t make(int64_t value, uint32_t count, const hsa_agent_t* consumers, hsa_signal_t* out) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!out || (count && !consumers)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = create_signal(value);
    if (!s) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *out = s->handle();
    return HSA_STATUS_SUCCESS;
}

int64_t wait(hsa_signal_t handle, hsa_signal_condition_t condition, int64_t compare,
             uint64_t timeout) {
    Signal* s = signal_of(handle);
    return s ? wait_signal(*s, condition, compare, timeout) : 0;
}

struct Group {
    std::vector<Signal*> signals;
};

hsa_status_t group_wait(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                        const int64_t* compare, hsa_signal_t* signal, hsa_signal_value_t* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    auto* g = reinterpret_cast<Group*>(group.handle);
    if (!g) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
    if (!conditions || !compare || !signal || !value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const auto count = static_cast<uint32_t>(g->signals.size());
    int64_t seen = 0;
    const uint32_t i = wait_any(count, g->signals.data(), conditions, compare, UINT64_MAX, seen);
    if (i >= count) return HSA_STATUS_ERROR;
    *signal = g->signals[i]->handle();
    *value = seen;
    return HSA_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
                               const hsa_agent_t* consumers, hsa_signal_t* signal) {
    return make(initial_value, num_consumers, consumers, signal);
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
                                   const hsa_agent_t* consumers, uint64_t attributes,
                                   hsa_signal_t* signal) {
    if (attributes & HSA_AMD_SIGNAL_IPC)
        return not_supported("hsa_amd_signal_create with HSA_AMD_SIGNAL_IPC");
    return make(initial_value, num_consumers, consumers, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!signal.handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = signal_of(signal);
    if (!s || s->is_doorbell()) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    destroy_signal(s);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal,
                                          volatile hsa_signal_value_t** value_ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!value_ptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = signal_of(signal);
    if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *value_ptr = s->word();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t cond,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler,
                                          void* arg) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handler) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Signal* s = signal_of(signal);
    if (!s) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    return monitor().add_handler(*s, cond, value, handler, arg) ? HSA_STATUS_SUCCESS
                                                                : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_async_function(void (*callback)(void* arg), void* arg) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return monitor().post([callback, arg] { callback(arg); }) ? HSA_STATUS_SUCCESS
                                                              : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

uint32_t hsa_amd_signal_wait_any(uint32_t signal_count, hsa_signal_t* signals,
                                 hsa_signal_condition_t* conds, hsa_signal_value_t* values,
                                 uint64_t timeout_hint, hsa_wait_state_t,
                                 hsa_signal_value_t* satisfying_value) {
    std::vector<Signal*> list;
    for (uint32_t i = 0; i < signal_count; i++) list.push_back(signal_of(signals[i]));
    int64_t seen = 0;
    const uint32_t i = wait_any(signal_count, list.data(), conds, values, timeout_hint, seen);
    if (i >= signal_count) return UINT32_MAX;
    if (satisfying_value) *satisfying_value = seen;
    return i;
}

hsa_status_t hsa_signal_group_create(uint32_t num_signals, const hsa_signal_t* signals,
                                     uint32_t num_consumers, const hsa_agent_t* consumers,
                                     hsa_signal_group_t* signal_group) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!num_signals || !signals || !signal_group || (num_consumers && !consumers))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto* g = new Group;
    for (uint32_t i = 0; i < num_signals; i++) g->signals.push_back(signal_of(signals[i]));
    signal_group->handle = reinterpret_cast<uint64_t>(g);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t signal_group) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!signal_group.handle) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
    delete reinterpret_cast<Group*>(signal_group.handle);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t signal_group,
                                                 const hsa_signal_condition_t* conditions,
                                                 const hsa_signal_value_t* compare_values,
                                                 hsa_wait_state_t, hsa_signal_t* signal,
                                                 hsa_signal_value_t* value) {
    return group_wait(signal_group, conditions, compare_values, signal, value);
}
hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t signal_group,
                                               const hsa_signal_condition_t* conditions,
                                               const hsa_signal_value_t* compare_values,
                                               hsa_wait_state_t, hsa_signal_t* signal,
                                               hsa_signal_value_t* value) {
    return group_wait(signal_group, conditions, compare_values, signal, value);
}

#define WJ_WAIT(order)                                                                        \
    hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t c, \
                                               hsa_signal_value_t compare, uint64_t timeout,  \
                                               hsa_wait_state_t) {                            \
        return wait(signal, c, compare, timeout);                                             \
    }
WJ_WAIT(scacquire)
WJ_WAIT(relaxed)
WJ_WAIT(acquire)

#define WJ_LOAD(order)                                                \
    hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) { \
        return load(signal);                                          \
    }
WJ_LOAD(scacquire)
WJ_LOAD(relaxed)
WJ_LOAD(acquire)

#define WJ_STORE(order)                                                            \
    void hsa_signal_store_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
        store(signal, value);                                                      \
    }
WJ_STORE(relaxed)
WJ_STORE(screlease)
WJ_STORE(release)

#define WJ_SILENT_STORE(order)                                                                   \
    void hsa_signal_silent_store_##order(hsa_signal_t signal, hsa_signal_value_t value) {        \
        if (Signal* s = signal_of(signal)) __atomic_store_n(s->word(), value, __ATOMIC_SEQ_CST); \
    }
WJ_SILENT_STORE(relaxed)
WJ_SILENT_STORE(screlease)

#define WJ_CHANGE(name, builtin, order)                                                  \
    void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value) {    \
        change(signal, [&](int64_t* w) { return builtin(w, value, __ATOMIC_SEQ_CST); }); \
    }
#define WJ_CHANGE_ALL(name, builtin)      \
    WJ_CHANGE(name, builtin, scacq_screl) \
    WJ_CHANGE(name, builtin, acq_rel)     \
    WJ_CHANGE(name, builtin, scacquire)   \
    WJ_CHANGE(name, builtin, acquire)     \
    WJ_CHANGE(name, builtin, relaxed)     \
    WJ_CHANGE(name, builtin, screlease)   \
    WJ_CHANGE(name, builtin, release)
WJ_CHANGE_ALL(add, __atomic_fetch_add)
WJ_CHANGE_ALL(subtract, __atomic_fetch_sub)
WJ_CHANGE_ALL(and, __atomic_fetch_and)
WJ_CHANGE_ALL(or, __atomic_fetch_or)
WJ_CHANGE_ALL(xor, __atomic_fetch_xor)

#define WJ_EXCHANGE(order)                                                                        \
    hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal,                           \
                                                   hsa_signal_value_t value) {                    \
        return change(                                                                            \
            signal, [&](int64_t* w) { return __atomic_exchange_n(w, value, __ATOMIC_SEQ_CST); }); \
    }                                                                                             \
    hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,   \
                                              hsa_signal_value_t value) {                         \
        return change(signal, [&](int64_t* w) {                                                   \
            int64_t seen = expected;                                                              \
            __atomic_compare_exchange_n(w, &seen, value, false, __ATOMIC_SEQ_CST,                 \
                                        __ATOMIC_SEQ_CST);                                        \
            return seen;                                                                          \
        });                                                                                       \
    }
WJ_EXCHANGE(scacq_screl)
WJ_EXCHANGE(acq_rel)
WJ_EXCHANGE(scacquire)
WJ_EXCHANGE(acquire)
WJ_EXCHANGE(relaxed)
WJ_EXCHANGE(screlease)
WJ_EXCHANGE(release)

}  // extern "C"
