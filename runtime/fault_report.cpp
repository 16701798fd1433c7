#include "runtime/fault_report.h"

#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "frontend/code_object_bytes.h"
#include "frontend/debug_info.h"
#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "machine/coverage.h"
#include "machine/group_shadow.h"
#include "machine/trap.h"
#include "runtime/call_stack.h"
#include "runtime/fault_replay.h"
#include "runtime/guest_code.h"

namespace wj::runtime {
namespace {

using machine::ExitKind;

std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* text, ...) {
    char buffer[512];
    va_list args;
    va_start(args, text);
    std::vsnprintf(buffer, sizeof(buffer), text, args);
    va_end(args);
    return buffer;
}

const char* access_name(machine::Access access) {
    switch (access) {
        case machine::Access::Read:
            return "read";
        case machine::Access::Write:
            return "write";
        case machine::Access::Atomic:
            return "atomic access";
        case machine::Access::Execute:
            return "instruction fetch";
        case machine::Access::None:
            break;
    }
    return "access";
}

Code code_of(const machine::ExitInfo& exit) {
    if (exit.reason == interp::stopped_by_hook) return Code::Timeout;  // as one cancelled
    switch (exit.kind) {
        case ExitKind::MemoryFault:
        case ExitKind::BarrierMisuse:
            return Code::GuestFault;
        case ExitKind::IllegalInstruction:
            return Code::IllegalInstruction;
        case ExitKind::Unimplemented:
            return Code::Unimplemented;
        case ExitKind::Trap:
        case ExitKind::Halt:
        case ExitKind::Exception:
            return Code::GuestTrap;
        default:
            return Code::HostError;
    }
}

// AMDGPU usage guide, "Trap Handler ABI".
const char* trap_name(uint32_t id) {
    switch (id) {
        case machine::debugger_argument_trap:
            return "debugtrap with an argument in v0, for a debugger";
        case machine::llvm_trap:
            return "assertion or __builtin_trap in the kernel";
        case machine::breakpoint_trap:
            return "breakpoint of a debugger";
        default:
            return "a reserved trap id";
    }
}

// Bits of machine::exception.
std::string exception_names(uint32_t bits) {
    static const char* const names[] = {
        "invalid operation", "denormal operand", "division by zero",        "overflow",
        "underflow",         "inexact result",   "integer division by zero"};
    std::string text;
    for (uint32_t i = 0; i < std::size(names); i++)
        if (bits >> i & 1) text += std::string(text.empty() ? "" : ", ") + names[i];
    return text;
}

std::string describe_exit(const machine::ExitInfo& exit) {
    switch (exit.kind) {
        case ExitKind::MemoryFault:
            return format("memory fault: %s of %u bytes at 0x%llx", access_name(exit.access),
                          exit.access_bytes, static_cast<unsigned long long>(exit.address));
        case ExitKind::IllegalInstruction:
            return "illegal instruction";
        case ExitKind::Unimplemented:
            return "instruction or feature that wavejit does not implement";
        case ExitKind::BarrierMisuse:
            return format("misuse of barrier %d", static_cast<int32_t>(exit.detail));
        case ExitKind::Trap:
            return format("trap %u (%s)", exit.detail, trap_name(exit.detail));
        case ExitKind::Halt:
            return exit.reason == interp::stopped_by_hook ? "a hook has stopped the dispatch"
                                                          : "the wave halted itself";
        case ExitKind::Exception:
            return "arithmetic exception that the kernel enables: " + exception_names(exit.detail);
        default:
            return format("the engine stopped for no known reason (%u)",
                          static_cast<unsigned>(exit.kind));
    }
}

// Disassembly of the instruction at `pc`; `words` gets its bytes.
std::string instruction_at(const Target& target, const memory::AddressSpace& memory, uint64_t pc,
                           std::vector<uint32_t>& words, Inst* decoded = nullptr) {
    uint32_t buffer[4] = {};
    size_t count = 4;
    const void* code = nullptr;
    while (count && !(code = memory.translate(pc, count * 4, memory::readable))) count--;
    words.clear();
    if (!code) return "(no readable memory)";
    std::memcpy(buffer, code, count * 4);
    Inst inst;
    bool valid = decode(target, std::span<const uint32_t>(buffer, count), inst);
    size_t used = valid ? inst.size / 4 : 1;
    words.assign(buffer, buffer + std::min(used, count));
    if (decoded && valid) *decoded = inst;
    return valid ? disassemble(target, inst)
                 : "(not an instruction of " + std::string(target.name) + ")";
}

std::string words_text(const std::vector<uint32_t>& words) {
    std::string text;
    for (uint32_t w : words) text += format("%s%08X", text.empty() ? "" : " ", w);
    return text;
}

// "63-60, 3, 1-0" style lists are hard to read: ascending ranges.
std::string lane_list(uint64_t mask) {
    std::string text;
    for (int i = 0; i < 64;) {
        if (!(mask >> i & 1)) {
            i++;
            continue;
        }
        int end = i;
        while (end < 63 && mask >> (end + 1) & 1) end++;
        text += format("%s%d", text.empty() ? "" : ",", i);
        if (end > i) text += format("-%d", end);
        i = end + 1;
    }
    return text;
}

// "lane 3 0x7f..., lane 4 0x7f...", at most so many.
std::string value_list(uint64_t mask, std::span<const uint64_t> values, uint32_t most) {
    std::string text;
    uint32_t count = 0;
    for (uint64_t m = mask; m; m &= m - 1) {
        if (++count > most) return text + ", ...";
        const int lane = std::countr_zero(m);
        text += format("%slane %d 0x%llx", text.empty() ? "" : ", ", lane,
                       static_cast<unsigned long long>(values[static_cast<size_t>(lane)]));
    }
    return text;
}

// What s_trap 1 is given, which is for a debugger: v0 in each lane, and s[0:1], the queue.
void describe_arguments(const machine::Wave& wave, FaultRecord& record) {
    std::array<uint64_t, machine::lanes> v0{};
    for (uint32_t l = 0; l < machine::lanes && wave.vgpr_count; l++) v0[l] = wave.vgpr[l];
    record.notes.push_back("argument    v0: " + value_list(wave.exec(), v0, machine::lanes));
    record.notes.push_back(
        format("queue       s[0:1]: 0x%llx", static_cast<unsigned long long>(wave.s64(0))));
}

// Lanes and addresses from the registers that the instruction had. They must explain the address
// that faulted; if not, what the engine knows stands.
void explain(const Target& target, const memory::AddressSpace& memory, machine::Wave& wave,
             const Inst& inst, FaultRecord& record) {
    machine::ExitInfo found = record.exit;
    found.lane_mask = 0;
    std::array<uint64_t, machine::lanes> addresses{};
    FaultReplay replay(target, memory);
    machine::Wave* precise = wave.exit.block_begin ? replay.run(wave) : &wave;
    // Without the registers there are no addresses to look at: the instruction alone tells
    // something.
    const uint64_t exec = wave.exec();
    if (!precise) wave.set_mask(machine::exec_lo, 0);
    interp::explain_fault(precise ? *precise : wave, inst, found, &addresses);
    wave.set_mask(machine::exec_lo, exec);
    const uint64_t known = record.exit.address, chunk = record.exit.lane_mask;
    const bool certain = precise == &wave || replay.certain();
    // Chunks and lanes run in ascending order: those in front of the one that faulted did not
    // fault.
    const auto drop_before = [&](uint64_t lanes) {
        found.lane_mask &= ~uint64_t{0} << std::countr_zero(lanes);
    };
    if (!certain && chunk) drop_before(chunk);
    bool fits = certain && (!known || inst.format == Format::SMEM);
    // Bytes and words are loaded in dwords that hold them: it is the dword that faulted.
    const uint64_t in_front = found.access_bytes < 4 ? 3 : 0;
    const bool any_lane = certain || !chunk;
    for (uint64_t m = any_lane ? found.lane_mask : found.lane_mask & chunk; m && known;
         m &= m - 1) {
        const uint64_t at = addresses[static_cast<size_t>(std::countr_zero(m))];
        if (wave.ctx->reach(at) - known > in_front) continue;
        fits = true;
        found.address = at;
        if (!certain && !chunk) drop_before(m);
        break;
    }
    const bool same_lanes = !chunk || found.lane_mask & chunk;
    if (precise && fits && same_lanes && (found.lane_mask || inst.format == Format::SMEM)) {
        record.exit = found;
        if (found.lane_mask) record.addresses.assign(addresses.begin(), addresses.end());
        return;
    }
    record.lanes_are_exact = false;
    bool vector = inst.format == Format::GLOBAL || inst.format == Format::FLAT ||
                  inst.format == Format::SCRATCH || inst.format == Format::MUBUF ||
                  inst.format == Format::MTBUF;
    if (vector && !record.exit.lane_mask) record.exit.lane_mask = wave.exec();
    // A signal knows reads and writes only; the instruction knows better.
    if (record.exit.access == machine::Access::None || found.access == machine::Access::Atomic)
        record.exit.access = found.access;
    if (!record.exit.access_bytes) record.exit.access_bytes = found.access_bytes;
}

// Where the pc is: functions that a kernel calls are named, and may lie in front of it.
std::string place_of(const FaultRecord& record, const std::optional<SymbolLocation>& symbol) {
    if (symbol && symbol->name != record.kernel)
        return format("%s + 0x%llx", symbol->name.c_str(),
                      static_cast<unsigned long long>(symbol->offset));
    const bool front = record.kernel_offset < 0;
    const auto offset = static_cast<uint64_t>(record.kernel_offset);
    return format("kernel %c 0x%llx", front ? '-' : '+',
                  static_cast<unsigned long long>(front ? 0 - offset : offset));
}

void locate(const memory::AddressSpace& memory, const DispatchState& dispatch,
            const machine::WorkGroup& group, uint32_t wave, FaultRecord& record) {
    record.kernel = dispatch.kernel_name;
    record.kernel_offset = static_cast<int64_t>(record.exit.pc - dispatch.plan.entry);
    std::copy_n(group.id.begin(), 3, record.work_group.begin());
    record.wave = wave;
    if (!dispatch.module || dispatch.module->in_kernel(dispatch.plan.entry, record.exit.pc)) return;
    const auto find = [&](uint64_t pc) { return ModuleImpl::holder(dispatch.module, pc); };
    record.callers =
        find_callers(memory, *dispatch.plan.target, find, group.waves[wave], record.exit.pc);
}

// What the code there is. module: null if nobody knows, or it has gone.
void tell_place(const memory::AddressSpace& memory, const Target& target,
                const std::shared_ptr<ModuleImpl>& module, FaultRecord& record) {
    record.instruction = instruction_at(target, memory, record.exit.pc, record.words);
    record.place = place_of(record, {});
    if (!module) return;
    const CodeObject& object = module->object();
    const uint64_t address = module->elf_address(record.exit.pc);
    if (auto line = module->lines().find(address)) record.source = line->text();
    if (const std::string why = DebugInfo::unreadable(object); !why.empty())
        record.notes.push_back("the source line " + why);
    if (const auto symbol = module->symbol_at(record.exit.pc)) {
        record.place = place_of(record, symbol);
        record.notes.push_back("in " + symbol->text());
    }
    const auto find = [&](uint64_t pc) { return ModuleImpl::holder(module, pc); };
    record.stack = describe_stack(find, record.exit.pc, record.callers);
}

void locate_and_tell(const memory::AddressSpace& memory, const DispatchState& dispatch,
                     const machine::WorkGroup& group, uint32_t wave, FaultRecord& record) {
    locate(memory, dispatch, group, wave, record);
    tell_place(memory, *dispatch.plan.target, dispatch.module, record);
}

// The number of the barrier that a wave waits for (ExitInfo::detail).
int32_t number_of(uint32_t detail) {
    if (detail == machine::waits_for_cluster) return machine::cluster_barrier;
    return detail == machine::waits_for_group ? machine::group_barrier
                                              : static_cast<int32_t>(detail);
}

machine::BarrierObject& barrier_of(machine::WorkGroup& group, uint32_t detail) {
    if (detail == machine::waits_for_cluster) return group.in_cluster.cluster->barrier;
    return detail == machine::waits_for_group ? group.barrier : group.named->objects[detail];
}

// Of the barriers that waves of a work-group wait for, how far they are.
void list_barriers(GroupContext& group, FaultRecord& record) {
    std::unique_lock<std::mutex> lock;
    if (machine::Cluster* const cluster = group.group.in_cluster.cluster)
        lock = std::unique_lock(cluster->mutex);
    for (uint32_t detail = 0; detail <= machine::waits_for_cluster; detail++) {
        uint32_t waiting = 0;
        for (uint32_t i = 0; i < group.group.wave_count; i++)
            waiting +=
                group.states[i] == WaveState::AtBarrier && group.waves[i].exit.detail == detail;
        if (!waiting) continue;
        const machine::BarrierObject& barrier = barrier_of(group.group, detail);
        record.notes.push_back(format("barrier %d: %u waves wait, %u of %u have signalled",
                                      number_of(detail), waiting, barrier.arrived(),
                                      barrier.expected()));
    }
}

// Where the waves of a work-group are, at most 16 lines.
void list_waves(const memory::AddressSpace& memory, const DispatchState& dispatch,
                const GroupContext& group, FaultRecord& record) {
    static const char* const states[] = {"running", "waits at a barrier", "has ended",
                                         "running in a loop, waiting,"};
    for (uint32_t i = 0; i < group.group.wave_count && i < 16; i++) {
        const machine::Wave& wave = group.waves[i];
        WaveState state = group.states[i];
        std::string line = format("wave %u %s", i, states[static_cast<int>(state)]);
        if (state == WaveState::AtBarrier && wave.exit.detail)
            line = format("wave %u waits at barrier %d", i, number_of(wave.exit.detail));
        if (state != WaveState::Ended) {
            std::vector<uint32_t> words;
            // A waiting wave's pc is behind its s_barrier.
            uint64_t pc = wave.pc - (state == WaveState::AtBarrier ? 4 : 0);
            std::string text = instruction_at(*dispatch.plan.target, memory, pc, words);
            line += format(" at 0x%llx", static_cast<unsigned long long>(pc));
            if (dispatch.module) line += " (" + dispatch.module->where(pc) + ")";
            line += ": " + text;
        }
        record.notes.push_back(std::move(line));
    }
    if (group.group.wave_count > 16)
        record.notes.push_back(format("and %u more waves", group.group.wave_count - 16));
}

// Of what concerns a work-group: one of its waves stands for all, which are listed.
void locate_among_waves(const memory::AddressSpace& memory, const DispatchState& dispatch,
                        const GroupContext& group, uint32_t wave, uint64_t pc,
                        FaultRecord& record) {
    record.exit.pc = pc;
    locate_and_tell(memory, dispatch, group.group, wave, record);
    list_waves(memory, dispatch, group, record);
}

std::string describe_memory(const memory::AddressSpace& memory, uint32_t private_bytes,
                            uint64_t address) {
    if (address >> 32 != machine::private_aperture >> 32) return memory.describe(address);
    return format(
        "byte 0x%x of a work-item, beyond the private segment of %u bytes: a call stack "
        "that needs more is launched with a larger private segment (hipLimitStackSize)",
        static_cast<uint32_t>(address), private_bytes);
}

// What a checker has found: where, and who was there before.
std::string describe_lds(machine::LdsShadow& shadow, uint64_t address) {
    using machine::LdsShadow;
    const uint64_t at = address - machine::shared_aperture, size = shadow.size();
    std::string text =
        format("byte 0x%llx of LDS, of which the work-group has %llu bytes",
               static_cast<unsigned long long>(at), static_cast<unsigned long long>(size));
    if (at >= size) return text;
    const auto who = [&](const char* did, uint16_t wave) {
        if (wave == LdsShadow::nobody) return;
        text += format("; %s by ", did);
        text += wave == LdsShadow::several ? "several waves" : format("wave %u", wave);
    };
    who("written", shadow.cell(at).writer);
    who("read", shadow.cell(at).reader);
    return text;
}

std::string describe_accessed(const memory::AddressSpace& memory, machine::GroupShadow& shadow,
                              uint64_t address) {
    const uint64_t aperture = address & ~uint64_t{0xffffffff};
    if (aperture == machine::shared_aperture) return describe_lds(shadow.lds, address);
    if (aperture == machine::private_aperture)
        return format("byte 0x%x of a work-item's private segment", static_cast<uint32_t>(address));
    return memory.describe(address);
}

// Of a register that a finding is about.
std::string register_name(const machine::Finding& finding) {
    if (finding.file != 's') return format("%c%u", finding.file, finding.reg);
    struct Name {
        uint32_t reg;
        const char* name;
    };
    constexpr Name names[] = {
        {machine::vcc_lo, "vcc_lo"},   {machine::vcc_lo + 1, "vcc_hi"},   {machine::m0, "m0"},
        {machine::exec_lo, "exec_lo"}, {machine::exec_lo + 1, "exec_hi"}, {253, "scc"}};
    for (const Name& n : names)
        if (n.reg == finding.reg) return n.name;
    return format("s%u", finding.reg);
}

// The other one of two instructions that do not go together.
void describe_other(const memory::AddressSpace& memory, const DispatchState& dispatch,
                    const machine::Wave& wave, const machine::Finding& finding,
                    FaultRecord& record) {
    std::vector<uint32_t> words;
    const std::string text = instruction_at(*dispatch.plan.target, memory, finding.other.pc, words);
    std::string line =
        format("other       0x%llx", static_cast<unsigned long long>(finding.other.pc));
    if (dispatch.module) line += " (" + dispatch.module->where(finding.other.pc) + ")";
    line += ": " + text;
    if (finding.other.group != wave.group->linear_id || finding.other.wave != wave.wave_in_group) {
        machine::WorkGroup group;
        locate_group(dispatch.plan, finding.other.group, group);
        line += format(", work-group (%u, %u, %u), wave %u", group.id[0], group.id[1], group.id[2],
                       finding.other.wave);
    }
    record.notes.push_back(std::move(line));
    if (!dispatch.module) return;
    const uint64_t address = dispatch.module->elf_address(finding.other.pc);
    if (auto found = dispatch.module->lines().find(address))
        record.notes.push_back("            " + found->text());
}

uint32_t first_running(const GroupContext& group) {
    for (uint32_t i = 0; i < group.group.wave_count; i++)
        if (runs(group.states[i])) return i;
    return 0;
}

uint32_t first_waiting(const GroupContext& group) {
    const auto waits = std::find(group.states.begin(), group.states.end(), WaveState::AtBarrier);
    return static_cast<uint32_t>(waits - group.states.begin());
}

// FaultRecord::number
uint64_t fault_number(const DispatchState& dispatch, const machine::ExitInfo& exit) {
    const uint64_t place = dispatch.module ? dispatch.module->place(exit.pc) : exit.pc;
    const auto kind = static_cast<uint64_t>(exit.kind) << 16 |
                      static_cast<uint64_t>(exit.access) << 8 | (exit.detail & 0xff);
    return machine::Coverage::mix(place ^ machine::Coverage::mix(kind));
}

}  // namespace

