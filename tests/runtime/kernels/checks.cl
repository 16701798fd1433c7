// Planted mistakes and, with other arguments, their clean twins. checks_test.cpp counts these lines.
kernel void read_lds(global uint* out, uint first) {
    local uint table[60];
    uint id = get_local_id(0);
    if (id < 60) table[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 60) out[id] = table[first + id];  // line 7: beyond its 240 bytes unless first is 0
}

kernel void write_lds(global uint* out, uint first) {
    local ushort table[61];
    uint id = get_local_id(0);
    if (id < 61) table[first + id] = id;  // line 13
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] = table[id < 61 ? id : 0];
}

kernel void add_lds(global uint* out, uint first) {
    local uint sums[4];
    uint id = get_local_id(0);
    if (id < 4) sums[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sums[first + (id & 3)], 1);  // line 23
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 4) out[id] = sums[id];
}

kernel void unwritten(global uint* out, uint count) {
    local uint table[256];
    uint id = get_local_id(0);
    if (id < count) table[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[id ^ 1];  // line 33: nobody has written what lies at count and behind
}

kernel void neighbour(global uint* out, uint wait) {
    local uint table[256];
    uint id = get_local_id(0);
    table[id] = id * 3;
    if (wait) barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[(id + 64) & 255];  // line 41: of another wave
}

kernel void overwrite(global uint* out, uint wait) {
    local uint table[256];
    uint id = get_local_id(0);
    table[id] = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = table[255 - id];
    if (wait) barrier(CLK_LOCAL_MEM_FENCE);
    table[id] = other;  // line 51: other waves may not have read it yet
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[id];
}

kernel void count_all(global uint* out, uint plainly) {
    local uint sum;
    uint id = get_local_id(0);
    if (id == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (plainly && id == 70) sum = 5;  // line 61: an update and a store have no order
    atomic_add(&sum, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sum;
}

// In a loop: what waves did in front of a barrier is forgotten behind it.
kernel void many_barriers(global uint* out, uint laps) {
    local uint table[256];
    uint id = get_local_id(0);
    table[id] = id;
    for (uint lap = 1; lap <= laps; lap++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint other = table[(id + 65 * lap) & 255];
        barrier(CLK_LOCAL_MEM_FENCE);
        table[id] = other + 1;
    }
    out[get_global_id(0)] = table[id];
}

kernel void leave_early(global uint* out, uint last) {
    uint id = get_local_id(0);
    if (id / 64 == last) return;
    barrier(CLK_GLOBAL_MEM_FENCE);  // line 84
    out[get_global_id(0)] = id;
}

kernel void write_global(global uint* out, uint first) {
    out[first + get_local_id(0)] = 1;  // line 89
}

kernel void several(global uint* out, uint wrong) {
    local uint table[256];
    uint id = get_local_id(0);
    if (!wrong || id != 200) table[id] = id;
    if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[(id + 64) & 255];  // line 97: raced for; lane 8 of wave 2: nobody has written it
}

kernel void use_global(global uint* out, uint unused) {
    out[get_global_id(0)] = out[get_global_id(0)] * 3 + 1;
}
