#include "tools/fuzz/program.h"

#include <fmt/format.h>

#include <map>

#include "frontend/decode.h"
#include "tools/fuzz/encoding.h"

namespace wj::fuzz {
namespace {

bool is_branch_target(const Program& program, int label) {
    for (const Line& line : program)
        if (line.branch_to == label) return true;
    return false;
}

}  // namespace

std::vector<uint32_t> assemble(const Target& target, const Program& program) {
    std::map<int, size_t> labels;
    size_t at = 0;
    for (const Line& line : program) {
        if (line.label >= 0)
            labels[line.label] = at;
        else
            at += line.inst.size / 4;
    }
    std::vector<uint32_t> words;
    for (const Line& line : program) {
        if (line.label >= 0) continue;
        words.insert(words.end(), line.inst.words.begin(),
                     line.inst.words.begin() + line.inst.size / 4);
        if (line.branch_to < 0) continue;
        const auto distance = static_cast<uint32_t>(labels[line.branch_to] - words.size());
        words.back() = (words.back() & 0xffff0000) | (distance & 0xffff);
    }
    words.push_back(end_of_program(target));
    return words;
}

std::string print(const Target& target, const Program& program) {
    std::string text;
    for (const Line& line : program) {
        if (line.label >= 0) {
            if (is_branch_target(program, line.label)) text += fmt::format("L{}:\n", line.label);
            continue;
        }
        std::string code = disassemble(target, line.inst);
        if (line.branch_to >= 0)
            code = fmt::format("{} L{}", code.substr(0, code.find(' ')), line.branch_to);
        text += fmt::format("    {:<60} //", code);
        for (uint32_t w = 0; w < line.inst.size / 4u; ++w)
            text += fmt::format(" {:08X}", line.inst.words[w]);
        text += "\n";
    }
    return text;
}

}  // namespace wj::fuzz
