// C = A * B, bf16 products and f32 sums on matrix cores, 128x64 a wave. Operands are packed as libraries pack them:
// quadruples along K lie together, A[K/4][M][4], B[K/4][N][4]; C is row major. Elsewhere each work-item adds up the same
// 128 elements one by one.
typedef short quadruple __attribute__((ext_vector_type(4)));
typedef float sums __attribute__((ext_vector_type(16)));

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
#define MATRIX_CORES 1
#endif

float widen(short x)
{
    return as_float((uint)(ushort)x << 16);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void matmul_bf16(__global const quadruple *restrict A, __global const quadruple *restrict B,
                 __global float *restrict C, int M, int N, int K)
{
    int lane = get_local_id(0), column = lane & 31, half_wave = lane >> 5;
    int row0 = get_group_id(1) * 128, column0 = get_group_id(0) * 64;
#if MATRIX_CORES
    sums c[4][2];
    for (int x = 0; x < 4; ++x)
        for (int y = 0; y < 2; ++y)
            c[x][y] = 0.0f;
    for (int k = half_wave; k < K / 4; k += 2) {
        quadruple a[4], b[2];
        for (int x = 0; x < 4; ++x)
            a[x] = A[k * M + row0 + 32 * x + column];
        for (int y = 0; y < 2; ++y)
            b[y] = B[k * N + column0 + 32 * y + column];
        for (int x = 0; x < 4; ++x)
            for (int y = 0; y < 2; ++y)
                c[x][y] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a[x], b[y], c[x][y], 0, 0, 0);
    }
    for (int x = 0; x < 4; ++x)
        for (int y = 0; y < 2; ++y)
            for (int e = 0; e < 16; ++e)
                C[(row0 + 32 * x + 8 * (e / 4) + 4 * half_wave + e % 4) * N + column0 + 32 * y + column] = c[x][y][e];
#else
    // One column of sums at a time: with both, LLVM takes 20 s to give gfx803 and gfx906 registers.
    for (int y = 0; y < 2; ++y) {
        sums c[4];
        for (int x = 0; x < 4; ++x)
            c[x] = 0.0f;
        for (int k = 0; k < K / 4; ++k) {
            quadruple b = B[k * N + column0 + 32 * y + column];
            for (int x = 0; x < 4; ++x)
                for (int e = 0; e < 16; ++e) {
                    quadruple a = A[k * M + row0 + 32 * x + 8 * (e / 4) + 4 * half_wave + e % 4];
                    for (int q = 0; q < 4; ++q)
                        c[x][e] += widen(a[q]) * widen(b[q]);
                }
        }
        for (int x = 0; x < 4; ++x)
            for (int e = 0; e < 16; ++e)
                C[(row0 + 32 * x + 8 * (e / 4) + 4 * half_wave + e % 4) * N + column0 + 32 * y + column] = c[x][e];
    }
#endif
}
