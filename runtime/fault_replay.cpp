#include "runtime/fault_replay.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <span>
#include <vector>

#include "common/per_thread.h"
#include "frontend/each_instruction.h"
#include "frontend/effects.h"
#include "frontend/vgpr_msb.h"
#include "interpreter/interpreter.h"
#include "lift/liveness.h"
#include "machine/guard.h"
#include "memory/page_hooks.h"

namespace wj::runtime {
namespace {

constexpr uint64_t most_bytes = 4096;

struct Step {
    uint64_t pc;
    Inst inst;
    lift::RegisterUse use;
};

// The instructions of the block that has last been asked for: who looks for faults meets the same
// one again and again.
class BlockSteps {
public:
    // Null: they cannot be read or are no instructions. Valid until the next call.
    const std::vector<Step>* of(const Target& target, const memory::AddressSpace& memory,
                                uint64_t begin, uint64_t end) {
        const auto* const code =
            static_cast<const uint8_t*>(memory.translate(begin, end - begin, memory::readable));
        if (!code) return nullptr;
        const std::span<const uint8_t> bytes(code, end - begin);
        if (target_ == &target && begin_ == begin && std::ranges::equal(bytes, bytes_))
            return &steps_;
        target_ = nullptr;
        begin_ = begin;
        bytes_.assign(bytes.begin(), bytes.end());
        if (!read(target)) return nullptr;
        target_ = &target;
        return &steps_;
    }

private:
    bool read(const Target& target) {
        steps_.clear();
        for (size_t at = 0; at < bytes_.size();) {
            Step& step = steps_.emplace_back(Step{begin_ + at, {}, {}});
            if (!decode_at(target, std::as_bytes(std::span(bytes_)), at, step.inst)) return false;
            step.use = lift::register_use(target, step.inst);
            at += step.inst.size;
        }
        return true;
    }

    const Target* target_ = nullptr;  // null: there are none
    uint64_t begin_ = 0;
    std::vector<uint8_t> bytes_;
    std::vector<Step> steps_;
};

struct Registers {
    std::bitset<128> scalars;
    std::bitset<512> rows;
    bool scc = false;

    bool meets(const Registers& o) const {
        return (scalars & o.scalars).any() || (rows & o.rows).any() || (scc && o.scc);
    }
    void add(const Registers& o) {
        scalars |= o.scalars;
        rows |= o.rows;
        scc |= o.scc;
    }
    void drop(const Registers& o) {
        scalars &= ~o.scalars;
        rows &= ~o.rows;
        scc &= !o.scc;
    }
};

Registers reads(const lift::RegisterUse& e) {
    return {e.scalars_read, e.rows_read, e.scc_read};
}
Registers writes(const lift::RegisterUse& e) {
    return {e.scalars_written, e.rows_written, e.scc_written};
}

bool is_memory(const Inst& inst) {
    return inst.format == Format::SMEM || inst.format >= Format::DS;
}
// Loads without side effects.
bool is_plain_load(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return e.access == MemoryAccess::Load && !inst.lds &&
           (inst.format == Format::GLOBAL || (inst.format == Format::SMEM && !e.partial));
}

// What the address of a memory instruction depends on.
Registers address_of(const Target& target, const Inst& inst) {
    Inst copy = inst;
    copy.src[1] = copy.src[2] = {};  // data
    copy.dst = {};
    return reads(lift::register_use(target, copy));
}

}  // namespace

machine::Wave* FaultReplay::run(const machine::Wave& wave) {
    const uint64_t begin = wave.exit.block_begin, end = wave.exit.block_end;
    if (begin >= end || end - begin > most_bytes) return nullptr;
    // Effects know registers by one name, that in the code.
    if (wave.sgpr_aliases || wave.vgpr_count > named_vgprs) return nullptr;
    const std::vector<Step>* const steps =
        per_thread_by_key<BlockSteps>().of(target_, memory_, begin, end);
    if (!steps) return nullptr;
    size_t fault = ~size_t{0};
    Registers written;
    for (size_t i = 0; i < steps->size(); i++) {
        if ((*steps)[i].pc == wave.exit.pc) fault = i;
        written.add(writes((*steps)[i].use));
    }
    if (fault == ~size_t{0}) return nullptr;

    // Backwards: which instructions lead to the address, and from which registers.
    Registers needed = address_of(target_, (*steps)[fault].inst);
    std::vector<bool> leads(fault);
    bool stores = false, loads = false;
    for (size_t i = fault; i-- > 0;) {
        const Step& s = (*steps)[i];
        const Registers out = writes(s.use);
        const bool loading = is_memory(s.inst) && is_plain_load(s.inst);
        stores |= is_memory(s.inst) && !loading;
        if (s.use.opaque) return nullptr;
        if (out.scalars[machine::exec_lo] && effects(s.inst.op).exec != ExecChange::Narrowed)
            return nullptr;  // lanes that EXEC leaves out may have older values
        if (!out.meets(needed)) continue;
        if (is_memory(s.inst) && !loading) return nullptr;
        loads |= loading;
        leads[i] = true;
        if (s.use.whole) needed.drop(out);
        needed.add(reads(s.use));
    }
    // A load is only repeated when nothing was stored in between.
    if (loads && stores) return nullptr;
    if (needed.scalars[machine::exec_lo] && written.scalars[machine::exec_lo]) return nullptr;
    certain_ = !needed.meets(written);

    const size_t rows = wave.vgpr_count + wave.agpr_count;
    rows_.reset(new uint32_t[(rows + 1) * machine::lanes]);
    auto* first = reinterpret_cast<uint32_t*>((reinterpret_cast<uintptr_t>(rows_.get()) + 63) &
                                              ~uintptr_t{63});
    copy_ = wave;
    copy_.vgpr = first;
    std::memcpy(first, wave.vgpr, size_t{wave.vgpr_count} * machine::lanes * 4);
    if (wave.agpr) {
        copy_.agpr = first + size_t{wave.vgpr_count} * machine::lanes;
        std::memcpy(copy_.agpr, wave.agpr, size_t{wave.agpr_count} * machine::lanes * 4);
    }
    copy_.exit = {};
    const memory::WithoutHooks without_hooks;
    for (size_t i = 0; i < fault; ++i) {
        if (!leads[i]) continue;
        const Step& s = (*steps)[i];
        const interp::Handler handler = interp::handler(s.inst.op);
        if (!handler) return nullptr;
        copy_.pc = s.pc + s.inst.size;
        const machine::ExitKind kind =
            machine::run_guarded(copy_, nullptr, nullptr, [&](machine::Wave& w) {
                handler(w, s.inst);
                return w.exit.kind;
            });
        if (kind != machine::ExitKind::None) return nullptr;
    }
    copy_.exit = wave.exit;
    copy_.pc = wave.exit.pc;
    return &copy_;
}

}  // namespace wj::runtime
