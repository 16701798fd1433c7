#include "interpreter/interpreter.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "common/per_thread.h"
#include "frontend/decode.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/hwreg_field.h"
#include "frontend/refused.h"
#include "frontend/vgpr_msb.h"
#include "interpreter/checks.h"
#include "interpreter/exceptions.h"
#include "interpreter/hooks.h"
#include "interpreter/internal.h"
#include "interpreter/observe.h"
#include "interpreter/retired.h"
#include "interpreter/weak_order.h"
#include "interpreter/wmma.h"
#include "machine/checks.h"
#include "machine/coverage.h"
#include "machine/guard.h"
#include "machine/host_float.h"
#include "machine/work_group.h"
#include "memory/access.h"
#include "memory/address_space.h"

namespace wj::interp {

namespace {

using machine::MemoryMode;

std::array<Handler, opcode_count> collect_handlers() {
    std::array<Handler, opcode_count> table{};
    for (const auto& entries :
         {sop_handlers(),         sopp_handlers(),         vop_int_handlers(), vop_wide_handlers(),
          vop_f32_handlers(),     vop_f64_handlers(),      vop_f16_handlers(), vop_cvt_handlers(),
          vop_special_handlers(), vopc_handlers(),         vopd_handlers(),    vop3p_handlers(),
          dot_handlers(),         scalar_float_handlers(), mfma_handlers(),    wmma_handlers(),
          cdna3_handlers(),       cdna5_handlers(),        scaled_handlers(),  sparse_handlers(),
          mem_smem_handlers(),    mem_ds_handlers(),       mem_gds_handlers(), mem_flat_handlers(),
          mem_buffer_handlers(),  wmma_scaled_handlers()})
        for (const HandlerEntry& e : entries) table[static_cast<size_t>(e.op)] = e.run;
    return table;
}

// ---- decoded blocks
// ----------------------------------------------------------------------------------

struct Step {
    Inst inst;
    Handler run = nullptr;
    bool vector = false;  // not run while MODE.VSKIP is set
};

// Straight-line code up to a branch, or to the first bytes that cannot be run.
struct Block {
    std::vector<Step> steps;
    uint64_t begin = 0, end = 0;
    // Registers that any of the steps names; below or equal to the wave's allocation in every sane
    // program.
    uint32_t vgprs = 0, agprs = 0, sgprs = 0;
    // Ends with a branch whose edges are counted: to `target`, which the instruction names, and to
    // what follows, or to nowhere.
    bool covered = false;
    uint64_t target = 0;
    machine::Coverage::Edge target_edge{}, next_edge{};
    // When steps is empty: why.
    machine::ExitInfo failure;
};

constexpr size_t max_block_steps = 128;
using Steps = std::array<Step, max_block_steps>;

struct RegisterNeeds {
    uint32_t vgprs = 0, agprs = 0, sgprs = 0;
};

RegisterNeeds needs_of(const Inst& in) {
    RegisterNeeds n;
    const auto look = [&](const Operand& o) {
        const uint32_t end = o.reg + (o.dwords ? o.dwords : 1u);
        if (o.kind == Operand::Kind::Vgpr)
            n.vgprs = std::max(n.vgprs, end);
        else if (o.kind == Operand::Kind::Agpr)
            n.agprs = std::max(n.agprs, end);
        else if (o.kind == Operand::Kind::Sgpr && o.reg < machine::flat_scratch_lo)
            n.sgprs = std::max(n.sgprs, end);
    };
    for (const Operand& o : in.dst) look(o);
    for (const Operand& o : in.src) look(o);
    return n;
}

bool fits(const Wave& w, const RegisterNeeds& n) {
    return n.vgprs <= w.vgpr_count && n.agprs <= w.agpr_count &&
           (w.sgpr_count == 0 || n.sgprs <= w.sgpr_count);
}

bool ends_block(const Inst& in) {
    if (in.op == Opcode::s_setreg_b32 || in.op == Opcode::s_setreg_imm32_b32) {
        // Of MODE.VSKIP, as s_setvskip, or of EXCP_EN: blocks ask for them once.
        const HwregField field(in.words[0] & 0xffff);
        return field.id == hwreg_mode && field.last() >= machine::mode::excp_en_shift;
    }
    // Clocks may count instructions (ExecContext::counts_time).
    if (in.op == Opcode::s_memtime || in.op == Opcode::s_memrealtime ||
        in.op == Opcode::s_sendmsg_rtn_b32 || in.op == Opcode::s_sendmsg_rtn_b64 ||
        in.op == Opcode::s_get_shader_cycles_u64)
        return true;
    return leaves_block(effects(in.op));
}

bool is_vector_format(Format f) {
    return f >= Format::VOP1 && f <= Format::EXP;
}

// Words of guest code; every page is checked for execute rights once.
class CodeReader {
public:
    explicit CodeReader(const machine::ExecContext& ctx) : ctx_(ctx) {}
    bool word(uint64_t pc, uint32_t& out) {
        const uint64_t page = pc & ~(memory::page_size - 1);
        if (page != page_) {
            const uint8_t* host = nullptr;
            if (ctx_.memory) {
                host = static_cast<const uint8_t*>(
                    ctx_.memory->translate(ctx_.reach(pc), 4, memory::executable));
                if (!host) return false;
                host -= pc - page;
            } else if (ctx_.memory_mode != MemoryMode::Checked) {
                host = reinterpret_cast<const uint8_t*>(page);
            } else {
                return false;
            }
            page_ = page;
            host_ = host;
        }
        memory::load_guest<4>(&out, host_ + (pc - page));
        return true;
    }

private:
    const machine::ExecContext& ctx_;
    uint64_t page_ = ~uint64_t{0};
    const uint8_t* host_ = nullptr;
};

bool is_branch(Flow flow) {
    return flow != Flow::Next && flow != Flow::Yield;
}

void find_edges(const machine::Coverage& coverage, Block& block) {
    const Inst& last = block.steps.back().inst;
    const Flow flow = effects(last.op).flow;
    if (!is_branch(flow)) return;
    block.covered = true;
    const bool ends = flow == Flow::End;
    block.next_edge = coverage.edge(block.end, ends ? machine::Coverage::nowhere : block.end);
    if (flow != Flow::Goto && flow != Flow::Branch && flow != Flow::Call) return;
    block.target = branch_target(last, block.end);
    block.target_edge = coverage.edge(block.end, block.target);
}

// `steps`: for use meanwhile.
std::unique_ptr<Block> decode_block(const Target& target, const Options& options,
                                    const machine::ExecContext& ctx, uint64_t pc, uint8_t vgpr_msb,
                                    Steps& steps) {
    auto block = std::make_unique<Block>();
    block->begin = pc;
    size_t size = 0;
    CodeReader reader(ctx);
    const auto fail = [&](ExitKind kind, const char* reason) {
        block->failure.kind = kind;
        block->failure.reason = reason;
        block->failure.pc = pc;
    };
    while (size < steps.size()) {
        uint32_t words[most_instruction_words];
        size_t count = 0;
        while (count < most_instruction_words && !(pc & 3) &&
               reader.word(pc + 4 * count, words[count]))
            ++count;
        if (count == 0) {
            if (pc & 3) {
                fail(ExitKind::IllegalInstruction, "program counter is not a multiple of 4");
            } else {
                fail(ExitKind::MemoryFault, "instruction fetch");
                block->failure.access = Access::Execute;
                block->failure.access_bytes = 4;
                block->failure.address = pc;
            }
            break;
        }
        Step& step = steps[size];
        const bool known = decode(target, std::span<const uint32_t>(words, count), step.inst);
        if (!known || step.inst.illegal_operand) {
            fail(ExitKind::IllegalInstruction, known ? "an operand that the instruction cannot take"
                                                     : "the target has no such instruction");
            break;
        }
        add_vgpr_msb(step.inst, vgpr_msb);
        vgpr_msb = next_vgpr_msb(step.inst, vgpr_msb, target.traits);
        if (options.yields_to_slow && is_matrix(encoding_info(step.inst.op).packed)) {
            fail(ExitKind::Yield, slow_instruction);
            break;
        }
        step.run = !ctx.checks                                 ? handler(step.inst.op)
                   : ctx.checks & machine::checks_of_registers ? watched_handler(step.inst.op)
                                                               : checked_handler(step.inst.op);
        if (!step.run) {
            fail(ExitKind::Unimplemented, op_info(step.inst.op).name.data());
            break;
        }
        if (const char* refused = refused_operand(target.traits, step.inst)) {
            fail(ExitKind::Unimplemented, refused);
            break;
        }
        if (ctx.coverage && ctx.coverage->compared && !(ctx.checks & machine::checks_of_registers))
            if (const Handler observed = observed_compare(step.inst.op)) step.run = observed;
        step.vector = is_vector_format(step.inst.format);
        const RegisterNeeds n = needs_of(step.inst);
        block->vgprs = std::max(block->vgprs, n.vgprs);
        block->agprs = std::max(block->agprs, n.agprs);
        block->sgprs = std::max(block->sgprs, n.sgprs);
        pc += step.inst.size;
        size++;
        if (ends_block(step.inst)) break;
    }
    block->steps.assign(steps.begin(), steps.begin() + size);
    block->end = pc;
    if (ctx.coverage && !block->steps.empty()) find_edges(*ctx.coverage, *block);
    return block;
}

// ---- the engine
// ------------------------------------------------------------------------------------------

constexpr size_t shard_count = 16;

// What a block is decoded for.
struct Place {
    uint64_t pc = ~uint64_t{0};
    uint8_t vgpr_msb = 0;
    bool operator==(const Place&) const = default;
    struct Hash {
        size_t operator()(const Place& p) const { return std::hash<uint64_t>()(p.pc + p.vgpr_msb); }
    };
};

struct Shard {
    std::shared_mutex mutex;
    std::unordered_map<Place, std::unique_ptr<Block>, Place::Hash> blocks;
};

std::atomic<uint64_t> next_engine_id{1};

// Each thread remembers where blocks are; entries are void when the engine's generation has moved
// on.
struct CacheEntry {
    Place place;
    uint64_t stamp = 0;  // engine id and generation
    const Block* block = nullptr;
};
struct ThreadCache {
    std::array<CacheEntry, 1024> entries;
    Block failed;  // what the thread could not decode last
    std::unique_ptr<Steps> steps = std::make_unique_for_overwrite<Steps>();
};

class Interpreter final : public machine::Engine {
public:
    Interpreter(const Target& target, const Options& options)
        : target_(target), options_(options), stamp_(next_engine_id.fetch_add(1) << 32) {}

