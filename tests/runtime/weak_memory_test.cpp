// Contexts with weak_memory: missing fences show, and fences that are there hold.
#include <vector>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint32_t message_items = 32, exchange_items = 128;  // the first are one wave anywhere

class WeakMemoryTest : public Gpu {
protected:
    void SetUp() override { use(true); }
    void use(bool weak) {
        dispatch.reset();
        modules.clear();
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.memory_mode = GetParam().memory;
        o.deterministic = 1;
        o.weak_memory = weak;
        char error[512] = "";
        wj_context* c = nullptr;
        ASSERT_EQ(wj_context_create(&o, &c, error, sizeof error), WJ_OK) << error;
        context.reset(c);
        data = buffer(3 * 4096);
        flag = data + 4096, out = data + 2 * 4096;
    }
    // What the kernel's work-items have read.
    std::vector<uint32_t> read(const char* name, uint32_t groups, uint64_t seed) {
        const uint32_t items = groups == 1 ? exchange_items : message_items;
        std::memset(host<void>(data), 0, 3 * 4096);
        wj_argument arguments[] = {WJ_POINTER(data), WJ_POINTER(flag), WJ_POINTER(out)};
        wj_launch_options o = launch(arguments, {groups * items}, {items});
        o.schedule_seed = seed;
        EXPECT_EQ(run(kernel("weak", name), o), WJ_OK) << error();
        modules.clear();
        return {host<uint32_t>(out), host<uint32_t>(out) + items};
    }
    bool arrived(const char* name, uint32_t groups, uint64_t seed) {
        const std::vector<uint32_t> got = read(name, groups, seed);
        for (uint32_t i = 0; i < got.size(); i++)
            if (got[i] != 7 + (groups == 1 ? i ^ 64 : i)) return false;
        return true;
    }
    // Seeds of 1 to 200 under which a message does not arrive.
    uint32_t lost(const char* name, uint32_t groups) {
        uint32_t count = 0;
        for (uint64_t seed = 1; seed <= 200; seed++) count += !arrived(name, groups, seed);
        return count;
    }
    uint64_t data = 0, flag = 0, out = 0;
};

TEST_P(WeakMemoryTest, FencesHold) {
    EXPECT_EQ(lost("fenced", 2), 0u);
    EXPECT_EQ(lost("exchanged", 1), 0u);
}

TEST_P(WeakMemoryTest, MissingFencesShow) {
    EXPECT_GT(lost("no_release", 2), 0u);
    EXPECT_GT(lost("no_acquire", 2), 0u);
    // On one compute unit waves see each other's stores at once.
    const bool apart = std::string_view(GetParam().target).starts_with("gfx1");
    EXPECT_EQ(lost("not_exchanged", 1) > 0, apart);
}

TEST_P(WeakMemoryTest, SeedsReplay) {
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const auto first = read("no_release", 2, seed);
        EXPECT_EQ(read("no_release", 2, seed), first) << seed;
    }
}

TEST_P(WeakMemoryTest, OrdersAloneFindNone) {
    use(false);
    EXPECT_EQ(lost("no_release", 2), 0u);
    EXPECT_EQ(lost("no_acquire", 2), 0u);
}

TEST_P(WeakMemoryTest, NoSeedNothingUnderWay) {
    for (const char* name : {"no_release", "no_acquire"}) EXPECT_TRUE(arrived(name, 2, 0)) << name;
}

INSTANTIATE_TEST_SUITE_P(
    All, WeakMemoryTest, testing::ValuesIn([] {
        std::vector<Setup> all;
        for (const char* target : {"gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1201"})
            for (const wj_memory_mode mode :
                 {WJ_MEMORY_IDENTITY, WJ_MEMORY_CHECKED, WJ_MEMORY_WINDOW})
                all.push_back({target, WJ_ENGINE_INTERPRETER, mode});
        return all;
    }()),
    setup_name);

TEST(WeakMemory, IsOfDeterministicContexts) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.weak_memory = 1;
    char error[512] = "";
    wj_context* c = nullptr;
    EXPECT_EQ(wj_context_create(&o, &c, error, sizeof error), WJ_INVALID_ARGUMENT);
    EXPECT_TRUE(std::strstr(error, "deterministic")) << error;
}

}  // namespace
}  // namespace wj::test
