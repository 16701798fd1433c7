// Loads and stores of lanes. The common patterns are tested at run time and done inline:
// consecutive lanes (vector load or store, transposed for multi-dword elements), one address for
// all lanes (broadcast), and 32-bit offsets from one base (gather, scatter). Whatever is left goes
// out of line, lane by lane.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

Mem frame_field(size_t offset, uint32_t size = 0) {
    return x86::ptr(reg::frame, static_cast<int32_t>(offset), size);
}
Mem wave_field(size_t offset, uint32_t size) {
    return x86::ptr(reg::wave, static_cast<int32_t>(offset), size);
}

uint8_t space_of(Op op) {
    switch (op) {
        case Op::LoadFlat:
        case Op::StoreFlat:
            return flat_space;
        case Op::LoadLds:
        case Op::StoreLds:
            return lds_space;
        case Op::LoadScratch:
        case Op::StoreScratch:
            return scratch_space;
        default:
            return global_space;
    }
}

uint32_t element_bytes(Access access, uint32_t dwords) {
    switch (access) {
        case Access::U8:
        case Access::S8:
        case Access::U8D16Hi:
            return 1;
        case Access::U16:
        case Access::S16:
        case Access::U16D16Hi:
            return 2;
        default:
            return dwords * 4;
    }
}

// LDS: the constant that is added modulo 2^32 (upper half) and the offset (lower half).
int64_t immediate(const ir::Inst& i) {
    if (space_of(i.op) != lds_space) return static_cast<int64_t>(i.imm);
    return static_cast<int64_t>((i.imm & 0xffffffff) + (i.imm >> 32));
}

constexpr uint32_t sign_bit = 0x80000000;
constexpr uint32_t cmp_ne = 4, cmp_nle = 6;  // vpcmpd predicates

}  // namespace

// Everything that both the inline paths and the cold ones need; registers stay put until the end.
struct BlockCompiler::LaneAccess {
    Value v = 0;
    bool store = false, full = false, wide = false, scalar_base = false;
    uint8_t space = 0;
    Access access = Access::Dwords;
    uint32_t dwords = 1, bytes = 4;
    int64_t imm = 0;        // all of it
    uint32_t added = 0;     // LDS: the part that wraps
    Vec lo, hi;             // addresses; hi only when wide
    Mem base;               // scalar_base
    KReg mask_k;            // AVX-512 and not full
    Vec mask_v;             // AVX2 and not full
    Vec data[4];            // stored, or loaded
    Vec t, t2, z[4];        // temporaries
    Gp address = x86::rcx;  // host address of lane 0, without the immediate
    Gp pattern;             // AddressFacts::pattern, when the address is shared
    KReg tk;
    Label slow, gather, done;
};

void BlockCompiler::lane_memory(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    LaneAccess m;
    m.v = v;
    m.store = ir::op_info(i.op).cls == ir::Class::LaneStore;
    m.scalar_base = i.op == Op::LoadGlobalS || i.op == Op::StoreGlobalS;
    m.space = space_of(i.op);
    m.access = ir::aux_access(i.aux);
    m.dwords = std::max(1u, ir::aux_dwords(i.aux));
    m.bytes = element_bytes(m.access, m.dwords);
    m.added = m.space == lds_space ? static_cast<uint32_t>(i.imm >> 32) : 0;
    m.imm = immediate(i);
    const Value addr = m.scalar_base ? a[1] : a[0], mask = m.scalar_base ? a[2] : a[1];
    m.full = schedule_.is_full(mask);
    m.wide = block_->type(addr) == ir::Type::V64;
    m.slow = a_.newLabel();
    m.gather = a_.newLabel();
    m.done = a_.newLabel();

    // Registers are taken before the first branch: taking one may spill another.
    const bool uniform_scratch = m.space == scratch_space && inst(addr).op == Op::Splat32;
    const bool broadcast = !m.store && m.access == Access::Dwords &&
                           (inst(addr).op == Op::Splat32 || inst(addr).op == Op::Splat64) &&
                           (m.space == lds_space ? m.imm >= 0 && m.imm <= 0x10000
                                                 : m.space == global_space && !options_.checked &&
                                                       m.imm == static_cast<int32_t>(m.imm));
    if (broadcast) {
        // No vector of addresses.
    } else if (!m.wide) {
        m.lo = use(addr);
    } else if (schedule_.split(addr)) {
        m.lo = use(inst(addr).args[0]);
        m.hi = use(inst(addr).args[1]);
    } else {
        const Vec x = use(addr, 0), y = use(addr, 1);
        m.lo = tmp();
        m.hi = tmp();
        join64(m.lo, x, y, false);
        join64(m.hi, x, y, true);
    }
    if (m.scalar_base) m.base = home_mem(schedule_.uniform_home(a[0]));
    if (!m.full) {
        if (avx512_)
            m.mask_k = use_k(mask);
        else
            m.mask_v = use(mask);
    }
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d) m.data[d] = use(a[4 + d]);
    m.t = tmp();
    const bool transposed =
        m.full && m.access == Access::Dwords && (m.dwords == 2 || m.dwords == 4);
    for (uint32_t d = 0; d < (transposed ? m.dwords : 1); ++d) m.z[d] = tmp();
    if (avx512_) m.tk = tmp_k();
    if (avx512_ && m.store && transposed) m.t2 = tmp();
    if (!m.store) {
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const Unit u = schedule_.unit(v, d);
            m.data[d] = dead(u) ? tmp() : def(u);
        }
    }

    // A chunk without active lanes touches nothing; the tests below would take lane 0's leftovers
    // for an address.
    if (!m.full) {
        if (avx512_)
            a_.kortestw(m.mask_k, m.mask_k);
        else
            a_.emit(X::kIdVptest, m.mask_v, m.mask_v);
        a_.jz(m.done);
    }
    if (broadcast) {
        memory_broadcast(m, inst(addr).args[0]);
    } else if (uniform_scratch) {
        memory_scratch_row(m, schedule_.uniform_home(inst(addr).args[0]), inst(addr).args[0]);
    } else if (m.space == scratch_space || (options_.checked && m.space != lds_space)) {
        memory_slow(m);
        a_.bind(m.slow);
        a_.bind(m.gather);
    } else {
        memory_patterns(m);
    }
    a_.bind(m.done);
    if (m.store) return;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Unit u = schedule_.unit(v, d);
        if (!dead(u)) define_done(u);
    }
}

