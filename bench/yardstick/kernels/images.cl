// Images and grids: neighbours of every element, edges clamped.
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void convolve5x5(__global const float *restrict in, __constant float *restrict filter,
                 __global float *restrict out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            int u = clamp(x + i, 0, w - 1), v = clamp(y + j, 0, h - 1);
            sum += in[v * w + u] * filter[(j + 2) * 5 + i + 2];
        }
    out[y * w + x] = sum;
}

// Gradients of an image of bytes.
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void sobel_u8(__global const uchar *restrict in, __global uchar *restrict out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    __global const uchar *p = in + y * w + x;
    int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    out[y * w + x] = (uchar)min(abs(gx) + abs(gy), 255u);
}

// A step of the heat equation; every work-item goes down a column.
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void heat3d(__global const float *restrict in, __global float *restrict out, int w, int h, int d,
            float c)
{
    int x = get_global_id(0), y = get_global_id(1), plane = w * h;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    int i = y * w + x + plane;
    float below = in[i - plane], here = in[i];
    for (int z = 1; z < d - 1; z++, i += plane) {
        float above = in[i + plane];
        float sum = below + above + in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
        out[i] = here + c * (sum - 6.0f * here);
        below = here;
        here = above;
    }
}

// Colours, three elements a pixel, to grey.
__kernel void grey_f32(__global const float *restrict in, __global float *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        out[i] = 0.299f * in[3 * i] + 0.587f * in[3 * i + 1] + 0.114f * in[3 * i + 2];
}

__kernel void grey_u8(__global const uchar *restrict in, __global uchar *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        out[i] = (uchar)((77u * in[3 * i] + 150u * in[3 * i + 1] + 29u * in[3 * i + 2]) >> 8);
}

// A step towards the solution of Laplace's equation.
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void jacobi_f64(__global const double *restrict in, __global double *restrict out, uint w, uint h)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1)
        return;
    __global const double *p = in + y * w + x;
    out[y * w + x] = 0.25 * (p[-1] + p[1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

// White above the limit, black up to it.
__kernel void threshold_u8(__global const uchar *restrict in, __global uchar *restrict out, int limit)
{
    uint i = get_global_id(0);
    out[i] = in[i] > limit ? 255 : 0;
}
