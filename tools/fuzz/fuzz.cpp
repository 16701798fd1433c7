// Differential fuzzer: random blocks, run by the interpreter and by the translators from the same
// state; all registers and all memory must agree bit for bit. A difference is reduced and printed
// with its seed.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "backend_x64/translator.h"
#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "memory/address_space.h"
#include "tools/fuzz/generate.h"

using namespace wj;

namespace {

constexpr uint32_t global_bytes = 1 << 15, lds_bytes = 8192, scratch_bytes = 1024,
                   code_bytes = 1 << 20;

uint32_t random_dword(fuzz::Rng& rng) {
    static constexpr uint32_t special[] = {
        0,          1,          2,          31,         32,         0x7fffffff,
        0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x807fffff, 0x00800000,
        0x7f7fffff, 0x3c003c00, 0x7c007e01, 0x00018000, 0x4b000000, 0x4f000000,
        0xcf000000, 0x3ff00000, 0x7ff00000, 0x7ff80000, 0x000fffff, 0x43e00000};
    switch (rng() % 4) {
        case 0:
            return special[rng() % std::size(special)];
        case 1:
            return static_cast<uint32_t>(rng() % 300) - 40;
        case 2:
            return (static_cast<uint32_t>(rng()) & 0x807fffff) |
                   (120u + static_cast<uint32_t>(rng() % 16)) << 23;
        default:
            return static_cast<uint32_t>(rng());
    }
}

// Everything that a block may change.
struct State {
    machine::Wave wave;
    std::vector<uint32_t> rows = std::vector<uint32_t>((fuzz::vgprs + fuzz::agprs) * 64 + 16);
    std::vector<uint8_t> lds = std::vector<uint8_t>(lds_bytes + 64),
                         scratch = std::vector<uint8_t>(scratch_bytes * 64 + 64), global;
};

uint32_t* aligned(std::vector<uint32_t>& v) {
    return reinterpret_cast<uint32_t*>((reinterpret_cast<uintptr_t>(v.data()) + 63) &
                                       ~uintptr_t{63});
}
uint8_t* aligned(std::vector<uint8_t>& v) {
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(v.data()) + 63) &
                                      ~uintptr_t{63});
}

class Bench {
public:
    Bench(const Target& target, machine::MemoryMode mode, size_t engine_code)
        : target_(target), generator_(target) {
        code_ =
            space_.allocate(code_bytes, memory::read_write | memory::executable, "code").value();
        global_ = space_.allocate(global_bytes, memory::read_write, "buffer").value();
        context_.target = &target_;
        context_.memory = &space_;
        context_.memory_mode = mode;
        engines_.push_back(interp::make_interpreter(target_));
        for (x64::Isa isa : {x64::Isa::Avx512, x64::Isa::Avx2}) {
            if (!x64::host_supports(isa)) continue;
            if (auto engine = x64::make_translator(
                    target_, isa, {.code_bytes = engine_code, .keep_registers = true}))
                engines_.push_back(std::move(*engine));
        }
    }

    size_t engines() const { return engines_.size(); }

