// Random programs: straight code, branches, loops and EXEC regions, as compilers emit them and
// worse. A program is a list of lines; branches name labels, so that any line may be dropped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/fuzz/generate.h"

namespace wj::fuzz {

struct Line {
    Inst inst;           // of a label: unused
    int label = -1;      // this line is label `label`
    int branch_to = -1;  // inst branches to this label
};

using Program = std::vector<Line>;

// Words of the program and of the s_endpgm behind it.
std::vector<uint32_t> assemble(const Target& target, const Program& program);
std::string print(const Target& target, const Program& program);

// What programs are made of; bit i of `kinds` stands for kind_names()[i].
const std::vector<std::string>& kind_names();
Program random_program(const Generator& generator, Rng& rng, uint64_t kinds);

}  // namespace wj::fuzz
