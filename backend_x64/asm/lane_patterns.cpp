// Which pattern do the addresses of a chunk have? Found at run time, once for all accesses of a
// region that share an address.
#include <algorithm>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/reach.h"
#include "backend_x64/loop_estimate.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

// Jumps to `label` when the compare of x with y (a vpcmpd predicate, or its unsigned form) holds in
// any active lane. AVX2 knows equality and unsigned "greater" (through the minimum).
void BlockCompiler::AccessCode::branch_if_any(const LaneAccess& m, const Vec& x, const Operand& y,
                                              uint32_t predicate, Label label, bool near) const {
    if (c_.avx512_) {
        if (!m.full) k(m.mask_k);
        a_.emit(predicate == cmp_ne ? X::kIdVpcmpd : X::kIdVpcmpud, m.tk, x, y, Imm(predicate));
        a_.kortestw(m.tk, m.tk);
        near_if(near).jnz(label);
        return;
    }
    const Vec& r = m.z[0];  // equal, or not greater
    if (predicate == cmp_nle) {
        a_.emit(X::kIdVpminud, r, x, y);
        a_.emit(X::kIdVpcmpeqd, r, r, x);
    } else {
        a_.emit(X::kIdVpcmpeqd, r, x, y);
    }
    if (!m.full) {
        a_.emit(X::kIdVpandn, r, r, m.mask_v);
        a_.emit(X::kIdVptest, r, r);
        near_if(near).jnz(label);
    } else {
        a_.vmovmskps(x86::eax, r.ymm());
        a_.cmp(x86::al, 0xff);
        near_if(near).jne(label);
    }
}

// Jumps if some lanes of the mask are off.
void BlockCompiler::AccessCode::branch_if_some(const LaneAccess& m, Label label, bool near) const {
    if (c_.avx512_) {
        a_.kortestw(m.mask_k, m.mask_k);
        near_if(near).jnc(label);
    } else {
        a_.vmovmskps(x86::eax, m.mask_v.ymm());
        a_.cmp(x86::al, 0xff);
        near_if(near).jne(label);
    }
}

// AVX2: m.first, which lead() needs.
void BlockCompiler::AccessCode::find_first_lane(const LaneAccess& m) const {
    if (m.full || c_.avx512_) return;
    a_.vmovmskps(x86::eax, m.mask_v.ymm());
    a_.tzcnt(x86::eax, x86::eax);
    a_.vmovd(m.first.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.first, m.first.xmm());
}

// The first active lane's value in every lane: what lanes that are off hold means nothing.
void BlockCompiler::AccessCode::lead(const LaneAccess& m, const Vec& to, const Vec& from) const {
    if (m.full) {
        a_.emit(X::kIdVpbroadcastd, to, from.xmm());
    } else if (c_.avx512_) {
        k(m.mask_k, true);
        a_.emit(X::kIdVpcompressd, to, from);
        a_.emit(X::kIdVpbroadcastd, to, to.xmm());
    } else {
        a_.emit(X::kIdVpermd, to, m.first, from);
    }
}

