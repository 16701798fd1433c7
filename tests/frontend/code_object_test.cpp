// Code objects against their sources: expected values are the assembler directives, or come from
// the ELF and ABI documents, or from llvm-readelf.
#include "frontend/code_object.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/frontend/build_objects.h"

using namespace wj;
using namespace wj::test;

namespace {

CodeObject parse_ok(const Buffer& bytes) {
    auto object = parse_code_object(bytes);
    EXPECT_TRUE(object.is_ok()) << object.status().message();
    return object ? *object : CodeObject{};
}

const char* full_directives = R"(
.amdhsa_next_free_vgpr 40
.amdhsa_next_free_sgpr 20
.amdhsa_accum_offset 24
.amdhsa_group_segment_fixed_size 1000
.amdhsa_private_segment_fixed_size 48
.amdhsa_kernarg_size 264
.amdhsa_user_sgpr_dispatch_ptr 1
.amdhsa_user_sgpr_queue_ptr 1
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_user_sgpr_dispatch_id 1
.amdhsa_user_sgpr_private_segment_size 1
.amdhsa_user_sgpr_kernarg_preload_length 4
.amdhsa_user_sgpr_kernarg_preload_offset 3
.amdhsa_uses_dynamic_stack 1
.amdhsa_system_sgpr_private_segment_wavefront_offset 1
.amdhsa_system_sgpr_workgroup_id_x 1
.amdhsa_system_sgpr_workgroup_id_y 0
.amdhsa_system_sgpr_workgroup_id_z 1
.amdhsa_system_sgpr_workgroup_info 1
.amdhsa_system_vgpr_workitem_id 2
.amdhsa_float_round_mode_32 1
.amdhsa_float_round_mode_16_64 2
.amdhsa_float_denorm_mode_32 1
.amdhsa_float_denorm_mode_16_64 2
.amdhsa_dx10_clamp 0
.amdhsa_ieee_mode 0
.amdhsa_fp16_overflow 1
.amdhsa_tg_split 1
.amdhsa_exception_fp_ieee_invalid_op 1
.amdhsa_exception_int_div_zero 1
)";

TEST(KernelDescriptor, EveryDirective) {
    Workshop shop;
    Buffer bytes = shop.assemble(kernel_source("foo", full_directives), "gfx90a");
    ASSERT_FALSE(bytes.empty()) << shop.log();
    CodeObject object = parse_ok(bytes);
    ASSERT_EQ(object.kernels.size(), 1u);
    const KernelInfo* kernel = object.find_kernel("foo.kd");
    ASSERT_EQ(kernel, object.find_kernel("foo"));
    ASSERT_NE(kernel, nullptr);
    const KernelDescriptor& d = kernel->descriptor;
    EXPECT_FALSE(d.v2);
    EXPECT_EQ(d.group_segment_fixed_size, 1000u);
    EXPECT_EQ(d.private_segment_fixed_size, 48u);
    EXPECT_EQ(d.kernarg_size, 264u);
    EXPECT_EQ(d.vgpr_count, 40u);
    EXPECT_EQ(d.accum_offset, 24u);
    EXPECT_EQ(d.arch_vgpr_count, 24u);
    EXPECT_EQ(d.agpr_count, 16u);
    EXPECT_EQ(d.sgpr_count, 32u);  // 20 and VCC, FLAT_SCRATCH, XNACK_MASK in granules of 16
    EXPECT_EQ(d.wave_size, 64u);
    EXPECT_TRUE(d.dynamic_stack);
    EXPECT_TRUE(d.tg_split);
    EXPECT_TRUE(d.private_segment);
    EXPECT_TRUE(d.workgroup_id_x);
    EXPECT_FALSE(d.workgroup_id_y);
    EXPECT_TRUE(d.workgroup_id_z);
    EXPECT_TRUE(d.workgroup_info);
    EXPECT_EQ(d.workitem_id, 2u);
    EXPECT_EQ(d.round_32, 1);
    EXPECT_EQ(d.round_16_64, 2);
    EXPECT_EQ(d.denorm_32, 1);
    EXPECT_EQ(d.denorm_16_64, 2);
    EXPECT_EQ(d.float_mode(), 1u | 2u << 2 | 1u << 4 | 2u << 6);
    EXPECT_FALSE(d.dx10_clamp);
    EXPECT_FALSE(d.ieee_mode);
    EXPECT_TRUE(d.fp16_ovfl);
    EXPECT_EQ(d.exceptions,
              0x41);  // bit 24 invalid operation, bit 30 integer division
    EXPECT_EQ(d.kernarg_preload_length, 4u);
    EXPECT_EQ(d.kernarg_preload_offset, 3u);
    EXPECT_EQ(d.user_sgpr_count, 13u);
    // Order and sizes.
    EXPECT_EQ(d.user_sgpr(UserSgpr::PrivateSegmentBuffer), -1);
    EXPECT_EQ(d.user_sgpr(UserSgpr::DispatchPtr), 0);
    EXPECT_EQ(d.user_sgpr(UserSgpr::QueuePtr), 2);
    EXPECT_EQ(d.user_sgpr(UserSgpr::KernargSegmentPtr), 4);
    EXPECT_EQ(d.user_sgpr(UserSgpr::DispatchId), 6);
    EXPECT_EQ(d.user_sgpr(UserSgpr::PrivateSegmentSize), 8);
    EXPECT_EQ(d.user_sgpr(UserSgpr::KernargPreload), 9);
    EXPECT_TRUE(kernel->dynamic_call_stack());
    EXPECT_EQ(kernel->kernarg_segment_size(), 264u);
    EXPECT_EQ(kernel->kernarg_segment_align(), 16u);
    EXPECT_EQ(kernel->code_size, 4u);
    // The entry holds s_endpgm.
    auto code = object.bytes_at(kernel->entry_address, 4);
    ASSERT_TRUE(code);
    EXPECT_EQ(load<uint32_t>(*code, 0), 0xbf810000u);
}