const char* check_name(machine::Check check) {
    for (const auto& [name, bit] : check_names)
        if (bit == check) return name;
    return "";
}

FaultRecord stop_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                        GroupContext& group, uint32_t wave) {
    FaultRecord record;
    machine::Wave& stopped = group.waves[wave];
    record.exit = stopped.exit;
    const Target& target = *dispatch.plan.target;
    const bool faulted = record.exit.kind == ExitKind::MemoryFault;
    Inst inst;
    // A fault of the fetch has no instruction.
    if (faulted && fetch_inst(target, memory, record.exit.pc, inst))
        explain(target, memory, stopped, inst, record);
    if (record.exit.kind == ExitKind::Trap && record.exit.detail == machine::debugger_argument_trap)
        describe_arguments(stopped, record);
    record.code = code_of(record.exit);
    locate(memory, dispatch, group.group, wave, record);
    record.number = fault_number(dispatch, record.exit);
    record.tell = [&memory, &target, module = std::weak_ptr(dispatch.module), faulted,
                   private_bytes = stopped.scratch_bytes](FaultRecord& r) {
        r.message = describe_exit(r.exit);
        if (!r.addresses.empty())
            r.notes.push_back("addresses   " + value_list(r.exit.lane_mask, r.addresses, 8));
        tell_place(memory, target, module.lock(), r);
        if (faulted) r.memory = describe_memory(memory, private_bytes, r.exit.address);
    };
    return record;
}

