// Contexts with the same contents.
#include <atomic>
#include <fstream>
#include <thread>

#include "tests/frontend/build_objects.h"
#include "tests/runtime/gpu.h"
#include "tests/runtime/link_source.h"

namespace wj::test {
namespace {

constexpr uint64_t page = 4096;

class CloneTest : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        if (context && GetParam().memory != WJ_MEMORY_CHECKED)
            GTEST_SKIP() << "only contexts with checked memory are cloned";
    }
    static Context clone(const Context& from) {
        wj_context* made = nullptr;
        EXPECT_EQ(wj_context_clone(from.get(), &made), WJ_OK) << wj_last_error(from.get());
        return Context(made);
    }
    // The kernel of that name in the module that `of` is there.
    static wj_kernel* kernel_in(const Context& there, wj_module* of, const char* name) {
        wj_module* m = nullptr;
        wj_kernel* k = nullptr;
        EXPECT_EQ(wj_context_get_module(there.get(), of, &m), WJ_OK) << wj_last_error(there.get());
        EXPECT_EQ(wj_module_get_kernel(m, name, &k), WJ_OK) << wj_last_error(there.get());
        return k;
    }
    static std::vector<uint8_t> bytes(const Context& from, uint64_t address, uint64_t size) {
        std::vector<uint8_t> out(size);
        EXPECT_EQ(wj_memory_read(from.get(), out.data(), address, size), WJ_OK)
            << wj_last_error(from.get());
        return out;
    }
    // Lane l stores l to address + l * stride.
    wj_status store(wj_kernel* k, uint64_t address, uint64_t stride) {
        const wj_launch_options o = packed(address, stride);
        return wj_launch(k, &o, nullptr);
    }
    static std::vector<uint8_t> stored(std::vector<uint8_t> before, uint64_t stride) {
        for (uint32_t lane = 0; lane < 64; lane++) std::memcpy(&before[lane * stride], &lane, 4);
        return before;
    }
};

