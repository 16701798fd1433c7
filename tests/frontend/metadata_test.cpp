// Metadata notes: the text that goes in through the assembler must come out.
#include "frontend/metadata.h"

#include <gtest/gtest.h>

#include "frontend/code_object.h"
#include "tests/frontend/build_objects.h"

using namespace wj;
using namespace wj::test;

namespace {

const char* const v5_kinds[] = {
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_none",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_multigrid_sync_arg",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_grid_dims",
    "hidden_heap_v1",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
};

// Every value kind that LLVM's verifier accepts, in one kernel.
TEST(Metadata, EveryKeyThroughTheAssembler) {
    std::string source = kernel_source("foo",
                                       ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n"
                                       ".amdhsa_accum_offset 4\n.amdhsa_kernarg_size 512");
    source += R"(.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: 'amdgcn-amd-amdhsa--gfx90a:xnack-'
amdhsa.printf: ['1:1:4:%d\n', '2:2:8:4:%s: %d']
amdhsa.kernels:
  - .name: foo
    .symbol: foo.kd
    .language: OpenCL C
    .language_version: [2, 0]
    .kernarg_segment_size: 512
    .group_segment_fixed_size: 7
    .private_segment_fixed_size: 9
    .kernarg_segment_align: 32
    .wavefront_size: 64
    .sgpr_count: 11
    .vgpr_count: 12
    .agpr_count: 13
    .max_flat_workgroup_size: 256
    .reqd_workgroup_size: [4, 8, 2]
    .workgroup_size_hint: [1, 2, 3]
    .cluster_dims: [2, 4, 1]
    .vec_type_hint: float4
    .device_enqueue_symbol: handle
    .sgpr_spill_count: 21
    .vgpr_spill_count: 22
    .uses_dynamic_stack: true
    .uniform_work_group_size: 1
    .kind: init
    .args:
)";
    uint32_t offset = 0;
    for (const char* kind : v5_kinds) {
        source +=
            "      - {.size: 8, .offset: " + std::to_string(offset) + ", .value_kind: " + kind;
        if (offset == 8)
            source +=
                ", .name: p, .type_name: 'int*', .address_space: global, .actual_access: "
                "write_only, "
                ".is_const: true, .is_restrict: true, .is_volatile: true";
        if (offset == 16) source += ", .pointee_align: 16, .address_space: local";
        if (offset == 32) source += ", .access: read_only";
        if (offset == 40) source += ", .access: read_write, .is_pipe: true";
        source += "}\n";
        offset += 8;
    }
    source += ".end_amdgpu_metadata\n";
    Workshop shop;
    Buffer bytes = shop.assemble(source, "gfx90a", 5, "-mattr=-xnack");
    ASSERT_FALSE(bytes.empty()) << shop.log();
    auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.is_ok()) << object.status().message();
    EXPECT_EQ(object->metadata.version_major, 1u);
    EXPECT_EQ(object->metadata.version_minor, 2u);
    EXPECT_EQ(object->metadata.target, "amdgcn-amd-amdhsa--gfx90a:xnack-");
    ASSERT_EQ(object->metadata.printf.size(), 2u);
    auto format = parse_printf_string(object->metadata.printf[1]);
    ASSERT_TRUE(format.is_ok());
    EXPECT_EQ(format->id, 2u);
    EXPECT_EQ(format->sizes, (std::vector<uint32_t>{8, 4}));
    EXPECT_EQ(format->format, "%s: %d");  // SEED-META-05: colons in the format

    ASSERT_EQ(object->kernels.size(), 1u);
    ASSERT_TRUE(object->kernels[0].has_metadata);
    const KernelMetadata& m = object->kernels[0].metadata;
    EXPECT_EQ(m.name, "foo");
    EXPECT_EQ(m.symbol, "foo.kd");
    EXPECT_EQ(m.language, "OpenCL C");
    EXPECT_EQ(m.language_version, (std::array<uint32_t, 2>{2, 0}));
    EXPECT_EQ(m.kernarg_segment_size, 512u);
    EXPECT_EQ(m.group_segment_fixed_size, 7u);
    EXPECT_EQ(m.private_segment_fixed_size, 9u);
    EXPECT_EQ(m.kernarg_segment_align, 32u);
    EXPECT_EQ(object->kernels[0].kernarg_segment_align(), 32u);
    EXPECT_EQ(m.wavefront_size, 64u);
    EXPECT_EQ(m.sgpr_count, 11u);
    EXPECT_EQ(m.vgpr_count, 12u);
    EXPECT_EQ(m.agpr_count, 13u);
    EXPECT_EQ(m.max_flat_workgroup_size, 256u);
    EXPECT_EQ(m.reqd_workgroup_size, (std::array<uint32_t, 3>{4, 8, 2}));
    EXPECT_EQ(m.workgroup_size_hint, (std::array<uint32_t, 3>{1, 2, 3}));
    EXPECT_EQ(m.cluster_dims, (std::array<uint32_t, 3>{2, 4, 1}));
    EXPECT_EQ(m.vec_type_hint, "float4");
    EXPECT_EQ(m.device_enqueue_symbol, "handle");
    EXPECT_EQ(m.spilled.sgprs, 21u);
    EXPECT_EQ(m.spilled.vgprs, 22u);
    EXPECT_TRUE(m.uses_dynamic_stack);
    EXPECT_TRUE(m.uniform_work_group_size);
    EXPECT_EQ(m.kind, "init");
    ASSERT_EQ(m.args.size(), std::size(v5_kinds));
    for (size_t i = 0; i < m.args.size(); i++) {
        EXPECT_STREQ(value_kind_name(m.args[i].kind), v5_kinds[i]);
        EXPECT_EQ(m.args[i].offset, i * 8);
        EXPECT_EQ(m.args[i].size, 8u);
        EXPECT_EQ(is_hidden(m.args[i].kind), std::string(v5_kinds[i]).starts_with("hidden_"));
    }
    EXPECT_EQ(m.args[1].name, "p");
    EXPECT_EQ(m.args[1].type_name, "int*");
    EXPECT_EQ(m.args[1].address_space, AddressSpaceKind::Global);
    EXPECT_EQ(m.args[1].actual_access, Access::WriteOnly);
    EXPECT_TRUE(m.args[1].is_const && m.args[1].is_restrict && m.args[1].is_volatile);
    EXPECT_EQ(m.args[2].pointee_align, 16u);
    EXPECT_EQ(m.args[2].address_space, AddressSpaceKind::Local);
    EXPECT_EQ(m.args[4].access, Access::ReadOnly);
    EXPECT_EQ(m.args[5].access, Access::ReadWrite);
    EXPECT_TRUE(m.args[5].is_pipe);
}

