// Words that the decoder (and LLVM: decode_llvm_test) rejects end the wave with a report. Register
// numbers beyond the wave's allocation are reported by every engine and nothing else is
// reported as such: every row of the tables with random fields. What an instruction names is read
// from its disassembly, which is LLVM's (decode_llvm_test).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "backend_x64/translator.h"
#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "memory/address_space.h"
#include "tests/frontend/decode_words.h"

namespace wj {
namespace {

constexpr uint32_t rows = 256;
constexpr char reason_word[] = "allocation";

struct Named {
    uint32_t v = 0, a = 0, s = 0;
};

// One past the highest register of each file in "v_add_f64 v[0:1], s[2:3], v[4:5]".
Named named_registers(const std::string& text) {
    Named n;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        uint32_t* end = text[i] == 'v'   ? &n.v
                        : text[i] == 'a' ? &n.a
                        : text[i] == 's' ? &n.s
                                         : nullptr;
        if (!end || (!std::isspace(text[i - 1]) && !std::strchr(",|-(", text[i - 1]))) continue;
        const char* p = text.c_str() + i + 1;
        char* rest = nullptr;
        if (*p == '[') {
            std::strtoul(p + 1, &rest, 10);
            p = *rest == ':' ? rest + 1 : p + 1;
        }
        const unsigned long last = std::strtoul(p, &rest, 10);
        if (rest == p || (*rest && !std::strchr(",| ])", *rest))) continue;
        *end = std::max(*end, static_cast<uint32_t>(last) + 1);
    }
    return n;
}

TEST(NamedRegisters, OfATextLine) {
    const Named n = named_registers("v_mfma_f32_4x4x1f32 a[4:7], v0, v17, a[0:3]");
    EXPECT_EQ(n.v, 18u);
    EXPECT_EQ(n.a, 8u);
    EXPECT_EQ(named_registers("s_load_dwordx4 s[24:27], s[0:1], 0x5").s, 28u);
    EXPECT_EQ(named_registers("v_add_f32_e64 v0, |s5|, -v9 clamp").v, 10u);
    EXPECT_EQ(named_registers("s_setprio 3").s, 0u);
}

struct Machine {
    memory::AddressSpace space;
    std::vector<uint32_t> file = std::vector<uint32_t>((2 * rows + 1) * machine::lanes);
    std::vector<uint8_t> lds = std::vector<uint8_t>(4096 + 64);
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    uint64_t code = 0;