FaultRecord finding_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                           const machine::Wave& wave, const machine::Finding& finding) {
    FaultRecord record;
    record.code = Code::GuestFault;
    record.check = check_name(finding.check);
    record.message = record.check + " checker: ";
    if (finding.access != machine::Access::None) {
        record.message += format("%s of %u bytes at 0x%llx", access_name(finding.access),
                                 finding.bytes, static_cast<unsigned long long>(finding.address));
        record.exit.reason = finding.what;
        record.memory = describe_accessed(memory, *wave.group->shadow, finding.address);
    } else {
        if (finding.file) record.message += register_name(finding) + " ";
        record.message += finding.what;
    }
    record.exit.access = finding.access;
    record.exit.access_bytes = finding.bytes;
    record.exit.address = finding.address;
    record.exit.lane_mask = finding.lanes;
    record.exit.pc = finding.pc;
    locate_and_tell(memory, dispatch, *wave.group, wave.wave_in_group, record);
    if (finding.other.pc) describe_other(memory, dispatch, wave, finding, record);
    record.key = record.check + ":" + record.kernel + ":" + record.place + ":" + finding.what;
    return record;
}

FaultRecord timeout_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                           GroupContext& group, bool time, uint64_t elapsed_ns,
                           uint64_t instructions) {
    FaultRecord record;
    record.code = Code::Timeout;
    record.message =
        time ? format(
                   "the dispatch did not end within its time limit of %.3f s (%.3f s, %llu wave "
                   "instructions so far)",
                   static_cast<double>(dispatch.plan.request.timeout_ns) * 1e-9,
                   static_cast<double>(elapsed_ns) * 1e-9,
                   static_cast<unsigned long long>(instructions))
             : format("the dispatch used up its limit of %llu wave instructions",
                      static_cast<unsigned long long>(dispatch.plan.request.instruction_limit));
    const uint32_t wave = first_running(group);
    locate_among_waves(memory, dispatch, group, wave, group.waves[wave].pc, record);
    return record;
}

