// Cross-lane operations: whole rows, from memory to memory, between regions.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::cross_op(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    // Address of a row: base register and displacement.
    auto row_base = [&](Unit u) {
        Home home = schedule_.unit_home(u);
        // A register that will be copied because it changes later: read in place until then.
        const Value p = schedule_.producer(u);
        if (inst(p).op == Op::GetV && schedule_.position(p) >= position_)
            home = {Home::Row, static_cast<uint32_t>(inst(p).imm)};
        if (home.kind == Home::Temp)
            return x86::ptr(reg::frame, in_frame(offsetof(Frame, temps) + home.index * 256));
        if (home.kind != Home::Row) failed_ = true;
        if (home.index >= 256) {
            const Gp t = utmp();
            a_.mov(t, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, agpr))));
            return x86::ptr(t, static_cast<int32_t>((home.index - 256) * 256));
        }
        return x86::ptr(reg::rows, static_cast<int32_t>(home.index * 256) - row_bias);
    };
    auto indexed = [](const Mem& m, const Gp& index, uint32_t shift) {
        Mem r = m;
        r.setIndex(index, shift);
        return r;
    };
    // Bits of a mask as memory, or nothing when all are set.
    auto mask_home = [&](Value m, Mem& out) {
        if (schedule_.is_full(m)) return false;
        const ir::Inst& p = inst(m);
        out = home_mem(p.op == Op::MaskOf ? schedule_.uniform_home(p.args[0])
                                          : schedule_.unit_home(schedule_.unit(m)));
        return true;
    };
    auto lane_of = [&](const Mem& base, Value lane, uint32_t size) {
        Mem m = base;
        if (is_const(lane)) {
            m = base.cloneAdjusted(static_cast<int64_t>(inst(lane).imm % block_->wave_size) * 4);
        } else {
            const Gp n = ureg(lane);
            const Gp t = utmp();
            a_.mov(t.r32(), n.r32());
            a_.and_(t.r32(), block_->wave_size - 1);
            m = indexed(base, t, 2);
        }
        m.setSize(size);
        return m;
    };
    const auto chunks = static_cast<int>(block_->wave_size / chunk_lanes());
    const int32_t bytes = avx512_ ? 64 : 32;
    auto finish = [&] {
        for (Value arg : a) {
            if (arg == no_value) continue;
            UniformState& s = uniforms_[arg];
            if (s.uses) --s.uses;
            if (s.uses == 0 && s.reg >= 0) {
                gp_owner_[s.reg] = no_value;
                s.reg = -1;
            }
        }
    };
    // Source rows in zmm16..19 (AVX-512) or, with the masked lanes cleared, in a row of the frame
    // (AVX2).
    const Mem scratch = x86::ptr(reg::frame, in_frame(offsetof(Frame, saved_vectors)));
    auto load_masked = [&](Value source, Value mask) {
        const Mem from = row_base(schedule_.unit(source));
        Mem bits;
        const bool partial = mask_home(mask, bits);
        for (int c = 0; c < chunks; ++c) {
            const Vec z = vec(avx512_ ? 16 + c : 0);
            const Mem at = from.cloneAdjusted(c * bytes);
            if (avx512_) {
                if (partial) {
                    a_.kmovw(x86::k1, bits.cloneAdjusted(c * 2));
                    k(x86::k1, true);
                }
                a_.emit(X::kIdVmovdqu32, z, at);
                continue;
            }
            movu(z, at);
            if (partial) {
                a_.emit(X::kIdVpbroadcastb, vec(1), bits.cloneAdjusted(c));
                lanes_of_bits(vec(1));
                a_.emit(X::kIdVpand, z, z, vec(1));
            }
            movu(scratch.cloneAdjusted(c * bytes), z);
        }
    };
    const uint32_t every_source = (1u << block_->wave_size / 16) - 1;
    // Lane numbers in z0 -> dwords in z1.
    auto permute = [&](uint32_t sources) {
        if (!avx512_) {
            Mem at = scratch;
            at.setIndex(x86::ymm0, 2);
            a_.emit(X::kIdVpcmpeqd, vec(2), vec(2), vec(2));
            a_.emit(X::kIdVpgatherdd, vec(1), at, vec(2));
            return;
        }
        const Vec z0 = vec(0), z1 = vec(1), z2 = vec(2);
        if ((sources & (sources - 1)) == 0) {
            a_.emit(X::kIdVpermd, z1, z0, vec(16 + __builtin_ctz(sources)));
            return;
        }
        a_.emit(X::kIdVmovdqa32, z1, z0);
        if (!(sources & 0xc)) {
            a_.emit(X::kIdVpermi2d, z1, vec(16), vec(17));
        } else if (!(sources & 3)) {
            a_.emit(X::kIdVpermi2d, z1, vec(18), vec(19));
        } else {
            a_.emit(X::kIdVmovdqa32, z2, z0);
            a_.emit(X::kIdVpermi2d, z1, vec(16), vec(17));
            a_.emit(X::kIdVpermi2d, z2, vec(18), vec(19));
            a_.emit(X::kIdVptestmd, x86::k1, z0, pool32(32)._1to16());
            k(x86::k1);
            a_.emit(X::kIdVmovdqa32, z1, z2);
        }
    };
    switch (i.op) {
        case Op::ReadLane: {
            const Mem m = lane_of(row_base(schedule_.unit(a[0])), a[1], 4);
            const Gp d = udef(v);
            a_.mov(d, m);
            udone(v);
            break;
        }
        case Op::ReadFirst: {
            Mem base = row_base(schedule_.unit(a[0])), bits;
            if (mask_home(a[1], bits)) {
                const Gp t = utmp();
                bits.setSize(block_->wave_size / 8);
                a_.tzcnt(mask_register(*block_, t), bits);
                a_.and_(t.r32(), block_->wave_size - 1);
                base = indexed(base, t, 2);
            }
            const Gp d = udef(v);
            a_.mov(d, base);
            udone(v);
            break;
        }
        case Op::WriteLane: {
            const Mem from = row_base(schedule_.unit(a[0])), to = row_base(schedule_.unit(v));
            for (int c = 0; c < chunks; ++c) movu(vec(c), from.cloneAdjusted(c * bytes));
            for (int c = 0; c < chunks; ++c) movu(to.cloneAdjusted(c * bytes), vec(c));
            const Gp x = ureg(a[1]);
            a_.mov(lane_of(to, a[2], 4), x);
            break;
        }
        case Op::BPermute: {
            load_masked(a[1], a[2]);
            const Mem index = row_base(schedule_.unit(a[0])), to = row_base(schedule_.unit(v));
            auto constant32 = [&](int r, uint32_t c) {
                a_.emit(X::kIdVpbroadcastd, vec(r), pool32(c));
            };
            for (int c = 0; c < chunks; ++c) {
                movu(vec(0), index.cloneAdjusted(c * bytes));
                if (const auto offset = static_cast<uint32_t>(i.imm)) {
                    constant32(3, offset);
                    a_.emit(X::kIdVpaddd, vec(0), vec(0), vec(3));
                }
                a_.emit(X::kIdVpsrld, vec(0), vec(0), asmjit::Imm(2));
                constant32(3, block_->wave_size - 1);
                a_.emit(avx512_ ? X::kIdVpandd : X::kIdVpand, vec(0), vec(0), vec(3));
                permute(every_source);
                movu(to.cloneAdjusted(c * bytes), vec(1));
            }
            break;
        }
        case Op::Swizzle: {
            auto table = block_->lane_tables[i.imm];
            for (uint8_t& lane : table) lane %= static_cast<uint8_t>(block_->wave_size);
            load_masked(a[0], a[1]);
            const Mem to = row_base(schedule_.unit(v));
            const uint32_t at = pool_bytes(table.data(), 64, 8);
            const int lanes = bytes / 4;
            for (int c = 0; c < chunks; ++c) {
                uint32_t sources = 0;
                for (int l = 0; l < lanes; ++l)
                    sources |= 1u << (table[static_cast<size_t>(c * lanes + l)] / 16 & 3);
                a_.emit(X::kIdVpmovzxbd, vec(0),
                        x86::ptr(pool_label_, static_cast<int32_t>(at) + c * lanes));
                permute(sources);
                movu(to.cloneAdjusted(c * bytes), vec(1));
            }
            break;
        }
        default:
            failed_ = true;
            return;
    }
    finish();
}

}  // namespace wj::x64
