// Divisions that programs write out in steps (gf::div_by_steps) or of fractions and exponents
// (gf::div_by_fractions): an IEEE division, or a product with an IEEE reciprocal, and a look for
// operands of which they may give something else. Lanes that have them go out of line.
#include "backend_x64/asm/access_code.h"
#include "ir/known.h"

namespace wj::x64 {

namespace x86 = asmjit::x86;
using asmjit::Imm;

namespace {
constexpr uint32_t one = 0x3f800000;
}  // namespace

// Only these differ (docs/reference/float.md, "Division helpers"; tests/jit/division_test.cpp):
//   f32: some numerators with the exponent field 24. v_div_scale takes them for large enough, but
//        the remainder may have a bit below the least denormal.
//   f64: some quotients in the middle between two denormals. The error by which v_div_fmas tells a
//        tie from something near it is then the reciprocal's.
//   fractions: where the reciprocal is no normal number, or the quotient is denormal, or zero
//        though the numerator is not. Else the fractions' product and the whole one round alike.
// Without n: of 1 / d, the reciprocal itself.
Vec BlockCompiler::MathCode::quotient_of_fractions(const Vec* n, const Vec& d, const Vec& q,
                                                   const Vec& t, const KReg& mask,
                                                   KReg& hits) const {
    const Vec& r = n ? t : q;
    c_.load_bcast32(t, pool32(one));
    a_.emit(X::kIdVdivps, r, t, d);
    if (n) a_.emit(X::kIdVmulps, q, *n, r);
    if (c_.avx512_) {
        constexpr uint8_t not_normal = 0xbf, zero_or_denormal = 0x26;
        const KReg not_normal_r = tmp_k();
        hits = n ? tmp_k() : not_normal_r;
        if (mask.isValid()) k(mask);
        a_.emit(X::kIdVfpclassps, not_normal_r, r, Imm(not_normal));
        if (n) {
            if (mask.isValid()) k(mask);
            a_.emit(X::kIdVfpclassps, hits, q, Imm(zero_or_denormal));
            k(hits);
            a_.emit(X::kIdVcmpps, hits, *n, q, Imm(4));
            a_.korw(hits, hits, not_normal_r);
        }
        a_.kortestw(hits, hits);
        return {};
    }
    const Vec hit = tmp(), u = n ? tmp() : hit;
    if (n) {
        a_.emit(X::kIdVandps, u, q, c32(0x7fffffff));
        a_.emit(X::kIdVcmpps, hit, u, c32(0x00800000), Imm(17));
        a_.emit(X::kIdVcmpps, u, *n, q, Imm(4));
        a_.emit(X::kIdVandps, hit, hit, u);
    }
    a_.emit(X::kIdVandps, t, r, c32(0x7fffffff));
    a_.emit(X::kIdVpsubd, t, t, c32(0x00800000));
    a_.emit(X::kIdVpminud, u, t, c32(0x7effffff));
    a_.emit(X::kIdVpcmpeqd, u, u, t);  // normal
    a_.emit(X::kIdVpandn, u, u, c32(~0u));
    if (n) a_.emit(X::kIdVpor, hit, hit, u);
    return hit;
}

void BlockCompiler::MathCode::lane_quotient(Value v) const {
    const ir::Inst& i = inst(v);
    const bool wide = i.op == ir::Op::FQuot64, fractions = i.op == ir::Op::FQuotFrexp32,
               full = is_full(i.args[2]);
    const uint32_t parts = wide ? 2 : 1;
    Vec n[2], d[2], q[2], hit[2], mask_v;
    KReg hit_k[2], mask_k;
    for (uint32_t p = 0; p < parts; ++p) n[p] = use(i.args[0], p), d[p] = use(i.args[1], p);
    if (!full && c_.avx512_) mask_k = use_k(i.args[2]);
    if (!full && !c_.avx512_) mask_v = use(i.args[2]);
    // The operands are still needed behind the division.
    for (uint32_t p = 0; p < parts; ++p) {
        q[p] = def(v, p);
        if (fractions) break;
        a_.emit(wide ? X::kIdVdivpd : X::kIdVdivps, q[p], n[p], d[p]);
    }

    const Label some = a_.newLabel(), back = a_.newLabel();
    const Vec t = tmp();
    if (fractions) {
        const bool reciprocal = in_all_lanes(*block_, i.args[0]) == one;
        hit[0] = quotient_of_fractions(reciprocal ? nullptr : n, d[0], q[0], t, mask_k, hit_k[0]);
        if (!c_.avx512_) a_.emit(X::kIdVptest, hit[0], full ? hit[0] : mask_v);
    } else if (!wide) {
        a_.emit(c_.avx512_ ? X::kIdVpandd : X::kIdVpand, t, n[0], c32(0x7f800000));
        if (c_.avx512_) {
            hit_k[0] = tmp_k();
            if (!full) k(mask_k);
            a_.emit(X::kIdVpcmpd, hit_k[0], t, c32(24 << 23), Imm(0));
            a_.kortestw(hit_k[0], hit_k[0]);
        } else {
            hit[0] = t;
            a_.emit(X::kIdVpcmpeqd, t, t, c32(24 << 23));
            a_.emit(X::kIdVptest, t, full ? t : mask_v);
        }
    } else {
        // Denormal and zero quotients, unless the numerator is the same, as in 0 / d.
        for (uint32_t p = 0; p < 2; ++p) {
            if (c_.avx512_) {
                hit_k[p] = tmp_k();
                a_.emit(X::kIdVfpclasspd, hit_k[p], q[p], Imm(0x26));
                k(hit_k[p]);
                a_.emit(X::kIdVcmppd, hit_k[p], n[p], q[p], Imm(4));
            } else {
                hit[p] = tmp();
                a_.emit(X::kIdVandpd, hit[p], q[p], c64(0x7fffffffffffffff));
                a_.emit(X::kIdVcmppd, hit[p], hit[p], c64(0x0010000000000000), Imm(17));
                a_.emit(X::kIdVcmppd, t, n[p], q[p], Imm(4));
                a_.emit(X::kIdVandpd, hit[p], hit[p], t);
            }
        }
        if (c_.avx512_) {
            a_.kortestb(hit_k[0], hit_k[1]);
        } else {
            a_.emit(X::kIdVorpd, t, hit[0], hit[1]);
            a_.emit(X::kIdVptest, t, t);
        }
    }
    a_.jnz(some);
    a_.bind(back);
    for (uint32_t p = 0; p < parts; ++p) define_done(schedule_.unit(v, p));

    cold(some, [=, *this] {
        // eax = the mask's bits in the order of the elements: lanes 0 1 4 5 ..., then 2 3 6 7 ...
        if (!full) {
            c_.avx512_ ? a_.kmovw(x86::eax, mask_k) : a_.vmovmskps(x86::eax, mask_v.ymm());
            if (wide) {
                a_.mov(x86::ecx, 0x3333);
                a_.pext(x86::edx, x86::eax, x86::ecx);
                a_.shr(x86::eax, 2);
                a_.pext(x86::eax, x86::eax, x86::ecx);
                a_.shl(x86::eax, chunk_lanes() / 2);
                a_.or_(x86::eax, x86::edx);
            }
        }
        for (uint32_t p = 0; p < parts; ++p) {
            const Gp to = p ? x86::edx : x86::ecx;
            if (c_.avx512_)
                a_.kmovw(to, hit_k[p]);
            else if (wide)
                a_.vmovmskpd(to, hit[p].ymm());
            else
                a_.vmovmskps(to, hit[p].ymm());
            if (p) a_.shl(to, chunk_lanes() / 2);
            if (p) a_.or_(x86::ecx, to);
        }
        if (!full) {
            a_.and_(x86::ecx, x86::eax);
            a_.jz(back);
        }
        a_.mov(frame_field(offsetof(Frame, mask), 8), x86::rcx);
        for (uint32_t p = 0; p < parts; ++p) {
            movu(frame_field(offsetof(Frame, data[0]) + p * width()), q[p]);
            movu(frame_field(offsetof(Frame, data[2]) + p * width()), n[p]);
            movu(frame_field(offsetof(Frame, address_lo) + p * width()), d[p]);
        }
        const Division division = wide          ? Division::Steps64
                                  : !fractions  ? Division::Steps32
                                  : inst(v).imm ? Division::FractionsReciprocalFirst32
                                                : Division::Fractions32;
        a_.mov(x86::eax, static_cast<uint32_t>(division));
        a_.call(frame_field(offsetof(Frame, division_stub), 8));
        for (uint32_t p = 0; p < parts; ++p)
            movu(q[p], frame_field(offsetof(Frame, data[0]) + p * width()));
        a_.jmp(back);
    });
}

}  // namespace wj::x64
