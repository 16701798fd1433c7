#include "backend_x64/asm/row_stub.h"

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

namespace x86 = asmjit::x86;

size_t emit_row_stub(x86::Assembler& a, bool avx512) {
    const uint32_t width = avx512 ? 64 : 32;
    constexpr uint32_t used = 8;
    Vec vec[used];
    for (int i = 0; i < int{used}; ++i) vec[i] = avx512 ? Vec(x86::zmm(i)) : Vec(x86::ymm(i));
    auto saved = [](uint32_t i) { return frame_field(offsetof(Frame, saved_vectors) + i * 64); };
    auto host = [](uint32_t lane) {
        return frame_field(offsetof(Frame, lane_hosts) + lane * 8, 8);
    };
    const Label next = a.newLabel(), restore = a.newLabel();
    for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, saved(i), vec[i]);
    // Line by line, to where they are near each other: rows as long as a power of two fall into one
    // set of the cache, which would not hold a line for each lane until it is asked for again.
    constexpr int32_t ahead = 128;  // so many streams are not fetched by the host itself
    auto copy = [&](uint32_t lane) { return saved(used + lane); };
    for (uint32_t lane = 0; lane < width / 4; ++lane) {
        const Vec& v = vec[lane % used];
        a.mov(x86::rax, host(lane));
        a.prefetcht0(x86::ptr(x86::rax, ahead));
        a.emit(X::kIdVmovups, v, x86::ptr(x86::rax));
        a.emit(X::kIdVmovups, copy(lane), v);
    }
    a.xor_(x86::ecx, x86::ecx);
    a.bind(next);
    // Four dwords of each lane: lane l in part l / 4 of vector l % 4.
    for (uint32_t lane = 0; lane < width / 4; ++lane) {
        Mem four = copy(lane);
        four.setIndex(x86::rcx);
        load_sixteen(a, avx512, vec[lane % 4], lane / 4, four);
    }
    transpose_fours(a, vec, vec + 4);
    for (uint32_t d = 0; d < 4; ++d)
        a.emit(X::kIdVmovups, x86::ptr(x86::rdx, static_cast<int32_t>(d * width)), vec[d]);
    a.add(x86::rdx, static_cast<int32_t>(4 * width));
    a.add(x86::ecx, 16);
    a.cmp(x86::ecx, width);
    a.jb(next);
    a.mov(x86::eax, 1);
    a.jmp(restore);
    const size_t failed = a.offset();
    a.xor_(x86::eax, x86::eax);
    a.bind(restore);
    for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, vec[i], saved(i));
    a.ret();
    return failed;
}

}  // namespace wj::x64
