// clang-flags: -cl-std=CL2.0 -mcode-object-version=4
// Pointers of which the code does not know whether they lead to private, local or global memory: what it asks of the
// queue (code objects V4) or of the hardware are the apertures.
kernel void generic_pointers(global uint* out) {
    local uint shared_memory[64];
    uint i = get_local_id(0);
    uint own[8];
    for (uint k = 0; k < 8; k++) own[k] = 1000 + i * 8 + k;
    shared_memory[i] = 2000 + i;
    out[i] = 3000 + i;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint* places[3] = {&own[i % 8], &shared_memory[i], &out[i]};
    uint* p = places[(i + i / 3) % 3];
    __asm__ volatile("" : "+v"(p));  // the compiler has to ask where it leads
    *p += 500;
    out[64 + i] = own[i % 8];
    out[128 + i] = shared_memory[i];
    out[192 + i] = __builtin_amdgcn_is_private(p) | __builtin_amdgcn_is_shared(p) << 1;
}

// Of the LDS nothing but flat accesses, in front of which clang does not write M0. A register that nobody has written
// makes the checker try what comes of it.
kernel void flat_lds(global uint* out) {
    local uint shared_memory[64];
    uint i = get_local_id(0);
    uint* p = shared_memory;
    uint none;
    __asm__ volatile("v_and_b32 %0, 0, v40" : "=v"(none) : : "v40");
    __asm__ volatile("" : "+v"(p));
    p[i] = i * i + none;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = p[63 - i];
}
