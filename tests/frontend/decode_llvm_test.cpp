// The decoder and the disassembler against LLVM's, for every row and for random words: validity,
// length and text must agree. Differences with a reason stand in
// docs/reference/decode-differences.md and here, in listed_difference(); any other fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>

#include "frontend/decode.h"
#include "frontend/encoding.h"
#include "tests/frontend/decode_words.h"

namespace wj_test {
namespace {

size_t environment(const char* name, size_t fallback) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

struct Ours {
    bool valid;
    wj::Inst inst;
    std::string text;
};

Ours ours(const wj::Target& target, const Words& words) {
    Ours o{};
    o.valid = wj::decode(target, words, o.inst);
    if (o.valid) o.text = normalise(wj::disassemble(target, o.inst));
    return o;
}

// Names the reason for a known difference, or is empty. Numbers refer to
// docs/reference/decode-differences.md.
std::string listed_difference(const wj::Target& target, const Words& words, const Ours& mine,
                              const LlvmResult& llvm) {
    const bool refused = !mine.valid || mine.inst.illegal_operand;
    if (llvm.kind == LlvmResult::Kind::Crashed && refused) return "1 LLVM crashes";
    const bool vop_short = words[0] >> 31 == 0;
    if (!mine.valid && vop_short && (words[0] & 0x1ff) == 249 && (words[1] >> 11 & 3) == 3) {
        return "2 SDWA dst_unused 3";
    }
    const auto has_k = [](wj::Opcode op) { return wj::encoding_info(op).k != wj::InlineK::None; };
    const uint32_t k = words[mine.inst.format == wj::Format::VOPD ? 2 : 1];
    if (mine.valid && (has_k(mine.inst.op) || has_k(mine.inst.op_y)) && k >= 128 && k <= 255)
        return "3 K read as a source encoding";
    if (mine.valid && (mine.inst.nv || mine.inst.tfe) && words[0] >> 26 == 0x37)
        return "5 NV and TFE of flat instructions";
    const bool fmac =
        mine.inst.op == wj::Opcode::v_fmac_f32 || mine.inst.op == wj::Opcode::v_fmac_f16;
    if (mine.valid && fmac && mine.inst.variant >= wj::Variant::E64Dpp &&
        (mine.inst.src[1].is(wj::Operand::Kind::Const) ||
         mine.inst.src[1].is(wj::Operand::Kind::Literal)))
        return "9 constants of v_fmac with DPP";
    const wj::PackedClass packed = wj::encoding_info(mine.inst.op).packed;
    const auto constant_code = [](uint32_t field) { return field >= 128 && field <= 255; };
    if (mine.valid && wj::is_dpp(mine.inst.variant) &&
        (constant_code(mine.inst.dpp8_lanes) || constant_code(mine.inst.dpp_ctrl)))
        return "6 lanes of DPP read as a source encoding";
    if (!mine.valid && llvm.text.substr(0, 9) == "v_fma_mix" && words[0] >> 23 == 0x1a7)
        return "7 mixed precision as gfx9 encodes it";
    const bool vop3 = words[0] >> 26 == 0x35 && target.traits.true16;
    if (!mine.valid && vop3 && (words[0] >> 11 & 15) != 0) return "8 reserved bits of OP_SEL";
    if (mine.valid && mine.inst.op == wj::Opcode::v_cndmask_b32 &&
        llvm.text.find(", vcc") < llvm.text.find_last_of('|') &&
        llvm.text.find('|') != llvm.text.npos)
        return "10 bars around two operands of v_cndmask";
    if (mine.valid && llvm.kind == LlvmResult::Kind::Invalid && words[0] >> 26 == 0x35 &&
        (words[0] & 0xff) != 0x7e && mine.text.substr(0, 7) == "v_cmpx_")
        return "11 VDST of v_cmpx";
    const bool permutes = mine.valid && (mine.inst.op == wj::Opcode::v_permlane16_b32 ||
                                         mine.inst.op == wj::Opcode::v_permlanex16_b32);
    if (permutes && ((words[0] >> 8 & 7) != 0 || words[1] >> 29 != 0))
        return "12 ABS and NEG of v_permlane16";
    // Behind three dwords LLVM takes them from the second one; where an instruction has none, or a
    // constant of its own beside them, its text depends on the order in which it reads them.
    const uint32_t top = words[0] >> 24;
    const bool no_literals = top == 0xcf || top == 0xd0 || words[0] >> 26 == 0x35 || top == 0xcc;
    const auto literal = [](const wj::Operand& o) { return o.is(wj::Operand::Kind::Literal); };
    const bool has_literal =
        mine.valid && std::any_of(mine.inst.src.begin(), mine.inst.src.end(), literal);
    if (target.traits.wide_literals && ((!mine.valid && llvm.size >= 12 && no_literals) ||
                                        (has_literal && mine.inst.illegal_operand)))
        return "13 literals of 64 bits where there are none";
    const bool illegal_scaled =
        mine.valid && mine.inst.illegal_operand &&
        (packed == wj::PackedClass::MfmaScaled || packed == wj::PackedClass::WmmaScaled);
    if (illegal_scaled && (mine.inst.src[0].is(wj::Operand::Kind::Const) ||
                           mine.inst.src[1].is(wj::Operand::Kind::Const))) {
        return "4 f8f6f4 of a constant";
    }
    return {};
}

struct Tally {
    size_t compared = 0, valid = 0, listed = 0, different = 0, unmarked = 0;
    std::map<std::string, std::pair<size_t, std::string>> groups, mark_groups;
    std::set<wj::Opcode> decoded;
};

std::string mnemonic(const std::string& text) {
    return text.substr(0, text.find(' '));
}

std::string describe(const Words& words, const Ours& mine, const LlvmResult& llvm) {
    char hex[64];
    std::snprintf(hex, sizeof hex, "%08x %08x %08x", words[0], words[1], words[2]);
    std::string out = std::string(hex) + "\n    ours: ";
    out += mine.valid ? std::to_string(mine.inst.size) + " " + mine.text : "invalid";
    out += "\n    llvm: ";
    switch (llvm.kind) {
        case LlvmResult::Kind::Invalid:
            out += "invalid";
            break;
        case LlvmResult::Kind::Crashed:
            out += "crashed";
            break;
        case LlvmResult::Kind::Valid:
            out += std::to_string(llvm.size) + " " + llvm.text;
            break;
    }
    return out;
}

void compare(const wj::Target& target, const std::vector<Words>& inputs, Tally& tally) {
    const bool wave64 = target.family >= wj::Family::g10 && target.traits.wave_size == 64;
    std::string features = wave64 ? "-wavefrontsize32,+wavefrontsize64" : "";
    // Of its own accord LLVM names halves of registers on gfx11 only.
    if (target.family >= wj::Family::g12) features += ",+real-true16";
    LlvmDisassembler disassembler{std::string(target.name), features};
    const std::vector<LlvmResult> results = disassembler.disassemble(inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Ours mine = ours(target, inputs[i]);
        const LlvmResult& llvm = results[i];
        ++tally.compared;
        const bool llvm_valid = llvm.kind == LlvmResult::Kind::Valid;
        if (mine.valid && llvm_valid) {
            ++tally.valid;
            tally.decoded.insert(mine.inst.op);
            tally.decoded.insert(mine.inst.op_y);
        }
        const bool same = llvm.kind != LlvmResult::Kind::Crashed && mine.valid == llvm_valid &&
                          (!mine.valid || (mine.inst.size == llvm.size && mine.text == llvm.text));
        if (same) {
            // Operands that LLVM comments as invalid are illegal for us. We also count null, the
            // bases that gfx9 lacks, tuples past the last register and misaligned AccVGPR tuples.
            if (mine.valid && llvm.marked && !mine.inst.illegal_operand) ++tally.unmarked;
            if (mine.valid && mine.inst.illegal_operand != llvm.marked) {
                auto& group = tally.mark_groups[mnemonic(mine.text) +
                                                (llvm.marked ? " LLVM marks" : " we mark")];
                if (group.first++ == 0) group.second = describe(inputs[i], mine, llvm);
            }
            continue;
        }
        if (!listed_difference(target, inputs[i], mine, llvm).empty()) {
            ++tally.listed;
            continue;
        }
        ++tally.different;
        const std::string key = (mine.valid ? mnemonic(mine.text) : "invalid") + " / " +
                                (llvm_valid                               ? mnemonic(llvm.text)
                                 : llvm.kind == LlvmResult::Kind::Crashed ? "crashed"
                                                                          : "invalid");
        auto& group = tally.groups[key];
        if (group.first++ == 0) group.second = describe(inputs[i], mine, llvm);
    }
}

std::string report(const Tally& tally) {
    std::string out = std::to_string(tally.compared) + " compared, " + std::to_string(tally.valid) +
                      " valid, " + std::to_string(tally.listed) + " listed, " +
                      std::to_string(tally.different) + " different\n";
    size_t shown = 0;
    const size_t limit = environment("WAVEJIT_DECODE_SHOW", 40);
    for (const auto& [key, group] : tally.groups) {
        if (shown++ == limit) break;
        out += "  " + std::to_string(group.first) + "x " + key + ": " + group.second + "\n";
    }
    if (std::getenv("WAVEJIT_DECODE_MARKS") != nullptr) {
        for (const auto& [key, group] : tally.mark_groups) {
            out += "  " + std::to_string(group.first) + "x " + key + ": " + group.second + "\n";
        }
    }
    return out;
}

class DecodeLlvm : public testing::TestWithParam<const char*> {
protected:
    // "gfx1030" or "gfx1030:64", with a wave size that is not the default.
    const wj::Target& target() const {
        const std::string name = GetParam();
        return *wj::find_target(name, name.find(":64") != name.npos ? 64 : 0);
    }
    static void finish(const Tally& tally) {
        std::printf("%zu compared, %zu valid, %zu listed differences\n", tally.compared,
                    tally.valid, tally.listed);
        EXPECT_EQ(tally.different, 0u) << report(tally);
        EXPECT_EQ(tally.unmarked, 0u) << "set WAVEJIT_DECODE_MARKS to see them";
        if (std::getenv("WAVEJIT_DECODE_MARKS") != nullptr)
            std::printf("%s", report(tally).c_str());
    }
};

TEST_P(DecodeLlvm, EveryRow) {
    Random random(environment("WAVEJIT_DECODE_SEED", 1));
    Tally tally;
    compare(target(), row_words(target(), environment("WAVEJIT_DECODE_FILLINGS", 120), random),
            tally);
    finish(tally);
    // Each row was valid at least once, so that no row hides behind rejections.
    const auto& slots = wj::opcode_slots[static_cast<size_t>(target().family)];
    for (const wj::Opcode op : slots) {
        if (op == wj::Opcode::invalid) continue;
        // Waves of 64 lanes have no pairs of vector operations.
        if (target().traits.wave_size == 64 && wj::op_info(op).format == wj::Format::VOPD) continue;
        EXPECT_TRUE(tally.decoded.count(op)) << wj::op_info(op).name << " never decoded";
    }
}

TEST_P(DecodeLlvm, BiasedWords) {
    Random random(environment("WAVEJIT_DECODE_SEED", 1) + 1000);
    Tally tally;
    compare(target(), biased_words(target(), environment("WAVEJIT_DECODE_WORDS", 100000), random),
            tally);
    finish(tally);
}

TEST_P(DecodeLlvm, UniformWords) {
    Random random(environment("WAVEJIT_DECODE_SEED", 1) + 2000);
    Tally tally;
    compare(target(), uniform_words(environment("WAVEJIT_DECODE_WORDS", 100000), random), tally);
    finish(tally);
}

// All immediates of the instructions that print them symbolically.
TEST_P(DecodeLlvm, SymbolicImmediates) {
    constexpr uint32_t bases[] = {
        0xBF8C0000,  // s_waitcnt
        0xBF900000,  // s_sendmsg
        0xB8820000,  // s_getreg_b32
        0xBF9D0000,  // s_set_gpr_idx_mode
        0xBF800000,  // s_nop
        0xD87A0000,  // ds_swizzle_b32
    };
    constexpr uint32_t rdna1_bases[] = {
        0xBFA30000,  // s_waitcnt_depctr
        0xBFA10000,  // s_clause
        0xB0800000,  // s_version
        0xB9000000,  // s_getreg_b32
        0xBBFD0000,  // s_waitcnt_vscnt
        0xD8D40000,  // ds_swizzle_b32
        0xBF8C0000,  // s_waitcnt
        0xBF900000,  // s_sendmsg
    };
    constexpr uint32_t rdna3_bases[] = {
        0xBF880000,  // s_waitcnt_depctr
        0xBF850000,  // s_clause
        0xB0800000,  // s_version
        0xB8800000,  // s_getreg_b32
        0xBC000000,  // s_waitcnt_vscnt
        0xD8D40000,  // ds_swizzle_b32
        0xBF890000,  // s_waitcnt
        0xBFB60000,  // s_sendmsg
        0xBF870000,  // s_delay_alu
        0xBF8B0000,  // s_wait_event
        0xBE804C00,  // s_sendmsg_rtn_b32 and others
    };
    constexpr uint32_t rdna4_bases[] = {
        0xBF880000,  // s_wait_alu
        0xBF850000,  // s_clause
        0xB0800000,  // s_version
        0xB8800000,  // s_getreg_b32
        0xD8D40000,  // ds_swizzle_b32
        0xBFB60000,  // s_sendmsg
        0xBF870000,  // s_delay_alu
        0xBF8B0000,  // s_wait_event
        0xBFC00000,  // s_wait_loadcnt
        0xBF940000,  // s_barrier_wait
        0xBE804C00,  // s_sendmsg_rtn_b32 and others
    };
    std::span<const uint32_t> chosen = bases;
    if (target().family >= wj::Family::g10) chosen = rdna1_bases;
    if (target().family >= wj::Family::g11) chosen = rdna3_bases;
    if (target().family >= wj::Family::g12) chosen = rdna4_bases;
    std::vector<Words> inputs;
    for (const uint32_t base : chosen) {
        for (uint32_t imm = 0; imm < 0x10000; ++imm) inputs.push_back({base | imm, 1, 0, 0, 0});
    }
    Tally tally;
    compare(target(), inputs, tally);
    finish(tally);
}

std::string test_name(const testing::TestParamInfo<const char*>& info) {
    std::string name = info.param;
    for (char& c : name) c = c == '-' || c == ':' ? '_' : c;
    return name;
}

// One of each set of opcodes; the others differ from these in few rows.
INSTANTIATE_TEST_SUITE_P(Targets, DecodeLlvm,
                         testing::Values("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                         "gfx950", "gfx1010", "gfx1030", "gfx1030:64", "gfx1100",
                                         "gfx1100:64", "gfx1150", "gfx1201", "gfx1250"),
                         test_name);
INSTANTIATE_TEST_SUITE_P(AllTargets, DecodeLlvm,
                         testing::Values("gfx801", "gfx810", "gfx902", "gfx904", "gfx909", "gfx90c",
                                         "gfx9-generic", "gfx9-4-generic", "gfx1010:64", "gfx1011",
                                         "gfx1012", "gfx1013", "gfx10-1-generic", "gfx10-3-generic",
                                         "gfx1101", "gfx1102", "gfx1103", "gfx1150:64", "gfx1151",
                                         "gfx1152", "gfx1153", "gfx11-generic", "gfx1200",
                                         "gfx1200:64", "gfx12-generic", "gfx1251"),
                         test_name);

}  // namespace
}  // namespace wj_test