    // Returns a report of the difference, or nothing.
    std::optional<std::string> run(uint64_t seed) {
        fuzz::Rng rng(seed);
        std::vector<Inst> block(1 + rng() % 12);
        for (Inst& inst : block) inst = generator_.instruction(rng);
        const uint64_t state_seed = rng();
        if (!differs(block, state_seed)) return std::nullopt;
        for (size_t i = 0; i < block.size();) {  // drop what the difference does not need
            std::vector<Inst> shorter = block;
            shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
            if (!shorter.empty() && differs(shorter, state_seed))
                block = std::move(shorter);
            else
                ++i;
        }
        std::string report =
            fmt::format("{} seed {}: {}\n", target_.name, seed, *differs(block, state_seed));
        for (const Inst& inst : block) {
            report += fmt::format("    {:<60} //", disassemble(target_, inst));
            for (uint32_t w = 0; w < inst.size / 4u; ++w)
                report += fmt::format(" {:08X}", inst.words[w]);
            report += "\n";
        }
        return report;
    }

private:
    void prepare(State& s, uint64_t seed, uint64_t pc) {
        fuzz::Rng rng(seed);
        uint32_t* rows = aligned(s.rows);
        for (uint32_t i = 0; i < (fuzz::vgprs + fuzz::agprs) * 64; ++i) rows[i] = random_dword(rng);
        for (uint32_t i = 0; i < lds_bytes; i += 8) {
            const uint64_t v = rng();
            std::memcpy(aligned(s.lds) + i, &v, 8);
        }
        for (uint32_t i = 0; i < scratch_bytes * 64; i += 8) {
            const uint64_t v = rng();
            std::memcpy(aligned(s.scratch) + i, &v, 8);
        }
        s.global.resize(global_bytes);
        for (uint32_t i = 0; i < global_bytes; i += 4) {
            const uint32_t v = random_dword(rng);
            std::memcpy(&s.global[i], &v, 4);
        }
        machine::Wave& w = s.wave;
        for (uint32_t& x : w.sgpr) x = random_dword(rng);
        // Addresses: consecutive, equal, strided, reversed or random lanes.
        const uint32_t pattern = rng() % 5, stride = 1u << rng() % 6,
                       first = static_cast<uint32_t>(rng() % 4096) & ~(rng() % 2 ? 15u : 3u);
        for (uint32_t lane = 0; lane < 64; ++lane) {
            uint32_t offset = first;
            if (pattern == 0) offset += lane * 4;
            if (pattern == 2) offset += lane * stride;
            if (pattern == 3) offset += (63 - lane) * 4;
            if (pattern == 4) offset = static_cast<uint32_t>(rng() % 4096) & ~7u;
            const uint64_t address = global_ + 8192 + offset;
            rows[lane] = static_cast<uint32_t>(address);
            rows[64 + lane] = static_cast<uint32_t>(address >> 32);
            rows[128 + lane] = 4096 + offset / 2 / 4 * 4 + (rng() % 50 == 0 ? 8192 : 0);
            rows[192 + lane] = offset % (scratch_bytes - 512) & ~3u;
        }
        // DS and saddr forms use v2 as an offset; both buffers are large enough for it.
        w.set_s64(0, global_ + 8192);
        static constexpr uint64_t masks[] = {
            ~0ull, ~0ull, 0xffff, 0x5555555555555555, 1, 0, 0x8000000000000000, 0xffffffff00000000};
        w.set_s64(machine::exec_lo, rng() % 3 ? masks[rng() % std::size(masks)] : rng());
        w.vgpr = rows;
        w.agpr = rows + fuzz::vgprs * 64;
        w.vgpr_count = fuzz::vgprs;
        w.agpr_count = target_.traits.has_agprs ? fuzz::agprs : 0;
        w.sgpr_count = 0;
        w.pc = pc;
        w.scc = rng() & 1;
        w.mode = rng() % 4 ? 0x3f0 : static_cast<uint32_t>(rng()) & 0x3ff;
        w.budget = 1 << 20;
        w.lds = aligned(s.lds);
        w.lds_size = lds_bytes;
        w.scratch = aligned(s.scratch);
        w.scratch_bytes = scratch_bytes;
        w.scratch_base = reinterpret_cast<uint64_t>(w.scratch);
        w.ctx = &context_;
    }

    static void copy(State& from, State& to) {
        to.wave = from.wave;
        to.wave.vgpr = aligned(to.rows);
        to.wave.agpr = to.wave.vgpr + fuzz::vgprs * 64;
        to.wave.lds = aligned(to.lds);
        to.wave.scratch = aligned(to.scratch);
        to.wave.scratch_base = reinterpret_cast<uint64_t>(to.wave.scratch);
        std::memcpy(to.wave.vgpr, from.wave.vgpr, (fuzz::vgprs + fuzz::agprs) * 256);
        std::memcpy(to.wave.lds, from.wave.lds, lds_bytes);
        std::memcpy(to.wave.scratch, from.wave.scratch, scratch_bytes * 64);
        to.global = from.global;
    }

    void execute(machine::Engine& engine, State& s) {
        std::memcpy(reinterpret_cast<void*>(global_), s.global.data(), global_bytes);
        machine::ExitKind kind;
        uint32_t visits = 0;
        do {
            s.wave.exit = {};
            kind = engine.run(s.wave);
        } while (kind == machine::ExitKind::Yield && ++visits < 4);
        std::memcpy(s.global.data(), reinterpret_cast<void*>(global_), global_bytes);
    }

    std::optional<std::string> differs(const std::vector<Inst>& block, uint64_t seed) {
        uint64_t bytes = 4;
        for (const Inst& inst : block) bytes += inst.size;
        if (used_ + bytes + 64 > code_bytes) {
            for (auto& engine : engines_) engine->invalidate(code_, code_ + code_bytes);
            used_ = 0;
        }
        const uint64_t pc = code_ + used_;
        auto* out = reinterpret_cast<uint32_t*>(pc);
        for (const Inst& inst : block) out = std::copy_n(inst.words.begin(), inst.size / 4, out);
        *out = 0xbf810000;  // s_endpgm
        used_ += (bytes + 63) & ~uint64_t{63};

        prepare(initial_, seed, pc);
        copy(initial_, reference_);
        execute(*engines_[0], reference_);
        for (size_t e = 1; e < engines_.size(); ++e) {
            copy(initial_, other_);
            execute(*engines_[e], other_);
            if (auto what = compare()) return fmt::format("{}: {}", engines_[e]->name(), *what);
        }
        return std::nullopt;
    }