    const char* name() const override { return "interp"; }

    ExitKind run(Wave& wave) override {
        wave.exit = {};
        if (wave.ctx->memory_mode == MemoryMode::Checked) memory::refresh_tlb(*wave.ctx);
        if (options_.hooks) return run_hooked(wave);
        const Retired<Block>::Inside inside(retired_);
        const machine::HostFloatEnvironment environment;
        const ExitKind kind =
            machine::run_guarded(wave, nullptr, nullptr, [this](Wave& w) { return loop(w); });
        // A faulting instruction has not happened: the wave stands at it.
        if (kind == ExitKind::MemoryFault) wave.pc = wave.exit.pc;
        return kind;
    }

    // Threads of other devices that share the engine may be inside: clones.
    void invalidate(uint64_t begin, uint64_t end) override {
        std::vector<std::unique_ptr<Block>> gone;
        for (Shard& s : shards_) {
            std::unique_lock lock(s.mutex);
            for (auto at = s.blocks.begin(); at != s.blocks.end();) {
                Block& b = *at->second;
                const bool meant = b.begin < end && std::max(b.end, b.begin + 16) > begin;
                if (meant) gone.push_back(std::move(at->second));
                at = meant ? s.blocks.erase(at) : std::next(at);
            }
        }
        stamp_.fetch_add(1);
        retired_.add(std::move(gone));
    }

