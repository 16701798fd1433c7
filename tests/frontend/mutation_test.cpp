// 10,000 damaged inputs: parsed, laid out, loaded and asked for lines without a crash (run it in
// the sanitizer build too). What comes out does not matter, that it comes out does.
#include <gtest/gtest.h>

#include <cstdlib>

#include "frontend/metadata.h"
#include "tests/frontend/build_objects.h"
#include "tests/frontend/exercise_object.h"

using namespace wj;
using namespace wj::test;

namespace {

struct Random {
    uint64_t state = 0x9e3779b97f4a7c15;
    uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    size_t below(size_t n) { return next() % n; }
};

// Values at which bounds checks break.
constexpr uint64_t edges[] = {0,
                              1,
                              3,
                              0x7f,
                              0xff,
                              0xffff,
                              0x7fffffff,
                              0xffffffff,
                              0x100000000,
                              0x7fffffffffffffff,
                              0xfffffffffffffff8,
                              0xffffffffffffffff,
                              4096,
                              64};

Buffer mutate(const Buffer& good, Random& random) {
    Buffer bytes = good;
    size_t kind = random.below(8);
    if (kind == 0) {
        bytes.resize(random.below(bytes.size()));
        return bytes;
    }
    // Headers, notes and tables are at both ends: aim there more often than at code.
    auto position = [&]() -> size_t {
        switch (random.below(4)) {
            case 0:
                return random.below(std::min<size_t>(bytes.size(), 64));
            case 1:
                return random.below(std::min<size_t>(bytes.size(), 1024));
            case 2:
                return bytes.size() - 1 - random.below(std::min<size_t>(bytes.size(), 2048));
            default:
                return random.below(bytes.size());
        }
    };
    for (size_t i = random.below(4) + 1; i; i--) {
        size_t at = position();
        if (kind < 4) {
            bytes[at] ^= static_cast<std::byte>(1u << random.below(8));
        } else {
            uint64_t value =
                edges[random.below(std::size(edges))] + (kind == 7 ? random.below(16) : 0);
            at = at / 4 * 4;
            size_t size = std::min<size_t>(random.below(2) ? 8 : 4, bytes.size() - at);
            std::memcpy(bytes.data() + at, &value, size);
        }
    }
    return bytes;
}

void run(const Buffer& good, int count, uint64_t seed, bool bundle) {
    ASSERT_FALSE(good.empty());
    Random random;
    random.state ^= seed * 0x2545f4914f6cdd1d;
    int accepted = 0;
    // WJ_MUTATIONS multiplies the number of inputs.
    const char* factor = std::getenv("WJ_MUTATIONS");
    count *= std::max(1, factor ? std::atoi(factor) : 1);
    for (int i = 0; i < count; i++) {
        Buffer bytes = mutate(good, random);
        // An allocation of its own size lets the sanitizer see reads behind its end.
        if (bundle) {
            accepted += exercise_bundle(bytes) != 0;
        } else {
            accepted += exercise_object(bytes) != 0;
        }
    }
    EXPECT_GT(accepted, 0);  // otherwise the mutations only test the first check
}

const char* source = R"(
kernel void foo(global int* p, int n) { for (int i = 0; i < n; i++) p[i] += n; }
kernel void bar(global float* p, local int* l, float4 v) { l[0] = 1; p[1] = v.x + l[1]; }
)";

std::string compile(const std::string& compiler, int version) {
    return compiler +
           " -target amdgcn-amd-amdhsa -mcpu=gfx900 -x cl -cl-std=CL2.0 -Xclang "
           "-finclude-default-header "
           "-nogpulib -O1 -g -mcode-object-version=" +
           std::to_string(version) + " in.cl -o in.co";
}

TEST(Mutation, CompiledWithDebugInformation) {
    Workshop shop;
    shop.write("in.cl", source);
    ASSERT_TRUE(shop.run(compile(WJ_CLANG, 5))) << shop.log();
    run(shop.read("in.co"), 4000, 1, false);
}

TEST(Mutation, Relocations) {
    Workshop shop;
    std::string text = kernel_source("k", ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8");
    text += ".data\n.globl a\n.type a,@object\n.size a,32\na: .quad a, b, k.kd, a+8\n";
    run(shop.assemble(text, "gfx900", 6), 3000, 2, false);
}

TEST(Mutation, VersionTwo) {
    if (std::string(WJ_CLANG14).ends_with("NOTFOUND")) GTEST_SKIP() << "clang-14 is not installed";
    Workshop shop;
    shop.write("in.cl", source);
    ASSERT_TRUE(shop.run(compile(WJ_CLANG14, 2))) << shop.log();
    run(shop.read("in.co"), 1500, 3, false);
}

// Metadata documents on their own: in an object most damage falls elsewhere.
TEST(Mutation, Metadata) {
    Workshop shop;
    shop.write("in.cl", source);
    ASSERT_TRUE(shop.run(compile(WJ_CLANG, 5))) << shop.log();
    Buffer object = shop.read("in.co");
    // The MessagePack document follows the note's name.
    std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
    size_t name = text.find(std::string_view("AMDGPU\0\0", 8));
    ASSERT_NE(name, std::string_view::npos);
    Buffer note(
        object.begin() + static_cast<std::ptrdiff_t>(name + 8),
        object.begin() + static_cast<std::ptrdiff_t>(name + 8 + load<uint32_t>(object, name - 8)));
    ASSERT_TRUE(parse_metadata_msgpack(note).is_ok());
    std::string_view yaml =
        "Version: [ 1, 0 ]\nKernels:\n  - Name: k\n    SymbolName: 'k@kd'\n    Attrs:\n"
        "      ReqdWorkGroupSize: [ 64, 1, 1 ]\n    Args:\n      - Name: &x a\n        Size: 8\n"
        "        Align: 8\n        ValueKind: ByValue\n      - { Size: 4, Align: 4, ValueKind: *x "
        "}\n"
        "    CodeProps: { KernargSegmentSize: 16, \"WavefrontSize\": 64 }\n";
    Buffer yaml_bytes(reinterpret_cast<const std::byte*>(yaml.data()),
                      reinterpret_cast<const std::byte*>(yaml.data()) + yaml.size());
    const char* factor = std::getenv("WJ_MUTATIONS");
    int count = 1500 * std::max(1, factor ? std::atoi(factor) : 1);
    Random random;
    int accepted = 0;
    for (int i = 0; i < count; i++) {
        accepted += parse_metadata_msgpack(mutate(note, random)).is_ok();
        Buffer damaged = mutate(yaml_bytes, random);
        auto* data = reinterpret_cast<const char*>(damaged.data());
        accepted += parse_metadata_yaml({data, damaged.size()}).is_ok();
    }
    EXPECT_GT(accepted, 0);
}

TEST(Mutation, Bundles) {
    Workshop shop;
    shop.write("a.co", shop.assemble(
                           kernel_source("a", ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8"),
                           "gfx900"));
    shop.write("empty", "");
    uint64_t seed = 10;
    for (const char* options : {"", "-compress"}) {
        ASSERT_TRUE(shop.run(
            std::string(WJ_BUNDLER) +
            " -type=o -targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx900 "
            "-input=empty -input=a.co -output=out.hipfb " +
            options))
            << shop.log();
        run(shop.read("out.hipfb"), 1000, ++seed, true);
    }
    shop.write("host.s", ".section .hip_fatbin,\"a\",@progbits\n.incbin \"out.hipfb\"\n");
    ASSERT_TRUE(shop.run("cc -c -o host.o host.s"));
    run(shop.read("host.o"), 500, 20, true);
}

}  // namespace
