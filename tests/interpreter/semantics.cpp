#include "tests/interpreter/semantics.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "frontend/opcode.h"
#include "frontend/target.h"
#include "memory/address_space.h"

namespace wj::test {

namespace {

std::string hex(uint64_t x) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
    return text;
}

constexpr uint32_t vgprs = 256, rows = 1024;  // AccVGPRs, or v256 and on, behind the first
constexpr uint32_t global_bytes = 16384, lds_bytes = 4096, scratch_bytes = 64;

struct State {
    std::vector<uint32_t> vector = std::vector<uint32_t>(rows * 64 + 16);
    std::vector<uint32_t> lds = std::vector<uint32_t>(lds_bytes / 4);
    memory::AddressSpace space;
    std::unique_ptr<machine::GwsResource[]> gws =
        std::make_unique<machine::GwsResource[]>(machine::gws_resources);
    std::unique_ptr<machine::GlobalDataShare> gds = std::make_unique<machine::GlobalDataShare>();
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    machine::Wave wave;
    uint64_t global = 0;

    explicit State(const SemanticCase& c) {
        const auto p = (reinterpret_cast<uintptr_t>(vector.data()) + 63) & ~uintptr_t{63};
        wave.vgpr = reinterpret_cast<uint32_t*>(p);
        wave.agpr = wave.vgpr + vgprs * 64;
        wave.vgpr_count = c.vgprs;
        wave.agpr_count = c.agprs;
        wave.sgpr_count = c.sgprs;
        ctx->memory = &space;
        ctx->gws = gws.get();
        ctx->gds = gds.get();
        wave.ctx = ctx.get();
        wave.budget = 1 << 20;
        wave.set_s64(machine::exec_lo, ~uint64_t{0});
        for (uint32_t r = 0; r < rows; ++r)
            for (uint32_t l = 0; l < 64; ++l) wave.row(r)[l] = 0xc0c0c0c0u + r;
        wave.lds = reinterpret_cast<uint8_t*>(lds.data());
        wave.lds_size = lds_bytes;
    }

    Status allocate() {
        auto data = space.allocate(global_bytes, memory::read_write, "data");
        auto own = space.allocate(scratch_bytes * 64, memory::read_write, "scratch");
        if (!data) return data.status();
        if (!own) return own.status();
        global = *data;
        wave.scratch = reinterpret_cast<uint8_t*>(*own);
        wave.scratch_base = *own;
        wave.scratch_bytes = scratch_bytes;
        return {};
    }
};

// Dwords that a name stands for in memory; nothing for registers.
struct Cells {
    uint32_t* first = nullptr;
    size_t count = 0;
};
Cells memory_cells(State& s, const std::string& name) {
    if (name == "global") return {reinterpret_cast<uint32_t*>(s.global), global_bytes / 4};
    if (name == "lds") return {s.lds.data(), s.lds.size()};
    if (name == "gds") return {reinterpret_cast<uint32_t*>(s.gds->bytes), s.gds->size / 4};
    if (name == "scratch")
        return {reinterpret_cast<uint32_t*>(s.wave.scratch), scratch_bytes / 4 * 64};
    return {};
}

// The 32-bit cells of a register name; `wide` when the name stands for 64 bits.
uint32_t* scalar_cell(machine::Wave& w, const std::string& name, bool& wide) {
    wide = false;
    if (name == "vcc") return wide = true, &w.sgpr[machine::vcc_lo];
    if (name == "exec") return wide = true, &w.sgpr[machine::exec_lo];
    if (name == "m0") return &w.sgpr[machine::m0];
    if (name == "scc") return &w.scc;
    if (name == "mode") return &w.mode;
    if (name == "trapsts") return &w.trapsts;
    if (name == "detail") return &w.exit.detail;
    if (name == "lanes") return wide = true, reinterpret_cast<uint32_t*>(&w.exit.lane_mask);
    if (name[0] == 's') return &w.sgpr[std::strtoul(name.c_str() + 1, nullptr, 10) & 127];
    return nullptr;
}
uint32_t* vector_row(machine::Wave& w, const std::string& name) {
    const auto number = static_cast<uint32_t>(std::strtoul(name.c_str() + 1, nullptr, 10));
    if (name[0] == 'v' && name != "vcc") return w.row(number % rows);
    if (name[0] == 'a') return w.arow(number % vgprs);
    return nullptr;
}

std::string set(State& state, const std::string& name, const std::vector<uint64_t>& values) {
    machine::Wave& w = state.wave;
    if (values.empty()) return "nothing to set in " + name;
    if (const Cells cells = memory_cells(state, name); cells.first) {
        if (values.size() > cells.count) return "too much to set in " + name;
        for (size_t i = 0; i < values.size(); ++i)
            cells.first[i] = static_cast<uint32_t>(values[i]);
        return {};
    }
    if (uint32_t* row = vector_row(w, name)) {
        for (uint32_t l = 0; l < 64; ++l) row[l] = static_cast<uint32_t>(values[l % values.size()]);
        return {};
    }
    bool wide;
    uint32_t* cell = scalar_cell(w, name, wide);
    if (!cell) return "unknown register " + name;
    for (const uint64_t x : values) {
        *cell++ = static_cast<uint32_t>(x);
        if (wide) *cell++ = static_cast<uint32_t>(x >> 32);
    }
    return {};
}

void add_base(State& state, const std::string& name) {
    machine::Wave& w = state.wave;
    const auto number = static_cast<uint32_t>(std::strtoul(name.c_str() + 1, nullptr, 10));
    if (name[0] == 's') return w.set_s64(number & 126, w.s64(number & 126) + state.global);
    for (uint32_t l = 0; l < 64; ++l) {
        uint32_t &low = w.row(number & 254)[l], &high = w.row((number & 254) + 1)[l];
        const uint64_t sum = (low | uint64_t{high} << 32) + state.global;
        low = static_cast<uint32_t>(sum);
        high = static_cast<uint32_t>(sum >> 32);
    }
}

std::string compare(State& state, const std::string& name, const std::vector<uint64_t>& values) {
    machine::Wave& w = state.wave;
    std::string report;
    const auto differs = [&](size_t i, uint64_t is, uint64_t want) {
        if (is != want && report.size() < 400)
            report += name + "[" + std::to_string(i) + "] is " + hex(is) + ", expected " +
                      hex(want) + "; ";
    };
    if (const Cells cells = memory_cells(state, name); cells.first) {
        for (size_t i = 0; i < std::min(cells.count, values.size()); ++i)
            differs(i, cells.first[i], values[i]);
        return report;
    }
    if (const uint32_t* row = vector_row(w, name)) {
        for (size_t l = 0; l < 64; ++l)
            differs(l, row[l], static_cast<uint32_t>(values[l % values.size()]));
        return report;
    }
    bool wide;
    const uint32_t* cell = scalar_cell(w, name, wide);
    if (!cell) return "unknown register " + name;
    for (size_t i = 0; i < values.size(); ++i) {
        uint64_t is = *cell++;
        if (wide) is |= uint64_t{*cell++} << 32;
        differs(i, is, values[i]);
    }
    return report;
}

}  // namespace

