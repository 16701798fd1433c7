#include "backend_x64/translator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/engine.h"
#include "backend_x64/guest_code.h"
#include "backend_x64/lane_program.h"
#include "backend_x64/matrix_avx512.h"
#include "backend_x64/memory_order.h"
#include "frontend/decode.h"
#include "frontend/vgpr_msb.h"
#include "interpreter/checks.h"
#include "interpreter/exceptions.h"
#include "interpreter/observe.h"
#include "ir/swap_loop.h"
#include "lift/lift.h"
#include "lift/profile.h"
#include "machine/checks.h"
#include "memory/address_space.h"

namespace wj::x64 {
namespace {

// Pages of code that are remembered, with what was found out about them.
constexpr size_t most_pages = 4096;
// A block that depends on more pages is not worth keeping.
constexpr size_t most_dependencies = 64;

// Guest code of the wave's address space, through the lifter.
class LiftedBlocks final : public BlockSource {
public:
    LiftedBlocks(const Target& target, Isa isa, const TranslatorOptions& options)
        : target_(target),
          vector_lanes_(isa == Isa::Avx512 ? 16 : 8),
          handler_(isa == Isa::Avx512 ? &handler_avx512 : &interp::handler),
          liveness_(target, fetch_ahead_, options.keep_registers, &code_.read()),
          identity_(std::string(target.name) +
                    (target.traits.wave_size == machine::lanes ? "" : " wave32") +
                    (target.traits.sramecc ? " sramecc" : "") +
                    (options.keep_registers ? " keep" : "")),
          records_(options.plans != nullptr) {}

    uint32_t wave_size() const override { return target_.traits.wave_size; }

    ir::Block block(const BlockRequest& request) override {
        const machine::Wave& wave = typical(request);
        lift::Options options;
        options.target = &target_;
        options.mode = wave.mode;
        options.names.vgpr_msb = wave.vgpr_msb;
        options.exec_full =
            request.variant != Variant::Partial && request.variant != Variant::UnguardedPartial;
        options.lanes = wave.ctx->whole_lanes;
        options.address_mask = wave.ctx->reach.mask;
        options.may_guard = !is_unguarded(request.variant);
        options.at_edge = request.variant == Variant::Edge;
        if (!is_unguarded(request.variant)) {
            // What the wave that is about to run the block holds in its rows is the best guess at
            // what others will; of lanes that are always off nothing is wanted.
            options.row_lines = lift::lines_of_rows(
                wave, options.exec_full ? options.lanes : wave_size(), vector_lanes_);
            options.row_sums = [this, kernel = wave.ctx->kernel](uint64_t pc) {
                return sums_.try_emplace(kernel, target_, kernel, fetch_ahead_)
                    .first->second.before(pc);
            };
            options.now = &wave;
            options.read_memory = memory_of(*wave.ctx);
        }
        // Only programs of one block go on to the next wave by themselves.
        if (options.exec_full && options.may_guard && request.pc == wave.ctx->kernel)
            options.next = wave.ctx->next_waves;
        options.vector_lanes = vector_lanes_;
        options.vgpr_count = wave.vgpr_count;
        options.agpr_count = wave.agpr_count;
        options.sgpr_count = wave.sgpr_count;
        options.observed = !wave.ctx->exclusive_memory;
        options.max_instructions = request.max_instructions;
        options.handler = handler_;
        options.liveness = &liveness_;
        if (wave.ctx->checks) {
            const auto checks = interp::translated_checks(wave.ctx->checks);
            options.handler = checks.handler;
            options.observer = checks.observer;
        }
        // What goes through the program knows registers by the numbers in its code.
        if (wave.vgpr_count > named_vgprs) options.liveness = nullptr, options.row_sums = nullptr;
        if (interp::runs_whole(wave)) run_whole(wave, options);
        if (wave.ctx->coverage || wave.ctx->counts_time) lift_plain(*wave.ctx, options);
        begin(*wave.ctx);
        if (records_ && options.now && !wave.vgpr_msb) recorder_.emplace(wave, options);
        ir::Block block = lift_for_wave(options, request.pc, fetch_, insts_);
        if (recorder_) profile_ = recorder_->profile(block).print();
        recorder_.reset();
        if (request.variant == Variant::Full) {
            note_large_tables(block, wave);
            note_far_lanes(block, wave);
        }
        return block;
    }

    machine::Needs needs_at(const machine::ExecContext& ctx, uint64_t pc) override {
        begin(ctx);
        const lift::LiveSet& live = liveness_.at(pc);
        machine::Needs out;
        for (uint32_t s = 0; s < out.scalars.size(); ++s) out.scalars[s] = live.scalars[s];
        out.rows = live.on;
        out.rows_off = live.off;
        out.others = live.others;
        return out;
    }