    machine::EngineCounters counters() const override {
        machine::EngineCounters c;
        c.blocks_translated = blocks_.load();
        c.instructions_translated = instructions_.load();
        return c;
    }

private:
    ExitKind loop(Wave& w) {
        for (;;) {
            if (w.budget <= 0) {
                w.exit.kind = ExitKind::Yield;
                w.exit.pc = w.pc;
                return ExitKind::Yield;
            }
            const Block& block = find(w);
            if (block.steps.empty()) {
                w.exit = block.failure;
                return w.exit.kind;
            }
            const bool roomy = fits(w, {block.vgprs, block.agprs, block.sgprs});
            const bool skip = w.mode & machine::mode::vskip, whole = runs_whole(w);
            uint64_t pc = block.begin;
            const auto size = static_cast<int64_t>(block.steps.size());
            count(w, size);
            for (const Step& step : block.steps) {
                execute(w, step, pc, roomy, skip, whole);
                pc += step.inst.size;
                if (w.exit.kind != ExitKind::None) [[unlikely]] {
                    if (block.covered && w.exit.kind == ExitKind::EndProgram) cover(w, block);
                    return leave(w, static_cast<int64_t>(&step - block.steps.data()) + 1 - size);
                }
            }
            if (block.covered) [[unlikely]]
                cover(w, block);
        }
    }

