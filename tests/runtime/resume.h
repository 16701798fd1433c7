// What tests of dispatches that go on have in common: kernels/resume.cl, by arithmetic.
#pragma once

#include "tests/runtime/gpu.h"

namespace wj::test {

// What kernel `mixed` makes of its input, in work-groups of 128 that go from barrier to barrier.
struct Mixed {
    std::vector<uint32_t> out;
    uint32_t total = 0;

    Mixed(const std::vector<uint32_t>& in, uint32_t laps) {
        constexpr uint32_t size = 128;
        for (size_t first = 0; first < in.size(); first += size) {
            uint32_t mine[size][8], sum[size] = {}, share[size];
            for (uint32_t l = 0; l < size; l++)
                for (uint32_t k = 0; k < 8; k++) mine[l][k] = in[first + l] + k;
            for (uint32_t lap = 0; lap < laps; lap++) {
                for (uint32_t l = 0; l < size; l++) share[l] = mine[l][lap % 8] * 3 + sum[l];
                for (uint32_t l = 0; l < size; l++) {
                    sum[l] += share[(l + 1) % size] ^ share[(l + 64) % size];
                    mine[l][(lap + l) % 8] += sum[l];
                }
            }
            for (uint32_t l = 0; l < size; l++) {
                out.push_back(sum[l] + mine[l][3]);
                total += sum[l];
            }
        }
    }
};

class ResumeGpu : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        if (!context) return;
        mixed = kernel("resume", "mixed");
        in = buffer(items * 4);
        out = buffer(items * 4);
        total = buffer(64);
    }
    static constexpr uint32_t items = 256, laps = 3;

    // Fills the input with numbers that follow from the seed.
    std::vector<uint32_t> fill(uint32_t seed) {
        std::vector<uint32_t> values(items);
        for (uint32_t i = 0; i < items; i++) values[i] = (i + seed) * 2654435761u;
        EXPECT_EQ(wj_memory_write(context.get(), in, values.data(), items * 4), WJ_OK);
        return values;
    }
    void clear() {
        const uint32_t zero = 0, other = 0xdeadbeef;
        EXPECT_EQ(wj_memory_fill(context.get(), out, &other, 4, items * 4), WJ_OK);
        EXPECT_EQ(wj_memory_write(context.get(), total, &zero, 4), WJ_OK);
    }
    wj_launch_options mixed_options(uint64_t limit, uint32_t keep = WJ_KEEP_WAVES_OF_ENGINE) {
        arguments[0] = WJ_POINTER(in);
        arguments[1] = WJ_POINTER(out);
        arguments[2] = WJ_POINTER(total);
        arguments[3] = WJ_POINTER(lap_count);
        wj_launch_options o = launch(arguments, {items}, {128});
        o.instruction_limit = limit;
        o.keep_waves = keep;
        return o;
    }
    bool holds(const Mixed& expected) {
        return std::equal(expected.out.begin(), expected.out.end(), host<uint32_t>(out)) &&
               *host<uint32_t>(total) == expected.total;
    }
    // Stops a kernel that writes to `to` (8 KiB) at every `step`th limit, until it ends in front of
    // it, and asks `stopped` what to do then. `numbers`: the kernel's second argument; 0: none.
    template <class Stopped>
    void at_limits(uint64_t step, const char* file, const char* name, uint32_t grid, uint32_t block,
                   uint64_t to, uint64_t numbers, Stopped stopped) {
        wj_kernel* const k = kernel(file, name);
        for (uint64_t limit = 1;; limit += step) {
            std::memset(host<uint8_t>(to), 0, 8192);
            wj_launch_options o = packed(to, numbers, grid, block);
            if (numbers) o.grid[1] = 6;
            if (!strcmp(name, "pairs")) o.packed_size = 8;
            o.instruction_limit = limit;
            o.keep_waves = limit / step % 2 ? WJ_KEEP_WAVES_OF_ENGINE : WJ_KEEP_WAVES;
            const wj_status status = run(k, o);
            if (status == WJ_OK) break;
            ASSERT_EQ(status, WJ_TIMEOUT) << error();
            stopped(host<uint32_t>(to));
            ASSERT_FALSE(HasFailure()) << name << ", limit " << limit;
        }
    }
    wj_status start(wj_kernel* k, const wj_launch_options& o) {
        wj_dispatch* d = nullptr;
        const wj_status status = wj_dispatch_submit(k, &o, &d);
        dispatch.reset(d);
        return status;
    }
    wj_status resume(wj_resume_options o = WJ_INIT(wj_resume_options)) {
        const wj_status status = wj_dispatch_resume(dispatch.get(), &o);
        return status || o.wait ? status : wj_dispatch_wait(dispatch.get());
    }
    // Up to the limit, then the rest, in one part or in several. The last status.
    wj_status run_in_parts(uint64_t limit, uint32_t keep, wj_resume_options part) {
        EXPECT_EQ(start(mixed, mixed_options(limit, keep)), WJ_OK) << error();
        wj_status status = wj_dispatch_wait(dispatch.get());
        while (status == WJ_TIMEOUT) status = resume(part);
        return status;
    }
    wj_result result() {
        wj_result r = WJ_INIT(wj_result);
        EXPECT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        return r;
    }

    wj_kernel* mixed = nullptr;
    uint64_t in = 0, out = 0, total = 0;
    uint32_t lap_count = laps;
    wj_argument arguments[4];
};

inline constexpr Setup resume_setups[] = {
    {"gfx900", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
    {"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
    {"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_WINDOW},
    {"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
    {"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
    {"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_WINDOW},
    {"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
    {"gfx900", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
    {"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW},
    {"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED},
    {"gfx1030", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
    {"gfx1030", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
    {"gfx1030", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
};

}  // namespace wj::test
