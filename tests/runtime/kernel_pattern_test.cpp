// Patterns for kernels. What symbols stand for is c++filt's word (Itanium C++ ABI, 5.1).
#include "runtime/kernel_pattern.h"

#include <gtest/gtest.h>

namespace wj::runtime {
namespace {

TEST(KernelPattern, SymbolsAndWhatTheyStandFor) {
    const std::string scale = "_Z5scalefPfm", sum = "_Z3sumIfLi4EEvPT_",
                      hidden = "_ZN12_GLOBAL__N_15innerEPi", member = "_ZN2ns4copyEPKfPf";
    EXPECT_EQ(readable_name(scale), "scale(float, float*, unsigned long)");
    EXPECT_EQ(readable_name("saxpy"), "saxpy");
    EXPECT_EQ(readable_name("_Zwrong"), "_Zwrong");
    for (const char* pattern : {"scale", "scale*", "s?ale", "scale(float, *", "_Z5scale*", "*"})
        EXPECT_TRUE(kernel_fits(pattern, scale)) << pattern;
    for (const char* pattern : {"scal", "5scale*", "scaler*", "float", "Scale"})
        EXPECT_FALSE(kernel_fits(pattern, scale)) << pattern;
    for (const char* pattern : {"sum<*>", "sum*", "void sum<float, 4>(float*)", "sum<float, 4>"})
        EXPECT_TRUE(kernel_fits(pattern, sum)) << pattern;
    EXPECT_FALSE(kernel_fits("sum", sum));
    EXPECT_TRUE(kernel_fits("*::inner", hidden));
    EXPECT_TRUE(kernel_fits("ns::copy", member));
    EXPECT_FALSE(kernel_fits("copy", member));
    EXPECT_TRUE(kernel_fits("sax*", "saxpy"));
    EXPECT_FALSE(kernel_fits("sax", "saxpy"));
}

}  // namespace
}  // namespace wj::runtime
