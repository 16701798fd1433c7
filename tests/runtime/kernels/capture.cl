// Through addresses in memory.
kernel void follow(global const ulong* table, global uint* out) {
    size_t i = get_global_id(0);
    out[i] = *(global const uint*)table[i];
}

// Writes one element more than it has, in work-group 5 alone; what it reads in front does not matter.
kernel void overrun(global const uint* in, global uint* out, uint count) {
    size_t i = get_global_id(0);
    uint sum = 0;
    for (uint k = 0; k < 8; k++) sum += in[(i * 8 + k) % count];
    out[i] = sum;
    if (get_group_id(0) == 5 && get_local_id(0) == 3) out[get_global_size(0)] = 1;
}

// An approximation that is stored, that decides, and that is a part of an address.
kernel void stored(global const float* in, global float* out) {
    size_t i = get_global_id(0);
    out[i] = native_recip(in[i]);
}
kernel void decides(global const float* in, global float* out) {
    size_t i = get_global_id(0);
    float x = native_recip(in[i]);
    if (x > 0.5f)
        for (int k = 0; k < 100; k++) out[(i * 7 + k) % 64] = k;
}
kernel void leads(global const float* in, global float* out) {
    out[(int)native_recip(in[get_global_id(0)]) & 63] = 1;
}
// Divisions of integers are exact, though they begin with an approximation.
kernel void divides(global const float* in, global float* out) {
    uint i = get_global_id(0);
    out[i / (as_uint(in[0]) >> 28) & 63] = 1;
}
