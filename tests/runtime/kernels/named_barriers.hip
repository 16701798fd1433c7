// What clang makes of named barriers and of clusters.
#define kernel extern "C" __attribute__((global)) void
#define shared __attribute__((shared))
#define in_clusters_of(x, y) __attribute__((cluster_dims(x, y, 1)))
#define wave() (__builtin_amdgcn_workitem_id_x() / 32)

static inline __attribute__((device)) void meet() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier_signal(-1);
    __builtin_amdgcn_s_barrier_wait(-1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Four waves, of which two each sum up what both have: barrier number of the pair.
kernel pairs(unsigned* out) {
    shared __amdgpu_named_workgroup_barrier_t barriers[5];
    shared unsigned numbers[128];
    const unsigned id = __builtin_amdgcn_workitem_id_x(), pair = id / 64;
    if (id == 0) {
        __builtin_amdgcn_s_barrier_init(&barriers[1], 2);
        __builtin_amdgcn_s_barrier_init(&barriers[4], 2);
    }
    meet();
    numbers[id] = id * 3;
    if (pair) {
        __builtin_amdgcn_s_barrier_join(&barriers[4]);
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier_signal_var(&barriers[4], 2);
        __builtin_amdgcn_s_barrier_wait(5);
    } else {
        __builtin_amdgcn_s_barrier_join(&barriers[1]);
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier_signal(2);
        __builtin_amdgcn_s_barrier_wait(2);
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[id] = numbers[id] + numbers[id ^ 32];
    __builtin_amdgcn_s_barrier_leave(1);
}

// Each work-group's number, that of its cluster, its place there and how many there are; and what
// its neighbour in x has written.
kernel in_clusters_of(2, 3) places(unsigned* out, unsigned* numbers) {
    const unsigned x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y();
    const unsigned group = y * 4 + x, id = __builtin_amdgcn_workitem_id_x();
    if (id == 0)
        __hip_atomic_store(&numbers[group], group + 100, __ATOMIC_RELEASE,
                           __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_s_cluster_barrier();
    if (id != 0) return;
    unsigned* mine = out + group * 8;
    mine[0] = __builtin_amdgcn_cluster_id_x();
    mine[1] = __builtin_amdgcn_cluster_id_y();
    mine[2] = __builtin_amdgcn_cluster_workgroup_id_x();
    mine[3] = __builtin_amdgcn_cluster_workgroup_id_y();
    mine[4] = __builtin_amdgcn_cluster_workgroup_flat_id();
    mine[5] = __builtin_amdgcn_cluster_workgroup_max_id_x() |
              __builtin_amdgcn_cluster_workgroup_max_id_y() << 8;
    mine[6] = __builtin_amdgcn_cluster_workgroup_max_flat_id();
    mine[7] = __hip_atomic_load(&numbers[group ^ 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}

// Which has clusters only where a launch says so.
kernel any_place(unsigned* out) {
    const unsigned x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y();
    if (__builtin_amdgcn_workitem_id_x() != 0) return;
    out[y * 4 + x] = __builtin_amdgcn_cluster_id_x() |
                     __builtin_amdgcn_cluster_workgroup_flat_id() << 8 |
                     __builtin_amdgcn_cluster_workgroup_max_flat_id() << 16 | y << 24;
}