struct RegisterCase {
    const char* cpu;
    uint32_t vgpr_granule;  // AMDGPU usage guide, GRANULATED_WORKITEM_VGPR_COUNT
    const char* extra;
};

class Registers : public testing::TestWithParam<RegisterCase> {};

TEST_P(Registers, VgprCounts) {
    RegisterCase c = GetParam();
    Workshop shop;
    std::string source;
    std::vector<uint32_t> used = {1, 3, 4, 5, 8, 9, 31, 64, 128, 250};
    auto name = [](uint32_t n) { return std::string("k").append(std::to_string(n)); };
    for (uint32_t n : used)
        source += kernel_source(name(n), ".amdhsa_next_free_sgpr 8\n.amdhsa_next_free_vgpr " +
                                             std::to_string(n) + "\n" + c.extra);
    Buffer bytes = shop.assemble(source, c.cpu);
    ASSERT_FALSE(bytes.empty()) << shop.log();
    CodeObject object = parse_ok(bytes);
    EXPECT_EQ(object.target.processor->name, c.cpu);
    for (uint32_t n : used) {
        const KernelInfo* kernel = object.find_kernel(name(n));
        ASSERT_NE(kernel, nullptr);
        EXPECT_EQ(kernel->descriptor.vgpr_count,
                  (n + c.vgpr_granule - 1) / c.vgpr_granule * c.vgpr_granule)
            << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Processors, Registers,
                         testing::Values(RegisterCase{"gfx803", 4, ""},
                                         RegisterCase{"gfx900", 4, ""},
                                         RegisterCase{"gfx906", 4, ""},
                                         RegisterCase{"gfx908", 4, ""},
                                         RegisterCase{"gfx90a", 8, ".amdhsa_accum_offset 4"},
                                         RegisterCase{"gfx942", 8, ".amdhsa_accum_offset 4"},
                                         RegisterCase{"gfx950", 8, ".amdhsa_accum_offset 4"},
                                         RegisterCase{"gfx1030", 8, ".amdhsa_wavefront_size32 1"},
                                         RegisterCase{"gfx1010", 4, ".amdhsa_wavefront_size32 0"},
                                         RegisterCase{"gfx1100", 8, ".amdhsa_wavefront_size32 1"},
                                         RegisterCase{"gfx1200", 8, ".amdhsa_wavefront_size32 1"},
                                         RegisterCase{"gfx1250", 16, ".amdhsa_wavefront_size32 1"}),
                         [](const auto& info) { return std::string(info.param.cpu); });

TEST(KernelDescriptor, Sgprs) {
    Workshop shop;
    // Granules of 16 on gfx9, of 8 on gfx8, always 128 on gfx10. The XNACK mask, where
    // there is one, takes SGPRs up to 22.
    std::string d =
        ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 18\n.amdhsa_reserve_vcc 0\n"
        ".amdhsa_reserve_flat_scratch 0\n";
    std::map<std::string, uint32_t> expected{{"gfx803", 24}, {"gfx900", 32}};
    for (auto& [cpu, count] : expected) {
        CodeObject object = parse_ok(shop.assemble(kernel_source("k", d), cpu));
        ASSERT_EQ(object.kernels.size(), 1u) << shop.log();
        EXPECT_EQ(object.kernels[0].descriptor.sgpr_count, count) << cpu;
    }
    CodeObject object = parse_ok(shop.assemble(
        kernel_source(
            "k", ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 18\n.amdhsa_wavefront_size32 1"),
        "gfx1030"));
    ASSERT_EQ(object.kernels.size(), 1u) << shop.log();
    EXPECT_EQ(object.kernels[0].descriptor.sgpr_count, 128u);
    EXPECT_EQ(object.kernels[0].descriptor.wave_size, 32u);
}

// e_flags of every version; the expected strings follow from the assembler's options.
TEST(CodeObject, TargetIds) {
    struct {
        const char* cpu;
        const char* options;
        int version;
        const char* expected;
    } const cases[] = {
        {"gfx90a", "", 4, "gfx90a"},
        {"gfx90a", "-mattr=+xnack,-sramecc", 4, "gfx90a:sramecc-:xnack+"},
        {"gfx90a", "-mattr=-xnack,+sramecc", 5, "gfx90a:sramecc+:xnack-"},
        {"gfx906", "-mattr=-xnack", 6, "gfx906:xnack-"},
        {"gfx803", "", 5, "gfx803"},
        {"gfx1030", "", 5, "gfx1030"},
        {"gfx942", "", 6, "gfx942"},
        {"gfx9-generic", "", 6, "gfx9-generic"},
        {"gfx9-4-generic", "-mattr=+xnack", 6, "gfx9-4-generic:xnack+"},
    };
    Workshop shop;
    for (auto& c : cases) {
        CodeObject object = parse_ok(shop.assemble("s_endpgm\n", c.cpu, c.version, c.options));
        ASSERT_NE(object.target.processor, nullptr) << shop.log();
        EXPECT_EQ(object.target.str(), c.expected);
        EXPECT_EQ(object.version, static_cast<uint32_t>(c.version));
        EXPECT_EQ(object.target.generic_version, std::string(c.cpu).ends_with("generic") ? 1 : 0);
        EXPECT_FALSE(object.has_metadata);
        EXPECT_EQ(object.diagnostics.size(), 1u);  // reported
    }
}

TEST(CodeObject, TargetIdText) {
    auto str = [](const char* text) {
        auto id = parse_target_id(text);
        return id ? id->str() : "none";
    };
    EXPECT_EQ(str("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"), "gfx90a:sramecc+:xnack-");
    EXPECT_EQ(str("gfx90a:xnack-:sramecc+"), "gfx90a:sramecc+:xnack-");
    EXPECT_EQ(str("amdgcn-amd-amdhsa--gfx902+xnack"), "gfx902:xnack+");
    EXPECT_EQ(str("AMD:AMDGPU:8:0:0"), "gfx802");
    EXPECT_EQ(str("AMD:AMDGPU:8:0:1"), "gfx801");
    EXPECT_EQ(str("AMD:AMDGPU:8:0:4"), "gfx803");
    EXPECT_EQ(str("AMD:AMDGPU:9:0:10"), "gfx90a");
    EXPECT_EQ(str("AMD:AMDGPU:7:0:0"), "gfx700");
    EXPECT_EQ(str("AMD:AMDGPU:7:0:1"), "gfx701");
    EXPECT_EQ(str("AMD:AMDGPU:8:0:2"), "gfx802");
    EXPECT_EQ(str("AMD:AMDGPU:8:0:3"), "gfx803");
    EXPECT_EQ(str("AMD:AMDGPU:9:0:0"), "gfx900");
    EXPECT_EQ(str("gfx702"), "gfx702");
    EXPECT_EQ(str("amdgcn-amd-amdhsa--gfx909+xnack"), "gfx909:xnack+");
    EXPECT_EQ(str("amdgcn-amd-amdhsa--gfx9-4-generic"), "gfx9-4-generic");
    EXPECT_EQ(str("amdgcn-amd-amdhsa-gfx900"), "gfx900");
    for (const char* bad : {"", "gfx", "gfx90a:", "gfx90a:xnack", "gfx803:xnack+", "gfx90a:tune+",
                            "AMD:AMDGPU:9:0", "x86_64-unknown-linux-gnu", "gfx90a+"})
        EXPECT_EQ(str(bad), "none") << bad;
    auto runs = [](const char* code, const char* agent) {
        return can_run_on(*parse_target_id(code), *parse_target_id(agent));
    };
    EXPECT_TRUE(runs("gfx90a", "gfx90a:sramecc+:xnack-"));
    EXPECT_TRUE(runs("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"));
    EXPECT_FALSE(runs("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"));
    EXPECT_FALSE(runs("gfx908", "gfx90a"));
    EXPECT_TRUE(runs("gfx9-generic", "gfx906:xnack-"));
    EXPECT_FALSE(runs("gfx9-generic", "gfx90a"));
    EXPECT_TRUE(runs("gfx9-4-generic", "gfx942"));
}

const char* variables_source = R"(
.data
.globl counter
.type counter,@object
.size counter,24
counter: .quad counter+4
.quad external-2
.quad optional
.weak optional
.section .rodata
.globl table
.type table,@object
.size table,8
table: .long 1, 2
.bss
.globl zeros
.type zeros,@object
.size zeros,100000
.p2align 6
zeros: .zero 100000
.text
.globl helper
.type helper,@function
helper: s_nop 0
 s_setpc_b64 s[30:31]
.size helper, .-helper
)";

TEST(CodeObject, SymbolsAgreeWithReadelf) {
    Workshop shop;
    Buffer bytes =
        shop.assemble(kernel_source("foo", full_directives) + variables_source, "gfx90a");
    ASSERT_FALSE(bytes.empty()) << shop.log();
    CodeObject object = parse_ok(bytes);
    ASSERT_TRUE(shop.run(std::string(WJ_READELF) + " -W -s in.co"));
    std::istringstream lines(shop.log());
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, value, size, type, bind, visibility, section, name;
        words >> number >> value >> size >> type >> bind >> visibility >> section >> name;
        if (name.empty() || number == "Num:" || !number.ends_with(':')) continue;
        const Symbol* symbol = object.find_symbol(name);
        ASSERT_NE(symbol, nullptr) << name;
        EXPECT_EQ(symbol->address, std::stoull(value, nullptr, 16)) << name;
        EXPECT_EQ(symbol->size, std::stoull(size, nullptr, 0)) << name;
        EXPECT_EQ(symbol->weak, bind == "WEAK") << name;
        EXPECT_EQ(symbol->kind == Symbol::Kind::Undefined, section == "UND") << name;
        EXPECT_EQ(symbol->kind == Symbol::Kind::Function, type == "FUNC") << name;
        compared++;
    }
    EXPECT_GE(compared, 14);
    EXPECT_EQ(object.find_symbol("counter")->kind, Symbol::Kind::Variable);
    EXPECT_TRUE(object.find_symbol("counter")->writable);
    EXPECT_FALSE(object.find_symbol("table")->writable);
    EXPECT_EQ(object.find_symbol("foo.kd")->kind, Symbol::Kind::Kernel);
    EXPECT_EQ(object.symbol_at(object.find_symbol("helper")->address + 4)->name, "helper");
    EXPECT_EQ(object.symbol_at(object.find_symbol("zeros")->address + 99999)->name, "zeros");
}

