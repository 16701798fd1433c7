// What gfx12.5 has that others have not: more than 256 vector registers of a wave, buffers of 57 bits.

// All of a's elements are alive across the loop: 320 registers.
__attribute__((amdgpu_waves_per_eu(1, 1), reqd_work_group_size(32, 1, 1)))
kernel void many_registers(global const uint* in, global uint* out, uint rounds) {
    uint i = get_global_id(0), n = get_global_size(0);
    uint a[320];
#pragma unroll
    for (uint k = 0; k < 320; k++) a[k] = in[k * n + i];
    for (uint r = 0; r < rounds; r++) {
        uint first = a[0];
#pragma unroll
        for (uint k = 0; k < 319; k++) a[k] = a[k] * 3 + a[k + 1];
        a[319] = a[319] * 3 + first;
    }
#pragma unroll
    for (uint k = 0; k < 320; k++) out[k * n + i] = a[k];
}

// Out of range loads are 0, stores dropped.
kernel void buffers(global uint* in, global uint* out, uint bytes) {
    uint i = get_global_id(0);
    __amdgpu_buffer_rsrc_t from = __builtin_amdgcn_make_buffer_rsrc(in, 0, bytes, 0),
                           to = __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, 0);
    uint x = __builtin_amdgcn_raw_buffer_load_b32(from, i * 4, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(x * 2 + 1, to, i * 4, 0, 0);
}
