#include "tests/interpreter/semantics.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "frontend/target.h"
#include "memory/address_space.h"

namespace wj::test {

namespace {

std::vector<uint64_t> numbers(std::istringstream& in) {
    std::vector<uint64_t> v;
    for (std::string word; in >> word;) v.push_back(std::strtoull(word.c_str(), nullptr, 16));
    return v;
}

std::string hex(uint64_t x) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
    return text;
}

constexpr uint32_t vgprs = 256, agprs = 256;

struct State {
    std::vector<uint32_t> vector = std::vector<uint32_t>((vgprs + agprs) * 64 + 16);
    memory::AddressSpace space;
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    machine::Wave wave;

    State() {
        const auto p = (reinterpret_cast<uintptr_t>(vector.data()) + 63) & ~uintptr_t{63};
        wave.vgpr = reinterpret_cast<uint32_t*>(p);
        wave.agpr = wave.vgpr + vgprs * 64;
        wave.vgpr_count = vgprs;
        wave.agpr_count = agprs;
        wave.sgpr_count = 102;
        ctx->memory = &space;
        wave.ctx = ctx.get();
        wave.budget = 1 << 20;
        wave.set_s64(machine::exec_lo, ~uint64_t{0});
        for (uint32_t r = 0; r < vgprs + agprs; ++r)
            for (uint32_t l = 0; l < 64; ++l) wave.row(r)[l] = 0xc0c0c0c0u + r;
    }
};

// The 32-bit cells of a register name; `wide` when the name stands for 64 bits.
uint32_t* scalar_cell(machine::Wave& w, const std::string& name, bool& wide) {
    wide = false;
    if (name == "vcc") return wide = true, &w.sgpr[machine::vcc_lo];
    if (name == "exec") return wide = true, &w.sgpr[machine::exec_lo];
    if (name == "m0") return &w.sgpr[machine::m0];
    if (name == "scc") return &w.scc;
    if (name == "mode") return &w.mode;
    if (name[0] == 's') return &w.sgpr[std::strtoul(name.c_str() + 1, nullptr, 10) & 127];
    return nullptr;
}
uint32_t* vector_row(machine::Wave& w, const std::string& name) {
    const auto number = static_cast<uint32_t>(std::strtoul(name.c_str() + 1, nullptr, 10)) & 255;
    if (name[0] == 'v' && name != "vcc") return w.row(number);
    if (name[0] == 'a') return w.arow(number);
    return nullptr;
}

}  // namespace

Result<std::vector<SemanticCase>> read_cases(const std::string& path) {
    std::ifstream file(path);
    if (!file) return {Code::NotFound, path + ": cannot be read"};
    std::vector<SemanticCase> cases;
    std::string line;
    for (uint32_t number = 1; std::getline(file, line); ++number) {
        std::istringstream in(line);
        std::string word;
        if (!(in >> word) || word[0] == '#') continue;
        std::string rest = line.substr(std::min(line.size(), line.find(word) + word.size() + 1));
        if (word == "case") {
            cases.emplace_back().name = rest;
            continue;
        }
        if (cases.empty())
            return {Code::InvalidArgument, path + ":" + std::to_string(number) + ": no case yet"};
        SemanticCase& c = cases.back();
        if (word == "target")
            c.target = rest;
        else if (word == "asm")
            c.assembly.push_back(rest);
        else if (word == "mode")
            c.mode = static_cast<uint32_t>(std::strtoul(rest.c_str(), nullptr, 16));
        else if (word == "set" || word == "expect") {
            std::string reg;
            in >> reg;
            (word == "set" ? c.set : c.expect)[reg] = numbers(in);
        } else {
            return {Code::InvalidArgument,
                    path + ":" + std::to_string(number) + ": unknown word " + word};
        }
    }
    return cases;
}

