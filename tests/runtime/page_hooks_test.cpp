// wj_memory_hook: pages whose accesses are calls.
#include <functional>
#include <mutex>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint64_t page = 4096, base = 0x5432'1000'0000, size = 4 * page;
constexpr uint32_t items = 128;  // two waves

struct Call {
    bool store;
    uint64_t offset;
    uint32_t bytes, value;
    bool operator==(const Call&) const = default;
};

// What was called, and a device: bytes that answer, or functions instead.
struct Device {
    std::vector<Call> calls;
    std::vector<uint8_t> bytes = std::vector<uint8_t>(size);
    std::function<uint32_t(uint64_t offset)> answer;
    uint64_t refused = ~uint64_t{0};  // accesses there are
    size_t patience = ~size_t{0};     // so many are taken, no more

    static int load(void* device, uint64_t address, uint32_t bytes, uint32_t* value) {
        auto& d = *static_cast<Device*>(device);
        const uint64_t offset = address - base;
        EXPECT_EQ(address % bytes, 0u);
        EXPECT_EQ(*value, 0u);
        if (offset == d.refused || d.calls.size() == d.patience) return 1;
        std::memcpy(value, &d.bytes[offset], bytes);
        if (d.answer) *value = d.answer(offset);
        d.calls.push_back({false, offset, bytes, *value});
        return 0;
    }
    static int store(void* device, uint64_t address, uint32_t bytes, uint32_t value) {
        auto& d = *static_cast<Device*>(device);
        const uint64_t offset = address - base;
        EXPECT_EQ(address % bytes, 0u);
        if (offset == d.refused || d.calls.size() == d.patience) return 1;
        std::memcpy(&d.bytes[offset], &value, bytes);
        d.calls.push_back({true, offset, bytes, value});
        return 0;
    }
    wj_page_hooks hooks() {
        wj_page_hooks h = WJ_INIT(wj_page_hooks);
        h.context = this;
        h.load = load;
        h.store = store;
        return h;
    }
};

class HooksTest : public Gpu {
protected:
    void SetUp() override {
        context = make_context(GetParam().target, GetParam().engine, 1, WJ_MEMORY_CHECKED);
        if (!context) GTEST_SKIP() << "this host cannot run the engine";
        for (uint64_t i = 0; i < size; i++) device.bytes[i] = static_cast<uint8_t>(i * 7 + 1);
        const wj_page_hooks h = device.hooks();
        ASSERT_EQ(wj_memory_hook(context.get(), base, size, &h), WJ_OK) << error();
        out = buffer(2 * page);
    }
    // A kernel of two pointers, and perhaps a number.
    wj_status call(const char* name, uint64_t from, uint64_t to, uint32_t grid = items) {
        wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to)};
        return run(kernel("page_hooks", name), launch(arguments, {grid}, {64}));
    }
    wj_status numbered(const char* name, uint64_t from, uint64_t to, uint32_t count) {
        wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to), WJ_POINTER(count)};
        return run(kernel("page_hooks", name), launch(arguments, {items}, {64}));
    }
    wj_status at(const char* name, uint64_t address, uint64_t stride = 4) {
        device.calls.clear();
        return run(kernel("asm", name), packed(address, stride));
    }
    uint32_t word(uint64_t offset) const {
        uint32_t w;
        std::memcpy(&w, &device.bytes[offset], 4);
        return w;
    }
    // What each lane's access is taken apart into, from lane 0 on.
    std::vector<Call> pieces(bool store, uint64_t at, uint64_t stride, uint32_t bytes,
                             uint32_t lanes = items) const {
        std::vector<Call> all;
        for (uint32_t lane = 0; lane < lanes; lane++)
            for (uint64_t o = at + lane * stride, end = o + bytes; o < end;) {
                const uint32_t n = o % 4 == 0 && end - o >= 4   ? 4
                                   : o % 2 == 0 && end - o >= 2 ? 2
                                                                : 1;
                uint32_t value = 0;
                std::memcpy(&value, &device.bytes[o], n);
                all.push_back({store, o, n, value});
                o += n;
            }
        return all;
    }

    Device device;
    uint64_t out = 0;
};

// A register that counts how often it is read.
TEST_P(HooksTest, ACounterIsReadLaneByLane) {
    uint32_t count = 0;
    device.answer = [&](uint64_t) { return count++; };
    ASSERT_EQ(call("take", base + 8, out), WJ_OK) << error();
    for (uint32_t i = 0; i < items; i++) EXPECT_EQ(host<uint32_t>(out)[i], i);
    EXPECT_EQ(count, items);
    EXPECT_EQ(device.calls.front(), (Call{false, 8, 4, 0}));
}

