#include "runtime/saved_registers.h"

#include <algorithm>
#include <cstring>

#include "frontend/each_instruction.h"
#include "frontend/effects.h"
#include "lift/liveness.h"
#include "machine/wave.h"

namespace wj::runtime {
namespace {

using Kind = Operand::Kind;

uint16_t row_of(const Operand& o) {
    return static_cast<uint16_t>(o.reg + (o.is(Kind::Agpr) ? 256 : 0));
}
bool is_row(const Operand& o) {
    return o.is(Kind::Vgpr) || o.is(Kind::Agpr);
}
bool is_number(const Operand& o) {
    return o.is(Kind::Const) || o.is(Kind::Literal) || o.is(Kind::Imm);
}

EntryRow meet(const EntryRow& a, const EntryRow& b) {
    EntryRow out{.row = a.row == b.row ? a.row : int16_t{-1}, .lanes = {}};
    const auto add = [&](const EntryRow& from, const EntryRow& other) {
        for (const auto& [lane, value] : from.lanes) {
            const auto same = other.lanes.find(lane);
            const bool agree = same != other.lanes.end() && same->second == value;
            if (agree || out.row >= 0) out.lanes[lane] = agree ? value : EntryScalar{};
        }
    };
    add(a, b);
    add(b, a);
    return out;
}

// One instruction: what it makes of the registers.
class Step {
public:
    Step(SavedRegisters& s, const Target& target, const Inst& inst)
        : s_(s), target_(target), inst_(inst) {}

    void run() {
        const Effects& e = effects(inst_.op);
        if (const auto at = frame_byte(); at && e.access == MemoryAccess::Store) return store(*at);
        if (const auto at = frame_byte(); at && e.access == MemoryAccess::Load) return load(*at);
        for (const Rule& rule : rules)
            if (rule.op == inst_.op) return (this->*rule.apply)();
        clobber();
    }

private:
    struct Rule {
        Opcode op;
        void (Step::*apply)();
    };
    static const Rule rules[14];

    // Nothing is known of what it writes.
    void clobber() {
        const lift::RegisterUse use = lift::register_use(target_, inst_);
        for (uint32_t r = 0; r < s_.scalars.size(); r++)
            if (use.scalars_written[r]) s_.scalars[r] = {};
        if (use.scalars_written[machine::exec_lo]) s_.lanes = 0;
        if (use.rows_written.none()) return;
        for (uint16_t r = 0; r < use.rows_written.size(); r++)
            if (use.rows_written[r]) s_.set_row(r, {});
    }
    EntryScalar scalar(const Operand& o, uint32_t dword = 0) const {
        const uint32_t reg = o.reg + dword;
        return o.is(Kind::Sgpr) && reg < s_.scalars.size() ? s_.scalars[reg] : EntryScalar{};
    }
    void set_scalar(EntryScalar value, uint32_t dword = 0) {
        const uint32_t reg = inst_.dst[0].reg + dword;
        if (inst_.dst[0].is(Kind::Sgpr) && reg < s_.scalars.size()) s_.scalars[reg] = value;
    }
    bool writes_exec() const {
        return inst_.dst[0].is(Kind::Sgpr) && inst_.dst[0].reg == machine::exec_lo;
    }

    void copy_scalar() {
        const EntryScalar low = scalar(inst_.src[0]), high = scalar(inst_.src[0], 1);
        clobber();
        set_scalar(low);
        if (inst_.dst[0].dwords == 2) set_scalar(high, 1);
        if (writes_exec() && is_number(inst_.src[0])) s_.lanes = inst_.src[0].value;
    }
    void add() { add(inst_.src[0], inst_.src[1], 1); }
    void add_constant() { add(inst_.dst[0], inst_.src[0], 1); }
    void subtract() { add(inst_.src[0], inst_.src[1], -1); }
    void add(const Operand& a, const Operand& b, int32_t sign) {
        const Operand& number = is_number(b) ? b : a;
        EntryScalar sum = scalar(is_number(b) ? a : b);
        const auto by = static_cast<int32_t>(static_cast<uint32_t>(number.value)) * sign;
        if (!is_number(number) || (sign < 0 && is_number(a)) ||
            __builtin_add_overflow(sum.offset, by, &sum.offset))
            sum = {};
        clobber();
        set_scalar(sum.reg < 0 ? EntryScalar{} : sum);
    }
    void switch_lanes_on() {
        const uint64_t lanes = s_.lanes | (is_number(inst_.src[0]) ? inst_.src[0].value : 0);
        clobber();
        s_.lanes = lanes;
    }
    void write_lane() {
        if (!is_number(inst_.src[1])) return clobber();
        const uint16_t r = row_of(inst_.dst[0]);
        EntryRow row = s_.row(r);
        row.lanes[static_cast<uint8_t>(inst_.src[1].value % target_.traits.wave_size)] =
            scalar(inst_.src[0]);
        s_.set_row(r, std::move(row));
    }
    void read_lane() {
        EntryScalar value;
        if (is_row(inst_.src[0]) && is_number(inst_.src[1])) {
            const EntryRow row = s_.row(row_of(inst_.src[0]));
            const auto found =
                row.lanes.find(static_cast<uint8_t>(inst_.src[1].value % target_.traits.wave_size));
            if (found != row.lanes.end()) value = found->second;
        }
        clobber();
        set_scalar(value);
    }
    void copy_row() {
        EntryRow row;
        if (is_row(inst_.src[0]) && (all_on() || effects(inst_.op).unmasked) &&
            inst_.variant <= Variant::E64)
            row = s_.row(row_of(inst_.src[0]));
        clobber();
        s_.set_row(row_of(inst_.dst[0]), std::move(row));
    }

