// Files that hold a launch: written, opened in another context, damaged.
#define XXH_INLINE_ALL
#include <unistd.h>
#include <xxhash.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/capture.h"
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t items = 1000;

class CaptureTest : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        path = (fs::temp_directory_path() /
                ("wavejit-capture-test-" + std::to_string(getpid()) + ".wjcapture"))
                   .string();
    }
    void TearDown() override { fs::remove(path); }

    // A context of its own with what the file holds; GetParam()'s engine and memory.
    void open(const wj_context_options* given = nullptr) {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.engine = GetParam().engine;
        o.memory_mode = GetParam().memory;
        o.threads = 2;
        char error[512] = "";
        wj_context* raw = nullptr;
        ASSERT_EQ(wj_capture_open(path.c_str(), given ? given : &o, &raw, error, sizeof error),
                  WJ_OK)
            << error;
        replayed.reset(raw);
        again = WJ_INIT(wj_launch_options);
        ASSERT_EQ(wj_capture_get_launch(raw, &again_kernel, &again), WJ_OK) << wj_last_error(raw);
    }
    template <class T>
    std::vector<T> read(uint64_t address, size_t count) {
        std::vector<T> values(count);
        EXPECT_EQ(wj_memory_read(replayed.get(), values.data(), address, count * sizeof(T)), WJ_OK)
            << wj_last_error(replayed.get());
        return values;
    }
    // y[i] = 0.5 * x[i] + y[i] for x[i] = i, y[i] = 2 * i: captured, and the context has gone.
    uint64_t capture_saxpy() {
        const uint64_t x = buffer(items * 4), y = buffer(items * 4);
        for (uint32_t i = 0; i < items; i++) {
            host<float>(x)[i] = static_cast<float>(i);
            host<float>(y)[i] = static_cast<float>(2 * i);
        }
        const float a = 0.5f;
        const uint32_t n = items - 1;
        wj_argument arguments[] = {{&a, 4}, WJ_POINTER(x), WJ_POINTER(y), {&n, 4}};
        const auto o = launch(arguments, {1024, 1, 1}, {256, 1, 1});
        EXPECT_EQ(wj_capture_write(kernel("ids", "saxpy"), &o, path.c_str()), WJ_OK) << error();
        EXPECT_EQ(host<float>(y)[1], 2.0f) << "captured, not launched";
        leave();
        return y;
    }
    // The addresses are free again.
    void leave() {
        dispatch.reset();
        modules.clear();
        context.reset();
    }

    std::string path;
    Context replayed;
    wj_kernel* again_kernel = nullptr;
    wj_launch_options again{};
};

TEST_P(CaptureTest, ALaunchIsMadeAgainElsewhere) {
    const uint64_t y = capture_saxpy();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    const auto values = read<float>(y, items);
    for (uint32_t i = 0; i < items; i++)
        ASSERT_EQ(values[i], i < items - 1 ? 2.5f * static_cast<float>(i) : 2.0f * (items - 1));
    wj_captured_memory m = WJ_INIT(wj_captured_memory);
    bool found = false;
    size_t count = 0;
    for (; wj_capture_get_memory(replayed.get(), count, &m) == WJ_OK; count++)
        found |= m.address == y && m.bytes == items * 4 && m.rights == (WJ_READ | WJ_WRITE) &&
                 std::string(m.label) == "wj_memory_allocate";
    EXPECT_TRUE(found);
    EXPECT_EQ(count, 3u) << "x, y and the code";
}

// Host memory that kernels may only read, until somebody says otherwise.
TEST_P(CaptureTest, RightsMayChangeAfterwards) {
    if (GetParam().memory != WJ_MEMORY_CHECKED) GTEST_SKIP() << "registers what it protects";
    alignas(4096) static uint8_t bytes[4096];
    uint64_t y = 0;
    ASSERT_EQ(wj_memory_register(context.get(), bytes, sizeof bytes, WJ_READ, &y), WJ_OK)
        << error();
    const uint64_t x = buffer(256);
    const float a = 1;
    const uint32_t n = 64;
    wj_argument arguments[] = {{&a, 4}, WJ_POINTER(x), WJ_POINTER(y), {&n, 4}};
    const auto o = launch(arguments, {64, 1, 1}, {64, 1, 1});
    ASSERT_EQ(wj_capture_write(kernel("ids", "saxpy"), &o, path.c_str()), WJ_OK) << error();
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_GUEST_FAULT);
    ASSERT_EQ(wj_memory_protect(replayed.get(), y, sizeof bytes, WJ_READ | WJ_WRITE), WJ_OK);
    EXPECT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
}

