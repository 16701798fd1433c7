// PC to functions and what is inlined in them, against llvm-symbolizer on the same object.
#include "frontend/source_scopes.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/frontend/build_objects.h"

using namespace wj;
using namespace wj::test;

namespace {

constexpr const char* source = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
namespace deep {
struct Table {
    int* data;
    template <class T>
    __device__ int at(T i) const {
        return data[i] + 1;
    }
};
__device__ inline int twice(const Table& t, int i) {
    return t.at(i) + t.at(long(i) * 3);
}
}  // namespace deep
__device__ __attribute__((noinline)) int outside(int* p, int i) {
    return deep::twice({p}, i + 7);
}
static __device__ int loops(int* p, int n) {
    int s = 0;
    auto add = [&](int k) { s += deep::twice({p}, k); };
    for (int i = 0; i < n; i++) {
        add(i);
        if (s > 100) add(s);
    }
    return s;
}
__global__ void first(int* p, int n) {
    p[0] = loops(p, n) + loops(p + 9, n - 1) + outside(p, n);
}
__global__ void second(int* p) {
    deep::Table t{p};
    p[1] = t.at(5) + deep::twice(t, p[3]);
}
)";

// What llvm-symbolizer says of an address: pairs of lines, the innermost function first.
std::vector<std::pair<std::string, std::string>> next_answer(std::istream& in) {
    std::vector<std::pair<std::string, std::string>> frames;
    std::string name, place;
    while (std::getline(in, name) && !name.empty() && std::getline(in, place))
        frames.emplace_back(name, place);
    return frames;
}

std::string text(const SourceLocation& place) {
    return place.text() + ":" + std::to_string(place.column);
}

// The number of functions inlined in others that were compared.
int compare(const Workshop& shop, const CodeObject& object) {
    const SourceScopes scopes = SourceScopes::read(object);
    const DebugInfo lines = DebugInfo::read(object);
    int inlined = 0;
    for (const Symbol& s : object.symbols) {
        if (s.kind != Symbol::Kind::Function) continue;
        std::string addresses;
        for (uint64_t pc = s.address; pc < s.address + s.size; pc += 4)
            addresses.append(" ").append(std::to_string(pc));
        EXPECT_TRUE(shop.run(std::string(WJ_SYMBOLIZER) +
                             " --inlining --functions=short --obj=in.co" + addresses));
        std::istringstream answers(shop.log());
        for (uint64_t pc = s.address; pc < s.address + s.size; pc += 4) {
            const auto expected = next_answer(answers);
            const auto found = scopes.at(pc);
            EXPECT_EQ(found.size(), expected.size()) << s.name << " " << pc;
            if (found.size() != expected.size()) return 0;
            const auto line = lines.find(pc);
            for (size_t i = 0; i < found.size(); i++) {
                EXPECT_EQ(found[i].name, expected[i].first) << pc;
                EXPECT_EQ(found[i].inlined, i + 1 < found.size());
                const bool known = i || (line && !line->approximate);
                EXPECT_TRUE(!known || text(i ? found[i - 1].call : *line) == expected[i].second)
                    << pc;
            }
            inlined += static_cast<int>(found.size()) - 1;
        }
    }
    return inlined;
}

// Empty: the compiler is not there.
Buffer compiled(const Workshop& shop, const std::string& compiler, const std::string& flags) {
    if (compiler.empty() || compiler.ends_with("NOTFOUND")) return {};
    shop.write("in.hip", source);
    EXPECT_TRUE(shop.run(compiler +
                         " -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc "
                         "-o in.co in.hip " +
                         flags))
        << shop.log();
    return shop.read("in.co");
}

TEST(SourceScopes, AgreeWithSymbolizer) {
    const struct {
        const char *compiler, *flags;
    } cases[] = {
        {WJ_CLANG, "--offload-arch=gfx90a -O1 -g -gdwarf-4"},
        {WJ_CLANG, "--offload-arch=gfx1030 -O3 -g -gdwarf-5 -mcode-object-version=4"},
        {WJ_CLANG, "--offload-arch=gfx1100 -O2 -gline-tables-only -mcode-object-version=6"},
        {WJ_CLANG, "--offload-arch=gfx90a -O0 -g -mcode-object-version=5"},
        {WJ_CLANG15, "--offload-arch=gfx90a -O3 -g -gdwarf-4 -mcode-object-version=3"},
        {WJ_CLANG15, "--offload-arch=gfx1030 -O1 -g -gdwarf-5"},
    };
    for (const auto& [compiler, flags] : cases) {
        SCOPED_TRACE(std::string(compiler) + " " + flags);
        const Workshop shop;
        const Buffer bytes = compiled(shop, compiler, flags);
        if (bytes.empty()) continue;
        const auto object = parse_code_object(bytes);
        ASSERT_TRUE(object.is_ok()) << object.status().message();
        const bool inlines = std::string(flags).find("-O0") == std::string::npos;
        EXPECT_EQ(compare(shop, *object) > 100, inlines);
    }
}

// Whatever the tables say, they are read in the end, and say something or nothing.
TEST(SourceScopes, DamagedTables) {
    const Workshop shop;
    const Buffer bytes = compiled(shop, WJ_CLANG, "--offload-arch=gfx90a -O3 -g");
    const auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.is_ok());
    std::mt19937 random(1);
    size_t some = 0;
    for (const Section& section : object->sections) {
        if (!section.name.starts_with(".debug_")) continue;
        for (int round = 0; round < 60; round++) {
            Buffer damaged = bytes;
            for (int i = 0; i <= round % 4; i++)
                damaged[section.file_offset + random() % section.size] =
                    static_cast<std::byte>(random());
            const auto parsed = parse_code_object(damaged);
            ASSERT_TRUE(parsed.is_ok());
            const SourceScopes scopes = SourceScopes::read(*parsed);
            for (const KernelInfo& kernel : parsed->kernels)
                some += !scopes.at(kernel.entry_address + 16).empty();
        }
    }
    EXPECT_GT(some, 100u);
}

TEST(SourceScopes, AbsentIsEmpty) {
    const Workshop shop;
    const Buffer bytes = shop.assemble("s_endpgm\n", "gfx900");
    const auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.is_ok());
    EXPECT_TRUE(SourceScopes::read(*object).at(0x1000).empty());
}

}  // namespace
