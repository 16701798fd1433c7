#include "backend_x64/asm/row_stub.h"

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using asmjit::Imm;
namespace x86 = asmjit::x86;

size_t emit_row_stub(x86::Assembler& a, bool avx512) {
    const uint32_t width = avx512 ? 64 : 32;
    auto field = [](size_t offset, uint32_t size = 0) {
        return x86::ptr(reg::frame, in_frame(offset), size);
    };
    auto vec = [&](uint32_t i) { return avx512 ? Vec(x86::zmm(i)) : Vec(x86::ymm(i)); };
    auto saved = [&](uint32_t i) { return field(offsetof(Frame, saved_vectors) + i * 64); };
    auto host = [&](uint32_t lane) { return field(offsetof(Frame, lane_hosts) + lane * 8, 8); };
    const Label next = a.newLabel(), restore = a.newLabel();
    constexpr uint32_t used = 8;
    for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, saved(i), vec(i));
    // Line by line, to where they are near each other: rows as long as a power of two fall into one
    // set of the cache, which would not hold a line for each lane until it is asked for again.
    constexpr int32_t ahead = 128;  // so many streams are not fetched by the host itself
    auto copy = [&](uint32_t lane) { return saved(used + lane); };
    for (uint32_t lane = 0; lane < width / 4; ++lane) {
        const Vec v = vec(lane % used);
        a.mov(x86::rax, host(lane));
        a.prefetcht0(x86::ptr(x86::rax, ahead));
        a.emit(X::kIdVmovups, v, x86::ptr(x86::rax));
        a.emit(X::kIdVmovups, copy(lane), v);
    }
    a.xor_(x86::ecx, x86::ecx);
    a.bind(next);
    // Four dwords of each lane: lane l in part l / 4 of vector l % 4.
    for (uint32_t v = 0; v < 4; ++v)
        for (uint32_t part = 0; part < width / 16; ++part) {
            Mem four = copy(4 * part + v);
            four.setIndex(x86::rcx);
            if (!part)
                a.emit(X::kIdVmovups, vec(v).xmm(), four);
            else
                a.emit(avx512 ? X::kIdVinserti32x4 : X::kIdVinserti128, vec(v), vec(v), four,
                       Imm(part));
        }
    struct Step {
        InstId id;
        uint32_t to, x, y;
    };
    static constexpr Step steps[] = {
        {X::kIdVunpcklps, 4, 0, 1}, {X::kIdVunpckhps, 5, 0, 1}, {X::kIdVunpcklps, 6, 2, 3},
        {X::kIdVunpckhps, 7, 2, 3}, {X::kIdVunpcklpd, 0, 4, 6}, {X::kIdVunpckhpd, 1, 4, 6},
        {X::kIdVunpcklpd, 2, 5, 7}, {X::kIdVunpckhpd, 3, 5, 7},
    };
    for (const Step& s : steps) a.emit(s.id, vec(s.to), vec(s.x), vec(s.y));
    for (uint32_t d = 0; d < 4; ++d)
        a.emit(X::kIdVmovups, x86::ptr(x86::rdx, static_cast<int32_t>(d * width)), vec(d));
    a.add(x86::rdx, static_cast<int32_t>(4 * width));
    a.add(x86::ecx, 16);
    a.cmp(x86::ecx, width);
    a.jb(next);
    a.mov(x86::eax, 1);
    a.jmp(restore);
    const size_t failed = a.offset();
    a.xor_(x86::eax, x86::eax);
    a.bind(restore);
    for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, vec(i), saved(i));
    a.ret();
    return failed;
}

}  // namespace wj::x64