const char* yaml = R"(---
Version: [ 1, 0 ]
Printf: [ '1:1:4:%d' ]
Kernels:
  - Name: k
    SymbolName: 'k@kd'
    Language: OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [ 64, 1, 1 ]
      VecTypeHint: int
      RuntimeHandle: handle
    Args:
      - { Name: c, TypeName: char, Size: 1, Align: 1, ValueKind: ByValue, ValueType: I8 }
      - { Name: p, Size: 8, Align: 8, ValueKind: GlobalBuffer, ValueType: F32, AddrSpaceQual: Global,
          AccQual: ReadOnly, IsConst: true, IsVolatile: false }
      - { Size: 4, Align: 4, ValueKind: DynamicSharedPointer, PointeeAlign: 4, AddrSpaceQual: Local }
      - { Size: 16, Align: 16, ValueKind: ByValue }
      - { Size: 8, Align: 8, ValueKind: HiddenGlobalOffsetX }
      - { Size: 8, Align: 8, ValueKind: HiddenMultiGridSyncArg }
    CodeProps:
      KernargSegmentSize: 64
      GroupSegmentFixedSize: 128
      PrivateSegmentFixedSize: 32
      KernargSegmentAlign: 16
      WavefrontSize: 64
      NumSGPRs: 10
      NumVGPRs: 6
      MaxFlatWorkGroupSize: 64
      IsDynamicCallStack: true
      NumSpilledSGPRs: 3
    vendor.Unknown: { a: [1, 2], b: ~ }
...
)";