TEST(CodeObject, StrippedOfSections) {
    Workshop shop;
    Buffer bytes =
        shop.assemble(kernel_source("foo", full_directives) + variables_source, "gfx90a");
    // Without section headers all comes from the dynamic segment.
    store<uint64_t>(bytes, offsetof(Elf64_Ehdr, e_shoff), 0);
    store<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_shnum), 0);
    CodeObject object = parse_ok(bytes);
    EXPECT_TRUE(object.sections.empty());
    EXPECT_NE(object.find_kernel("foo"), nullptr);
    EXPECT_NE(object.find_symbol("counter"), nullptr);
    EXPECT_EQ(object.relocations.size(), 3u);
}

TEST(CodeObject, Load) {
    Workshop shop;
    Buffer bytes =
        shop.assemble(kernel_source("foo", full_directives) + variables_source, "gfx90a");
    CodeObject object = parse_ok(bytes);
    auto layout = layout_code_object(object);
    ASSERT_TRUE(layout.is_ok()) << layout.status().message();
    EXPECT_EQ(layout->base, 0u);
    EXPECT_EQ(layout->align, 4096u);
    EXPECT_EQ(layout->size % 4096, 0u);
    EXPECT_GE(layout->size, 100000u);
    Buffer image(layout->size);
    const uint64_t base = 0x7f0012340000;

    Status status = load_code_object(object, *layout, image, base);
    EXPECT_EQ(status.code(), Code::NotFound);
    EXPECT_NE(status.message().find("'external'"), std::string::npos) << status.message();

    auto resolver = [](std::string_view name) -> std::optional<uint64_t> {
        if (name == "external") return 0x1122334455667788;
        return std::nullopt;
    };
    status = load_code_object(object, *layout, image, base, resolver);
    ASSERT_TRUE(status.is_ok()) << status.message();
    uint64_t counter = object.find_symbol("counter")->address;
    EXPECT_EQ(load<uint64_t>(image, counter), base + counter + 4);
    EXPECT_EQ(load<uint64_t>(image, counter + 8), 0x1122334455667788 - 2);
    EXPECT_EQ(load<uint64_t>(image, counter + 16), 0u);  // weak and undefined
    uint64_t zeros = object.find_symbol("zeros")->address;
    for (uint64_t i = 0; i < 100000; i++) ASSERT_EQ(image[zeros + i], std::byte{0}) << i;
    EXPECT_EQ(load<uint32_t>(image, object.find_symbol("table")->address + 4), 2u);
    EXPECT_EQ(load<uint32_t>(image, object.find_kernel("foo")->entry_address), 0xbf810000u);

    EXPECT_EQ(load_code_object(object, *layout, image, base + 64, resolver).code(),
              Code::InvalidArgument);
    EXPECT_EQ(load_code_object(object, *layout, std::span(image).first(100), base, resolver).code(),
              Code::InvalidArgument);
}