    // Stops a wave that has not got the registers of an instruction which is not skipped.
    [[gnu::always_inline]] static bool stops_beyond(Wave& w, const Step& step, bool roomy,
                                                    bool skip) {
        if (roomy || (skip && step.vector) || fits(w, needs_of(step.inst))) [[likely]]
            return false;
        stop(w, ExitKind::IllegalInstruction, "a register beyond the wave's allocation");
        return true;
    }
    // The instruction at `pc`.
    [[gnu::always_inline]] static void execute(Wave& w, const Step& step, uint64_t pc, bool roomy,
                                               bool skip, bool whole) {
        w.exit.pc = pc;
        if (memory::WeakMemory* const weak = weak_memory(w)) [[unlikely]] {
            order_accesses(w, step.inst, *weak);
            if (w.exit.kind != ExitKind::None) return;
        }
        if (stops_beyond(w, step, roomy, skip)) return;
        w.pc = pc + step.inst.size;
        if (skip && step.vector) [[unlikely]]
            return;
        (whole ? &run_whole : step.run)(w, step.inst);
    }

    // With hooks, which are called outside of what catches faults and in the program's own
    // floating-point environment: instruction by instruction.
    ExitKind run_hooked(Wave& w) {
        while (w.budget > 0) {
            const Block& block = find(w);
            if (block.steps.empty()) {
                w.exit = block.failure;
                return w.exit.kind;
            }
            const Step* step = block.steps.data();
            const Step* const end = step + block.steps.size();
            while (step != end && step_hooked(w, *step)) ++step;
            if (w.exit.kind != ExitKind::None) {
                if (block.covered && w.exit.kind == ExitKind::EndProgram) cover(w, block);
                return leave(w, 0);
            }
            if (block.covered && step == end) cover(w, block);
        }
        w.exit.kind = ExitKind::Yield;
        w.exit.pc = w.pc;
        return ExitKind::Yield;
    }
    // False: it is not the next one that follows.
    bool step_hooked(Wave& w, const Step& step) {
        const uint64_t pc = w.pc;
        uint32_t& in_block = w.group->in_block;
        const uint32_t bit = 1u << w.wave_in_group;
        const bool begins = !(in_block & bit), roomy = fits(w, needs_of(step.inst));
        const auto skips = [&] { return (w.mode & machine::mode::vskip) != 0; };
        w.exit.pc = pc;
        if (stops_beyond(w, step, roomy, skips())) return false;
        if (roomy) in_block |= bit;
        // Else it is skipped, and what it would have accessed nobody can say.
        if (roomy && !call_hooks(*options_.hooks, w, step.inst, begins)) {
            w.pc = w.exit.pc = pc;
            if (begins) in_block &= ~bit;  // all of it is told again if the wave goes on
            stop(w, ExitKind::Halt, stopped_by_hook);
            return false;
        }
        if (w.pc != pc || is_branch(effects(step.inst.op).flow)) in_block &= ~bit;
        count(w, 1);  // of a hook's jump, too: limits have to end it
        if (w.pc != pc) return false;
        const machine::HostFloatEnvironment environment;
        machine::run_guarded(w, nullptr, nullptr, [&](Wave& wave) {
            execute(wave, step, pc, roomy, skips(), runs_whole(wave));
            return wave.exit.kind;
        });
        return w.exit.kind == ExitKind::None;
    }

