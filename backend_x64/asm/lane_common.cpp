// Lane operations whose lowering is one instruction, the same for both instruction sets apart from
// its name; FMA; writes of vector registers.
#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using ir::Type;
namespace x86 = asmjit::x86;

namespace {

struct Row {
    Op op;
    InstId avx2, avx512;  // 0: not in this table for that instruction set
    bool commutes;        // may swap operands (never for floats: NaN order)
    bool wide;            // on 64-bit elements
    bool halves = false;  // on 16-bit elements: masks and broadcasts are not those of lanes
};
constexpr Row binaries[] = {
    {Op::Add32, X::kIdVpaddd, X::kIdVpaddd, true, false},
    {Op::Sub32, X::kIdVpsubd, X::kIdVpsubd, false, false},
    {Op::Mul32, X::kIdVpmulld, X::kIdVpmulld, true, false},
    {Op::And32, X::kIdVpand, X::kIdVpandd, true, false},
    {Op::Or32, X::kIdVpor, X::kIdVpord, true, false},
    {Op::Xor32, X::kIdVpxor, X::kIdVpxord, true, false},
    {Op::MinU32, X::kIdVpminud, X::kIdVpminud, true, false},
    {Op::MaxU32, X::kIdVpmaxud, X::kIdVpmaxud, true, false},
    {Op::MinS32, X::kIdVpminsd, X::kIdVpminsd, true, false},
    {Op::MaxS32, X::kIdVpmaxsd, X::kIdVpmaxsd, true, false},
    {Op::PkAdd16, X::kIdVpaddw, X::kIdVpaddw, true, false, true},
    {Op::PkSub16, X::kIdVpsubw, X::kIdVpsubw, false, false, true},
    {Op::PkAddSatS16, X::kIdVpaddsw, X::kIdVpaddsw, true, false, true},
    {Op::PkAddSatU16, X::kIdVpaddusw, X::kIdVpaddusw, true, false, true},
    {Op::PkSubSatS16, X::kIdVpsubsw, X::kIdVpsubsw, false, false, true},
    {Op::PkSubSatU16, X::kIdVpsubusw, X::kIdVpsubusw, false, false, true},
    {Op::PkMul16, X::kIdVpmullw, X::kIdVpmullw, true, false, true},
    {Op::PkMinU16, X::kIdVpminuw, X::kIdVpminuw, true, false, true},
    {Op::PkMaxU16, X::kIdVpmaxuw, X::kIdVpmaxuw, true, false, true},
    {Op::PkMinS16, X::kIdVpminsw, X::kIdVpminsw, true, false, true},
    {Op::PkMaxS16, X::kIdVpmaxsw, X::kIdVpmaxsw, true, false, true},
    {Op::Dot16, X::kIdVpmaddwd, X::kIdVpmaddwd, true, false, true},
    {Op::FAdd32, X::kIdVaddps, X::kIdVaddps, false, false},
    {Op::FSub32, X::kIdVsubps, X::kIdVsubps, false, false},
    {Op::FMul32, X::kIdVmulps, X::kIdVmulps, false, false},
    {Op::FDiv32, X::kIdVdivps, X::kIdVdivps, false, false},
    {Op::Add64, X::kIdVpaddq, X::kIdVpaddq, true, true},
    {Op::Sub64, X::kIdVpsubq, X::kIdVpsubq, false, true},
    {Op::FAdd64, X::kIdVaddpd, X::kIdVaddpd, false, true},
    {Op::FMul64, X::kIdVmulpd, X::kIdVmulpd, false, true},
    {Op::FDiv64, X::kIdVdivpd, X::kIdVdivpd, false, true},
};
struct Unary {
    Op op;
    InstId avx2, avx512;
    bool wide;
};
constexpr Unary unaries[] = {
    {Op::FSqrt32, X::kIdVsqrtps, X::kIdVsqrtps, false},
    {Op::FSqrt64, X::kIdVsqrtpd, X::kIdVsqrtpd, true},
    {Op::CvtI32ToF32, X::kIdVcvtdq2ps, X::kIdVcvtdq2ps, false},
    {Op::CvtU32ToF32, 0, X::kIdVcvtudq2ps, false},
    {Op::Popcnt32, 0, X::kIdVpopcntd, false},
    {Op::Clz32, 0, X::kIdVplzcntd, false},
};

}  // namespace