BlockCompiler::AddressFacts* BlockCompiler::AccessCode::shared_facts(LaneAccess& m) const {
    if (c_.facts_position_ != c_.position_) c_.facts_.clear();
    c_.facts_position_ = c_.position_;
    // What is known of all lanes of access v holds for the lanes of access w.
    auto serves = [&](Value v, Value w) {
        const ir::Inst &x = inst(v), &y = inst(w);
        const ir::Class cls = ir::op_info(x.op).cls, cls_w = ir::op_info(y.op).cls;
        if ((cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) ||
            (cls_w != ir::Class::LaneLoad && cls_w != ir::Class::LaneStore))
            return false;
        if (ir::has_scalar_base(x.op) != m.scalar_base ||
            ir::has_scalar_base(y.op) != m.scalar_base || space_of(x.op) != m.space ||
            space_of(y.op) != m.space)
            return false;
        // The base of a 64-bit offset is added later.
        if (ir::address_of(x) != ir::address_of(y) || (!m.base_apart() && x.args[0] != y.args[0]))
            return false;
        return ir::access_bytes(x) == m.bytes && ir::access_bytes(y) == m.bytes &&
               (ir::mask_of(x) == ir::mask_of(y) ||
                (cls_w == ir::Class::LaneStore && schedule_.is_full(ir::mask_of(x))));
    };
    auto found = [&](AddressFacts& f) {
        m.fewer_lanes = ir::mask_of(inst(f.v)) != ir::mask_of(inst(m.v));
        return &f;
    };
    for (AddressFacts& f : c_.facts_)
        if (serves(f.v, m.v) && f.imms.hold(m.imm)) return found(f);
    // Accesses in this region from here on, and in later ones.
    uint32_t users = 0, later = 0;
    Imms imms{m.imm, m.imm};
    const uint32_t last = c_.facts_cross_regions_ ? schedule_.terminator_position() : c_.position_;
    for (uint32_t p = c_.position_; p <= last; p += 2)
        for (const Value* v = schedule_.begin(p) + (p == c_.position_ ? c_.at_ : 0);
             v != schedule_.end(p); ++v) {
            if (!serves(m.v, *v)) continue;
            const int64_t imm = immediate(inst(*v));
            if (m.space == lds_space && !is_short_lds_offset(imm)) continue;
            ++(p == c_.position_ ? users : later);
            imms = {std::min(imms.least, imm), std::max(imms.most, imm)};
        }
    const auto saved =
        std::find_if(c_.saved_facts_.begin(), c_.saved_facts_.end(),
                     [&](const SavedFacts& s) { return serves(s.v, m.v) && s.imms.hold(m.imm); });
    const bool known = saved != c_.saved_facts_.end();
    if (users + later < 2 && !known) return nullptr;
    static const Gp registers[][2] = {
        {x86::rsi, x86::rdi}, {x86::r8, x86::r9}, {x86::r10, x86::r11}};
    if (c_.facts_.size() == c_.facts_limit_) c_.facts_.erase(c_.facts_.begin());  // the oldest
    const Gp(*pair)[2] = registers;
    while (std::any_of(c_.facts_.begin(), c_.facts_.end(),
                       [&](const AddressFacts& f) { return f.address == (*pair)[0]; }))
        ++pair;
    // A stub is as good as a look for two accesses.
    const bool rows_only = known ? saved->rows_only : m.by_stub && users + later < 3;
    c_.facts_.push_back({known ? saved->v : m.v, known ? saved->imms : imms, (*pair)[0],
                         (*pair)[1].r32(), rows_only});
    AddressFacts& f = c_.facts_.back();
    // A chunk's part of a temp row holds what later regions want to know.
    auto kept = [&](uint32_t row, int32_t offset) { return c_.temp(row).cloneAdjusted(offset); };
    if (known) {
        a_.mov(f.address, kept(saved->row, 0));
        a_.mov(f.pattern, kept(saved->row, 8));
        return found(f);
    }

    const Label known_now = a_.newLabel(), uneven = a_.newLabel(), unknown = a_.newLabel();
    m.address = f.address;
    const Value line = ir::address_of(inst(m.v));
    if (is_line(context(), m, line))
        LineCode(c_).lds_line_address(m, line, imms.most, unknown, m.full);
    else
        find_pattern(m, imms.most, rows_only ? unknown : uneven, unknown);
    a_.xor_(f.pattern, f.pattern);
    a_.bind(known_now);
    cold_if_used(uneven, [*this, m, f, known_now, unknown] {
        find_uneven(m, f.imms, unknown, [&](Pattern pattern) {
            a_.mov(f.pattern, pattern);
            a_.jmp(known_now);
        });
    });
    cold_behind(unknown, [*this, f, known_now] {
        a_.mov(f.pattern, arbitrary);
        a_.jmp(known_now);
    });
    const uint32_t row = schedule_.temp_row_count() + c_.kept_rows_;
    if (later && row < temp_rows) {
        ++c_.kept_rows_;
        a_.mov(kept(row, 0), f.address);
        a_.mov(kept(row, 8), f.pattern);
        c_.saved_facts_.push_back({m.v, imms, row, rows_only});
    }
    if (m.learned_from) WalkCode(c_).learn(m, f.address, f.pattern);
    return &f;
}

// Falls through with m.address = address of lane 0 when the active lanes are consecutive; otherwise
// jumps to `uneven` with m.address = host address that the lanes' offsets m.lo are added to, or to
// `unknown`.
void BlockCompiler::AccessCode::find_pattern(const LaneAccess& m, int64_t max_imm, Label uneven,
                                             Label unknown) const {
    const Gp& address = m.address;
    find_first_lane(m);
    if (m.wide) {
        lead(m, m.t, m.hi);
        branch_if_any(m, m.hi, m.t, cmp_ne, unknown);
        a_.vmovd(address.r32(), m.t.xmm());
        if (m.space == flat_space)
            for (uint64_t aperture : {machine::shared_aperture, machine::private_aperture}) {
                a_.cmp(address.r32(), static_cast<uint32_t>(aperture >> 32));
                a_.je(unknown);
            }
        a_.shl(address, 32);
    } else if (m.space != lds_space) {
        a_.mov(address, m.base);
    }
    if (is_masked(m.mode) && !m.base_apart()) emit_reach(a_, address);
    // Where would lane 0 be? All lanes must agree.
    a_.emit(X::kIdVpsubd, m.t, m.lo, RowCode(c_).index_table({0}, 16, m.bytes));
    lead(m, m.t2, m.t);
    branch_if_any(m, m.t, m.t2, cmp_ne, uneven);
    a_.vmovd(x86::eax, m.t2.xmm());
    if (m.space == lds_space) {
        LineCode(c_).lds_bound(Imm(static_cast<uint32_t>(max_imm) + chunk_lanes() * m.bytes),
                               uneven);
        a_.mov(address, wave_field(offsetof(Wave, lds), 8));
    } else {
        // No lane may wrap around 4 GiB.
        a_.cmp(x86::eax, -static_cast<int32_t>(chunk_lanes() * m.bytes));
        a_.ja(uneven);
    }
    a_.add(address, x86::rax);
}