FaultRecord deadlock_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                            GroupContext& group) {
    FaultRecord record;
    record.code = Code::Deadlock;
    const bool no_one_runs = group.waiting + group.ended == group.group.wave_count;
    const uint32_t detail = group.waves[first_waiting(group)].exit.detail;
    const machine::BarrierObject& barrier = barrier_of(group.group, detail);
    record.message =
        no_one_runs
            ? format(
                  "barrier deadlock: %u of %u waves of the work-group wait at a barrier that has "
                  "%u signals of its %u members, the others have ended",
                  group.waiting, group.group.wave_count, barrier.arrived(), barrier.expected())
            : format(
                  "barrier deadlock: %u of %u waves of the work-group wait at a barrier that "
                  "the others, in endless loops, never reach",
                  group.waiting, group.group.wave_count);
    const uint32_t wave = no_one_runs ? first_waiting(group) : first_running(group);
    const uint64_t pc = group.waves[wave].pc - (no_one_runs ? 4 : 0);  // behind its barrier
    locate_among_waves(memory, dispatch, group, wave, pc, record);
    if (no_one_runs) list_barriers(group, record);
    return record;
}

FaultRecord misuse_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                          GroupContext& group) {
    machine::WorkGroup& g = group.group;
    machine::Wave& wave = g.waves[g.misuser];
    wave.exit = {.kind = ExitKind::BarrierMisuse,
                 .detail = static_cast<uint32_t>(g.misused),
                 .pc = wave.pc - 4,  // of its s_endpgm
                 .reason = g.misuse};
    return stop_report(memory, dispatch, group, g.misuser);
}

