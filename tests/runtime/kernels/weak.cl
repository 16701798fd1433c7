// clang-flags: -cl-std=CL2.0
// Messages with and without the fences that they need. Work-group 0 writes data and then a flag,
// work-group 1 waits for the flag and reads the data, which it has read before.
#define COMPILER_FENCE __asm__ volatile("" ::: "memory")

#define MESSAGE(name, store_order, load_order)                                            \
    kernel void name(global uint* data, global atomic_uint* flag, global uint* out) {     \
        uint lane = get_local_id(0);                                                      \
        if (get_group_id(0) == 0) {                                                       \
            data[lane] = 7 + lane;                                                        \
            COMPILER_FENCE;                                                               \
            atomic_store_explicit(flag, 1, store_order, memory_scope_device);             \
        } else {                                                                          \
            out[64 + lane] = data[lane];                                                  \
            COMPILER_FENCE;                                                               \
            while (!atomic_load_explicit(flag, load_order, memory_scope_device)) {        \
            }                                                                             \
            COMPILER_FENCE;                                                               \
            out[lane] = data[lane];                                                       \
        }                                                                                 \
    }
MESSAGE(fenced, memory_order_release, memory_order_acquire)
MESSAGE(no_release, memory_order_relaxed, memory_order_acquire)
MESSAGE(no_acquire, memory_order_release, memory_order_relaxed)

// Waves of one work-group give each other what they have stored.
#define EXCHANGE(name, barrier)                                                           \
    kernel void name(global uint* data, global atomic_uint* flag, global uint* out) {     \
        uint id = get_local_id(0);                                                        \
        data[id] = 7 + id;                                                                \
        barrier;                                                                          \
        out[id] = data[id ^ 64];                                                          \
    }
EXCHANGE(exchanged, barrier(CLK_GLOBAL_MEM_FENCE))
EXCHANGE(not_exchanged, COMPILER_FENCE; __builtin_amdgcn_s_barrier(); COMPILER_FENCE)
