// Accesses of all sizes, for pages whose accesses are calls.
// clang-flags: -mllvm -amdgpu-atomic-optimizer-strategy=None
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// All work-items take a word from one register.
kernel void take(global volatile uint* from, global uint* out) {
    out[get_global_id(0)] = *from;
}

kernel void put(global volatile uint* to, uint value) {
    *to = value + get_global_id(0);
}

// Each work-item's accesses are in the order of its program.
kernel void in_turns(global volatile uint* device, global uint* out) {
    uint first = device[0];
    device[1] = first;
    uint second = device[0];
    device[2] = second;
    out[get_global_id(0)] = first << 16 | second;
}

// In a loop: each work-item's words are in the order of its program.
kernel void take_several(global volatile uint* from, global uint* out, uint count) {
    uint sum = 0;
    for (uint i = 0; i < count; i++) sum = sum * 10 + *from;
    out[get_global_id(0)] = sum;
}

// Until a status register says that the device is ready; then its data.
kernel void poll(global volatile uint* device, global uint* out) {
    device[0] = 1;
    while (device[1] == 0) {}
    out[get_global_id(0)] = device[2];
}

// Scalar loads of constants.
kernel void uniform_words(global const uint* from, global uint* out) {
    uint sum = 0;
    for (uint i = 0; i < 7; i++) sum = sum * 16 + from[i];
    out[get_global_id(0)] = sum;
}

kernel void bytes(global volatile uchar* from, global volatile uchar* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
kernel void halves(global volatile ushort* from, global volatile ushort* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
kernel void words(global const uint* from, global uint* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
kernel void pairs(global const ulong* from, global ulong* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
kernel void quads(global const uint4* from, global uint4* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}
// Elements of 12 bytes, of 3 that lie anywhere, and neighbours that compilers load as one.
kernel void triples(global const uint* from, global uint* to) {
    vstore3(vload3(get_global_id(0), from), get_global_id(0), to);
}
kernel void odd(global const uchar* from, global uchar* to) {
    from += get_global_id(0) * 7 + 1, to += get_global_id(0) * 7 + 1;
    for (int i = 0; i < 7; i++) to[i] = from[i];
}

kernel void add(global uint* counter, global uint* out) {
    out[get_global_id(0)] = atomic_add(counter, get_global_id(0) + 1);
}
kernel void add_unread(global uint* counter) {
    atomic_add(counter, get_global_id(0) + 1);
}
kernel void exchange(global ulong* place, global ulong* out) {
    out[get_global_id(0)] = atom_xchg(place, (ulong)get_global_id(0) << 32 | 7);
}
kernel void exchange_if(global uint* place, global uint* out) {
    out[get_global_id(0)] = atomic_cmpxchg(place, get_global_id(0), get_global_id(0) + 1);
}
