#include "tests/interpreter/semantics.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace wj::test {

namespace {

using machine::ExitKind;

// Hexadecimal, "5*20": 5, 32 times.
std::vector<uint64_t> numbers(std::istringstream& in) {
    std::vector<uint64_t> v;
    for (std::string word; in >> word;) {
        char* end;
        const uint64_t x = std::strtoull(word.c_str(), &end, 16);
        const size_t times = *end == '*' ? std::strtoul(end + 1, nullptr, 16) : 1;
        v.insert(v.end(), std::min(times, size_t{1} << 16), x);
    }
    return v;
}

std::vector<std::string> words(std::istringstream& in) {
    std::vector<std::string> v;
    for (std::string word; in >> word;) v.push_back(word);
    return v;
}

constexpr std::pair<const char*, ExitKind> exit_names[] = {
    {"end", ExitKind::EndProgram},
    {"illegal", ExitKind::IllegalInstruction},
    {"unimplemented", ExitKind::Unimplemented},
    {"trap", ExitKind::Trap},
    {"halt", ExitKind::Halt},
    {"fault", ExitKind::MemoryFault},
    {"barrier", ExitKind::Barrier},
    {"yield", ExitKind::Yield},
    {"exception", ExitKind::Exception},
    {"misuse", ExitKind::BarrierMisuse},
};

// What a line may say besides `case`, `target` and `vary`. False: not understood.
bool read_line(SemanticCase& c, const std::string& word, const std::string& rest) {
    std::istringstream in(rest);
    if (word == "asm") {
        c.assembly.push_back(rest);
    } else if (word == "mode") {
        c.mode = static_cast<uint32_t>(std::strtoul(rest.c_str(), nullptr, 16));
    } else if (word == "set" || word == "expect") {
        std::string reg;
        in >> reg;
        (word == "set" ? c.set : c.expect)[reg] = numbers(in);
    } else if (word == "base") {
        c.bases = words(in);
    } else if (word == "word") {
        for (const uint64_t x : numbers(in)) c.raw.push_back(static_cast<uint32_t>(x));
    } else if (word == "allocate") {
        char file = 0;
        uint32_t count = 0;
        in >> file >> count;
        if (file != 'v' && file != 'a' && file != 's') return false;
        (file == 'v' ? c.vgprs : file == 'a' ? c.agprs : c.sgprs) = count;
    } else if (word == "aliases") {
        in >> c.aliases;
    } else if (word == "wave") {
        in >> c.wave_size;
    } else if (word == "exit") {
        for (const auto& [name, kind] : exit_names) {
            if (rest != name) continue;
            c.exit = kind;
            return true;
        }
        return false;
    } else {
        return false;
    }
    return true;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

uint64_t lane_value(const std::map<std::string, std::vector<uint64_t>>& values,
                    const std::string& name, size_t lane) {
    const auto it = values.find(name);
    if (it == values.end()) return 0xc0c0c0c0u + std::strtoul(name.c_str() + 1, nullptr, 10);
    return it->second[lane % it->second.size()];
}

// Inactive lanes keep what the destination held.
SemanticCase with_partial_exec(const SemanticCase& c) {
    constexpr uint64_t exec = 0x8000'5a5a'0ff1'9c3d;
    SemanticCase v = c;
    v.name += " (partial EXEC)";
    v.set["exec"] = {exec};
    for (auto& [name, values] : v.expect) {
        std::vector<uint64_t> lanes(64);
        for (size_t l = 0; l < 64; ++l)
            lanes[l] = exec >> l & 1 ? values[l % values.size()] : lane_value(c.set, name, l);
        values = lanes;
    }
    return v;
}

// v10 becomes v<source>, v11 the register behind it.
SemanticCase with_overlap(const SemanticCase& c, unsigned source, bool wide) {
    SemanticCase v = c;
    const std::string low = std::to_string(source), high = std::to_string(source + 1);
    v.name += " (destination v" + low + ")";
    for (std::string& line : v.assembly)
        line = wide ? replaced(line, "v[10:11]", "v[" + low + ":" + high + "]")
                    : replaced(line, "v10,", "v" + low + ",");
    v.expect.clear();
    v.expect["v" + low] = c.expect.at("v10");
    if (wide) v.expect["v" + high] = c.expect.at("v11");
    return v;
}

void vary(const SemanticCase& c, std::vector<SemanticCase>& out) {
    if (!c.set.count("exec")) out.push_back(with_partial_exec(c));
    if (c.set.count("v10") || !c.expect.count("v10")) return;
    const bool wide = c.assembly[0].find("v[10:11]") != std::string::npos;
    for (const unsigned source : {0u, 2u, 4u})
        if (c.set.count(std::string("v").append(std::to_string(source))))
            out.push_back(with_overlap(c, source, wide));
}

struct Reading {
    SemanticCase text;
    std::vector<std::string> targets{"gfx90a"};
    bool vary = false, open = false;
};

void finish(Reading& r, std::vector<SemanticCase>& out) {
    if (!r.open) return;
    for (const std::string& target : r.targets) {
        r.text.target = target;
        out.push_back(r.text);
        // gfx940 calls the GLC bit of vector memory instructions sc0.
        if (target >= "gfx940" && target <= "gfx950")
            for (std::string& line : out.back().assembly)
                if (line[0] != 's' || line[1] != '_') line = replaced(line, " glc", " sc0");
        if (r.vary) vary(SemanticCase(out.back()), out);
    }
}

}  // namespace

Result<std::vector<SemanticCase>> read_cases(const std::string& path) {
    std::ifstream file(path);
    if (!file) return {Code::NotFound, path + ": cannot be read"};
    std::vector<SemanticCase> cases;
    Reading current;
    std::string line;
    for (uint32_t number = 1; std::getline(file, line); ++number) {
        std::istringstream in(line);
        std::string word;
        if (!(in >> word) || word[0] == '#') continue;
        const std::string rest =
            line.substr(std::min(line.size(), line.find(word) + word.size() + 1));
        if (word == "case") {
            finish(current, cases);
            current = {};
            current.open = true;
            current.text.name = rest;
        } else if (word == "target") {
            current.targets = words(in);
        } else if (word == "vary") {
            current.vary = true;
        } else if (!current.open || !read_line(current.text, word, rest)) {
            return {Code::InvalidArgument,
                    path + ":" + std::to_string(number) + ": not understood: " + line};
        }
    }
    finish(current, cases);
    return cases;
}

}  // namespace wj::test
