// Lane operations in AVX-512: masks live in k registers, 16 lanes a chunk.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
namespace x86 = asmjit::x86;

// `with`: only these bits, the others become 0. inverted: true where the compare is not.
void BlockCompiler::compare_avx512(Value v, const KReg& d, const KReg* with, bool inverted) {
    const ir::Inst& i = inst(v);
    InstId id = X::kIdVcmpps;
    auto predicate = static_cast<uint32_t>(i.imm & 31);
    if (i.op != Op::FCmp32) compare_predicate(i.op, id, predicate);
    const Vec x = use(i.args[0]);
    const Operand y = use_or_mem(i.args[1]);
    if (with) k(*with);
    constexpr uint32_t opposite = 4;  // of vpcmpd's predicates and vcmpps's
    a_.emit(id, d, x, y, Imm(inverted ? predicate ^ opposite : predicate));
}

void BlockCompiler::lane_avx512(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    const Unit u = schedule_.unit(v);
    auto done = [&] { define_done(u); };
    // Both halves of a 64-bit compare as one mask in lane order.
    auto join_masks = [&](const KReg& d, const KReg& even, const KReg& odd) {
        const Vec x = tmp(), y = tmp();
        a_.emit(X::kIdVpmovm2q, x, even);
        a_.emit(X::kIdVpmovm2q, y, odd);
        join64(x, x, y, false);
        a_.emit(X::kIdVpmovd2m, d, x);
    };
    switch (i.op) {
        // ---- masks ----
        case Op::CmpEq32:
        case Op::CmpNe32:
        case Op::CmpLtU32:
        case Op::CmpLeU32:
        case Op::CmpLtS32:
        case Op::CmpLeS32:
        case Op::FCmp32:
            compare_avx512(v, def_k(u), nullptr);
            return done();
        case Op::MaskAnd:
        case Op::MaskAndNot: {
            const bool inverted = i.op == Op::MaskAndNot;
            for (int f = inverted; f < 2; ++f) {
                if (!schedule_.fused(a[f])) continue;
                const Value other = a[1 - f];
                if (is_full(other)) {
                    compare_avx512(a[f], def_k(u), nullptr, inverted);
                } else {
                    const KReg m = use_k(other);
                    compare_avx512(a[f], def_k(u), &m, inverted);
                }
                return done();
            }
            [[fallthrough]];
        }
        case Op::MaskOr:
        case Op::MaskXor: {
            // A full mask has no register.
            auto operand = [&](Value m) {
                if (!is_full(m)) return use_k(m);
                const KReg t = tmp_k();
                a_.kxnorw(t, t, t);
                return t;
            };
            const KReg x = operand(a[0]), y = operand(a[1]);
            release_operands();
            const KReg d = def_k(u);
            switch (i.op) {
                case Op::MaskAnd:
                    a_.kandw(d, x, y);
                    break;
                case Op::MaskOr:
                    a_.korw(d, x, y);
                    break;
                case Op::MaskXor:
                    a_.kxorw(d, x, y);
                    break;
                default:
                    a_.kandnw(d, y, x);
                    break;  // ~y & x
            }
            return done();
        }
        case Op::MaskNot: {
            if (is_full(a[0])) {
                const KReg d = def_k(u);
                a_.kxorw(d, d, d);
            } else {
                const KReg x = use_k(a[0]);
                release_operands();
                a_.knotw(def_k(u), x);
            }
            return done();
        }
        case Op::CmpEq64:
        case Op::CmpNe64:
        case Op::CmpLtU64:
        case Op::CmpLeU64:
        case Op::CmpLtS64:
        case Op::CmpLeS64:
        case Op::FCmp64: {
            InstId id = X::kIdVcmppd;
            auto predicate = static_cast<uint32_t>(i.imm & 31);
            if (i.op != Op::FCmp64) compare_predicate(i.op, id, predicate);
            const KReg t[2] = {tmp_k(), tmp_k()};
            for (uint32_t part = 0; part < 2; ++part) {
                const Vec x = use(a[0], part);
                a_.emit(id, t[part], x, use_or_mem(schedule_.unit(a[1], part), true),
                        Imm(predicate));
            }
            join_masks(def_k(u), t[0], t[1]);
            return done();
        }
        case Op::CarryOut32:
        case Op::BorrowOut32: {
            const bool borrow = i.op == Op::BorrowOut32;
            const Vec x = use(a[0]), y = use(a[1]);
            const Vec t = tmp();
            const bool full = is_full(a[2]);
            const KReg c = full ? KReg() : use_k(a[2]);
            const KReg e = tmp_k();
            const KReg d = def_k(u);
            if (borrow) {
                // x < y, or x == y and a borrow comes in.
                a_.emit(X::kIdVpcmpud, d, x, y, Imm(1));
                if (!full) k(c);
                a_.emit(X::kIdVpcmpud, e, x, y, Imm(0));
            } else {
                // The sum wraps, or is all ones and a carry comes in.
                a_.emit(X::kIdVpaddd, t, x, y);
                a_.emit(X::kIdVpcmpud, d, t, x, Imm(1));
                if (!full) k(c);
                a_.emit(X::kIdVpcmpud, e, t, c32(~0u), Imm(0));
            }
            a_.korw(d, d, e);
            return done();
        }
        case Op::AddCarry32:
        case Op::SubBorrow32: {
            const bool sub = i.op == Op::SubBorrow32;
            const Vec x = use(a[0]);
            const Operand y = use_or_mem(a[1]);
            const bool full = is_full(a[2]);
            const KReg c = full ? KReg() : use_k(a[2]);
            release_operands();
            const Vec d = def(u);
            a_.emit(sub ? X::kIdVpsubd : X::kIdVpaddd, d, x, y);
            if (!full) k(c);
            a_.emit(sub ? X::kIdVpaddd : X::kIdVpsubd, d, d, c32(~0u));
            return done();
        }
        case Op::Select32: {
            if (is_full(a[0])) {
                const Vec x = use(a[1]);
                mov(def(u), x);
                return done();
            }
            const KReg m = use_k(a[0]);
            const Vec no = use(a[2]);
            const Operand yes = use_or_mem(a[1]);
            release_operands();
            const Vec d = def(u);
            k(m);
            a_.emit(X::kIdVpblendmd, d, no, yes);
            return done();
        }

        // ---- integers ----
        case Op::Bitop3: {
            const Vec x = use(a[0]), y = use(a[1]);
            const Operand z = use_or_mem(a[2]);
            const Vec t = tmp();
            mov(t, x);
            a_.emit(X::kIdVpternlogd, t, y, z, Imm(i.imm & 0xff));
            release_operands();
            return result(u, t);
        }
        case Op::Fshr32: {
            if (const ir::Inst& count = inst(a[2]);
                count.op == Op::Splat32 && is_const(count.args[0])) {
                const Imm n(inst(count.args[0]).imm & 31);
                if (schedule_.unit(a[0]) == schedule_.unit(a[1])) {
                    const Operand x = use_or_mem(a[0]);
                    release_operands();
                    a_.emit(X::kIdVprord, def(u), x, n);
                } else {
                    const Vec lo = use(a[1]);
                    const Operand hi = use_or_mem(a[0]);
                    release_operands();
                    a_.emit(X::kIdVpshrdd, def(u), lo, hi, n);
                }
                return done();
            }
            const Vec hi = use(a[0]), lo = use(a[1]);
            const Operand n = use_or_mem(a[2]);
            const Vec t = tmp();
            mov(t, lo);
            a_.emit(X::kIdVpshrdvd, t, hi, n);
            release_operands();
            return result(u, t);
        }
        case Op::Ctz32: {  // ones below the lowest set bit
            const Vec x = use(a[0]);
            const Vec t = tmp();
            a_.emit(X::kIdVpaddd, t, x, c32(~0u));
            a_.emit(X::kIdVpandnd, t, x, t);
            release_operands();
            a_.emit(X::kIdVpopcntd, def(u), t);
            return done();
        }
        case Op::Shl64:
        case Op::Shr64:
        case Op::Sar64: {
            static constexpr InstId by_imm[] = {X::kIdVpsllq, X::kIdVpsrlq, X::kIdVpsraq},
                                    by_lane[] = {X::kIdVpsllvq, X::kIdVpsrlvq, X::kIdVpsravq};
            const int kind = static_cast<int>(i.op) - static_cast<int>(Op::Shl64);
            const ir::Inst& n = inst(a[1]);
            const bool fixed = n.op == Op::Splat32 && is_const(n.args[0]);
            const Vec x[2] = {use(a[0], 0), use(a[0], 1)};
            const Vec count = fixed ? Vec() : use(a[1]);
            const Vec t = fixed ? Vec() : tmp(), s = fixed ? Vec() : tmp(),
                      z = fixed ? Vec() : zero();
            if (!fixed) a_.emit(X::kIdVpandd, t, count, c32(63));
            for (uint32_t part = 0; part < 2; ++part) {
                const Vec d = def(schedule_.unit(v, part));
                if (fixed) {
                    a_.emit(by_imm[kind], d, x[part], Imm(inst(n.args[0]).imm & 63));
                } else {
                    a_.emit(part ? X::kIdVpunpckhdq : X::kIdVpunpckldq, s, t, z);
                    a_.emit(by_lane[kind], d, x[part], s);
                }
                define_done(schedule_.unit(v, part));
            }
            return;
        }

        // ---- floats ----
        case Op::FMin32:
        case Op::FMax32:
        case Op::FMin64:
        case Op::FMax64: {
            const bool w = i.op >= Op::FMin64, max = i.op == Op::FMax32 || i.op == Op::FMax64;
            const InstId land = w ? X::kIdVandpd : X::kIdVandps,
                         lor = w ? X::kIdVorpd : X::kIdVorps;
            for (uint32_t part = 0; part < (w ? 2u : 1u); ++part) {
                const Vec x = use(a[0], part), y = use(a[1], part);
                const KReg m = tmp_k();
                const Vec d = tmp();
                if (i.imm != ir::minmax_plain) {
                    // IEEE mode: vrange implements the rules (quiet NaN loses, -0 below +0) with
                    // the operands exchanged, but takes the wrong one of two signalling NaNs.
                    a_.emit(w ? X::kIdVrangepd : X::kIdVrangeps, d, y, x, Imm(max ? 5 : 4));
                    if (i.imm == ir::minmax_ieee) {
                        a_.emit(w ? X::kIdVfpclasspd : X::kIdVfpclassps, m, x, Imm(0x80));
                        k(m);
                        a_.emit(lor, d, x, w ? c64(1ull << 51) : c32(1u << 22));
                    }
                } else {
                    // b when either is NaN; a when only b is; for equal values (zeros) the signs
                    // decide.
                    a_.emit(w ? (max ? X::kIdVmaxpd : X::kIdVminpd)
                              : (max ? X::kIdVmaxps : X::kIdVminps),
                            d, x, y);
                    const InstId cmp = w ? X::kIdVcmppd : X::kIdVcmpps;
                    a_.emit(cmp, m, x, y, Imm(0));
                    k(m);
                    a_.emit(max ? land : lor, d, x, y);
                    a_.emit(cmp, m, y, y, Imm(3));
                    k(m);
                    a_.emit(cmp, m, x, x, Imm(7));
                    k(m);
                    a_.emit(w ? X::kIdVmovapd : X::kIdVmovaps, d, x);
                }
                result(schedule_.unit(v, part), d);
            }
            return;
        }
        case Op::FFlush32: {
            const Vec x = use(a[0]);
            const KReg m = tmp_k();
            a_.emit(X::kIdVfpclassps, m, x, Imm(0x20));
            release_operands();
            const Vec d = def(u);
            if (d.id() != x.id()) mov(d, x);
            k(m);
            a_.emit(X::kIdVandps, d, d, c32(0x80000000));
            return done();
        }
        case Op::FLdexp32: {
            const Vec x = use(a[0]), n = use(a[1]);
            const Vec t = tmp();
            a_.emit(X::kIdVcvtdq2ps, t, n);
            release_operands();
            a_.emit(X::kIdVscalefps, def(u), x, t);
            return done();
        }
        case Op::FLdexp64: {
            const Vec x[2] = {use(a[0], 0), use(a[0], 1)}, n = use(a[1]);
            const Vec t = tmp();
            const Vec split = tmp();
            movu(split, constant(const_pair_split));
            a_.emit(X::kIdVpermq, split, split, n);
            for (uint32_t part = 0; part < 2; ++part) {
                if (part) a_.emit(X::kIdVextracti64x4, half(split), split, Imm(1));
                a_.emit(X::kIdVcvtdq2pd, t, half(split));
                const Vec d = def(schedule_.unit(v, part));
                a_.emit(X::kIdVscalefpd, d, x[part], t);
                define_done(schedule_.unit(v, part));
            }
            return;
        }
        case Op::CvtF32ToI32: {
            const Vec x = use(a[0]);
            const KReg m = tmp_k(), o = tmp_k();
            const Vec t = tmp();
            a_.emit(X::kIdVcmpps, o, x, x, Imm(7));
            a_.emit(X::kIdVcmpps, m, x, c32(0x4f000000), Imm(13));  // >= 2^31
            k(o, true);
            a_.emit(X::kIdVcvttps2dq, t, x);
            k(m);
            a_.emit(X::kIdVpternlogd, t, t, t, Imm(0x55));  // 0x80000000 -> 0x7fffffff
            return result(u, t);
        }
        case Op::CvtF32ToU32: {  // vmaxps gives its second operand for NaN
            const Vec x = use(a[0]);
            const Vec z = zero();
            a_.emit(X::kIdVmaxps, z, x, z);
            release_operands();
            a_.emit(X::kIdVcvttps2udq, def(u), z);
            return done();
        }
        case Op::CvtF16ToF32: {
            const Vec x = use(a[0]);
            release_operands();
            const Vec d = def(u);
            a_.emit(X::kIdVpmovdw, half(d), x);
            a_.emit(X::kIdVcvtph2ps, d, half(d));
            return done();
        }
        case Op::CvtF32ToF64:
        case Op::CvtI32ToF64:
        case Op::CvtU32ToF64: {
            const InstId id = i.op == Op::CvtF32ToF64   ? X::kIdVcvtps2pd
                              : i.op == Op::CvtI32ToF64 ? X::kIdVcvtdq2pd
                                                        : X::kIdVcvtudq2pd;
            const Vec x = use(a[0]);
            const Vec t = tmp();
            movu(t, constant(const_pair_split));
            a_.emit(X::kIdVpermq, t, t, x);
            for (uint32_t part = 0; part < 2; ++part) {
                if (part) a_.emit(X::kIdVextracti64x4, half(t), t, Imm(1));
                a_.emit(id, def(schedule_.unit(v, part)), half(t));
                define_done(schedule_.unit(v, part));
            }
            return;
        }
        case Op::CvtF64ToF32:
        case Op::CvtF64ToI32:
        case Op::CvtF64ToU32: {
            const Vec x[2] = {use(a[0], 0), use(a[0], 1)};
            const Vec t[2] = {tmp(), tmp()};
            const Vec p = tmp(), z = i.op == Op::CvtF64ToU32 ? zero() : Vec();
            const KReg m = tmp_k(), o = tmp_k();
            for (int part = 0; part < 2; ++part) {
                const Vec& d = t[part];
                if (i.op == Op::CvtF64ToF32) {
                    a_.emit(X::kIdVcvtpd2ps, half(d), x[part]);
                } else if (i.op == Op::CvtF64ToI32) {
                    a_.emit(X::kIdVcmppd, o, x[part], x[part], Imm(7));
                    a_.emit(X::kIdVcmppd, m, x[part], c64(0x41e0000000000000), Imm(13));
                    k(o, true);
                    a_.emit(X::kIdVcvttpd2dq, half(d), x[part]);
                    k(m);
                    a_.emit(X::kIdVpternlogd, half(d), half(d), half(d), Imm(0x55));
                } else {
                    a_.emit(X::kIdVmaxpd, p, x[part], z);
                    a_.emit(X::kIdVcvttpd2udq, half(d), p);
                }
            }
            a_.emit(X::kIdVinserti64x4, t[0], t[0], half(t[1]), Imm(1));
            movu(p, constant(const_pair_join));
            release_operands();
            a_.emit(X::kIdVpermq, def(u), p, t[0]);
            return done();
        }
        default:
            failed_ = true;
            return;
    }
}

}  // namespace wj::x64
