// Runs a program on every engine from one state and compares what is left.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/engine.h"
#include "memory/address_space.h"
#include "tools/fuzz/canaries.h"
#include "tools/fuzz/program.h"

namespace wj::fuzz {

enum class MemoryModes : uint8_t { Identity, Checked, Window, All };

class Comparison {
public:
    // code_kib: memory for translated code of each translator.
    // cache: every program runs a second time elsewhere, translated as the on-disk cache keeps it.
    // hostile: addresses of anything, with canaries in the host's memory; never in identity mode.
    Comparison(const Target& target, MemoryModes modes, size_t code_kib, bool cache,
               bool hostile = false);
    size_t engines() const { return engines_.size(); }
    // What differs, or nothing. The seed determines registers, memory, MODE, memory mode and the
    // slices in which the wave runs.
    std::optional<std::string> differs(const Program& program, uint64_t state_seed);
    std::string describe(uint64_t state_seed);

    struct Counters {
        uint64_t endless = 0, faults = 0, refused = 0, instructions = 0;
    };
    const Counters& counters() const { return counters_; }
    uint64_t blocks_loaded() const;

private:
    struct State {
        State();
        void copy_from(const State& other);
        void attach();
        machine::Wave wave;
        // Everything that a program may change, with room around LDS and scratch that it must not.
        std::vector<uint8_t> memory, global;
        uint8_t* at(size_t offset);
    };
    struct Setup {
        machine::MemoryMode mode;
        int64_t slice;
        bool keep_registers;  // false: engines that leave out register writes nobody reads
        bool change_dead_registers;
    };

    uint64_t place(const std::vector<uint32_t>& words);
    std::optional<std::string> differs_at(uint64_t pc, const std::vector<uint32_t>& words,
                                          uint64_t seed, uint64_t values_seed);
    // values_seed: of registers and memory; seed: of everything else.
    Setup prepare(State& s, uint64_t seed, uint64_t values_seed, uint64_t pc);
    static void run_whole(machine::Wave& w, uint64_t seed);
    void addresses(State& s, Rng& rng);
    void leave_window(machine::Wave& w, Rng& rng) const;
    void hostile_addresses(machine::Wave& w, Rng& rng) const;
    std::string escaped() const;
    void put_descriptor(uint32_t* words, uint64_t base, bool of_any_kind, Rng& rng) const;
    bool execute(machine::Engine& engine, State& s, int64_t slice, int64_t limit);
    void change_dead_registers(machine::Wave& w, const std::vector<uint32_t>& words);
    std::string compare(bool registers) const;

    const Target& target_;
    const MemoryModes modes_;
    const bool cache_;
    memory::AddressSpace space_;
    std::unique_ptr<Canaries> canaries_;  // of hostile programs
    machine::ExecContext context_;
    std::vector<std::unique_ptr<machine::Engine>> engines_;
    std::vector<uint32_t> noise_;
    State initial_, reference_, other_;
    Counters counters_;
    uint64_t code_ = 0, global_ = 0, used_ = 0;
};

// Drops lines as long as the difference stays.
Program minimise(Comparison& comparison, Program program, uint64_t state_seed);

}  // namespace wj::fuzz
