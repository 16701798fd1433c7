// Simulations: grids, particles, tables of dynamic programming.
#define T 16

// Heat on a chip, a tile with its border in the LDS.
__kernel __attribute__((reqd_work_group_size(T, T, 1)))
void hotspot(__global const float *restrict temp, __global const float *restrict power,
             __global float *restrict out, int n, float rx, float ry, float rz, float step)
{
    __local float tile[T + 2][T + 2];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    tile[ly + 1][lx + 1] = temp[y * n + x];
    if (lx == 0)
        tile[ly + 1][0] = temp[y * n + max(x - 1, 0)];
    if (lx == T - 1)
        tile[ly + 1][T + 1] = temp[y * n + min(x + 1, n - 1)];
    if (ly == 0)
        tile[0][lx + 1] = temp[max(y - 1, 0) * n + x];
    if (ly == T - 1)
        tile[T + 1][lx + 1] = temp[min(y + 1, n - 1) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float c = tile[ly + 1][lx + 1];
    float flow = (tile[ly][lx + 1] + tile[ly + 2][lx + 1] - 2.0f * c) * ry +
                 (tile[ly + 1][lx] + tile[ly + 1][lx + 2] - 2.0f * c) * rx + (80.0f - c) * rz;
    out[y * n + x] = c + step * (power[y * n + x] + flow);
}

// The cheapest way down `rows` rows, from above or one step aside; a block of columns with a border.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void pathfinder(__global const int *restrict wall, __global const int *restrict from,
                __global int *restrict to, int columns, int first, int rows)
{
    __local int best[2][256];
    int lid = get_local_id(0), width = 256 - 2 * rows;
    int x = (int)get_group_id(0) * width + lid - rows;
    int at = clamp(x, 0, columns - 1);
    best[0][lid] = from[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
    for (int r = 0; r < rows; r++) {
        int left = max(lid - 1, 0), right = min(lid + 1, 255);
        if (x <= 0)
            left = lid;
        if (x >= columns - 1)
            right = lid;
        int least = min(best[now][lid], min(best[now][left], best[now][right]));
        best[1 - now][lid] = least + wall[(first + r) * columns + at];
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid >= rows && lid < 256 - rows && x < columns)
        to[x] = best[now][lid];
}

// One step of elimination below row k.
__kernel void eliminate(__global float *a, __global const float *restrict factor, int n, int k)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n - k || y >= n - 1 - k)
        return;
    a[(y + k + 1) * n + x + k] -= factor[y + k + 1] * a[k * n + x + k];
}
__kernel void eliminate_factors(__global const float *restrict a, __global float *restrict factor,
                                int n, int k)
{
    int y = get_global_id(0);
    if (y >= n - 1 - k)
        return;
    factor[y + k + 1] = a[(y + k + 1) * n + k] / a[k * n + k];
}

// Seven points, each work-item walks along z and keeps three of them.
__kernel void column3d(__global const float *restrict in, __global float *restrict out, int n,
                       int depth, float c0, float c1)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int i = y * n + x, plane = n * n;
    float below = in[i], here = in[i + plane];
    i += plane;
    for (int z = 1; z < depth - 1; z++, i += plane) {
        float above = in[i + plane];
        out[i] = c0 * here + c1 * (below + above + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
        below = here;
        here = above;
    }
}

// Lattice of nine directions: gather from the neighbours, relax towards equilibrium.
__kernel void lattice(__global const float *restrict f, __global float *restrict g, uint n,
                      float omega)
{
    uint x = get_global_id(0), y = get_global_id(1), size = n * n, i = y * n + x;
    uint xl = (x + n - 1) & (n - 1), xr = (x + 1) & (n - 1);
    uint yd = (y + n - 1) & (n - 1), yu = (y + 1) & (n - 1);
    float f0 = f[i], f1 = f[size + y * n + xl], f2 = f[2 * size + yd * n + x];
    float f3 = f[3 * size + y * n + xr], f4 = f[4 * size + yu * n + x];
    float f5 = f[5 * size + yd * n + xl], f6 = f[6 * size + yd * n + xr];
    float f7 = f[7 * size + yu * n + xr], f8 = f[8 * size + yu * n + xl];
    float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
    float u2 = 1.0f - 1.5f * (ux * ux + uy * uy);
    float a = rho / 9.0f, d = rho / 36.0f, s = ux + uy, t = uy - ux;
    g[i] = f0 + omega * (4.0f * a * u2 - f0);
    g[size + i] = f1 + omega * (a * (u2 + 3.0f * ux + 4.5f * ux * ux) - f1);
    g[2 * size + i] = f2 + omega * (a * (u2 + 3.0f * uy + 4.5f * uy * uy) - f2);
    g[3 * size + i] = f3 + omega * (a * (u2 - 3.0f * ux + 4.5f * ux * ux) - f3);
    g[4 * size + i] = f4 + omega * (a * (u2 - 3.0f * uy + 4.5f * uy * uy) - f4);
    g[5 * size + i] = f5 + omega * (d * (u2 + 3.0f * s + 4.5f * s * s) - f5);
    g[6 * size + i] = f6 + omega * (d * (u2 + 3.0f * t + 4.5f * t * t) - f6);
    g[7 * size + i] = f7 + omega * (d * (u2 - 3.0f * s + 4.5f * s * s) - f7);
    g[8 * size + i] = f8 + omega * (d * (u2 - 3.0f * t + 4.5f * t * t) - f8);
}

