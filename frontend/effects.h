// What an instruction does besides computing its result from its operands: registers that it reads
// and writes without naming them, lanes, memory, where the wave goes on. Said by the words behind
// the ';' of its row in frontend/tables/*.inc and asked by liveness, block ends, fault reports and
// scheduling, so that no name has to tell.
#pragma once

#include <cstdint>

#include "frontend/opcode.h"

namespace wj {

// Where the wave goes on.
enum class Flow : uint8_t {
    Next,
    Goto,    // goto: at the target that the instruction names
    Branch,  // branch: there, or behind the instruction
    Call,    // call: there, and the instruction's destination gets the address behind it
    Jump,    // jump: at an address from registers
    End,     // end: nowhere
    Yield    // yield: behind the instruction, after others or with another state
};

// What becomes of EXEC; in a row: where it is written without being a destination.
enum class ExecChange : uint8_t {
    None,
    Narrowed,  // >exec-: lanes may only go
    Widened,   // >exec+: lanes may only come
    Changed    // >exec
};

enum class MemoryAccess : uint8_t { None, Load, Store, Atomic };

struct Effects {
    Flow flow = Flow::Next;
    ExecChange exec = ExecChange::None;
    MemoryAccess access = MemoryAccess::None;
    uint8_t bytes = 0;  // of the access in one lane, of each part where it has an address for each

    bool reads_scc : 1 = false;  // <scc; >scc: written in every case
    bool writes_scc : 1 = false;
    bool reads_vcc : 1 = false;  // <vcc
    bool reads_exec : 1 =
        false;                  // <exec: its bits; that lanes are masked by it goes without saying
    bool reads_m0 : 1 = false;  // <m0
    bool writes_m0 : 1 = false;
    bool reads_mode : 1 = false;  // <mode: as data; that floats round by it goes without saying
    bool writes_mode : 1 = false;

    bool across : 1 = false;    // looks at lanes that are off
    bool unmasked : 1 = false;  // acts on lanes that are off, or without any
    bool partial : 1 = false;   // leaves a part of its destination, or reads it, too
    bool indexed : 1 = false;   // index: registers relative to M0, here or from here on

    bool waits : 1 = false;         // wait:COUNTERS
    bool invalidates : 1 = false;   // inv: caches forget, so that loads see what others wrote
    bool writes_back : 1 = false;   // wb: caches pass on
    bool synchronises : 1 = false;  // sync: other waves or groups take part
    bool messages : 1 = false;      // message: tells the host or the trap handler something
    bool nothing : 1 = false;       // nothing: no effect at all
    bool opaque : 1 = false;        // opaque: more than the other words say
};

const Effects& effects(Opcode op);

// Whether what follows in memory need not follow in time: the end of every block of code.
inline bool leaves_block(const Effects& e) {
    return e.flow != Flow::Next;
}

}  // namespace wj