// A list that leads through memory: addresses in memory lead where they led.
TEST_P(CaptureTest, PointersInMemoryKeepTheirMeaning) {
    const uint64_t table = buffer(64 * 8), words = buffer(64 * 4), out = buffer(64 * 4);
    for (uint32_t i = 0; i < 64; i++) {
        host<uint32_t>(words)[i] = i * 3 + 1;
        host<uint64_t>(table)[i] = words + (63 - i) * 4;
    }
    wj_argument arguments[] = {WJ_POINTER(table), WJ_POINTER(out)};
    const auto o = launch(arguments, {64, 1, 1}, {64, 1, 1});
    ASSERT_EQ(wj_capture_write(kernel("capture", "follow"), &o, path.c_str()), WJ_OK) << error();
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    const auto values = read<uint32_t>(out, 64);
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(values[i], (63 - i) * 3 + 1);
}

TEST_P(CaptureTest, FaultsAreTheSame) {
    const uint64_t a = buffer(4096);
    const auto o = packed(a, 4096, 64);
    wj_kernel* const k = kernel("asm", "store_at");
    ASSERT_EQ(wj_capture_write(k, &o, path.c_str()), WJ_OK) << error();
    const wj_status first = run(k, o);
    const std::string message = first == WJ_OK ? "" : fault.message;
    const bool same_memory = GetParam().memory == WJ_MEMORY_CHECKED;
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(wj_launch(again_kernel, &again, nullptr), first);
    if (same_memory) {
        EXPECT_NE(std::string(wj_last_error(replayed.get())).find(message), std::string::npos)
            << message << "\n"
            << wj_last_error(replayed.get());
    }
}

// Dynamic LDS, hidden arguments, several work-groups.
TEST_P(CaptureTest, LocalMemoryAndHiddenArguments) {
    const uint64_t in = buffer(512 * 4), out = buffer(2 * 4), ids = buffer(512 * 64);
    for (uint32_t i = 0; i < 512; i++) host<uint32_t>(in)[i] = i;
    wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out), {nullptr, 256 * 4}};
    auto o = launch(arguments, {512, 1, 1}, {256, 1, 1});
    ASSERT_EQ(wj_capture_write(kernel("ids", "sum"), &o, path.c_str()), WJ_OK) << error();
    const std::string second = path + "2";
    wj_argument pointer[] = {WJ_POINTER(ids)};
    o = launch(pointer, {16, 8, 4}, {8, 4, 2});
    o.global_offset[0] = 7;
    ASSERT_EQ(wj_capture_write(kernel("ids", "ids"), &o, second.c_str()), WJ_OK) << error();
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    EXPECT_EQ(read<uint32_t>(out, 2),
              (std::vector<uint32_t>{1000 + 255 * 128, 1000 + 256 * 256 + 255 * 128}));
    replayed.reset();
    fs::rename(second, path);
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    const auto last = read<uint32_t>(ids + 511 * 64, 16);
    EXPECT_EQ(last, (std::vector<uint32_t>{22, 7, 3, 7, 3, 1, 1, 1, 1, 8, 4, 2, 2, 2, 2, 3}));
}

// Zeros take no room, whatever the size.
TEST_P(CaptureTest, ZerosTakeNoRoom) {
    const uint64_t big = buffer(uint64_t{256} << 20);
    host<uint32_t>(big)[1 << 20] = 5;
    const auto o = packed(big, 4);
    ASSERT_EQ(wj_capture_write(kernel("asm", "store_at"), &o, path.c_str()), WJ_OK) << error();
    EXPECT_LT(fs::file_size(path), 200'000u);
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(read<uint32_t>(big + (4 << 20), 1)[0], 5u);
}

TEST_P(CaptureTest, SnapshotsAndClonesOfIt) {
    const uint64_t y = capture_saxpy();
    ASSERT_NO_FATAL_FAILURE(open());
    const auto before = read<float>(y, items);
    wj_snapshot s = 0;
    ASSERT_EQ(wj_snapshot_take(replayed.get(), nullptr, &s), WJ_OK);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK);
        EXPECT_NE(read<float>(y, items), before);
        ASSERT_EQ(wj_snapshot_restore(replayed.get(), s, nullptr), WJ_OK);
        EXPECT_EQ(read<float>(y, items), before);
    }
    if (GetParam().memory != WJ_MEMORY_CHECKED) return;
    wj_context* clone = nullptr;
    ASSERT_EQ(wj_context_clone(replayed.get(), &clone), WJ_OK) << wj_last_error(replayed.get());
    wj_context_destroy(clone);
}

INSTANTIATE_TEST_SUITE_P(All, CaptureTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx906", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY}),
                         setup_name);