// Jumps to `label` when the compare of x with y (a vpcmpd predicate, or its unsigned form) holds in
// any active lane. AVX2 knows equality and unsigned "greater" (through the minimum).
void BlockCompiler::branch_if_any(const LaneAccess& m, const Vec& x, const Operand& y,
                                  uint32_t predicate, Label label) {
    if (avx512_) {
        if (!m.full) k(m.mask_k);
        a_.emit(predicate == cmp_ne ? X::kIdVpcmpd : X::kIdVpcmpud, m.tk, x, y, Imm(predicate));
        a_.kortestw(m.tk, m.tk);
        a_.jnz(label);
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
        a_.jnz(label);
    } else {
        a_.vmovmskps(x86::eax, r.ymm());
        a_.cmp(x86::al, 0xff);
        a_.jne(label);
    }
}

// What the accesses of a region that share an address know about it: found once, kept in two
// registers.
// strided: dwords 16 bytes apart in LDS, as a work-item's row of a tile of four-dword elements.
enum Pattern : uint32_t { consecutive = 0, same = 1, strided = 2, offsets = 3, arbitrary = 4 };
constexpr uint32_t stride_bytes = 16;

BlockCompiler::AddressFacts* BlockCompiler::shared_facts(LaneAccess& m) {
    if (facts_position_ != position_) facts_.clear();
    facts_position_ = position_;
    auto matches = [&](Value v) {
        const ir::Inst &x = inst(v), &y = inst(m.v);
        const ir::Class cls = ir::op_info(x.op).cls;
        if (cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) return false;
        const bool scalar_base = x.op == Op::LoadGlobalS || x.op == Op::StoreGlobalS;
        if (scalar_base != m.scalar_base || space_of(x.op) != m.space || x.args[0] != y.args[0] ||
            x.args[1] != y.args[1])
            return false;
        if (scalar_base && x.args[2] != y.args[2]) return false;
        return element_bytes(ir::aux_access(x.aux), std::max(1u, ir::aux_dwords(x.aux))) == m.bytes;
    };
    for (AddressFacts& f : facts_)
        if (matches(f.v) && m.imm <= f.max_imm) return &f;
    const Value* const end = schedule_.end(position_);
    uint32_t users = 0;
    int64_t max_imm = m.imm;
    for (const Value* v = schedule_.begin(position_) + at_; v != end; ++v) {
        if (!matches(*v)) continue;
        const int64_t imm = immediate(inst(*v));
        if (m.space == lds_space && (imm < 0 || imm > 0x10000)) continue;
        ++users;
        max_imm = std::max(max_imm, imm);
    }
    static const Gp registers[][2] = {
        {x86::rsi, x86::rdi}, {x86::r8, x86::r9}, {x86::r10, x86::r11}};
    if (users < 2) return nullptr;
    if (facts_.size() == facts_limit_) facts_.erase(facts_.begin());  // the oldest
    const Gp(*pair)[2] = registers;
    while (std::any_of(facts_.begin(), facts_.end(),
                       [&](const AddressFacts& f) { return f.address == (*pair)[0]; }))
        ++pair;
    facts_.push_back({m.v, max_imm, (*pair)[0], (*pair)[1].r32()});
    AddressFacts& f = facts_.back();

    const Label found = a_.newLabel(), uneven = a_.newLabel(), unknown = a_.newLabel();
    m.address = f.address;
    find_pattern(m, max_imm, uneven, unknown);
    a_.xor_(f.pattern, f.pattern);
    a_.bind(found);
    cold(uneven, [this, m, f, found, unknown] {
        const Label differ = a_.newLabel();
        check_uneven(m, f.max_imm, unknown);
        branch_if_lanes_differ(m, differ);
        a_.mov(f.pattern, same);
        a_.jmp(found);
        a_.bind(differ);
        if (may_be_strided(m)) {
            const Label irregular = a_.newLabel();
            branch_unless_strided(m, irregular);
            a_.mov(f.pattern, strided);
            a_.jmp(found);
            a_.bind(irregular);
        }
        offsets_base(m);
        a_.mov(f.pattern, offsets);
        a_.jmp(found);
    });
    cold(unknown, [this, f, found] {
        a_.mov(f.pattern, arbitrary);
        a_.jmp(found);
    });
    return &f;
}