FaultRecord missed_barrier_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                                  GroupContext& group) {
    FaultRecord record;
    record.code = Code::GuestFault;
    record.message = format(
        "missed barrier: %u of %u waves of the work-group wait at a barrier that the others have "
        "ended without",
        group.waiting, group.group.wave_count);
    record.check = check_name(machine::check_barrier);
    const uint32_t wave = first_waiting(group);
    const uint64_t barrier = group.waves[wave].pc - 4;  // it is behind it
    locate_among_waves(memory, dispatch, group, wave, barrier, record);
    record.key = record.check + ":" + record.kernel + ":" + record.place + ":missed barrier";
    return record;
}

void FaultRecord::make_texts() {
    if (const auto make = std::exchange(tell, nullptr)) make(*this);
}

std::string FaultRecord::text() const {
    if (tell) {
        FaultRecord told = *this;
        told.make_texts();
        return told.text();
    }
    std::string out = message.empty() ? std::string(code_name(code)) : message;
    if (exit.reason) out += std::string(" (") + exit.reason + ")";
    out += "\n  kernel      " + (kernel.empty() ? std::string("?") : kernel);
    if (!instruction.empty()) {
        out += format("\n  at          0x%llx, ", static_cast<unsigned long long>(exit.pc)) +
               place + ": ";
        out += instruction + "   // " + words_text(words);
        if (!source.empty()) out += "\n  source      " + source;
        bool first = true;
        for (const std::string& line : stack.lines())
            out += (std::exchange(first, false) ? "\n  stack       " : "\n              ") + line;
        out += format("\n  work-group  (%u, %u, %u), wave %u", work_group[0], work_group[1],
                      work_group[2], wave);
    }
    if (exit.lane_mask)
        out += std::string("\n  lanes       ") + (lanes_are_exact ? "" : "among ") +
               lane_list(exit.lane_mask);
    if (!memory.empty()) out += "\n  memory      " + memory;
    for (const std::string& note : notes) out += "\n  " + note;
    return out;
}

}  // namespace wj::runtime
