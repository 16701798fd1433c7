// Atomics of lanes: addresses and data go to the frame's exchange area, then a loop takes the
// active lanes one after the other, lowest first. LDS belongs to one work-group, which one thread
// runs: plain updates are atomic there. Memory is shared with host threads (unless the embedder
// says that it is not): one locked instruction, or a compare-exchange loop. When all lanes hit one
// address and nobody asks for old values, integer operations are reduced in registers first.
// Misaligned lanes, lanes beyond the LDS, apertures and checked memory go out of line before any
// lane has been done.
#include "backend_x64/asm/lane_atomic.h"
#include "backend_x64/asm/reach.h"
#include "ir/known.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::AtomicOp;
using ir::Op;
using machine::Wave;
using namespace atomic_loop;
namespace x86 = asmjit::x86;

namespace {
constexpr uint32_t highest_pointer = 0x7fff;  // upper dword of what user space may hold
}  // namespace

void BlockCompiler::AtomicCode::lane_atomic(Value v) const {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    LaneAtomic m;
    m.v = v;
    m.op = ir::aux_atomic(i.aux);
    m.scalar_base = ir::has_scalar_base(i.op);
    m.space = space_of(i.op);
    m.lds = m.space == lds_space;
    if (!m.lds) m.mode = options_.address_mode;
    m.plain = m.lds || options_.exclusive;
    m.dwords = ir::aux_dwords(i.aux);
    m.bytes = m.dwords * 4;
    m.imm = static_cast<int64_t>(i.imm);
    const uint8_t flags = ir::aux_atomic_flags(i.aux);
    m.flush_in = flags & (m.lds ? ir::flush_in_lds : ir::flush_in_memory);
    m.data_first = flags & ir::data_first;
    m.flush_out = flags & (m.lds ? ir::flush_out_lds : ir::flush_out_memory);
    const bool called = flags & (ir::half_words | ir::new_values) || m.op == AtomicOp::FMin ||
                        m.op == AtomicOp::FMax || m.op == AtomicOp::FCmpSwap ||
                        m.op == AtomicOp::PkAddBf16 ||
                        (m.op == AtomicOp::PkAddF16 && (m.flush_in || m.flush_out));
    m.native = !is_checked(m.mode) && !called && m.imm == static_cast<int32_t>(m.imm);
    const Value addr = m.scalar_base ? a[1] : a[0], mask = m.scalar_base ? a[2] : a[1];
    m.full = is_full(mask);
    m.wide = block_->type(addr) == ir::Type::V64;
    m.slow = a_.newLabel();
    m.finish = a_.newLabel();
    m.done = a_.newLabel();
    for (uint32_t d = 0; d < m.dwords; ++d) {
        m.live[d] = !c_.dead(schedule_.unit(v, d));
        m.returns |= m.live[d];
    }
    m.inputs = ir::data_args(i.op, i.aux);
    if (is_direct(m.op)) {
        uint64_t value = 0;
        m.constant = true;
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const auto dword = ir::in_all_lanes(*block_, a[4 + d]);
            m.constant &= dword.has_value();
            value |= uint64_t{dword.value_or(0)} << 32 * d;
        }
        m.value = static_cast<int64_t>(value);
        m.uniform = m.constant;
    }

    m.field = schedule_.lane_field(v);

    // Registers are taken before the first branch: taking one may spill another.
    if (m.field) {
        const Unit source_unit = schedule_.unit(m.field->source);
        m.lo = use(source_unit);
        if (const Source in = source(source_unit); in.kind == Source::Full) m.elements = in.mem;
    } else {
        AccessCode(c_).use_address(m, addr);
    }
    if (m.scalar_base) m.base = home_mem(schedule_.uniform_home(a[0]));
    AccessCode(c_).use_mask(m, mask);
    for (uint32_t d = 0; d < m.inputs && !m.constant; ++d) m.data[d] = use(a[4 + d]);
    m.t = tmp();
    m.t2 = tmp();
    m.z[0] = tmp();
    m.z[1] = tmp();
    if (c_.avx512_) m.tk = tmp_k();
    if (c_.avx512_ && m.lds) m.tk2 = tmp_k();
    for (uint32_t d = 0; d < m.dwords; ++d)
        if (m.live[d]) m.result[d] = def(schedule_.unit(v, d));

    for (const Gp& r : {offset, data, base, new_value, scratch}) {
        bool used = std::any_of(c_.collectors_.begin(), c_.collectors_.end(),
                                [&](const Collector& c) { return c.reg.id() == r.id(); }) ||
                    std::any_of(c_.pointers_.begin(), c_.pointers_.end(),
                                [&](const Pointer& p) { return p.reg.id() == r.id(); });
        if (c_.facts_position_ == c_.position_)
            for (const AddressFacts& f : c_.facts_)
                used |= f.address.id() == r.id() || f.pattern.id() == r.id();
        if (used) m.busy.push_back(r);
    }

    AccessCode(c_).skip_inactive_chunk(m);
    atomic_address(m);
    if (!m.native) {
        atomic_exchange_area(m);
        atomic_slow(m);
    } else {
        // Special cases: counting, that is inc and dec whose limit is the largest number, and one
        // operand for all lanes, if that means that they need no loop.
        LaneAtomic special = m;
        const bool counts = (m.op == AtomicOp::Inc || m.op == AtomicOp::Dec) && m.dwords == 1;
        if (counts) {
            special.op = m.op == AtomicOp::Inc ? AtomicOp::Add : AtomicOp::Sub;
            special.constant = true;
            special.value = 1;
        }
        special.uniform = true;
        special.unrolled = special.unrolls();
        if (!special.unrolled && !counts) special.uniform = m.uniform;
        const bool late = special.unrolled;
        if (!late) atomic_exchange_area(m);
        if (m.field)
            atomic_check_base(m);
        else
            atomic_checks(m);
        const Label general = a_.newLabel();
        const bool ask_data = special.uniform && !m.uniform,
                   ask_high = special.unrolled && m.wide && !m.field;
        if (ask_data && counts) {
            AccessCode(c_).branch_if_any(m, m.data[0], c32(~0u), cmp_ne, general);
        } else if (ask_data) {
            a_.emit(X::kIdVpbroadcastd, m.t2, m.data[0].xmm());
            AccessCode(c_).branch_if_any(m, m.data[0], m.t2, cmp_ne, general);
        }
        if (ask_high) {
            a_.emit(X::kIdVpbroadcastd, m.t2, m.hi.xmm());
            AccessCode(c_).branch_if_any(m, m.hi, m.t2, cmp_ne, general);
        }
        atomic_inline(special);
        auto out_of_line = [*this, late](LaneAtomic m,
                                         void (AtomicCode::*rest)(const LaneAtomic&) const) {
            if (m.field) atomic_expand_field(m);
            if (late) atomic_exchange_area(m);
            (this->*rest)(m);
            a_.jmp(m.finish);
        };
        if (ask_data || ask_high)
            cold(general, [=] { out_of_line(m, &AtomicCode::atomic_inline); });
        cold(m.slow, [=] { out_of_line(m, &AtomicCode::atomic_slow); });
    }
    a_.bind(m.finish);
    for (uint32_t d = 0; d < m.dwords; ++d)
        if (m.live[d]) movu(m.result[d], frame_field(offsetof(Frame, data) + d * 64));
    a_.bind(m.done);
    for (uint32_t d = 0; d < m.dwords; ++d)
        if (m.live[d]) define_done(schedule_.unit(v, d));
}