// Falls through with m.address = address of lane 0 when the active lanes are consecutive; otherwise
// jumps to `uneven` with m.t = distance of each lane from lane 0, or to `unknown`.
void BlockCompiler::find_pattern(const LaneAccess& m, int64_t max_imm, Label uneven,
                                 Label unknown) {
    const Gp& address = m.address;
    const Mem steps = index_table({0}, 16, m.bytes);
    if (m.space == lds_space) {
        distances(m);
        branch_if_any(m, m.t, steps, cmp_ne, uneven);
        // Consecutive lanes: the first one decides about the range.
        a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
        a_.sub(x86::edx,
               static_cast<int32_t>(max_imm) + static_cast<int32_t>(chunk_lanes() * m.bytes));
        a_.jb(unknown);
        a_.vmovd(x86::eax, m.lo.xmm());
        a_.cmp(x86::eax, x86::edx);
        a_.ja(unknown);
        a_.mov(address, wave_field(offsetof(Wave, lds), 8));
        a_.add(address, x86::rax);
        return;
    }
    if (m.wide) {
        a_.emit(X::kIdVpbroadcastd, m.t, m.hi.xmm());
        branch_if_any(m, m.hi, m.t, cmp_ne, unknown);
        a_.vmovd(address.r32(), m.hi.xmm());
        if (m.space == flat_space)
            for (uint64_t aperture : {machine::shared_aperture, machine::private_aperture}) {
                a_.cmp(address.r32(), static_cast<uint32_t>(aperture >> 32));
                a_.je(unknown);
            }
        a_.shl(address, 32);
    } else {
        a_.mov(address, m.base);
    }
    a_.vmovd(x86::eax, m.lo.xmm());
    // No lane may wrap around 4 GiB.
    a_.cmp(x86::eax, -static_cast<int32_t>(chunk_lanes() * m.bytes));
    a_.ja(unknown);
    a_.add(address, x86::rax);
    if (options_.mask_addresses) {
        a_.mov(x86::rdx, wave_field(offsetof(Wave, ctx), 8));
        a_.and_(address, x86::qword_ptr(x86::rdx, offsetof(machine::ExecContext, address_mask)));
    }
    distances(m);
    branch_if_any(m, m.t, steps, cmp_ne, uneven);
}

// m.t = distance of each lane's address from lane 0's.
void BlockCompiler::distances(const LaneAccess& m) {
    a_.emit(X::kIdVpbroadcastd, m.t, m.lo.xmm());
    a_.emit(X::kIdVpsubd, m.t, m.lo, m.t);
}

// Lanes without a pattern: jumps away unless every active lane lies below lds_size - bytes - imm.
// Then m.address and m.t are as find_pattern leaves them.
void BlockCompiler::check_uneven(const LaneAccess& m, int64_t max_imm, Label unknown) {
    if (m.space != lds_space) return;
    a_.mov(x86::eax, wave_field(offsetof(Wave, lds_size), 4));
    a_.sub(x86::eax, static_cast<int32_t>(max_imm) + static_cast<int32_t>(m.bytes));
    a_.jb(unknown);
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    branch_if_any(m, m.lo, m.t, cmp_nle, unknown);
    a_.vmovd(x86::eax, m.lo.xmm());
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    distances(m);
}