// Every type of relocation, computed here by the formulas of the document.
TEST(CodeObject, RelocationTypes) {
    Workshop shop;
    Buffer bytes = shop.assemble(variables_source, "gfx900");
    CodeObject object = parse_ok(bytes);
    auto layout = layout_code_object(object);
    ASSERT_TRUE(layout.is_ok());
    uint64_t counter = object.find_symbol("counter")->address;
    const uint64_t base = 0x123456789000, s = 0xabcdef0123456789, a = 0x1000,
                   p = base + counter + 3;
    uint32_t external = no_symbol;
    for (uint32_t i = 0; i < object.symbols.size(); i++)
        if (object.symbols[i].name == "external") external = i;
    ASSERT_NE(external, no_symbol);
    struct {
        uint32_t type;
        int bytes;
        uint64_t value;
    } const cases[] = {
        {0, 0, 0},
        {1, 4, (s + a) & 0xffffffff},
        {2, 4, (s + a) >> 32},
        {3, 8, s + a},
        {4, 4, (s + a - p) & 0xffffffff},
        {5, 8, s + a - p},
        {6, 4, (s + a) & 0xffffffff},
        {10, 4, (s + a - p) & 0xffffffff},
        {11, 4, (s + a - p) >> 32},
        {14, 2, ((s + a - p - 4) / 4) & 0xffff},
    };
    auto resolver = [&](std::string_view) { return std::optional<uint64_t>(s); };
    for (auto& c : cases) {
        object.relocations = {{counter + 3, c.type, external, static_cast<int64_t>(a)}};
        Buffer image(layout->size), before;
        ASSERT_TRUE(load_code_object(object, *layout, image, base, resolver).is_ok());
        uint64_t value = 0;
        std::memcpy(&value, image.data() + counter + 3, static_cast<size_t>(c.bytes));
        EXPECT_EQ(value, c.value) << c.type;
        EXPECT_EQ(image[counter + 3 + static_cast<size_t>(c.bytes)],
                  bytes[0] == std::byte{0} ? std::byte{1} : std::byte{0});
    }
    // R_AMDGPU_RELATIVE64: B + A, and no symbol.
    object.relocations = {{counter, 13, no_symbol, 0x77}};
    Buffer image(layout->size);
    ASSERT_TRUE(load_code_object(object, *layout, image, base).is_ok());
    EXPECT_EQ(load<uint64_t>(image, counter), base - layout->base + 0x77);
    object.relocations[0].symbol = external;
    EXPECT_EQ(load_code_object(object, *layout, image, base).code(), Code::InvalidCodeObject);

    // GOTPCREL: the word at P leads to a slot that holds S.
    for (uint32_t type : {7u, 8u, 9u}) {
        object.relocations = {{counter, type, external, 0}};
        auto with_got = layout_code_object(object);
        ASSERT_TRUE(with_got.is_ok());
        Buffer got_image(with_got->size);
        ASSERT_TRUE(load_code_object(object, *with_got, got_image, base, resolver).is_ok());
        uint32_t word = load<uint32_t>(got_image, counter);
        if (type == 9) {
            EXPECT_EQ(word, 0u);  // the distance is positive and small
            continue;
        }
        ASSERT_LE(counter + word + 8, got_image.size());
        EXPECT_EQ(load<uint64_t>(got_image, counter + word), s);
    }

    // Unknown types are reported by number and symbol.
    object.relocations = {{counter, 12, external, 0}};
    Status status = load_code_object(object, *layout, image, base, resolver);
    EXPECT_EQ(status.code(), Code::Unimplemented);
    EXPECT_NE(status.message().find("type 12"), std::string::npos);
    EXPECT_NE(status.message().find("external"), std::string::npos);
    for (uint64_t place : {layout->size, layout->got - 4, uint64_t{0} - 4}) {
        object.relocations = {{place, 3, external, 0}};
        EXPECT_EQ(load_code_object(object, *layout, image, base, resolver).code(),
                  Code::InvalidCodeObject)
            << place;
    }
}