bool BlockCompiler::lane_table_op(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    for (const Row& r : binaries) {
        if (r.op != i.op) continue;
        const InstId id = avx512_ ? r.avx512 : r.avx2;
        const int parts = r.wide ? 2 : 1;
        for (int p = 0; p < parts; ++p) {
            const auto part = static_cast<uint32_t>(p);
            Unit x = schedule_.unit(a[0], part), y = schedule_.unit(a[1], part);
            if (r.commutes && state(x).reg < 0 && state(y).reg >= 0) std::swap(x, y);
            const Vec vx = use(x);
            const Operand oy = r.halves ? Operand(use(y)) : use_or_mem(y, r.wide);
            if (const Pin* pin = r.wide || r.halves ? nullptr : LoopCode(*this).merges(v)) {
                k(use_k(inst(pin->set).args[1]));
                a_.emit(id, vec(pin->reg), vx, oy);
                LoopCode(*this).merged(*pin);
                return true;
            }
            if (p == parts - 1) release_operands();
            const Vec d = def(v, part);
            a_.emit(id, d, vx, oy);
            define_done(schedule_.unit(v, part));
        }
        return true;
    }
    for (const Unary& r : unaries) {
        if (r.op != i.op) continue;
        const InstId id = avx512_ ? r.avx512 : r.avx2;
        if (!id) return false;
        const int parts = r.wide ? 2 : 1;
        for (int p = 0; p < parts; ++p) {
            const auto part = static_cast<uint32_t>(p);
            const Operand x = use_or_mem(schedule_.unit(a[0], part), r.wide);
            if (p == parts - 1) release_operands();
            a_.emit(id, def(v, part), x);
            define_done(schedule_.unit(v, part));
        }
        return true;
    }
    return false;
}

// The NaN order of opcodes.inc and common/guest_float.h is a0, a1, a2. x86 looks at the operands of
// the three forms in these orders (checked on hardware and in the Intel SDM, volume 1, 14.5.2):
//   132  dst, src3, src2      213  src2, dst, src3      231  src2, src3, dst
// which leaves one assignment of a0, a1, a2 to each form.
void BlockCompiler::lane_fma(Value v) {
    const ir::Inst& i = inst(v);
    const bool w = i.op == Op::FFma64;
    for (uint32_t part = 0; part < (w ? 2u : 1u); ++part) {
        const Unit a = schedule_.unit(i.args[0], part), b = schedule_.unit(i.args[1], part),
                   c = schedule_.unit(i.args[2], part);
        const Unit d = schedule_.unit(v, part);
        if (const Pin* pin = w ? nullptr : LoopCode(*this).merges(v); pin && pin->unit != no_unit) {
            const Vec row = vec(pin->reg);
            const Value mask = inst(pin->set).args[1];
            auto merge = [&](InstId id, Unit x, Unit y) {
                const Vec vx = use(x);
                const Operand oy = use_or_mem(y);
                k(use_k(mask));
                a_.emit(id, row, vx, oy);
                LoopCode(*this).merged(*pin);
            };
            if (c == pin->unit) return merge(X::kIdVfmadd231ps, a, b);
            if (a == pin->unit) return merge(X::kIdVfmadd132ps, c, b);
            if (b == pin->unit) return merge(X::kIdVfmadd213ps, a, c);
        }
        // A wide operand with one unit for both halves must survive the first.
        auto dies = [&](Unit u, Value arg) {
            return last_use(u) && state(u).reg >= 0 &&
                   !(w && part == 0 && inst(arg).op == Op::Splat64) &&
                   (vec_temps_ >> state(u).reg & 1) == 0;
        };
        // Not a candidate when the other half of a wide operation still reads it.
        auto only_here = [&](Unit u) {
            if (!w || part) return true;
            for (Value arg : {i.args[0], i.args[1], i.args[2]})
                if (schedule_.unit(arg, 1) == u) return false;
            return true;
        };
        auto take_over = [&](const Vec& r, Unit old) {
            state(old).reg = -1;
            vec_owner_[r.id()] = no_unit;
            return def_at(d, r);
        };
        if (dies(c, i.args[2]) && only_here(c)) {
            const Vec rc = use(c), ra = use(a);
            const Operand ob = use_or_mem(b, w);
            a_.emit(w ? X::kIdVfmadd231pd : X::kIdVfmadd231ps, take_over(rc, c), ra, ob);
        } else if (dies(a, i.args[0]) && only_here(a)) {
            const Vec ra = use(a), rc = use(c);
            const Operand ob = use_or_mem(b, w);
            a_.emit(w ? X::kIdVfmadd132pd : X::kIdVfmadd132ps, take_over(ra, a), rc, ob);
        } else if (dies(b, i.args[1]) && only_here(b)) {
            const Vec rb = use(b), ra = use(a);
            const Operand oc = use_or_mem(c, w);
            a_.emit(w ? X::kIdVfmadd213pd : X::kIdVfmadd213ps, take_over(rb, b), ra, oc);
        } else {
            const Vec ra = use(a);
            const Operand ob = use_or_mem(b, w);
            const Source s = state(c).reg < 0 ? source(c) : Source{};
            const bool fresh = s.kind != Source::None && last_use(c);
            const Vec rc = fresh ? Vec() : use(c);
            const Vec rd = def(d);
            if (!fresh)
                mov(rd, rc);
            else if (s.kind == Source::Full)
                movu(rd, s.mem);
            else
                a_.emit(s.kind == Source::Bcast64 ? X::kIdVbroadcastsd : X::kIdVbroadcastss, rd,
                        s.mem);
            a_.emit(w ? X::kIdVfmadd231pd : X::kIdVfmadd231ps, rd, ra, ob);
        }
        define_done(d);
    }
}

