#include "runtime/call_stack.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "common/per_thread.h"
#include "frontend/effects.h"
#include "runtime/guest_code.h"
#include "runtime/saved_registers.h"

namespace wj::runtime {
namespace {

constexpr uint16_t return_address = 30;  // s[30:31] (LLVM AMDGPUUsage, "Non-Kernel Functions")
constexpr size_t most_frames = 256;
// Places that a register is followed through. Code that keeps a stack pointer in the frame that it
// points at leads in circles.
constexpr uint32_t most_places = 2048;
constexpr uint64_t call_bytes = 4, most_function_bytes = 1 << 20;

// The registers of the functions that called each other, as far as these have kept them.
class Frames {
public:
    explicit Frames(const machine::Wave& wave, bool link_unsure)
        : wave_(wave), link_unsure_(link_unsure) {}

    // Of the function that called the outermost one so far.
    void add(SavedRegisters saved) { saved_.push_back(std::move(saved)); }
    std::optional<uint64_t> caller() const {
        places_ = 0;
        const auto low = scalar(saved_.size(), return_address),
                   high = scalar(saved_.size(), return_address + 1);
        if (!low || !high) return std::nullopt;
        return *low | uint64_t{*high} << 32;
    }

private:
    // depth 0: what the wave has; others: what the depth-th function had found at its entry.
    std::optional<uint32_t> scalar(size_t depth, uint16_t reg) const {
        if (!depth) {
            if (reg / 2 == return_address / 2 && link_unsure_) return std::nullopt;
            return wave_.sgpr[reg];
        }
        const SavedRegisters& s = saved_[depth - 1];
        const EntryScalar wanted{static_cast<int16_t>(reg), 0};
        if (s.scalars[reg] == wanted) return scalar(depth - 1, reg);
        for (const auto& [row, holds] : s.rows)
            for (const auto& [lane, value] : holds.lanes)
                if (value == wanted) return lane_of(depth - 1, row, lane);
        for (const auto& [byte, holds] : s.slots)
            for (const auto& [lane, value] : holds.lanes)
                if (value == wanted) return frame_lane(depth, byte, lane);
        // Copies: those in high registers, which calls leave alone, first.
        const auto copy = std::find_if(s.scalars.rbegin(), s.scalars.rend(),
                                       [&](const EntryScalar& v) { return v.reg == reg; });
        if (copy == s.scalars.rend()) return std::nullopt;
        const auto value = scalar(depth - 1, static_cast<uint16_t>(s.scalars.rend() - copy - 1));
        if (!value) return std::nullopt;
        return *value - static_cast<uint32_t>(copy->offset);
    }

    std::optional<uint32_t> lane_of(size_t depth, uint16_t row, uint8_t lane) const {
        if (!depth) return lane_now(row, lane);
        const SavedRegisters& s = saved_[depth - 1];
        if (s.row(row).holds(row, lane)) return lane_of(depth - 1, row, lane);
        for (const auto& [r, holds] : s.rows)
            if (holds.holds(row, lane)) return lane_of(depth - 1, r, lane);
        for (const auto& [byte, holds] : s.slots)
            if (holds.holds(row, lane)) return frame_lane(depth, byte, lane);
        return std::nullopt;
    }
    std::optional<uint32_t> lane_now(uint32_t row, uint8_t lane) const {
        const bool accumulator = row >= 256;
        if (accumulator) row -= 256;
        if (row >= (accumulator ? wave_.agpr_count : wave_.vgpr_count)) return std::nullopt;
        return (accumulator ? wave_.agpr : wave_.vgpr)[size_t{row} * machine::lanes + lane];
    }
    // A dword of the depth-th function's frame.
    std::optional<uint32_t> frame_lane(size_t depth, int32_t byte, uint8_t lane) const {
        const auto stack =
            places_++ < most_places ? scalar(depth, SavedRegisters::stack_pointer) : std::nullopt;
        if (!stack) return std::nullopt;
        const uint32_t at = *stack / saved_[depth - 1].stack_scale + static_cast<uint32_t>(byte);
        if (at % 4 || at >= wave_.scratch_bytes || wave_.scratch_bytes - at < 4)
            return std::nullopt;
        uint32_t value;
        std::memcpy(&value, wave_.scratch + (size_t{at / 4} * wave_.size + lane) * 4, 4);
        return value;
    }

    const machine::Wave& wave_;
    const bool link_unsure_;
    std::vector<SavedRegisters> saved_;  // innermost first
    mutable uint32_t places_ = 0;        // in the frames, since caller() was called
};

// A function by its symbol.
struct CodeRange {
    uint64_t begin = 0, size = 0;  // guest address, bytes
    bool kernel = false;
};
std::optional<CodeRange> function_at(const ModuleImpl& module, uint64_t pc) {
    const CodeObject& object = module.object();
    const Symbol* const symbol = find_code_symbol(object, module.elf_address(pc));
    if (!symbol || symbol->kind != Symbol::Kind::Function) return std::nullopt;
    const bool kernel = std::ranges::any_of(
        object.kernels, [&](const KernelInfo& k) { return k.entry_address == symbol->address; });
    return CodeRange{module.guest_address(symbol->address), symbol->size, kernel};
}

// Of functions that were looked at lately: who looks for faults meets the same ones again and
// again.
class KnownFunctions {
public:
    // Valid until the next call.
    const FunctionCode& of(const Target& target, uint64_t begin, std::span<const std::byte> code) {
        const std::pair key(&target, begin);
        const auto known = functions_.find(key);
        if (known != functions_.end() && known->second.is_of(code)) return known->second;
        if (known != functions_.end()) functions_.erase(known);
        if (functions_.size() == most || work_ > FunctionCode::most_work) {
            functions_.clear();
            work_ = 0;
        }
        const FunctionCode& made = functions_.try_emplace(key, target, begin, code).first->second;
        work_ += made.work();
        return made;
    }

private:
    static constexpr size_t most = 32;
    size_t work_ = 0;  // of those that are known: their size
    std::map<std::pair<const Target*, uint64_t>, FunctionCode> functions_;
};

class Walk {
public:
    Walk(const memory::AddressSpace& memory, const Target& target, const FindModule& find,
         const machine::Wave& wave)
        : memory_(memory), target_(target), find_(find), wave_(wave) {}

