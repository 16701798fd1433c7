// Lane operations in AVX2: masks are all-ones dwords, 8 lanes a chunk.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
namespace x86 = asmjit::x86;

void BlockCompiler::lane_avx2(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    const Unit u = schedule_.unit(v);
    auto done = [&] { define_done(u); };
    auto e3 = [&](InstId id, const Vec& d, const Vec& x, const Operand& y) {
        a_.emit(id, d, x, y);
    };
    auto ones = [&] {
        const Vec t = tmp();
        e3(X::kIdVpcmpeqd, t, t, t);
        return t;
    };
    auto mask = [&](Value m) { return is_full(m) ? ones() : use(m); };
    auto invert = [&](const Vec& t) { e3(X::kIdVpxor, t, t, ones()); };
    // d = a == b, a < b or a <= b with signedness; d is a temporary.
    auto compare32 = [&](const Vec& d, const Vec& x, const Vec& y, Op op) {
        switch (op) {
            case Op::CmpEq32:
                e3(X::kIdVpcmpeqd, d, x, y);
                break;
            case Op::CmpNe32:
                e3(X::kIdVpcmpeqd, d, x, y);
                invert(d);
                break;
            case Op::CmpLtS32:
                e3(X::kIdVpcmpgtd, d, y, x);
                break;
            case Op::CmpLeS32:
                e3(X::kIdVpcmpgtd, d, x, y);
                invert(d);
                break;
            case Op::CmpLeU32:
                e3(X::kIdVpminud, d, x, y);
                e3(X::kIdVpcmpeqd, d, d, x);
                break;
            default:
                e3(X::kIdVpmaxud, d, x, y);
                e3(X::kIdVpcmpeqd, d, d, x);
                invert(d);
                break;  // not x >= y
        }
    };
    switch (i.op) {
        // ---- masks ----
        case Op::CmpEq32:
        case Op::CmpNe32:
        case Op::CmpLtU32:
        case Op::CmpLeU32:
        case Op::CmpLtS32:
        case Op::CmpLeS32: {
            const Vec x = use(a[0]), y = use(a[1]);
            const Vec d = tmp();
            compare32(d, x, y, i.op);
            return result(u, d);
        }
        case Op::FCmp32: {
            const Vec x = use(a[0]);
            const Operand y = use_or_mem(a[1]);
            release_operands();
            a_.emit(X::kIdVcmpps, def(u), x, y, Imm(i.imm & 31));
            return done();
        }
        case Op::CmpEq64:
        case Op::CmpNe64:
        case Op::CmpLtU64:
        case Op::CmpLeU64:
        case Op::CmpLtS64:
        case Op::CmpLeS64:
        case Op::FCmp64: {
            const Vec t[2] = {tmp(), tmp()};
            const bool is_unsigned = i.op == Op::CmpLtU64 || i.op == Op::CmpLeU64;
            const bool swapped = i.op == Op::CmpLtU64 || i.op == Op::CmpLtS64;
            for (uint32_t part = 0; part < 2; ++part) {
                Vec x = use(a[0], part), y = use(a[1], part);
                if (i.op == Op::FCmp64) {
                    a_.emit(X::kIdVcmppd, t[part], x, y, Imm(i.imm & 31));
                    continue;
                }
                if (i.op == Op::CmpEq64 || i.op == Op::CmpNe64) {
                    e3(X::kIdVpcmpeqq, t[part], x, y);
                    continue;
                }
                if (is_unsigned) {
                    const Operand sign = c64(1ull << 63);
                    const Vec xs = tmp(), ys = tmp();
                    e3(X::kIdVpxor, xs, x, sign);
                    e3(X::kIdVpxor, ys, y, sign);
                    if (swapped)
                        e3(X::kIdVpcmpgtq, t[part], ys, xs);
                    else
                        e3(X::kIdVpcmpgtq, t[part], xs, ys);
                    vec_temps_ &= ~(1u << xs.id() | 1u << ys.id());
                } else if (swapped) {
                    e3(X::kIdVpcmpgtq, t[part], y, x);
                } else {
                    e3(X::kIdVpcmpgtq, t[part], x, y);
                }
            }
            join64(t[0], t[0], t[1], false);
            if (i.op == Op::CmpNe64 || i.op == Op::CmpLeU64 || i.op == Op::CmpLeS64) invert(t[0]);
            return result(u, t[0]);
        }
        case Op::MaskAnd:
        case Op::MaskOr:
        case Op::MaskXor:
        case Op::MaskAndNot: {
            const Vec x = mask(a[0]), y = mask(a[1]);
            release_operands();
            const Vec d = def(u);
            switch (i.op) {
                case Op::MaskAnd:
                    e3(X::kIdVpand, d, x, y);
                    break;
                case Op::MaskOr:
                    e3(X::kIdVpor, d, x, y);
                    break;
                case Op::MaskXor:
                    e3(X::kIdVpxor, d, x, y);
                    break;
                default:
                    e3(X::kIdVpandn, d, y, x);
                    break;  // ~y & x
            }
            return done();
        }
        case Op::MaskNot: {
            const Vec x = mask(a[0]), o = ones();
            release_operands();
            e3(X::kIdVpxor, def(u), x, o);
            return done();
        }
        case Op::CarryOut32:
        case Op::BorrowOut32: {
            const Vec x = use(a[0]), y = use(a[1]), c = mask(a[2]);
            const Vec d = tmp(), t = tmp(), e = tmp();
            if (i.op == Op::BorrowOut32) {
                compare32(d, x, y, Op::CmpLtU32);
                e3(X::kIdVpcmpeqd, e, x, y);
            } else {
                e3(X::kIdVpaddd, t, x, y);
                compare32(d, t, x, Op::CmpLtU32);
                e3(X::kIdVpcmpeqd, e, t, ones());
            }
            e3(X::kIdVpand, e, e, c);
            e3(X::kIdVpor, d, d, e);
            return result(u, d);
        }
        case Op::AddCarry32:
        case Op::SubBorrow32: {
            const bool sub = i.op == Op::SubBorrow32;
            const Vec x = use(a[0]), y = use(a[1]), c = mask(a[2]);  // c: -1 where set
            const Vec d = tmp();
            e3(sub ? X::kIdVpsubd : X::kIdVpaddd, d, x, y);
            e3(sub ? X::kIdVpaddd : X::kIdVpsubd, d, d, c);
            return result(u, d);
        }
        case Op::Select32: {
            const Vec m = mask(a[0]), no = use(a[2]);
            const Operand yes = use_or_mem(a[1]);
            release_operands();
            a_.emit(X::kIdVblendvps, def(u), no, yes, m);
            return done();
        }

        // ---- integers ----
        case Op::Bitop3: {
            const Vec x = use(a[0]), y = use(a[1]), z = use(a[2]);
            // A function of y and z from four bits of the table, bit = 2 * y + z.
            auto two = [&](uint32_t table) -> Vec {
                if (table == 0xc) return y;
                if (table == 0xa) return z;
                const Vec t = tmp();
                const bool inverted = table == 0x3 || table == 0x5 || table == 0x7 ||
                                      table == 0x1 || table == 0x9 || table == 0xb || table == 0xd;
                switch (inverted ? table ^ 0xf : table) {
                    case 0x0:
                        e3(X::kIdVpxor, t, t, t);
                        break;
                    case 0xf:
                        e3(X::kIdVpcmpeqd, t, t, t);
                        break;
                    case 0xc:
                        mov(t, y);
                        break;
                    case 0xa:
                        mov(t, z);
                        break;
                    case 0x8:
                        e3(X::kIdVpand, t, y, z);
                        break;
                    case 0xe:
                        e3(X::kIdVpor, t, y, z);
                        break;
                    case 0x6:
                        e3(X::kIdVpxor, t, y, z);
                        break;
                    case 0x4:
                        e3(X::kIdVpandn, t, z, y);
                        break;  // y & ~z
                    default:
                        e3(X::kIdVpandn, t, y, z);
                        break;  // ~y & z
                }
                if (inverted) invert(t);
                return t;
            };
            const auto yes = static_cast<uint32_t>(i.imm >> 4 & 15),
                       no = static_cast<uint32_t>(i.imm & 15);
            const Vec d = tmp();
            if (yes == no) {
                mov(d, two(no));
            } else if (yes == (no ^ 15)) {
                e3(X::kIdVpxor, d, x, two(no));
            } else if (no == 0) {
                e3(X::kIdVpand, d, x, two(yes));
            } else if (yes == 0) {
                e3(X::kIdVpandn, d, x, two(no));
            } else if (yes == 15) {
                e3(X::kIdVpor, d, x, two(no));
            } else {
                const Vec t = tmp();
                e3(X::kIdVpand, d, x, two(yes));
                if ((no & ~yes) == 0) {  // then it does not hurt in the other lanes' bits
                    e3(X::kIdVpor, d, d, two(no));
                } else {
                    e3(X::kIdVpandn, t, x, two(no));
                    e3(X::kIdVpor, d, d, t);
                }
            }
            return result(u, d);
        }
        case Op::Fshr32: {  // lo >> n | hi << 1 << (31 - n)
            if (const ir::Inst& count = inst(a[2]);
                count.op == Op::Splat32 && is_const(count.args[0])) {
                const auto n = static_cast<uint32_t>(inst(count.args[0]).imm & 31);
                const Vec hi = use(a[0]), lo = use(a[1]);
                const Vec d = tmp();
                if (n == 0) {
                    mov(d, lo);
                } else {
                    const Vec t = tmp();
                    a_.emit(X::kIdVpsrld, d, lo, Imm(n));
                    a_.emit(X::kIdVpslld, t, hi, Imm(32 - n));
                    e3(X::kIdVpor, d, d, t);
                }
                return result(u, d);
            }
            const Vec hi = use(a[0]), lo = use(a[1]), n = use(a[2]);
            const Vec t = tmp(), s = tmp(), d = tmp();
            const Operand c = c32(31);
            e3(X::kIdVpand, t, n, c);
            e3(X::kIdVpsrlvd, d, lo, t);
            e3(X::kIdVpxor, t, t, c);
            e3(X::kIdVpaddd, s, hi, hi);
            e3(X::kIdVpsllvd, s, s, t);
            e3(X::kIdVpor, d, d, s);
            return result(u, d);
        }
        case Op::Popcnt32:
        case Op::Ctz32: {
            const Vec x = use(a[0]);
            const Vec lo = tmp(), hi = tmp(), table = tmp();
            const Operand nibbles = c32(0x0f0f0f0f);
            if (i.op == Op::Ctz32) {  // ones below the lowest set bit
                e3(X::kIdVpaddd, hi, x, ones());
                e3(X::kIdVpandn, hi, x, hi);
            } else {
                mov(hi, x);
            }
            e3(X::kIdVpand, lo, hi, nibbles);
            a_.emit(X::kIdVpsrld, hi, hi, Imm(4));
            e3(X::kIdVpand, hi, hi, nibbles);
            movu(table, constant(const_nibble_popcount));
            e3(X::kIdVpshufb, lo, table, lo);
            e3(X::kIdVpshufb, hi, table, hi);
            e3(X::kIdVpaddb, lo, lo, hi);
            e3(X::kIdVpmaddubsw, lo, lo, c32(0x01010101));
            e3(X::kIdVpmaddwd, lo, lo, c32(0x00010001));
            return result(u, lo);
        }
        case Op::Clz32: {
            // The exponent of the value as a float; x & ~(x >> 1) keeps the top bit and cannot
            // round up. Negative inputs give a sign bit that the final clamp turns into 0, zero
            // gives 158 -> 32.
            const Vec x = use(a[0]);
            const Vec t = tmp(), d = tmp();
            a_.emit(X::kIdVpsrld, t, x, Imm(1));
            e3(X::kIdVpandn, t, t, x);
            a_.emit(X::kIdVcvtdq2ps, t, t);
            a_.emit(X::kIdVpsrld, t, t, Imm(23));
            e3(X::kIdVpsubd, d, c32v(158), t);
            e3(X::kIdVpminsd, d, d, c32(32));
            e3(X::kIdVpxor, t, t, t);
            e3(X::kIdVpmaxsd, d, d, t);
            return result(u, d);
        }
        case Op::Shl64:
        case Op::Shr64:
        case Op::Sar64: {
            const ir::Inst& n = inst(a[1]);
            const bool fixed = n.op == Op::Splat32 && is_const(n.args[0]);
            const bool arithmetic = i.op == Op::Sar64;
            const Vec x[2] = {use(a[0], 0), use(a[0], 1)};
            const Vec t = fixed ? Vec() : tmp(), z = fixed && !arithmetic ? Vec() : zero();
            if (!fixed) e3(X::kIdVpand, t, use(a[1]), c32(63));
            const Vec s = tmp(), d[2] = {tmp(), tmp()}, sign = arithmetic ? tmp() : Vec();
            for (uint32_t part = 0; part < 2; ++part) {
                Vec y = x[part];
                if (arithmetic) {  // ((x ^ sign) >> n) ^ sign
                    e3(X::kIdVpcmpgtq, sign, z, y);
                    e3(X::kIdVpxor, d[part], y, sign);
                    y = d[part];
                }
                if (fixed) {
                    a_.emit(i.op == Op::Shl64 ? X::kIdVpsllq : X::kIdVpsrlq, d[part], y,
                            Imm(inst(n.args[0]).imm & 63));
                } else {
                    e3(part ? X::kIdVpunpckhdq : X::kIdVpunpckldq, s, t, z);
                    e3(i.op == Op::Shl64 ? X::kIdVpsllvq : X::kIdVpsrlvq, d[part], y, s);
                }
                if (arithmetic) e3(X::kIdVpxor, d[part], d[part], sign);
            }
            result(schedule_.unit(v, 0), d[0]);
            return result(schedule_.unit(v, 1), d[1]);
        }

        // ---- floats ----
        case Op::CvtU32ToF32: {
            // hi * 65536 + lo with one rounding: the product is exact, the sum rounds (as
            // v_cvt_f32_u32).
            const Vec x = use(a[0]);
            const Vec lo = tmp(), hi = tmp();
            e3(X::kIdVpand, lo, x, c32(0xffff));
            a_.emit(X::kIdVpsrld, hi, x, Imm(16));
            a_.emit(X::kIdVcvtdq2ps, lo, lo);
            a_.emit(X::kIdVcvtdq2ps, hi, hi);
            e3(X::kIdVfmadd132ps, hi, lo, c32(0x47800000));
            return result(u, hi);
        }
        case Op::FMin32:
        case Op::FMax32:
        case Op::FMin64:
        case Op::FMax64: {
            const bool w = i.op >= Op::FMin64, max = i.op == Op::FMax32 || i.op == Op::FMax64;
            const InstId take = w ? (max ? X::kIdVmaxpd : X::kIdVminpd)
                                  : (max ? X::kIdVmaxps : X::kIdVminps),
                         both = max ? X::kIdVpand : X::kIdVpor,
                         cmp = w ? X::kIdVcmppd : X::kIdVcmpps;
            const uint32_t parts = w ? 2 : 1;
            const Vec m = tmp(), t = tmp();
            Vec x[2], y[2], d[2];
            const Label nan = a_.newLabel(), ready = a_.newLabel();
            const bool signals = i.imm == ir::minmax_ieee;
            const Operand quiet = !signals ? Operand() : w ? c64(1ull << 51) : c32(1u << 22);
            for (uint32_t part = 0; part < parts; ++part) {
                x[part] = use(a[0], part), y[part] = use(a[1], part), d[part] = tmp();
                // Of zeros each order takes another one.
                e3(take, d[part], x[part], y[part]);
                e3(take, t, y[part], x[part]);
                e3(both, d[part], d[part], t);
                a_.emit(cmp, part ? t : m, x[part], y[part], Imm(3));
            }
            if (w) e3(X::kIdVpor, m, m, t);
            a_.vmovmskps(x86::eax, m.ymm());
            a_.test(x86::eax, x86::eax);
            a_.jnz(nan);
            a_.bind(ready);
            cold(nan, [=, this] {
                const InstId blend = w ? X::kIdVblendvpd : X::kIdVblendvps;
                for (uint32_t part = 0; part < parts; ++part) {
                    const Vec &p = x[part], &q = y[part], &r = d[part];
                    // q when p is NaN; p when only q is.
                    a_.emit(cmp, m, p, p, Imm(3));
                    a_.emit(blend, r, r, q, m);
                    a_.emit(cmp, m, q, q, Imm(3));
                    a_.emit(cmp, t, p, p, Imm(7));
                    e3(X::kIdVpand, m, m, t);
                    a_.emit(blend, r, r, p, m);
                    if (!signals) continue;
                    // Signalling NaN (unordered and quiet bit clear), first of q, then of p.
                    for (const Vec& s : {q, p}) {
                        a_.emit(cmp, m, s, s, Imm(3));
                        e3(X::kIdVpand, t, s, quiet);
                        e3(w ? X::kIdVpcmpeqq : X::kIdVpcmpeqd, t, t, quiet);
                        e3(X::kIdVpandn, m, t, m);
                        e3(X::kIdVpor, t, s, quiet);
                        a_.emit(blend, r, r, t, m);
                    }
                }
                a_.jmp(ready);
            });
            result(schedule_.unit(v, 0), d[0]);
            if (w) result(schedule_.unit(v, 1), d[1]);
            return;
        }
        case Op::FFlush32: {
            const Vec x = use(a[0]);
            const Vec m = tmp(), t = tmp();
            const Vec z = zero();
            e3(X::kIdVpand, m, x, c32(0x7f800000));
            e3(X::kIdVpcmpeqd, m, m, z);
            e3(X::kIdVpand, t, x, c32(0x80000000));
            release_operands();
            a_.emit(X::kIdVblendvps, def(u), x, t, m);
            return done();
        }
        case Op::FLdexp32: {
            const Vec x = use(a[0]), n = use(a[1]);
            const Vec c = tmp(), d = tmp(), e = tmp(), lo = tmp();
            const Label far = a_.newLabel(), done_label = a_.newLabel();
            // 2^n is a normal number in all lanes: one multiplication, one rounding.
            const Vec bias = c32v(126);
            const Operand most = c32(253);
            e3(X::kIdVpaddd, c, n, bias);
            e3(X::kIdVpminud, d, c, most);
            e3(X::kIdVpcmpeqd, d, d, c);
            a_.vmovmskps(x86::eax, d.ymm());
            a_.cmp(x86::al, 0xff);
            a_.jne(far);
            e3(X::kIdVpcmpeqd, d, d, d);
            e3(X::kIdVpsubd, c, c, d);
            a_.emit(X::kIdVpslld, c, c, Imm(23));
            e3(X::kIdVmulps, lo, x, c);
            a_.bind(done_label);
            cold(far, [this, x, n, c, d, e, lo, bias, done_label] {
                // In f64, where the product is exact for every f32 and |n| <= 500; one rounding
                // back to f32.
                auto each = [&](InstId id, const Vec& to, const Vec& from, uint32_t value) {
                    a_.emit(X::kIdVpbroadcastd, bias, pool32(value));
                    a_.emit(id, to, from, bias);
                };
                each(X::kIdVpminsd, c, n, 500);
                each(X::kIdVpmaxsd, c, c, static_cast<uint32_t>(-500));
                each(X::kIdVpaddd, c, c, 1023);
                for (int part = 0; part < 2; ++part) {
                    if (part) a_.emit(X::kIdVextracti128, e.xmm(), c, Imm(1));
                    a_.emit(X::kIdVpmovsxdq, e, part ? e.xmm() : c.xmm());
                    a_.emit(X::kIdVpsllq, e, e, Imm(52));
                    if (part) {
                        a_.emit(X::kIdVextractf128, d.xmm(), x, Imm(1));
                        a_.emit(X::kIdVcvtps2pd, d, d.xmm());
                    } else {
                        a_.emit(X::kIdVcvtps2pd, d, x.xmm());
                    }
                    a_.emit(X::kIdVmulpd, d, d, e);
                    a_.emit(X::kIdVcvtpd2ps, part ? d.xmm() : lo.xmm(), d);
                }
                a_.emit(X::kIdVinsertf128, lo, lo, d.xmm(), Imm(1));
                a_.jmp(done_label);
            });
            return result(u, lo);
        }
        case Op::FLdexp64: {
            // Three exact factors 2^k. A step towards the denormals leaves 53 bits of room for the
            // last one to round (musl's scalbn).
            const Vec n = use(a[1]);
            const Vec c = tmp(), q = tmp(), e = tmp(), m = tmp(), d[2] = {tmp(), tmp()};
            a_.emit(X::kIdVpermq, c, n, Imm(0xd8));
            e3(X::kIdVpminsd, c, c, c32(2200));
            e3(X::kIdVpmaxsd, c, c, c32(static_cast<uint32_t>(-2200)));
            for (uint32_t part = 0; part < 2; ++part) {
                mov(d[part], use(a[0], part));
                if (part) a_.emit(X::kIdVextracti128, c.xmm(), c, Imm(1));
                const Vec cx = c.xmm(), qx = q.xmm(), mx = m.xmm();
                auto broadcast = [&](const Vec& to, uint32_t value) {
                    a_.emit(X::kIdVpbroadcastd, to, pool32(value));
                };
                for (int step = 0; step < 3; ++step) {
                    // q = this step's exponent; the others remain in c.
                    if (step < 2) {
                        broadcast(qx, 1023);
                        e3(X::kIdVpminsd, qx, cx, qx);
                        broadcast(mx, static_cast<uint32_t>(-1022));
                        e3(X::kIdVpcmpgtd, mx, mx, cx);
                        broadcast(e.xmm(), static_cast<uint32_t>(-969));
                        a_.emit(X::kIdVblendvps, qx, qx, e.xmm(), mx);
                    } else {
                        mov(qx, cx);
                    }
                    if (part == 0) {  // the other half of c is needed later
                        a_.emit(X::kIdVpsubd, mx, cx, qx);
                        a_.emit(X::kIdVpblendd, c, c, m, Imm(0x0f));
                    } else {
                        a_.emit(X::kIdVpsubd, cx, cx, qx);
                    }
                    broadcast(mx, 1023);
                    e3(X::kIdVpaddd, qx, qx, mx);
                    a_.emit(X::kIdVpmovsxdq, e, qx);
                    a_.emit(X::kIdVpsllq, e, e, Imm(52));
                    e3(X::kIdVmulpd, d[part], d[part], e);
                }
            }
            result(schedule_.unit(v, 0), d[0]);
            return result(schedule_.unit(v, 1), d[1]);
        }
        case Op::CvtF32ToI32: {
            const Vec x = use(a[0]);
            const Vec t = tmp(), m = tmp();
            a_.emit(X::kIdVcmpps, m, x, c32(0x4f000000), Imm(13));  // >= 2^31
            a_.emit(X::kIdVcvttps2dq, t, x);
            e3(X::kIdVpxor, t, t, m);  // 0x80000000 -> 0x7fffffff
            a_.emit(X::kIdVcmpps, m, x, x, Imm(7));
            e3(X::kIdVpand, t, t, m);
            return result(u, t);
        }
        case Op::CvtF32ToU32: {
            // Below 2^31 as signed; from 2^31 on 2^31 + (x - 2^31); from 2^32 on all ones.
            const Vec x = use(a[0]);
            const Vec p = tmp(), big = tmp(), t = tmp(), r = tmp();
            const Vec z = zero();
            const Operand two31 = c32(0x4f000000);
            e3(X::kIdVmaxps, p, x, z);  // NaN and negatives: 0
            a_.emit(X::kIdVcvttps2dq, r, p);
            e3(X::kIdVsubps, t, p, two31);
            a_.emit(X::kIdVcvttps2dq, t, t);
            e3(X::kIdVpxor, t, t, c32(0x80000000));
            a_.emit(X::kIdVcmpps, big, p, two31, Imm(13));
            a_.emit(X::kIdVblendvps, r, r, t, big);
            a_.emit(X::kIdVcmpps, big, p, c32(0x4f800000), Imm(13));
            e3(X::kIdVpor, r, r, big);
            return result(u, r);
        }
        case Op::CvtF16ToF32: {
            const Vec x = use(a[0]);
            const Vec d = tmp();
            e3(X::kIdVpshufb, d, x, constant(const_low_words));
            a_.emit(X::kIdVpermq, d, d, Imm(0x08));
            a_.emit(X::kIdVcvtph2ps, d, d.xmm());
            return result(u, d);
        }
        case Op::CvtF32ToF64:
        case Op::CvtI32ToF64:
        case Op::CvtU32ToF64: {
            const Vec x = use(a[0]);
            const Vec t = tmp(), d[2] = {tmp(), tmp()};
            a_.emit(X::kIdVpermq, t, x, Imm(0xd8));
            for (uint32_t part = 0; part < 2; ++part) {
                if (part) a_.emit(X::kIdVextracti128, t.xmm(), t, Imm(1));
                if (i.op == Op::CvtF32ToF64) {
                    a_.emit(X::kIdVcvtps2pd, d[part], t.xmm());
                } else if (i.op == Op::CvtI32ToF64) {
                    a_.emit(X::kIdVcvtdq2pd, d[part], t.xmm());
                } else {  // 2^52 + x, minus 2^52
                    const Operand magic = c64(0x4330000000000000);
                    a_.emit(X::kIdVpmovzxdq, d[part], t.xmm());
                    e3(X::kIdVpor, d[part], d[part], magic);
                    e3(X::kIdVsubpd, d[part], d[part], magic);
                }
            }
            result(schedule_.unit(v, 0), d[0]);
            return result(schedule_.unit(v, 1), d[1]);
        }
        case Op::CvtF64ToF32:
        case Op::CvtF64ToI32:
        case Op::CvtF64ToU32: {
            const Vec t[2] = {tmp(), tmp()}, m = tmp(), s = tmp();
            for (uint32_t part = 0; part < 2; ++part) {
                const Vec x = use(a[0], part);
                const Vec d = t[part];
                if (i.op == Op::CvtF64ToF32) {
                    a_.emit(X::kIdVcvtpd2ps, d.xmm(), x);
                    continue;
                }
                const bool is_signed = i.op == Op::CvtF64ToI32;
                // Clamp to the integer's range, which f64 holds exactly; vminpd and vmaxpd take the
                // second operand for NaN, which is cleared.
                const Operand low = c64(is_signed ? 0xc1e0000000000000 : 0),
                              high = c64(is_signed ? 0x41dfffffffc00000 : 0x41efffffffe00000);
                e3(X::kIdVmaxpd, d, x, low);
                e3(X::kIdVminpd, d, d, high);
                a_.emit(X::kIdVcmppd, m, x, x, Imm(7));
                e3(X::kIdVpand, d, d, m);
                if (is_signed) {
                    a_.emit(X::kIdVcvttpd2dq, d.xmm(), d);
                } else {  // trunc(x) + 2^52 holds the integer in its low dword
                    a_.emit(X::kIdVroundpd, d, d, Imm(3 | 8));
                    const Operand magic = c64(0x4330000000000000);
                    e3(X::kIdVaddpd, d, d, magic);
                    a_.emit(X::kIdVextractf128, s.xmm(), d, Imm(1));
                    a_.emit(X::kIdVshufps, d.xmm(), d.xmm(), s.xmm(), Imm(0x88));
                }
            }
            // Lanes 0 1 4 5 and 2 3 6 7 -> 0..7.
            a_.emit(X::kIdVinserti128, t[0], t[0], t[1].xmm(), Imm(1));
            a_.emit(X::kIdVpermq, t[0], t[0], Imm(0xd8));
            return result(u, t[0]);
        }
        default:
            failed_ = true;
            return;
    }
}

}  // namespace wj::x64
