// Fields of decoded instructions, against encodings worked out from the ISA manuals (Vega ISA and
// CDNA2 ISA, "Microcode formats"); agreement of the text with LLVM is decode_llvm_test's subject.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "frontend/decode.h"
#include "frontend/dual.h"
#include "frontend/wait_count.h"
#include "tests/frontend/decode_words.h"

namespace {

using wj::Inst;
using wj::Opcode;
using wj::Operand;
using wj::Type;

Inst decode_on(const char* processor, std::vector<uint32_t> words) {
    Inst inst;
    EXPECT_TRUE(wj::decode(*wj::find_target(processor), words, inst)) << processor;
    return inst;
}

bool decodes(const char* processor, std::vector<uint32_t> words) {
    Inst inst;
    return wj::decode(*wj::find_target(processor), words, inst);
}

std::string text(const char* processor, std::vector<uint32_t> words) {
    return wj::disassemble(*wj::find_target(processor), decode_on(processor, std::move(words)));
}

TEST(Decode, ScalarLiteral) {
    // s_mov_b32 s5, 0x12345678: SOP1 0xBE800000 | sdst 5 << 16 | op 0 << 8 | 255
    const Inst i = decode_on("gfx900", {0xBE8500FF, 0x12345678});
    EXPECT_EQ(i.op, Opcode::s_mov_b32);
    EXPECT_EQ(i.size, 8);
    EXPECT_TRUE(i.src[0].is(Operand::Kind::Literal));
    EXPECT_EQ(i.src[0].value, 0x12345678u);
    EXPECT_EQ(i.dst[0].reg, 5);
    EXPECT_FALSE(decodes("gfx900", {0xBE8500FF})) << "the literal is missing";
}

TEST(Decode, ConstantsTakeTheOperandType) {
    // v_add_f64 v[0:1], 1.0, v[2:3]; v_add_f32 v0, 1.0, v2; v_add_f16 v0, 1.0, v2; v_add_u32 v0,
    // -1, v2
    EXPECT_EQ(decode_on("gfx900", {0xD2800000, 242 | 258 << 9}).src[0].value, 0x3FF0000000000000u);
    EXPECT_EQ(decode_on("gfx900", {0x02000000 | 2 << 9 | 242}).src[0].value, 0x3F800000u);
    EXPECT_EQ(decode_on("gfx900", {0x3E000000 | 2 << 9 | 242}).src[0].value, 0x3C00u);
    EXPECT_EQ(decode_on("gfx900", {0x68000000 | 2 << 9 | 193}).src[0].value, 0xFFFFFFFFu);
    // s_mov_b64 s[0:1], -1 extends the sign
    EXPECT_EQ(decode_on("gfx900", {0xBE8001C1}).src[0].value, ~uint64_t{0});
    // v_ceil_f64 of a literal: the literal is the high half
    EXPECT_EQ(decode_on("gfx900", {0x7E0030FF, 0x40000000}).src[0].value,
              uint64_t{0x40000000} << 32);
}

TEST(Decode, ImplicitVccIsAnOperand) {
    const Inst cndmask = decode_on("gfx906", {0x00000000 | 3 << 17 | 2 << 9 | 257});
    EXPECT_EQ(cndmask.op, Opcode::v_cndmask_b32);
    EXPECT_EQ(cndmask.src[2].reg, 106);
    EXPECT_EQ(cndmask.src[2].type, Type::mask);
    const Inst compare = decode_on("gfx906", {0x7C000000 | 0x41u << 17 | 2 << 9 | 257});
    EXPECT_EQ(compare.op, Opcode::v_cmp_lt_f32);
    EXPECT_EQ(compare.dst[0].reg, 106);
    const Inst add = decode_on("gfx906", {0x32000000 | 3 << 17 | 2 << 9 | 257});
    EXPECT_EQ(add.op, Opcode::v_add_co_u32);
    EXPECT_EQ(add.dst[0].reg, 3);
    EXPECT_EQ(add.dst[1].reg, 106);
}

TEST(Decode, MadmkOrder) {
    // v_madmk_f32 v1, v2, K, v3
    const Inst i = decode_on("gfx900", {0x2E000000 | 1 << 17 | 3 << 9 | 258, 0x42280000});
    EXPECT_EQ(i.src[0].reg, 2);
    EXPECT_EQ(i.src[1].value, 0x42280000u);
    EXPECT_EQ(i.src[2].reg, 3);
}

TEST(Decode, SdwaAndDpp) {
    // v_add_f32_sdwa v4, |v1|, -s2 clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2
    // src1_sel:DWORD
    const uint32_t sdwa =
        1 | 5 << 8 | 2 << 11 | 1 << 13 | 2 << 16 | 1 << 21 | 6 << 24 | 1 << 28 | 1u << 31;
    const Inst i = decode_on("gfx900", {0x02000000 | 4 << 17 | 2 << 9 | 249, sdwa});
    EXPECT_EQ(i.variant, wj::Variant::Sdwa);
    EXPECT_TRUE(i.src[0].is(Operand::Kind::Vgpr));
    EXPECT_TRUE(i.src[1].is(Operand::Kind::Sgpr));
    EXPECT_EQ(i.abs, 1);
    EXPECT_EQ(i.neg, 2);
    EXPECT_TRUE(i.clamp);
    EXPECT_EQ(i.dst_sel, wj::SdwaSel::Word1);
    EXPECT_EQ(i.dst_unused, 2);
    EXPECT_EQ(i.src_sel[0], wj::SdwaSel::Byte2);
    // v_mov_b32_dpp v0, v1 row_shr:3 row_mask:0xa bank_mask:0x5 bound_ctrl:1
    const Inst d = decode_on("gfx900", {0x7E0002FA, 0xA5000001 | 1 << 19 | 0x113 << 8});
    EXPECT_EQ(d.variant, wj::Variant::Dpp);
    EXPECT_EQ(d.dpp_ctrl, 0x113);
    EXPECT_EQ(d.row_mask, 0xA);
    EXPECT_EQ(d.bank_mask, 5);
    EXPECT_TRUE(d.bound_ctrl);
}

TEST(Decode, ScalarMemoryOffsets) {
    // s_load_dwordx2 s[4:5], s[0:1], -8: IMM, 21-bit signed offset
    const Inst i = decode_on("gfx900", {0xC0000000 | 1 << 18 | 1 << 17 | 4 << 6, 0x1FFFF8});
    EXPECT_EQ(i.offset, -8);
    EXPECT_EQ(i.dst[0].dwords, 2);
    EXPECT_FALSE(i.soffset().present());
    // the same by SGPR: no IMM, register number in the offset
    const Inst r = decode_on("gfx900", {0xC0000000 | 1 << 18 | 4 << 6, 9});
    EXPECT_EQ(r.soffset().reg, 9);
    // s_buffer_load takes four SGPRs
    EXPECT_EQ(decode_on("gfx900", {0xC0000000 | 8 << 18 | 1 << 17 | 2, 0}).sbase().dwords, 4);
}

TEST(Decode, VectorMemory) {
    // global_load_dwordx4 v[4:7], v2, s[8:9] offset:-16
    const Inst g =
        decode_on("gfx90a", {0xDC000000 | 23 << 18 | 2 << 14 | 0x1FF0, 4 << 24 | 8 << 16 | 2});
    EXPECT_EQ(g.offset, -16);
    EXPECT_EQ(g.vaddr().dwords, 1);
    EXPECT_EQ(g.sbase().reg, 8);
    EXPECT_EQ(g.dst[0].dwords, 4);
    // off: a 64-bit address in VGPRs
    const Inst o = decode_on("gfx90a", {0xDC000000 | 28 << 18 | 2 << 14, 0x7Fu << 16 | 6 << 8 | 2});
    EXPECT_TRUE(o.sbase().is(Operand::Kind::Off));
    EXPECT_EQ(o.vaddr().dwords, 2);
    EXPECT_EQ(o.vdata().reg, 6);
    // an atomic returns with GLC only
    EXPECT_FALSE(decode_on("gfx906", {0xDC000000 | 66 << 18, 6 << 8 | 2}).dst[0].present());
    EXPECT_TRUE(decode_on("gfx906", {0xDC000000 | 66 << 18 | 1 << 16, 5u << 24 | 6 << 8 | 2})
                    .dst[0]
                    .present());
    // ds_write2_b64 v1, v[2:3], v[4:5] offset0:1 offset1:2
    const Inst d = decode_on("gfx906", {0xD8000000 | 78 << 17 | 2 << 8 | 1, 4 << 16 | 2 << 8 | 1});
    EXPECT_EQ(d.offset, 1);
    EXPECT_EQ(d.offset1, 2);
    EXPECT_EQ(d.vdata2().reg, 4);
    // buffer_load_dword v1, v2, s[4:7], s3 idxen offset:4095 glc
    const Inst b = decode_on("gfx906", {0xE0000000 | 20 << 18 | 1 << 13 | 1 << 14 | 0xFFF,
                                        3 << 24 | 1 << 16 | 1 << 8 | 2});
    EXPECT_TRUE(b.idxen);
    EXPECT_TRUE(b.glc);
    EXPECT_EQ(b.sbase().reg, 4);
    EXPECT_EQ(b.soffset().reg, 3);
    EXPECT_EQ(b.offset, 4095);
}

// Cache policy bits decode on every memory instruction.
TEST(Decode, CachePolicy) {
    // flat_load_dword v4, v[2:3] glc slc, with NV (bit 55), which is the AccVGPR bit from gfx90a on
    const std::vector<uint32_t> flat{0xDC000000 | 20 << 18 | 3 << 16, 4 << 24 | 1 << 23 | 2};
    const Inst vega = decode_on("gfx900", flat);
    EXPECT_TRUE(vega.glc && vega.slc && vega.nv);
    EXPECT_TRUE(vega.dst[0].is(Operand::Kind::Vgpr));
    EXPECT_FALSE(vega.illegal_operand);
    const Inst cdna2 = decode_on("gfx90a", flat);
    EXPECT_FALSE(cdna2.nv);
    EXPECT_TRUE(cdna2.dst[0].is(Operand::Kind::Agpr));
    // s_load_dword s4, s[0:1], 0 glc nv
    const Inst scalar = decode_on("gfx900", {0xC0000000 | 1 << 17 | 1 << 16 | 1 << 15 | 4 << 6, 0});
    EXPECT_TRUE(scalar.glc && scalar.nv);
}

TEST(Decode, MatrixAccumulators) {
    // v_mfma_f32_32x32x1f32: gfx908 accumulates in AccVGPRs, gfx90a in VGPRs unless bit 15 is set
    const std::vector<uint32_t> words{0xD3C00000, 258 | 260 << 9 | 256u << 18};
    EXPECT_TRUE(decode_on("gfx908", words).dst[0].is(Operand::Kind::Agpr));
    EXPECT_TRUE(decode_on("gfx90a", words).dst[0].is(Operand::Kind::Vgpr));
    EXPECT_EQ(decode_on("gfx90a", words).dst[0].dwords, 32);
    EXPECT_FALSE(decodes("gfx906", words));
}

TEST(Decode, IllegalOperandsAreMarked) {
    // an odd pair is legal before gfx90a only: v_add_f64 v[1:2], v[2:3], v[4:5]
    const std::vector<uint32_t> odd{0xD2800001, 258 | 260 << 9};
    EXPECT_FALSE(decode_on("gfx908", odd).illegal_operand);
    EXPECT_TRUE(decode_on("gfx90a", odd).illegal_operand);
    // a tuple past v255
    EXPECT_TRUE(decode_on("gfx900", {0xD28000FF, 258 | 260 << 9}).illegal_operand);
}

TEST(Decode, ColumnsDiffer) {
    EXPECT_EQ(text("gfx900", {0xD3A00000, 0}).substr(0, 9), "v_mad_mix");
    EXPECT_EQ(text("gfx906", {0xD3A00000, 0}).substr(0, 9), "v_fma_mix");
    EXPECT_FALSE(decodes("gfx9-generic", {0xD3A00000, 0}));
}

// No input may be read past its end or crash the decoder.
TEST(Decode, ShortInputs) {
    wj_test::Random random(3);
    for (const char* processor : {"gfx900", "gfx908", "gfx90a", "gfx950"}) {
        const wj::Target& target = *wj::find_target(processor);
        for (const wj_test::Words& words : wj_test::biased_words(target, 20000, random)) {
            for (size_t n = 0; n <= 4; ++n) {
                const std::vector<uint32_t> exact(words.begin(),
                                                  words.begin() + static_cast<long>(n));
                Inst inst;
                const bool valid = wj::decode(target, exact, inst);
                if (valid) {
                    EXPECT_LE(inst.size, n * 4);
                    EXPECT_FALSE(wj::disassemble(target, inst).empty());
                } else {
                    EXPECT_EQ(inst.size, 4);
                    EXPECT_EQ(inst.op, Opcode::invalid);
                }
            }
        }
    }
}

TEST(Target, Names) {
    EXPECT_EQ(wj::find_target("gfx90a:sramecc+:xnack-")->elf_mach, 0x3Fu);
    EXPECT_EQ(wj::find_target("amdgcn-amd-amdhsa--gfx906:xnack-")->name, "gfx906");
    for (auto [name, on] : {std::pair{"gfx90a", true},
                            {"gfx90a:sramecc+:xnack-", true},
                            {"gfx90a:sramecc-:xnack+", false},
                            {"gfx906", true},
                            {"gfx906:sramecc-", false},
                            {"gfx900", false}})
        EXPECT_EQ(wj::find_target(name)->traits.sramecc, on) << name;
    EXPECT_EQ(wj::find_target_by_mach(0x51)->name, "gfx9-generic");
    EXPECT_EQ(wj::find_target_by_mach(0x41)->name, "gfx1100");
    EXPECT_EQ(wj::find_target_by_mach(0x49)->name, "gfx1250");
    EXPECT_EQ(wj::find_target("gfx940"), nullptr);
    EXPECT_EQ(wj::find_target("amdgcn-amd-amdhsa"), nullptr);
    EXPECT_EQ(wj::find_target(""), nullptr);
    EXPECT_TRUE(wj::find_target("gfx908")->traits.has_agprs);
    EXPECT_FALSE(wj::find_target("gfx908")->traits.unified_vgprs);
}

Inst decode_rdna(const char* processor, uint32_t wave_size, std::vector<uint32_t> words) {
    Inst inst;
    EXPECT_TRUE(wj::decode(*wj::find_target(processor, wave_size), words, inst)) << processor;
    return inst;
}

TEST(DecodeRdna, IsOfferedToUsers) {
    for (const char* name : {"gfx1100", "gfx1151", "gfx1201", "gfx11-generic", "gfx12-generic"}) {
        ASSERT_NE(wj::find_target(name), nullptr) << name;
        EXPECT_NE(wj::find_target(name, 64), nullptr) << name;
    }
    for (const char* name : {"gfx1250", "gfx1251"})
        EXPECT_NE(wj::find_target(name), nullptr) << name;
}

TEST(DecodeRdna, HalvesOfShortEncodingsAreInOpSel) {
    // v_add_f16 v1.h, v2.l, v3.h: VOP2 0x32 at bit 25; bit 7 of a register's number is the half
    const Inst i = decode_rdna("gfx1100", 32, {0x32u << 25 | 0x81 << 17 | 0x83 << 9 | 0x102});
    EXPECT_EQ(i.op, Opcode::v_add_f16);
    EXPECT_EQ(i.op_sel, 0b1010);
    EXPECT_EQ(i.dst[0].reg, 1);
    EXPECT_EQ(i.src[0].reg, 2);
    EXPECT_EQ(i.src[1].reg, 3);
    // v_mov_b16_e32 v1.l, v2.h: VOP1 0x1c
    EXPECT_EQ(decode_rdna("gfx1100", 32, {0x7E000000 | 1 << 17 | 0x1c << 9 | 0x182}).op_sel, 1);
}

TEST(DecodeRdna, HalvesOfADualOperation) {
    // v_dual_fmac_f32 v2, v4, v6 :: v_dual_cndmask_b32 v3, s7, v8. VOPD: OPX at bit 22, OPY at 17,
    // VDSTY without its lowest bit, which is not VDSTX's, at 49.
    const Inst i = decode_rdna(
        "gfx1100", 32,
        {0xC8000000u | 0 << 22 | 9 << 17 | 6 << 9 | 0x104, 2u << 24 | 1 << 17 | 8 << 9 | 7});
    const Inst x = wj::dual_half(i, false), y = wj::dual_half(i, true);
    EXPECT_EQ(x.op, Opcode::v_fmac_f32);
    EXPECT_EQ(x.dst[0].reg, 2);
    EXPECT_EQ(x.src[0].reg, 4);
    EXPECT_EQ(x.src[1].reg, 6);
    EXPECT_EQ(x.src[2].reg, 2) << "what it adds to";
    EXPECT_EQ(y.op, Opcode::v_cndmask_b32);
    EXPECT_EQ(y.dst[0].reg, 3);
    EXPECT_TRUE(y.src[0].is(Operand::Kind::Sgpr));
    EXPECT_EQ(y.src[0].reg, 7);
    EXPECT_EQ(y.src[1].reg, 8);
    EXPECT_EQ(y.src[2].reg, 106) << "VCC";
    EXPECT_FALSE(wj::reads_result(y, x));
    EXPECT_TRUE(wj::reads_result(x, x)) << "the destination of an addition to it";
}

TEST(DecodeRdna, HasATargetForEachSizeOfWaves) {
    const wj::Target* usual = wj::find_target("gfx1030");
    ASSERT_NE(usual, nullptr);
    EXPECT_EQ(usual->traits.wave_size, 32u);
    const wj::Target* large = wj::find_target("gfx1030", 64);
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(large->traits.wave_size, 64u);
    // LLVM, getTotalNumVGPRs and getVGPRAllocGranule.
    EXPECT_EQ(usual->traits.simd_vgprs, 1024u);
    EXPECT_EQ(large->traits.simd_vgprs, 512u);
    EXPECT_EQ(usual->traits.vgpr_granule, 16u);
    EXPECT_EQ(large->traits.vgpr_granule, 8u);
    EXPECT_EQ(wj::with_wave_size(*usual, 64), large);
    EXPECT_EQ(wj::with_wave_size(*large, 32), usual);
    for (const char* name :
         {"gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033",
          "gfx1034", "gfx1035", "gfx1036", "gfx10-1-generic", "gfx10-3-generic"}) {
        ASSERT_NE(wj::find_target(name), nullptr) << name;
        EXPECT_EQ(wj::find_target(name)->traits.wave_size, 32u) << name;
        EXPECT_NE(wj::find_target(name, 64), nullptr) << name;
    }
    EXPECT_EQ(wj::find_target("gfx90a", 32), nullptr) << "its waves have 64 lanes";
    EXPECT_EQ(wj::with_wave_size(*wj::find_target("gfx90a"), 32), nullptr);
}

TEST(DecodeRdna, MasksHaveTheWaveSize) {
    // v_cmp_lt_f32 vcc, v0, v1: VOPC 0x7c000000 | op 1 << 17 | vsrc1 1 << 9 | src0 256
    for (const uint32_t size : {32u, 64u}) {
        const Inst i = decode_rdna("gfx1010", size, {0x7C020300});
        EXPECT_EQ(i.op, Opcode::v_cmp_lt_f32);
        EXPECT_EQ(i.dst[0].reg, 106);
        EXPECT_EQ(i.dst[0].dwords, size / 32);
    }
}

TEST(DecodeRdna, CmpxWritesExec) {
    // v_cmpx_lt_f32: op 0x11; EXEC is 126
    const Inst i = decode_rdna("gfx1010", 32, {0x7C220300});
    EXPECT_EQ(i.op, Opcode::v_cmpx_lt_f32);
    EXPECT_EQ(i.dst[0].reg, 126);
    EXPECT_EQ(i.dst[0].dwords, 1);
}

TEST(DecodeRdna, Dpp8) {
    // v_mov_b32 v1, v2 dpp8:[7,6,5,4,3,2,1,0]: source 0 is 233; with FI it is 234. Lane n's
    // selector stands at bit 8 + 3 n of the second dword.
    uint32_t word = 2;
    for (uint32_t lane = 0; lane < 8; ++lane) word |= (7 - lane) << (8 + 3 * lane);
    const Inst i = decode_rdna("gfx1030", 32, {0x7E000200 | 1 << 17 | 233, word});
    EXPECT_EQ(i.variant, wj::Variant::Dpp8);
    EXPECT_EQ(i.src[0].reg, 2);
    EXPECT_FALSE(i.fetch_invalid);
    for (uint32_t lane = 0; lane < 8; ++lane) EXPECT_EQ(i.dpp8_lanes >> (3 * lane) & 7, 7 - lane);
    EXPECT_TRUE(decode_rdna("gfx1030", 32, {0x7E000200 | 1 << 17 | 234, word}).fetch_invalid);
}

TEST(DecodeRdna, LiteralInVop3) {
    // v_add3_u32 v0, v1, 0x12345678, v2: op 0x36d
    const Inst i =
        decode_rdna("gfx1010", 32, {0xD76D0000, 257 | 255 << 9 | 258u << 18, 0x12345678});
    EXPECT_EQ(i.op, Opcode::v_add3_u32);
    EXPECT_EQ(i.size, 12);
    EXPECT_EQ(i.src[1].value, 0x12345678u);
}

TEST(DecodeRdna, NullIsARegister) {
    // s_mov_b32 null, s1: SDST 125
    const Inst i = decode_rdna("gfx1010", 32, {0xBEFD0301});
    EXPECT_TRUE(i.dst[0].is(Operand::Kind::Special));
    EXPECT_EQ(i.dst[0].reg, 125);
    EXPECT_FALSE(i.illegal_operand);
}

TEST(DecodeRdna, ImageRegistersThatDoNotFollowOneAnother) {
    // image_load v[0:3], [v9, v5], s[0:7] dmask:0xf dim:2D: NSA 1 at bit 1, DIM 1 at bit 3
    const Inst i = decode_rdna("gfx1030", 32, {0xF0000000 | 0xF00 | 1 << 3 | 1 << 1, 9, 5});
    EXPECT_EQ(i.op, Opcode::image_load);
    EXPECT_EQ(i.size, 12);
    ASSERT_EQ(i.address_count, 2);
    EXPECT_EQ(i.addresses[0], 9);
    EXPECT_EQ(i.addresses[1], 5);
}

TEST(DecodeRdna, PairsOfOperations) {
    // v_dual_fmac_f32 v4, v1, v2 :: v_dual_mov_b32 v7, s3: OPX 0 at bit 22, OPY 8 at 17, VSRC1X at
    // 9, SRC0X; VDSTX at 24 of the second dword, VDSTY without its lowest bit at 17, SRC0Y.
    const std::vector<uint32_t> words{0xC8000000 | 8 << 17 | 2 << 9 | 257, 4u << 24 | 3 << 17 | 3};
    const Inst i = decode_rdna("gfx1100", 32, words);
    EXPECT_EQ(i.format, wj::Format::VOPD);
    EXPECT_EQ(i.op, Opcode::v_dual_fmac_f32);
    EXPECT_EQ(i.op_y, Opcode::v_dual_mov_b32);
    EXPECT_EQ(i.dst[0].reg, 4);
    EXPECT_EQ(i.src[0].reg, 1);
    EXPECT_EQ(i.src[1].reg, 2);
    EXPECT_EQ(i.dst[1].reg, 7) << "odd, since the other one is even";
    EXPECT_TRUE(i.src[3].is(Operand::Kind::Sgpr));
    EXPECT_EQ(i.src[3].reg, 3);
    Inst wide;
    EXPECT_FALSE(wj::decode(*wj::find_target("gfx1100", 64), words, wide));
}

TEST(DecodeRdna, HalvesOfRegisters) {
    // v_add_f16 v0.h, v1.l, v2.h: bit 7 of a register's number is the half
    const Inst shorter = decode_rdna("gfx1100", 32, {0x64000000 | 0x80u << 17 | 0x82 << 9 | 257});
    EXPECT_EQ(shorter.op, Opcode::v_add_f16);
    EXPECT_EQ(shorter.dst[0].reg, 0);
    EXPECT_EQ(shorter.dst[0].half, Operand::Half::High);
    EXPECT_EQ(shorter.src[0].half, Operand::Half::Low);
    EXPECT_EQ(shorter.src[1].reg, 2);
    EXPECT_EQ(shorter.src[1].half, Operand::Half::High);
    // The same of v200, v201 and v202 in VOP3: OP_SEL at bit 11 of the first dword
    const Inst longer =
        decode_rdna("gfx1200", 32, {0xD5320000 | 0xA << 11 | 200, (256 + 201) | (256 + 202) << 9});
    EXPECT_EQ(longer.op, Opcode::v_add_f16);
    EXPECT_EQ(longer.dst[0].reg, 200);
    EXPECT_EQ(longer.dst[0].half, Operand::Half::High);
    EXPECT_EQ(longer.src[0].half, Operand::Half::Low);
    EXPECT_EQ(longer.src[1].half, Operand::Half::High);
    // Operands of 32 bits have none.
    EXPECT_EQ(decode_rdna("gfx1100", 32, {0x06000000 | 257}).src[0].half, Operand::Half::None);
}

TEST(DecodeRdna, NullAndM0ChangePlaces) {
    // s_mov_b32 null, m0: gfx11 has null at 124 and M0 at 125; operands have gfx10's numbers
    const Inst i = decode_rdna("gfx1100", 32, {0xBE800000 | 124 << 16 | 125});
    EXPECT_TRUE(i.dst[0].is(Operand::Kind::Special));
    EXPECT_EQ(i.dst[0].reg, 125);
    EXPECT_TRUE(i.src[0].is(Operand::Kind::Sgpr));
    EXPECT_EQ(i.src[0].reg, 124);
}

TEST(DecodeRdna, DppInVop3) {
    // v_fma_f32 v0, v5, v1, v2 row_shr:1: source 0 is 250, the third dword names v5
    const Inst i = decode_rdna(
        "gfx1100", 32, {0xD6130000, 250 | 257 << 9 | 258u << 18, 0xFF000000 | 0x111 << 8 | 5});
    EXPECT_EQ(i.variant, wj::Variant::E64Dpp);
    EXPECT_EQ(i.size, 12);
    EXPECT_EQ(i.dpp_ctrl, 0x111);
    EXPECT_EQ(i.src[0].reg, 5);
    EXPECT_EQ(i.src[2].reg, 2);
}

TEST(DecodeRdna, LastRegisterOfAnImageIsATuple) {
    // image_sample_d of 2D has four gradients and two coordinates: DIM 1 at bit 2, NSA at bit 0
    const Inst i =
        decode_rdna("gfx1100", 32, {0xF0000000 | 28 << 18 | 0xF00 | 1 << 2 | 1, 9, 0x14131211});
    EXPECT_EQ(i.op, Opcode::image_sample_d);
    ASSERT_EQ(i.address_count, 6);
    const uint8_t expected[] = {9, 0x11, 0x12, 0x13, 0x14, 0x15};
    for (size_t n = 0; n < 6; ++n) EXPECT_EQ(i.addresses[n], expected[n]) << n;
}

TEST(DecodeRdna, HintsAndScopes) {
    // global_atomic_add_u32 v7, v[1:2], v5, off offset:-8, return, device scope: three dwords; TH 1
    // at bit 52, SCOPE 2 at 50, data at 55, no SADDR (124), the offset signed at 72
    const Inst i = decode_rdna("gfx1200", 32,
                               {0xEC000000 | 2u << 24 | 53 << 14 | 124,
                                5u << 23 | 1 << 20 | 2 << 18 | 7, (0xFFFFFFu - 7) << 8 | 1});
    EXPECT_EQ(i.op, Opcode::global_atomic_add);
    EXPECT_EQ(i.size, 12);
    EXPECT_EQ(i.th, 1);
    EXPECT_TRUE(i.glc) << "the old value is asked for";
    EXPECT_EQ(i.scope, 2);
    EXPECT_EQ(i.offset, -8);
    EXPECT_EQ(i.dst[0].reg, 7);
    EXPECT_EQ(i.vdata().reg, 5);
    EXPECT_TRUE(i.sbase().is(Operand::Kind::Off));
}

TEST(DecodeRdna, ProductsInAWaveTakeFewerRegistersOf64Lanes) {
    // v_wmma_f32_16x16x16_f16 of gfx1100: C and D; of gfx1200: all
    for (const uint32_t size : {32u, 64u}) {
        const Inst rdna3 = decode_rdna("gfx1100", size, {0xCC400000, 256 | 264 << 9 | 272u << 18});
        EXPECT_EQ(rdna3.dst[0].dwords, 256 / size);
        EXPECT_EQ(rdna3.src[0].dwords, 8);
        EXPECT_EQ(rdna3.src[2].dwords, 256 / size);
        const Inst rdna4 =
            decode_rdna("gfx1200", size, {0xCC404000, 256 | 264 << 9 | 272u << 18 | 3u << 27});
        EXPECT_EQ(rdna4.dst[0].dwords, 256 / size);
        EXPECT_EQ(rdna4.src[0].dwords, 128 / size);
    }
}

TEST(DecodeRdna, WaitsOfGfx11) {
    // s_waitcnt expcnt(1) lgkmcnt(2) vmcnt(3): expcnt at bit 0, lgkmcnt at 4, vmcnt at 10
    EXPECT_EQ(wj::wait_counts(*wj::find_target("gfx1100"), 1 | 2 << 4 | 3 << 10),
              (wj::WaitCounts{.vm = 3, .exp = 1, .lgkm = 2}));
}

TEST(DecodeRdna, Gfx125HasWavesOf32LanesOnly) {
    EXPECT_EQ(wj::find_target("gfx1250")->traits.wave_size, 32u);
    EXPECT_EQ(wj::find_target("gfx1250", 64), nullptr);
}

TEST(DecodeRdna, LiteralsOf64Bits) {
    // s_mov_b64 s[2:3], 254: two dwords follow, the low one first
    const Inst wide = decode_rdna("gfx1250", 32, {0xBE8201FE, 0x11223344, 0x55667788});
    EXPECT_EQ(wide.size, 12);
    EXPECT_EQ(wide.src[0].value, 0x5566778811223344u);
    // s_mov_b32 takes the low half
    EXPECT_EQ(decode_rdna("gfx1250", 32, {0xBE8200FE, 0x11223344, 0x55667788}).src[0].value,
              0x11223344u);
    Inst cut;
    const std::vector<uint32_t> words{0xBE8201FE, 0x11223344};
    EXPECT_FALSE(wj::decode(*wj::find_target("gfx1250"), words, cut));
    // v_fmaak_f64 v[0:1], v[2:3], v[4:5], K: VOP2 op 36, K of two dwords
    const Inst k = decode_rdna("gfx1250", 32, {0x48000902, 1, 0x3FF00000});
    EXPECT_EQ(k.op, Opcode::v_fmaak_f64);
    EXPECT_EQ(k.src[2].value, 0x3FF0000000000001u);
}

TEST(DecodeRdna, PairsOfOperationsWithThreeSources) {
    // v_dual_fma_f32 v2, -v4, v3, v1 :: v_dual_bitop2_b32 v5, v6, v8 bitop3:0x14: OPX 19 at bit 18,
    // OPY 18 at 12, SRC0X; VSRC2X at 24 of the second dword, VSRC1X at 16, NEGX at 9, SRC0Y;
    // VDSTY at 24 of the third, VSRC2Y or the table at 16, VSRC1Y at 8, VDSTX.
    const Inst i =
        decode_rdna("gfx1250", 32,
                    {0xCF000000 | 19 << 18 | 18 << 12 | 260, 1u << 24 | 3 << 16 | 1 << 9 | 262,
                     5u << 24 | 0x14 << 16 | 8 << 8 | 2});
    EXPECT_EQ(i.size, 12);
    EXPECT_EQ(i.op, Opcode::v_dual_fma_f32);
    EXPECT_EQ(i.op_y, Opcode::v_dual_bitop2_b32);
    EXPECT_EQ(i.dst[0].reg, 2);
    EXPECT_EQ(i.src[0].reg, 4);
    EXPECT_EQ(i.src[1].reg, 3);
    EXPECT_EQ(i.src[2].reg, 1);
    EXPECT_EQ(i.neg, 1);
    EXPECT_EQ(i.dst[1].reg, 5);
    EXPECT_EQ(i.src[3].reg, 6);
    EXPECT_EQ(i.src[4].reg, 8);
    EXPECT_EQ(i.bitop3, 0x14);
}

TEST(DecodeRdna, FormatsOfAProductSayHowManyRegistersItTakes) {
    // v_wmma_scale_f32_16x16x128_f8f6f4: scales v1 and v2 in the first two words, op 53; the
    // product, op 51, with FP6 (2, OP_SEL) of 12 registers and FP4 (4, OP_SEL_HI's third bit) of
    // eight.
    const Inst i = decode_rdna(
        "gfx1250", 32, {0xCC350000, 0x04020501, 0xCC330000 | 2 << 11 | 1 << 14, 0x04A23108});
    EXPECT_EQ(i.op, Opcode::v_wmma_scale_f32_16x16x128_f8f6f4);
    EXPECT_EQ(i.size, 16);
    EXPECT_EQ(i.src[0].dwords, 12);
    EXPECT_EQ(i.src[1].dwords, 8);
    EXPECT_EQ(i.src[3].reg, 1);
    EXPECT_EQ(i.src[4].reg, 2);
}

TEST(DecodeRdna, DescriptorsOfATensor) {
    // tensor_load_to_lds s[0:3], s[4:11]: op 196 at bit 14; null (124) for what is absent
    const Inst i = decode_rdna("gfx1250", 32, {0xD0400001 | 196 << 14, 0x7C000000, 0x7C7C0400});
    EXPECT_EQ(i.op, Opcode::tensor_load_to_lds);
    EXPECT_EQ(i.src[0].dwords, 4);
    EXPECT_EQ(i.src[1].reg, 4);
    EXPECT_EQ(i.src[1].dwords, 8);
    EXPECT_TRUE(i.src[2].is(Operand::Kind::Special));
}

TEST(OpcodeNames, Find) {
    EXPECT_EQ(wj::find_opcode("v_add_f32"), Opcode::v_add_f32);
    EXPECT_EQ(wj::find_opcode("v_add_f32_e64"), Opcode::v_add_f32);
    EXPECT_EQ(wj::find_opcode("v_interp_p1_f32_e32"), Opcode::v_interp_p1_f32_e32);
    EXPECT_EQ(wj::find_opcode("v_nonsense"), Opcode::invalid);
    EXPECT_EQ(wj::find_opcode(""), Opcode::invalid);
    for (size_t i = 1; i < wj::opcode_count; ++i) {
        const Opcode op = static_cast<Opcode>(i);
        EXPECT_EQ(wj::find_opcode(wj::op_info(op).name), op);
    }
    EXPECT_EQ(wj::type_dwords(Type::b1024), 32u);
    EXPECT_EQ(wj::type_dwords(Type::mask), 2u);
}

// gfx6 and gfx7: AMD's "Southern Islands" and "Sea Islands" ISA documents, "Microcode formats".
Inst decode_gcn(const char* processor, std::vector<uint32_t> words) {
    return decode_rdna(processor, 64, std::move(words));
}

bool decodes_gcn(const char* processor, std::vector<uint32_t> words) {
    Inst inst;
    return wj::decode(*wj::find_target(processor), words, inst);
}

TEST(DecodeGcn, OffsetsOfScalarLoads) {
    // s_load_dword s0, s[2:3]: 0xc0000000 | sdst 0 << 15 | sbase 1 << 9 | imm << 8 | offset
    const Inst dwords = decode_gcn("gfx600", {0xC0000305});
    EXPECT_EQ(dwords.op, Opcode::s_load_dword);
    EXPECT_EQ(dwords.offset, 20) << "a constant counts dwords";
    EXPECT_EQ(dwords.src[3].reg, 2);
    const Inst bytes = decode_gcn("gfx600", {0xC0000204});
    EXPECT_EQ(bytes.src[4].reg, 4) << "a register counts bytes";
    EXPECT_FALSE(bytes.imm_offset);
    // Code 255 is a literal on gfx7 alone.
    const Inst literal = decode_gcn("gfx700", {0xC00002FF, 0x1234});
    EXPECT_EQ(literal.size, 8);
    EXPECT_EQ(literal.offset, 0x1234 * 4);
    EXPECT_FALSE(decodes_gcn("gfx600", {0xC00002FF, 0x1234}));
    EXPECT_FALSE(decodes_gcn("gfx700", {0xC00002FF})) << "the literal is missing";
    EXPECT_TRUE(decode_gcn("gfx700", {0xC00002FF, 0x40000000}).illegal_operand) << "4 GiB";
}

TEST(DecodeGcn, BufferAddressOf64Bits) {
    // buffer_load_dword v0, v[2:3], s[4:7], s1 addr64 offset:4: op 12 << 18 | addr64 << 15
    const Inst i = decode_gcn("gfx700", {0xE0308004, 0x01010002});
    EXPECT_EQ(i.op, Opcode::buffer_load_dword);
    EXPECT_TRUE(i.addr64());
    EXPECT_EQ(i.src[0].dwords, 2);
    EXPECT_EQ(i.offset, 4);
    EXPECT_FALSE(decode_gcn("gfx700", {0xE0303004, 0x01010002}).addr64()) << "index and offset";
    EXPECT_FALSE(decodes_gcn("gfx700", {0xE0309004, 0x01010002})) << "beside OFFEN";
}

TEST(DecodeGcn, SdstLiesWhereClampDoes) {
    // v_add_i32_e64 v0, s[6:7], v1, v2: op 0x125 << 17 | sdst 6 << 8; with sdst 14 bit 11 is set
    const Inst i = decode_gcn("gfx700", {0xD24A0600, 257 | 258 << 9});
    EXPECT_EQ(i.op, Opcode::v_add_co_u32);
    EXPECT_EQ(i.dst[1].reg, 6);
    const Inst bit11 = decode_gcn("gfx700", {0xD24A0E00, 257 | 258 << 9});
    EXPECT_EQ(bit11.dst[1].reg, 14);
    EXPECT_FALSE(bit11.clamp);
    // v_add_f32_e64 v0, v1, v2 clamp: op 0x103 << 17 | clamp << 11; integers have none
    EXPECT_TRUE(decode_gcn("gfx700", {0xD2060800, 257 | 258 << 9}).clamp);
    EXPECT_FALSE(decodes_gcn("gfx700", {0xD2160800, 257 | 258 << 9})) << "v_mul_u32_u24";
}

TEST(DecodeGcn, RegistersAndConstants) {
    // s_mov_b32 s0, code: 0xbe800300 | code
    EXPECT_FALSE(decode_gcn("gfx600", {0xBE800300 | 103}).illegal_operand) << "s103";
    EXPECT_TRUE(decode_gcn("gfx600", {0xBE800300 | 104}).illegal_operand) << "no FLAT_SCRATCH";
    EXPECT_FALSE(decode_gcn("gfx700", {0xBE800300 | 104}).illegal_operand) << "FLAT_SCRATCH";
    EXPECT_TRUE(decode_gcn("gfx700", {0xBE800300 | 235}).illegal_operand) << "bounds of the LDS";
    EXPECT_FALSE(decodes_gcn("gfx700", {0xBE800300 | 248})) << "1 / (2 pi)";
}

TEST(DecodeGcn, FlatInstructionsBeginWithGfx7) {
    EXPECT_FALSE(decodes_gcn("gfx600", {0xDC300000, 2}));
    EXPECT_EQ(decode_gcn("gfx700", {0xDC300000, 2}).op, Opcode::flat_load_dword);
}

// The same code means another order of operands on gfx8.
TEST(DecodeGcn, ShiftsInBothOrders) {
    EXPECT_EQ(decode_gcn("gfx700", {0x32000501}).op, Opcode::v_lshl_b32);     // VOP2 0x19
    EXPECT_EQ(decode_gcn("gfx700", {0x34000501}).op, Opcode::v_lshlrev_b32);  // VOP2 0x1a
}

}  // namespace