class CaptureFileTest : public CaptureTest {};

// The checksums of the sections' bytes (docs/reference/capture.md), as far as there are whole ones.
std::string with_checksums(std::string file) {
    for (size_t at = 16; at + 16 <= file.size();) {
        uint64_t bytes = 0;
        std::memcpy(&bytes, &file[at + 8], 8);
        if (bytes > file.size() - at - 16) break;
        const size_t hash_at = at + 16 + (bytes + 7) / 8 * 8;
        if (hash_at + 8 > file.size()) break;
        const uint64_t hash = XXH3_64bits(&file[at + 16], bytes);
        std::memcpy(&file[hash_at], &hash, 8);
        at = hash_at + 8;
    }
    return file;
}

// The same host memory at two addresses, to the byte, in part not writable.
TEST_P(CaptureFileTest, MappedMemory) {
    alignas(4096) static uint32_t memory[2048];
    for (uint32_t i = 0; i < 2048; i++) memory[i] = i + 1000;
    constexpr uint64_t one = 0x7123'4567'8000, two = 0x7223'4567'8000;
    for (const uint64_t at : {one, two})
        ASSERT_EQ(wj_memory_map(context.get(), at, memory, 8000,
                                at == one ? WJ_READ | WJ_WRITE : WJ_READ),
                  WJ_OK)
            << error();
    const auto o = packed(one, 4);
    ASSERT_EQ(wj_capture_write(kernel("asm", "store_at"), &o, path.c_str()), WJ_OK) << error();
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    const auto before = read<uint32_t>(two, 2000);
    EXPECT_EQ(before[1999], 2999u);
    // It belongs to the capture, so snapshots have it.
    wj_snapshot s = 0;
    ASSERT_EQ(wj_snapshot_take(replayed.get(), nullptr, &s), WJ_OK);
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    EXPECT_NE(read<uint32_t>(two, 2000), before);
    ASSERT_EQ(wj_snapshot_restore(replayed.get(), s, nullptr), WJ_OK);
    EXPECT_EQ(read<uint32_t>(two, 2000), before);
    ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
    EXPECT_EQ(read<uint32_t>(one, 2000), read<uint32_t>(two, 2000));
    EXPECT_NE(read<uint32_t>(two, 2000), before);
    uint32_t word = 0;
    EXPECT_EQ(wj_memory_write(replayed.get(), two, &word, 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_read(replayed.get(), &word, one + 8000, 4), WJ_INVALID_ARGUMENT);
    replayed.reset();
    wj_context_options identity = WJ_INIT(wj_context_options);
    char text[512] = "";
    wj_context* raw = nullptr;
    EXPECT_EQ(wj_capture_open(path.c_str(), &identity, &raw, text, sizeof text),
              WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(text).find("use checked memory"), std::string::npos) << text;
}

// As the memory of HIP programs is, which are not the C interface's allocations.
TEST_P(CaptureFileTest, SnapshotsOfMappedMemory) {
    alignas(4096) static uint32_t memory[1024];
    constexpr uint64_t at = 0x7123'4567'8000;
    ASSERT_EQ(wj_memory_map(context.get(), at, memory, 4096, WJ_READ | WJ_WRITE), WJ_OK) << error();
    const auto o = packed(at, 4);
    ASSERT_EQ(wj_capture_write(kernel("asm", "store_at"), &o, path.c_str()), WJ_OK) << error();
    leave();
    ASSERT_NO_FATAL_FAILURE(open());
    const auto before = read<uint32_t>(at, 1024);
    wj_snapshot s = 0;
    ASSERT_EQ(wj_snapshot_take(replayed.get(), nullptr, &s), WJ_OK);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(wj_launch(again_kernel, &again, nullptr), WJ_OK) << wj_last_error(replayed.get());
        EXPECT_NE(read<uint32_t>(at, 1024), before);
        ASSERT_EQ(wj_snapshot_restore(replayed.get(), s, nullptr), WJ_OK);
        EXPECT_EQ(read<uint32_t>(at, 1024), before);
    }
}

