#include "ir/atomic.h"

#include <type_traits>

#include "common/guest_float.h"

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
            return old + data;
        case AtomicOp::Sub:
            return old - data;
        case AtomicOp::RSub:
            return data - old;
        case AtomicOp::SMin:
            return less ? data : old;
        case AtomicOp::SMax:
            return less ? old : data;
        case AtomicOp::UMin:
            return data < old ? data : old;
        case AtomicOp::UMax:
            return data < old ? old : data;
        case AtomicOp::And:
            return old & data;
        case AtomicOp::Or:
            return old | data;
        case AtomicOp::Xor:
            return old ^ data;
        case AtomicOp::Inc:
            return old >= data ? 0 : old + 1;
        case AtomicOp::Dec:
            return old == 0 || old > data ? data : old - 1;
        case AtomicOp::MskOr:
            return (old & ~data) | data2;
        case AtomicOp::Wrap:
            return old >= data ? old - data : old + data2;
        default:
            return old;
    }
}

template <class F>
gf::Bits<F> apply_float(AtomicOp op, bool flush_in, bool flush_out, gf::Bits<F> old,
                        gf::Bits<F> data, gf::Bits<F> data2) {
    auto in = [&](gf::Bits<F> x) {
        const F f = gf::from_bits<F>(x);
        return flush_in ? gf::flush(f) : f;
    };
    const F a = in(old), b = in(data);
    switch (op) {
        case AtomicOp::FAdd: {
            const F sum = gf::add(a, b);
            return gf::to_bits(flush_out ? gf::flush(sum) : sum);
        }
        case AtomicOp::FMin:
            return gf::to_bits(b < a ? b : a);
        case AtomicOp::FMax:
            return gf::to_bits(b > a ? b : a);
        default:
            return a == in(data2) ? data : old;
    }
}

uint32_t add_f16(uint32_t old, uint32_t data) {
    return gf::add(gf::Half{static_cast<uint16_t>(old)}, gf::Half{static_cast<uint16_t>(data)})
        .bits;
}

// Nearest even; f32 holds every sum of two bf16 values exactly enough (24 >= 2 * 8 + 2 bits).
uint32_t add_bf16(uint32_t old, uint32_t data) {
    const float sum = gf::add(gf::from_bits<float>(old << 16), gf::from_bits<float>(data << 16));
    const uint32_t b = gf::to_bits(sum);
    return gf::is_nan(sum) ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

}  // namespace

std::string_view atomic_name(AtomicOp op) {
    return names[static_cast<size_t>(op)];
}

uint64_t atomic_apply(AtomicOp op, uint32_t dwords, uint8_t flags, bool in_lds, uint64_t old,
                      uint64_t data, uint64_t data2) {
    const auto old32 = static_cast<uint32_t>(old), data32 = static_cast<uint32_t>(data),
               data2_32 = static_cast<uint32_t>(data2);
    if (op == AtomicOp::PkAddF16 || op == AtomicOp::PkAddBf16) {
        const auto add = op == AtomicOp::PkAddF16 ? add_f16 : add_bf16;
        return add(old32 & 0xffff, data32 & 0xffff) | add(old32 >> 16, data32 >> 16) << 16;
    }
    if (op >= AtomicOp::FAdd) {
        const bool in = flags & (in_lds ? flush_in_lds : flush_in_memory);
        const bool out = flags & (in_lds ? flush_out_lds : flush_out_memory);
        return dwords == 2 ? apply_float<double>(op, in, out, old, data, data2)
                           : apply_float<float>(op, in, out, old32, data32, data2_32);
    }
    return dwords == 2 ? apply_integer<uint64_t>(op, old, data, data2)
                       : apply_integer<uint32_t>(op, old32, data32, data2_32);
}

}  // namespace wj::ir
