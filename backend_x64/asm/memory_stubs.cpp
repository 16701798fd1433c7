#include "backend_x64/asm/memory_stubs.h"

#include <mutex>
#include <vector>

#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

static_assert([] {
    for (uint32_t n = 0; n < memory_stub_count; ++n) {
        const MemoryStub s = MemoryStub::at(n);
        if (s.number() != n) return false;
    }
    return true;
}());

std::span<const uint8_t> memory_stub(BlockCompiler& compiler, uint32_t number, bool avx512) {
    static std::mutex mutex;
    static std::vector<uint8_t> made[2][memory_stub_count];
    const std::lock_guard lock(mutex);
    std::vector<uint8_t>& code = made[avx512][number];
    CompiledBlock out;
    if (code.empty() && compiler.compile_memory_stub(number, avx512, out))
        code.assign(out.code, out.code + out.size);
    return code;
}

// rcx = base of global addresses
void BlockCompiler::AccessCode::call_memory_stub(const MemoryOp& op) const {
    MemoryStub stub;
    stub.form = op.space == lds_space        ? MemoryStub::Form::Lds
                : op.flags & no_upper_halves ? MemoryStub::Form::Offsets
                                             : MemoryStub::Form::Wide;
    stub.access = static_cast<ir::Access>(op.access);
    stub.dwords = op.dwords;
    stub.store = op.store != 0;
    const auto number = static_cast<uint8_t>(stub.number());
    c_.out_->memory_stubs |= uint64_t{1} << number;
    const StubAccess access{number, (op.flags & all_lanes) != 0, op.registers,
                            static_cast<int32_t>(op.offset)};
    c_.load_constant(x86::rax, access.bits());
    a_.call(frame_field(offsetof(Frame, access_stub), 8));
}

// rax = StubAccess::bits(), rcx = Frame::address_base. Leaves rsi, rdi and r8 to r15 alone.
bool BlockCompiler::compile_memory_stub(uint32_t number, bool avx512, CompiledBlock& out) {
    const MemoryStub stub = MemoryStub::at(number);
    // No access shares its address with another one.
    ir::Block block;
    block.insts.push_back({.op = stub.store ? Op::StoreGlobal : Op::LoadGlobal});
    CompileOptions options;
    options.avx512 = avx512;
    if (!begin(block, options, out)) return false;
    facts_cross_regions_ = false;
    attempt_.near = false;

    LaneAccess m;
    m.store = stub.store;
    m.access = stub.access;
    m.dwords = stub.dwords;
    m.bytes = ir::access_bytes(m.access, m.dwords);
    m.wide = stub.form == MemoryStub::Form::Wide;
    m.scalar_base = stub.form != MemoryStub::Form::Lds;
    m.space = stub.form == MemoryStub::Form::Lds ? lds_space : global_space;
    m.base = frame_field(offsetof(Frame, stub_base), 8);
    int vectors = 0;
    for (Vec* v : {&m.lo, &m.hi, &m.t, &m.t2, &m.first}) *v = vec(vectors++);
    for (Vec& v : m.z) v = vec(vectors++);
    for (uint32_t d = 0; d < m.dwords; ++d) m.data[d] = vec(vectors++);
    m.tk = x86::k1;
    m.mask_k = x86::k2;
    if (!avx512) m.mask_v = vec(vectors++);

    // What the access has in a register; rax holds the bits. Changes rdx.
    auto saved = [&](uint32_t at, uint32_t bits = StubAccess::register_mask) {
        a_.mov(x86::rdx, x86::rax);
        a_.shr(x86::rdx, at);
        a_.and_(x86::edx, bits);
        a_.shl(x86::edx, 6);
        return x86::ptr(reg::frame, x86::rdx, 0, in_frame(offsetof(Frame, saved_vectors)));
    };
    auto saved_mask = [&] {
        if (!avx512) return saved(StubAccess::mask_at, StubAccess::mask_mask);
        a_.mov(x86::edx, x86::eax);
        a_.shr(x86::edx, StubAccess::mask_at);
        return x86::ptr(reg::frame, x86::rdx, 3,
                        in_frame(offsetof(Frame, saved_vectors) + Frame::saved_masks));
    };
    movu(m.lo, saved(StubAccess::lo_at));
    if (m.wide) movu(m.hi, saved(StubAccess::hi_at));
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d) movu(m.data[d], saved(StubAccess::data_at[d]));
    a_.mov(x86::rdx, x86::rax);
    a_.sar(x86::rdx, StubAccess::offset_at);
    if (m.space == lds_space) {
        a_.vmovd(m.t.xmm(), x86::edx);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpaddd, m.lo, m.lo, m.t);
    } else {
        a_.add(x86::rcx, x86::rdx);
        a_.mov(m.base, x86::rcx);
    }
    m.done = a_.newLabel();
    m.slow = a_.newLabel();
    const Label some = a_.newLabel();
    a_.test(x86::eax, 1u << StubAccess::all_lanes_at);
    a_.jz(some);
    LaneAccess all = m;
    all.full = true;
    AccessCode(*this).memory_stub_body(all);
    a_.jmp(m.done);
    a_.bind(some);
    if (avx512)
        a_.kmovw(m.mask_k, saved_mask());
    else
        movu(m.mask_v, saved_mask());
    AccessCode(*this).memory_stub_body(m);
    a_.bind(m.done);
    if (!m.store) {
        a_.mov(x86::rax, frame_field(offsetof(Frame, stub_access)));
        for (uint32_t d = 0; d < m.dwords; ++d) movu(saved(StubAccess::data_at[d]), m.data[d]);
    }
    a_.clc();
    a_.ret();
    a_.bind(m.slow);
    a_.stc();
    a_.ret();
    const bool ok = end();
    attempt_.near = true;
    return ok;
}

// Ends at m.done, where it falls through to, or at m.slow before anything was touched.
void BlockCompiler::AccessCode::memory_stub_body(LaneAccess m) const {
    m.gather = a_.newLabel();
    m.gather_any = a_.newLabel();
    m.scattered = a_.newLabel();
    find_pattern(m, 0, m.gather, gathers64(m) ? m.gather_any : m.slow);
    LaneAccess whole = m;
    add_base(whole);
    RowCode(c_).memory_consecutive(whole);
    cold(m.gather, [*this, m] { GatherCode(c_).memory_gather(m); });
}

}  // namespace wj::x64
