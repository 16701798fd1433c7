// Kernels that are stopped anywhere and go on: tests/runtime/resume.h has what comes out of them.

// LDS, barriers, a loop, private memory that lanes index differently, an atomic.
__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void mixed(global const uint* in, global uint* out, global uint* total, uint laps) {
    local uint share[128];
    volatile uint mine[8];
    const uint l = get_local_id(0), i = get_global_id(0);
    for (uint k = 0; k < 8; k++) mine[k] = in[i] + k;
    uint sum = 0;
    for (uint lap = 0; lap < laps; lap++) {
        share[l] = mine[lap & 7] * 3 + sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += share[(l + 1) % 128] ^ share[(l + 64) % 128];
        barrier(CLK_LOCAL_MEM_FENCE);
        mine[(lap + l) & 7] += sum;
    }
    out[i] = sum + mine[3];
    atomic_add(total, sum);
}

// Who came by when: each work-item of the first lane of a wave draws a number in each lap, and
// writes behind it itself, the lap and the clock. Between laps waves do more or less work.
kernel void trace(global uint* drawn, uint laps) {
    const uint wave = get_global_id(0) / 64;
    for (uint lap = 0; lap < laps; lap++) {
        uint x = lap;
        for (uint n = 0; n < (wave * 5 + lap * 3) % 17 * 8; n++) {
            x = x * 1664525 + n;
            __asm__ volatile("" : "+v"(x));
        }
        if (get_global_id(0) % 64 == 0) {
            const uint ticket = atomic_inc(drawn);
            drawn[1 + 2 * ticket] = wave | lap << 16 | (x & 1) << 31;
            drawn[2 + 2 * ticket] = (uint)__builtin_amdgcn_s_memtime();
        }
    }
}

// Each wave waits for the one in front of it, the first one for the host.
kernel void chain(global volatile uint* flags) {
    const uint wave = get_global_id(0) / 64;
    while (!flags[wave]) __builtin_amdgcn_s_sleep(1);
    if (get_global_id(0) % 64 == 0) flags[wave + 1] = flags[wave] + 1;
}

// Reads other input in each lap.
__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void fold(global const uint* in, global uint* out, uint laps) {
    local uint share[128];
    volatile uint mine[4];
    const uint l = get_local_id(0);
    uint sum = l;
    for (uint k = 0; k < 4; k++) mine[k] = l * k;
    for (uint lap = 0; lap < laps; lap++) {
        sum = sum * 3 + in[lap * 128 + l];
        share[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        mine[(l + lap) & 3] += share[127 - l];
        sum ^= mine[lap & 3];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
