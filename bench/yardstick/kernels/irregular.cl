// Searching, graphs, strings, rays: lanes that go ways of their own.
__kernel void lower_bound(__global const uint *restrict sorted, __global const uint *restrict wanted,
                          __global uint *restrict at, uint n, uint queries)
{
    uint i = get_global_id(0);
    if (i >= queries)
        return;
    uint want = wanted[i], from = 0, to = n;
    while (from < to) {
        uint middle = (from + to) / 2;
        if (sorted[middle] < want)
            from = middle + 1;
        else
            to = middle;
    }
    at[i] = from;
}

// A level of a breadth-first search.
__kernel void bfs(__global const uint *restrict first, __global const uint *restrict edges,
                  __global uint *restrict level, uint nodes, uint now)
{
    uint i = get_global_id(0);
    if (i >= nodes || level[i] != now)
        return;
    for (uint e = first[i]; e < first[i + 1]; e++)
        if (level[edges[e]] == 0xffffffffu)
            level[edges[e]] = now + 1;
}

// Keeps what is below a limit, in any order.
__kernel void compact(__global const uint *restrict in, __global uint *restrict out,
                      __global uint *restrict count, uint n, uint limit)
{
    uint i = get_global_id(0);
    if (i < n && in[i] < limit)
        out[atomic_inc(count)] = in[i];
}

// Whether a pattern begins at each byte of a text.
__kernel void match(__global const uchar *restrict text, __constant uchar *restrict pattern,
                    __global uchar *restrict found, uint n, uint length)
{
    uint i = get_global_id(0);
    if (i + length > n)
        return;
    uint k = 0;
    while (k < length && text[i + k] == pattern[k])
        k++;
    found[i] = k == length;
}

// CRC-32 of 256 bytes for each work-item, by a table in the LDS.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void crc32(__global const uint *restrict data, __global uint *restrict crc)
{
    __local uint table[256];
    uint lid = get_local_id(0), i = get_global_id(0), t = lid;
    for (uint k = 0; k < 8; k++)
        t = t & 1 ? (t >> 1) ^ 0xedb88320u : t >> 1;
    table[lid] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint c = 0xffffffffu;
    for (uint k = 0; k < 64; k++) {
        uint w = data[k * get_global_size(0) + i];
        for (uint b = 0; b < 4; b++, w >>= 8)
            c = table[(c ^ w) & 0xff] ^ (c >> 8);
    }
    crc[i] = ~c;
}

// The nearest of some spheres along parallel rays.
__kernel void spheres(__global const float4 *restrict sphere, __global float *restrict depth, uint w,
                      uint h, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float px = (float)x / (float)w, py = (float)y / (float)h, nearest = INFINITY;
    for (uint i = 0; i < n; i++) {
        float4 s = sphere[i];
        float dx = px - s.x, dy = py - s.y, q = s.w * s.w - dx * dx - dy * dy;
        if (q > 0) {
            float t = s.z - sqrt(q);
            if (t < nearest)
                nearest = t;
        }
    }
    depth[y * w + x] = nearest;
}

// How far apart two strings are, a row of the table in private memory.
#define LETTERS 32
__kernel void levenshtein(__global const uchar *restrict a, __global const uchar *restrict b,
                          __global uint *restrict distance, uint length)
{
    uint i = get_global_id(0), row[LETTERS + 1];
    for (uint k = 0; k <= length; k++)
        row[k] = k;
    for (uint y = 1; y <= length; y++) {
        uint corner = row[0];
        uchar letter = a[i * length + y - 1];
        row[0] = y;
        for (uint x = 1; x <= length; x++) {
            uint above = row[x], changed = b[i * length + x - 1] != letter;
            row[x] = min(min(above, row[x - 1]) + 1, corner + changed);
            corner = above;
        }
    }
    distance[i] = row[length];
}

// Sums of floats by their size, added with compare and swap.
__kernel void sums_by_size(__global const float *restrict in, __global volatile uint *bins, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    uint bin = (uint)(in[i] * 1024.0f) & 1023, old = bins[bin], was;
    do {
        was = old;
        old = atomic_cmpxchg(bins + bin, was, as_uint(as_float(was) + in[i]));
    } while (old != was);
}

// Steps until 1.
__kernel void collatz(__global uint *restrict steps, uint n)
{
    uint i = get_global_id(0), count = 0;
    if (i >= n)
        return;
    ulong v = i + 1;
    while (v != 1 && count < 1000) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        count++;
    }
    steps[i] = count;
}
