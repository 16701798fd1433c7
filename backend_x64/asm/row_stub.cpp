#include "backend_x64/asm/row_stub.h"

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

namespace x86 = asmjit::x86;

namespace {

constexpr uint32_t used = 8;  // vectors

Mem saved(uint32_t i) {
    return frame_field(offsetof(Frame, saved_vectors) + i * 64);
}

Mem host(uint32_t lane) {
    return frame_field(offsetof(Frame, lane_hosts) + lane * 8, 8);
}

struct Emitter {
    x86::Assembler& a;
    const bool avx512;
    const uint32_t width = avx512 ? 64 : 32;
    Vec vec[used];

    Emitter(x86::Assembler& to, bool wide) : a(to), avx512(wide) {
        for (uint32_t i = 0; i < used; ++i) vec[i] = wide ? Vec(x86::zmm(i)) : Vec(x86::ymm(i));
    }
    void save() {
        for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, saved(i), vec[i]);
    }
    void restore() {
        for (uint32_t i = 0; i < used; ++i) a.emit(X::kIdVmovups, vec[i], saved(i));
        a.ret();
    }

    // Line by line, to where they are near each other: rows as long as a power of two fall into one
    // set of the cache, which would not hold a line for each lane until it is asked for again.
    void load() {
        auto copy = [&](uint32_t lane) { return saved(used + lane); };
        for (uint32_t lane = 0; lane < width / 4; ++lane) {
            const Vec& v = vec[lane % used];
            a.mov(x86::rax, host(lane));
            a.prefetcht0(x86::ptr(x86::rax, x86::rcx));
            a.emit(X::kIdVmovups, v, x86::ptr(x86::rax));
            a.emit(X::kIdVmovups, copy(lane), v);
        }
        const Label next = a.newLabel();
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
    }

    // A locked operation that changes nothing is a store that no other thread can lose one to.
    void open() {
        const int32_t last = static_cast<int32_t>(width) - 4;
        const Vec at = x86::ymm0, behind = x86::ymm1, page = x86::ymm2, bytes = x86::ymm3,
                  wanted = x86::ymm4;
        const Label four = a.newLabel(), next = a.newLabel(), each = a.newLabel();
        const Gp& lane = x86::rdx;
        auto broadcast = [&](const Vec& to, int32_t value) {
            a.mov(x86::eax, value);
            a.vmovd(to.xmm(), x86::eax);
            a.vpbroadcastq(to.ymm(), to.xmm());
        };
        auto hosts = [&](const Gp& index) {
            Mem m = host(0);
            m.setIndex(index, 3);
            return m;
        };
        a.vmovd(wanted.xmm(), x86::ecx);
        broadcast(behind, last);
        broadcast(page, 4095);
        broadcast(bytes, static_cast<int32_t>(width));
        a.xor_(lane.r32(), lane.r32());
        a.bind(four);
        a.vpaddq(at.ymm(), behind.ymm(), hosts(lane).cloneResized(32));
        a.vpand(at.ymm(), at.ymm(), page.ymm());
        a.vpsubq(at.ymm(), at.ymm(), bytes.ymm());
        a.vmovmskpd(x86::eax, at.ymm());
        a.vmovd(x86::ecx, wanted.xmm());
        a.or_(x86::eax, x86::ecx);
        a.jz(next);
        a.bind(each);
        a.tzcnt(x86::ecx, x86::eax);
        a.add(x86::ecx, lane.r32());
        a.mov(x86::rcx, hosts(x86::rcx));
        a.lock().or_(x86::dword_ptr(x86::rcx), 0);
        a.lock().or_(x86::dword_ptr(x86::rcx, last), 0);
        a.blsr(x86::eax, x86::eax);
        a.jnz(each);
        a.bind(next);
        a.add(lane.r32(), 4);
        a.cmp(lane.r32(), width / 4);
        a.jb(four);
    }

    // With `all` whole vectors, else the dwords of ecx.
    void store(bool all) {
        const uint32_t rows = width / 4;
        const Gp& lane = x86::rsi;
        const Label next = a.newLabel();
        a.push(lane);
        if (!all && avx512) a.kmovw(x86::k1, x86::ecx);
        a.xor_(lane.r32(), lane.r32());
        a.bind(next);
        // Dword d of four lanes in part d / 4 of vector d % 4, then the dwords of each.
        for (uint32_t d = 0; d < rows; ++d)
            load_sixteen(a, avx512, vec[d % 4], d / 4,
                         x86::ptr(x86::rdx, lane, 2, static_cast<int32_t>(d * width)));
        transpose_fours(a, vec, vec + 4);
        const Vec& mask = vec[4];
        if (!all && !avx512) {
            const Mem bits = frame_field(offsetof(Frame, lane_bits), 32);
            a.vmovd(mask.xmm(), x86::ecx);
            a.vpbroadcastd(mask.ymm(), mask.xmm());
            a.vpand(mask.ymm(), mask.ymm(), bits);
            a.vpcmpeqd(mask.ymm(), mask.ymm(), bits);
        }
        for (uint32_t n = 0; n < 4; ++n) {
            Mem one = host(n);
            one.setIndex(lane, 3);
            a.mov(x86::rax, one);
            if (!all && !avx512) {
                a.vmaskmovps(x86::ptr(x86::rax), mask.ymm(), vec[n].ymm());
                continue;
            }
            if (!all) a.setExtraReg(x86::k1);
            a.emit(X::kIdVmovups, x86::ptr(x86::rax), vec[n]);
            if (all) a.prefetchw(x86::ptr(x86::rax, x86::rcx));
        }
        a.add(lane.r32(), 4);
        a.cmp(lane.r32(), rows);
        a.jb(next);
        a.pop(lane);
    }
};

}  // namespace

RowStubs emit_row_stubs(x86::Assembler& a, bool avx512) {
    Emitter e(a, avx512);
    RowStubs at;
    const Label good = a.newLabel(), restore = a.newLabel(), some = a.newLabel();
    at.load = a.offset();
    e.save();
    e.load();
    a.jmp(good);
    at.open = a.offset();
    e.save();
    e.open();
    a.bind(good);
    a.mov(x86::eax, 1);
    a.jmp(restore);
    at.failed = a.offset();
    a.xor_(x86::eax, x86::eax);
    a.bind(restore);
    e.restore();

    at.store = a.offset();
    e.save();
    a.cmp(x86::ecx, (1 << e.width / 4) - 1);
    a.jne(some);
    a.mov(x86::rcx, x86::rax);
    e.store(true);
    e.restore();
    a.bind(some);
    const Mem k1 = frame_field(offsetof(Frame, saved_vectors) + Frame::saved_masks, 2);
    if (avx512) a.kmovw(k1, x86::k1);
    e.store(false);
    if (avx512) a.kmovw(x86::k1, k1);
    e.restore();
    return at;
}

}  // namespace wj::x64
