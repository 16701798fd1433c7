// Matrix multiplies c = a * b as clang-22 compiles them for the matrix cores: one wave per tile of the product.
// a is [m][k] and b is [n][k], so both operands are read alike; c is [m][n]. grid = (64 * n/tile, m/tile).
typedef half half4 __attribute__((ext_vector_type(4)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef short short2_ __attribute__((ext_vector_type(2)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float float2_ __attribute__((ext_vector_type(2)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float16_ __attribute__((ext_vector_type(16)));
typedef int int4_ __attribute__((ext_vector_type(4)));
typedef int int8_ __attribute__((ext_vector_type(8)));
typedef double double4_ __attribute__((ext_vector_type(4)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Each lane holds `count` values of k for row (of b: column) lane % tile.
#define MULTIPLY(name, tile, element, operand, count, result, registers, row, builtin)                         \
    kernel void name(global const element* a, global const element* b, global result* c, uint n, uint k) {     \
        uint lane = __builtin_amdgcn_workitem_id_x(), i = lane % tile, group = lane / tile;                    \
        uint row0 = __builtin_amdgcn_workgroup_id_y() * tile, column0 = __builtin_amdgcn_workgroup_id_x() * tile; \
        result##registers sum = 0;                                                                             \
        for (uint at = group * count; at < k; at += 64 / tile * count) {                                       \
            operand x = *(global const operand*)(a + (row0 + i) * k + at);                                     \
            operand y = *(global const operand*)(b + (column0 + i) * k + at);                                  \
            sum = builtin;                                                                                     \
        }                                                                                                      \
        for (uint v = 0; v < registers; v++) c[(row0 + (row)) * n + column0 + i] = sum[v];                     \
    }
#define float4 float4_
#define float16 float16_
#define int4 int4_
#define double4 double4_
#define ROW16 group * 4 + v
#define ROW32 v / 4 * 8 + group * 4 + v % 4

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
MULTIPLY(f32_16, 16, float, float, 1, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, sum, 0, 0, 0))
MULTIPLY(f32_32, 32, float, float, 1, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, sum, 0, 0, 0))
MULTIPLY(f16_16, 16, half, half4, 4, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0))
MULTIPLY(f16_32, 32, half, half4, 4, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx908__) || defined(__gfx90a__)
MULTIPLY(i8_16, 16, char, int, 4, int, 4, ROW16, __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, sum, 0, 0, 0))
MULTIPLY(i8_32, 32, char, int, 4, int, 16, ROW32, __builtin_amdgcn_mfma_i32_32x32x8i8(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx908__)
MULTIPLY(bf16_16, 16, short, short2_, 2, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x8bf16(x, y, sum, 0, 0, 0))
MULTIPLY(bf16_32, 32, short, short2_, 2, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x4bf16(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
MULTIPLY(bf16_16, 16, short, short4_, 4, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0))
MULTIPLY(bf16_32, 32, short, short4_, 4, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, sum, 0, 0, 0))
MULTIPLY(f64_16, 16, double, double, 1, double, 4, group + 4 * v, __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx942__) || defined(__gfx950__)
MULTIPLY(i8_16, 16, char, long, 8, int, 4, ROW16, __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, sum, 0, 0, 0))
MULTIPLY(i8_32, 32, char, long, 8, int, 16, ROW32, __builtin_amdgcn_mfma_i32_32x32x16_i8(x, y, sum, 0, 0, 0))
MULTIPLY(fp8_16, 16, char, long, 8, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, sum, 0, 0, 0))
MULTIPLY(fp8_32, 32, char, long, 8, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x, y, sum, 0, 0, 0))
MULTIPLY(bf8_16, 16, char, long, 8, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(x, y, sum, 0, 0, 0))
MULTIPLY(bf8_32, 32, char, long, 8, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx942__)
MULTIPLY(xf32_16, 16, float, float2_, 2, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x8_xf32(x, y, sum, 0, 0, 0))
MULTIPLY(xf32_32, 32, float, float2_, 2, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x4_xf32(x, y, sum, 0, 0, 0))
#endif
#if defined(__gfx950__)
MULTIPLY(f16_16_wide, 16, half, half8, 8, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, sum, 0, 0, 0))
MULTIPLY(f16_32_wide, 32, half, half8, 8, float, 16, ROW32, __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, sum, 0, 0, 0))
MULTIPLY(bf16_16_wide, 16, short, bf16x8, 8, float, 4, ROW16, __builtin_amdgcn_mfma_f32_16x16x32_bf16(x, y, sum, 0, 0, 0))
MULTIPLY(i8_16_wide, 16, char, int4_, 16, int, 4, ROW16, __builtin_amdgcn_mfma_i32_16x16x64_i8(x, y, sum, 0, 0, 0))
// Scales 2^(128-127) of a and 2^(126-127) of b cancel out.
MULTIPLY(fp8_16_scaled, 16, char, int8_, 32, float, 4, ROW16,
         __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, sum, 0, 0, 0, 0x80808080, 0, 0x7e7e7e7e))
