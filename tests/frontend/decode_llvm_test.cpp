// The decoder and the disassembler against LLVM's, for every row and for random words: validity,
// length and text must agree. Differences with a reason stand in
// docs/reference/decode-differences.md and here, in listed_difference(); any other fails.
#include <gtest/gtest.h>

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
std::string listed_difference(const Words& words, const Ours& mine, const LlvmResult& llvm) {
    const bool refused = !mine.valid || mine.inst.illegal_operand;
    if (llvm.kind == LlvmResult::Kind::Crashed && refused) return "1 LLVM crashes";
    const bool vop_short = words[0] >> 31 == 0;
    if (!mine.valid && vop_short && (words[0] & 0x1ff) == 249 && (words[1] >> 11 & 3) == 3) {
        return "2 SDWA dst_unused 3";
    }
    if (mine.valid && wj::encoding_info(mine.inst.op).k != wj::InlineK::None && words[1] >= 128 &&
        words[1] <= 255) {
        return "3 K read as a source encoding";
    }
    if (mine.valid && (mine.inst.nv || mine.inst.tfe) && words[0] >> 26 == 0x37)
        return "5 NV and TFE of flat instructions";
    const wj::PackedClass packed = wj::encoding_info(mine.inst.op).packed;
    if (mine.valid && mine.inst.variant == wj::Variant::Dpp8 && mine.inst.dpp8_lanes >= 128 &&
        mine.inst.dpp8_lanes <= 255)
        return "6 lanes of DPP8 read as a source encoding";
    if (!mine.valid && llvm.text.substr(0, 9) == "v_fma_mix" && words[0] >> 23 == 0x1a7)
        return "7 mixed precision as gfx9 encodes it";
    if (mine.valid && llvm.kind == LlvmResult::Kind::Invalid && words[0] >> 26 == 0x35 &&
        (words[0] & 0xff) != 0x7e && mine.text.substr(0, 7) == "v_cmpx_")
        return "8 VDST of v_cmpx";
    const bool permutes = mine.valid && (mine.inst.op == wj::Opcode::v_permlane16_b32 ||
                                         mine.inst.op == wj::Opcode::v_permlanex16_b32);
    if (permutes && ((words[0] >> 8 & 7) != 0 || words[1] >> 29 != 0))
        return "9 ABS and NEG of v_permlane16";
    const bool illegal_scaled =
        mine.valid && packed == wj::PackedClass::MfmaScaled && mine.inst.illegal_operand;
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
    LlvmDisassembler disassembler{std::string(target.name),
                                  wave64 ? "-wavefrontsize32,+wavefrontsize64" : ""};
    const std::vector<LlvmResult> results = disassembler.disassemble(inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Ours mine = ours(target, inputs[i]);
        const LlvmResult& llvm = results[i];
        ++tally.compared;
        const bool llvm_valid = llvm.kind == LlvmResult::Kind::Valid;
        if (mine.valid && llvm_valid) {
            ++tally.valid;
            tally.decoded.insert(mine.inst.op);
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
        if (!listed_difference(inputs[i], mine, llvm).empty()) {
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
        return *wj::find_decoded_target(name, name.find(":64") != name.npos ? 64 : 0);
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
    std::vector<Words> inputs;
    const bool rdna = target().family >= wj::Family::g10;
    for (const uint32_t base : rdna ? std::span<const uint32_t>(rdna1_bases) : bases) {
        for (uint32_t imm = 0; imm < 0x10000; ++imm) inputs.push_back({base | imm, 1, 0, 0, 0});
    }
    Tally tally;
    compare(target(), inputs, tally);
    finish(tally);
}

INSTANTIATE_TEST_SUITE_P(Targets, DecodeLlvm,
                         testing::Values("gfx801", "gfx803", "gfx810", "gfx900", "gfx902", "gfx904",
                                         "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c", "gfx942",
                                         "gfx950", "gfx9-generic", "gfx9-4-generic", "gfx1010",
                                         "gfx1010:64", "gfx1011", "gfx1012", "gfx1013", "gfx1030",
                                         "gfx1030:64", "gfx10-1-generic", "gfx10-3-generic"),
                         [](const auto& info) {
                             std::string name = info.param;
                             for (char& c : name) c = c == '-' || c == ':' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace wj_test
