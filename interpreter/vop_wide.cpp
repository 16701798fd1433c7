// 64-bit integer vector instructions and the quad-byte differences.
#include <limits>

#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <class T>
constexpr T shr(T x, u32 n) {
    return static_cast<T>(x >> n);
}

u32 sad(u32 a, u32 b, bool masked) {
    u32 sum = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u32 x = a >> (8 * i) & 0xff, y = b >> (8 * i) & 0xff;
        if (!masked || y) sum += x > y ? x - y : y - x;
    }
    return sum;
}

template <bool Masked>
constexpr auto qsad_pk = [](u64 a, u32 b, u64 c) {
    u64 r = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u64 sum = sad(static_cast<u32>(shr(a, 8 * i)), b, Masked) + (shr(c, 16 * i) & 0xffff);
        r |= (sum & 0xffff) << (16 * i);
    }
    return r;
};
// CLAMP saturates each 16-bit sum.
template <bool Masked>
constexpr auto qsad_pk_sat = [](u64 a, u32 b, u64 c) {
    u64 r = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u64 sum = sad(static_cast<u32>(shr(a, 8 * i)), b, Masked) + (shr(c, 16 * i) & 0xffff);
        r |= (sum > 0xffff ? 0xffff : sum) << (16 * i);
    }
    return r;
};
template <bool Masked>
void qsad(Wave& w, const Inst& in) {
    if (in.clamp)
        alu<qsad_pk_sat<Masked>>(w, in);
    else
        alu<qsad_pk<Masked>>(w, in);
}

// 128-bit accumulator and result.
void mqsad_u32(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) u64 a_buf[lanes];
    alignas(64) u32 b_buf[lanes];
    const u64* a = load<u64>(v, 0, a_buf, m, true, false);
    const u32* b = load<u32>(v, 1, b_buf, m, true, false);
    Row out[4];
    for (u32 i = 0; i < 4; ++i) {
        Row c_buf;
        const u32* c = v.fetch(2, i, c_buf);
        for (u32 l = 0; l < lanes; ++l) {
            const u64 sum = u64{sad(static_cast<u32>(a[l] >> (8 * i)), b[l], true)} + c[l];
            out[i].v[l] = in.clamp && sum > 0xffffffffu ? 0xffffffffu : static_cast<u32>(sum);
        }
    }
    for (u32 i = 0; i < 4; ++i) write_row(v.dest_row(i), out[i].v, v.active);
}

// v_mad_u64_u32, v_mad_i64_i32: bit 64 of the sum goes to the lane mask.
template <class T>
void mad_wide(Wave& w, const Inst& in) {
    using Wide64 = std::conditional_t<std::is_signed_v<T>, i64, u64>;
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T a_buf[lanes], b_buf[lanes];
    alignas(64) u64 c_buf[lanes], out[lanes];
    alignas(64) u32 over[lanes];
    const T* a = load<T>(v, 0, a_buf, m, true, false);
    const T* b = load<T>(v, 1, b_buf, m, true, false);
    const u64* c = load<u64>(v, 2, c_buf, m, true, false);
    for (u32 l = 0; l < lanes; ++l) {
        const u64 product = static_cast<u64>(Wide64{a[l]} * Wide64{b[l]});
        out[l] = product + c[l];
        u64 carry = out[l] < product ? 1 : 0;
        // Sign extension adds the two signs at bit 64.
        if (std::is_signed_v<T>) carry ^= (product ^ c[l]) >> 63;
        over[l] = 0u - static_cast<u32>(carry);
    }
    if (in.clamp) [[unlikely]] {
        for (u32 l = 0; l < lanes; ++l) {
            if constexpr (std::is_signed_v<T>) {
                if ((over[l] & 1) != out[l] >> 63) out[l] = over[l] ? u64{1} << 63 : ~u64{0} >> 1;
            } else if (over[l]) {
                out[l] = ~u64{0};
            }
        }
    }
    const u64 mask = row_signs(over) & v.active;
    v.store64(out);
    if (w.exit.kind == ExitKind::None) write_mask(w, in.dst[1], mask);
}

// v_mad_nc_u64_u32, v_mad_nc_i64_i32: without a carry; CLAMP saturates.
template <class T>
void mad_wide_nc(Wave& w, const Inst& in) {
    using Result = std::conditional_t<std::is_signed_v<T>, i64, u64>;
    if (!in.clamp)
        return alu<[](T a, T b, u64 c) { return static_cast<u64>(Result{a} * Result{b}) + c; }>(w,
                                                                                                in);
    alu<[](T a, T b, Result c) {
        constexpr auto low = std::numeric_limits<Result>::min(),
                       high = std::numeric_limits<Result>::max();
        const __int128 sum = static_cast<__int128>(Result{a} * Result{b}) + c;
        return static_cast<Result>(sum < low ? low : sum > high ? high : sum);
    }>(w, in);
}

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](auto a, auto b) { return a - b; };

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_mov_b64, alu<[](u64 a) { return a; }>},
    {Opcode::v_lshl_b64, alu<[](u64 a, u32 b) { return a << (b & 63); }>},
    {Opcode::v_lshr_b64, alu<[](u64 a, u32 b) { return shr(a, b & 63); }>},
    {Opcode::v_ashr_i64, alu<[](i64 a, u32 b) { return shr(a, b & 63); }>},
    {Opcode::v_lshlrev_b64, alu<[](u32 a, u64 b) { return b << (a & 63); }>},
    {Opcode::v_lshrrev_b64, alu<[](u32 a, u64 b) { return shr(b, a & 63); }>},
    {Opcode::v_ashrrev_i64, alu<[](u32 a, i64 b) { return shr(b, a & 63); }>},
    {Opcode::v_lshl_add_u64, alu<[](u64 a, u32 b, u64 c) { return (a << ((b & 7) > 4 ? 0 : b & 7)) + c; }>},
    {Opcode::v_add_nc_u64, alu_sat<u64, 2, plus>},
    {Opcode::v_sub_nc_u64, alu_sat<u64, 2, minus>},
    {Opcode::v_mul_u64, alu<[](u64 a, u64 b) { return a * b; }>},
    {Opcode::v_min_u64, alu<[](u64 a, u64 b) { return a < b ? a : b; }>},
    {Opcode::v_max_u64, alu<[](u64 a, u64 b) { return a < b ? b : a; }>},
    {Opcode::v_min_i64, alu<[](i64 a, i64 b) { return a < b ? a : b; }>},
    {Opcode::v_max_i64, alu<[](i64 a, i64 b) { return a < b ? b : a; }>},
    {Opcode::v_mad_nc_u64_u32, mad_wide_nc<u32>},
    {Opcode::v_mad_nc_i64_i32, mad_wide_nc<int32_t>},
    {Opcode::v_mad_u64_u32, mad_wide<u32>},
    {Opcode::v_mad_i64_i32, mad_wide<int32_t>},
    {Opcode::v_qsad_pk_u16_u8, qsad<false>},
    {Opcode::v_mqsad_pk_u16_u8, qsad<true>},
    {Opcode::v_mqsad_u32_u8, mqsad_u32},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_wide_handlers() {
    return table;
}

}  // namespace wj::interp