    explicit Machine(const Target& target) {
        ctx->target = &target;
        ctx->memory = &space;
        ctx->memory_mode = machine::MemoryMode::Checked;
        code = space.allocate(4096, memory::read_write | memory::executable, "code").value();
    }
    machine::ExitKind run(machine::Engine& engine, const wj_test::Words& words, uint32_t size,
                          const Named& allocated, std::string& reason) {
        auto* at = reinterpret_cast<uint32_t*>(code);
        std::fill(at, at + 1024, 0xbf810000);  // s_endpgm
        std::memcpy(at + 64, words.data(), size);
        engine.invalidate(code, code + 4096);
        machine::Wave w;
        const auto base = (reinterpret_cast<uintptr_t>(file.data()) + 63) & ~uintptr_t{63};
        w.vgpr = reinterpret_cast<uint32_t*>(base);
        w.agpr = w.vgpr + rows * machine::lanes;
        w.vgpr_count = allocated.v, w.agpr_count = allocated.a, w.sgpr_count = allocated.s;
        w.lds = lds.data();
        w.lds_size = 4096;
        w.ctx = ctx.get();
        w.mode = 0xf0;
        w.budget = 64;
        w.pc = code + 256;
        w.set_s64(machine::exec_lo, 0x5);
        const machine::ExitKind kind = engine.run(w);
        reason = w.exit.reason ? w.exit.reason : "";
        return kind;
    }
};

struct Setup {
    const char* target;
    int engine;
};

class RegisterLimits : public testing::TestWithParam<Setup> {};

// Null when the host cannot run it.
std::unique_ptr<machine::Engine> make_engine(const Setup& setup, const Target& target) {
    if (setup.engine == 0) return interp::make_interpreter(target);
    const x64::Isa isa = setup.engine == 1 ? x64::Isa::Avx2 : x64::Isa::Avx512;
    if (!x64::host_supports(isa)) return nullptr;
    return std::move(*x64::make_translator(target, isa, {.keep_registers = true}));
}

TEST_P(RegisterLimits, RejectedWords) {
    const Target& target = *find_target(GetParam().target);
    const auto engine = make_engine(GetParam(), target);
    if (!engine) GTEST_SKIP() << "this host cannot run the engine";
    Machine m(target);
    wj_test::Random random(8);
    uint32_t count = 0;
    auto words = wj_test::uniform_words(4000, random);
    for (const auto& more : wj_test::biased_words(target, 4000, random)) words.push_back(more);
    for (const wj_test::Words& w : words) {
        Inst inst;
        if (decode(target, w, inst) && !inst.illegal_operand) continue;
        std::string reason;
        ASSERT_EQ(m.run(*engine, w, 16, {256, 256, 102}, reason),
                  machine::ExitKind::IllegalInstruction)
            << std::hex << w[0] << " " << w[1];
        EXPECT_NE(reason, "");
        ++count;
    }
    EXPECT_GT(count, 1000u);
}

TEST_P(RegisterLimits, EveryRow) {
    const Target& target = *find_target(GetParam().target);
    const auto engine = make_engine(GetParam(), target);
    if (!engine) GTEST_SKIP() << "this host cannot run the engine";
    Machine m(target);
    wj_test::Random random(7);
    uint32_t beyond = 0, within = 0;
    for (const wj_test::Words& words : wj_test::row_words(target, 4, random)) {
        Inst inst;
        if (!decode(target, words, inst) || inst.illegal_operand) continue;
        if (!interp::handler(inst.op)) continue;
        // Relative to M0, and only between allocated SGPRs: cases/control.txt.
        if (op_info(inst.op).name.find("movrel") != std::string_view::npos) continue;
        const std::string text = disassemble(target, inst);
        const Named need = named_registers(text);
        std::string reason;
        // As many registers as it names; then one fewer of one kind.
        machine::ExitKind kind =
            m.run(*engine, words, inst.size, {need.v, need.a, std::max(need.s, 1u)}, reason);
        ++within;
        ASSERT_EQ(reason.find(reason_word), reason.npos) << text << ": " << reason;
        for (uint32_t file = 0; file < 3; ++file) {
            Named fewer = {need.v, need.a, std::max(need.s, 1u)};
            uint32_t& count = file == 0 ? fewer.v : file == 1 ? fewer.a : fewer.s;
            if (file == 2 && need.s < 2) continue;  // 0: not checked
            if (count == 0) continue;
            --count;
            ++beyond;
            kind = m.run(*engine, words, inst.size, fewer, reason);
            if (kind == machine::ExitKind::Unimplemented) continue;
            ASSERT_EQ(kind, machine::ExitKind::IllegalInstruction) << text << ": " << reason;
            ASSERT_NE(reason.find(reason_word), reason.npos) << text << ": " << reason;
        }
    }
    EXPECT_GT(beyond, 3500u);
    EXPECT_GT(within, 3000u);
}

std::string setup_name(const testing::TestParamInfo<Setup>& info) {
    static const char* const engines[] = {"interp", "avx2", "avx512"};
    return std::string(info.param.target) + "_" + engines[info.param.engine];
}

INSTANTIATE_TEST_SUITE_P(All, RegisterLimits,
                         testing::Values(Setup{"gfx900", 0}, Setup{"gfx900", 1}, Setup{"gfx900", 2},
                                         Setup{"gfx908", 0}, Setup{"gfx908", 1}, Setup{"gfx908", 2},
                                         Setup{"gfx90a", 0}, Setup{"gfx90a", 1}, Setup{"gfx90a", 2},
                                         Setup{"gfx950", 0}, Setup{"gfx950", 1},
                                         Setup{"gfx950", 2}),
                         setup_name);

}  // namespace
}  // namespace wj
