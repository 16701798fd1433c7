// What may be called within callbacks: every function of the interface, within each of them.
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "tests/runtime/stops.h"

namespace wj::test {
namespace {

constexpr uint64_t device = 0x5432'1000'0000, page = 4096;

struct Call {
    const char* name;
    bool allowed;
    std::function<wj_status()> make;
};

// What the functions are called with.
struct Handles {
    wj_context* context = nullptr;
    wj_module* module = nullptr;
    wj_kernel* kernel = nullptr;
    wj_dispatch* ended = nullptr;
    wj_prepared* prepared = nullptr;
    wj_wave* wave = nullptr;  // of hooks
    uint64_t memory = 0;
    wj_snapshot snapshot = 0;
    wj_launch_options launch = WJ_INIT(wj_launch_options);
};

template <class T>
T info() {
    T made{};
    made.size = sizeof(T);
    return made;
}

// Functions without a status.
template <class F>
wj_status quiet(F f) {
    f();
    return WJ_INVALID_ARGUMENT;
}

std::vector<Call> calls_of_memory(Handles& h) {
    static uint64_t number;
    alignas(page) static uint8_t bytes[page];
    static void* pointer;
    const auto c = h.context;
    return {
        {"wj_memory_allocate", false, [=] { return wj_memory_allocate(c, 64, &number); }},
        {"wj_memory_free", false, [=, &h] { return wj_memory_free(c, h.memory); }},
        {"wj_memory_register", false,
         [=] { return wj_memory_register(c, bytes, page, WJ_READ, &number); }},
        {"wj_memory_map", false,
         [=] { return wj_memory_map(c, device + 8 * page, bytes, page, WJ_READ); }},
        {"wj_memory_unregister", false, [=] { return wj_memory_unregister(c, device); }},
        {"wj_memory_protect", false,
         [=, &h] { return wj_memory_protect(c, h.memory, page, WJ_READ); }},
        {"wj_memory_hook", false,
         [=] {
             auto hooks = info<wj_page_hooks>();
             hooks.load = [](void*, uint64_t, uint32_t, uint32_t*) { return 1; };
             return wj_memory_hook(c, device + 16 * page, page, &hooks);
         }},
        {"wj_memory_write", true, [=, &h] { return wj_memory_write(c, h.memory, bytes, 4); }},
        {"wj_memory_read", true, [=, &h] { return wj_memory_read(c, bytes, h.memory, 4); }},
        {"wj_memory_copy", true, [=, &h] { return wj_memory_copy(c, h.memory, h.memory + 64, 4); }},
        {"wj_memory_fill", true, [=, &h] { return wj_memory_fill(c, h.memory, bytes, 4, 8); }},
        {"wj_memory_host_pointer", true,
         [=, &h] { return wj_memory_host_pointer(c, h.memory, 4, WJ_READ, &pointer); }},
        {"wj_memory_mark_written", true,
         [=, &h] { return wj_memory_mark_written(c, h.memory, 4); }},
        {"wj_snapshot_take", false, [=, &h] { return wj_snapshot_take(c, nullptr, &h.snapshot); }},
        {"wj_snapshot_restore", false,
         [=, &h] { return wj_snapshot_restore(c, h.snapshot, nullptr); }},
        {"wj_snapshot_release", false, [=, &h] { return wj_snapshot_release(c, h.snapshot); }},
    };
}

std::vector<Call> calls_of_contexts(Handles& h) {
    static wj_context* other;
    static wj_module* module;
    static char text[64];
    const auto c = h.context;
    const auto created = [](wj_status status) {
        if (status == WJ_OK) wj_context_destroy(other);
        return status;
    };
    return {
        {"wj_status_name", true, [] { return quiet([] { (void)wj_status_name(WJ_OK); }); }},
        {"wj_version", true, [] { return quiet([] { wj_version(nullptr, nullptr); }); }},
        {"wj_context_create", true,
         [=] { return created(wj_context_create(nullptr, &other, nullptr, 0)); }},
        {"wj_capture_open", true,
         [] { return wj_capture_open("/no/file", nullptr, &other, nullptr, 0); }},
        {"wj_context_destroy", false, [=] { return quiet([=] { wj_context_destroy(c); }); }},
        {"wj_context_clone", false, [=] { return wj_context_clone(c, &other); }},
        {"wj_context_get_info", true,
         [=] {
             auto i = info<wj_context_info>();
             return wj_context_get_info(c, &i);
         }},
        {"wj_context_get_module", true,
         [=, &h] { return wj_context_get_module(c, h.module, &module); }},
        {"wj_context_get_counters", true,
         [=] {
             auto i = info<wj_counters>();
             return wj_context_get_counters(c, &i);
         }},
        {"wj_context_get_hot_blocks", true,
         [=] { return wj_context_get_hot_blocks(c, 1, text, sizeof text, nullptr); }},
        {"wj_last_error", true, [=] { return quiet([=] { (void)wj_last_error(c); }); }},
        {"wj_coverage_write", false, [=] { return wj_coverage_write(c, "/dev/null"); }},
        {"wj_finding_count", true, [=] { return quiet([=] { (void)wj_finding_count(c); }); }},
        {"wj_finding_get", true,
         [=] {
             auto i = info<wj_fault>();
             return wj_finding_get(c, 0, &i);
         }},
        {"wj_finding_get_frame", true,
         [c] {
             auto i = info<wj_stack_frame>();
             return wj_finding_get_frame(c, 0, 0, &i);
         }},
        {"wj_finding_clear", false, [=] { return wj_finding_clear(c); }},
        {"wj_finding_write", false, [=] { return wj_finding_write(c, "/dev/null"); }},
        {"wj_capture_write", false,
         [&h] { return wj_capture_write(h.kernel, &h.launch, "/dev/null"); }},
        {"wj_capture_get_launch", true,
         [=] {
             wj_kernel* kernel;
             auto i = info<wj_launch_options>();
             return wj_capture_get_launch(c, &kernel, &i);
         }},
        {"wj_capture_get_memory", true,
         [=] {
             auto i = info<wj_captured_memory>();
             return wj_capture_get_memory(c, 0, &i);
         }},
    };
}

std::vector<Call> calls_of_modules(Handles& h) {
    static wj_module* module;
    static wj_kernel* kernel;
    static uint64_t address, size;
    static uint32_t number;
    const auto c = h.context;
    return {
        {"wj_module_load", false, [=] { return wj_module_load(c, "x", 1, &module); }},
        {"wj_module_load_file", false, [=] { return wj_module_load_file(c, "/no", &module); }},
        {"wj_module_unload", false, [&h] { return quiet([&h] { wj_module_unload(h.module); }); }},
        {"wj_module_kernel_count", true,
         [&h] { return quiet([&h] { (void)wj_module_kernel_count(h.module); }); }},
        {"wj_module_kernel_at", true,
         [&h] { return quiet([&h] { (void)wj_module_kernel_at(h.module, 0); }); }},
        {"wj_module_get_kernel", true,
         [&h] { return wj_module_get_kernel(h.module, "total64", &kernel); }},
        {"wj_module_get_variable", true,
         [&h] { return wj_module_get_variable(h.module, "none", &address, &size); }},
        {"wj_kernel_get_info", true,
         [&h] {
             auto i = info<wj_kernel_info>();
             return wj_kernel_get_info(h.kernel, &i);
         }},
        {"wj_kernel_patch", false, [&h] { return wj_kernel_patch(h.kernel, 0, &number, 4); }},
        {"wj_kernel_get_argument", true,
         [&h] {
             auto i = info<wj_argument_info>();
             return wj_kernel_get_argument(h.kernel, 0, &i);
         }},
        {"wj_kernel_find_argument", true,
         [&h] { return wj_kernel_find_argument(h.kernel, "none", &number); }},
    };
}

std::vector<Call> calls_of_dispatches(Handles& h) {
    static wj_dispatch* dispatch;
    static wj_prepared* prepared;
    static uint64_t done, total;
    return {
        {"wj_dispatch_submit", false,
         [&h] { return wj_dispatch_submit(h.kernel, &h.launch, &dispatch); }},
        {"wj_dispatch_wait", false, [&h] { return wj_dispatch_wait(h.ended); }},
        {"wj_dispatch_done", true, [&h] { return quiet([&h] { wj_dispatch_done(h.ended); }); }},
        {"wj_dispatch_wait_for", false, [&h] { return wj_dispatch_wait_for(h.ended, 1); }},
        {"wj_dispatch_get_progress", true,
         [&h] { return wj_dispatch_get_progress(h.ended, &done, &total); }},
        {"wj_dispatch_cancel", true, [&h] { return quiet([&h] { wj_dispatch_cancel(h.ended); }); }},
        {"wj_dispatch_get_result", true,
         [&h] {
             auto i = info<wj_result>();
             return wj_dispatch_get_result(h.ended, &i);
         }},
        {"wj_dispatch_get_fault", true,
         [&h] {
             auto i = info<wj_fault>();
             return wj_dispatch_get_fault(h.ended, &i);
         }},
        {"wj_dispatch_get_fault_data", true,
         [&h] {
             auto i = info<wj_fault_data>();
             return wj_dispatch_get_fault_data(h.ended, &i);
         }},
        {"wj_dispatch_get_frame", true,
         [&h] {
             auto i = info<wj_stack_frame>();
             return wj_dispatch_get_frame(h.ended, 0, &i);
         }},
        {"wj_dispatch_resume", false, [&h] { return wj_dispatch_resume(h.ended, nullptr); }},
        {"wj_dispatch_wave_count", true,
         [&h] { return quiet([&h] { (void)wj_dispatch_wave_count(h.ended); }); }},
        {"wj_dispatch_wave_at", true,
         [&h] { return quiet([&h] { (void)wj_dispatch_wave_at(h.ended, 0); }); }},
        {"wj_dispatch_release", false,
         [&h] { return quiet([&h] { wj_dispatch_release(h.ended); }); }},
        {"wj_launch", false, [&h] { return wj_launch(h.kernel, &h.launch, nullptr); }},
        {"wj_launch_prepare", false,
         [&h] { return wj_launch_prepare(h.kernel, &h.launch, &prepared); }},
        {"wj_prepared_set_argument", false,
         [&h] { return wj_prepared_set_argument(h.prepared, 0, &done, 8); }},
        {"wj_prepared_launch", false, [&h] { return wj_prepared_launch(h.prepared, nullptr); }},
        {"wj_prepared_get_fault", true,
         [&h] {
             auto i = info<wj_fault>();
             return wj_prepared_get_fault(h.prepared, &i);
         }},
        {"wj_prepared_get_fault_data", true,
         [&h] {
             auto i = info<wj_fault_data>();
             return wj_prepared_get_fault_data(h.prepared, &i);
         }},
        {"wj_prepared_get_frame", true,
         [&h] {
             auto i = info<wj_stack_frame>();
             return wj_prepared_get_frame(h.prepared, 0, &i);
         }},
        {"wj_prepared_wave_count", true,
         [&h] { return quiet([&h] { (void)wj_prepared_wave_count(h.prepared); }); }},
        {"wj_prepared_wave_at", true,
         [&h] { return quiet([&h] { (void)wj_prepared_wave_at(h.prepared, 0); }); }},
        {"wj_prepared_release", false,
         [&h] { return quiet([&h] { wj_prepared_release(h.prepared); }); }},
    };
}

std::vector<Call> calls_of_waves(Handles& h) {
    static uint32_t dwords[64];
    return {
        {"wj_wave_get_info", true,
         [&h] {
             auto i = info<wj_wave_info>();
             return wj_wave_get_info(h.wave, &i);
         }},
        {"wj_wave_get_frame", true,
         [&h] {
             auto i = info<wj_stack_frame>();
             return wj_wave_get_frame(h.wave, 0, &i);
         }},
        {"wj_wave_read_registers", true,
         [&h] { return wj_wave_read_registers(h.wave, WJ_REGISTER_VGPR, 0, 1, dwords); }},
        {"wj_wave_write_registers", true,
         [&h] { return wj_wave_write_registers(h.wave, WJ_REGISTER_VGPR, 0, 0, dwords); }},
        {"wj_wave_read_lds", true, [&h] { return wj_wave_read_lds(h.wave, 0, dwords, 0); }},
        {"wj_wave_write_lds", true, [&h] { return wj_wave_write_lds(h.wave, 0, dwords, 0); }},
        {"wj_wave_read_private", true,
         [&h] { return wj_wave_read_private(h.wave, 0, 0, dwords, 0); }},
        {"wj_wave_write_private", true,
         [&h] { return wj_wave_write_private(h.wave, 0, 0, dwords, 0); }},
        {"wj_wave_disassemble", true,
         [&h] { return wj_wave_disassemble(h.wave, 0, nullptr, 0, nullptr); }},
    };
}

std::vector<Call> all_calls(Handles& h) {
    std::vector<Call> all;
    for (const auto of : {calls_of_memory, calls_of_contexts, calls_of_modules, calls_of_dispatches,
                          calls_of_waves})
        for (Call& call : of(h)) all.push_back(std::move(call));
    return all;
}

class CallbacksTest : public Gpu {
public:
    void SetUp() override {
        context = make_context(GetParam().target, GetParam().engine, 1, WJ_MEMORY_CHECKED);
        if (!context) GTEST_SKIP() << "this host cannot run the engine";
        h.context = context.get();
        h.memory = buffer(page);
        h.kernel = kernel("stops", "total64");
        h.module = modules.back().get();
        h.launch = packed(h.memory, 0);
        ASSERT_EQ(run(h.kernel, h.launch), WJ_OK) << error();
        h.ended = dispatch.get();
        ASSERT_EQ(wj_launch_prepare(h.kernel, &h.launch, &h.prepared), WJ_OK) << error();
        ASSERT_EQ(wj_prepared_launch(h.prepared, nullptr), WJ_OK) << error();
        ASSERT_EQ(wj_snapshot_take(h.context, nullptr, &h.snapshot), WJ_OK) << error();
    }
    void TearDown() override {
        if (!context) return;
        wj_prepared_release(h.prepared);
        dispatch.reset();
        modules.clear();
    }