void BlockCompiler::lane_set(Value v) {
    if (LoopCode(*this).set_row(v)) return;
    const ir::Inst& i = inst(v);
    const auto r = static_cast<uint32_t>(i.imm);
    const Unit u = schedule_.unit(i.args[0]);
    // Values that were read from the row before and are needed later leave it now.
    schedule_.for_each_read_of_row(r, [&](Value g) {
        if (g > v) return;
        const Unit old = schedule_.unit(g);
        UnitState& s = state(old);
        if (s.detached || schedule_.unit_home(old).kind == Home::Temp) return;
        if (s.next != no_use || old == u) {
            use(old);
            s.detached = true;
        }
    });
    const Vec x = use(u);
    if (is_full(i.args[1])) {
        movu(row(r), x);
        const Home& home = schedule_.unit_home(u);
        if (home.kind == Home::Row && home.index == r) state(u).stored = true;
        return;
    }
    if (avx512_) {
        const KReg m = use_k(i.args[1]);
        const Vec t = tmp();
        movu(t, row(r));
        k(m);
        a_.emit(X::kIdVmovdqa32, t, x);
        movu(row(r), t);
    } else {
        const Vec m = use(i.args[1]);
        const Vec t = tmp();
        movu(t, row(r));
        a_.emit(X::kIdVblendvps, t, t, x, m);
        movu(row(r), t);
    }
}

void BlockCompiler::join64(const Vec& d, const Vec& a, const Vec& b, bool high) {
    a_.emit(X::kIdVshufps, d, a, b, asmjit::Imm(high ? 0xdd : 0x88));
}

