// Kernels that figures of other emulators and simulators are published for.
#define WG 256
__kernel void copy(__global const float *restrict in, __global float *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        out[i] = in[i];
}

__kernel void gather(__global const float *restrict in, __global const uint *restrict index,
                     __global float *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        out[i] = in[index[i]];
}

__kernel void count(__global const uint *restrict index, __global uint *restrict bins, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        atomic_inc(&bins[index[i]]);
}

// A row of `width` floats per work-group.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void softmax(__global const float *restrict in, __global float *restrict out, uint width)
{
    __local float part[WG];
    uint lid = get_local_id(0);
    in += (size_t)get_group_id(0) * width;
    out += (size_t)get_group_id(0) * width;
    float most = -INFINITY;
    for (uint i = lid; i < width; i += WG)
        most = fmax(most, in[i]);
    part[lid] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WG / 2; d > 0; d >>= 1) {
        if (lid < d)
            part[lid] = fmax(part[lid], part[lid + d]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = lid; i < width; i += WG)
        sum += exp(in[i] - most);
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WG / 2; d > 0; d >>= 1) {
        if (lid < d)
            part[lid] += part[lid + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = 1.0f / part[0];
    for (uint i = lid; i < width; i += WG)
        out[i] = exp(in[i] - most) * scale;
}