Status assemble(std::vector<SemanticCase>& cases, const std::string& assembler) {
    std::map<std::string, std::vector<size_t>> by_target;
    for (size_t i = 0; i < cases.size(); ++i) by_target[cases[i].target].push_back(i);
    for (const auto& [target, list] : by_target) {
        char path[] = "/tmp/wj_semantics_XXXXXX";
        const int fd = mkstemp(path);
        if (fd < 0) return {Code::HostError, "no temporary file"};
        FILE* source = fdopen(fd, "w");
        for (const size_t i : list) {
            std::fprintf(source, "case_%zu:\n", i);
            for (const std::string& text : cases[i].assembly)
                std::fprintf(source, "%s\n", text.c_str());
            std::fprintf(source, "s_endpgm\n");
        }
        std::fclose(source);
        const std::string command = assembler + " -triple=amdgcn-amd-amdhsa -mcpu=" + target +
                                    " -show-encoding " + path + " 2>&1";
        FILE* pipe = popen(command.c_str(), "r");
        if (!pipe) return {Code::HostError, "cannot run " + assembler};
        SemanticCase* current = nullptr;
        std::string error;
        char buffer[4096];
        while (std::fgets(buffer, sizeof buffer, pipe)) {
            const std::string line = buffer;
            if (line.find("error:") != std::string::npos && error.empty()) error = line;
            if (line.rfind("case_", 0) == 0)
                current = &cases[std::strtoul(line.c_str() + 5, nullptr, 10)];
            const size_t at = line.find("encoding: [");
            if (at == std::string::npos || !current) continue;
            uint32_t word = 0, count = 0;
            const char* p = line.c_str() + at + 11;
            while (*p && *p != ']') {
                char* end;
                word |= static_cast<uint32_t>(std::strtoul(p, &end, 16)) << (8 * (count & 3));
                if (++count % 4 == 0) {
                    current->code.push_back(word);
                    word = 0;
                }
                p = *end == ',' ? end + 1 : end;
                if (*end != ',' && *end != ']') break;
            }
        }
        pclose(pipe);
        unlink(path);
        if (!error.empty()) return {Code::InvalidArgument, target + ": " + error};
        for (const size_t i : list)
            if (cases[i].code.empty())
                return {Code::InvalidArgument, cases[i].name + ": not assembled"};
    }
    return {};
}

std::string run_case(machine::Engine& engine, const SemanticCase& c) {
    State state;
    machine::Wave& w = state.wave;
    state.ctx->target = find_target(c.target);
    if (!state.ctx->target) return "unknown target " + c.target;
    w.mode = c.mode;
    for (const auto& [name, values] : c.set) {
        if (values.empty()) return "nothing to set in " + name;
        if (uint32_t* row = vector_row(w, name)) {
            for (uint32_t l = 0; l < 64; ++l)
                row[l] = static_cast<uint32_t>(values[l % values.size()]);
            continue;
        }
        bool wide;
        uint32_t* cell = scalar_cell(w, name, wide);
        if (!cell) return "unknown register " + name;
        for (const uint64_t x : values) {
            *cell++ = static_cast<uint32_t>(x);
            if (wide) *cell++ = static_cast<uint32_t>(x >> 32);
        }
    }
    const uint64_t bytes = 4 * c.code.size();
    auto code = state.space.allocate(bytes, memory::read_write | memory::executable, "code");
    if (!code) return code.status().message();
    const uint64_t begin = *code;
    std::memcpy(reinterpret_cast<void*>(begin), c.code.data(), bytes);
    w.pc = begin;
    const machine::ExitKind kind = engine.run(w);
    engine.invalidate(begin, begin + bytes);
    if (kind != machine::ExitKind::EndProgram)
        return "stopped with kind " + std::to_string(static_cast<int>(kind)) +
               (w.exit.reason ? std::string(": ") + w.exit.reason : "");
    std::string report;
    for (const auto& [name, values] : c.expect) {
        if (const uint32_t* row = vector_row(w, name)) {
            for (uint32_t l = 0; l < 64 && report.size() < 400; ++l) {
                const auto want = static_cast<uint32_t>(values[l % values.size()]);
                if (row[l] != want)
                    report += name + "[" + std::to_string(l) + "] is " + hex(row[l]) +
                              ", expected " + hex(want) + "; ";
            }
            continue;
        }
        bool wide;
        const uint32_t* cell = scalar_cell(w, name, wide);
        if (!cell) return "unknown register " + name;
        for (const uint64_t want : values) {
            uint64_t is = *cell++;
            if (wide) is |= uint64_t{*cell++} << 32;
            if (is != want) report += name + " is " + hex(is) + ", expected " + hex(want) + "; ";
        }
    }
    return report;
}

}  // namespace wj::test