// A queue: what one kernel puts in another takes out, behind what the device does to it.
TEST_P(HooksTest, AQueueKeepsTheOrderOfLanes) {
    uint64_t fifo = base + page;
    uint32_t value = 1000;
    wj_argument arguments[] = {WJ_POINTER(fifo), WJ_POINTER(value)};
    ASSERT_EQ(run(kernel("page_hooks", "put"), launch(arguments, {items}, {64})), WJ_OK) << error();
    ASSERT_EQ(device.calls.size(), items);
    const std::vector<Call> put = device.calls;
    for (uint32_t i = 0; i < items; i++) EXPECT_EQ(put[i], (Call{true, page, 4, 1000 + i})) << i;
    size_t taken = 0;
    device.answer = [&](uint64_t) { return put[taken++].value * 2; };
    ASSERT_EQ(call("take", fifo, out), WJ_OK) << error();
    for (uint32_t i = 0; i < items; i++) EXPECT_EQ(host<uint32_t>(out)[i], 2000 + 2 * i);
}

// Volatile accesses of a wave: instruction by instruction in a loop.
TEST_P(HooksTest, LoopsTakeOneAfterTheOther) {
    uint32_t count = 0;
    device.answer = [&](uint64_t) { return count++ / 64 % 5; };
    ASSERT_EQ(numbered("take_several", base, out, 5), WJ_OK) << error();
    EXPECT_EQ(count, items * 5);
    for (uint32_t i = 0; i < items; i++) EXPECT_EQ(host<uint32_t>(out)[i], 1234u) << i;
}

TEST_P(HooksTest, VolatileAccessesOfALaneAreInTheOrderOfItsProgram) {
    uint32_t count = 0;
    device.answer = [&](uint64_t) { return ++count; };
    ASSERT_EQ(call("in_turns", base, out), WJ_OK) << error();
    ASSERT_EQ(device.calls.size(), 4 * items);
    for (uint32_t i = 0; i < items; i++) {
        const uint32_t first = host<uint32_t>(out)[i] >> 16,
                       second = host<uint32_t>(out)[i] & 0xffff;
        std::vector<Call> own;  // values are different
        for (const Call& c : device.calls)
            if (c.value == first || c.value == second) own.push_back(c);
        EXPECT_EQ(own, (std::vector<Call>{{false, 0, 4, first},
                                          {true, 4, 4, first},
                                          {false, 0, 4, second},
                                          {true, 8, 4, second}}))
            << i;
    }
}

TEST_P(HooksTest, ADeviceThatTakesItsTime) {
    uint32_t asked = 0, started = 0;
    device.answer = [&](uint64_t offset) -> uint32_t {
        if (offset == 4) return ++asked > 1000;
        return offset == 8 ? 77 : 0;
    };
    ASSERT_EQ(call("poll", base, out), WJ_OK) << error();
    for (const Call& c : device.calls) started += c.store;
    EXPECT_EQ(started, items);
    for (uint32_t i = 0; i < items; i++) ASSERT_EQ(host<uint32_t>(out)[i], 77u);
}

TEST_P(HooksTest, EverySizeIsTakenApartIntoDwords) {
    struct Size {
        const char* kernel;
        uint32_t bytes;
    };
    for (const Size s : {Size{"bytes", 1}, Size{"halves", 2}, Size{"words", 4}, Size{"pairs", 8},
                         Size{"triples", 12}, Size{"quads", 16}}) {
        device.calls.clear();
        std::memset(host<void>(out), 0, 2 * page);
        ASSERT_EQ(call(s.kernel, base, out), WJ_OK) << error();
        EXPECT_EQ(device.calls, pieces(false, 0, s.bytes, s.bytes)) << s.kernel;
        EXPECT_EQ(std::memcmp(host<void>(out), device.bytes.data(), items * s.bytes), 0)
            << s.kernel;
        device.calls.clear();
        ASSERT_EQ(call(s.kernel, out, base + 2 * page), WJ_OK) << error();
        EXPECT_EQ(device.calls, pieces(true, 2 * page, s.bytes, s.bytes)) << s.kernel;
        EXPECT_EQ(std::memcmp(host<void>(out), &device.bytes[2 * page], items * s.bytes), 0)
            << s.kernel;
    }
    // Compilers load neighbours as one: which bytes there are is all that is known.
    device.calls.clear();
    ASSERT_EQ(call("odd", base, out), WJ_OK) << error();
    EXPECT_EQ(std::memcmp(host<uint8_t>(out) + 1, device.bytes.data() + 1, items * 7), 0);
    uint64_t loaded = 0;
    for (const Call& c : device.calls) loaded += c.bytes;
    EXPECT_EQ(loaded, items * 7u);
}

