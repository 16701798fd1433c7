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

kernel void inverse(global const float* in, global float* out, global int* found) {
    size_t i = get_global_id(0);
    float x = native_recip(in[i]);
    out[i] = x;
    if (x > 0.5f) found[(int)(x * 16.0f)] = 1;
}
