// Layers of networks, and filters: nested loops, narrow types, table lookups.

// Convolution of channels: k outputs, c inputs, a window of size x size.
__kernel void conv_layer(__global const float *restrict in, __global const float *restrict weight,
                         __global float *restrict out, int n, int channels, int size)
{
    int x = get_global_id(0), y = get_global_id(1), k = get_global_id(2), wide = n + size - 1;
    float sum = 0;
    for (int c = 0; c < channels; c++)
        for (int dy = 0; dy < size; dy++)
            for (int dx = 0; dx < size; dx++)
                sum += in[(c * wide + y + dy) * wide + x + dx] *
                       weight[((k * channels + c) * size + dy) * size + dx];
    out[(k * n + y) * n + x] = sum;
}

// A window's largest value, rectified, strides of two.
__kernel void max_pool(__global const float *restrict in, __global float *restrict out, int n)
{
    int x = get_global_id(0), y = get_global_id(1), m = 2 * n;
    float v = 0;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            v = fmax(v, in[(2 * y + dy) * m + 2 * x + dx]);
    out[y * n + x] = v;
}

// Rows to mean 0 and variance 1; a work-group a row.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void layer_norm(__global const float *restrict in, __global const float *restrict gain,
                __global const float *restrict bias, __global float *restrict out, uint n)
{
    __local float a[256], b[256];
    uint lid = get_local_id(0);
    in += get_group_id(0) * n;
    out += get_group_id(0) * n;
    float s = 0, q = 0;
    for (uint i = lid; i < n; i += 256) {
        s += in[i];
        q += in[i] * in[i];
    }
    a[lid] = s;
    b[lid] = q;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 128; d > 0; d >>= 1) {
        if (lid < d) {
            a[lid] += a[lid + d];
            b[lid] += b[lid + d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float mean = a[0] / n, scale = rsqrt(b[0] / n - mean * mean + 1e-5f);
    for (uint i = lid; i < n; i += 256)
        out[i] = (in[i] - mean) * scale * gain[i] + bias[i];
}

// Gaussian error linear unit of halves.
__kernel void gelu_f16(__global const half *restrict in, __global half *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float x = vload_half(i, in);
    float y = 0.7978845608f * (x + 0.044715f * x * x * x);
    vstore_half(x / (1.0f + native_exp(-2.0f * y)), i, out);
}

// Rows of an embedding table, weighted and summed: each work-group a bag of tokens.
__kernel void embedding_bag(__global const float *restrict table, __global const uint *restrict ids,
                            __global const float *restrict weight, __global float *restrict out,
                            uint bag, uint width)
{
    uint x = get_local_id(0), g = get_group_id(0);
    float sum = 0;
    for (uint k = 0; k < bag; k++)
        sum += weight[g * bag + k] * table[ids[g * bag + k] * width + x];
    out[g * width + x] = sum;
}

// Floats to bytes by a row's scale, four at a time.
__kernel void quantize(__global const float4 *restrict in, __global const float *restrict scale,
                       __global char4 *restrict out, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    out[y * n + x] = convert_char4_sat_rte(in[y * n + x] * scale[y]);
}

// Products of 4 x 4 matrices, one a work-item.
__kernel void small_products(__global const float4 *restrict a, __global const float4 *restrict b,
                             __global float4 *restrict c, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float4 b0 = b[4 * i], b1 = b[4 * i + 1], b2 = b[4 * i + 2], b3 = b[4 * i + 3];
    for (uint r = 0; r < 4; r++) {
        float4 v = a[4 * i + r];
        c[4 * i + r] = v.x * b0 + v.y * b1 + v.z * b2 + v.w * b3;
    }
}

// An edge-preserving filter: weights by distance and by difference.
__kernel void bilateral(__global const float *restrict in, __global float *restrict out, int w,
                        int h, int radius, float space, float range)
{
    int x = get_global_id(0), y = get_global_id(1);
    float c = in[y * w + x], sum = 0, all = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int xx = clamp(x + dx, 0, w - 1), yy = clamp(y + dy, 0, h - 1);
            float v = in[yy * w + xx], d = v - c;
            float weight = native_exp(-(float)(dx * dx + dy * dy) * space - d * d * range);
            sum += weight * v;
            all += weight;
        }
    out[y * w + x] = sum / all;
}

// Hue, saturation and value of pixels.
__kernel void to_hsv(__global const uchar4 *restrict in, __global float4 *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    uchar4 p = in[i];
    float r = p.x / 255.0f, g = p.y / 255.0f, b = p.z / 255.0f;
    float v = fmax(r, fmax(g, b)), d = v - fmin(r, fmin(g, b)), h = 0;
    if (d > 0) {
        if (v == r)
            h = (g - b) / d;
        else if (v == g)
            h = 2 + (b - r) / d;
        else
            h = 4 + (r - g) / d;
        if (h < 0)
            h += 6;
    }
    out[i] = (float4)(h * 60, v > 0 ? d / v : 0, v, p.w / 255.0f);
}

float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
float slope(uint hash, float x, float y)
{
    return (hash & 1 ? x : -x) + (hash & 2 ? y : -y);
}

// Gradient noise: a table of permutations, octaves in a loop.
__kernel void noise(__global const uchar *restrict table, __global float *restrict out, uint n,
                    uint octaves)
{
    uint px = get_global_id(0), py = get_global_id(1);
    float x = px * (8.0f / n), y = py * (8.0f / n), sum = 0, size = 1;
    for (uint o = 0; o < octaves; o++) {
        float fx = floor(x), fy = floor(y), u = x - fx, v = y - fy;
        uint ix = (uint)fx & 255, iy = (uint)fy & 255;
        uint a = table[ix] + iy, b = table[ix + 1] + iy;
        float s = fade(u), t = fade(v);
        float top = mix(slope(table[a], u, v), slope(table[b], u - 1, v), s);
        float low = mix(slope(table[a + 1], u, v - 1), slope(table[b + 1], u - 1, v - 1), s);
        sum += size * mix(top, low, t);
        size *= 0.5f;
        x *= 2;
        y *= 2;
    }
    out[py * n + px] = sum;
}

// Three bytes to four letters.
__kernel void base64(__global const uchar *restrict in, __global uchar4 *restrict out,
                     __constant uchar *letters, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    uint v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[i] = (uchar4)(letters[v >> 18], letters[v >> 12 & 63], letters[v >> 6 & 63], letters[v & 63]);
}

// Counts of digits, 16 counters for each work-item in the LDS, as in a radix sort.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void count_digits(__global const uint *restrict in, __global uint *restrict counts, uint shift)
{
    __local ushort count[16][64];
    uint lid = get_local_id(0), group = get_group_id(0);
    for (uint d = 0; d < 16; d++)
        count[d][lid] = 0;
    for (uint k = 0; k < 64; k++)
        count[in[group * 4096 + k * 64 + lid] >> shift & 15][lid]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 16) {
        uint sum = 0;
        for (uint k = 0; k < 64; k++)
            sum += count[lid][k];
        counts[lid * get_num_groups(0) + group] = sum;
    }
}