    // Once in each kind of callback.
    void look(const std::string& kind, wj_wave* wave = nullptr) {
        if (!seen.insert(kind).second) return;
        h.wave = wave;
        for (const Call& call : all_calls(h)) {
            const std::string refusal = std::string(call.name) + " cannot be called within";
            const wj_status status = call.make();
            const bool refused = error().find(refusal) == 0;
            EXPECT_EQ(refused, !call.allowed) << call.name << " in " << kind << ": " << error();
            EXPECT_TRUE(!refused || status == WJ_INVALID_ARGUMENT) << call.name;
        }
    }
    template <char kind>
    static wj_hook_answer at(void* test, wj_wave* wave) {
        static_cast<CallbacksTest*>(test)->look({kind}, wave);
        return WJ_HOOK_GO_ON;
    }
    template <char kind>
    static wj_hook_answer at_access(void* test, wj_wave* wave, const wj_access_info*) {
        return at<kind>(test, wave);
    }

    Handles h;
    std::set<std::string> seen;
};

TEST_P(CallbacksTest, EveryFunctionIsLookedAt) {
    std::ifstream file(WJ_TEST_HEADER);
    const std::string header{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> declared, called;
    const std::regex function("WJ_API [^;(]*?\\b(wj_\\w+)\\(");
    for (std::sregex_iterator it(header.begin(), header.end(), function), end; it != end; ++it)
        declared.insert((*it)[1]);
    for (const Call& call : all_calls(h)) called.insert(call.name);
    EXPECT_GT(declared.size(), 70u);
    EXPECT_EQ(called, declared);
}

TEST_P(CallbacksTest, WithinHooks) {
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = this;
    hooks.block = at<'B'>;
    hooks.instruction = at<'I'>;
    hooks.access = at_access<'A'>;
    hooks.atomic = at_access<'X'>;
    hooks.barrier = at<'W'>;
    wj_launch_options o = h.launch;
    o.hooks = &hooks;
    EXPECT_EQ(wj_launch(h.kernel, &o, nullptr), WJ_OK) << error();
    EXPECT_EQ(seen, (std::set<std::string>{"A", "B", "I", "W", "X"}));
    EXPECT_EQ(wj_memory_free(h.context, h.memory), WJ_OK) << "behind it: " << error();
}

TEST_P(CallbacksTest, WithinPageHooks) {
    wj_page_hooks hooks = WJ_INIT(wj_page_hooks);
    hooks.context = this;
    hooks.load = [](void* test, uint64_t, uint32_t, uint32_t*) {
        static_cast<CallbacksTest*>(test)->look("load");
        return 0;
    };
    hooks.store = [](void* test, uint64_t, uint32_t, uint32_t) {
        static_cast<CallbacksTest*>(test)->look("store");
        return 0;
    };
    ASSERT_EQ(wj_memory_hook(h.context, device, page, &hooks), WJ_OK) << error();
    for (const char* name : {"load_at", "store_at"}) {
        const wj_launch_options o = packed(device, 4);
        EXPECT_EQ(wj_launch(kernel("asm", name), &o, nullptr), WJ_OK) << error();
    }
    EXPECT_EQ(seen, (std::set<std::string>{"load", "store"}));
    EXPECT_EQ(wj_memory_unregister(h.context, device), WJ_OK) << error();
}

TEST_P(CallbacksTest, WithinPrint) {
    const uint64_t results = buffer(256 * 4);
    const int32_t first = 100;
    wj_argument arguments[] = {WJ_POINTER(results), WJ_POINTER(first)};
    wj_launch_options o = launch(arguments, {64}, {64});
    o.print = [](void* test, const char*, size_t) {
        static_cast<CallbacksTest*>(test)->look("print");
    };
    o.print_context = this;
    EXPECT_EQ(wj_launch(kernel("printf", "items"), &o, nullptr), WJ_OK) << error();
    EXPECT_EQ(seen, std::set<std::string>{"print"});
}

// A hook that uses another context, whose hook comes back to the first one.
struct Detour {
    wj_context* first;
    wj_kernel* second;
    wj_launch_options launch;
    wj_status inner = WJ_OK, outer = WJ_OK;
};

TEST_P(CallbacksTest, WithinThoseOfAnotherContext) {
    Context other = make_context(GetParam().target, GetParam().engine, 1, WJ_MEMORY_CHECKED);
    wj_module* module = nullptr;
    wj_kernel* second = nullptr;
    uint64_t memory = 0;
    ASSERT_EQ(
        wj_module_load_file(other.get(), kernel_file("stops", GetParam().target).c_str(), &module),
        WJ_OK);
    const Module held(module);
    ASSERT_EQ(wj_module_get_kernel(module, "total64", &second), WJ_OK);
    ASSERT_EQ(wj_memory_allocate(other.get(), page, &memory), WJ_OK);
    uint64_t values[2] = {memory, 0};
    Detour detour{h.context, second, h.launch};
    wj_hooks inner = WJ_INIT(wj_hooks), outer = WJ_INIT(wj_hooks);
    inner.hook_context = outer.hook_context = &detour;
    inner.block = [](void* d, wj_wave*) {
        auto& way = *static_cast<Detour*>(d);
        uint64_t address;
        way.inner = wj_memory_allocate(way.first, 64, &address);
        return WJ_HOOK_GO_ON;
    };
    outer.barrier = [](void* d, wj_wave*) {
        auto& way = *static_cast<Detour*>(d);
        way.outer = wj_launch(way.second, &way.launch, nullptr);
        return WJ_HOOK_GO_ON;
    };
    detour.launch.packed_arguments = values;
    detour.launch.hooks = &inner;
    wj_launch_options o = h.launch;
    o.hooks = &outer;
    EXPECT_EQ(wj_launch(h.kernel, &o, nullptr), WJ_OK) << error();
    EXPECT_EQ(detour.outer, WJ_OK) << wj_last_error(other.get());
    EXPECT_EQ(detour.inner, WJ_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(All, CallbacksTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