// Notes of other names and types are skipped; so are types of AMD's own that nothing defines.
TEST(CodeObject, OtherNotesAreSkipped) {
    Workshop shop;
    const std::string notes =
        ".section .note,\"a\",@note\n"
        ".p2align 2\n.long 4, 5, 99\n.asciz \"ABC\"\n.byte 1, 2, 3, 4, 5, 0, 0, 0\n"
        ".long 7, 4, 31\n.asciz \"AMDGPU\"\n.p2align 2\n.long 17\n";
    CodeObject object =
        parse_ok(shop.assemble(kernel_source("foo", full_directives) + notes, "gfx90a"));
    EXPECT_NE(object.find_kernel("foo"), nullptr) << shop.log();
    EXPECT_FALSE(object.has_metadata);
}

TEST(CodeObject, VariablesOfTheLds) {
    Workshop shop;
    CodeObject object = parse_ok(shop.assemble(".globl tile\n.amdgpu_lds tile, 640, 16\ns_endpgm\n",
                                               "gfx90a", 5, "", false));
    const Symbol* tile = object.find_symbol("tile");
    ASSERT_NE(tile, nullptr) << shop.log();
    EXPECT_EQ(tile->kind, Symbol::Kind::Lds);
    EXPECT_EQ(tile->size, 640u);
    EXPECT_EQ(tile->address, 16u);  // its alignment
}

TEST(CodeObject, RelocatableIsForInformation) {
    Workshop shop;
    Buffer bytes = shop.assemble(kernel_source("foo", full_directives), "gfx90a", 5, "", false);
    CodeObject object = parse_ok(bytes);
    EXPECT_FALSE(object.loadable);
    ASSERT_EQ(object.kernels.size(), 1u);
    EXPECT_EQ(object.kernels[0].descriptor.group_segment_fixed_size, 1000u);
    auto layout = layout_code_object(object);
    ASSERT_FALSE(layout.is_ok());
    EXPECT_NE(layout.status().message().find("ld.lld"), std::string::npos);
}

TEST(CodeObject, ErrorsAreTold) {
    Workshop shop;
    Buffer good = shop.assemble(kernel_source("foo", full_directives), "gfx90a");
    ASSERT_FALSE(good.empty());
    auto expect = [](const Buffer& bytes, Code code, const char* part) {
        auto object = parse_code_object(bytes);
        ASSERT_FALSE(object.is_ok()) << part;
        EXPECT_EQ(object.status().code(), code) << object.status().message();
        EXPECT_NE(object.status().message().find(part), std::string::npos)
            << object.status().message();
    };
    auto text = [](std::string_view s) {
        auto* data = reinterpret_cast<const std::byte*>(s.data());
        return Buffer(data, data + s.size());
    };
    auto patched = [&](size_t offset, auto value) {
        Buffer bytes = good;
        store(bytes, offset, value);
        return bytes;
    };
    Code bad = Code::InvalidCodeObject, target = Code::UnsupportedTarget;
    expect({}, bad, "empty");
    expect(text("hello world"), bad, "not an ELF");
    expect(text("\x7f"), bad, "not an ELF");
    expect(text("__CLANG_OFFLOAD_BUNDLE__"), bad, "offload bundle");
    expect(text("CCOB"), bad, "compressed offload bundle");
    expect(text("BC\xc0\xde"), bad, "bitcode");
    expect(Buffer(good.begin(), good.begin() + 10), bad, "truncated");
    expect(Buffer(good.begin(), good.begin() + 40), bad, "truncated");
    expect(Buffer(good.begin(), good.begin() + 200), bad, "truncated");
    expect(Buffer(good.begin(), good.end() - 1), bad, "truncated");
    expect(patched(4, uint8_t{1}), bad, "64-bit");
    expect(patched(5, uint8_t{2}), bad, "little-endian");
    expect(patched(7, uint8_t{66}), target, "mesa3d");
    expect(patched(8, uint8_t{5}), target, "ABI version 5");
    expect(patched(16, uint16_t{ET_EXEC}), bad, "ELF type 2");
    expect(patched(18, uint16_t{EM_X86_64}), target, "x86-64");
    expect(patched(18, uint16_t{1234}), target, "machine 1234");
    expect(patched(48, uint32_t{0x1ff}), target, "0xff");
    expect(patched(48, uint32_t{0x10}), target, "R600");

    CodeObject object = parse_ok(good);
    const KernelInfo& kernel = object.kernels.at(0);
    size_t kd = static_cast<size_t>(object.bytes_at(kernel.descriptor_address, 64)->data() -
                                    object.file.data());
    expect(patched(kd + 12, uint8_t{1}), Code::Unimplemented, "reserved byte 12");
    expect(patched(kd + 43, uint8_t{1}), Code::Unimplemented, "reserved byte 43");
    expect(patched(kd + 56, uint16_t{0x80}), Code::Unimplemented, "reserved bits");
    expect(patched(kd + 16, int64_t{4}), bad, "not aligned to 256");
    expect(patched(kd + 16, int64_t{0x100000} - static_cast<int64_t>(kernel.descriptor_address)),
           bad, "not in an executable segment");
    expect(patched(kd + 52, load<uint32_t>(good, kd + 52) | 3u << 11), bad, "WORKITEM_ID");
    expect(patched(kd + 52, load<uint32_t>(good, kd + 52) & ~0x3eu), bad, "USER_SGPR_COUNT");
    expect(patched(kd + 56, uint16_t{0x400 | 0x5e}), bad, "wave size 32");
}