TEST(Metadata, Yaml) {
    auto m = parse_metadata_yaml(std::string(yaml) + std::string(3, '\0'));
    ASSERT_TRUE(m.is_ok()) << m.status().message();
    ASSERT_EQ(m->kernels.size(), 1u);
    const KernelMetadata& k = m->kernels[0];
    EXPECT_EQ(k.name, "k");
    EXPECT_EQ(k.symbol, "k");
    EXPECT_EQ(m->printf[0], "1:1:4:%d");
    EXPECT_EQ(k.reqd_workgroup_size, (std::array<uint32_t, 3>{64, 1, 1}));
    EXPECT_EQ(k.vec_type_hint, "int");
    EXPECT_EQ(k.device_enqueue_symbol, "handle");
    EXPECT_EQ(k.kernarg_segment_size, 64u);
    EXPECT_EQ(k.group_segment_fixed_size, 128u);
    EXPECT_EQ(k.private_segment_fixed_size, 32u);
    EXPECT_EQ(k.sgpr_count, 10u);
    EXPECT_EQ(k.vgpr_count, 6u);
    EXPECT_EQ(k.spilled.sgprs, 3u);
    EXPECT_TRUE(k.uses_dynamic_stack);
    ASSERT_EQ(k.args.size(), 6u);
    // SEED-META-26: offsets follow from size and alignment.
    uint32_t offsets[] = {0, 8, 16, 32, 48, 56};
    for (size_t i = 0; i < 6; i++) EXPECT_EQ(k.args[i].offset, offsets[i]);
    EXPECT_EQ(k.args[0].value_type, "i8");
    EXPECT_TRUE(k.args[1].is_const);
    EXPECT_FALSE(k.args[1].is_volatile);
    EXPECT_EQ(k.args[1].access, Access::ReadOnly);
    EXPECT_EQ(k.args[2].pointee_align, 4u);
    EXPECT_EQ(k.args[4].kind, ValueKind::HiddenGlobalOffsetX);
    EXPECT_EQ(k.args[5].kind, ValueKind::HiddenMultiGridSyncArg);
}

TEST(Metadata, YamlErrors) {
    auto fails = [](std::string from, std::string to, const char* part) {
        std::string text = yaml;
        size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos);
        text.replace(at, from.size(), to);
        auto m = parse_metadata_yaml(text);
        ASSERT_FALSE(m.is_ok()) << to;
        EXPECT_NE(m.status().message().find(part), std::string::npos) << m.status().message();
    };
    fails("[ 1, 0 ]", "[ 2, 0 ]", "2.0");
    fails("[ 1, 0 ]", "one", "Version");
    fails("Version:", "Vision:", "missing");
    fails("Size: 1,", "Size: -1,", "Size");
    fails("Size: 1,", "Size: 99999999999999999999999,", "Size");
    fails("Align: 16", "Align: 3", "power of two");
    fails("ValueKind: ByValue", "ValueKind: ByMagic", "ByMagic");
    fails("IsConst: true", "IsConst: maybe", "IsConst");
    fails("WavefrontSize: 64", "WavefrontSize: 48", "48");
    fails("[ 64, 1, 1 ]", "[ 64, 0, 1 ]", "dimension of 0");
    fails("[ 64, 1, 1 ]", "[ 64, 1 ]", "sequence of 3");
    fails("Language: OpenCL C", "Language: [ a", "YAML");
    std::string deep(100000, '[');
    EXPECT_FALSE(parse_metadata_yaml(deep).is_ok());
    std::string dashes;
    for (int i = 0; i < 50000; i++) dashes += "- ";
    EXPECT_FALSE(parse_metadata_yaml(dashes).is_ok());
    // Deep by indentation; and many colons in a name, which nest nothing.
    std::string steps;
    for (size_t i = 0; i < 1500; i++) steps.append(i, ' ').append("a:\n");
    EXPECT_FALSE(parse_metadata_yaml(steps).is_ok());
    std::string names = yaml, long_name = "a";
    for (int i = 0; i < 1000; i++) long_name += "::b";
    names.replace(names.find("TypeName: char"), 14, "TypeName: '" + long_name + "'");
    auto colons = parse_metadata_yaml(names);
    ASSERT_TRUE(colons.is_ok()) << colons.status().message();
    EXPECT_EQ(colons->kernels[0].args[0].type_name, long_name);
    // Each level repeats the one before it ten times.
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; i++) {
        std::string p = "*a" + std::to_string(i - 1), n = std::to_string(i);
        bomb.append("a").append(n).append(": &a").append(n).append(" [").append(p);
        for (int j = 0; j < 9; j++) bomb += ", " + p;
        bomb += "]\n";
    }
    EXPECT_FALSE(parse_metadata_yaml(bomb).is_ok());
}

