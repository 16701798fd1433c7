// What operations on lanes come to when they are made: constants, what is the same in all lanes,
// and masks of bits that are 0 anyway, as those behind narrow loads and 16-bit operations mostly
// are.
#include <algorithm>
#include <array>
#include <utility>

#include "ir/known.h"
#include "lift/state.h"

namespace wj::lift {

Op State::uniform_of(Op op) {
    static constexpr auto table = [] {
        using enum Op;
        constexpr std::pair<Op, Op> pairs[] = {
            {Add32, UAdd32},       {Sub32, USub32},       {And32, UAnd32},
            {Or32, UOr32},         {Xor32, UXor32},       {Mul32, UMul32},
            {MulHiU32, UMulHiU32}, {MulHiS32, UMulHiS32}, {Shl32, UShl32},
            {Shr32, UShr32},       {Sar32, USar32},       {MinU32, UMinU32},
            {MaxU32, UMaxU32},     {MinS32, UMinS32},     {MaxS32, UMaxS32},
            {CmpEq32, UCmpEq32},   {CmpNe32, UCmpNe32},   {CmpLtU32, UCmpLtU32},
            {Popcnt32, UPopcnt32}, {Clz32, UClz32},       {Ctz32, UCtz32},
            {Brev32, UBrev32},     {Bswap32, UBswap32},   {CmpLeU32, UCmpLeU32},
            {CmpLtS32, UCmpLtS32}, {CmpLeS32, UCmpLeS32}, {Shl64, UShl64},
            {Shr64, UShr64},       {Sar64, USar64}};
        std::array<Op, static_cast<size_t>(count_)> uniform{};
        uniform.fill(count_);
        for (const auto& [lanes, scalar] : pairs) uniform[static_cast<size_t>(lanes)] = scalar;
        return uniform;
    }();
    return table[static_cast<size_t>(op)];
}

// Integer operations on values that are the same in all lanes, and what LLVM's integer divisions
// begin with: the reciprocal of a divisor that is the same in all lanes.
Value State::same_in_all_lanes(Op op, const std::array<Value, 4>& a) {
    auto scalar = [&](Value v) {
        return v != no_value && inst(v).op == Op::Splat32 ? inst(v).args[0] : no_value;
    };
    const ir::OpInfo& info = ir::op_info(op);
    const Value x = scalar(a[0]), y = scalar(a[1]);
    const Op uniform = uniform_of(op);
    const bool dword =
        uniform != Op::count_ && info.result == ir::Type::V32 && info.args[0] == ir::Type::V32;
    if (dword && info.arg_count == 1 && x != no_value) return splat(emit(uniform, {x}));
    if (x != no_value && y != no_value) {
        if (dword) return splat(emit(uniform, {x, y}));
        if (op == Op::MulWideU32) return emit(Op::Splat64, {emit(Op::UMulWideU32, {x, y})});
    }
    if (op != Op::CvtF32ToU32) return no_value;
    const ir::Inst product = inst(a[0]);
    if (product.op != Op::FMul32) return no_value;
    for (const int at : {0, 1}) {
        const ir::Inst quotient = inst(product.args[at]);
        uint64_t factor, one;
        if (quotient.op != Op::FDiv32 || !is_const(quotient.args[0], one) || one != 0x3f800000 ||
            !is_const(product.args[1 - at], factor) || factor >= 0x7f800000)
            continue;
        const ir::Inst divisor = inst(quotient.args[1]);
        if (divisor.op != Op::CvtU32ToF32) continue;
        if (const Value d = scalar(divisor.args[0]); d != no_value)
            return splat(emit(Op::URcp32, {d}, factor));
    }
    return no_value;
}

Value State::fold_lanes(Op op, const std::array<Value, 4>& a) {
    if (const Value v = same_in_all_lanes(op, a); v != no_value) return v;
    uint64_t x = 0, y = 0;
    const bool cx = a[0] != no_value && is_const(a[0], x),
               cy = a[1] != no_value && is_const(a[1], y);
    if (op != Op::And32 || cx == cy) return no_value;
    const Value v = cx ? a[1] : a[0];
    const auto mask = static_cast<uint32_t>(cx ? x : y);
    if (!(ir::possible_bits(block_, v) & ~mask)) return v;
    if (const ir::Inst inner = inst(v); inner.op == Op::And32)
        for (const int n : {0, 1})
            if (is_const(inner.args[n], x))
                return emit(Op::And32,
                            {inner.args[1 - n], splat(const32(mask & static_cast<uint32_t>(x)))});
    return no_value;
}

}  // namespace wj::lift