TEST_P(HooksTest, EveryKindOfAccess) {
    for (const char* name : {"wide_store_at", "flat_store_at", "buffer_store_at", "store_at"}) {
        ASSERT_EQ(at(name, base + 64), WJ_OK) << name << error();
        EXPECT_EQ(device.calls, pieces(true, 64, 4, 4, 64)) << name;
        EXPECT_EQ(word(64 + 4 * 63), 63u) << name;
    }
    ASSERT_EQ(at("wide_loads_at", base, 8), WJ_OK) << error();
    EXPECT_EQ(device.calls, pieces(false, 0, 8, 8, 64));
    for (const char* name : {"scalar_load_at", "scalar_buffer_load_at"}) {
        ASSERT_EQ(at(name, base + 16), WJ_OK) << name << error();
        EXPECT_EQ(device.calls, pieces(false, 16, 0, 16, 1)) << name;
    }
    device.calls.clear();
    ASSERT_EQ(call("uniform_words", base + 4, out, 64), WJ_OK) << error();
    EXPECT_EQ(device.calls, pieces(false, 4, 0, 28, 1));
}

// Each is its load and its store, lane by lane.
TEST_P(HooksTest, Atomics) {
    uint32_t sum = 5;
    std::memcpy(&device.bytes[32], &sum, 4);
    ASSERT_EQ(call("add", base + 32, out), WJ_OK) << error();
    ASSERT_EQ(device.calls.size(), 2 * items);
    for (uint32_t i = 0; i < items; sum += ++i) {
        EXPECT_EQ(device.calls[2 * i], (Call{false, 32, 4, sum}));
        EXPECT_EQ(device.calls[2 * i + 1], (Call{true, 32, 4, sum + i + 1}));
        EXPECT_EQ(host<uint32_t>(out)[i], sum);
    }
    EXPECT_EQ(word(32), sum);
    for (const char* name : {"atomic_at", "buffer_atomic_at"}) {
        const uint32_t before = word(64 + 20);
        ASSERT_EQ(at(name, base + 64), WJ_OK) << name << error();
        EXPECT_EQ(device.calls.size(), 128u) << name;
        EXPECT_EQ(word(64 + 20), before + 5) << name;
    }
    uint64_t counter = base + 32;
    wj_argument arguments[] = {WJ_POINTER(counter)};
    ASSERT_EQ(run(kernel("page_hooks", "add_unread"), launch(arguments, {items}, {64})), WJ_OK);
    EXPECT_EQ(word(32), sum + items * (items + 1) / 2);
    // 64 bits: two calls each way.
    device.calls.clear();
    ASSERT_EQ(call("exchange", base + 8, out), WJ_OK) << error();
    ASSERT_EQ(device.calls.size(), 4 * items);
    EXPECT_EQ(device.calls[4], (Call{false, 8, 4, 7}));
    EXPECT_EQ(device.calls[5], (Call{false, 12, 4, 0}));
    EXPECT_EQ(device.calls[6], (Call{true, 8, 4, 7}));
    EXPECT_EQ(device.calls[7], (Call{true, 12, 4, 1}));
    EXPECT_EQ(host<uint64_t>(out)[items - 1], uint64_t{items - 2} << 32 | 7);
    // Compare and swap stores, whatever it finds.
    device.calls.clear();
    std::memset(&device.bytes[16], 0, 4);
    ASSERT_EQ(call("exchange_if", base + 16, out), WJ_OK) << error();
    EXPECT_EQ(word(16), items);
    EXPECT_EQ(device.calls.size(), 2 * items);
}

