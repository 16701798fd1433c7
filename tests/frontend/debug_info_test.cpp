// PC to source line, against llvm-symbolizer on the same object.
#include "frontend/debug_info.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/frontend/build_objects.h"

using namespace wj;
using namespace wj::test;

namespace {

TEST(DebugInfo, AgreesWithSymbolizer) {
    for (const char* dwarf : {"-gdwarf-4", "-gdwarf-5"}) {
        Workshop shop;
        shop.write("in.cl", R"(
kernel void foo(global int* p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i] * 3;
    p[0] = s;
}
kernel void bar(global int* p) {
    p[1] = 2;
}
)");
        ASSERT_TRUE(shop.run(std::string(WJ_CLANG) +
                             " -target amdgcn-amd-amdhsa -mcpu=gfx906 -x cl -cl-std=CL2.0 "
                             "-nogpulib -O1 " +
                             dwarf + " in.cl -o in.co"))
            << shop.log();
        Buffer bytes = shop.read("in.co");
        auto object = parse_code_object(bytes);
        ASSERT_TRUE(object.is_ok()) << object.status().message();
        DebugInfo info = DebugInfo::read(*object);
        ASSERT_FALSE(info.empty());
        int compared = 0;
        for (const KernelInfo& kernel : object->kernels) {
            std::string addresses;
            for (uint64_t pc = kernel.entry_address; pc < kernel.entry_address + kernel.code_size;
                 pc += 4)
                addresses.append(" ").append(std::to_string(pc));
            ASSERT_TRUE(shop.run(std::string(WJ_SYMBOLIZER) +
                                 " --no-inlines --functions=none --obj=in.co" + addresses));
            std::istringstream lines(shop.log());
            std::string line;
            for (uint64_t pc = kernel.entry_address; pc < kernel.entry_address + kernel.code_size;
                 pc += 4) {
                while (std::getline(lines, line) && line.empty()) {
                }
                auto here = info.find(pc);
                size_t column = line.rfind(':');
                std::string expected = line.substr(0, column);
                if (expected.ends_with(":0")) {  // the compiler gives no line: we give the nearest
                    EXPECT_TRUE(!here || here->approximate);
                    continue;
                }
                ASSERT_TRUE(here) << pc;
                EXPECT_EQ(here->text(), expected);
                EXPECT_EQ(here->column, std::stoul(line.substr(column + 1)));
                EXPECT_FALSE(here->approximate);
                compared++;
            }
            auto where = find_symbol_location(*object, kernel.entry_address + 8);
            ASSERT_TRUE(where);
            EXPECT_EQ(where->text(), kernel.name + "+0x8");
        }
        EXPECT_GT(compared, 10);
        EXPECT_FALSE(info.find(0));
        EXPECT_FALSE(info.find(~uint64_t{0}));
        EXPECT_FALSE(find_symbol_location(*object, ~uint64_t{0}));
    }
}

TEST(DebugInfo, AbsentIsEmpty) {
    Workshop shop;
    Buffer bytes = shop.assemble("s_endpgm\n", "gfx900");
    auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.is_ok());
    DebugInfo info = DebugInfo::read(*object);
    EXPECT_TRUE(info.empty());
    EXPECT_FALSE(info.find(0x1000));
}

}  // namespace