void BlockCompiler::AtomicCode::atomic_inline(const LaneAtomic& m) const {
    std::vector<Gp> busy = m.busy;
    if (m.direct() && m.dwords == 1)
        std::erase_if(busy, [](const Gp& r) { return r == new_value || r == scratch; });
    for (const Gp& r : busy) a_.push(r);
    if (!m.plain) {
        a_.mov(base, wave_field(offsetof(Wave, ctx), 8));
        a_.mov(x86::byte_ptr(base, offsetof(machine::ExecContext, locked_atomics)), 1);
    }
    if (m.lds) {
        a_.mov(base, wave_field(offsetof(Wave, lds), 8));
    } else if (m.scalar_base) {
        a_.mov(base, m.base);
    }
    if (m.field) {
        Mem at = m.elements;
        if (!at.hasBase()) {
            GatherCode(c_).put_dwords(offsetof(Frame, address_lo), m.lo);
            at = frame_field(offsetof(Frame, address_lo));
        }
        a_.lea(offset, at);
    } else if (m.unrolled && m.wide) {
        a_.vmovd(x86::eax, m.hi.xmm());
        a_.shl(x86::rax, 32);
        if (m.scalar_base)
            a_.add(base, x86::rax);
        else
            a_.mov(base, x86::rax);
    }
    if (is_masked(m.mode) && m.is_near_base()) emit_reach(a_, base);
    if (m.constant)
        a_.mov(m.sized(data), m.value);
    else if (m.uniform)
        a_.vmovd(data.r32(), m.data[0].xmm());
    else
        for (uint32_t d = 0; d < m.inputs; ++d)
            GatherCode(c_).put_dwords(offsetof(Frame, data) + d * 64, m.data[d]);
    const Label lanes = a_.newLabel(), once = a_.newLabel(), over = a_.newLabel();
    atomic_merge(m, lanes, once);
    atomic_compare_same(m, lanes, over);
    a_.bind(lanes);
    atomic_lanes(m, once);
    a_.bind(over);
    for (size_t r = busy.size(); r-- > 0;) a_.pop(busy[r]);
}