    std::optional<std::string> compare() const {
        const machine::Wave &a = reference_.wave, &b = other_.wave;
        if (a.exit.kind != b.exit.kind)
            return fmt::format("exit {} instead of {}", static_cast<int>(b.exit.kind),
                               static_cast<int>(a.exit.kind));
        // After a fault only the place and the addresses are defined.
        if (a.exit.kind == machine::ExitKind::MemoryFault) {
            if (a.exit.pc != b.exit.pc)
                return fmt::format("fault at {:#x} instead of {:#x}", b.exit.pc, a.exit.pc);
            return std::nullopt;
        }
        if (a.pc != b.pc) return fmt::format("pc {:#x} instead of {:#x}", b.pc, a.pc);
        if (a.scc != b.scc) return fmt::format("scc {} instead of {}", b.scc, a.scc);
        if (a.mode != b.mode) return fmt::format("mode {:#x} instead of {:#x}", b.mode, a.mode);
        for (uint32_t r = 0; r < 128; ++r)
            if (a.sgpr[r] != b.sgpr[r])
                return fmt::format("s{} = {:#x} instead of {:#x}", r, b.sgpr[r], a.sgpr[r]);
        for (uint32_t i = 0; i < (fuzz::vgprs + fuzz::agprs) * 64; ++i)
            if (a.vgpr[i] != b.vgpr[i])
                return fmt::format("{}{} lane {} = {:#x} instead of {:#x} (exec {:#x})",
                                   i / 64 < fuzz::vgprs ? 'v' : 'a', i / 64 % fuzz::vgprs, i % 64,
                                   b.vgpr[i], a.vgpr[i], a.exec());
        if (std::memcmp(a.lds, b.lds, lds_bytes)) return "LDS differs";
        if (std::memcmp(a.scratch, b.scratch, scratch_bytes * 64)) return "scratch differs";
        if (reference_.global != other_.global) return "global memory differs";
        return std::nullopt;
    }

    const Target& target_;
    fuzz::Generator generator_;
    memory::AddressSpace space_;
    machine::ExecContext context_;
    std::vector<std::unique_ptr<machine::Engine>> engines_;
    State initial_, reference_, other_;
    uint64_t code_ = 0, global_ = 0, used_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs random guest blocks on all engines and compares every register and byte."};
    uint64_t blocks = 20000, seed = 1;
    double seconds = 0;
    size_t stop_after = 5;
    bool checked = false;
    uint64_t code_kib = 4096;
    std::vector<std::string> targets{"gfx900", "gfx906", "gfx908", "gfx90a"};
    app.add_option("--blocks", blocks, "blocks in all, spread over the targets");
    app.add_option("--seconds", seconds, "stop after this time; 0 = no limit");
    app.add_option("--seed", seed, "first seed; block i uses seed + i");
    app.add_option("--targets", targets, "processors")->delimiter(',');
    app.add_option("--stop-after", stop_after, "differences to report before stopping");
    app.add_option("--code-kib", code_kib, "memory for translated code of each translator");
    app.add_flag("--checked", checked, "memory through the page table instead of the host's");
    CLI11_PARSE(app, argc, argv);

    const auto start = std::chrono::steady_clock::now();
    size_t differences = 0;
    uint64_t done = 0;
    for (const std::string& name : targets) {
        const Target* target = find_target(name);
        if (!target) {
            fmt::print(stderr, "unknown target '{}'; known: {}\n", name, supported_target_names());
            return 2;
        }
        Bench bench(*target, checked ? machine::MemoryMode::Checked : machine::MemoryMode::Identity,
                    code_kib << 10);
        if (bench.engines() < 2)
            fmt::print(stderr, "{}: this host has no translator, nothing to compare\n", name);
        for (uint64_t i = 0; i < blocks / targets.size() && differences < stop_after; ++i, ++done) {
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            if (seconds > 0 && elapsed.count() > seconds) break;
            if (auto report = bench.run(seed + i)) {
                fmt::print("{}", *report);
                ++differences;
            }
        }
    }
    fmt::print("{} blocks, {} differences\n", done, differences);
    return differences ? 1 : 0;
}
