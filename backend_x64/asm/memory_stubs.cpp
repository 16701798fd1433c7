#include "backend_x64/asm/memory_stubs.h"

#include <mutex>
#include <vector>

#include "backend_x64/asm/lane_access.h"

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

// Whether the access leaves all but consecutive lanes to a stub.
bool BlockCompiler::has_memory_stub(const LaneAccess& m) const {
    if (options_.all_patterns || options_.checked || options_.mask_addresses ||
        !StubAccess::fits(m.imm - m.added))
        return false;
    return m.space == lds_space || (m.space == global_space && (gathers64(m) || !walks_in_rows(m)));
}

void BlockCompiler::call_memory_stub(const MemoryOp& op) {
    MemoryStub stub;
    stub.form = op.space == lds_space        ? MemoryStub::Form::Lds
                : op.flags & no_upper_halves ? MemoryStub::Form::Offsets
                                             : MemoryStub::Form::Wide;
    stub.access = static_cast<ir::Access>(op.access);
    stub.dwords = op.dwords;
    stub.store = op.store != 0;
    const auto number = static_cast<uint8_t>(stub.number());
    out_->memory_stubs |= uint64_t{1} << number;
    a_.mov(x86::eax, StubAccess{number, op.flags, static_cast<int32_t>(op.offset)}.bits());
    a_.mov(x86::rcx, frame_field(offsetof(Frame, memory_stubs), 8));
    a_.call(x86::qword_ptr(x86::rcx, static_cast<int32_t>(number * sizeof(MemoryStubs::entry[0]))));
}

// eax = StubAccess::bits(); lanes, addresses and data in the exchange area, as run_stub_access()
// takes them, which does what has no pattern here either. Keeps all registers but rax, rcx and rdx.
bool BlockCompiler::compile_memory_stub(uint32_t number, bool avx512, CompiledBlock& out) {
    const MemoryStub stub = MemoryStub::at(number);
    // No access shares its address with another one.
    ir::Block block;
    block.insts.push_back({.op = stub.store ? Op::StoreGlobal : Op::LoadGlobal});
    CompileOptions options;
    options.avx512 = avx512;
    if (!begin(block, options, out)) return false;
    divergent_.reset();
    looping_ = facts_cross_regions_ = false;
    near_ = false;

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

    auto saved = [](int i) { return frame_field(offsetof(Frame, saved_vectors) + i * 64); };
    auto mask_saved = [&](uint32_t i) {
        return frame_field(offsetof(Frame, saved_vectors) + 32 * 64 + i * 8);
    };
    auto restore = [&] {
        for (int i = 0; i < vectors; ++i) movu(vec(i), saved(i));
        if (avx512)
            for (uint32_t i : {1, 2}) a_.kmovw(x86::k(i), mask_saved(i));
    };
    const Label often = a_.newLabel();
    a_.sub(frame_field(offsetof(Frame, patience), 4), 1);
    a_.js(often);
    a_.mov(x86::rcx, x86::ptr(x86::rsp));
    a_.mov(frame_field(offsetof(Frame, running)), x86::rcx);
    a_.mov(frame_field(offsetof(Frame, stub_access)), x86::rax);
    a_.movsxd(x86::rcx, x86::eax);
    a_.sar(x86::rcx, 14);
    for (int i = 0; i < vectors; ++i) movu(saved(i), vec(i));
    if (avx512)
        for (uint32_t i : {1, 2}) a_.kmovw(mask_saved(i), x86::k(i));
    movu(m.lo, frame_field(offsetof(Frame, address_lo)));
    if (m.wide) movu(m.hi, frame_field(offsetof(Frame, address_hi)));
    if (m.space == lds_space) {
        a_.vmovd(m.t.xmm(), x86::ecx);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpaddd, m.lo, m.lo, m.t);
    } else {
        a_.xor_(x86::edx, x86::edx);
        a_.test(x86::al, no_base);
        a_.cmovz(x86::rdx, frame_field(offsetof(Frame, address_base), 8));
        a_.add(x86::rcx, x86::rdx);
        a_.mov(m.base, x86::rcx);
    }
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d)
            movu(m.data[d], frame_field(offsetof(Frame, data) + d * 64));
    m.done = a_.newLabel();
    m.slow = a_.newLabel();
    const Label some = a_.newLabel();
    a_.test(x86::al, all_lanes);
    a_.jz(some);
    LaneAccess all = m;
    all.full = true;
    memory_stub_body(all);
    a_.jmp(m.done);
    a_.bind(some);
    if (avx512) {
        a_.kmovw(m.mask_k, frame_field(offsetof(Frame, mask)));
    } else {
        a_.emit(X::kIdVpbroadcastd, m.mask_v, frame_field(offsetof(Frame, mask), 4));
        lanes_of_bits(m.mask_v);
    }
    memory_stub_body(m);
    a_.bind(m.done);
    if (!m.store)
        for (uint32_t d = 0; d < m.dwords; ++d)
            movu(frame_field(offsetof(Frame, data) + d * 64), m.data[d]);
    restore();
    a_.mov(frame_field(offsetof(Frame, running), 8), 0);
    a_.ret();
    a_.bind(m.slow);
    restore();
    a_.mov(x86::rax, frame_field(offsetof(Frame, stub_access)));
    a_.bind(often);
    a_.jmp(frame_field(offsetof(Frame, any_access_stub), 8));
    const bool ok = end();
    near_ = true;
    return ok;
}

// Ends at m.done, where it falls through to, or at m.slow before anything was touched.
void BlockCompiler::memory_stub_body(LaneAccess m) {
    m.gather = a_.newLabel();
    m.gather_any = a_.newLabel();
    m.scattered = a_.newLabel();
    find_pattern(m, 0, m.gather, gathers64(m) ? m.gather_any : m.slow);
    LaneAccess whole = m;
    add_base(whole);
    memory_consecutive(whole);
    cold(m.gather, [this, m] { memory_gather(m); });
}

}  // namespace wj::x64