    CallSites from(uint64_t pc) {
        CallSites out;
        const bool amid = wave_.exit.kind == machine::ExitKind::MemoryFault &&
                          wave_.exit.block_begin && wave_.exit.pc == pc;
        // A block may end with a call, which says where it returns to.
        Frames frames(wave_, amid && wave_.s64(return_address) == wave_.exit.block_end);
        uint64_t begin = amid ? wave_.exit.block_begin : pc, end = amid ? wave_.exit.block_end : pc;
        std::optional<Inst> call;  // that the function is about to make; none: the innermost one
        while (true) {
            const auto module = find_(pc);
            const auto function = module ? function_at(*module, pc) : std::nullopt;
            out.complete = function && function->kernel;
            if (out.complete || out.pcs.size() == most_frames) return out;
            auto saved = function ? saved_in(*function, begin, end) : called_to(pc);
            if (!saved) return out;
            if (call) saved->step(target_, *call);  // s[30:31] are no longer the caller's
            frames.add(std::move(*saved));
            const auto back = frames.caller();
            call = back ? call_at(*back - call_bytes) : std::nullopt;
            if (!call) return out;
            begin = end = pc = *back - call_bytes;
            out.pcs.push_back(pc);
        }
    }

private:
    std::optional<SavedRegisters> saved_in(const CodeRange& function, uint64_t begin,
                                           uint64_t end) const {
        if (!function.size || function.size > most_function_bytes) return std::nullopt;
        const void* const bytes =
            memory_.translate(function.begin, function.size, memory::readable);
        if (!bytes) return std::nullopt;
        const std::span code(static_cast<const std::byte*>(bytes), function.size);
        return per_thread_by_key<KnownFunctions>().of(target_, function.begin, code).at(begin, end);
    }
    // Where no function is: a call may have led to it.
    std::optional<SavedRegisters> called_to(uint64_t pc) const {
        const auto call = call_at(wave_.s64(return_address) - call_bytes);
        if (!call || pc != wave_.exit.pc) return std::nullopt;
        const Operand& to = call->src[0];
        if (!to.is(Operand::Kind::Sgpr) || to.reg / 2 == return_address / 2 ||
            wave_.s64(to.reg) != pc)
            return std::nullopt;
        return SavedRegisters();
    }
    // One that has put its return address where functions expect it, in loaded code.
    std::optional<Inst> call_at(uint64_t pc) const {
        Inst inst;
        if (!find_(pc) || !fetch_inst(target_, memory_, pc, inst) || inst.size != call_bytes)
            return std::nullopt;
        const Flow flow = effects(inst.op).flow;
        const bool calls = (flow == Flow::Call || flow == Flow::Jump) &&
                           inst.dst[0].is(Operand::Kind::Sgpr) && inst.dst[0].reg == return_address;
        return calls ? std::optional(inst) : std::nullopt;
    }

    const memory::AddressSpace& memory_;
    const Target& target_;
    const FindModule& find_;
    const machine::Wave& wave_;
};

// The frames that the instruction at `pc` is in: one, and those that are inlined.
void describe(const FindModule& find, uint64_t pc, std::vector<StackFrame>& frames) {
    StackFrame frame;
    frame.pc = pc;
    const auto module = find(pc);
    if (!module) return frames.push_back(frame);
    const auto place = [&](const SourceLocation& at) {
        frame.file = at.file;
        frame.line = at.line;
        frame.column = at.column;
    };
    const uint64_t address = module->elf_address(pc);
    if (const auto line = module->lines().find(address)) place(*line);
    const auto functions = module->scopes().at(address);
    if (functions.empty())
        if (const auto symbol = module->symbol_at(pc)) frame.function = symbol->name;
    if (functions.empty()) return frames.push_back(frame);
    for (const SourceFunction& function : functions) {
        frame.function = function.name;
        frame.inlined = function.inlined;
        frames.push_back(frame);
        place(function.call);
    }
}

}  // namespace

CallSites find_callers(const memory::AddressSpace& memory, const Target& target,
                       const FindModule& find, const machine::Wave& wave, uint64_t pc) {
    return Walk(memory, target, find, wave).from(pc);
}

CallStack describe_stack(const FindModule& find, uint64_t pc, const CallSites& callers) {
    CallStack stack{.frames = {}, .complete = callers.complete};
    describe(find, pc, stack.frames);
    for (const uint64_t caller : callers.pcs) describe(find, caller, stack.frames);
    return stack;
}

std::vector<std::string> CallStack::lines() const {
    std::vector<std::string> lines;
    if (frames.size() < 2 && complete) return lines;
    for (const StackFrame& f : frames) {
        std::string line =
            "#" + std::to_string(lines.size()) + " " + (f.function.empty() ? "?" : f.function);
        if (!f.file.empty()) line += " at " + f.file + ":" + std::to_string(f.line);
        if (f.column) line += ":" + std::to_string(f.column);
        lines.push_back(line + (f.inlined ? " (inlined)" : ""));
    }
    if (!complete) lines.push_back("(its callers could not be found)");
    return lines;
}

}  // namespace wj::runtime