// And, in ecx, the active lanes.
void BlockCompiler::AtomicCode::atomic_address(LaneAtomic& m) const {
    m.address = m.lo;
    if (m.lds && m.imm && !m.field) {
        a_.emit(X::kIdVpaddd, m.t, m.lo, c32(static_cast<uint32_t>(m.imm)));
        m.address = m.t;
    }
    if (m.full)
        a_.mov(lanes_left.r32(), c_.avx512_ ? 0xffff : 0xff);
    else if (c_.avx512_)
        a_.kmovw(lanes_left.r32(), m.mask_k);
    else
        a_.vmovmskps(lanes_left.r32(), m.mask_v.ymm());
}

void BlockCompiler::AtomicCode::atomic_exchange_area(const LaneAtomic& m) const {
    GatherCode(c_).put_dwords(offsetof(Frame, address_lo), m.address);
    if (m.wide) GatherCode(c_).put_dwords(offsetof(Frame, address_hi), m.hi);
}

// Goes out of line unless all lanes are aligned and, in LDS, in range.
void BlockCompiler::AtomicCode::atomic_checks(const LaneAtomic& m) const {
    const Vec &bad = m.z[1], &t = m.z[0];
    const Operand low_bits = c32(m.bytes - 1);
    if (m.lds) {
        // lds_size is a multiple of the granule: an aligned element that begins below it fits.
        const Mem size = wave_field(offsetof(Wave, lds_size), c_.avx512_ ? 0 : 4);
        if (c_.avx512_) {
            if (!m.full) k(m.mask_k);
            a_.emit(X::kIdVpcmpud, m.tk, m.address, bcast32(size), Imm(cmp_nlt));
            if (!m.full) k(m.mask_k);
            a_.emit(X::kIdVptestmd, m.tk2, m.address, low_bits);
            a_.kortestw(m.tk, m.tk2);
        } else {
            a_.emit(X::kIdVpbroadcastd, t, size);
            a_.emit(X::kIdVpmaxud, t, t, m.address);
            a_.emit(X::kIdVpcmpeqd, t, t, m.address);
            a_.emit(X::kIdVpand, bad, m.address, low_bits);
            a_.emit(X::kIdVpor, bad, bad, t);
            a_.emit(X::kIdVptest, bad, m.full ? bad : m.mask_v);
        }
        a_.jnz(m.slow);
        return;
    }
    if (m.space == flat_space)
        AccessCode(c_).branch_if_any(m, m.hi, c32(highest_pointer), cmp_nle, m.slow);
    Vec tested = m.lo;
    if (m.scalar_base) {
        a_.mov(x86::eax, m.base.cloneResized(4));
        if (m.imm) a_.add(x86::eax, static_cast<int32_t>(m.imm));
        a_.vmovd(bad.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, bad, bad.xmm());
        a_.emit(X::kIdVpaddd, bad, bad, m.lo);
        tested = bad;
    } else if (m.imm % m.bytes) {
        a_.emit(X::kIdVpaddd, bad, m.lo, c32(static_cast<uint32_t>(m.imm)));
        tested = bad;
    }
    if (c_.avx512_) {
        if (!m.full) k(m.mask_k);
        a_.emit(X::kIdVptestmd, m.tk, tested, low_bits);
        a_.kortestw(m.tk, m.tk);
    } else if (m.full) {
        a_.emit(X::kIdVptest, tested, low_bits);
    } else {
        a_.emit(X::kIdVpand, t, tested, low_bits);
        a_.emit(X::kIdVptest, t, m.mask_v);
    }
    a_.jnz(m.slow);
}