// AVX2 tests whole registers: lanes that are off must not count. m.t holds the distances from lane
// 0.
void BlockCompiler::branch_if_lanes_differ(const LaneAccess& m, Label differ) {
    if (avx512_) {
        if (!m.full) k(m.mask_k);
        a_.emit(X::kIdVptestmd, m.tk, m.t, m.t);
        a_.kortestw(m.tk, m.tk);
    } else {
        a_.emit(X::kIdVptest, m.full ? m.t : m.mask_v, m.t);
    }
    a_.jnz(differ);
}

bool BlockCompiler::may_be_strided(const LaneAccess& m) {
    return m.space == lds_space && m.bytes == 4 && m.access == Access::Dwords && m.full;
}

// m.t holds the distances from lane 0.
void BlockCompiler::branch_unless_strided(const LaneAccess& m, Label irregular) {
    branch_if_any(m, m.t, index_table({0}, 16, stride_bytes), cmp_ne, irregular);
}

// m.address: from lane 0 to the base of the offsets that gathers use.
void BlockCompiler::offsets_base(const LaneAccess& m) {
    if (m.space == lds_space) {
        a_.mov(m.address,
               wave_field(offsetof(Wave, lds), 8));  // offsets are in range, so below 2 GiB
        return;
    }
    // The start of the 4 GiB that all lanes share; offsets are biased to be signed.
    a_.vmovd(x86::eax, m.lo.xmm());
    a_.sub(m.address, x86::rax);
    a_.mov(x86::eax, sign_bit);
    a_.add(m.address, x86::rax);
}

void BlockCompiler::memory_patterns(LaneAccess& m) {
    if (m.space == lds_space && (m.imm < 0 || m.imm > 0x10000)) {
        memory_slow(m);
        a_.bind(m.slow);
        a_.bind(m.gather);
        return;
    }
    if (const AddressFacts* f = shared_facts(m)) {
        m.address = f->address;
        m.pattern = f->pattern;
        a_.test(m.pattern, m.pattern);
        a_.jnz(m.gather);
    } else {
        find_pattern(m, m.imm, m.gather, m.slow);
    }
    memory_consecutive(m);
    cold(m.gather, [this, m] { memory_gather(m); });
    cold(m.slow, [this, m] {
        memory_slow(m);
        a_.jmp(m.done);
    });
}

// A load from an address that is known to be the same in all lanes.
void BlockCompiler::memory_broadcast(LaneAccess m, Value uniform) {
    const Home& home = schedule_.uniform_home(uniform);
    const Gp address = gp(0, wide(uniform));
    if (is_const(uniform))
        a_.mov(address,
               wide(uniform) ? inst(uniform).imm : static_cast<uint32_t>(inst(uniform).imm));
    else
        a_.mov(address, home_mem(home));
    if (m.space == lds_space) {
        a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
        a_.sub(x86::edx, static_cast<int32_t>(m.imm) + static_cast<int32_t>(m.bytes));
        a_.jb(m.slow);
        a_.cmp(x86::eax, x86::edx);  // in range without wrapping

        a_.ja(m.slow);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
        m.lo = m.z[0];
        cold(m.slow, [this, m, uniform, home] {
            // Out of range for all lanes; the general path knows what that means.
            a_.emit(X::kIdVbroadcastss, m.lo,
                    is_const(uniform) ? pool32(static_cast<uint32_t>(inst(uniform).imm))
                                      : home_mem(home));
            memory_slow(m);
            a_.jmp(m.done);
        });
    } else {
        a_.bind(m.slow);
        if (m.scalar_base) a_.add(x86::rax, m.base);
        if (options_.mask_addresses) {
            if (m.imm) a_.add(x86::rax, static_cast<int32_t>(m.imm));
            a_.mov(x86::rdx, wave_field(offsetof(Wave, ctx), 8));
            a_.and_(x86::rax,
                    x86::qword_ptr(x86::rdx, offsetof(machine::ExecContext, address_mask)));
            m.imm = 0;
        }
    }
    a_.bind(m.gather);
    for (uint32_t d = 0; d < m.dwords; ++d)
        a_.emit(
            X::kIdVbroadcastss, m.data[d],
            x86::dword_ptr(x86::rax, static_cast<int32_t>(m.imm) + static_cast<int32_t>(d * 4)));
}

