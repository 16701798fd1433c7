// LLVM can assemble for gfx6 and gfx7 but not disassemble: what we print for random words is
// assembled, and the words that come out must print alike and differ from the first ones in bits
// that have no meaning only.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "frontend/decode.h"
#include "frontend/encoding.h"
#include "frontend/inst.h"
#include "tests/frontend/decode_words.h"

namespace wj_test {
namespace {

struct Printed {
    Words words;
    wj::Inst inst;
    std::string text;
};

// Legal instructions among the words. What engines refuse has no spelling.
std::vector<Printed> printed(const wj::Target& target, const std::vector<Words>& inputs) {
    std::vector<Printed> out;
    for (const Words& words : inputs) {
        wj::Inst inst;
        if (!wj::decode(target, words, inst) || inst.illegal_operand) continue;
        out.push_back({words, inst, wj::disassemble(target, inst)});
    }
    return out;
}

struct Assembled {
    std::vector<std::optional<Words>> words;  // nothing: the assembler's message is in `errors`
    std::map<size_t, std::string> errors;     // by line
};

std::string run(const std::string& command) {
    std::string out;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return out;
    char buffer[65536];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
    pclose(pipe);
    return out;
}

Words encoding_in(const std::string& line) {
    Words words{};
    std::istringstream bytes(line.substr(line.find('[') + 1));
    std::string byte;
    for (size_t i = 0; i < words.size() * 4 && std::getline(bytes, byte, ','); ++i)
        words[i / 4] |= static_cast<uint32_t>(std::strtoul(byte.c_str(), nullptr, 16))
                        << 8 * (i % 4);
    return words;
}

Assembled assemble(const wj::Target& target, const std::vector<Printed>& lines) {
    const auto path =
        std::filesystem::temp_directory_path() /
        ("wavejit-round-trip-" + std::string(target.name) + "-" + std::to_string(getpid()) + ".s");
    {
        std::ofstream file(path);
        for (const Printed& p : lines) file << p.text << '\n';
    }
    const std::string command = std::string(WJ_LLVM_MC) +
                                " -triple=amdgcn-amd-amdhsa -mcpu=" + std::string(target.name) +
                                " -show-encoding " + path.string();
    Assembled out;
    std::istringstream messages(run(command + " 2>&1 >/dev/null"));
    for (std::string line; std::getline(messages, line);) {
        const size_t error = line.find(": error: ");
        if (error != line.npos && line.starts_with(path.string()))
            out.errors[std::strtoul(line.c_str() + path.string().size() + 1, nullptr, 10) - 1] =
                line.substr(error + 9);
    }
    std::vector<Words> encoded;
    std::istringstream encodings(run(command + " 2>/dev/null"));
    for (std::string line; std::getline(encodings, line);)
        if (const size_t at = line.find("encoding: ["); at != line.npos)
            encoded.push_back(encoding_in(line.substr(at)));
    std::filesystem::remove(path);
    size_t next = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
        const bool failed = out.errors.contains(i) || next == encoded.size();
        out.words.push_back(failed ? std::nullopt : std::optional(encoded[next++]));
    }
    EXPECT_EQ(next, encoded.size()) << command;
    return out;
}

// What the assembler refuses though the encoding has it: its own rules about operands.
bool is_rule(const std::string& error) {
    for (const char* rule :
         {"constant bus restrictions", "TFE modifier has no meaning", "dmask", "exp target",
          "lds_direct", "interpolation slot", "interpolation attribute"})
        if (error.find(rule) != error.npos) return true;
    return false;
}

// Texts that stand for several encodings, of which the assembler takes another one.
bool is_ambiguous(const wj::Inst& inst) {
    const wj::OpInfo& info = wj::op_info(inst.op);
    const bool no_operands = info.dst_count + info.src_count == 0;  // the short encoding
    bool literal = false;  // that looks like an inline constant, or has bits that do not count
    for (const wj::Operand& o : inst.src)
        literal |= o.is(wj::Operand::Kind::Literal) &&
                   (o.type == wj::Type::f64 || o.type == wj::Type::f16);
    const bool short_offset =
        inst.format == wj::Format::SMEM && inst.size == 8 && inst.words[1] < 256;
    return no_operands || literal || short_offset || inst.op == wj::Opcode::ds_swizzle_b32 ||
           inst.exp_compressed;
}

// Bits of `words` whose change the text does not show.
bool meaningless(const wj::Target& target, const Printed& first, const Words& words) {
    for (size_t i = 0; i < first.inst.size / 4u; ++i) {
        for (uint32_t bit = 0; bit < 32; ++bit) {
            if (((first.words[i] ^ words[i]) >> bit & 1) == 0) continue;
            Words changed = words;
            changed[i] ^= 1u << bit;
            wj::Inst inst;
            if (wj::decode(target, changed, inst) && wj::disassemble(target, inst) != first.text)
                return false;
        }
    }
    return true;
}

class DecodeAssembler : public testing::TestWithParam<const char*> {};

void round_trip(const wj::Target& target, const std::vector<Words>& inputs,
                std::set<wj::Opcode>& seen) {
    const std::vector<Printed> lines = printed(target, inputs);
    const Assembled assembled = assemble(target, lines);
    std::map<std::string, std::pair<size_t, std::string>> failures;
    for (size_t i = 0; i < lines.size(); ++i) {
        const Printed& p = lines[i];
        std::string why;
        if (is_ambiguous(p.inst)) {
            if (assembled.words[i].has_value()) seen.insert(p.inst.op);
            continue;
        }
        if (const auto error = assembled.errors.find(i); error != assembled.errors.end()) {
            if (is_rule(error->second) || p.inst.op == wj::Opcode::s_cbranch_g_fork) continue;
            why = error->second;
        } else {
            wj::Inst again;
            const Words& words = *assembled.words[i];
            if (!wj::decode(target, words, again) || wj::disassemble(target, again) != p.text ||
                again.size != p.inst.size)
                why = "is assembled to other words";
            else if (!meaningless(target, p, words))
                why = "is assembled otherwise";
        }
        if (why.empty()) {
            seen.insert(p.inst.op);
            continue;
        }
        char hex[32];
        std::snprintf(hex, sizeof hex, "%08x %08x", p.words[0], p.words[1]);
        auto& group = failures[p.text.substr(0, p.text.find(' ')) + ": " + why];
        if (group.first++ == 0) group.second = std::string(hex) + " " + p.text;
    }
    std::string report;
    for (const auto& [key, group] : failures)
        report += std::to_string(group.first) + "x " + key + ": " + group.second + "\n";
    std::printf("%zu assembled\n", lines.size());
    EXPECT_TRUE(failures.empty()) << report;
}

TEST_P(DecodeAssembler, EveryRow) {
    const wj::Target& target = *wj::find_target(GetParam());
    Random random(1);
    std::set<wj::Opcode> seen;
    round_trip(target, row_words(target, 300, random), seen);
    for (const wj::Opcode op : wj::opcode_slots[static_cast<size_t>(target.family)])
        EXPECT_TRUE(op == wj::Opcode::invalid || seen.contains(op))
            << wj::op_info(op).name << " is never assembled";
}

TEST_P(DecodeAssembler, BiasedWords) {
    const wj::Target& target = *wj::find_target(GetParam());
    Random random(2);
    std::set<wj::Opcode> seen;
    round_trip(target, biased_words(target, 100000, random), seen);
}

std::string test_name(const testing::TestParamInfo<const char*>& info) {
    return info.param;
}

// One of each set of opcodes; the others have the same.
INSTANTIATE_TEST_SUITE_P(Targets, DecodeAssembler, testing::Values("gfx600", "gfx700"), test_name);
INSTANTIATE_TEST_SUITE_P(AllTargets, DecodeAssembler,
                         testing::Values("gfx601", "gfx602", "gfx701", "gfx702", "gfx703", "gfx704",
                                         "gfx705"),
                         test_name);

}  // namespace
}  // namespace wj_test