Buffer raw(std::initializer_list<int> values) {
    Buffer out;
    for (int v : values) out.push_back(static_cast<std::byte>(v));
    return out;
}

TEST(Metadata, MsgpackErrors) {
    EXPECT_FALSE(parse_metadata_msgpack({}).is_ok());
    EXPECT_FALSE(parse_metadata_msgpack(raw({0x01})).is_ok());  // not a map
    EXPECT_FALSE(parse_metadata_msgpack(raw({0xc1})).is_ok());  // never used byte
    EXPECT_FALSE(parse_metadata_msgpack(raw({0x80})).is_ok());  // no version
    EXPECT_FALSE(
        parse_metadata_msgpack(raw({0xdf, 255, 255, 255, 255})).is_ok());  // 4 G entries claimed
    EXPECT_FALSE(
        parse_metadata_msgpack(raw({0xdd, 255, 255, 255, 255, 0xdd, 255, 255, 255, 255})).is_ok());
    EXPECT_FALSE(parse_metadata_msgpack(raw({0x81, 0xdb, 255, 255, 255, 255, 'a'})).is_ok());
    EXPECT_FALSE(parse_metadata_msgpack(Buffer(100000, std::byte{0x91})).is_ok());  // nested arrays
    EXPECT_FALSE(parse_printf_string("").is_ok());
    EXPECT_FALSE(parse_printf_string("1").is_ok());
    EXPECT_FALSE(parse_printf_string("1:4000000000:").is_ok());
    EXPECT_FALSE(parse_printf_string("1:2:3:x").is_ok());
    EXPECT_TRUE(parse_printf_string("1:0:").is_ok());
}

// SEED-META-02: every width of integer, string and container; -1 where it must not be.
TEST(Metadata, MsgpackWidths) {
    std::string text = "amdhsa.version";
    for (auto one : {raw({0x01}), raw({0xcc, 1}), raw({0xcd, 0, 1}), raw({0xce, 0, 0, 0, 1}),
                     raw({0xcf, 0, 0, 0, 0, 0, 0, 0, 1}), raw({0xd0, 1}), raw({0xd1, 0, 1}),
                     raw({0xd2, 0, 0, 0, 1}), raw({0xd3, 0, 0, 0, 0, 0, 0, 0, 1})}) {
        for (auto map : {raw({0x82}), raw({0xde, 0, 2}), raw({0xdf, 0, 0, 0, 2})})
            for (auto key :
                 {raw({0xae}), raw({0xd9, 14}), raw({0xda, 0, 14}), raw({0xdb, 0, 0, 0, 14})})
                for (auto array : {raw({0x92}), raw({0xdc, 0, 2}), raw({0xdd, 0, 0, 0, 2})}) {
                    Buffer doc = map;
                    auto add = [&doc](const Buffer& b) {
                        doc.insert(doc.end(), b.begin(), b.end());
                    };
                    add(raw({0xa1, 'x', 0x93, 0xc0, 0xca, 0, 0, 0, 0, 0xc4, 1,
                             9}));  // unknown key: skipped
                    add(key);
                    for (char c : text) doc.push_back(static_cast<std::byte>(c));
                    add(array);
                    add(one);
                    add(raw({0}));
                    auto m = parse_metadata_msgpack(doc);
                    ASSERT_TRUE(m.is_ok()) << m.status().message();
                    EXPECT_EQ(m->version_major, 1u);
                }
    }
}