    // The edge from the end of this block to where the wave stands.
    static void cover(const Wave& w, const Block& block) {
        const machine::Coverage& coverage = *w.ctx->coverage;
        const machine::Coverage::Edge edge = w.pc == block.end ? block.next_edge
                                             : w.pc == block.target
                                                 ? block.target_edge
                                                 : coverage.edge(block.end, w.pc);
        coverage.count(coverage.counter(edge, w));
    }

    static void count(Wave& w, int64_t n) {
        w.budget -= n;
        w.ctx->interpreted += static_cast<uint64_t>(n);
    }

    // Charged for the whole block; `left` of it have not been executed, as a number below 0.
    static ExitKind leave(Wave& w, int64_t left) {
        count(w, left);
        const ExitKind kind = w.exit.kind;
        if (kind == ExitKind::MemoryFault || kind == ExitKind::IllegalInstruction ||
            kind == ExitKind::Unimplemented)
            w.pc = w.exit.pc;
        return kind;
    }

    const Block& find(Wave& w) {
        const uint64_t stamp = stamp_.load(std::memory_order_acquire);
        auto& entries = per_thread<ThreadCache>().entries;
        CacheEntry& entry = entries[(w.pc >> 2) % entries.size()];
        const Place place{w.pc, w.vgpr_msb};
        if (entry.place == place && entry.stamp == stamp) [[likely]]
            return *entry.block;
        const Block& block = find_shared(w);
        // A fault of the fetch is not remembered: the page may be mapped later.
        if (!block.steps.empty()) entry = {place, stamp, &block};
        return block;
    }

    const Block& find_shared(Wave& w) {
        Shard& shard = shards_[(w.pc >> 2) % shard_count];
        const Place place{w.pc, w.vgpr_msb};
        {
            std::shared_lock lock(shard.mutex);
            if (const auto it = shard.blocks.find(place); it != shard.blocks.end())
                return *it->second;
        }
        auto block = decode_block(target_, options_, *w.ctx, w.pc, w.vgpr_msb,
                                  *per_thread<ThreadCache>().steps);
        if (block->steps.empty()) {
            Block& failed = per_thread<ThreadCache>().failed;
            failed = *block;
            return failed;
        }
        blocks_.fetch_add(1, std::memory_order_relaxed);
        instructions_.fetch_add(block->steps.size(), std::memory_order_relaxed);
        std::unique_lock lock(shard.mutex);
        return *shard.blocks.try_emplace(place, std::move(block)).first->second;
    }

    const Target& target_;
    const Options options_;
    std::atomic<uint64_t> stamp_;
    std::array<Shard, shard_count> shards_;
    Retired<Block> retired_;
    std::atomic<uint64_t> blocks_{0}, instructions_{0};
};

}  // namespace

Handler handler(Opcode op) {
    static const std::array<Handler, opcode_count> table = collect_handlers();
    return static_cast<size_t>(op) < opcode_count ? table[static_cast<size_t>(op)] : nullptr;
}

const char slow_instruction[] = "matrix instruction";
const char stopped_by_hook[] = "the answer of a hook";

std::unique_ptr<machine::Engine> make_interpreter(const Target& target, const Options& options) {
    return std::make_unique<Interpreter>(target, options);
}

}  // namespace wj::interp