MULTIPLY(fp8_32_scaled, 32, char, int8_, 32, float, 16, ROW32,
         __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(x, y, sum, 0, 0, 0, 0x80808080, 0, 0x7e7e7e7e))
#endif

// Products in a wave of 32 lanes, whose lanes hold 8 rows each of one column of the sum. `groups`: into how many parts of k the
// sixteens of lanes go; with one, they hold copies. grid = (32 * n/16, m/16).
typedef half half16_ __attribute__((ext_vector_type(16)));
typedef short short8_ __attribute__((ext_vector_type(8)));
typedef short short16_ __attribute__((ext_vector_type(16)));
typedef __bf16 bf16x16 __attribute__((ext_vector_type(16)));
typedef float float8_ __attribute__((ext_vector_type(8)));
typedef int int2_ __attribute__((ext_vector_type(2)));
typedef int int16_ __attribute__((ext_vector_type(16)));
#define IN_WAVE(name, element, operand, count, groups, result, row, builtin)                                   \
    kernel void name(global const element* a, global const element* b, global result* c, uint n, uint k) {     \
        uint lane = __builtin_amdgcn_workitem_id_x(), i = lane % 16, upper = lane / 16;                        \
        uint row0 = __builtin_amdgcn_workgroup_id_y() * 16, column0 = __builtin_amdgcn_workgroup_id_x() * 16;  \
        result##8_ sum = 0;                                                                                    \
        for (uint at = upper % groups * count; at < k; at += groups * count) {                                 \
            operand x = *(global const operand*)(a + (row0 + i) * k + at);                                     \
            operand y = *(global const operand*)(b + (column0 + i) * k + at);                                  \
            sum = builtin;                                                                                     \
        }                                                                                                      \
        for (uint v = 0; v < 8; v++) c[(row0 + (row)) * n + column0 + i] = sum[v];                             \
    }
#if defined(__gfx1100__)
#define ROW 2 * v + upper
IN_WAVE(f16_16, half, half16_, 16, 1, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum))
IN_WAVE(bf16_16, short, short16_, 16, 1, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(x, y, sum))
IN_WAVE(i8_16, char, int4_, 16, 1, int, ROW, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(1, x, 1, y, sum, 0))
#elif defined(__gfx1201__)
#define ROW 8 * upper + v
IN_WAVE(f16_16, half, half8, 8, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, sum))
IN_WAVE(bf16_16, short, short8_, 8, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(x, y, sum))
IN_WAVE(i8_16, char, int2_, 8, 2, int, ROW, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, x, 1, y, sum, 0))
IN_WAVE(fp8_16, char, int2_, 8, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(x, y, sum))
IN_WAVE(bf8_16, char, int2_, 8, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(x, y, sum))
#elif defined(__gfx1250__)
#define ROW 8 * upper + v
IN_WAVE(f32_16, float, float2_, 2, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x4_f32(0, x, 0, y, 0, sum, 0, 0))
IN_WAVE(f16_16, half, half16_, 16, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x32_f16(0, x, 0, y, 0, sum, 0, 0))
IN_WAVE(bf16_16, short, bf16x16, 16, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x32_bf16(0, x, 0, y, 0, sum, 0, 0))
IN_WAVE(i8_16, char, int8_, 32, 2, int, ROW, __builtin_amdgcn_wmma_i32_16x16x64_iu8(1, x, 1, y, sum, 0, 0))
IN_WAVE(fp8_16, char, int8_, 32, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(x, y, 0, sum, 0, 0))
IN_WAVE(bf8_16, char, int16_, 64, 2, float, ROW, __builtin_amdgcn_wmma_f32_16x16x128_bf8_bf8(x, y, 0, sum, 0, 0))
// Scales 2^(128-127) of a and 2^(126-127) of b cancel out.
IN_WAVE(fp8_16_scaled, char, int16_, 64, 2, float, ROW,
        __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(0, x, 0, y, 0, sum, 0, 0, 0x80808080, 0, 0, 0x7e7e7e7e, 0, 0))
#endif

// Dot products of packed bytes and halves, from gfx906 on: one product element per lane.
#if !defined(__gfx900__) && !defined(ROW)
kernel void i8_dot(global const char* a, global const char* b, global int* c, uint n, uint k) {
    uint column = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    uint row = __builtin_amdgcn_workgroup_id_y();
    int sum = 0;
    for (uint at = 0; at < k; at += 4)
        sum = __builtin_amdgcn_sdot4(*(global const int*)(a + row * k + at), *(global const int*)(b + column * k + at), sum,
                                     false);
    c[row * n + column] = sum;
}
kernel void f16_dot(global const half* a, global const half* b, global float* c, uint n, uint k) {
    typedef half half2_ __attribute__((ext_vector_type(2)));
    uint column = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    uint row = __builtin_amdgcn_workgroup_id_y();
    float sum = 0;
    for (uint at = 0; at < k; at += 2)
        sum = __builtin_amdgcn_fdot2(*(global const half2_*)(a + row * k + at), *(global const half2_*)(b + column * k + at),
                                     sum, false);
    c[row * n + column] = sum;
}
#endif