void BlockCompiler::lane_op(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    const Class cls = ir::op_info(i.op).cls;
    if (cls == Class::SetV) return lane_set(v);
    if (cls == Class::LaneLoad || cls == Class::LaneStore) return AccessCode(*this).lane_memory(v);
    if (cls == Class::LaneAtomic) return AtomicCode(*this).lane_atomic(v);
    switch (i.op) {
        case Op::GetV:
        case Op::Splat32:
        case Op::LaneId: {  // copies into a temp row
            const Unit u = schedule_.unit(v);
            const int r = take_vec();
            load_vec(u, r);
            define_done([&] {
                def_at(u, vec(r));
                return u;
            }());
            return;
        }
        case Op::FFma32:
        case Op::FFma64:
            return lane_fma(v);
        case Op::FQuot32:
        case Op::FQuotFrexp32:
        case Op::FQuot64:
            return MathCode(*this).lane_quotient(v);
        case Op::FRsq32:
        case Op::FFixup32:
        case Op::FFrexpExp32:
        case Op::FFrexpMant32:
            return MathCode(*this).lane_math(v);
        case Op::Lo:
        case Op::Hi: {
            const Vec x = use(a[0], 0), y = use(a[0], 1);
            release_operands();
            join64(def(v), x, y, i.op == Op::Hi);
            return define_done(schedule_.unit(v));
        }
        case Op::Pack64: {
            const Vec x = use(a[0]), y = use(a[1]);
            const Vec lo = def(v, 0);
            a_.emit(X::kIdVpunpckldq, lo, x, y);
            define_done(schedule_.unit(v, 0));
            release_operands();
            const Vec hi = def(v, 1);
            a_.emit(X::kIdVpunpckhdq, hi, x, y);
            return define_done(schedule_.unit(v, 1));
        }
        case Op::MulWideU32:
        case Op::MulWideS32: {
            const Vec x = use(a[0]), y = use(a[1]);
            const Vec t = tmp();
            const InstId mul = i.op == Op::MulWideU32 ? X::kIdVpmuludq : X::kIdVpmuldq;
            for (uint32_t part = 0; part < 2; ++part) {
                const InstId unpack = part ? X::kIdVpunpckhdq : X::kIdVpunpckldq;
                a_.emit(unpack, t, x, x);
                if (part) release_operands();
                const Vec d = def(v, part);
                a_.emit(unpack, d, y, y);
                a_.emit(mul, d, d, t);
                define_done(schedule_.unit(v, part));
            }
            return;
        }
        case Op::MulHiU32:
        case Op::MulHiS32: {
            const Vec x = use(a[0]), y = use(a[1]);
            const Vec t = tmp(), o = tmp();
            const InstId mul = i.op == Op::MulHiU32 ? X::kIdVpmuludq : X::kIdVpmuldq;
            a_.emit(X::kIdVpsrlq, t, x, asmjit::Imm(32));
            a_.emit(X::kIdVpsrlq, o, y, asmjit::Imm(32));
            a_.emit(mul, o, o, t);  // odd lanes
            a_.emit(mul, t, x, y);  // even lanes
            release_operands();
            const Vec d = def(v);
            if (avx512_) {
                movu(d, constant(const_odd_dwords));
                a_.emit(X::kIdVpermi2d, d, t, o);
            } else {
                a_.emit(X::kIdVpshufd, d, t, asmjit::Imm(0xf5));
                a_.emit(X::kIdVpblendd, d, d, o, asmjit::Imm(0xaa));
            }
            return define_done(schedule_.unit(v));
        }
        case Op::Shl32:
        case Op::Shr32:
        case Op::Sar32: {
            static constexpr InstId by_imm[] = {X::kIdVpslld, X::kIdVpsrld, X::kIdVpsrad},
                                    by_lane[] = {X::kIdVpsllvd, X::kIdVpsrlvd, X::kIdVpsravd};
            const int kind = static_cast<int>(i.op) - static_cast<int>(Op::Shl32);
            const ir::Inst& n = inst(a[1]);
            if (n.op == Op::Splat32 && is_const(n.args[0])) {
                // The immediate forms with a memory operand exist in AVX-512 only.
                const Operand x = avx512_ ? use_or_mem(a[0]) : Operand(use(a[0]));
                release_operands();
                a_.emit(by_imm[kind], def(v), x, asmjit::Imm(inst(n.args[0]).imm & 31));
            } else {
                const Vec x = use(a[0]), count = use(a[1]);
                const Vec t = tmp();
                a_.emit(avx512_ ? X::kIdVpandd : X::kIdVpand, t, count, c32(31));
                release_operands();
                a_.emit(by_lane[kind], def(v), x, t);
            }
            return define_done(schedule_.unit(v));
        }
        case Op::FRound32:
        case Op::FRound64: {
            const bool w = i.op == Op::FRound64;
            const InstId id = avx512_ ? (w ? X::kIdVrndscalepd : X::kIdVrndscaleps)
                                      : (w ? X::kIdVroundpd : X::kIdVroundps);
            for (uint32_t part = 0; part < (w ? 2u : 1u); ++part) {
                const Operand x = use_or_mem(schedule_.unit(a[0], part), w);
                if (part || !w) release_operands();
                a_.emit(id, def(v, part), x, asmjit::Imm((i.imm & 3) | 8));
                define_done(schedule_.unit(v, part));
            }
            return;
        }
        case Op::CvtF32ToF16: {
            // The rounding is in the instruction, whatever MXCSR says.
            const Vec x = use(a[0]);
            release_operands();
            const Vec d = def(v);
            a_.emit(X::kIdVcvtps2ph, half(d), x, asmjit::Imm(i.imm & 3));
            a_.emit(X::kIdVpmovzxwd, d, half(d));
            return define_done(schedule_.unit(v));
        }
        case Op::Bswap32: {
            const Vec x = use(a[0]);
            release_operands();
            a_.emit(X::kIdVpshufb, def(v), x, constant(const_bswap));
            return define_done(schedule_.unit(v));
        }
        case Op::Brev32: {  // nibbles by table, then bytes
            const Vec x = use(a[0]);
            const Vec lo = tmp(), hi = tmp(), table = tmp();
            const InstId land = avx512_ ? X::kIdVpandd : X::kIdVpand;
            const Operand nibbles = c32(0x0f0f0f0f);
            a_.emit(land, lo, x, nibbles);
            a_.emit(X::kIdVpsrld, hi, x, asmjit::Imm(4));
            a_.emit(land, hi, hi, nibbles);
            movu(table, constant(const_nibble_reverse_low));
            a_.emit(X::kIdVpshufb, lo, table, lo);
            movu(table, constant(const_nibble_reverse_high));
            a_.emit(X::kIdVpshufb, hi, table, hi);
            a_.emit(avx512_ ? X::kIdVpord : X::kIdVpor, lo, lo, hi);
            release_operands();
            a_.emit(X::kIdVpshufb, def(v), lo, constant(const_bswap));
            return define_done(schedule_.unit(v));
        }
        default:
            break;
    }
    if (lane_table_op(v)) return;
    if (avx512_)
        lane_avx512(v);
    else
        lane_avx2(v);
}

