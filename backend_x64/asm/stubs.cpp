#include "backend_x64/asm/stubs.h"

#include <cstdio>
#include <cstring>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/asm/row_stub.h"
#include "backend_x64/code_cache.h"
#include "common/sanitizer.h"

// cmake/asmjit_pic.cmake: a reference from here makes linkers take the definition out of a static
// archive.
extern "C" __attribute__((visibility("hidden"))) FILE* wj_asmjit_stderr;

namespace wj::x64 {

using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

Mem field(size_t offset, uint32_t size = 8) {
    return x86::ptr(reg::frame, in_frame(offset), size);
}
Mem wave_field(size_t offset, uint32_t size = 8) {
    return x86::ptr(reg::wave, in_wave(offset), size);
}

}  // namespace

bool make_stubs(CodeBuffer& buffer, bool avx512, uint32_t wave_size, Stubs& out) {
    // Once: engines may be made on several threads.
    [[maybe_unused]] static FILE* const named = wj_asmjit_stderr = stderr;
    asmjit::CodeHolder code;
    if (code.init(asmjit::Environment(asmjit::Arch::kX64)) != asmjit::kErrorOk) return false;
    x86::Assembler a(&code);
    size_t enter, link, budget, call, leave, turn, indirect, memory, division, uload[2], again,
        ahead, fewer, even_row, together, step[2], settle, shapes, access, gather, spread, regather,
        rows;
    auto begin = [&](size_t& at) {
        a.align(asmjit::AlignMode::kCode, 16);
        at = a.offset();
    };
    const Label leave_label = a.newLabel(), indirect_label = a.newLabel();
    auto leave_with = [&](Leave reason) {
        a.mov(x86::eax, static_cast<uint32_t>(reason));
        a.jmp(leave_label);
    };

    begin(enter);
    for (const Gp& r : {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15}) a.push(r);
    a.sub(x86::rsp, 8);
    a.lea(reg::wave, x86::ptr(x86::rdi, wave_bias));
    a.lea(reg::frame, x86::ptr(x86::rsi, static_cast<int32_t>(frame_bias)));
    a.mov(reg::rows, wave_field(offsetof(Wave, vgpr)));
    a.add(reg::rows, row_bias);
    a.mov(field(offsetof(Frame, saved_sp)), x86::rsp);
    a.inc(field(offsetof(Frame, kept_epoch)));
    a.jmp(x86::rdx);

    begin(leave);
    a.bind(leave_label);
    a.vzeroupper();
    a.mov(x86::rsp, field(offsetof(Frame, saved_sp)));
    a.add(x86::rsp, 8);
    for (const Gp& r : {x86::r15, x86::r14, x86::r13, x86::r12, x86::rbp, x86::rbx}) a.pop(r);
    a.ret();

    begin(link);
    a.pop(field(offsetof(Frame, leave_address)));
    leave_with(Leave::Link);

    begin(budget);
    a.pop(field(offsetof(Frame, leave_address)));
    leave_with(Leave::Budget);

    // rsi = CallRecord
    begin(call);
    {
        const Label stopped = a.newLabel();
        a.mov(x86::rax, x86::ptr(x86::rsi, offsetof(CallRecord, next_pc)));
        a.mov(wave_field(offsetof(Wave, pc)), x86::rax);
        a.mov(x86::rax, x86::ptr(x86::rsi, offsetof(CallRecord, pc)));
        a.mov(wave_field(offsetof(Wave, exit) + offsetof(machine::ExitInfo, pc)), x86::rax);
        a.push(x86::rsi);
#if WJ_THREAD_SANITIZER
        a.vzeroupper();
        a.mov(x86::rdi, reinterpret_cast<uint64_t>(&published_blocks));
        a.mov(x86::rax, reinterpret_cast<uint64_t>(&__tsan_acquire));
        a.call(x86::rax);
        a.mov(x86::rsi, x86::ptr(x86::rsp));
#endif
        a.mov(x86::rax, x86::ptr(x86::rsi, offsetof(CallRecord, fn)));
        a.mov(x86::rsi, x86::ptr(x86::rsi, offsetof(CallRecord, arg)));
        a.mov(x86::rdi, wave_field(offsetof(Wave, ctx)));
        a.inc(x86::qword_ptr(x86::rdi, offsetof(machine::ExecContext, interpreted)));
        a.lea(x86::rdi, wave_field(0));
        a.vzeroupper();
        a.call(x86::rax);
        a.pop(x86::rsi);
        a.cmp(wave_field(offsetof(Wave, exit) + offsetof(machine::ExitInfo, kind), 1), 0);
        a.jne(stopped);
        a.ret();
        a.bind(stopped);
        a.mov(x86::rax, x86::ptr(x86::rsi, offsetof(CallRecord, pc)));
        a.mov(wave_field(offsetof(Wave, exit) + offsetof(machine::ExitInfo, pc)), x86::rax);
        leave_with(Leave::CallStopped);
    }

    // To the next wave of the row, or out. eax: Barrier or EndProgram
    begin(turn);
    {
        using machine::ExitKind;
        using machine::WaveRow;
        const Label out = a.newLabel(), lookup = a.newLabel(), last = a.newLabel(),
                    go = a.newLabel();
        const Mem kind = wave_field(offsetof(Wave, exit) + offsetof(machine::ExitInfo, kind), 1);
        a.mov(x86::rcx, field(offsetof(Frame, row)));
        a.test(x86::rcx, x86::rcx);
        a.jz(out);
        a.mov(x86::edx, x86::dword_ptr(x86::rcx, offsetof(WaveRow, left)));
        a.lea(x86::rdi, x86::ptr(reg::wave, in_wave(sizeof(Wave))));
        a.sub(x86::edx, 1);
        a.js(last);
        a.cmp(x86::eax, static_cast<uint32_t>(ExitKind::Barrier));
        a.je(go);
        a.mov(kind, x86::al);
        a.inc(x86::dword_ptr(x86::rcx, offsetof(WaveRow, ended)));
        a.jmp(go);
        a.bind(last);
        a.cmp(x86::eax, static_cast<uint32_t>(ExitKind::Barrier));
        a.jne(out);
        a.cmp(x86::dword_ptr(x86::rcx, offsetof(WaveRow, ended)), 0);
        a.jne(out);
        a.mov(x86::edx, x86::dword_ptr(x86::rcx, offsetof(WaveRow, laps)));
        a.sub(x86::edx, 1);
        a.js(out);
        a.mov(x86::dword_ptr(x86::rcx, offsetof(WaveRow, laps)), x86::edx);
        a.mov(x86::edx, x86::dword_ptr(x86::rcx, offsetof(WaveRow, most_left)));
        a.mov(x86::rdi, x86::qword_ptr(x86::rcx, offsetof(WaveRow, first)));
        a.bind(go);
        a.mov(x86::dword_ptr(x86::rcx, offsetof(WaveRow, left)), x86::edx);
        a.mov(x86::rdx, x86::qword_ptr(x86::rcx, offsetof(WaveRow, slice)));
        a.mov(x86::rax, x86::rdx);
        a.sub(x86::rax, wave_field(offsetof(Wave, budget)));
        a.add(x86::qword_ptr(x86::rcx, offsetof(WaveRow, instructions)), x86::rax);
        a.mov(x86::esi, wave_field(offsetof(Wave, mode), 4));
        a.lea(reg::wave, x86::ptr(x86::rdi, wave_bias));
        a.mov(wave_field(offsetof(Wave, budget)), x86::rdx);
        for (uint32_t i = 0; i < 2; ++i) {
            a.mov(x86::rax, field(offsetof(Frame, running_wave) + 8 * i));
            a.mov(x86::qword_ptr(x86::rax), x86::rdi);
        }
        a.mov(reg::rows, wave_field(offsetof(Wave, vgpr)));
        a.add(reg::rows, row_bias);
        a.cmp(x86::esi, wave_field(offsetof(Wave, mode), 4));
        a.jne(lookup);
        a.mov(x86::rax, wave_field(offsetof(Wave, pc)));
        a.jmp(indirect_label);
        a.bind(lookup);
        leave_with(Leave::Lookup);
        a.bind(out);
        a.mov(kind, x86::al);
        a.jmp(leave_label);
    }

    auto copy_ids = [&](const Gp& from) {
        const uint32_t bytes = avx512 ? 64 : 32;
        for (uint32_t at = 0; at < wave_size * 4; at += bytes) {
            const Vec v = avx512 ? Vec(x86::zmm0) : Vec(x86::ymm0);
            a.emit(X::kIdVmovups, v, x86::ptr(from, static_cast<int32_t>(at), bytes));
            a.emit(X::kIdVmovups, x86::ptr(reg::rows, static_cast<int32_t>(at) - row_bias, bytes),
                   v);
        }
    };

    // The run that waves are taken from, and v0 of the running one.
    using machine::WaveRun;
    const Gp run = x86::rcx;
    auto of_run = [run](size_t offset, uint32_t size) {
        return x86::ptr(run, static_cast<int32_t>(offset), size);
    };
    const Mem left = of_run(offsetof(WaveRun, left), 4),
              groups = of_run(offsetof(WaveRun, groups), 4),
              run_ids = of_run(offsetof(WaveRun, ids), 8),
              id_bytes = of_run(offsetof(WaveRun, id_bytes), 4),
              most_left = of_run(offsetof(WaveRun, most_left), 4),
              first_ids = of_run(offsetof(WaveRun, first_ids), 8),
              group_id = of_run(offsetof(WaveRun, group_id), 8),
              v0 = x86::dword_ptr(reg::rows, -row_bias);

    // edx = guest instructions of the wave that has ended
    begin(again);
    {
        const Label out = a.newLabel(), group = a.newLabel(), row = a.newLabel(),
                    first = a.newLabel(), start = a.newLabel();
        a.mov(run, field(offsetof(Frame, run)));
        a.test(run, run);
        a.jz(out);
        auto take_one = [&](const Mem& of, Label none) {
            a.mov(x86::eax, of);
            a.sub(x86::eax, 1);
            a.js(none);
            a.mov(of, x86::eax);
        };
        take_one(left, group);
        a.mov(x86::edi, Frame::next_in_group);
        a.mov(x86::esi, id_bytes);
        a.add(x86::rsi, run_ids);
        a.bind(start);
        a.mov(run_ids, x86::rsi);
        const Label same = a.newLabel();  // the first lane's tells
        a.mov(x86::eax, x86::dword_ptr(x86::rsi));
        a.cmp(x86::eax, v0);
        a.je(same);
        copy_ids(x86::rsi);
        a.bind(same);
        a.mov(x86::eax, x86::edi);
        a.ret();
        a.bind(group);
        take_one(groups, row);
        a.mov(x86::rax, group_id);
        a.inc(x86::dword_ptr(x86::rax));
        a.bind(first);
        a.mov(x86::edi, Frame::next_anywhere);
        a.mov(x86::eax, most_left);
        a.mov(left, x86::eax);
        a.mov(x86::rsi, first_ids);
        a.jmp(start);
        a.bind(row);
        take_one(of_run(offsetof(WaveRun, rows), 4), out);
        a.mov(x86::eax, of_run(offsetof(WaveRun, most_groups), 4));
        a.mov(groups, x86::eax);
        a.mov(x86::rax, group_id);
        a.mov(x86::dword_ptr(x86::rax), 0);
        a.mov(x86::rax, of_run(offsetof(WaveRun, row_id), 8));
        a.inc(x86::dword_ptr(x86::rax));
        a.jmp(first);
        a.bind(out);
        a.inc(field(offsetof(Frame, kept_epoch)));
        a.lea(x86::rdi, wave_field(0));
        a.lea(x86::rsi, field(0));
        a.vzeroupper();
        a.jmp(field(offsetof(Frame, again)));
    }

    // Of waves that go on with what the running one has found out (BlockCompiler::go_on()).
    {
        const Gp ids = x86::rsi;
        const Mem waves_ahead = field(offsetof(Frame, waves_ahead), 4),
                  offered_ahead = field(offsetof(Frame, offered_ahead), 4);
        // dl = waves of the work-group behind its first one, edx >> 8 = by how much v0 grows in
        // them, rdi = the register that counts the work-groups that go on like this, or 0 ->
        // waves_ahead = waves behind the running one, in the run, of which that is true.
        begin(ahead);
        {
            const Label done = a.newLabel(), none = a.newLabel(), in_group = a.newLabel();
            a.xor_(x86::eax, x86::eax);
            a.mov(run, field(offsetof(Frame, run)));
            a.test(run, run);
            a.jz(done);
            a.cmp(run_ids, 0);
            a.je(done);
            a.mov(x86::esi, x86::edx);
            a.shr(x86::esi, 8);
            a.movzx(x86::edx, x86::dl);
            a.mov(x86::eax, left);
            a.test(x86::rdi, x86::rdi);
            a.jz(in_group);
            // From a work-group's first wave on, so that nothing becomes less where v0 begins anew.
            // The last one has the v0 that it should have.
            a.cmp(x86::rdi, group_id);
            a.jne(in_group);
            a.cmp(x86::edx, most_left);
            a.jne(in_group);
            a.cmp(x86::edx, x86::eax);
            a.jne(in_group);
            a.mov(x86::rdi, first_ids);
            a.mov(x86::r8d, x86::dword_ptr(x86::rdi));
            a.cmp(x86::r8d, v0);
            a.jne(none);
            a.mov(x86::r8d, id_bytes);
            a.imul(x86::r8, x86::rdx);
            a.mov(x86::r8d, x86::dword_ptr(x86::rdi, x86::r8));
            a.sub(x86::r8d, x86::dword_ptr(x86::rdi));
            a.imul(x86::esi, x86::edx);
            a.cmp(x86::r8d, x86::esi);
            a.jne(none);
            a.inc(x86::edx);
            a.imul(x86::edx, groups);
            a.add(x86::eax, x86::edx);
            a.jmp(done);
            a.bind(in_group);
            a.cmp(x86::eax, x86::edx);
            a.cmova(x86::eax, x86::edx);
            a.imul(x86::esi, x86::eax);
            a.add(x86::esi, v0);
            a.mov(x86::edx, id_bytes);
            a.imul(x86::rdx, x86::rax);
            a.add(x86::rdx, run_ids);
            a.cmp(x86::esi, x86::dword_ptr(x86::rdx));
            a.je(done);
            a.bind(none);
            a.xor_(x86::eax, x86::eax);
            a.bind(done);
            const Mem most = field(offsetof(Frame, most_ahead), 4);
            a.mov(offered_ahead, x86::eax);
            a.mov(x86::edx, most);
            a.mov(most, machine::NextWaves::most);
            a.cmp(x86::eax, x86::edx);
            a.cmova(x86::eax, x86::edx);
            a.mov(waves_ahead, x86::eax);
            a.ret();
        }
        // The guards do not hold for the waves ahead. Zero flag: there are none, and the next one
        // is to ask for itself first; otherwise the running one is to ask again: for all but the
        // last work-group, which is an edge most likely, then for fewer.
        begin(fewer);
        {
            const Label few = a.newLabel(), asked = a.newLabel(), done = a.newLabel();
            a.mov(x86::eax, waves_ahead);
            a.test(x86::eax, x86::eax);
            a.jz(done);
            a.mov(run, field(offsetof(Frame, run)));
            a.mov(x86::edx, x86::eax);
            a.cmp(x86::eax, offered_ahead);
            a.jne(few);
            a.stc();
            a.sbb(x86::edx, most_left);
            a.jae(asked);
            a.bind(few);
            a.mov(x86::edx, x86::eax);
            a.shr(x86::edx, 4);
            a.cmp(x86::eax, most_left);
            a.jbe(asked);
            a.or_(x86::edx, most_left);  // not a part of a work-group
            a.bind(asked);
            a.mov(field(offsetof(Frame, most_ahead), 4), x86::edx);
            a.test(x86::eax, x86::eax);
            a.bind(done);
            a.ret();
        }
        // The waves ahead begin at once: the run stands at the last one. rbp, and the zero flag:
        // minus the bytes of their rows. Keeps what regions keep pointers in.
        begin(together);
        {
            const Label none = a.newLabel(), far = a.newLabel(), placed = a.newLabel();
            a.xor_(x86::ebp, x86::ebp);
            a.mov(x86::edx, waves_ahead);
            a.mov(waves_ahead, x86::ebp);
            a.test(x86::edx, x86::edx);
            a.jz(none);
            a.mov(run, field(offsetof(Frame, run)));
            a.mov(x86::eax, x86::edx);
            a.shl(x86::rax, std::countr_zero(wave_size * 4));
            a.sub(reg::chunk, x86::rax);
            a.mov(x86::eax, left);
            a.sub(x86::eax, x86::edx);
            a.jb(far);
            a.bind(placed);
            a.mov(left, x86::eax);
            a.mov(x86::edx, most_left);
            a.sub(x86::edx, x86::eax);
            a.mov(x86::eax, id_bytes);
            a.imul(x86::rax, x86::rdx);
            a.add(x86::rax, first_ids);
            a.mov(run_ids, x86::rax);
            a.test(reg::chunk, reg::chunk);
            a.bind(none);
            a.ret();
            a.bind(far);
            a.not_(x86::eax);  // waves behind the next work-group's first one
            a.push(x86::rsi);
            a.mov(x86::esi, most_left);
            a.inc(x86::esi);
            a.xor_(x86::edx, x86::edx);
            a.div(x86::esi);
            a.inc(x86::eax);
            a.sub(groups, x86::eax);
            a.mov(x86::rsi, group_id);
            a.add(x86::dword_ptr(x86::rsi), x86::eax);
            a.mov(x86::eax, most_left);
            a.sub(x86::eax, x86::edx);
            a.pop(x86::rsi);
            a.jmp(placed);
        }
        // The next one of them begins; with its v0, or without. Sign flag: there is none. Zero
        // flag: it is of the same work-group.
        for (const bool with_ids : {false, true}) {
            const Label group = a.newLabel(), begins = a.newLabel(), none = a.newLabel();
            begin(step[with_ids]);
            a.sub(waves_ahead, 1);
            a.js(none);
            a.mov(run, field(offsetof(Frame, run)));
            a.sub(left, 1);
            a.js(group);
            a.mov(ids.r32(), id_bytes);
            a.add(ids, run_ids);
            a.xor_(x86::eax, x86::eax);
            a.bind(begins);
            a.mov(run_ids, ids);
            if (with_ids) copy_ids(ids);
            a.test(x86::eax, x86::eax);
            a.bind(none);
            a.ret();
            a.bind(group);
            a.mov(x86::eax, most_left);
            a.mov(left, x86::eax);
            a.dec(groups);
            a.mov(ids, group_id);
            a.inc(x86::dword_ptr(ids));
            a.mov(ids, first_ids);
            a.mov(x86::eax, 1);
            a.jmp(begins);
        }
    }

    // rax = the middle of a wave's row, vector 0 = its first chunk, vector 1 = what each chunk is
    // more than the one before -> the zero flag: the row is like that.
    begin(even_row);
    {
        auto v = [&](uint32_t r) { return avx512 ? Vec(x86::zmm(r)) : Vec(x86::ymm(r)); };
        const int bytes = avx512 ? 64 : 32, half = static_cast<int>(wave_size) * 2;
        a.vpxor(x86::xmm2, x86::xmm2, x86::xmm2);
        for (int at = -half; at < half; at += bytes) {
            const Mem chunk = x86::ptr(x86::rax, at);
            if (at > -half) a.emit(X::kIdVpaddd, v(0), v(0), v(1));
            if (avx512) {
                a.emit(X::kIdVpternlogd, v(2), v(0), chunk, asmjit::Imm(0xf6));  // a | (b ^ c)
                continue;
            }
            a.emit(X::kIdVpxor, v(3), v(0), chunk);
            a.emit(X::kIdVpor, v(2), v(2), v(3));
        }
        if (avx512) {
            a.vptestmd(x86::k1, x86::zmm2, x86::zmm2);
            a.kortestw(x86::k1, x86::k1);
        } else {
            a.vptest(x86::ymm2, x86::ymm2);
        }
        a.ret();
    }

    begin(settle);
    a.mov(x86::rdi, field(offsetof(Frame, source)));
    a.vzeroupper();
    a.jmp(field(offsetof(Frame, settle)));

    // rsi: shapes that are wanted; al: rows have them. Where no vector is kept.
    begin(shapes);
    a.lea(x86::rdi, wave_field(0));
    a.vzeroupper();
    a.mov(x86::rax, reinterpret_cast<uint64_t>(&find_shapes));
    a.jmp(x86::rax);

    // Where nothing is kept in registers. rax: what the function returns.
    auto move_lanes = [&](auto* function) {
        a.lea(x86::rdi, wave_field(0));
        a.lea(x86::rsi, field(0));
        a.vzeroupper();
        a.push(x86::rax);
        a.mov(x86::rax, reinterpret_cast<uint64_t>(function));
        a.call(x86::rax);
        a.pop(x86::rcx);
    };
    auto gathered_rows = [&] {
        constexpr size_t rows_at = offsetof(Frame, gathered) + offsetof(GatheredLanes, rows);
        a.lea(reg::rows, x86::ptr(reg::frame, in_frame(rows_at) + row_bias));
    };
    auto own_rows = [&] {
        a.mov(reg::rows, wave_field(offsetof(Wave, vgpr)));
        a.add(reg::rows, row_bias);
    };
    begin(gather);
    a.mov(x86::rdx, x86::rsi);
    move_lanes(&gather_lanes);
    gathered_rows();
    a.ret();
    begin(regather);
    {
        const Label apart = a.newLabel();
        a.mov(x86::rdx, x86::rsi);
        move_lanes(&regather_lanes);
        a.cmp(field(offsetof(Frame, gathered) + offsetof(GatheredLanes, exec)), 0);
        a.je(apart);
        gathered_rows();
        a.ret();
        a.bind(apart);
        own_rows();
        a.ret();
    }
    begin(spread);
    move_lanes(&spread_lanes);
    own_rows();
    a.ret();

    // rax = guest address
    begin(indirect);
    a.bind(indirect_label);
    {
        const Label miss = a.newLabel();
        a.mov(x86::rcx, x86::rax);
        a.shr(x86::rcx, 2);
        a.and_(x86::ecx, jump_entries - 1);
        a.shl(x86::ecx, 5);
        a.add(x86::rcx, field(offsetof(Frame, jump_table)));
        a.cmp(x86::rax, x86::qword_ptr(x86::rcx, offsetof(JumpEntry, pc)));
        a.jne(miss);
        a.mov(x86::rdx, field(offsetof(Frame, whole_exec)));
        a.cmp(wave_field(offsetof(Wave, sgpr) + machine::exec_lo * 4, wave_size / 8),
              wave_size == machine::lanes ? Gp(x86::rdx) : Gp(x86::edx));
        a.sete(x86::dl);
        a.movzx(x86::edx, x86::dl);
        a.mov(x86::rdx, x86::qword_ptr(x86::rcx, x86::rdx, 3, offsetof(JumpEntry, entry)));
        a.test(x86::rdx, x86::rdx);
        a.jz(miss);
        a.jmp(x86::rdx);
        a.bind(miss);
        a.mov(wave_field(offsetof(Wave, pc)), x86::rax);
        leave_with(Leave::Lookup);
    }
    static_assert(sizeof(JumpEntry) == 32);

    // Keep every vector and mask register, and the general ones of shared addresses.
    auto vectors = [&](bool save) {
        const uint32_t count = avx512 ? 32 : 16;
        for (uint32_t r = 0; r < count; ++r) {
            const Mem m = field(offsetof(Frame, saved_vectors) + r * 64, 0);
            const Vec v = avx512 ? Vec(x86::zmm(r)) : Vec(x86::ymm(r));
            if (save)
                a.emit(X::kIdVmovups, m, v);
            else
                a.emit(X::kIdVmovups, v, m);
        }
        if (!avx512) return;
        for (uint32_t r = 1; r < 8; ++r) {
            const Mem m = field(offsetof(Frame, saved_vectors) + Frame::saved_masks + r * 8, 0);
            if (save)
                a.kmovw(m, x86::k(r));
            else
                a.kmovw(x86::k(r), m);
        }
    };
    // rax = what `helper` does -> the zero flag: it has failed.
    auto call_helper = [&](auto* helper) {
        const Gp kept[] = {x86::rsi, x86::rdi, x86::r8, x86::r9, x86::r10, x86::r11};
        for (const Gp& r : kept) a.push(r);
        a.sub(x86::rsp, 8);
        a.lea(x86::rdi, wave_field(0));
        a.lea(x86::rsi, field(0));
        a.mov(x86::rdx, x86::rax);
        a.lea(x86::ecx, x86::ptr(reg::chunk, 256));
        a.shr(x86::ecx, 2);
        a.mov(x86::rax, reinterpret_cast<uint64_t>(helper));
        a.vzeroupper();
        a.call(x86::rax);
        a.add(x86::rsp, 8);
        for (size_t r = std::size(kept); r-- > 0;) a.pop(kept[r]);
        a.test(x86::al, x86::al);
    };
    auto out_of_line = [&](size_t& at, auto* helper) {
        begin(at);
        const Label fault = a.newLabel();
        a.mov(field(offsetof(Frame, address_base)), x86::rcx);
        vectors(true);
        call_helper(helper);
        a.jz(fault);
        vectors(false);
        a.ret();
        a.bind(fault);
        a.mov(field(offsetof(Frame, leave_address)), 0);
        leave_with(Leave::Fault);
    };
    out_of_line(memory, &run_memory_op);
    out_of_line(division, &run_division);

    // rax = StubAccess::bits(), rcx = base
    begin(access);
    {
        const Label any = a.newLabel(), done = a.newLabel();
        a.mov(x86::rdx, x86::ptr(x86::rsp));
        a.mov(field(offsetof(Frame, running)), x86::rdx);
        a.mov(field(offsetof(Frame, stub_access)), x86::rax);
        a.mov(field(offsetof(Frame, address_base)), x86::rcx);
        vectors(true);
        a.sub(field(offsetof(Frame, patience), 4), 1);
        a.js(any);
        a.mov(x86::edx, x86::eax);
        a.and_(x86::edx, StubAccess::stub_mask);
        a.shl(x86::edx, 3);
        a.add(x86::rdx, field(offsetof(Frame, memory_stubs)));
        a.mov(x86::rdx, x86::ptr(x86::rdx));
        a.test(x86::rdx, x86::rdx);
        a.jz(any);
        a.call(x86::rdx);
        a.jc(any);
        a.mov(field(offsetof(Frame, running)), 0);
        a.bind(done);
        vectors(false);
        a.ret();
        a.bind(any);
        a.mov(x86::rax, field(offsetof(Frame, stub_access)));
        call_helper(&run_stub_access);
        a.jnz(done);
        a.pop(field(offsetof(Frame, leave_address)));  // where the engine finds the guest's PC
        leave_with(Leave::Fault);
    }

    // rax = address -> value; keeps every other register
    const Gp saved[] = {x86::rcx, x86::rdx, x86::rsi, x86::rdi,
                        x86::r8,  x86::r9,  x86::r10, x86::r11};
    for (int w = 0; w < 2; ++w) {
        begin(uload[w]);
        const Label fault = a.newLabel();
        for (const Gp& r : saved) a.push(r);
        a.sub(x86::rsp, 24);
        a.lea(x86::rdi, wave_field(0));
        a.mov(x86::rsi, x86::rax);
        a.mov(x86::edx, w ? 8 : 4);
        a.mov(x86::rcx, x86::rsp);
        a.mov(x86::rax, reinterpret_cast<uint64_t>(&checked_uload));
        a.vzeroupper();
        a.call(x86::rax);
        a.test(x86::al, x86::al);
        a.mov(x86::rax, x86::qword_ptr(x86::rsp));
        a.jz(fault);
        a.add(x86::rsp, 24);
        for (size_t r = std::size(saved); r-- > 0;) a.pop(saved[r]);
        a.ret();
        a.bind(fault);
        a.mov(x86::rax, x86::qword_ptr(x86::rsp, 24 + 64));
        a.mov(field(offsetof(Frame, leave_address)), x86::rax);
        leave_with(Leave::Fault);
    }

    begin(rows);
    const RowStubs row_stubs = emit_row_stubs(a, avx512);

    const size_t size = a.offset();
    uint8_t* to = buffer.allocate(size);
    if (!to) return false;
    std::memcpy(to, code.textSection()->buffer().data(), size);
    const uint8_t* base = buffer.executable(to);
    out.enter = reinterpret_cast<decltype(out.enter)>(reinterpret_cast<uintptr_t>(base + enter));
    out.link = base + link;
    out.budget = base + budget;
    out.call = base + call;
    out.leave = base + leave;
    out.turn = base + turn;
    out.indirect = base + indirect;
    out.memory = base + memory;
    out.division = base + division;
    out.uload32 = base + uload[0];
    out.uload64 = base + uload[1];
    out.again = base + again;
    out.ahead = base + ahead;
    out.fewer = base + fewer;
    out.even_row = base + even_row;
    out.together = base + together;
    out.step = base + step[0];
    out.step_ids = base + step[1];
    out.settle = base + settle;
    out.shapes = base + shapes;
    out.gather = base + gather;
    out.spread = base + spread;
    out.regather = base + regather;
    out.access = base + access;
    out.rows = base + row_stubs.load;
    out.open_rows = base + row_stubs.open;
    out.rows_failed = base + row_stubs.failed;
    out.store_rows = base + row_stubs.store;
    return true;
}

}  // namespace wj::x64