// Lanes of a field cannot be out of range or misaligned if the base is not, and the LDS is large
// enough for all.
void BlockCompiler::AtomicCode::atomic_check_base(const LaneAtomic& m) const {
    if (m.lds) {
        const int64_t end = (int64_t{m.field->most} << m.field->up) + m.imm + m.bytes;
        a_.cmp(wave_field(offsetof(Wave, lds_size), 4), static_cast<int32_t>(end));
        a_.jb(m.slow);
    } else {
        a_.test(m.base.cloneResized(1), m.bytes - 1);
        a_.jnz(m.slow);
    }
}

// The addresses, or offsets, instead of the field.
void BlockCompiler::AtomicCode::atomic_expand_field(LaneAtomic& m) const {
    const LaneField& f = *m.field;
    const InstId vector_and = c_.avx512_ ? X::kIdVpandd : X::kIdVpand;
    const Vec mask = m.z[0], index = m.t;
    a_.emit(X::kIdVpbroadcastd, mask, pool32(f.bits() >> f.first));
    a_.emit(X::kIdVpsrld, index, m.lo, Imm(f.first));
    a_.emit(vector_and, index, index, mask);
    if (m.wide) {
        m.hi = m.t2;
        a_.emit(f.is_signed ? X::kIdVpsrad : X::kIdVpsrld, m.hi, index, Imm(32 - f.up));
    }
    a_.emit(X::kIdVpslld, index, index, Imm(f.up));
    if (m.lds && m.imm) {
        a_.emit(X::kIdVpbroadcastd, mask, pool32(static_cast<uint32_t>(m.imm)));
        a_.emit(X::kIdVpaddd, index, index, mask);
    }
    m.address = index;
    m.field = nullptr;
}

void BlockCompiler::AtomicCode::atomic_slow(const LaneAtomic& m) const {
    const ir::Inst& i = inst(m.v);
    MemoryOp op;
    op.pc = block_->guest_pcs[i.guest];
    op.offset = m.lds ? 0 : m.imm;
    op.space = m.space;
    op.dwords = static_cast<uint8_t>(m.dwords);
    op.atomic = static_cast<uint8_t>(1 + static_cast<uint8_t>(m.op));
    op.atomic_flags = ir::aux_atomic_flags(i.aux);
    a_.mov(frame_field(offsetof(Frame, mask), 4), lanes_left.r32());
    for (uint32_t d = 0; d < m.inputs; ++d) {
        if (m.constant)
            a_.emit(X::kIdVpbroadcastd, m.z[0], pool32(static_cast<uint32_t>(m.value >> 32 * d)));
        movu(frame_field(offsetof(Frame, data) + d * 64), m.constant ? m.z[0] : m.data[d]);
    }
    if (m.scalar_base) {
        a_.mov(x86::rcx, m.base);
        if (!m.wide) {
            a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, m.z[0], m.z[0], m.z[0]);
            movu(frame_field(offsetof(Frame, address_hi)), m.z[0]);
        }
    } else if (m.wide) {
        a_.xor_(x86::ecx, x86::ecx);
    }
    AccessCode(c_).call_memory_op(op);
}