bool BlockCompiler::compare_predicate(Op op, InstId& id, uint32_t& predicate) const {
    // vpcmp: 0 equal, 1 less, 2 less or equal, 4 not equal
    switch (op) {
        case Op::CmpEq32:
            id = X::kIdVpcmpd, predicate = 0;
            return true;
        case Op::CmpNe32:
            id = X::kIdVpcmpd, predicate = 4;
            return true;
        case Op::CmpLtS32:
            id = X::kIdVpcmpd, predicate = 1;
            return true;
        case Op::CmpLeS32:
            id = X::kIdVpcmpd, predicate = 2;
            return true;
        case Op::CmpLtU32:
            id = X::kIdVpcmpud, predicate = 1;
            return true;
        case Op::CmpLeU32:
            id = X::kIdVpcmpud, predicate = 2;
            return true;
        case Op::CmpEq64:
            id = X::kIdVpcmpq, predicate = 0;
            return true;
        case Op::CmpNe64:
            id = X::kIdVpcmpq, predicate = 4;
            return true;
        case Op::CmpLtS64:
            id = X::kIdVpcmpq, predicate = 1;
            return true;
        case Op::CmpLeS64:
            id = X::kIdVpcmpq, predicate = 2;
            return true;
        case Op::CmpLtU64:
            id = X::kIdVpcmpuq, predicate = 1;
            return true;
        case Op::CmpLeU64:
            id = X::kIdVpcmpuq, predicate = 2;
            return true;
        default:
            return false;
    }
}

}  // namespace wj::x64
