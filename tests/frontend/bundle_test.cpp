// Offload bundles as clang-offload-bundler writes them, host programs, and damaged ones.
#include "frontend/bundle.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "frontend/code_object.h"
#include "tests/frontend/build_objects.h"

using namespace wj;
using namespace wj::test;

namespace {

class BundleTest : public testing::Test {
protected:
    void SetUp() override {
        a_ = shop_.assemble(
            kernel_source("a", ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8"), "gfx900");
        b_ = shop_.assemble(kernel_source("b",
                                          ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n"
                                          ".amdhsa_accum_offset 4"),
                            "gfx90a", 5, "-mattr=-xnack");
        ASSERT_FALSE(a_.empty() || b_.empty()) << shop_.log();
        shop_.write("a.co", a_);
        shop_.write("b.co", b_);
        shop_.write("empty", "");
    }
    Buffer bundle(const std::string& options, const std::string& environment = "") {
        bool ok =
            shop_.run(environment + " " + WJ_BUNDLER +
                      " -type=o -bundle-align=4096 -targets=host-x86_64-unknown-linux-gnu-,"
                      "hipv4-amdgcn-amd-amdhsa--gfx900,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- "
                      "-input=empty -input=a.co -input=b.co -output=out.hipfb " +
                      options);
        EXPECT_TRUE(ok) << shop_.log();
        return shop_.read("out.hipfb");
    }
    void expect_both(const std::vector<FoundCodeObject>& found) {
        ASSERT_EQ(found.size(), 2u);
        EXPECT_EQ(found[0].id, "hipv4-amdgcn-amd-amdhsa--gfx900");
        EXPECT_TRUE(std::ranges::equal(found[0].bytes, a_));
        EXPECT_TRUE(std::ranges::equal(found[1].bytes, b_));
        EXPECT_EQ(found[1].target.str(), "gfx90a:xnack-");
        EXPECT_TRUE(parse_code_object(found[1].bytes).is_ok());
        EXPECT_EQ(select_code_object(found, *parse_target_id("gfx90a:sramecc+:xnack-")), &found[1]);
        EXPECT_EQ(select_code_object(found, *parse_target_id("gfx900:xnack-")), &found[0]);
        EXPECT_EQ(select_code_object(found, *parse_target_id("gfx90a:xnack+")), nullptr);
    }

    Workshop shop_;
    Buffer a_, b_;
};

TEST_F(BundleTest, Plain) {
    Buffer bytes = bundle("");
    auto b = read_bundle(bytes);
    ASSERT_TRUE(b.is_ok()) << b.status().message();
    ASSERT_EQ(b->entries.size(), 3u);
    EXPECT_FALSE(b->compressed);
    EXPECT_EQ(b->size, bytes.size());
    EXPECT_EQ(b->entries[0].kind, "host");
    EXPECT_EQ(b->entries[0].size, 0u);
    EXPECT_EQ(b->entries[2].kind, "hipv4");
    EXPECT_EQ(b->entries[2].triple, "amdgcn-amd-amdhsa--gfx90a:xnack-");
    EXPECT_EQ(b->entries[2].target->str(), "gfx90a:xnack-");
    EXPECT_EQ(b->entries[2].offset % 4096, 0u);
    auto found = find_code_objects(bytes);
    ASSERT_TRUE(found.is_ok()) << found.status().message();
    expect_both(*found);
}

TEST_F(BundleTest, CompressedByTheBundler) {
    for (const char* environment :
         {"COMPRESSED_BUNDLE_FORMAT_VERSION=2", "COMPRESSED_BUNDLE_FORMAT_VERSION=3"}) {
        Buffer bytes = bundle("-compress", environment);
        EXPECT_EQ(load<uint32_t>(bytes, 0), 0x424f4343u);  // "CCOB"
        auto b = read_bundle(bytes);
        ASSERT_TRUE(b.is_ok()) << b.status().message();
        EXPECT_TRUE(b->compressed);
        EXPECT_EQ(b->size, bytes.size());
        auto found = find_code_objects(bytes);
        ASSERT_TRUE(found.is_ok()) << found.status().message();
        bytes.clear();  // decompressed entries own their bytes
        expect_both(*found);
    }
}

// Header fields by llvm/Object/OffloadBundle.h, compressed here with zlib.
Buffer compress(const Buffer& plain, int version) {
    uLongf size = compressBound(plain.size());
    Buffer body(size);
    EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(body.data()), &size,
                        reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 6),
              Z_OK);
    body.resize(size);
    size_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
    Buffer out(header);
    store<uint32_t>(out, 0, 0x424f4343);
    store<uint16_t>(out, 4, static_cast<uint16_t>(version));
    store<uint16_t>(out, 6, 0);
    uint64_t total = header + size;
    if (version == 1) store<uint32_t>(out, 8, static_cast<uint32_t>(plain.size()));
    if (version == 2) {
        store<uint32_t>(out, 8, static_cast<uint32_t>(total));
        store<uint32_t>(out, 12, static_cast<uint32_t>(plain.size()));
    }
    if (version == 3) {
        store<uint64_t>(out, 8, total);
        store<uint64_t>(out, 16, plain.size());
    }
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

TEST_F(BundleTest, ZlibOfEveryVersionAndConcatenation) {
    Buffer plain = bundle("");
    Buffer all;
    for (int version : {1, 2, 3}) {
        Buffer bytes = compress(plain, version);
        auto found = find_code_objects(bytes);
        ASSERT_TRUE(found.is_ok()) << version << found.status().message();
        expect_both(*found);
        all.insert(all.end(), bytes.begin(), bytes.end());
        all.resize((all.size() + 4095) / 4096 * 4096);
    }
    all.insert(all.end(), plain.begin(), plain.end());
    auto entries = read_bundles(all);
    ASSERT_TRUE(entries.is_ok()) << entries.status().message();
    EXPECT_EQ(entries->size(), 12u);
    EXPECT_TRUE(std::ranges::equal((*entries)[11].bytes, b_));
    // A wrong uncompressed size, in both directions.
    for (uint32_t delta : {1u, 0xffffffffu}) {
        Buffer bytes = compress(plain, 2);
        store<uint32_t>(bytes, 12, load<uint32_t>(bytes, 12) + delta);
        EXPECT_FALSE(read_bundle(bytes).is_ok());
    }
    Buffer bytes = compress(plain, 3);
    store<uint16_t>(bytes, 4, 9);
    EXPECT_EQ(read_bundle(bytes).status().code(), Code::Unimplemented);
}

TEST_F(BundleTest, HostProgram) {
    bundle("");
    shop_.write("host.s", R"(
.section .hip_fatbin,"a",@progbits
.p2align 12
.incbin "out.hipfb"
.p2align 12
.incbin "out.hipfb"
.section .hipFatBinSegment,"aw",@progbits
.p2align 3
.long 0x48495046, 1
.quad 0, 0
.text
.globl main
main: ret
)");
    ASSERT_TRUE(shop_.run("cc -shared -o host.so host.s")) << shop_.log();
    Buffer bytes = shop_.read("host.so");
    EXPECT_TRUE(is_hip_program(bytes));
    EXPECT_FALSE(is_hip_program(a_));
    auto found = find_code_objects_in_file(shop_.path("host.so"));
    ASSERT_TRUE(found.is_ok()) << found.status().message();
    ASSERT_EQ(found->size(), 4u);
    EXPECT_NE((*found)[3].origin.find(".hip_fatbin"), std::string::npos);
    found->resize(2);
    expect_both(*found);
}

TEST_F(BundleTest, OffloadBinary) {
    std::string packager = WJ_PACKAGER;
    if (packager.ends_with("NOTFOUND")) GTEST_SKIP() << "clang-offload-packager is not installed";
    ASSERT_TRUE(
        shop_.run(packager +
                  " -o out.bin --image=file=a.co,triple=amdgcn-amd-amdhsa,arch=gfx900,kind=hip "
                  "--image=file=b.co,triple=amdgcn-amd-amdhsa,arch=gfx90a:xnack-,kind=hip"))
        << shop_.log();
    auto found = find_code_objects_in_file(shop_.path("out.bin"));
    ASSERT_TRUE(found.is_ok()) << found.status().message();
    ASSERT_EQ(found->size(), 2u);
    EXPECT_TRUE(std::ranges::equal((*found)[0].bytes, a_));
    EXPECT_TRUE(std::ranges::equal((*found)[1].bytes, b_));
}

TEST_F(BundleTest, Errors) {
    auto message = [](auto&& result) {
        EXPECT_FALSE(result.is_ok());
        return result.status().message();
    };
    EXPECT_NE(message(find_code_objects_in_file("/does/not/exist")).find("No such file"),
              std::string::npos);
    EXPECT_EQ(find_code_objects_in_file("/does/not/exist").status().code(), Code::NotFound);
    EXPECT_NE(message(find_code_objects_in_file(shop_.path("empty"))).find("empty"),
              std::string::npos);
    EXPECT_NE(message(find_code_objects_in_file(shop_.path("in.s"))).find("neither"),
              std::string::npos);
    shop_.write("plain.c", "int main(void) { return 0; }\n");
    ASSERT_TRUE(shop_.run("cc plain.c -o plain"));
    EXPECT_NE(message(find_code_objects_in_file(shop_.path("plain"))).find(".hip_fatbin"),
              std::string::npos);
    EXPECT_FALSE(find_code_objects_in_file(shop_.path("")).is_ok());  // a directory
    Buffer bytes = bundle("");
    for (size_t size : {25u, 40u, 60u, 5000u})
        EXPECT_NE(message(read_bundle(std::span(bytes).first(size))).find("truncated"),
                  std::string::npos)
            << size;
    store<uint64_t>(bytes, 24, ~uint64_t{0});
    EXPECT_FALSE(read_bundle(bytes).is_ok());
}

// Whatever ROCm libraries are installed: hundreds of objects that others compiled.
TEST(RealLibraries, EveryCodeObjectParsesAndLoads) {
    int objects = 0;
    for (const char* path : {"/usr/lib/x86_64-linux-gnu/librocrand.so.1",
                             "/usr/lib/x86_64-linux-gnu/librocsparse.so.0"}) {
        if (!std::filesystem::exists(path)) continue;
        auto found = find_code_objects_in_file(path);
        ASSERT_TRUE(found.is_ok()) << found.status().message();
        Buffer image;
        for (size_t i = 0; i<found->size(); i += found->size()> 100 ? 7 : 1) {
            const FoundCodeObject& f = (*found)[i];
            auto object = parse_code_object(f.bytes);
            ASSERT_TRUE(object.is_ok()) << f.origin << ": " << object.status().message();
            EXPECT_TRUE(object->diagnostics.empty()) << object->diagnostics[0];
            EXPECT_EQ("hipv4-" + object->metadata.target, f.id);
            EXPECT_EQ(object->target, *parse_target_id(object->metadata.target));
            EXPECT_GT(object->kernels.size(), 0u);
            for (const KernelInfo& k : object->kernels) {
                ASSERT_TRUE(k.has_metadata);
                const KernelDescriptor& d = k.descriptor;
                EXPECT_EQ(d.kernarg_size, k.metadata.kernarg_segment_size);
                EXPECT_EQ(d.group_segment_fixed_size, k.metadata.group_segment_fixed_size);
                EXPECT_EQ(d.private_segment_fixed_size, k.metadata.private_segment_fixed_size);
                EXPECT_EQ(d.wave_size, k.metadata.wavefront_size);
                // The allocation is the used count rounded up (at least one granule).
                EXPECT_GE(d.vgpr_count, k.metadata.vgpr_count);
                EXPECT_LE(d.vgpr_count, std::max(1u, k.metadata.vgpr_count) + 7);
                EXPECT_GE(d.sgpr_count, k.metadata.sgpr_count);
            }
            auto layout = layout_code_object(*object);
            ASSERT_TRUE(layout.is_ok());
            image.resize(layout->size);
            EXPECT_TRUE(load_code_object(*object, *layout, image, 0x100000000).is_ok());
            objects++;
        }
    }
    if (!objects) GTEST_SKIP() << "no ROCm library is installed";
}

}  // namespace