    bool all_on() const {
        const uint64_t all = machine::first_lanes(target_.traits.wave_size);
        return (s_.lanes & all) == all;
    }
    // Of an access of dwords at a fixed place of the frame.
    std::optional<int32_t> frame_byte() {
        const bool buffer = inst_.format == Format::MUBUF;
        if (!buffer && inst_.format != Format::SCRATCH) return std::nullopt;
        const EntryScalar base = scalar(buffer ? inst_.soffset() : inst_.sbase());
        const int32_t scale = buffer ? static_cast<int32_t>(target_.traits.wave_size) : 1;
        if (inst_.offen || inst_.idxen || is_row(inst_.vaddr()) || inst_.lds ||
            base.reg != SavedRegisters::stack_pointer || base.offset % scale ||
            effects(inst_.op).bytes % 4)
            return std::nullopt;
        if (s_.stack_scale != static_cast<uint32_t>(scale)) s_.slots.clear();
        s_.stack_scale = static_cast<uint32_t>(scale);
        return base.offset / scale + inst_.offset;
    }
    void store(int32_t at) {
        for (uint16_t d = 0; d < effects(inst_.op).bytes / 4; d++) {
            EntryRow row = s_.row(static_cast<uint16_t>(row_of(inst_.vdata()) + d));
            s_.slots[at + 4 * d] = all_on() ? std::move(row) : lanes_of(row);
        }
    }
    void load(int32_t at) {
        const uint16_t r = row_of(inst_.dst[0]);
        clobber();
        for (uint16_t d = 0; d < effects(inst_.op).bytes / 4; d++) {
            const auto slot = s_.slots.find(at + 4 * d);
            if (slot == s_.slots.end()) continue;
            const auto to = static_cast<uint16_t>(r + d);
            s_.set_row(to, all_on() ? slot->second : lanes_of(slot->second));
        }
    }
    // The scalars that `row` has in lanes that are on.
    EntryRow lanes_of(const EntryRow& row) const {
        EntryRow out;
        for (const auto& lane : row.lanes)
            if (s_.lanes >> lane.first & 1) out.lanes.insert(lane);
        return out;
    }