// Objects as libraries are made: kernels that are assembled one by one, each with a note of its
// own, and linked.
class Linked : public testing::Test {
protected:
    void assemble(const std::string& file, const std::string& kernel, uint32_t vgprs,
                  const std::string& printf = "") {
        shop_.write(file + ".s",
                    kernel_source(kernel,
                                  ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"
                                  ".amdhsa_accum_offset 8") +
                        ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\n" + printf +
                        "amdhsa.kernels:\n  - .name: " + kernel + "\n    .symbol: " + kernel +
                        ".kd\n    .kernarg_segment_size: 0\n    .group_segment_fixed_size: 0\n"
                        "    .private_segment_fixed_size: 0\n    .kernarg_segment_align: 4\n"
                        "    .wavefront_size: 64\n    .sgpr_count: 8\n    .vgpr_count: " +
                        std::to_string(vgprs) +
                        "\n    .max_flat_workgroup_size: 256\n...\n.end_amdgpu_metadata\n");
        const std::string mc =
            std::string(WJ_LLVM_MC) + " -triple=amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj ";
        ASSERT_TRUE(shop_.run(mc + file + ".s -o " + file + ".o")) << shop_.log();
    }
    // "k0.o k1.o ..." may be too long for a shell: a response file.
    Result<CodeObject> link(const std::string& files) {
        shop_.write("files", files);
        EXPECT_TRUE(shop_.run(std::string(WJ_LLD) +
                              " -shared --allow-multiple-definition @files -o out.co"))
            << shop_.log();
        bytes_ = shop_.read("out.co");
        return parse_code_object(bytes_);
    }
    Workshop shop_;
    Buffer bytes_;
};

TEST_F(Linked, TwoNotes) {
    assemble("a", "first", 8, "amdhsa.printf:\n  - '1:0:one'\n");
    assemble("b", "second", 7, "amdhsa.printf:\n  - '1:0:one'\n  - '2:0:two'\n");
    auto object = link("a.o b.o");
    ASSERT_TRUE(object.is_ok()) << object.status().message();
    ASSERT_EQ(object->kernels.size(), 2u);
    for (const KernelInfo& k : object->kernels)
        EXPECT_EQ(k.metadata.vgpr_count, k.name == "first" ? 8u : 7u) << k.name;
    EXPECT_EQ(object->metadata.printf, (std::vector<std::string>{"1:0:one", "2:0:two"}));
    for (const KernelInfo& k : object->kernels) EXPECT_TRUE(k.has_metadata) << k.name;
}

TEST_F(Linked, FiveHundredNotes) {
    std::string files;
    for (uint32_t n = 0; n < 500; ++n) {
        const std::string name = "k" + std::to_string(n);
        if (n < 20) {  // the assembler takes its time
            assemble(name, name, 8);
        } else {  // the same object with another name for its kernel of two, three digits
            Buffer copy = shop_.read(n < 100 ? "k10.o" : "k100.o");
            if (n == 100) assemble("k100", "k100", 8), copy = shop_.read("k100.o");
            const std::string old = n < 100 ? "k10" : "k100";
            auto* text = reinterpret_cast<char*>(copy.data());
            for (size_t at = 0; at + name.size() <= copy.size(); ++at)
                if (std::string_view(text + at, name.size()) == old)
                    std::copy(name.begin(), name.end(), text + at);
            shop_.write(name + ".o", copy);
        }
        files += name + ".o\n";
    }
    auto object = link(files);
    ASSERT_TRUE(object.is_ok()) << object.status().message();
    EXPECT_EQ(object->kernels.size(), 500u);
    for (const KernelInfo& k : object->kernels) EXPECT_TRUE(k.has_metadata) << k.name;
}

TEST_F(Linked, KernelNamedTwice) {
    assemble("a", "same", 8);
    assemble("b", "same", 8);
    assemble("c", "same", 7);
    auto alike = link("a.o b.o");
    ASSERT_TRUE(alike.is_ok()) << alike.status().message();
    ASSERT_EQ(alike->kernels.size(), 1u);
    EXPECT_EQ(alike->kernels[0].metadata.vgpr_count, 8u);
    auto other = link("a.o c.o");
    ASSERT_FALSE(other.is_ok());
    EXPECT_NE(other.status().message().find("kernel 'same.kd'"), std::string::npos)
        << other.status().message();
}

TEST_F(Linked, PrintfStringsThatDisagree) {
    assemble("a", "first", 8, "amdhsa.printf:\n  - '1:0:one'\n");
    assemble("b", "second", 8, "amdhsa.printf:\n  - '1:0:two'\n");
    auto object = link("a.o b.o");
    ASSERT_FALSE(object.is_ok());
    EXPECT_NE(object.status().message().find("printf"), std::string::npos);
}

}  // namespace
