// What an embedder runs once or a few times: a small kernel of one block, some 50 instructions; and kernels of some size beside it.
kernel void small(global uint* out) {
    uint x = get_local_id(0);
#pragma unroll
    for (uint i = 0; i < 23; i++) x = (x ^ (x >> 3)) + 0x9e37u * i;
    out[get_local_id(0)] = x;
}

#define BESIDE(name, n)                                                              \
    kernel void name(global const float* in, global float* out, uint count) {        \
        uint i = get_global_id(0);                                                   \
        if (i >= count) return;                                                      \
        float x = in[i];                                                             \
        _Pragma("unroll") for (uint k = 0; k < n; k++) x = x * in[i + k] + in[k];    \
        out[i] = x;                                                                  \
    }
BESIDE(beside_40, 40)
