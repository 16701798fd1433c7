// What the OpenCL library reads from the initial registers, the dispatch packet and hidden arguments.
kernel void ids(global uint* out) {
    size_t sx = get_global_size(0), sy = get_global_size(1);
    size_t i = get_global_id(0) - get_global_offset(0) +
               sx * (get_global_id(1) - get_global_offset(1) + sy * (get_global_id(2) - get_global_offset(2)));
    global uint* o = out + i * 16;
    for (int d = 0; d < 3; d++) {
        o[d] = get_global_id(d);
        o[3 + d] = get_local_id(d);
        o[6 + d] = get_group_id(d);
        o[9 + d] = get_local_size(d);
        o[12 + d] = get_num_groups(d);
    }
    o[15] = get_work_dim();
}

kernel void saxpy(float a, global const float* x, global float* y, uint n) {
    uint i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

// One basic block: waves of whole work-groups start each other in translated code.
kernel void groups(global const uint* in, global uint* out) {
    uint i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
    out[i] = in[i] * 3 + (get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16) + (get_local_id(0) << 24);
}

__attribute__((reqd_work_group_size(32, 2, 1)))
kernel void of_32_by_2(global uint* out) {
    out[get_global_id(0) + 32 * get_global_id(1)] = get_local_size(0) * 100 + get_local_size(1);
}

__attribute__((amdgpu_flat_work_group_size(1, 128)))
kernel void of_up_to_128(global uint* out) {
    out[get_global_id(0)] = get_local_size(0);
}

kernel void copy(global const uint* in, global uint* out) {
    out[get_global_id(0)] = in[get_global_id(0)];
}

__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void indexed(global const uint* in, global const uint* index, global uint* out) {
    out[get_global_id(0)] = in[index[get_global_id(0)]];
}

__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void transpose(global const uint* in, global uint* out) {
    size_t x = get_global_id(0), y = get_global_id(1);
    out[x * get_global_size(1) + y] = in[y * get_global_size(0) + x];
}

// Small and wide by-value arguments, and a pointer behind them.
typedef struct { int a; long b; char c; } mixed;
kernel void arguments(char a, short b, float4 c, double d, mixed m, global double* out) {
    out[0] = a;
    out[1] = b;
    out[2] = c.x + c.y * 10 + c.z * 100 + c.w * 1000;
    out[3] = d;
    out[4] = m.a;
    out[5] = m.b;
    out[6] = m.c;
}

// Static LDS, dynamic LDS, barriers over several waves: sums 256 numbers per work-group.
kernel void sum(global const uint* in, global uint* out, local uint* scratch) {
    local uint bias[1];
    uint l = get_local_id(0);
    if (l == 0) bias[0] = 1000;
    scratch[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s; s >>= 1) {
        if (l < s) scratch[l] += scratch[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = scratch[0] + bias[0];
}

// Counts what is not 0 in the LDS at the beginning, then leaves something everywhere.
kernel void lds_leftovers(global uint* out, local volatile uint* scratch, uint count) {
    uint l = get_local_id(0), left = 0;
    for (uint i = l; i < count; i += get_local_size(0)) left += scratch[i] != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < count; i += get_local_size(0)) scratch[i] = ~i;
    out[get_global_id(0)] = left;
}

// What all rows of a work-group read, and one of its waves changes now and then: work-items of 16
// by 16, tile of 256. Whoever is behind that wave reads what it wrote, barrier or not.
kernel void changing_tile(global uint* out, local volatile uint* tile, uint rounds, uint barriers,
                          uint skew) {
    uint l = get_local_id(1) * 16 + get_local_id(0), at = l % 16 * 2 + l / 64 * skew, sum = 0;
    tile[l] = l * 2654435761u + get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < rounds; k++) {
        uint s = 0;
#pragma unroll
        for (uint j = 0; j < 8; j++) s = s * 3 + tile[at + 16 * j];
        if (k % 3 == 1) s += tile[at] ^ tile[at + 32] * 7 ^ tile[at + 48];
        sum = sum * 5 + s;
        if (l / 64 == k % 5)  // a loop: blocks of its own
            for (uint n = 0; n < barriers % 3 + 1; n++) tile[(l * 5 + k) % 128] = s + l + n;
        if (barriers >> k % 32 & 1) barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_group_id(0) * 256 + l] = sum;
}

// Three floats at the end of each structure of eight.
kernel void end_triples(global float* p) {
    uint i = get_global_id(0);
    float3 v = vload3(0, p + 8 * i + 5);
    vstore3(v.yzx + 1, 0, p + 8 * i + 5);
}

// Private memory: an array that is indexed at run time stays in scratch.
kernel void private_array(global const uint* index, global uint* out) {
    uint i = get_global_id(0);
    uint a[32];
    for (uint k = 0; k < 32; k++) a[k] = i * 100 + k;
    for (uint k = 0; k < 8; k++) a[index[(i + k) % 32] % 32] ^= k << 16;
    out[i] = a[index[i % 32] % 32];
}

// All work-items update few counters.
__kernel void count(__global uint *counters, uint mask)
{
    atomic_inc(&counters[get_global_id(0) & mask]);
}

// Each work-item sums elements of its own.
kernel void rows(global const uint* begin, global const uint* values, global const uint* table, global uint* out) {
    uint i = get_global_id(0), sum = 0;
    for (uint k = begin[i]; k < begin[i + 1]; k++) sum += table[values[k]];
    out[i] = sum;
}

kernel void gather(global const uint *table, global const uint *index, global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = table[index[i]];
}
