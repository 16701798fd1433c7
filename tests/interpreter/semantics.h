// Text-driven semantic tests, run unchanged on every engine. A file holds cases:
//
//   case v_add_u32 carry
//   target gfx90a
//   asm v_add_u32_e32 v10, v0, v1
//   mode f0
//   set v0 1 2 3            64 lanes; a shorter list repeats
//   set exec ffff
//   expect v10 4 5 6
//
// Registers: vN, aN, sN (one or more consecutive dwords), vcc, exec (64 bits), m0, scc, mode.
// Numbers are hexadecimal. VGPRs that no case line sets hold 0xc0c0c0c0 + number, so that an
// untouched register is recognised.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "machine/engine.h"

namespace wj::test {

struct SemanticCase {
    std::string name, target = "gfx90a";
    std::vector<std::string> assembly;
    uint32_t mode = 0xf0;
    std::map<std::string, std::vector<uint64_t>> set, expect;
    std::vector<uint32_t> code;  // filled by assemble()
};

Result<std::vector<SemanticCase>> read_cases(const std::string& path);

// Assembles with the llvm-mc at `assembler`; s_endpgm is appended. Fails naming the first line that
// has no encoding.
Status assemble(std::vector<SemanticCase>& cases, const std::string& assembler);

// Empty when the engine gives what the case expects, else what differs.
std::string run_case(machine::Engine& engine, const SemanticCase& c);

}  // namespace wj::test