// A private byte address that is the same in all lanes is a row of the scratch arena.
void BlockCompiler::memory_scratch_row(const LaneAccess& m, const Home& home, Value uniform) {
    if (m.access != Access::Dwords) {
        memory_slow(m);
        a_.bind(m.slow);
        a_.bind(m.gather);
        return;
    }
    if (is_const(uniform))
        a_.mov(x86::eax, static_cast<uint32_t>(inst(uniform).imm));
    else
        a_.mov(x86::eax, home_mem(home));
    a_.add(x86::rax, static_cast<int32_t>(m.imm));
    a_.mov(x86::edx, wave_field(offsetof(Wave, scratch_bytes), 4));
    a_.sub(x86::rdx, static_cast<int32_t>(m.bytes));
    a_.js(m.slow);
    a_.cmp(x86::rax, x86::rdx);
    a_.ja(m.slow);
    a_.test(x86::al, 3);
    a_.jnz(m.slow);
    a_.shl(x86::rax, 6);
    a_.add(x86::rax, wave_field(offsetof(Wave, scratch), 8));
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Mem row = x86::ptr(x86::rax, reg::chunk, 0, static_cast<int32_t>(256 + d * 256));
        if (m.store)
            masked_store(m, row, m.data[d]);
        else
            movu(m.data[d], row);  // inactive lanes exist as well
    }
    a_.bind(m.gather);
    cold(m.slow, [this, m] {
        memory_slow(m);
        a_.jmp(m.done);
    });
}

void BlockCompiler::masked_store(const LaneAccess& m, const Mem& to, const Vec& data) {
    if (m.full) {
        movu(to, data);
    } else if (avx512_) {
        k(m.mask_k);
        movu(to, data);
    } else {
        a_.emit(X::kIdVmaskmovps, to, m.mask_v, data);
    }
}

void BlockCompiler::masked_load(const LaneAccess& m, const Vec& data, const Mem& from) {
    if (m.full) {
        movu(data, from);
    } else if (avx512_) {
        k(m.mask_k, true);
        movu(data, from);
    } else {
        a_.emit(X::kIdVmaskmovps, data, m.mask_v, from);
    }
}

void BlockCompiler::memory_consecutive(const LaneAccess& m) {
    const auto imm = static_cast<int32_t>(m.imm);
    auto at = [&](uint32_t part) {
        return x86::ptr(m.address, imm + static_cast<int32_t>(part * width()));
    };
    if (m.access != Access::Dwords) {
        if (!avx512_ && (m.store || !m.full)) {
            a_.jmp(m.slow);
            return;
        }
        if (!m.store) {
            static constexpr InstId loads[] = {X::kIdVpmovzxbd, X::kIdVpmovsxbd, X::kIdVpmovzxwd,
                                               X::kIdVpmovsxwd};
            if (!m.full) k(m.mask_k, true);
            a_.emit(loads[static_cast<int>(m.access)], m.data[0], at(0));
            return;
        }
        Vec data = m.data[0];
        if (m.access == Access::U8D16Hi || m.access == Access::U16D16Hi) {
            a_.emit(X::kIdVpsrld, m.t, data, Imm(16));
            data = m.t;
        }
        if (!m.full) k(m.mask_k);
        a_.emit(m.bytes == 1 ? X::kIdVpmovdb : X::kIdVpmovdw, at(0), data);
        return;
    }
    if (m.dwords == 1) {
        if (m.store)
            masked_store(m, at(0), m.data[0]);
        else
            masked_load(m, m.data[0], at(0));
        return;
    }
    if (!m.full || m.dwords == 3) {
        if (m.store)
            a_.jmp(m.slow);
        else
            a_.jmp(m.gather);
        return;
    }
    if (m.store) {
        if (avx512_)
            interleave_avx512(m);
        else
            interleave_avx2(m);
        for (uint32_t d = 0; d < m.dwords; ++d) movu(at(d), m.z[d]);
        return;
    }
    for (uint32_t d = 0; d < m.dwords; ++d) movu(m.z[d], at(d));
    if (avx512_)
        deinterleave_avx512(m);
    else
        deinterleave_avx2(m);
}

// ---- elements of several dwords: array of structures <-> one register per dword
// ---------------------

// A 64-byte constant, once per block.
Mem BlockCompiler::pool_table(const void* bytes) {
    const std::string key(static_cast<const char*>(bytes), 64);
    auto [it, added] = tables_.try_emplace(key, 0);
    if (added) it->second = pool_bytes(bytes, 64, 8);
    return x86::ptr(pool_label_, static_cast<int32_t>(it->second));
}

Mem BlockCompiler::index_table(std::initializer_list<uint32_t> start, uint32_t run, uint32_t step) {
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; ++i) table[i] = start.begin()[i / run] + i % run * step;
    return pool_table(table);
}

