// Modules that use the symbols of modules loaded before them.
#include "tests/frontend/build_objects.h"
#include "tests/runtime/gpu.h"
#include "tests/runtime/link_source.h"

namespace wj::test {
namespace {

const char* const provider_source = R"(
.data
.globl answer
.type answer,@object
.size answer, 4
answer: .long 4711
)";

class Links : public Gpu {
protected:
    wj_status load(const char* source, wj_module** module) {
        const Buffer object = shop.assemble(source, GetParam().target);
        EXPECT_FALSE(object.empty()) << shop.log();
        return wj_module_load(context.get(), object.data(), object.size(), module);
    }
    Workshop shop;
};

TEST_P(Links, SymbolsOfModulesLoadedBefore) {
    wj_module *user = nullptr, *provider = nullptr;
    EXPECT_NE(load(asks_for_answer, &user), WJ_OK);
    EXPECT_TRUE(
        std::strstr(wj_last_error(context.get()), "symbol 'answer': the symbol is undefined"))
        << wj_last_error(context.get());
    ASSERT_EQ(load(provider_source, &provider), WJ_OK) << wj_last_error(context.get());
    ASSERT_EQ(load(asks_for_answer, &user), WJ_OK) << wj_last_error(context.get());
    const Module held(user);
    wj_module_unload(provider);  // its memory stays as long as the module that uses it
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_module_get_kernel(user, "ask", &k), WJ_OK);
    const uint64_t out = buffer(64);
    ASSERT_EQ(run(k, packed(out, 0)), WJ_OK);
    EXPECT_EQ(*host<uint32_t>(out), 4711u);
}

INSTANTIATE_TEST_SUITE_P(All, Links,
                         testing::Values(Setup{"gfx900", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx906", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx906", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