    void forget() override {
        liveness_.forget();
        sums_.clear();
        code_.forget();
    }
    void reset() override {
        insts_.clear();
        forget();
    }

    std::string identity() const override { return identity_; }
    std::string take_profile() override { return std::exchange(profile_, {}); }

    bool dependencies(std::vector<CodePage>& out) override {
        std::vector<uint64_t>& read = code_.read();
        std::sort(read.begin(), read.end());
        read.erase(std::unique(read.begin(), read.end()), read.end());
        out.clear();
        if (read.size() > most_dependencies) return false;
        for (const uint64_t number : read) out.push_back(code_.page(number));
        return !code_.uncertain();
    }

    bool page(const machine::Wave& wave, uint64_t number, CodePage& out) override {
        if (!wave.ctx->memory || code_.uncertain()) return false;
        code_.begin(*wave.ctx);
        out = code_.page(number);
        return !code_.uncertain();
    }

    const void* instruction(const machine::Wave& wave, uint64_t pc) override {
        code_.begin(*wave.ctx);
        Inst inst;
        if (!decode(target_, code_.fetch(pc, words_), inst)) return nullptr;
        insts_.push_back(inst);
        return &insts_.back();
    }

    std::string text(const machine::Wave& wave, uint64_t pc) override {
        code_.begin(*wave.ctx);
        Inst inst;
        return decode(target_, code_.fetch(pc, words_), inst) ? disassemble(target_, inst) : "";
    }

private:
    // Of those that will run the block: the one that asks for it, but for what a program begins
    // with.
    const machine::Wave& typical(const BlockRequest& request) {
        const machine::ExecContext& ctx = *request.wave.ctx;
        if (request.pc != ctx.kernel) return request.wave;
        typical_ = request.wave;
        const machine::ExecContext::GroupIds& ids = ctx.group_ids;
        // The first wave at an edge is in a grid's corner.
        for (uint32_t d = request.variant == Variant::Edge; d < std::size(ids.sgpr); ++d)
            if (ids.sgpr[d] >= 0) typical_.sgpr[ids.sgpr[d]] = ids.middle[d];
        return typical_;
    }
    // Handlers see to what their instructions do besides; blocks with them gain nothing by guards.
    static void run_whole(const machine::Wave& wave, lift::Options& options) {
        options.handler = &interp::whole_handler;
        options.observer = nullptr;
        if (wave.mode & machine::mode::watches_exceptions)
            options.by_handler = wave.ctx->checks ? &checked_or_raises : &interp::raises_exceptions;
        else if (wave.ctx->checks)
            options.by_handler = &interp::looked_at;
        options.names.sgpr_aliases = wave.sgpr_aliases;
        if (wave.sgpr_aliases) options.liveness = nullptr;  // it knows registers by one name
        lift_unguarded(options);
    }
    static bool checked_or_raises(Opcode op) {
        return interp::looked_at(op) || interp::raises_exceptions(op);
    }
    static void lift_unguarded(lift::Options& options) {
        options.may_guard = false;
        options.row_lines = nullptr;
        options.next = {};
    }
    static void lift_plain(const machine::ExecContext& ctx, lift::Options& options) {
        options.plain = true;
        lift_unguarded(options);
        if (!(options.coverage = ctx.coverage)) return;
        if (ctx.coverage->compared)
            options.observer = options.observer
                                   ? interp::translated_checks(ctx.checks).observer_of_compares
                                   : &interp::compare_observer;
        options.covered_jump = &interp::covered_jump;
    }

    void begin(const machine::ExecContext& ctx) {
        if (code_.page_count() > most_pages) forget();
        code_.begin(ctx);
    }

    // Loads whose base points, as the wave has it, to more than the nearer caches hold.
    static void note_large_tables(ir::Block& block, const machine::Wave& wave) {
        constexpr uint64_t large = 8 << 20;
        const ir::ReadMemory read = memory_of(*wave.ctx);
        ir::EntryValues now(wave, read);
        memory::Allocation table;
        for (ir::Inst& i : block.insts) {
            if (i.op != ir::Op::LoadGlobalS64 || !wave.ctx->memory) continue;
            const auto base = now.of(block, i.args[0]);
            if (base && wave.ctx->memory->find(*base, table) && table.size >= large)
                i.aux |= ir::from_afar;
        }
    }