TEST_P(HooksTest, Refusals) {
    device.refused = 20;
    for (const char* name : {"wide_load_at", "wide_store_at", "atomic_at", "buffer_store_at"}) {
        EXPECT_EQ(at(name, base), WJ_GUEST_FAULT) << name;
        EXPECT_EQ(fault.address, base + 20) << name;
        EXPECT_EQ(fault.lane_mask, uint64_t{1} << 5) << name << fault.report;
        EXPECT_NE(std::string(fault.report).find("the hook of these pages refuses it"),
                  std::string::npos)
            << fault.report;
        EXPECT_NE(std::string(fault.memory).find("20 bytes into hooked pages"), std::string::npos)
            << fault.memory;
        const bool atomic = !std::strcmp(name, "atomic_at");
        EXPECT_EQ(device.calls.size(), atomic ? 10u : 5u) << name << ": nothing behind it";
    }
    // In the middle of an access, and in a scalar one.
    EXPECT_EQ(at("wide_loads_at", base, 8), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, base + 20) << fault.report;
    EXPECT_EQ(fault.lane_mask, 4u) << fault.report;
    EXPECT_EQ(at("scalar_load_at", base + 8), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, base + 20);
    EXPECT_EQ(device.calls.size(), 3u);
    // The context goes on; some reads of one place, and no more.
    device.refused = ~uint64_t{0};
    device.patience = 3;
    device.calls.clear();
    EXPECT_EQ(call("take", base, out), WJ_GUEST_FAULT);
    EXPECT_EQ(device.calls.size(), 3u);
    device.patience = ~size_t{0};
    EXPECT_EQ(call("take", base, out), WJ_OK) << error();
}

TEST_P(HooksTest, RightsAreThoseOfTheFunctions) {
    ASSERT_EQ(wj_memory_unregister(context.get(), base), WJ_OK) << error();
    wj_page_hooks h = device.hooks();
    h.store = nullptr;
    ASSERT_EQ(wj_memory_hook(context.get(), base, size, &h), WJ_OK) << error();
    EXPECT_EQ(at("wide_load_at", base), WJ_OK) << error();
    for (const char* name : {"wide_store_at", "atomic_at"}) {
        EXPECT_EQ(at(name, base), WJ_GUEST_FAULT) << name;
        EXPECT_EQ(fault.address, base);
        EXPECT_EQ(fault.lane_mask, ~uint64_t{0}) << fault.report;
        EXPECT_NE(std::string(fault.memory).find("which have no hook for stores"),
                  std::string::npos)
            << fault.memory;
        EXPECT_TRUE(device.calls.empty());
    }
    ASSERT_EQ(wj_memory_unregister(context.get(), base), WJ_OK) << error();
    EXPECT_EQ(at("wide_load_at", base), WJ_GUEST_FAULT);
    EXPECT_EQ(wj_memory_unregister(context.get(), base), WJ_INVALID_ARGUMENT);
}

// Pages beside each other: memory, hooked ones, memory. Accesses may lie in two of them.
TEST_P(HooksTest, BesideMemory) {
    alignas(4096) static uint8_t before[page], behind[page];
    const uint32_t all = WJ_READ | WJ_WRITE;
    ASSERT_EQ(wj_memory_map(context.get(), base - page, before, page, all), WJ_OK) << error();
    ASSERT_EQ(wj_memory_map(context.get(), base + size, behind, page, all), WJ_OK) << error();
    std::memset(before, 9, page);
    std::memset(behind, 8, page);
    ASSERT_EQ(call("words", base - 128, out, 64), WJ_OK) << error();
    EXPECT_EQ(device.calls, pieces(false, 0, 4, 4, 32));
    EXPECT_EQ(host<uint32_t>(out)[31], 0x09090909u);
    device.calls.clear();
    ASSERT_EQ(call("quads", base + size - 8, out, 1), WJ_OK) << error();
    EXPECT_EQ(device.calls, pieces(false, size - 8, 8, 8, 1));
    EXPECT_EQ(host<uint32_t>(out)[2], 0x08080808u);
    device.calls.clear();
    ASSERT_EQ(call("quads", out, base - 4, 1), WJ_OK) << error();
    EXPECT_EQ(device.calls, pieces(true, 0, 12, 12, 1));
}