// The patterns other than consecutive. `found` emits what follows one of them and jumps. Falls
// through when there is none and the lanes can be gathered all the same, or a stub looks for more.
void BlockCompiler::AccessCode::find_uneven(const LaneAccess& m, Imms imms, Label unknown,
                                            const std::function<void(Pattern)>& found) const {
    const bool small = m.shared();  // then `found` is a move and a jump
    auto steps = [&](uint32_t step, Pattern pattern) {
        const Label other = a_.newLabel();
        if (pattern == strided && !m.full) branch_if_some(m, other, small);
        if (step) {
            a_.emit(X::kIdVpsubd, m.t, m.lo, RowCode(c_).index_table({0}, 16, step));
            lead(m, m.t2, m.t);
            branch_if_any(m, m.t, m.t2, cmp_ne, other, small);
        } else {
            lead(m, m.t2, m.lo);
            branch_if_any(m, m.lo, m.t2, cmp_ne, other, small);
        }
        a_.vmovd(x86::eax, m.t2.xmm());
        if (m.space == lds_space) {
            a_.lea(x86::rdx,
                   x86::ptr(x86::rax, static_cast<int32_t>(imms.most + m.bytes) +
                                          static_cast<int32_t>(step * (chunk_lanes() - 1))));
            a_.mov(m.address.r32(), wave_field(offsetof(Wave, lds_size), 4));
            a_.cmp(x86::rdx, m.address);
            near_if(small).ja(other);
            a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
        } else if (step) {
            a_.cmp(x86::eax, -static_cast<int32_t>(step * chunk_lanes()));
            near_if(small).ja(other);
        }
        a_.add(m.address, x86::rax);
        found(pattern);
        a_.bind(other);
    };
    if (may_be_same(m) || m.shared()) steps(0, same);  // loads may share the address
    if (m.by_stub && !m.learned_from) return;
    for (const Pattern pattern : {rows_in_order, rows_of_equals})
        RowCode(c_).find_rows(m, pattern, found);
    if (m.by_stub) return;
    if (may_be_strided(context(), m) && (!m.store || row_of_tile(context(), m)))
        steps(stride_bytes, strided);
    if (may_be_sliding(context(), m)) steps(sliding_step(m), sliding);
    if (m.space == lds_space) lds_offsets(m, imms, unknown);
    if (gathers64(m)) return;
    offsets_base(m);
    found(offsets);
}

// The lanes' offsets from m.address are within the LDS, or it jumps.
void BlockCompiler::AccessCode::lds_offsets(const LaneAccess& m, Imms imms, Label unknown) const {
    a_.mov(x86::eax, wave_field(offsetof(Wave, lds_size), 4));
    a_.sub(x86::eax, static_cast<int32_t>(imms.most - imms.least) + static_cast<int32_t>(m.bytes));
    a_.jb(unknown);
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    // Addresses may be negative if constants make up for it: `offset - 64 * lane`.
    if (imms.least) a_.emit(X::kIdVpaddd, m.t2, m.lo, c32(static_cast<uint32_t>(imms.least)));
    branch_if_any(m, imms.least ? m.t2 : m.lo, m.t, cmp_nle, unknown);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
}

// Loads from the LDS whose addresses are made of what was loaded: tables and the like. Lanes that
// had no pattern for one chunk are not looked at for the others, and in the next iterations.
void BlockCompiler::AccessCode::find_lds_tables() const {
    constexpr size_t most_tables = 32;
    c_.lds_tables_.clear();
    if (std::ranges::none_of(block_->insts, [](const ir::Inst& i) { return i.op == Op::LoadLds; }))
        return;
    const std::vector<bool> loaded = made_of_loads(*block_);
    for (Value v = 0; v < block_->insts.size() && c_.lds_tables_.size() < most_tables; ++v)
        if (const ir::Inst& i = inst(v); i.op == Op::LoadLds && loaded[ir::address_of(i)])
            c_.lds_tables_.emplace(v, static_cast<uint32_t>(c_.lds_tables_.size()));
}

