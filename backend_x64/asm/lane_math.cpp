// Reciprocal square root, frexp, and what functions give for special arguments. AVX2 treats
// ordinary arguments inline and whole chunks with others out of line.
#include "backend_x64/asm/access_code.h"
#include "common/fixup.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
using trans::Fixup;
using trans::FloatClass;
using trans::Response;
namespace x86 = asmjit::x86;

namespace {

// Tables of vfixupimmps; responses that the IR does not know by their numbers.
constexpr auto response(uint32_t r) {
    return static_cast<Response>(r);
}
constexpr Response itself = response(1), signed_infinity = response(6), zero = response(8),
                   minus_one = response(9);
constexpr Fixup root_table = trans::quiet_nans.with(FloatClass::Zero, signed_infinity)
                                 .with(FloatClass::MinusInf, Response::DefaultNan)
                                 .with(FloatClass::PlusInf, zero)
                                 .with(FloatClass::Negative, Response::DefaultNan);
constexpr Fixup mantissa_table = trans::quiet_nans.with(FloatClass::Zero, itself)
                                     .with(FloatClass::MinusInf, itself)
                                     .with(FloatClass::PlusInf, itself);
// Of the exponent, before 1 is added.
constexpr Fixup exponent_table = Fixup{}
                                     .with(FloatClass::QuietNan, minus_one)
                                     .with(FloatClass::SignallingNan, minus_one)
                                     .with(FloatClass::Zero, minus_one)
                                     .with(FloatClass::MinusInf, minus_one)
                                     .with(FloatClass::PlusInf, minus_one);

}  // namespace

// y = 1 / sqrt(x), rounded once, from an approximation y with an error below 1.5 * 2^-12; x is
// positive and finite (and normal, where the approximation wants it). One step leaves y within one
// unit of the correct result: the error of the step is 5/16 e^3 (3/8 e^2 below 0.2 units without
// the quadratic term, e < 2^-13), that of s = x * y at most half a unit, its rounding another half.
// The second step works with the exact x * y and gives the correctly rounded result from each of
// these three starts, for all mantissas and both parities of the exponent (all were tried).
void BlockCompiler::MathCode::refine_root(const Vec& x, const Vec& y,
                                          const std::array<Vec, 3>& temps, bool quadratic) const {
    const auto& [s, h, l] = temps;
    const Operand one = c32(0x3f800000);
    a_.emit(X::kIdVmulps, s, x, y);
    a_.emit(X::kIdVfnmadd213ps, s, y, one);  // e = 1 - x y^2
    if (quadratic) {
        movu(h, c32(0x3f000000));  // AVX2: a vector in memory
        a_.emit(X::kIdVfmadd231ps, h, s, c32(0x3ec00000));
        a_.emit(X::kIdVmulps, h, h, y);
    } else {
        a_.emit(X::kIdVmulps, h, y, c32(0x3f000000));
    }
    a_.emit(X::kIdVfmadd231ps, y, h, s);  // y (1 + e / 2 [+ 3/8 e^2])
    a_.emit(X::kIdVmulps, s, x, y);
    mov(l, x);
    a_.emit(X::kIdVfmsub213ps, l, y, s);  // what the product lost
    a_.emit(X::kIdVfnmadd213ps, s, y, one);
    a_.emit(X::kIdVfnmadd231ps, s, l, y);  // e
    a_.emit(X::kIdVmulps, h, y, c32(0x3f000000));
    a_.emit(X::kIdVmulps, l, s, c32(0x3f400000));
    a_.emit(X::kIdVfmadd213ps, l, s, s);  // e + 3/4 e^2
    a_.emit(X::kIdVfmadd231ps, y, h, l);
}

// Jumps away when a lane of x is zero, infinite or NaN, or negative unless `any_sign`, or denormal
// unless `denormals`.
void BlockCompiler::MathCode::jump_unless_ordinary(const Vec& x, bool any_sign, bool denormals,
                                                   const Label& far) const {
    const Vec t = tmp(), m = tmp();
    const uint32_t least = denormals ? 1 : 0x00800000;
    if (any_sign) a_.emit(X::kIdVpand, t, x, c32(0x7fffffff));
    a_.emit(X::kIdVpsubd, t, any_sign ? t : x, c32(least));
    a_.emit(X::kIdVpminud, m, t, c32(0x7f7fffff - least));
    a_.emit(X::kIdVpcmpeqd, m, m, t);
    a_.vmovmskps(x86::eax, m.ymm());
    a_.cmp(x86::al, 0xff);
    a_.jne(far);
}