TEST_P(HooksTest, WhatCannotBeIsRefused) {
    const wj_page_hooks good = device.hooks();
    wj_page_hooks none = good;
    none.load = nullptr, none.store = nullptr;
    const auto hook = [&](uint64_t address, uint64_t bytes, const wj_page_hooks* h) {
        return wj_memory_hook(context.get(), address, bytes, h);
    };
    const uint64_t other = base + (uint64_t{1} << 32);
    EXPECT_EQ(hook(base + 2 * page, page, &good), WJ_INVALID_ARGUMENT) << "hooked already";
    EXPECT_EQ(hook(base, size, &good), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("is mapped already"), std::string::npos) << error();
    EXPECT_EQ(hook(out, page, &good), WJ_INVALID_ARGUMENT) << "allocated";
    EXPECT_EQ(hook(other + 8, page, &good), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("whole pages"), std::string::npos) << error();
    EXPECT_EQ(hook(other, 100, &good), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(hook(other, 0, &good), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(hook(uint64_t{1} << 48, page, &good), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(hook(other, page, &none), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(hook(other, page, nullptr), WJ_INVALID_ARGUMENT);
    const Context identity = make_context(GetParam().target, GetParam().engine);
    EXPECT_EQ(wj_memory_hook(identity.get(), other, page, &good), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(wj_last_error(identity.get())).find("checked"), std::string::npos);
    // They are no memory of the device.
    uint32_t word = 0;
    void* pointer = nullptr;
    EXPECT_EQ(wj_memory_read(context.get(), &word, base, 4), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("hooked pages"), std::string::npos) << error();
    EXPECT_EQ(wj_memory_write(context.get(), base, &word, 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_host_pointer(context.get(), base, 4, WJ_READ, &pointer),
              WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_protect(context.get(), base, page, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_TRUE(device.calls.empty());
}

// Snapshots and clones: hooks are no part of them; each context has its own device.
TEST_P(HooksTest, OtherContexts) {
    wj_snapshot_options options = WJ_INIT(wj_snapshot_options);
    options.registered_memory = 1;
    wj_snapshot snapshot = 0;
    ASSERT_EQ(wj_snapshot_take(context.get(), &options, &snapshot), WJ_OK) << error();
    ASSERT_EQ(at("wide_store_at", base), WJ_OK) << error();
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_clone(context.get(), &made), WJ_OK) << error();
    const Context clone(made);
    Device second;
    const wj_page_hooks h = second.hooks();
    ASSERT_EQ(wj_memory_hook(made, base, size, &h), WJ_OK) << wj_last_error(made);
    wj_module* m = nullptr;
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_context_get_module(made, modules.back().get(), &m), WJ_OK);
    ASSERT_EQ(wj_module_get_kernel(m, "wide_store_at", &k), WJ_OK);
    device.calls.clear();
    const wj_launch_options o = packed(base + 64, 4);
    ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << wj_last_error(made);
    EXPECT_EQ(second.calls.size(), 64u);
    EXPECT_TRUE(device.calls.empty());
    ASSERT_EQ(wj_memory_unregister(context.get(), base), WJ_OK) << error();
    ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << wj_last_error(made);
    EXPECT_EQ(wj_snapshot_restore(context.get(), snapshot, nullptr), WJ_OK) << error();
}

// Hooks are called with the program's way of rounding, and may use the context's memory.
TEST_P(HooksTest, WhatHooksMayDo) {
    device.answer = [&](uint64_t) {
        const uint32_t got = 5;
        EXPECT_EQ(wj_memory_write(context.get(), out + page, &got, 4), WJ_OK);
        EXPECT_EQ(wj_memory_read(context.get(), &device.bytes[0], out + page, 4), WJ_OK);
        return got;
    };
    ASSERT_EQ(call("take", base, out), WJ_OK) << error();
    EXPECT_EQ(*host<uint32_t>(out + page), 5u);
}

// One access at a time, from all threads.
TEST_P(HooksTest, ThreadsTakeTurns) {
    dispatch.reset();
    modules.clear();
    context = make_context(GetParam().target, GetParam().engine, 4, WJ_MEMORY_CHECKED);
    const wj_page_hooks h = device.hooks();
    ASSERT_EQ(wj_memory_hook(context.get(), base, size, &h), WJ_OK) << error();
    out = buffer(64 * 1024);
    const uint32_t before = 7;
    std::memcpy(&device.bytes[0], &before, 4);
    ASSERT_EQ(call("add", base, out, 8192), WJ_OK) << error();
    EXPECT_EQ(word(0), before + 8192u * 8193 / 2);
    ASSERT_EQ(device.calls.size(), 2 * 8192u);
    for (size_t i = 0; i < device.calls.size(); i += 2) {
        EXPECT_FALSE(device.calls[i].store);
        EXPECT_TRUE(device.calls[i + 1].store);
    }
}

INSTANTIATE_TEST_SUITE_P(All, HooksTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx906", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