// Goes to `differ` unless all lanes have one address. Changes m.t2.
void BlockCompiler::AtomicCode::atomic_leave_unless_same(const LaneAtomic& m, Label differ) const {
    const Vec& first = m.t2;
    auto compare = [&](const Vec& x, size_t field) {
        if (m.full)
            a_.emit(X::kIdVpbroadcastd, first, x.xmm());
        else
            a_.emit(X::kIdVpbroadcastd, first, lane_dword(field));
        AccessCode(c_).branch_if_any(m, x, first, cmp_ne, differ);
    };
    if (!m.full) a_.tzcnt(lane.r32(), lanes_left.r32());
    if (m.field && m.field->width < 32) {
        a_.emit(X::kIdVpbroadcastd, first, m.address.xmm());
        a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, first, first, m.address);
        if (c_.avx512_) {
            a_.emit(X::kIdVptestmd, m.tk, first, c32(m.field->bits()));
            a_.kortestw(m.tk, m.tk);
        } else {
            a_.emit(X::kIdVptest, first, c32(m.field->bits()));
        }
        a_.jnz(differ);
    } else {
        compare(m.address, offsetof(Frame, address_lo));
    }
    if (m.wide && !m.unrolled) compare(m.hi, offsetof(Frame, address_hi));
}

// One address for all lanes: the data is reduced, and `once` does the operation for the first lane.
// Goes to `differ` otherwise.
void BlockCompiler::AtomicCode::atomic_merge(const LaneAtomic& m, Label differ, Label once) const {
    if (m.returns || !ir::atomic_commutes(m.op) || m.dwords != 1) return;
    const Vec &sum = m.z[0], &part = m.z[1];
    const Gp first_lane = lane, d = data.r32(), left = lanes_left.r32();
    atomic_leave_unless_same(m, differ);
    const Label same = a_.newLabel();
    a_.jmp(same);
    cold(same, [=, *this] {
        const bool counts = m.op == AtomicOp::Add || m.op == AtomicOp::Sub;
        if (m.constant && (counts || m.op == AtomicOp::Xor)) {
            a_.popcnt(d, left);
            if (!counts) a_.and_(d, 1);
            a_.imul(d, d, static_cast<int32_t>(m.value));
        } else if (!m.constant) {
            struct Row {
                AtomicOp op;
                InstId avx512, avx2;
                uint32_t neutral;
            };
            static constexpr Row rows[] = {
                {AtomicOp::Add, X::kIdVpaddd, X::kIdVpaddd, 0},
                {AtomicOp::Sub, X::kIdVpaddd, X::kIdVpaddd, 0},
                {AtomicOp::SMin, X::kIdVpminsd, X::kIdVpminsd, 0x7fffffff},
                {AtomicOp::SMax, X::kIdVpmaxsd, X::kIdVpmaxsd, 0x80000000},
                {AtomicOp::UMin, X::kIdVpminud, X::kIdVpminud, 0xffffffff},
                {AtomicOp::UMax, X::kIdVpmaxud, X::kIdVpmaxud, 0},
                {AtomicOp::And, X::kIdVpandd, X::kIdVpand, 0xffffffff},
                {AtomicOp::Or, X::kIdVpord, X::kIdVpor, 0},
                {AtomicOp::Xor, X::kIdVpxord, X::kIdVpxor, 0},
            };
            const Row& row = *std::find_if(std::begin(rows), std::end(rows),
                                           [&](const Row& r) { return r.op == m.op; });
            const InstId id = c_.avx512_ ? row.avx512 : row.avx2;
            Vec from = m.data[0];
            if (!m.full) {
                a_.emit(X::kIdVpbroadcastd, sum, pool32(row.neutral));
                if (c_.avx512_) {
                    k(m.mask_k);
                    mov(sum, from);
                } else {
                    a_.emit(X::kIdVpblendvb, sum, sum, from, m.mask_v);
                }
                from = sum;
            }
            if (c_.avx512_) {
                a_.emit(X::kIdVextracti64x4, part.ymm(), from, Imm(1));
                a_.emit(id, sum.ymm(), part.ymm(), from.ymm());
                a_.emit(X::kIdVextracti32x4, part.xmm(), sum.ymm(), Imm(1));
            } else {
                a_.emit(X::kIdVextracti128, part.xmm(), from, Imm(1));
                movu(sum.xmm(), from.xmm());
            }
            a_.emit(id, sum.xmm(), sum.xmm(), part.xmm());
            for (uint32_t order : {0x4e, 0xb1}) {
                a_.emit(X::kIdVpshufd, part.xmm(), sum.xmm(), Imm(order));
                a_.emit(id, sum.xmm(), sum.xmm(), part.xmm());
            }
            a_.vmovd(d, sum.xmm());
        }
        a_.tzcnt(first_lane.r32(), left);
        a_.blsi(left, left);
        a_.jmp(once);
    });
}