void BlockCompiler::MathCode::root_avx2(const Vec& x, const Vec& y) const {
    const Label far = a_.newLabel(), done = a_.newLabel();
    // Before the jump: what temporaries held is spilled when they are taken.
    const std::array<Vec, 3> temps{tmp(), tmp(), tmp()};
    const Vec one = temps[0], t = temps[1];
    jump_unless_ordinary(x, false, false, far);
    a_.emit(X::kIdVrsqrtps, y, x);
    refine_root(x, y, temps, true);
    a_.bind(done);
    cold(far, [*this, x, y, one, t, done] {  // as it is defined
        a_.emit(X::kIdVpbroadcastq, one, pool64(0x3ff0000000000000));
        for (int part = 1; part >= 0; --part) {
            a_.emit(X::kIdVextractf128, t.xmm(), x, Imm(part));
            a_.emit(X::kIdVcvtps2pd, t, t.xmm());
            a_.emit(X::kIdVsqrtpd, t, t);
            a_.emit(X::kIdVdivpd, t, one, t);
            a_.emit(X::kIdVcvtpd2ps, t.xmm(), t);
            if (part)
                a_.emit(X::kIdVinsertf128, y, y, t.xmm(), Imm(1));
            else
                a_.emit(X::kIdVblendps, y, y, t, Imm(0x0f));
        }
        a_.jmp(done);
    });
}

// d = a0 or the table's answer for x; d holds a0. Classes in the order in which one may overrule
// another.
void BlockCompiler::MathCode::fixup_avx2(const Vec& x, const Vec& d, uint32_t bits) const {
    const Fixup table{bits};
    const Label far = a_.newLabel(), done = a_.newLabel();
    const Vec m = tmp(), t = tmp();
    if (bits == trans::quiet_nans.table) {
        a_.emit(X::kIdVcmpps, t, x, x, Imm(3));
        a_.vtestps(t.ymm(), t.ymm());
        a_.jnz(far);
    } else {
        jump_unless_ordinary(x, false, true, far);
    }
    a_.bind(done);
    cold(far, [*this, table, x, d, m, t, done] {
        auto respond = [&](FloatClass c, const Vec& mask) {
            if (table.of(c) == Response::Keep) return;
            a_.emit(X::kIdVpbroadcastd, t, pool32(value_of(table.of(c))));
            a_.emit(X::kIdVblendvps, d, d, t, mask);
        };
        auto respond_equal = [&](FloatClass c, uint32_t value) {
            if (table.of(c) == Response::Keep) return;
            a_.emit(X::kIdVpbroadcastd, m, pool32(value));
            a_.emit(X::kIdVpcmpeqd, m, m, x);
            respond(c, m);
        };
        respond(FloatClass::Negative, x);
        respond_equal(FloatClass::MinusInf, value_of(Response::MinusInf));
        respond_equal(FloatClass::PlusInf, value_of(Response::PlusInf));
        if (table.of(FloatClass::Zero) != Response::Keep) {
            a_.emit(X::kIdVpaddd, m, x, x);
            a_.emit(X::kIdVpxor, t, t, t);
            a_.emit(X::kIdVpcmpeqd, m, m, t);
            respond(FloatClass::Zero, m);
        }
        if (table.of(FloatClass::QuietNan) == Response::Quiet) {
            a_.emit(X::kIdVcmpps, m, x, x, Imm(3));
            a_.emit(X::kIdVpbroadcastd, t, pool32(0x00400000));
            a_.emit(X::kIdVpor, t, t, x);
            a_.emit(X::kIdVblendvps, d, d, t, m);
        }
        a_.jmp(done);
    });
}