// z[] holds memory order. data[d] = dword d of each lane.
void BlockCompiler::deinterleave_avx512(const LaneAccess& m) {
    if (m.dwords == 2) {
        for (uint32_t d = 0; d < 2; ++d) {
            movu(m.data[d], index_table({d}, 16, 2));
            a_.emit(X::kIdVpermi2d, m.data[d], m.z[0], m.z[1]);
        }
        return;
    }
    // data[0] = x and y of lanes 0..7, data[1] = z and w; data[2], data[3] the same of lanes 8..15.
    for (uint32_t d = 0; d < 4; ++d) {
        movu(m.data[d], index_table({d % 2 * 2, d % 2 * 2 + 1}, 8, 4));
        a_.emit(X::kIdVpermi2d, m.data[d], m.z[d / 2 * 2], m.z[d / 2 * 2 + 1]);
    }
    a_.emit(X::kIdVshuff64x2, m.z[0], m.data[0], m.data[2], Imm(0x44));
    a_.emit(X::kIdVshuff64x2, m.z[1], m.data[0], m.data[2], Imm(0xee));
    a_.emit(X::kIdVshuff64x2, m.z[2], m.data[1], m.data[3], Imm(0x44));
    a_.emit(X::kIdVshuff64x2, m.data[3], m.data[1], m.data[3], Imm(0xee));
    for (uint32_t d = 0; d < 3; ++d) movu(m.data[d], m.z[d]);
}

void BlockCompiler::interleave_avx512(const LaneAccess& m) {
    auto pairs = [&](const Vec& to, const Vec& x, const Vec& y,
                     uint32_t first) {  // x[first], y[first], x[first+1], ...
        uint32_t table[16];
        for (uint32_t i = 0; i < 16; ++i) table[i] = first + i / 2 + (i & 1 ? 16 : 0);
        movu(to, pool_table(table));
        a_.emit(X::kIdVpermi2d, to, x, y);
    };
    if (m.dwords == 2) {
        pairs(m.z[0], m.data[0], m.data[1], 0);
        pairs(m.z[1], m.data[0], m.data[1], 8);
        return;
    }
    pairs(m.z[0], m.data[0], m.data[1], 0);  // xy of lanes 0..7
    pairs(m.z[1], m.data[2], m.data[3], 0);  // zw
    pairs(m.z[2], m.data[0], m.data[1], 8);
    pairs(m.z[3], m.data[2], m.data[3], 8);
    auto join = [&](const Vec& to, const Vec& xy, const Vec& zw, uint64_t first) {
        uint64_t table[8];
        for (uint64_t i = 0; i < 8; ++i) table[i] = first + i / 2 + (i & 1 ? 8 : 0);
        movu(to, pool_table(table));
        a_.emit(X::kIdVpermi2q, to, xy, zw);
    };
    for (uint32_t half = 0; half < 4; half += 2) {
        join(m.t, m.z[half], m.z[half + 1], 0);
        join(m.t2, m.z[half], m.z[half + 1], 4);
        movu(m.z[half], m.t);
        movu(m.z[half + 1], m.t2);
    }
}

void BlockCompiler::deinterleave_avx2(const LaneAccess& m) {
    if (m.dwords == 2) {
        for (uint32_t d = 0; d < 2; ++d) {
            a_.emit(X::kIdVshufps, m.data[d], m.z[0], m.z[1], Imm(d ? 0xdd : 0x88));
            a_.emit(X::kIdVpermq, m.data[d], m.data[d], Imm(0xd8));
        }
        return;
    }
    const Vec *z = m.z, *d = m.data;
    a_.emit(X::kIdVperm2f128, d[0], z[0], z[2], Imm(0x20));  // lanes 0 | 4
    a_.emit(X::kIdVperm2f128, d[1], z[0], z[2], Imm(0x31));  // 1 | 5
    a_.emit(X::kIdVperm2f128, d[2], z[1], z[3], Imm(0x20));  // 2 | 6
    a_.emit(X::kIdVperm2f128, d[3], z[1], z[3], Imm(0x31));  // 3 | 7
    a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);              // x0 x1 y0 y1
    a_.emit(X::kIdVunpckhps, z[1], d[0], d[1]);              // z0 z1 w0 w1
    a_.emit(X::kIdVunpcklps, z[2], d[2], d[3]);
    a_.emit(X::kIdVunpckhps, z[3], d[2], d[3]);
    a_.emit(X::kIdVunpcklpd, d[0], z[0], z[2]);
    a_.emit(X::kIdVunpckhpd, d[1], z[0], z[2]);
    a_.emit(X::kIdVunpcklpd, d[2], z[1], z[3]);
    a_.emit(X::kIdVunpckhpd, d[3], z[1], z[3]);
}

