// Registers of a wave that stands still, for those who look at it from outside.
#pragma once

#include "machine/wave.h"

namespace wj::interp {

enum class RegisterFile : uint8_t {
    Sgpr,
    Vgpr,  // a dword for each lane of the wave, as in Agpr
    Agpr,
    Pc,  // dwords, as all that follow: two
    Exec,
    Vcc,  // of waves of 32 lanes the second one has no meaning, as in EXEC
    M0,
    Scc,
    Mode,
    FlatScratch,
    XnackMask,
    Ttmp
};
inline constexpr uint32_t register_files = 12;

// How many registers of the file the wave has; 0: the processor has none.
uint32_t register_count(const machine::Wave& wave, RegisterFile file);
// Dwords of each.
uint32_t register_dwords(const machine::Wave& wave, RegisterFile file);

// `count` registers from `first` on, which the file has.
void read_registers(const machine::Wave& wave, RegisterFile file, uint32_t first, uint32_t count,
                    uint32_t* to);
// With the consequences that an instruction's write has.
void write_registers(machine::Wave& wave, RegisterFile file, uint32_t first, uint32_t count,
                     const uint32_t* from);

}  // namespace wj::interp