// Fields of a descriptor that are 0 in code objects: positions and names by AMD's usage guide.
TEST(KernelDescriptor, FieldsThatMustBeZero) {
    Workshop shop;
    const std::string few = ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n";
    struct {
        const char* cpu;
        size_t offset;  // of the word in the descriptor
        uint32_t bit;
        const char* message;
    } const cases[] = {
        {"gfx90a", 48, 10, "compute_pgm_rsrc1 bits 11:10 (PRIORITY) is 0x1, but must be 0"},
        {"gfx900", 48, 11, "compute_pgm_rsrc1 bits 11:10 (PRIORITY) is 0x2, but must be 0"},
        {"gfx900", 48, 20, "compute_pgm_rsrc1 bit 20 (PRIV) is 0x1, but must be 0"},
        {"gfx906", 48, 22, "compute_pgm_rsrc1 bit 22 (DEBUG_MODE)"},
        {"gfx90a", 48, 24, "compute_pgm_rsrc1 bit 24 (BULKY)"},
        {"gfx942", 48, 25, "compute_pgm_rsrc1 bit 25 (CDBG_USER)"},
        {"gfx803", 48, 26, "compute_pgm_rsrc1 bit 26 (reserved)"},
        {"gfx900", 48, 27, "compute_pgm_rsrc1 bit 27 (reserved)"},
        {"gfx90a", 48, 28, "compute_pgm_rsrc1 bit 28 (reserved)"},
        {"gfx950", 48, 29, "compute_pgm_rsrc1 bits 31:29 (reserved) is 0x1"},
        {"gfx900", 48, 31, "compute_pgm_rsrc1 bits 31:29 (reserved) is 0x4"},
        {"gfx90a", 52, 6, "compute_pgm_rsrc2 bit 6 (ENABLE_TRAP_HANDLER)"},
        {"gfx90a", 52, 13, "compute_pgm_rsrc2 bit 13 (ENABLE_EXCEPTION_ADDRESS_WATCH)"},
        {"gfx900", 52, 14, "compute_pgm_rsrc2 bit 14 (ENABLE_EXCEPTION_MEMORY)"},
        {"gfx900", 52, 15, "compute_pgm_rsrc2 bits 23:15 (GRANULATED_LDS_SIZE) is 0x1"},
        {"gfx900", 52, 23, "compute_pgm_rsrc2 bits 23:15 (GRANULATED_LDS_SIZE) is 0x100"},
        {"gfx90a", 52, 31, "compute_pgm_rsrc2 bit 31 (reserved)"},
        {"gfx90a", 44, 6, "compute_pgm_rsrc3 bits 15:6 (reserved) is 0x1"},
        {"gfx942", 44, 17, "compute_pgm_rsrc3 bits 31:17 (reserved) is 0x1"},
        {"gfx900", 44, 0, "compute_pgm_rsrc3 is 0x1, but must be 0 on gfx900"},
        {"gfx908", 44, 16, "compute_pgm_rsrc3 is 0x10000, but must be 0 on gfx908"},
    };
    std::map<std::string, Buffer> objects;
    for (const auto& c : cases) {
        Buffer& bytes = objects[c.cpu];
        const RegisterRules& rules = *find_processor(c.cpu)->rules;
        if (bytes.empty())
            bytes = shop.assemble(
                kernel_source("foo", few + (rules.accum_offset ? ".amdhsa_accum_offset 4\n" : "")),
                c.cpu);
        CodeObject object = parse_ok(bytes);
        ASSERT_EQ(object.kernels.size(), 1u) << c.cpu << shop.log();
        const size_t word =
            static_cast<size_t>(object.bytes_at(object.kernels[0].descriptor_address, 64)->data() -
                                object.file.data()) +
            c.offset;
        Buffer wrong = bytes;
        store(wrong, word, load<uint32_t>(wrong, word) | 1u << c.bit);
        auto parsed = parse_code_object(wrong);
        ASSERT_FALSE(parsed.is_ok()) << c.message;
        EXPECT_NE(parsed.status().message().find("kernel 'foo'"), std::string::npos);
        EXPECT_NE(parsed.status().message().find(c.message), std::string::npos)
            << parsed.status().message();
    }
}