void BlockCompiler::interleave_avx2(const LaneAccess& m) {
    const Vec *z = m.z, *d = m.data;
    if (m.dwords == 2) {
        a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // lanes 0 1 | 4 5
        a_.emit(X::kIdVunpckhps, m.t, d[0], d[1]);   // 2 3 | 6 7
        a_.emit(X::kIdVperm2f128, z[1], z[0], m.t, Imm(0x31));
        a_.emit(X::kIdVperm2f128, z[0], z[0], m.t, Imm(0x20));
        return;
    }
    a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // x0 y0 x1 y1 | lanes 4, 5
    a_.emit(X::kIdVunpcklps, z[1], d[2], d[3]);  // z0 w0 z1 w1
    a_.emit(X::kIdVunpckhps, z[2], d[0], d[1]);  // x2 y2 x3 y3
    a_.emit(X::kIdVunpckhps, z[3], d[2], d[3]);
    for (uint32_t half = 0; half < 4; half += 2) {
        a_.emit(X::kIdVunpckhpd, m.t, z[half], z[half + 1]);      // lane 1 | 5 (or 3 | 7)
        a_.emit(X::kIdVunpcklpd, z[half], z[half], z[half + 1]);  // lane 0 | 4 (or 2 | 6)
        a_.emit(X::kIdVperm2f128, z[half + 1], z[half], m.t, Imm(0x31));
        a_.emit(X::kIdVperm2f128, z[half], z[half], m.t, Imm(0x20));
    }
    // Now z[0] = lanes 0 1, z[1] = 4 5, z[2] = 2 3, z[3] = 6 7.
    movu(m.t, z[1]);
    movu(z[1], z[2]);
    movu(z[2], m.t);
}

// ---- one base and 32-bit offsets
// -----------------------------------------------------------------------

void BlockCompiler::memory_gather(const LaneAccess& m) {
    const auto imm = static_cast<int32_t>(m.imm);
    const bool shared = m.pattern.isValid();
    if (m.access != Access::Dwords || (m.store && (!avx512_ || m.dwords > 1))) {
        a_.jmp(m.slow);
        return;
    }
    auto broadcast = [&] {
        for (uint32_t d = 0; d < m.dwords; ++d)
            a_.emit(X::kIdVbroadcastss, m.data[d],
                    x86::dword_ptr(m.address, imm + static_cast<int32_t>(d * 4)));
        a_.jmp(m.done);
    };
    const Label differ = a_.newLabel();
    if (shared) {
        a_.cmp(m.pattern, same);
        a_.ja(differ);
        if (!m.store) {
            const Label steps = a_.newLabel();
            a_.jb(steps);
            broadcast();
            a_.bind(steps);
        }
        distances(m);
        gather_dwords(m, m.t);
        a_.bind(differ);
        if (may_be_strided(m)) {
            const Label irregular = a_.newLabel();
            a_.cmp(m.pattern, strided);
            a_.jne(irregular);
            if (m.store) {
                distances(m);
                gather_dwords(m, m.t);
            } else {
                load_strided(m);
            }
            a_.bind(irregular);
        }
        a_.cmp(m.pattern, offsets);
        a_.jne(m.slow);
    } else {
        check_uneven(m, m.imm, m.slow);
        if (!m.store) {
            branch_if_lanes_differ(m, differ);
            broadcast();
        }
        a_.bind(differ);
        if (may_be_strided(m) && !m.store) {
            const Label irregular = a_.newLabel();
            branch_unless_strided(m, irregular);
            load_strided(m);
            a_.bind(irregular);
        }
        offsets_base(m);
    }
    if (m.space == lds_space) {
        gather_dwords(m, m.lo);
        return;
    }
    a_.mov(x86::eax, sign_bit);
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    a_.emit(avx512_ ? X::kIdVpxord : X::kIdVpxor, m.t, m.t, m.lo);
    gather_dwords(m, m.t);
}