// The element of the lane whose number is in its register; changes `offset` and, if addresses are
// wide, `base`.
Mem BlockCompiler::AtomicCode::atomic_element(const LaneAtomic& m) const {
    const int32_t imm = m.lds ? 0 : static_cast<int32_t>(m.imm);
    a_.mov(offset.r32(), lane_dword(offsetof(Frame, address_lo)));
    if (m.wide) {
        a_.mov(base.r32(), lane_dword(offsetof(Frame, address_hi)));
        a_.shl(base, 32);
        if (m.scalar_base) a_.add(base, m.base);
    }
    const Mem at = x86::ptr(base, offset, 0, imm);
    if (!is_masked(m.mode)) return at;
    a_.lea(offset, at);
    emit_reach(a_, offset);
    return x86::ptr(offset);
}

// The lanes of ecx, lowest first. `once`: for one lane whose data is in its register.
void BlockCompiler::AtomicCode::atomic_lanes(const LaneAtomic& m, Label once) const {
    const int32_t imm = m.lds ? 0 : static_cast<int32_t>(m.imm);
    if (m.field) {
        const Label over = a_.newLabel();
        for (uint32_t l = 0; l < chunk_lanes(); ++l) atomic_field_lane(m, l);
        a_.bind(over);
        cold(once, [*this, m, over] {
            atomic_field_lane(m, 0);
            a_.jmp(over);
        });
        return;
    }
    if (m.unrolled) {
        const Label over = a_.newLabel();
        for (uint32_t l = 0; l < chunk_lanes(); l += 4) {
            Vec four = m.address;
            if (l) {
                four = m.z[0];
                a_.emit(c_.avx512_ ? X::kIdVextracti32x4 : X::kIdVextracti128, four.xmm(),
                        m.address, Imm(l / 4));
            }
            for (int pair : {0, 1}) {
                if (pair)
                    a_.emit(X::kIdVpextrq, offset, four.xmm(), Imm(1));
                else
                    a_.vmovq(offset, four.xmm());
                a_.mov(lane.r32(), offset.r32());
                a_.shr(offset, 32);
                atomic_update(m, x86::ptr(base, lane, 0, imm));
                atomic_update(m, x86::ptr(base, offset, 0, imm));
            }
        }
        a_.bind(over);
        cold(once, [*this, m, over, imm] {
            a_.vmovd(offset.r32(), m.address.xmm());
            atomic_update(m, x86::ptr(base, offset, 0, imm));
            a_.jmp(over);
        });
        return;
    }
    const Label loop = a_.newLabel();
    a_.bind(loop);
    a_.tzcnt(lane.r32(), lanes_left.r32());
    if (!m.uniform) atomic_load(m, data, 0);
    a_.bind(once);
    const Mem at = atomic_element(m);
    atomic_update(m, at);
    if (m.returns) {
        a_.mov(lane_dword(offsetof(Frame, data)), old_value.r32());
        if (m.dwords == 2) {
            a_.shr(old_value, 32);
            a_.mov(lane_dword(offsetof(Frame, data), 1), old_value.r32());
        }
    }
    a_.blsr(lanes_left.r32(), lanes_left.r32());
    a_.jnz(loop);
}

// Of those with a field; `offset` points to the chunk of the source.
void BlockCompiler::AtomicCode::atomic_field_lane(const LaneAtomic& m, uint32_t l) const {
    load_field(lane, offset, l, *m.field);
    const Mem at = x86::ptr(base, lane, m.field->up, static_cast<int32_t>(m.imm));
    if (!is_masked(m.mode) || m.is_near_base()) return atomic_update(m, at);
    a_.lea(lane, at);
    emit_reach(a_, lane);
    atomic_update(m, x86::ptr(lane));
}

// The field of lane l of the row at `rows`.
void BlockCompiler::AtomicCode::load_field(const Gp& to, const Gp& rows, uint32_t l,
                                           const LaneField& f) const {
    const Mem element = x86::ptr(rows, static_cast<int32_t>(4 * l + f.first / 8), f.width / 8);
    if (f.is_signed)
        a_.movsxd(to, element);
    else if (f.width == 32)
        a_.mov(to.r32(), element);
    else
        a_.movzx(to.r32(), element);
}

}  // namespace wj::x64