void BlockCompiler::AccessCode::forget_lds_tables() const {
    if (c_.lds_tables_.empty()) return;
    c_.table_slot_ = c_.extra_slots_;
    for (size_t flags = 0; flags < c_.lds_tables_.size(); flags += 8)
        a_.mov(home_mem({Home::Slot, c_.extra_slots_++}).cloneResized(8), 0);
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

// Whether the last lanes that the access met had no pattern.
std::optional<Mem> BlockCompiler::AccessCode::lds_table(const LaneAccess& m) const {
    const auto table = c_.lds_tables_.find(m.v);
    if (table == c_.lds_tables_.end() || !m.dwords_only() || m.by_stub) return {};
    const uint32_t flag = table->second;
    return home_mem({Home::Slot, c_.table_slot_ + flag / 8}, static_cast<int32_t>(flag % 8))
        .cloneResized(1);
}

// The base of 64-bit offsets joins m.address.
void BlockCompiler::AccessCode::add_base(LaneAccess& m) const {
    if (!m.base_apart()) return;
    const Gp sum = x86::rcx;
    if (m.address == sum) {
        a_.add(sum, m.base);
    } else {  // shared
        a_.mov(sum, m.base);
        a_.add(sum, m.address);
        m.address = sum;
    }
    if (is_masked(m.mode)) emit_reach(a_, sum);
}

// The base that goes with offsets_index.
void BlockCompiler::AccessCode::offsets_base(const LaneAccess& m) const {
    if (m.space == lds_space) return;  // offsets are in range, so below 2 GiB
    a_.mov(x86::eax, sign_bit);
    a_.add(m.address, x86::rax);
}

// The lanes' signed 32-bit offsets from the base, in the register that is returned.
Vec BlockCompiler::AccessCode::offsets_index(const LaneAccess& m) const {
    if (m.space == lds_space) return m.lo;
    a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, m.t, m.lo, c32(sign_bit));
    return m.t;
}

void BlockCompiler::AccessCode::memory_patterns(LaneAccess& m) const {
    const bool rows = m.rows_ahead, own_rows = rows && inst(m.v).aux & ir::far_lanes;
    if (const AddressFacts* f = is_checked(m.mode) || own_rows ? nullptr : shared_facts(m)) {
        m.address = f->address;
        m.pattern = f->pattern;
        m.rows_only = f->rows_only;
        a_.test(m.pattern, m.pattern);
        a_.jnz(m.gather);
    } else {
        const bool any = gathers64(m);
        if ((any || rows) && (rows || !m.by_stub) && c_.scatter_sites_ < sizeof(Frame::scattered)) {
            m.site = static_cast<int32_t>(c_.scatter_sites_++);
            m.walks = c_.loop_.lean ? walking_direction(context(), m) : 0;
            m.in_rows = rows;
            if (rows && c_.loop_plan_.row_walks >> m.walk & 1)
                c_.loop_.row_sites.push_back(
                    {static_cast<uint32_t>(m.walk), static_cast<uint32_t>(m.site)});
            PrefetchCode(c_).find_next_index(m);
            a_.cmp(frame_field(offsetof(Frame, scattered) + m.site, 1), 0);
            a_.jne(m.scattered);
        }
        if (m.in_rows && !any) {
            const Label anew = a_.newLabel();
            a_.bind(anew);
            cold(m.scattered, [*this, m, anew] {
                GatherCode(c_).load_from_rows(m);
                a_.jmp(anew);
            });
        }
        if (const auto flag = lds_table(m)) {
            a_.cmp(*flag, 0);
            a_.jne(m.scattered);
            cold(m.scattered, [*this, m] {
                find_first_lane(m);
                lds_offsets(m, {m.imm, m.imm}, m.slow);
                GatherCode(c_).copy_pattern(m, offsets);
                a_.jmp(m.done);
            });
        }
        if (m.by_stub && !m.in_rows)
            find_pattern(m, m.imm, m.learned_from ? m.gather : m.slow, m.slow);
        else
            find_pattern(m, m.imm, m.gather, any ? m.gather_any : m.slow);
        if (m.learned_from) WalkCode(c_).learn(m, m.address, Imm(consecutive));
    }
    LaneAccess whole = m;
    add_base(whole);
    translate_whole(whole, chunk_lanes() * m.bytes);
    RowCode(c_).memory_consecutive(whole);
    cold_if_used(m.gather, [*this, m] { GatherCode(c_).memory_gather(m); });
    if (gathers64(m) && !m.by_stub) return;  // it takes any addresses
    cold_behind(m.slow, [*this, m] {
        if (m.space == flat_space) {
            const Label mixed = a_.newLabel();
            ScratchCode(c_).memory_aperture(m, mixed);
            a_.bind(mixed);
        }
        memory_slow(m);
        a_.jmp(m.done);
    });
}

}  // namespace wj::x64