// Whole vectors, then one dword out of four.
void BlockCompiler::load_strided(const LaneAccess& m) {
    auto at = [&](uint32_t part) {
        return x86::ptr(m.address, static_cast<int32_t>(m.imm + part * width()));
    };
    const Vec &d = m.data[0], &z = m.z[0];
    if (avx512_) {
        // The last vector ends with the last lane's dword.
        movu(z, at(0));
        movu(d, index_table({0, 16, 0, 16}, 4, 4));
        a_.emit(X::kIdVpermi2d, d, z, at(1));
        movu(z, at(2));
        movu(m.t, index_table({0, 19, 0, 19}, 4, 4));
        a_.emit(X::kIdVpermi2d, m.t, z, at(3).cloneAdjusted(-12));
        a_.emit(X::kIdVinserti64x4, d, d, half(m.t), Imm(1));
    } else {
        static constexpr uint32_t order[16] = {0, 4, 1, 5, 2, 6, 3, 7};
        movu(z, at(0));
        a_.emit(X::kIdVunpcklps, z, z, at(1));  // lanes 0 2 | 1 3
        movu(m.t, at(2));
        static constexpr uint32_t five[16] = {~0u, ~0u, ~0u, ~0u, ~0u};
        movu(d, pool_table(five));
        a_.emit(X::kIdVmaskmovps, d, d, at(3));
        a_.emit(X::kIdVunpcklps, m.t, m.t, d);  // 4 6 | 5 7
        a_.emit(X::kIdVunpcklpd, z, z, m.t);
        movu(d, pool_table(order));
        a_.emit(X::kIdVpermd, d, d, z);
    }
    a_.jmp(m.done);
}

void BlockCompiler::gather_dwords(const LaneAccess& m, const Vec& index) {
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Mem at = x86::ptr(m.address, index, 0,
                                static_cast<int32_t>(m.imm) + static_cast<int32_t>(d * 4));
        if (avx512_) {
            if (m.full)
                a_.kxnorw(m.tk, m.tk, m.tk);
            else
                a_.kmovw(m.tk, m.mask_k);
            k(m.tk);
            if (m.store)
                a_.emit(X::kIdVpscatterdd, at, m.data[d]);
            else
                a_.emit(X::kIdVpgatherdd, m.data[d], at);
        } else {
            if (m.full)
                a_.emit(X::kIdVpcmpeqd, m.z[0], m.z[0], m.z[0]);
            else
                movu(m.z[0], m.mask_v);
            a_.emit(X::kIdVpgatherdd, m.data[d], at, m.z[0]);
        }
    }
    a_.jmp(m.done);
}

// ---- lane by lane
// ----------------------------------------------------------------------------------------

void BlockCompiler::memory_slow(const LaneAccess& m) {
    MemoryOp op;
    op.pc = block_->guest_pcs[inst(m.v).guest];
    op.offset = m.imm - m.added;
    op.space = m.space;
    op.access = static_cast<uint8_t>(m.access);
    op.dwords = static_cast<uint8_t>(m.dwords);
    op.store = m.store;
    op.lanes = static_cast<uint8_t>(chunk_lanes());
    if (m.added) {
        a_.mov(x86::eax, m.added);
        a_.vmovd(m.t.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpaddd, m.t, m.t, m.lo);
        movu(frame_field(offsetof(Frame, address_lo)), m.t);
    } else {
        movu(frame_field(offsetof(Frame, address_lo)), m.lo);
    }
    if (m.wide) {
        movu(frame_field(offsetof(Frame, address_hi)), m.hi);
        a_.mov(frame_field(offsetof(Frame, address_base), 8), 0);
    } else if (m.scalar_base) {
        a_.emit(avx512_ ? X::kIdVpxord : X::kIdVpxor, m.t, m.t, m.t);
        movu(frame_field(offsetof(Frame, address_hi)), m.t);
        a_.mov(x86::rax, m.base);
        a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
    }
    if (m.full) {
        a_.mov(frame_field(offsetof(Frame, mask), 4), avx512_ ? 0xffff : 0xff);
    } else if (avx512_) {
        a_.kmovw(frame_field(offsetof(Frame, mask)), m.mask_k);
    } else {
        a_.vmovmskps(x86::eax, m.mask_v.ymm());
        a_.mov(frame_field(offsetof(Frame, mask)), x86::eax);
    }
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d)
            movu(frame_field(offsetof(Frame, data) + d * 64), m.data[d]);
    const uint32_t at = pool_bytes(&op, sizeof op, 8);
    a_.lea(x86::rax, x86::ptr(pool_label_, static_cast<int32_t>(at)));
    // The registers of shared addresses; an even number keeps the stack aligned.
    static const Gp kept[] = {x86::rsi, x86::rdi, x86::r8, x86::r9, x86::r10, x86::r11};
    for (const Gp& r : kept) a_.push(r);
    a_.call(frame_field(offsetof(Frame, memory_stub), 8));
    for (size_t r = std::size(kept); r-- > 0;) a_.pop(kept[r]);
    if (m.store) return;
    for (uint32_t d = 0; d < m.dwords; ++d)
        movu(m.data[d], frame_field(offsetof(Frame, data) + d * 64));
}

}  // namespace wj::x64