// Mantissa or exponent of x, or both; none: an invalid register.
void BlockCompiler::MathCode::frexp_avx2(const Vec& x, const Vec& mantissa,
                                         const Vec& exponent) const {
    const Label far = a_.newLabel(), done = a_.newLabel();
    const Vec c = tmp(), z = tmp(), m = tmp();
    jump_unless_ordinary(x, true, false, far);
    if (mantissa.isValid()) {
        a_.emit(X::kIdVpand, mantissa, x, c32(0x807fffff));
        a_.emit(X::kIdVpor, mantissa, mantissa, c32(0x3f000000));
    }
    if (exponent.isValid()) {
        a_.emit(X::kIdVpaddd, exponent, x, x);
        a_.emit(X::kIdVpsrld, exponent, exponent, Imm(24));
        a_.emit(X::kIdVpsubd, exponent, exponent, c32(126));
    }
    a_.bind(done);
    cold(far, [=, *this] {
        auto broadcast = [&](uint32_t value) { a_.emit(X::kIdVpbroadcastd, c, pool32(value)); };
        for (const Vec& d : {mantissa, exponent}) {
            if (!d.isValid()) continue;
            // Denormals times 2^64; m: those.
            broadcast(0x7fffffff);
            a_.emit(X::kIdVpand, d, x, c);
            broadcast(0x00800000);
            a_.emit(X::kIdVpcmpgtd, m, c, d);
            broadcast(0x5f800000);
            a_.emit(X::kIdVmulps, z, x, c);
            a_.emit(X::kIdVblendvps, z, x, z, m);
            if (d == mantissa) {
                broadcast(0x807fffff);
                a_.emit(X::kIdVpand, z, z, c);
                broadcast(0x3f000000);
                a_.emit(X::kIdVpor, z, z, c);
            } else {
                a_.emit(X::kIdVpaddd, z, z, z);
                a_.emit(X::kIdVpsrld, z, z, Imm(24));
                broadcast(126);
                a_.emit(X::kIdVpsubd, z, z, c);
                broadcast(64);
                a_.emit(X::kIdVpand, m, m, c);
                a_.emit(X::kIdVpsubd, z, z, m);
            }
            // Zero, infinity, NaN: magnitude - 1 is not below 0x7f7fffff.
            a_.emit(X::kIdVpcmpeqd, c, c, c);
            a_.emit(X::kIdVpaddd, d, d, c);
            broadcast(0x7f7fffff);
            a_.emit(X::kIdVpmaxud, m, d, c);
            a_.emit(X::kIdVpcmpeqd, m, m, d);
            if (d == mantissa)
                a_.emit(X::kIdVaddps, c, x, x);  // the value itself, quiet
            else
                a_.emit(X::kIdVpxor, c, c, c);
            a_.emit(X::kIdVblendvps, d, z, c, m);
        }
        a_.jmp(done);
    });
}

// Both parts of a number are often wanted: one look at it serves for the two.
void BlockCompiler::MathCode::lane_frexp_avx2(Value v) const {
    const ir::Inst& i = inst(v);
    const bool mantissa = i.op == Op::FFrexpMant32;
    const Op other_op = mantissa ? Op::FFrexpExp32 : Op::FFrexpMant32;
    Value other = no_value;
    const Value* const begin = schedule_.begin(c_.position_);
    const auto count = static_cast<uint32_t>(schedule_.end(c_.position_) - begin);
    for (uint32_t n = c_.at_ + 1; n < count && other == no_value; ++n)
        if (!c_.skip_[n] && inst(begin[n]).op == other_op && inst(begin[n]).args[0] == i.args[0])
            other = begin[n];
    const Vec x = use(i.args[0]), d = tmp(), e = other == no_value ? Vec() : tmp();
    frexp_avx2(x, mantissa ? d : e, mantissa ? e : d);
    c_.result(schedule_.unit(v), d);
    if (other == no_value) return;
    c_.result(schedule_.unit(other), e);
    c_.done_.push_back(other);
}

void BlockCompiler::MathCode::lane_math(Value v) const {
    const ir::Inst& i = inst(v);
    if (!c_.avx512_ && (i.op == Op::FFrexpMant32 || i.op == Op::FFrexpExp32))
        return lane_frexp_avx2(v);
    const bool corrects = i.op == Op::FFixup32;
    const Vec r = use(i.args[0]), x = corrects ? use(i.args[1]) : r, d = tmp();
    const auto table = static_cast<uint32_t>(i.imm);
    auto fixup = [&](Fixup f) { a_.emit(X::kIdVfixupimmps, d, x, c32(f.table), Imm(0)); };
    if (corrects) {
        mov(d, r);
        c_.avx512_ ? fixup({table}) : fixup_avx2(x, d, table);
    } else if (!c_.avx512_) {
        root_avx2(x, d);
    } else if (i.op == Op::FRsq32) {
        a_.emit(X::kIdVrsqrt14ps, d, x);
        refine_root(x, d, {tmp(), tmp(), tmp()}, false);
        fixup(root_table);
    } else if (i.op == Op::FFrexpMant32) {
        a_.emit(X::kIdVgetmantps, d, x, Imm(2));  // in [1/2, 1), of the argument's sign
        fixup(mantissa_table);
    } else {
        a_.emit(X::kIdVgetexpps, d, x);
        fixup(exponent_table);
        a_.emit(X::kIdVcvtps2dq, d, d);
        a_.emit(X::kIdVpaddd, d, d, c32(1));
    }
    c_.result(schedule_.unit(v), d);
}

}  // namespace wj::x64