struct particle {
    float x, y, z, vx, vy, vz;
};

// Particles as structures of 24 bytes, in a box.
__kernel void particles(__global struct particle *p, uint n, float step)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    struct particle a = p[i];
    a.vy -= 9.81f * step;
    a.x += a.vx * step;
    a.y += a.vy * step;
    a.z += a.vz * step;
    if (a.x < 0 || a.x > 1)
        a.vx = -a.vx;
    if (a.y < 0) {
        a.y = -a.y;
        a.vy = -0.9f * a.vy;
    }
    if (a.z < 0 || a.z > 1)
        a.vz = -a.vz;
    p[i] = a;
}

// Game of life, a byte a cell, on a torus.
__kernel void life(__global const uchar *restrict in, __global uchar *restrict out, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    uint l = (x + n - 1) % n, r = (x + 1) % n, u = (y + n - 1) % n * n, d = (y + 1) % n * n;
    uint m = y * n;
    uint sum = in[u + l] + in[u + x] + in[u + r] + in[m + l] + in[m + r] + in[d + l] + in[d + x] +
               in[d + r];
    out[m + x] = sum == 3 || (sum == 2 && in[m + x]);
}

// Forces between particles in neighbouring boxes of a chain, those of a box through the LDS.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void box_forces(__global const float4 *restrict p, __global float4 *restrict force, int boxes,
                float a2)
{
    __local float4 other[128];
    int lid = get_local_id(0), box = get_group_id(0);
    float4 me = p[box * 128 + lid], f = (float4)(0);
    for (int b = max(box - 2, 0); b <= min(box + 2, boxes - 1); b++) {
        other[lid] = p[b * 128 + lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 128; j++) {
            float4 o = other[j];
            float r2 = me.w + o.w - (me.x * o.x + me.y * o.y + me.z * o.z);
            float v = native_exp(-a2 * r2), s = 2.0f * v;
            f.x += s * (me.x - o.x);
            f.y += s * (me.y - o.y);
            f.z += s * (me.z - o.z);
            f.w += v;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[box * 128 + lid] = f;
}

// Needleman and Wunsch: one tile of 16 x 16 of those on a diagonal, in 31 steps.
__kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void align_tile(__global const int *restrict similar, __global int *table, int n, int penalty,
                int diagonal, int first)
{
    __local int t[T + 1][T + 1], s[T][T];
    int lid = get_local_id(0), bx = (int)get_group_id(0) + first, by = diagonal - bx;
    __global int *at = table + by * T * (n + 1) + bx * T;
    for (int r = 0; r < T; r++) {
        s[r][lid] = similar[(by * T + r) * n + bx * T + lid];
        t[0][lid + 1] = at[lid + 1];
    }
    t[lid + 1][0] = at[(lid + 1) * (n + 1)];
    if (lid == 0)
        t[0][0] = at[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 2 * T - 1; k++) {
        int y = k - lid;
        if (y >= 0 && y < T)
            t[y + 1][lid + 1] = max(t[y][lid] + s[y][lid],
                                    max(t[y + 1][lid], t[y][lid + 1]) - penalty);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < T; r++)
        at[(r + 1) * (n + 1) + lid + 1] = t[r + 1][lid + 1];
}

// Julia set in doubles.
__kernel void julia_f64(__global uint *restrict steps, uint n, uint limit)
{
    uint x = get_global_id(0), y = get_global_id(1), k = 0;
    double a = 3.0 * x / n - 1.5, b = 3.0 * y / n - 1.5;
    while (k < limit && a * a + b * b < 4.0) {
        double t = a * a - b * b - 0.8;
        b = 2.0 * a * b + 0.156;
        a = t;
        k++;
    }
    steps[y * n + x] = k;
}

// Sum of products of doubles: each work-item strides through all, then the work-group's sum.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void dot_f64(__global const double *restrict x, __global const double *restrict y,
             __global double *restrict sums, uint n)
{
    __local double part[256];
    uint lid = get_local_id(0);
    double sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i] * y[i];
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 128; d > 0; d >>= 1) {
        if (lid < d)
            part[lid] += part[lid + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = part[0];
}

// y = a x + y in doubles.
__kernel void daxpy(__global const double *restrict x, __global double *restrict y, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        y[i] += 1.0009765625 * x[i];
}