// Each work-item sums 16 neighbours in a row, running.
__kernel void running_sums(__global const uint *restrict in, __global uint *restrict out, uint n)
{
    uint i = get_global_id(0) * 16, sum = 0;
    if (i >= n)
        return;
    for (uint k = 0; k < 16; k++) {
        sum += in[i + k];
        out[i + k] = sum;
    }
}

// Pixels of three bytes, each of them inverted.
__kernel void invert(__global const uchar *restrict in, __global uchar *restrict out, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    vstore3((uchar3)(255) - vload3(i, in), i, out);
}

// An image at another size, four neighbours mixed for each pixel.
__kernel void resize(__global const float *restrict in, __global float *restrict out, uint w, uint h,
                     uint wide, float step)
{
    uint x = get_global_id(0), y = get_global_id(1);
    float fx = x * step, fy = y * step;
    uint l = (uint)fx, t = (uint)fy, r = min(l + 1, w - 1), b = min(t + 1, h - 1);
    float u = fx - l, v = fy - t;
    out[y * wide + x] = mix(mix(in[t * w + l], in[t * w + r], u),
                            mix(in[b * w + l], in[b * w + r], u), v);
}

// How far points are from one, the coordinates of each in a row.
__kernel void distances(__global const float *restrict points, __global const float *restrict from,
                        __global float *restrict out, uint dimensions, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (uint k = 0; k < dimensions; k++) {
        float d = points[i * dimensions + k] - from[k];
        sum += d * d;
    }
    out[i] = sum;
}