// Written once more from what was read, it is the same.
TEST_P(CaptureFileTest, OfACaptureIsTheSameFile) {
    capture_saxpy();
    ASSERT_NO_FATAL_FAILURE(open());
    const std::string second = path + "2";
    ASSERT_EQ(wj_capture_write(again_kernel, &again, second.c_str()), WJ_OK)
        << wj_last_error(replayed.get());
    const auto read_all = [](const std::string& name) {
        std::ifstream file(name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string a = read_all(path), b = read_all(second);
    fs::remove(second);
    EXPECT_EQ(a.size(), b.size());
    EXPECT_EQ(runtime::parse_capture(std::as_bytes(std::span(b)))->image.regions.size(), 3u);
}

TEST_P(CaptureFileTest, WhatCannotBeIsRefused) {
    const auto o = packed(buffer(4096), 4);
    wj_kernel* const k = kernel("asm", "store_at");
    EXPECT_EQ(wj_capture_write(nullptr, &o, path.c_str()), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_capture_write(k, nullptr, path.c_str()), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_capture_write(k, &o, nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_capture_write(k, &o, "/no/such/folder/file"), WJ_HOST_ERROR);
    EXPECT_NE(error().find("/no/such/folder/file"), std::string::npos) << error();
    wj_kernel* none = nullptr;
    wj_launch_options launch = WJ_INIT(wj_launch_options);
    EXPECT_EQ(wj_capture_get_launch(context.get(), &none, &launch), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("wj_capture_open"), std::string::npos) << error();

    char text[512] = "";
    wj_context* raw = nullptr;
    EXPECT_EQ(wj_capture_open("/no/such/file", nullptr, &raw, text, sizeof text), WJ_NOT_FOUND);
    const std::string code = kernel_file("asm", "gfx90a");
    EXPECT_EQ(wj_capture_open(code.c_str(), nullptr, &raw, text, sizeof text), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(text).find("does not begin as one does"), std::string::npos) << text;
    ASSERT_EQ(wj_capture_write(k, &o, path.c_str()), WJ_OK) << error();
    wj_context_options options = WJ_INIT(wj_context_options);
    options.memory_mode = WJ_MEMORY_WINDOW;
    EXPECT_EQ(wj_capture_open(path.c_str(), &options, &raw, text, sizeof text),
              WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(text).find("window"), std::string::npos) << text;
    options.memory_mode = WJ_MEMORY_IDENTITY;
    EXPECT_EQ(wj_capture_open(path.c_str(), &options, &raw, text, sizeof text), WJ_INVALID_ARGUMENT)
        << "the context that it is from is there";
    EXPECT_NE(std::string(text).find("use checked memory"), std::string::npos) << text;
    options.memory_mode = WJ_MEMORY_CHECKED;
    options.target = "gfx906";
    EXPECT_EQ(wj_capture_open(path.c_str(), &options, &raw, text, sizeof text),
              WJ_UNSUPPORTED_TARGET);
}

// Damaged files, with checksums of their own: every outcome but a crash, a hang or a host error is
// fine. WAVEJIT_MUTATIONS: how many.
TEST_P(CaptureFileTest, DamagedFiles) {
    capture_saxpy();
    std::ifstream in(path, std::ios::binary);
    const std::string good(std::istreambuf_iterator<char>(in), {});
    const char* const wanted = std::getenv("WAVEJIT_MUTATIONS");
    const int count = wanted ? std::atoi(wanted) : 300;
    std::mt19937_64 random(4711);
    int opened = 0;
    for (int i = 0; i < count; i++) {
        std::string bad = good;
        // The small sections in front, and everywhere.
        for (uint64_t flips = 1 + random() % 3; flips; flips--) {
            const size_t at =
                random() % (random() % 2 ? std::min<size_t>(bad.size(), 700) : bad.size());
            bad[at] = static_cast<char>(random() % 4 ? bad[at] ^ (1 << random() % 8) : random());
        }
        if (random() % 8 == 0) bad.resize(random() % bad.size());
        if (i % 2) bad = with_checksums(std::move(bad));
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
        wj_context_options o = WJ_INIT(wj_context_options);
        o.engine = GetParam().engine;
        o.memory_mode = WJ_MEMORY_CHECKED;
        o.threads = 1;
        char text[512] = "";
        wj_context* raw = nullptr;
        const wj_status status = wj_capture_open(path.c_str(), &o, &raw, text, sizeof text);
        if (status != WJ_OK) {
            ASSERT_STRNE(text, "") << i;
            ASSERT_EQ(raw, nullptr) << i;
            continue;
        }
        opened++;
        const Context context(raw);
        wj_kernel* kernel = nullptr;
        wj_launch_options launch = WJ_INIT(wj_launch_options);
        ASSERT_EQ(wj_capture_get_launch(raw, &kernel, &launch), WJ_OK) << i;
        launch.instruction_limit = 20'000;
        launch.timeout_ns = 2'000'000'000;
        ASSERT_NE(wj_launch(kernel, &launch, nullptr), WJ_HOST_ERROR) << i << wj_last_error(raw);
    }
    EXPECT_GT(opened, count / 50);
}

INSTANTIATE_TEST_SUITE_P(All, CaptureFileTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