TEST_P(CloneTest, WhatOneWritesTheOtherDoesNotSee) {
    const uint64_t small = 64 * 4, large = 64 * page;
    const uint64_t a = buffer(small, 0x11), b = buffer(large, 0x22);
    wj_kernel* const here = kernel("asm", "store_at");
    const auto a0 = bytes(context, a, small), b0 = bytes(context, b, large);
    const Context other = clone(context);
    ASSERT_TRUE(other);
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    EXPECT_EQ(bytes(other, a, small), a0);
    EXPECT_EQ(bytes(other, b, large), b0);
    ASSERT_EQ(store(there, a, 4), WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(bytes(other, a, small), stored(a0, 4));
    EXPECT_EQ(bytes(context, a, small), a0);
    ASSERT_EQ(store(here, b, page), WJ_OK) << error();
    EXPECT_EQ(bytes(context, b, large), stored(b0, page));
    EXPECT_EQ(bytes(other, b, large), b0);
    // By the host, too, and where the bytes are.
    const uint32_t word = 0xabcdef01;
    ASSERT_EQ(wj_memory_write(other.get(), b + 8, &word, 4), WJ_OK);
    EXPECT_EQ(bytes(context, b, large), stored(b0, page));
    void* pointer = nullptr;
    ASSERT_EQ(wj_memory_host_pointer(other.get(), b + 8, 4, WJ_READ, &pointer), WJ_OK);
    EXPECT_EQ(*static_cast<uint32_t*>(pointer), word);
    EXPECT_NE(pointer, host<void>(b + 8));
}

// Clones share what has been made of the code, and go while another context is inside.
TEST_P(CloneTest, OneGoesWhileAnotherRuns) {
    const uint64_t a = buffer(64 * 4);
    wj_kernel* const here = kernel("asm", "store_at");
    ASSERT_EQ(store(here, a, 4), WJ_OK) << error();
    std::vector<Context> clones;
    for (int i = 0; i < 20; i++) clones.push_back(clone(context));
    const auto before = bytes(context, a, 64 * 4);
    std::atomic<bool> gone = false;
    std::thread runner([&] {
        while (!gone) EXPECT_EQ(store(here, a, 4), WJ_OK) << error();
    });
    for (Context& one : clones) one.reset();
    gone = true;
    runner.join();
    EXPECT_EQ(bytes(context, a, 64 * 4), before);
}

TEST_P(CloneTest, NothingIsTranslatedAgain) {
    const uint64_t a = buffer(64 * 4);
    wj_kernel* const here = kernel("asm", "store_at");
    for (int i = 0; i < 8; i++) ASSERT_EQ(store(here, a, 4), WJ_OK) << error();
    const Context other = clone(context);
    const auto translated = [](const Context& c) {
        wj_counters counters = WJ_INIT(wj_counters);
        EXPECT_EQ(wj_context_get_counters(c.get(), &counters), WJ_OK);
        return counters.blocks_translated;
    };
    const uint64_t before = translated(other);
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    for (int i = 0; i < 8; i++) ASSERT_EQ(store(there, a, 4), WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(translated(other), before);
}

TEST_P(CloneTest, VariablesOfModules) {
    wj_kernel* const here = kernel("asm", "store_at");
    uint64_t at = 0;
    ASSERT_EQ(wj_module_get_variable(modules[0].get(), "named_constant", &at, nullptr), WJ_OK);
    const uint32_t changed = 78;
    ASSERT_EQ(wj_memory_write(context.get(), at, &changed, 4), WJ_OK) << error();
    const Context other = clone(context);
    wj_module* module = nullptr;
    ASSERT_EQ(wj_context_get_module(other.get(), modules[0].get(), &module), WJ_OK);
    uint64_t at_there = 0;
    ASSERT_EQ(wj_module_get_variable(module, "named_constant", &at_there, nullptr), WJ_OK);
    EXPECT_EQ(at_there, at);
    EXPECT_EQ(bytes(other, at, 4), bytes(context, at, 4));
    // Lane 0 of each stores 0.
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    ASSERT_EQ(store(there, at, 0), WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(bytes(context, at, 4), (std::vector<uint8_t>{78, 0, 0, 0}));
    ASSERT_EQ(store(here, at, 0), WJ_OK) << error();
    // Code stays what it is.
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(there, &info), WJ_OK);
    EXPECT_EQ(store(there, info.entry, 0), WJ_GUEST_FAULT);
    EXPECT_EQ(wj_memory_write(other.get(), info.entry, &changed, 4), WJ_INVALID_ARGUMENT);
}

TEST_P(CloneTest, FaultsAreExactThere) {
    const uint64_t a = buffer(64 * 4 - 8);
    kernel("asm", "store_at");
    const Context other = clone(context);
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    ASSERT_EQ(run(there, packed(a, 4)), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, a + 62 * 4);
    EXPECT_EQ(fault.lane_mask, uint64_t{3} << 62);
    EXPECT_TRUE(std::strstr(fault.memory, "allocation")) << fault.memory;
    EXPECT_EQ(bytes(context, a, 4), std::vector<uint8_t>(4));
    dispatch.reset();
}

TEST_P(CloneTest, SnapshotsBelongToOneContext) {
    const uint64_t a = buffer(64 * page, 0x33);
    kernel("asm", "store_at");
    wj_snapshot_options marked = WJ_INIT(wj_snapshot_options);
    marked.only_marked_writes = 1;
    wj_snapshot of_base = 0, of_clone = 0;
    ASSERT_EQ(wj_snapshot_take(context.get(), &marked, &of_base), WJ_OK);
    const Context other = clone(context);
    EXPECT_EQ(wj_snapshot_restore(other.get(), of_base, nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_TRUE(std::strstr(wj_last_error(other.get()), "none of this context's"))
        << wj_last_error(other.get());
    EXPECT_EQ(wj_snapshot_release(other.get(), of_base), WJ_INVALID_ARGUMENT);
    const auto before = bytes(other, a, 64 * page);
    ASSERT_EQ(wj_snapshot_take(other.get(), &marked, &of_clone), WJ_OK);
    EXPECT_EQ(wj_snapshot_restore(context.get(), of_clone, nullptr), WJ_INVALID_ARGUMENT);
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    for (const uint64_t stride : {uint64_t{4}, page}) {
        ASSERT_EQ(store(there, a, stride), WJ_OK) << wj_last_error(other.get());
        ASSERT_NE(bytes(other, a, 64 * page), before);
        uint64_t freed = 0;
        ASSERT_EQ(wj_memory_allocate(other.get(), 100, &freed), WJ_OK);
        wj_restore_info info = WJ_INIT(wj_restore_info);
        ASSERT_EQ(wj_snapshot_restore(other.get(), of_clone, &info), WJ_OK);
        EXPECT_EQ(info.pages_copied, stride == 4 ? 1u : 64u);
        EXPECT_EQ(info.allocations_freed, 1u);
        EXPECT_EQ(bytes(other, a, 64 * page), before);
    }
    // What has been freed there comes back to its address.
    ASSERT_EQ(wj_memory_free(other.get(), a), WJ_OK);
    ASSERT_EQ(wj_snapshot_restore(other.get(), of_clone, nullptr), WJ_OK);
    EXPECT_EQ(bytes(other, a, 64 * page), before);
}

TEST_P(CloneTest, NotWhileSomethingRuns) {
    const wj_launch_options o = unlimited(packed(0, 0));
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(kernel("asm", "endless"), &o, &d), WJ_OK) << error();
    wj_context* made = nullptr;
    EXPECT_EQ(wj_context_clone(context.get(), &made), WJ_NOT_READY);
    EXPECT_EQ(made, nullptr);
    EXPECT_NE(error().find("while no dispatch runs"), std::string::npos) << error();
    wj_dispatch_cancel(d);
    wj_dispatch_release(d);
    EXPECT_TRUE(clone(context));
}

TEST_P(CloneTest, RegisteredMemoryIsRefused) {
    std::vector<uint8_t> mine(1000);
    uint64_t address = 0;
    ASSERT_EQ(wj_memory_register(context.get(), mine.data(), mine.size(), WJ_READ, &address),
              WJ_OK);
    wj_context* made = nullptr;
    EXPECT_EQ(wj_context_clone(context.get(), &made), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("registered host memory, 1000 bytes"), std::string::npos) << error();
    ASSERT_EQ(wj_memory_unregister(context.get(), address), WJ_OK);
    EXPECT_TRUE(clone(context));
    EXPECT_EQ(wj_context_clone(context.get(), nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_context_clone(nullptr, &made), WJ_INVALID_ARGUMENT);
}

TEST_P(CloneTest, ModulesOfOthersAreNotThere) {
    kernel("asm", "store_at");
    const Context other = clone(context),
                  unrelated =
                      make_context(GetParam().target, GetParam().engine, 1, WJ_MEMORY_CHECKED);
    kernel("ids", "copy");  // behind the clone
    wj_module* m = nullptr;
    EXPECT_EQ(wj_context_get_module(unrelated.get(), modules[0].get(), &m), WJ_NOT_FOUND);
    EXPECT_EQ(wj_context_get_module(other.get(), modules[1].get(), &m), WJ_NOT_FOUND);
    EXPECT_EQ(m, nullptr);
    EXPECT_EQ(wj_context_get_module(context.get(), modules[0].get(), &m), WJ_OK);
    EXPECT_EQ(m, modules[0].get());
    // From the clone back, to a clone of it, and no more where it was unloaded.
    wj_module *there = nullptr, *back = nullptr;
    ASSERT_EQ(wj_context_get_module(other.get(), modules[0].get(), &there), WJ_OK);
    EXPECT_NE(there, modules[0].get());
    EXPECT_EQ(wj_context_get_module(context.get(), there, &back), WJ_OK);
    EXPECT_EQ(back, modules[0].get());
    const Context third = clone(other);
    EXPECT_EQ(wj_context_get_module(third.get(), modules[0].get(), &m), WJ_OK);
    wj_module_unload(there);
    EXPECT_EQ(wj_context_get_module(other.get(), modules[0].get(), &m), WJ_NOT_FOUND);
    EXPECT_EQ(wj_context_get_module(third.get(), modules[0].get(), &m), WJ_OK);
}

// Each may end first; then, and behind the unloading of a module in one, others are where new
// memory is, and run the right code.
TEST_P(CloneTest, OneOutlivesTheOther) {
    const uint64_t a = buffer(64 * 4, 0x44);
    ASSERT_EQ(store(kernel("asm", "store_at"), a, 4), WJ_OK) << error();
    const auto before = bytes(context, a, 64 * 4);
    const Context other = clone(context);
    wj_kernel* const there = kernel_in(other, modules[0].get(), "store_at");
    modules.clear();
    ASSERT_EQ(wj_memory_free(context.get(), a), WJ_OK);
    std::vector<std::pair<uint64_t, uint64_t>> made;
    for (int i = 0; i < 50; i++) made.emplace_back(buffer(64 * 4, 0x55), 64 * 4);
    for (int i = 0; i < 5; i++) {
        wj_kernel_info info = WJ_INIT(wj_kernel_info);
        ASSERT_EQ(wj_kernel_get_info(kernel("ids", "copy"), &info), WJ_OK);
        made.emplace_back(info.entry & ~(page - 1), page);
    }
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(there, &info), WJ_OK);
    for (const auto& [address, size] : made) {
        EXPECT_TRUE(address + size <= a || a + 64 * 4 <= address);
        EXPECT_FALSE(address <= info.entry && info.entry < address + size);
    }
    EXPECT_EQ(bytes(other, a, 64 * 4), before);
    modules.clear();
    context.reset();
    ASSERT_EQ(store(there, a, 4), WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(bytes(other, a, 64 * 4), before);
    wj_module* own = nullptr;
    ASSERT_EQ(wj_module_load_file(other.get(), kernel_file("ids", GetParam().target).c_str(), &own),
              WJ_OK)
        << wj_last_error(other.get());
    const Module held(own);
    wj_kernel* copy = nullptr;
    ASSERT_EQ(wj_module_get_kernel(own, "copy", &copy), WJ_OK);
    uint64_t to = 0, from = a;
    ASSERT_EQ(wj_memory_allocate(other.get(), 64 * 4, &to), WJ_OK);
    wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to)};
    const wj_launch_options o = launch(arguments, {64}, {64});
    ASSERT_EQ(wj_launch(copy, &o, nullptr), WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(bytes(other, to, 64 * 4), before);
}

TEST_P(CloneTest, AThreadForEach) {
    constexpr uint32_t count = 3, rounds = 300;
    const uint64_t a = buffer(64 * page, 0x66);
    kernel("asm", "store_at");
    const auto before = bytes(context, a, 64 * page);
    std::vector<Context> clones;
    for (uint32_t i = 0; i < count; i++) clones.push_back(clone(context));
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            wj_kernel* const k = kernel_in(clones[i], modules[0].get(), "store_at");
            const uint64_t values[] = {a, 4 * (i + 1)};
            wj_launch_options o = WJ_INIT(wj_launch_options);
            o.grid[0] = o.block[0] = 64;
            o.packed_arguments = values;
            o.packed_size = sizeof values;
            wj_prepared* p = nullptr;
            ASSERT_EQ(wj_launch_prepare(k, &o, &p), WJ_OK);
            for (uint32_t n = 0; n < rounds; n++) ASSERT_EQ(wj_prepared_launch(p, nullptr), WJ_OK);
            wj_prepared_release(p);
        });
    for (std::thread& t : threads) t.join();
    for (uint32_t i = 0; i < count; i++)
        EXPECT_EQ(bytes(clones[i], a, 64 * page), stored(before, 4 * (i + 1)));
    EXPECT_EQ(bytes(context, a, 64 * page), before);
}

TEST_P(CloneTest, NothingIsLeftOfThem) {
    const auto mappings = [] {
        std::ifstream maps("/proc/self/maps");
        std::string line;
        int count = 0;
        while (std::getline(maps, line)) count++;
        return count;
    };
    const uint64_t a = buffer(64 * 4);
    kernel("asm", "store_at");
    const auto use = [&] {
        const Context other = clone(context);
        ASSERT_EQ(store(kernel_in(other, modules[0].get(), "store_at"), a, 4), WJ_OK);
        const Context another = clone(other);
    };
    for (int i = 0; i < 3; i++) use();
    const int before = mappings();
    for (int i = 0; i < 50; i++) use();
    EXPECT_LT(mappings(), before + 20);
}

WJ_SETUPS(CloneTest);

TEST(Clone, NotWithIdentityMemory) {
    const Context context = make_context("gfx90a", WJ_ENGINE_INTERPRETER);
    wj_context* made = nullptr;
    EXPECT_EQ(wj_context_clone(context.get(), &made), WJ_INVALID_ARGUMENT);
    EXPECT_TRUE(std::strstr(wj_last_error(context.get()), "WJ_MEMORY_CHECKED"))
        << wj_last_error(context.get());
}

// A module that refers to another one's variable, which the program has unloaded since.
TEST(Clone, ModulesThatUseOthers) {
    Workshop shop;
    const Context context = make_context("gfx906", WJ_ENGINE_INTERPRETER, 1, WJ_MEMORY_CHECKED);
    const auto load = [&](const char* source) {
        const Buffer object = shop.assemble(source, "gfx906");
        EXPECT_FALSE(object.empty()) << shop.log();
        wj_module* m = nullptr;
        EXPECT_EQ(wj_module_load(context.get(), object.data(), object.size(), &m), WJ_OK)
            << wj_last_error(context.get());
        return Module(m);
    };
    Module provider = load(
        ".data\n.globl answer\n.type answer,@object\n.size answer, 4\n"
        "answer: .long 4711\n");
    const Module user = load(asks_for_answer);
    provider.reset();
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_clone(context.get(), &made), WJ_OK) << wj_last_error(context.get());
    const Context other(made);
    wj_module* there = nullptr;
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_context_get_module(made, user.get(), &there), WJ_OK);
    ASSERT_EQ(wj_module_get_kernel(there, "ask", &k), WJ_OK);
    uint64_t out[2] = {};
    ASSERT_EQ(wj_memory_allocate(made, 64, &out[0]), WJ_OK);
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.packed_arguments = out;
    o.packed_size = sizeof out;
    ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << wj_last_error(made);
    uint32_t answer = 0;
    ASSERT_EQ(wj_memory_read(made, &answer, out[0], 4), WJ_OK);
    EXPECT_EQ(answer, 4711u);
}

}  // namespace
}  // namespace wj::test