TEST(KernelDescriptor, MustBeAligned) {
    Workshop shop;
    const std::string source = kernel_source(
        "foo", ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n");
    // The directive aligns by itself: a second symbol names a place 32 bytes further on.
    Buffer bytes = shop.assemble(source +
                                     ".globl bar.kd\n.type bar.kd,@object\n.size bar.kd, 64\n"
                                     ".p2align 6\n.zero 32\nbar.kd: .zero 64\n",
                                 "gfx90a");
    ASSERT_FALSE(bytes.empty()) << shop.log();
    auto parsed = parse_code_object(bytes);
    ASSERT_FALSE(parsed.is_ok());
    EXPECT_NE(parsed.status().message().find("kernel 'bar'"), std::string::npos)
        << parsed.status().message();
    EXPECT_NE(parsed.status().message().find("not aligned to 64 bytes"), std::string::npos)
        << parsed.status().message();
}

TEST(CodeObject, RequestsBeyondSixteenUserSgprsAreLeftOut) {
    // All seven take 4 + 5 * 2 + 1 = 15 SGPRs; 3 preloaded ones are cut at 16.
    Workshop shop;
    Buffer bytes = shop.assemble(
        kernel_source(
            "foo",
            ".amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 20\n.amdhsa_accum_offset 4\n"
            ".amdhsa_user_sgpr_kernarg_preload_length 1\n"),
        "gfx90a");
    CodeObject object = parse_ok(bytes);
    ASSERT_EQ(object.kernels.size(), 1u) << shop.log();
    Buffer kd(64);
    auto source = object.bytes_at(object.kernels[0].descriptor_address, 64);
    std::copy(source->begin(), source->end(), kd.begin());
    store<uint16_t>(kd, 56, 0x7f);
    store<uint16_t>(kd, 58, 3);
    store<uint32_t>(kd, 52, load<uint32_t>(kd, 52) | 0x1f << 1);
    auto d = decode_kernel_descriptor(kd, *find_processor("gfx90a"));
    ASSERT_TRUE(d.is_ok()) << d.status().message();
    EXPECT_EQ(d->user_sgpr(UserSgpr::KernargPreload), 15);
    EXPECT_EQ(d->user_sgprs().size(), 8u);
}

// amd_kernel_code_t, bytes written here by the table of the document.
TEST(KernelCode, Fields) {
    Buffer code(256);
    store<uint32_t>(code, 0, 1);
    store<uint32_t>(code, 4, 2);
    store<uint16_t>(code, 8, 1);
    store<uint16_t>(code, 10, 9);
    store<int64_t>(code, 16, 256);
    // rsrc1: 2 VGPR blocks (12), 3 SGPR blocks, round 32 = 3, denorm 16_64 = 3, dx10 clamp, ieee
    store<uint32_t>(code, 48, 2u | 3u << 6 | 3u << 12 | 3u << 18 | 1u << 21 | 1u << 23);
    // rsrc2: scratch, 15 user SGPRs, trap, id x y, item id 1, exception div by zero
    store<uint32_t>(code, 52, 1u | 15u << 1 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 11 | 1u << 26);
    // buffer, kernarg, flat scratch, size, grid counts x and z; element size 4, ptr64, dynamic
    // stack
    store<uint32_t>(
        code, 56,
        1u | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 9 | 1u << 17 | 1u << 19 | 1u << 20);
    store<uint32_t>(code, 60, 64);
    store<uint32_t>(code, 64, 2048);
    store<uint64_t>(code, 72, 56);
    store<uint8_t>(code, 100, 5);
    store<uint8_t>(code, 103, 6);
    const Processor& gfx900 = *find_processor("gfx900");
    auto d = decode_kernel_code(code, gfx900);
    ASSERT_TRUE(d.is_ok()) << d.status().message();
    EXPECT_TRUE(d->v2);
    EXPECT_EQ(d->entry_offset, 256);
    EXPECT_EQ(d->private_segment_fixed_size, 64u);
    EXPECT_EQ(d->group_segment_fixed_size, 2048u);
    EXPECT_EQ(d->kernarg_size, 56u);
    EXPECT_EQ(d->kernarg_align, 32u);
    EXPECT_EQ(d->wave_size, 64u);
    EXPECT_EQ(d->vgpr_count, 12u);
    EXPECT_EQ(d->sgpr_count, 32u);
    EXPECT_EQ(d->agpr_count, 0u);
    EXPECT_TRUE(d->dynamic_stack);
    EXPECT_TRUE(d->trap_handler);
    EXPECT_TRUE(d->private_segment);
    EXPECT_TRUE(d->workgroup_id_x && d->workgroup_id_y && !d->workgroup_id_z);
    EXPECT_EQ(d->round_32, 3);
    EXPECT_EQ(d->denorm_16_64, 3);
    EXPECT_TRUE(d->dx10_clamp);
    EXPECT_TRUE(d->ieee_mode);
    EXPECT_EQ(d->exceptions, 4);
    EXPECT_EQ(d->user_sgpr(UserSgpr::KernargSegmentPtr), 4);
    EXPECT_EQ(d->user_sgpr(UserSgpr::FlatScratchInit), 6);
    EXPECT_EQ(d->user_sgpr(UserSgpr::PrivateSegmentSize), 8);
    EXPECT_EQ(d->user_sgpr(UserSgpr::GridWorkgroupCountX), 9);
    EXPECT_EQ(d->user_sgpr(UserSgpr::GridWorkgroupCountZ), 10);

    for (uint32_t minor : {0u, 1u, 9u}) {  // they are compatible
        store<uint32_t>(code, 4, minor);
        EXPECT_TRUE(decode_kernel_code(code, gfx900).is_ok()) << minor;
    }

    auto fails = [&](size_t offset, auto value, const char* part) {
        Buffer copy = code;
        store(copy, offset, value);
        auto result = decode_kernel_code(copy, gfx900);
        ASSERT_FALSE(result.is_ok()) << part;
        EXPECT_NE(result.status().message().find(part), std::string::npos)
            << result.status().message();
    };
    fails(0, uint32_t{2}, "version_major");
    fails(8, uint16_t{0}, "machine_kind");
    fails(56, uint32_t{1}, "is_ptr64");
    fails(68, uint32_t{4}, "GDS");
    fails(103, uint8_t{7}, "wavefront_size");
    fails(103, uint8_t{5}, "wave size 32");
    fails(10, uint16_t{8}, "amd_machine_version is 8:0:0, but the code object is for gfx900");
    fails(12, uint16_t{4}, "amd_machine_version is 9:4:0");
    fails(14, uint16_t{6}, "amd_machine_version is 9:0:6");
    fails(84, uint16_t{33}, "wavefront_sgpr_count is 33, but compute_pgm_rsrc1 allocates 32");
    fails(86, uint16_t{13}, "workitem_vgpr_count is 13, but compute_pgm_rsrc1 allocates 12");
    fails(88, uint16_t{3}, "reserved_vgpr_first is 3");
    fails(92, uint16_t{3}, "reserved_sgpr_first is 3");
    fails(108, uint8_t{1}, "reserved byte 108");
    fails(119, uint8_t{1}, "reserved byte 119");
    fails(48, load<uint32_t>(code, 48) | 1u << 20, "PRIV");
    fails(48, load<uint32_t>(code, 48) | 1u << 27, "bit 27 (reserved)");
    // What rsrc1 allocates, and fewer: compilers allocate more where fewer waves are to fit.
    for (uint16_t fewer : {0, 10}) {
        store<uint16_t>(code, 84, static_cast<uint16_t>(32 - fewer));
        store<uint16_t>(code, 86, static_cast<uint16_t>(12 - fewer));
        EXPECT_TRUE(decode_kernel_code(code, gfx900).is_ok()) << fewer;
    }
    EXPECT_FALSE(decode_kernel_code(std::span(code).first(255), gfx900).is_ok());
}

// clang 14 is the last that writes V2.
TEST(CodeObject, VersionTwoFromClang) {
    if (std::string(WJ_CLANG14).ends_with("NOTFOUND")) GTEST_SKIP() << "clang-14 is not installed";
    Workshop shop;
    shop.write("in.cl", R"(
__constant int table[4] = {1, 2, 3, 4};
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void foo(global float* a, const int n, local int* l, float4 v) {
    int i = __builtin_amdgcn_workitem_id_x();
    l[i & 3] = n;
    if (i < n) a[i] = v.x + table[i & 3] + l[n & 3];
}
kernel void bar(global char* restrict p, double d) { p[__builtin_amdgcn_workgroup_id_y()] = d; }
)");
    std::string clang = std::string(WJ_CLANG14) +
                        " -target amdgcn-amd-amdhsa -mcpu=gfx900 -x cl -cl-std=CL2.0 -Xclang "
                        "-finclude-default-header "
                        "-nogpulib -O1 -g -mcode-object-version=";
    ASSERT_TRUE(shop.run(clang + "2 in.cl -o v2.co")) << shop.log();
    ASSERT_TRUE(shop.run(clang + "3 in.cl -o v3.co")) << shop.log();
    Buffer v2_bytes = shop.read("v2.co"), v3_bytes = shop.read("v3.co");
    CodeObject v2 = parse_ok(v2_bytes), v3 = parse_ok(v3_bytes);
    EXPECT_EQ(v2.version, 2u);
    EXPECT_EQ(v3.version, 3u);
    EXPECT_EQ(v2.target.processor->name, "gfx900");
    EXPECT_EQ(v2.metadata.version_major, 1u);
    ASSERT_EQ(v2.kernels.size(), 2u);
    for (const KernelInfo& b : v3.kernels) {
        const KernelInfo* a = v2.find_kernel(b.name);
        ASSERT_NE(a, nullptr);
        // The same compiler, the same kernel: both forms must say the same.
        EXPECT_TRUE(a->descriptor.v2);
        EXPECT_EQ(a->entry_address, a->descriptor_address + 256);
        EXPECT_EQ(a->code_size, b.code_size);
        EXPECT_EQ(a->kernarg_segment_size(), b.metadata.kernarg_segment_size);
        EXPECT_EQ(a->descriptor.vgpr_count, b.descriptor.vgpr_count);
        EXPECT_EQ(a->descriptor.sgpr_count, b.descriptor.sgpr_count);
        EXPECT_EQ(a->descriptor.float_mode(), b.descriptor.float_mode());
        EXPECT_EQ(a->descriptor.user_sgpr_count, b.descriptor.user_sgpr_count);
        EXPECT_EQ(a->descriptor.workgroup_id_y, b.descriptor.workgroup_id_y);
        EXPECT_EQ(a->metadata.reqd_workgroup_size, b.metadata.reqd_workgroup_size);
        EXPECT_EQ(a->metadata.max_flat_workgroup_size, b.metadata.max_flat_workgroup_size);
        EXPECT_EQ(a->metadata.vgpr_count, b.metadata.vgpr_count);
        ASSERT_EQ(a->metadata.args.size(), b.metadata.args.size());
        for (size_t i = 0; i < b.metadata.args.size(); i++) {
            const KernelArg &x = a->metadata.args[i], &y = b.metadata.args[i];
            EXPECT_EQ(x.offset, y.offset);
            EXPECT_EQ(x.size, y.size);
            EXPECT_EQ(x.kind, y.kind);
            EXPECT_EQ(x.type_name, y.type_name);
            EXPECT_EQ(x.address_space, y.address_space);
            EXPECT_EQ(x.is_restrict, y.is_restrict);
        }
    }
}

// Objects of 2016 name the processor in a note alone, and GFX9 with XNACK has a stepping of its own
// there.
TEST(CodeObject, OldNamesOfGfx9WithXnack) {
    if (std::string(WJ_CLANG14).ends_with("NOTFOUND")) GTEST_SKIP() << "clang-14 is not installed";
    Workshop shop;
    shop.write("in.cl", "kernel void foo(global int* a) { *a = 1; }");
    ASSERT_TRUE(shop.run(std::string(WJ_CLANG14) +
                         " -target amdgcn-amd-amdhsa -mcpu=gfx900 -x cl -Xclang "
                         "-finclude-default-header -nogpulib -O1 -mcode-object-version=2 in.cl -o "
                         "v2.co"))
        << shop.log();
    Buffer bytes = shop.read("v2.co");
    bytes[offsetof(Elf64_Ehdr, e_flags)] = {};          // no processor
    const std::string_view names("AMD\0AMDGPU\0", 11);  // behind the note's numbers
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t at = all.find(names);
    ASSERT_NE(at, all.npos);
    for (const auto& [stepping, name] : {std::pair{0u, "gfx900:xnack-"}, {1u, "gfx900:xnack+"}}) {
        std::memcpy(bytes.data() + at - 4, &stepping, 4);
        EXPECT_EQ(parse_ok(bytes).target.str(), name) << stepping;
    }
}

}  // namespace
