#include "ir/atomic.h"

#include <type_traits>

#include "common/atomic_float.h"

namespace wj::ir {
namespace {

constexpr std::string_view names[] = {
    "swap", "cmpswap", "add",  "sub",      "rsub",       "smin",       "smax",  "umin",
    "umax", "and",     "or",   "xor",      "inc",        "dec",        "mskor", "wrap",
    "fadd", "fmin",    "fmax", "fcmpswap", "pk_add_f16", "pk_add_bf16"};
static_assert(std::size(names) == static_cast<size_t>(AtomicOp::count_));

template <class T>
T apply_integer(AtomicOp op, T old, T data, T data2) {
    using S = std::make_signed_t<T>;
    const bool less = static_cast<S>(data) < static_cast<S>(old);
    switch (op) {
        case AtomicOp::Swap:
            return data;
        case AtomicOp::CmpSwap:
            return old == data2 ? data : old;
        case AtomicOp::Add:
            return static_cast<T>(old + data);
        case AtomicOp::Sub:
            return static_cast<T>(old - data);
        case AtomicOp::RSub:
            return static_cast<T>(data - old);
        case AtomicOp::SMin:
            return less ? data : old;
        case AtomicOp::SMax:
            return less ? old : data;
        case AtomicOp::UMin:
            return data < old ? data : old;
        case AtomicOp::UMax:
            return data < old ? old : data;
        case AtomicOp::And:
            return static_cast<T>(old & data);
        case AtomicOp::Or:
            return static_cast<T>(old | data);
        case AtomicOp::Xor:
            return static_cast<T>(old ^ data);
        case AtomicOp::Inc:
            return static_cast<T>(old >= data ? 0 : old + 1);
        case AtomicOp::Dec:
            return static_cast<T>(old == 0 || old > data ? data : old - 1);
        case AtomicOp::MskOr:
            return static_cast<T>((old & ~data) | data2);
        case AtomicOp::Wrap:
            return static_cast<T>(old >= data ? old - data : old + data2);
        default:
            return old;
    }
}

template <class F>
gf::Bits<F> apply_float(AtomicOp op, uint8_t flags, bool flush_in, bool flush_out,
                        gf::Bits<F> old, gf::Bits<F> data, gf::Bits<F> data2) {
    const auto in = [&](gf::Bits<F> x) {
        const F f = gf::from_bits<F>(x);
        return flush_in ? gf::flush(f) : f;
    };
    switch (op) {
        case AtomicOp::FAdd:
            return gf::atomic_add<F>(old, data, flush_in, flush_out);
        case AtomicOp::FMin:
            return gf::atomic_extreme<F, false>(old, data, flush_in, flags & prefer_numbers);
        case AtomicOp::FMax:
            return gf::atomic_extreme<F, true>(old, data, flush_in, flags & prefer_numbers);
        default:
            return gf::number(in(old)) == gf::number(in(data2)) ? data : old;
    }
}

}  // namespace

std::string_view atomic_name(AtomicOp op) {
    return names[static_cast<size_t>(op)];
}

uint64_t atomic_apply(AtomicOp op, uint32_t dwords, uint8_t flags, bool in_lds, uint64_t old,
                      uint64_t data, uint64_t data2) {
    const auto old32 = static_cast<uint32_t>(old), data32 = static_cast<uint32_t>(data),
               data2_32 = static_cast<uint32_t>(data2);
    if (op == AtomicOp::FAdd && flags & data_first)
        return atomic_apply(op, dwords, flags & ~data_first, in_lds, data, old, data2);
    if (op >= AtomicOp::FAdd) {
        const bool in = flags & (in_lds ? flush_in_lds : flush_in_memory);
        const bool out = flags & (in_lds ? flush_out_lds : flush_out_memory);
        if (op == AtomicOp::PkAddF16)
            return gf::atomic_add_pair<gf::atomic_add_f16>(old32, data32, in, out);
        if (op == AtomicOp::PkAddBf16)
            return gf::atomic_add_pair<gf::atomic_add_bf16>(old32, data32, in, out);
        if (flags & half_words)
            return apply_float<gf::Half>(op, flags, in, out, static_cast<uint16_t>(old),
                                         static_cast<uint16_t>(data), static_cast<uint16_t>(data2));
        return dwords == 2 ? apply_float<double>(op, flags, in, out, old, data, data2)
                           : apply_float<float>(op, flags, in, out, old32, data32, data2_32);
    }
    if (flags & half_words)
        return apply_integer<uint16_t>(op, static_cast<uint16_t>(old), static_cast<uint16_t>(data),
                                       static_cast<uint16_t>(data2));
    return dwords == 2 ? apply_integer<uint64_t>(op, old, data, data2)
                       : apply_integer<uint32_t>(op, old32, data32, data2_32);
}

}  // namespace wj::ir