    // Loads at addresses in rows, as the wave has them.
    static void note_far_lanes(ir::Block& block, const machine::Wave& wave) {
        constexpr int32_t line = 64;
        for (ir::Inst& i : block.insts) {
            if (ir::op_info(i.op).cls != ir::Class::LaneLoad || spaces(i.op) != in_global) continue;
            const ir::Inst* row = &block.insts[ir::address_of(i)];
            if (row->op == ir::Op::Pack64) row = &block.insts[row->args[0]];
            if (row->op != ir::Op::GetV || row->imm >= wave.vgpr_count || !wave.vgpr) continue;
            const uint32_t* const v = wave.vgpr + row->imm * machine::lanes;
            const auto apart = static_cast<int32_t>(v[1] - v[0]);
            if (apart < -line || apart > line) i.aux |= ir::far_lanes;
        }
    }

    static ir::ReadMemory memory_of(const machine::ExecContext& ctx) {
        return [&ctx](uint64_t address, uint32_t bytes) {
            const void* from =
                ctx.memory ? ctx.memory->translate(ctx.reach(address), bytes, memory::readable)
                           : nullptr;
            uint64_t value = 0;
            if (from) std::memcpy(&value, from, bytes);
            return from ? std::optional(value) : std::nullopt;
        };
    }

    const Target& target_;
    machine::Wave typical_;
    const uint32_t vector_lanes_;
    interp::Handler (*handler_)(Opcode);
    lift::InstStore insts_;
    std::unordered_map<uint64_t, lift::RowSums> sums_;  // by program
    GuestCode code_;
    std::vector<uint32_t> words_, ahead_;
    const lift::Fetch fetch_ = [this](uint64_t pc) { return code_.fetch(pc, words_); };
    // What is looked at besides while a block is lifted.
    const lift::Fetch fetch_ahead_ = [this](uint64_t pc) { return code_.fetch(pc, ahead_); };
    lift::Liveness liveness_;
    const std::string identity_;
    const bool records_;
    std::optional<lift::ProfileRecorder> recorder_;
    std::string profile_;  // of the last block
};

}  // namespace

static bool swap_at_once(ir::Block& loop, const lift::Options& options) {
    const ir::Terminator& t = loop.term;
    const lift::LiveSet behind = options.liveness
                                     ? options.liveness->at(t.target == loop.pc ? t.next : t.target)
                                     : lift::LiveSet::all();
    if (!ir::swap_at_once(loop, [&](uint64_t row) { return behind.on[row] || behind.off[row]; }))
        return false;
    ir::eliminate_dead(loop);
    return true;
}

ir::Block lift_for_translation(lift::Options options, uint64_t pc, const lift::Fetch& fetch,
                               lift::InstStore& store) {
    ir::Block block = lift::lift_block(options, pc, fetch, store);
    options.row_lines = nullptr;
    if (options.plain || !block.exec_changed || block.term.kind != ir::Terminator::Kind::Branch ||
        (block.term.target != pc && block.term.next != pc))
        return block;
    // A loop that runs while lanes are left: better chunk by chunk for any EXEC than as a whole
    // while all lanes are on.
    options.exec_full = false;
    options.lane_masks = true;
    for (;;) {
        ir::Block any = lift::lift_block(options, pc, fetch, store);
        if (find_divergent_loop(any) || swap_at_once(any, options)) return any;
        if (!std::exchange(options.may_guard, false)) return block;
    }
}

// The block's last part is the first iteration of a loop that is better entered at its beginning:
// one whose lanes are done one by one (what lanes of their own load there is gathered in the
// block), or all at once.
static bool runs_into_loop(const ir::Block& block, lift::Options options, const lift::Fetch& fetch,
                           lift::InstStore& store) {
    const ir::Terminator& t = block.term;
    if (t.kind != ir::Terminator::Kind::Branch || t.target <= block.pc || t.target >= block.end_pc)
        return false;
    options.exec_full = false;
    options.row_lines = nullptr;
    const ir::Block loop = lift_for_translation(options, t.target, fetch, store);
    if (loop.term.kind == ir::Terminator::Kind::Jump) return true;  // swap_at_once()
    const auto divergent = find_divergent_loop(loop);
    return divergent && find_lane_program(loop, *divergent);
}

ir::Block lift_for_wave(lift::Options options, uint64_t pc, const lift::Fetch& fetch,
                        lift::InstStore& store) {
    ir::Block block = lift_for_translation(options, pc, fetch, store);
    if (options.plain || !runs_into_loop(block, options, fetch, store)) return block;
    options.end_before = block.term.target;
    return lift_for_translation(options, pc, fetch, store);
}

Result<std::unique_ptr<machine::Engine>> make_translator(const Target& target, Isa isa,
                                                         const TranslatorOptions& options) {
    return make_engine(std::make_unique<LiftedBlocks>(target, isa, options), isa, options);
}

}  // namespace wj::x64