// Cases name rows of the tables; a target's assembler may know another name for the row.
static std::string as_target_says(const Target& target, const std::string& line) {
    const std::string_view mnemonic = std::string_view(line).substr(0, line.find(' '));
    const Opcode op = find_opcode(mnemonic);
    if (op == Opcode::invalid) return line;
    const std::string_view row = op_info(op).name;
    return std::string(op_name(op, target.family)) + line.substr(row.size());
}

Status assemble(std::vector<SemanticCase>& cases, const std::string& assembler) {
    std::map<std::pair<std::string, uint32_t>, std::vector<size_t>> by_target;
    for (size_t i = 0; i < cases.size(); ++i)
        by_target[{cases[i].target, cases[i].wave_size}].push_back(i);
    for (const auto& [group, list] : by_target) {
        const auto& [target, wave_size] = group;
        char path[] = "/tmp/wj_semantics_XXXXXX";
        const int fd = mkstemp(path);
        if (fd < 0) return {Code::HostError, "no temporary file"};
        FILE* source = fdopen(fd, "w");
        for (const size_t i : list) {
            std::fprintf(source, "case_%zu:\n", i);
            for (const std::string& text : cases[i].assembly)
                std::fprintf(source, "%s\n", as_target_says(*find_target(target), text).c_str());
            std::fprintf(source, "s_endpgm\n");
        }
        std::fclose(source);
        std::string features;
        if (find_target(target, 32) && find_target(target, 64))
            features += ",+wavefrontsize" + std::to_string(wave_size);
        if (find_target(target)->traits.true16) features += ",+real-true16";
        const std::string command = assembler + " -triple=amdgcn-amd-amdhsa -mcpu=" + target +
                                    (features.empty() ? "" : " -mattr=" + features.substr(1)) +
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
        for (const size_t i : list) {
            std::vector<uint32_t>& code = cases[i].code;
            if (code.empty()) return {Code::InvalidArgument, cases[i].name + ": not assembled"};
            // The raw words go before the s_endpgm.
            code.insert(code.end() - 1, cases[i].raw.begin(), cases[i].raw.end());
        }
    }
    return {};
}

Target target_of(const SemanticCase& c) {
    if (const Target* exists = find_target(c.target, c.wave_size)) return *exists;
    Target target = *find_target(c.target);
    target.traits.wave_size = c.wave_size;
    return target;
}

std::string run_case(machine::Engine& engine, const SemanticCase& c) {
    State state(c);
    machine::Wave& w = state.wave;
    const Target target = target_of(c);
    state.ctx->target = &target;
    state.ctx->whole_lanes = c.wave_size;
    w.size = static_cast<uint8_t>(c.wave_size);
    if (const Status status = state.allocate(); !status) return status.message();
    w.mode = c.mode;
    w.lds_alloc = lds_bytes / target.traits.lds_size_unit() << 12;
    w.trap_enabled = true;
    w.sgpr_aliases = static_cast<uint8_t>(c.aliases);
    for (const auto& [name, values] : c.set)
        if (std::string error = set(state, name, values); !error.empty()) return error;
    for (const std::string& name : c.bases) add_base(state, name);
    const uint64_t bytes = 4 * c.code.size();
    auto code = state.space.allocate(bytes, memory::read_write | memory::executable, "code");
    if (!code) return code.status().message();
    const uint64_t begin = *code;
    std::memcpy(reinterpret_cast<void*>(begin), c.code.data(), bytes);
    w.pc = begin;
    const machine::ExitKind kind = engine.run(w);
    engine.invalidate(begin, begin + bytes);
    if (kind != c.exit)
        return "stopped with kind " + std::to_string(static_cast<int>(kind)) +
               (w.exit.reason ? std::string(": ") + w.exit.reason : "");
    std::string report;
    for (const auto& [name, values] : c.expect) report += compare(state, name, values);
    return report;
}

}  // namespace wj::test
