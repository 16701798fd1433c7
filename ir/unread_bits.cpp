// Masks of bits that nobody reads: behind 16-bit operations, whose results are extended, in front
// of stores of bytes and words.
#include <bit>
#include <vector>

#include "ir/known.h"

namespace wj::ir {
namespace {

constexpr uint32_t all = ~0u, sign = 1u << 31;

// The bits from 0 up to the highest one: what a sum's or a product's depend on.
uint32_t and_below(uint32_t bits) {
    return bits ? all >> std::countl_zero(bits) : 0;
}

uint32_t stored_bits(Access access) {
    switch (access) {
        case Access::U8:
        case Access::S8:
            return 0xff;
        case Access::U16:
        case Access::S16:
            return 0xffff;
        case Access::U8D16Hi:
            return 0xff0000;
        case Access::U16D16Hi:
            return 0xffff0000;
        case Access::Dwords:
            return all;
    }
    return all;
}

// Of argument `arg` of an operation whose result's bits `bits` are read.
uint32_t bits_read(const Block& block, const Inst& i, size_t arg, uint32_t bits) {
    const auto other = [&] { return in_all_lanes(block, i.args[arg ^ 1]); };
    const auto count = [&] { return in_all_lanes(block, i.args[1]); };
    switch (i.op) {
        case Op::And32:
            return bits & other().value_or(all);
        case Op::Or32:
            return bits & ~other().value_or(0);
        case Op::Xor32:
            return bits;
        case Op::Add32:
        case Op::Sub32:
        case Op::Mul32:
            return and_below(bits);
        case Op::Select32:
            return bits;
        case Op::Shl32:
            return arg || !count() ? all : bits >> (*count() & 31);
        case Op::Shr32:
            return arg || !count() ? all : bits << (*count() & 31);
        case Op::Sar32: {
            if (arg || !count()) return all;
            const uint32_t by = *count() & 31, from_sign = ~(all >> by);
            return bits << by | (bits & from_sign ? sign : 0);
        }
        case Op::StoreGlobal:
        case Op::StoreGlobalS:
        case Op::StoreGlobalS64:
        case Op::StoreLds:
        case Op::StoreScratch:
        case Op::StoreBuffer:
        case Op::StoreFlat:
            return arg >= 4 ? stored_bits(aux_access(i.aux)) : all;
        default:
            return all;
    }
}

}  // namespace

bool drop_unread_masks(Block& block) {
    std::vector<uint32_t> read(block.insts.size());
    std::vector<Value> renamed(block.insts.size());
    bool any = false;
    for (auto v = static_cast<Value>(block.insts.size()); v-- > 0;) {
        const Inst& i = block.insts[v];
        const uint32_t bits = block.type(v) == Type::V32 ? read[v] : all;
        for (size_t arg = 0; arg < std::size(i.args); ++arg)
            if (const Value a = i.args[arg]; a != no_value && block.type(a) == Type::V32)
                read[a] |= bits_read(block, i, arg, bits);
    }
    for (Value v = 0; v < block.insts.size(); ++v) {
        Inst& i = block.insts[v];
        for (Value& a : i.args)
            if (a != no_value) a = renamed[a];
        renamed[v] = v;
        if (i.op != Op::And32 || !read[v]) continue;
        for (size_t arg : {0u, 1u}) {
            const auto mask = in_all_lanes(block, i.args[arg]);
            if (!mask || read[v] & ~*mask) continue;
            renamed[v] = i.args[arg ^ 1];
            any = true;
            break;
        }
    }
    return any;
}

}  // namespace wj::ir
