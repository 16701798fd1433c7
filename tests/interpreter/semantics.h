// Text-driven semantic tests, run unchanged on every engine. A file holds cases:
//
//   case v_add_u32 carry
//   target gfx900 gfx90a    one or more; default gfx90a
//   asm v_add_u32_e32 v10, v0, v1    by the name of its row in frontend/tables
//   mode f0
//   set v0 1 2 3            64 lanes; a shorter list repeats
//   set exec ffff
//   expect v10 4 5 6
//
// Registers: vN, aN, sN (one or more consecutive dwords), vcc, exec (64 bits), m0, scc, mode,
// trapsts; of a wave that has stopped, detail and lanes (ExitInfo).
// Memory: global (an allocated buffer), lds, gds, scratch (dword i of lane l is number 64 * i + l);
// what is not set is 0, and dwords behind those that an `expect` lists are not looked at. Numbers
// are hexadecimal; 5*20 is 5, 32 times. VGPRs that no case line sets hold 0xc0c0c0c0 + number, so
// that an untouched register is recognised. Further lines:
//
//   base s4 v0              adds the buffer's address to s[4:5], and to v[0:1] in every lane
//   word bf8cffff           raw encoding behind the assembled code
//   allocate v 8            the wave has so many registers (v, a, s)
//   aliases 16              Wave::sgpr_aliases
//   wave 32                 waves of so many lanes, whatever the target has; rows have 64 all the
//   same exit illegal            how the wave ends (default: end): illegal, unimplemented, trap,
//   halt,
//                           fault, barrier, yield, exception; what a register holds then is
//                           compared, too
//   vary                    runs again with a partial EXEC and with the destination v10 or
//                           v[10:11] renamed to each source (v0, v2, v4)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "frontend/target.h"
#include "machine/engine.h"

namespace wj::test {

struct SemanticCase {
    std::string name, target = "gfx90a";
    std::vector<std::string> assembly;
    uint32_t mode = 0xf0;
    std::map<std::string, std::vector<uint64_t>> set, expect;
    std::vector<std::string> bases;
    std::vector<uint32_t> raw;  // words behind the assembled code
    uint32_t vgprs = 256, agprs = 256, sgprs = 102, aliases = 0, wave_size = 64;
    machine::ExitKind exit = machine::ExitKind::EndProgram;
    std::vector<uint32_t> code;  // filled by assemble()
};

// Cases with several targets or `vary` are multiplied out.
Result<std::vector<SemanticCase>> read_cases(const std::string& path);

// Assembles with the llvm-mc at `assembler`; s_endpgm is appended. Fails naming the first line that
// has no encoding.
Status assemble(std::vector<SemanticCase>& cases, const std::string& assembler);

// What the engine is made for; `target` is one that find_target() knows.
Target target_of(const SemanticCase& c);

// Empty when the engine gives what the case expects, else what differs.
std::string run_case(machine::Engine& engine, const SemanticCase& c);

}  // namespace wj::test