    SavedRegisters& s_;
    const Target& target_;
    const Inst& inst_;
};

const Step::Rule Step::rules[] = {
    {Opcode::s_mov_b32, &Step::copy_scalar},
    {Opcode::s_mov_b64, &Step::copy_scalar},
    {Opcode::s_add_u32, &Step::add},
    {Opcode::s_add_i32, &Step::add},
    {Opcode::s_addk_i32, &Step::add_constant},
    {Opcode::s_sub_u32, &Step::subtract},
    {Opcode::s_sub_i32, &Step::subtract},
    {Opcode::s_or_saveexec_b32, &Step::switch_lanes_on},
    {Opcode::s_or_saveexec_b64, &Step::switch_lanes_on},
    {Opcode::v_writelane_b32, &Step::write_lane},
    {Opcode::v_readlane_b32, &Step::read_lane},
    {Opcode::v_mov_b32, &Step::copy_row},
    {Opcode::v_accvgpr_read_b32, &Step::copy_row},
    {Opcode::v_accvgpr_write_b32, &Step::copy_row},
};

// Otherwise the function is left, or it goes on elsewhere.
bool goes_on(const Inst& inst) {
    const Flow flow = effects(inst.op).flow;
    const bool calls = inst.dst[0].present();
    return flow != Flow::End && flow != Flow::Goto && (flow != Flow::Jump || calls);
}

}  // namespace

SavedRegisters::SavedRegisters() {
    for (uint32_t r = 0; r < scalars.size(); r++) scalars[r].reg = static_cast<int16_t>(r);
}

EntryRow SavedRegisters::row(uint16_t r) const {
    if (!changed[r]) return {.row = static_cast<int16_t>(r), .lanes = {}};
    const auto found = rows.find(r);
    return found == rows.end() ? EntryRow{} : found->second;
}

void SavedRegisters::set_row(uint16_t r, EntryRow holds) {
    const bool same = holds.row == r && holds.lanes.empty();
    changed.set(r, !same);
    if (same || !holds.known())
        rows.erase(r);
    else
        rows[r] = std::move(holds);
}

void SavedRegisters::meet(const SavedRegisters& other) {
    for (uint32_t r = 0; r < scalars.size(); r++)
        if (!(scalars[r] == other.scalars[r])) scalars[r] = {};
    for (uint16_t r = 0; r < changed.size(); r++)
        if (changed[r] || other.changed[r]) set_row(r, runtime::meet(row(r), other.row(r)));
    if (stack_scale != other.stack_scale) slots.clear();
    for (auto& [byte, holds] : slots) {
        const auto there = other.slots.find(byte);
        holds = there == other.slots.end() ? EntryRow{} : runtime::meet(holds, there->second);
    }
    std::erase_if(slots, [](const auto& slot) { return !slot.second.known(); });
    lanes &= other.lanes;
}

void SavedRegisters::step(const Target& target, const Inst& inst) {
    Step(*this, target, inst).run();
}

size_t SavedRegisters::size() const {
    size_t lanes = 0;
    for (const auto& [row, holds] : rows) lanes += 1 + holds.lanes.size();
    for (const auto& [byte, holds] : slots) lanes += 1 + holds.lanes.size();
    return lanes;
}

FunctionCode::FunctionCode(const Target& target, uint64_t begin, std::span<const std::byte> code)
    : target_(target), begin_(begin), code_(code.begin(), code.end()) {
    find_leaders();
    enter(begin, {});
    while (!left_.empty() && work_ < most_work) {
        const uint64_t pc = left_.back();
        left_.pop_back();
        explore(pc);
    }
    if (!left_.empty()) reached_.clear();
}

bool FunctionCode::instruction_at(uint64_t pc, Inst& inst) const {
    return decode_at(target_, code_, pc - begin_, inst);
}

void FunctionCode::find_leaders() {
    leaders_.insert(begin_);
    each_instruction(target_, code_, [&](size_t at, const Inst& inst) {
        const Flow flow = effects(inst.op).flow;
        if (flow != Flow::Goto && flow != Flow::Branch) return;
        const uint64_t next = begin_ + at + inst.size;
        leaders_.insert(next);
        leaders_.insert(branch_target(inst, next));
    });
}

void FunctionCode::enter(uint64_t pc, const SavedRegisters& state) {
    work_ += 16 + state.size();
    const auto [known, fresh] = reached_.try_emplace(pc, state);
    if (!fresh) {
        SavedRegisters both = known->second;
        both.meet(state);
        if (both == known->second) return;
        known->second = std::move(both);
    }
    left_.push_back(pc);
}

void FunctionCode::explore(uint64_t pc) {
    SavedRegisters state = reached_.at(pc);
    for (Inst inst; instruction_at(pc, inst); pc += inst.size) {
        const Flow flow = effects(inst.op).flow;
        const uint64_t next = pc + inst.size;
        work_++;
        state.step(target_, inst);
        if (effects(inst.op).access != MemoryAccess::None) work_ += 16;  // rows of lanes are moved
        if (flow == Flow::Goto || flow == Flow::Branch) enter(branch_target(inst, next), state);
        if (!goes_on(inst)) return;
        if (leaders_.contains(next)) return enter(next, state);
    }
}

std::optional<SavedRegisters> FunctionCode::at(uint64_t from, uint64_t to) const {
    std::optional<SavedRegisters> found;
    for (const auto& [leader, begins] : reached_) {
        const auto next = leaders_.upper_bound(leader);
        if (leader > to || (next != leaders_.end() && *next <= from)) continue;
        SavedRegisters state = begins;
        Inst inst;
        bool straight = false;  // from the instruction in front of it
        for (uint64_t pc = leader; pc <= to && instruction_at(pc, inst); pc += inst.size) {
            if (pc != leader && leaders_.contains(pc)) break;
            if (pc >= from && (pc < to || pc == from || straight)) {
                if (found)
                    found->meet(state);
                else
                    found = state;
            }
            if (!goes_on(inst)) break;
            straight = effects(inst.op).flow == Flow::Next;
            state.step(target_, inst);
        }
    }
    return found;
}

}  // namespace wj::runtime
