// The checkers, one by one (checks.cpp).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "interpreter/internal.h"
#include "machine/group_shadow.h"
#include "machine/work_group.h"

namespace wj::interp {

using machine::Finding;

inline machine::GroupShadow* shadow_of(const Wave& w) {
    return w.group ? w.group->shadow : nullptr;
}
inline machine::RegisterShadow& registers_of(const Wave& w) {
    return w.group->shadow->waves[w.wave_in_group];
}

inline void report(const Wave& w, const Inst& inst, Finding finding) {
    finding.pc = w.pc - inst.size;  // handlers run with the pc behind their instruction
    shadow_of(w)->dispatch->sink.found(w, finding);
}

void check_lds(Wave& w, const Inst& inst);
bool looks_at_lds(Opcode op);

void check_global(Wave& w, const Inst& inst);  // races
void check_alignment(Wave& w, const Inst& inst);
void check_unaligned(Wave& w, const Inst& inst);
void check_division(Wave& w, const Inst& inst);
bool looks_at_accesses(Opcode op);  // of global memory, and what orders them
// Elements of such buffers have the size that the V# or the instruction says: of these accesses
// only the first byte is certain.
bool converts(const Inst& inst);

// Global memory that nobody has written. A wave that is about to load some of it is watched from
// here on (RegisterShadow::watches_bits): it yields in front of the load, for who watches.
void check_unwritten(Wave& w, const Inst& inst);
bool looks_at_unwritten(Opcode op);
// Of those that load: lanes have what was at their own addresses.
bool loads_to_registers(const Inst& inst);

void check_waits(Wave& w, const Inst& inst);

// A wait for the named barrier that s_barrier_wait calls `number`.
void check_named_wait(const Wave& w, const Inst& inst, int32_t number);

// Which bits have been written: looks at what the instruction reads, before it runs; settle() is
// for afterwards.
class InitCheck {
public:
    InitCheck(Wave& w, const Inst& inst);
    void settle();

private:
    // What is known once the instruction has run: of a trial, of a load. (No heap for those that
    // may fault, which do not return.)
    struct Later {
        std::vector<uint32_t> rows;  // numbers
        // 64 of each; of a load those of each dword of its destination.
        std::vector<uint32_t> bits;
        uint64_t copied = 0;  // lanes of a load that these bits are in memory of
        std::array<uint32_t, 128> scalars{};
        bool scc = false, tried = false, loads = false;

        void add_row(uint32_t row);
        void try_it(Wave& w, const Inst& inst);
        void look_at_scratch(Wave& w, const Inst& inst, uint64_t& global);
        void look_at_load(Wave& w, const Inst& inst);
        void not_written(uint32_t lane, uint32_t byte);
    };
    void access();
    void write_loaded(const Operand& o, uint32_t dword);
    void write_copied();
    Wave& w_;
    const Inst& inst_;
    std::optional<Later> later_;
};

// Which registers follow from inexact results (machine::check_inexact).
class InexactCheck {
public:
    InexactCheck(Wave& w, const Inst& inst);
    void settle();  // once the instruction has run

private:
    static constexpr uint32_t no_row = ~0u;
    uint32_t row_of(const Operand& o, uint32_t dword) const;
    uint64_t lanes_of(const Operand& o) const;
    void tell(const Operand& o, uint64_t where, const char* what) const;
    void tell_of_condition(const char* what) const;
    void write(const Operand& o, uint32_t dword, uint64_t from);

    Wave& w_;
    const Inst& inst_;
    const uint64_t exec_;
    machine::RegisterShadow* shadow_ = nullptr;  // null: nobody asks
    uint64_t from_ = 0;  // lanes in which what it reads follows from an inexact result
};

}  // namespace wj::interp
