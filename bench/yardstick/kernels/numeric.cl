// Dense arithmetic: matrix times vector, Fourier transforms, clusters, paths, random numbers, doubles.
#define WG 256
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void gemv(__global const float *restrict a, __global const float *restrict x,
          __global float *restrict y, uint n)
{
    __local float part[WG];
    uint lid = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (uint k = lid; k < n; k += WG)
        sum += a[(size_t)row * n + k] * x[k];
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = WG / 2; d > 0; d >>= 1) {
        if (lid < d)
            part[lid] += part[lid + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        y[row] = part[0];
}

float2 times(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// 1024 points a work-group: five radix-4 passes (Stockham), each through the LDS.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void fft1024(__global const float2 *restrict in, __global float2 *restrict out)
{
    __local float2 line[1024];
    uint lid = get_local_id(0);
    in += (size_t)get_group_id(0) * 1024;
    out += (size_t)get_group_id(0) * 1024;
    float2 v[4];
    for (uint k = 0; k < 4; k++)
        v[k] = in[lid + k * 256];
    for (uint p = 1; p < 1024; p *= 4) {
        uint k = lid & (p - 1);
        float angle = -6.283185307179586f * (float)k / (float)(4 * p);
        for (uint j = 1; j < 4; j++)
            v[j] = times(v[j], (float2)(cos(angle * (float)j), sin(angle * (float)j)));
        float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
        d = (float2)(d.y, -d.x);
        uint to = (lid - k) * 4 + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        line[to] = a + c;
        line[to + p] = b + d;
        line[to + 2 * p] = a - c;
        line[to + 3 * p] = b - d;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 4; j++)
            v[j] = line[lid + j * 256];
    }
    for (uint j = 0; j < 4; j++)
        out[lid + j * 256] = v[j];
}

// The nearest of `clusters` centres for points of eight coordinates, one point after the other in memory.
__kernel void kmeans(__global const float *restrict points, __global const float *restrict centres,
                     __global uint *restrict nearest, uint n, uint clusters)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float least = INFINITY;
    uint best = 0;
    for (uint c = 0; c < clusters; c++) {
        float sum = 0;
        for (uint d = 0; d < 8; d++) {
            float t = points[i * 8 + d] - centres[c * 8 + d];
            sum += t * t;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    nearest[i] = best;
}

// Shortest paths over node k.
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void floyd(__global float *d, uint n, uint k)
{
    uint x = get_global_id(0), y = get_global_id(1);
    float over = d[y * n + k] + d[k * n + x];
    if (over < d[y * n + x])
        d[y * n + x] = over;
}

// Points in a quarter of a circle, of `count` random ones for each work-item.
__kernel void circle(__global uint *restrict hits, uint seed, uint count)
{
    uint s = (uint)get_global_id(0) * 0x9e3779b9u + seed, n = 0;
    s = s ? s : 1;
    for (uint i = 0; i < count; i++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        uint x = s >> 17;
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        uint y = s >> 17;
        if (x * x + y * y < 0x40000000u)
            n++;
    }
    hits[get_global_id(0)] = n;
}

#define T 16
__kernel __attribute__((reqd_work_group_size(T, T, 1)))
void dgemm(__global const double *restrict a, __global const double *restrict b,
           __global double *restrict c, uint n)
{
    __local double ta[T][T], tb[T][T + 1];
    uint lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    double sum = 0;
    for (uint t = 0; t < n; t += T) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < T; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

// A matrix of bytes times a vector, a row for each work-item.
__kernel void gemv_i8(__global const char4 *restrict a, __global const char4 *restrict x,
                      __global int *restrict y, uint quads)
{
    uint row = get_global_id(0);
    int sum = 0;
    for (uint k = 0; k < quads; k++) {
        char4 u = a[row * quads + k], v = x[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    y[row] = sum;
}

// c / 2 + a * b' + b * a', the lower half of a symmetric matrix: an element for each work-item.
__kernel void syr2k(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                    int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (j > i)
        return;
    float sum = 0.5f * c[i * n + j];
    for (int k = 0; k < n; k++)
        sum += a[j * n + k] * b[i * n + k] + b[j * n + k] * a[i * n + k];
    c[i * n + j] = sum;
}

// Eleven neighbours in three dimensions, in work-groups that are rows: narrow volumes have many edges.
__kernel void stencil3d(__global const float *restrict in, __global float *restrict out, int n)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x > n - 2 || y > n - 2 || z > n - 2)
        return;
    __global const float *p = in + (z * n + y) * n + x;
    int row = n, plane = n * n;
    out[(z * n + y) * n + x] = 0.5f * p[0] + 0.1f * (p[-1] + p[1]) + 0.2f * (p[-row] + p[row]) +
                               0.3f * (p[-plane] - p[plane]) + 0.4f * (p[-plane - 1] - p[plane + 1]) +
                               0.05f * (p[-row - 1] - p[row + 1]);
}
