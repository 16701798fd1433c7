// Initial state, work-items, LDS, scratch and arguments, seen by kernels
// (docs/reference/seed-rows.md).
#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "frontend/target.h"
#include "runtime/instruction_allowance.h"
#include "runtime/launch_plan.h"
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class DispatchTest : public Gpu {};

TEST(InstructionAllowance, LimitsWithoutEnd) {
    runtime::InstructionAllowance allowance(UINT64_MAX, 2);
    EXPECT_EQ(allowance.take(100).instructions, 100);
}

TEST_P(DispatchTest, InitialSgprs) {
    wj_kernel* k = kernel("asm", "dump_state");
    ASSERT_TRUE(k);
    uint64_t out = buffer(4096);
    wj_launch_options o = packed(out, 0, 40, 40);  // one partial wave
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    const uint32_t* s = host<uint32_t>(out);
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(k, &info), WJ_OK);
    // s[0:3]: a swizzled buffer with the thread id added, over 64 lanes of 36 bytes.
    EXPECT_EQ(s[1] >> 31, 1u);
    EXPECT_EQ(s[2], 36u * 64);
    EXPECT_EQ(s[3] >> 23 & 1, 1u);
    EXPECT_EQ(s[3] >> 21 & 3, 3u);
    // s[4:5]: the packet; work-group size at byte 4, grid at 12, private and group size at 24,
    // kernel object at 32.
    const uint8_t* packet = host<uint8_t>(s[4] | uint64_t{s[5]} << 32);
    ASSERT_NE(packet, nullptr);
    // s[6:7]: the queue, with the apertures' high halves at 64 and 68.
    const uint8_t* queue = host<uint8_t>(s[6] | uint64_t{s[7]} << 32);
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(*reinterpret_cast<const uint32_t*>(queue + 64), 0x00010000u);
    EXPECT_EQ(*reinterpret_cast<const uint32_t*>(queue + 68), 0x00020000u);
    EXPECT_NE(s[8] | s[9], 0u);
    EXPECT_EQ(s[10] | s[11], 0u);  // dispatch id
    // FLAT_SCRATCH_INIT + wave offset is where the scratch buffer lies too.
    EXPECT_EQ(s[12] + s[19], s[0] + s[19]);
    EXPECT_EQ(s[13], s[1] & 0xffff);
    EXPECT_EQ(s[14], 36u);
    EXPECT_EQ(s[15], 0u);
    EXPECT_EQ(s[16], 0u);
    EXPECT_EQ(s[17], 0u);
    EXPECT_EQ(s[18], 1u << 31 | 1u);  // first wave, one wave in the work-group
    EXPECT_EQ(s[20] & 0x3ff,
              0x3c0u);  // MODE: defaults of .amdhsa_kernel: denormals for f16/f64, dx10_clamp, ieee
    EXPECT_EQ(s[21], 0xffffffffu);
    EXPECT_EQ(s[22], 0xffu);  // 40 lanes
}

// The grid need not be a multiple of the work-group.
TEST_P(DispatchTest, WorkItemIdsAndPartialGroups) {
    wj_kernel* k = kernel("ids", "ids");
    ASSERT_TRUE(k);
    const uint32_t grid[3] = {37, 11, 5}, block[3] = {16, 4, 2};
    uint64_t out = buffer(37 * 11 * 5 * 64, 0xff);
    wj_argument args[] = {WJ_POINTER(out)};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    std::copy_n(grid, 3, o.grid);
    std::copy_n(block, 3, o.block);
    const uint64_t offset[3] = {1000, 20, 3};
    std::copy_n(offset, 3, o.global_offset);
    o.arguments = args;
    o.argument_count = 1;
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    const uint32_t* v = host<uint32_t>(out);
    uint64_t wrong = 0;
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++, v += 16) {
                const uint32_t id[3] = {x, y, z};
                for (int d = 0; d < 3; d++) {
                    wrong += v[d] != id[d] + offset[d];
                    wrong += v[3 + d] != id[d] % block[d];
                    wrong += v[6 + d] != id[d] / block[d];
                    wrong += v[12 + d] != (grid[d] + block[d] - 1) / block[d];
                }
            }
    EXPECT_EQ(wrong, 0u);
    wj_result r = WJ_INIT(wj_result);
    ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
    EXPECT_EQ(r.work_groups, 3u * 3 * 3);
    EXPECT_GT(r.wave_instructions, 27u * 10);
    EXPECT_GE(r.end_ns, r.start_ns);
}

// Registers start as zeros wherever code can tell, also when waves follow each other in the same
// memory (without a time limit) and only what code reads is initialised (of many waves).
TEST_P(DispatchTest, WavesSeeNothingOfEarlierOnes) {
    wj_kernel* k = kernel("asm", "leftovers");
    ASSERT_TRUE(k);
    constexpr uint32_t items = 512 * 128;
    for (uint64_t timeout : {uint64_t{0}, uint64_t{60'000'000'000}}) {
        const uint64_t out = buffer(items * 4, 0xff);
        wj_launch_options o = packed(out, ~0u, items, 128);
        o.timeout_ns = timeout;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        const uint32_t* v = host<uint32_t>(out);
        EXPECT_EQ(std::count(v, v + items, 0u), items) << timeout;
    }
}

// Nor do lanes that a wave begins without, should it turn them on.
TEST_P(DispatchTest, LanesThatAreOffSeeNothingOfEarlierWaves) {
    wj_kernel* k = kernel("asm", "leftovers_off");
    ASSERT_TRUE(k);
    constexpr uint32_t groups = 512;
    for (const uint32_t items : {40u, 64u}) {
        const uint64_t out = buffer(groups * 64 * 4, 0xff);
        ASSERT_EQ(run(k, packed(out, 0, groups * items, items)), WJ_OK) << error();
        const uint32_t* v = host<uint32_t>(out);
        EXPECT_EQ(std::count(v, v + groups * 64, 0u), groups * 64) << items;
    }
}

// All of the LDS, too, whatever its size.
TEST_P(DispatchTest, WorkGroupsSeeNothingOfEarlierOnes) {
    wj_kernel* k = kernel("ids", "lds_leftovers");
    ASSERT_TRUE(k);
    constexpr uint32_t items = 100 * 128;
    for (const uint32_t count : {128u, 500u, 512u, 2049u, 65536u / 4}) {
        const uint64_t out = buffer(items * 4, 0xff);
        wj_argument args[] = {WJ_POINTER(out), {nullptr, count * 4}, WJ_POINTER(count)};
        for (int n = 0; n < 2; n++) {
            ASSERT_EQ(run(k, launch(args, {items}, {128})), WJ_OK) << error();
            const uint32_t* v = host<uint32_t>(out);
            EXPECT_EQ(std::count(v, v + items, 0u), items) << count;
        }
    }
}

// Waves run one after the other, each to its next barrier.
TEST_P(DispatchTest, WavesReadWhatEarlierOnesWroteToATile) {
    wj_kernel* k = kernel("ids", "changing_tile");
    ASSERT_TRUE(k);
    constexpr uint32_t groups = 200, rounds = 40;
    for (const uint32_t barriers : {0u, ~0u, 0x55555555u, 0x92492492u, 0x10203040u}) {
        const uint32_t skew = barriers >> 4 & 1 ? 24 : 0;
        const uint64_t out = buffer(groups * 256 * 4, 0xff);
        wj_argument args[] = {WJ_POINTER(out),
                              {nullptr, 256 * 4},
                              WJ_POINTER(rounds),
                              WJ_POINTER(barriers),
                              WJ_POINTER(skew)};
        ASSERT_EQ(run(k, launch(args, {groups * 16, 16}, {16, 16})), WJ_OK) << error();
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t tile[256], sum[256] = {};
            for (uint32_t l = 0; l < 256; l++) tile[l] = l * 2654435761u + g;
            for (uint32_t first = 0; first < rounds;) {
                uint32_t behind = first;  // the barrier
                for (bool waits = false; behind < rounds && !waits; behind++)
                    waits = barriers >> behind % 32 & 1;
                for (uint32_t wave = 0; wave < 4; wave++)
                    for (uint32_t r = first; r < behind; r++) {
                        uint32_t s[16] = {};
                        for (uint32_t x = 0; x < 16; x++) {
                            const uint32_t* at = tile + x * 2 + wave * skew;
                            for (uint32_t j = 0; j < 8; j++) s[x] = s[x] * 3 + at[16 * j];
                            if (r % 3 == 1) s[x] += at[0] ^ at[32] * 7 ^ at[48];
                        }
                        for (uint32_t l = wave * 64; l < wave * 64 + 64; l++)
                            sum[l] = sum[l] * 5 + s[l % 16];
                        for (uint32_t l = wave * 64; l < wave * 64 + 64 && wave == r % 5; l++)
                            tile[(l * 5 + r) % 128] = s[l % 16] + l + barriers % 3;
                    }
                first = behind;
            }
            for (uint32_t l = 0; l < 256; l++)
                ASSERT_EQ(host<uint32_t>(out)[g * 256 + l], sum[l])
                    << "group " << g << ", work-item " << l << ", barriers " << barriers;
        }
    }
}

// The last element ends where its memory does.
TEST_P(DispatchTest, TriplesAtTheEndOfMemory) {
    wj_kernel* k = kernel("ids", "end_triples");
    ASSERT_TRUE(k);
    for (const uint32_t items : {128u, 1024u}) {
        const uint64_t p = buffer(items * 32);
        float* f = host<float>(p);
        for (uint32_t i = 0; i < items * 8; i++) f[i] = float(i);
        wj_argument args[] = {WJ_POINTER(p)};
        ASSERT_EQ(run(k, launch(args, {items}, {128})), WJ_OK) << error();
        for (uint32_t i = 0; i < items * 8; i++) {
            static constexpr uint32_t from[] = {0, 1, 2, 3, 4, 6, 7, 5};
            const float want = float(i / 8 * 8 + from[i % 8]) + (i % 8 > 4 ? 1.0f : 0.0f);
            ASSERT_EQ(f[i], want) << i;
        }
    }
}

TEST_P(DispatchTest, WavesOfOneBlock) {
    wj_kernel* k = kernel("ids", "groups");
    ASSERT_TRUE(k);
    struct Shape {
        uint32_t block[3], groups[3], rest;
    };
    for (const Shape& s : {Shape{{64, 1, 1}, {50, 3, 2}, 0}, Shape{{256, 1, 1}, {40, 1, 1}, 0},
                           Shape{{64, 2, 2}, {3, 5, 4}, 0}, Shape{{32, 4, 1}, {9, 2, 3}, 0},
                           Shape{{16, 16, 1}, {7, 6, 1}, 0}, Shape{{100, 1, 1}, {30, 2, 1}, 0},
                           Shape{{64, 2, 1}, {5, 3, 1}, 9}}) {
        wj_launch_options o = WJ_INIT(wj_launch_options);
        uint32_t items = 1, waves = 1;
        for (int d = 0; d < 3; d++) {
            o.block[d] = s.block[d];
            o.grid[d] = s.block[d] * s.groups[d] + (d == 0 ? s.rest : 0);
            items *= static_cast<uint32_t>(o.grid[d]);
            waves *= s.groups[d];
        }
        waves *= (s.block[0] * s.block[1] * s.block[2] + 63) / 64;
        const uint64_t in = buffer(items * 4), out = buffer(items * 4, 0xff);
        for (uint32_t i = 0; i < items; i++) host<uint32_t>(in)[i] = i * 2654435761u;
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(out)};
        o.arguments = args;
        o.argument_count = 2;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        uint32_t wrong = 0, i = 0;
        for (uint32_t z = 0; z < o.grid[2]; z++)
            for (uint32_t y = 0; y < o.grid[1]; y++)
                for (uint32_t x = 0; x < o.grid[0]; x++, i++)
                    wrong += host<uint32_t>(out)[i] !=
                             i * 2654435761u * 3 +
                                 (x / s.block[0] | y / s.block[1] << 8 | z / s.block[2] << 16) +
                                 (x % s.block[0] << 24);
        EXPECT_EQ(wrong, 0u) << s.block[0] << " " << s.block[1];
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        if (s.rest) continue;
        EXPECT_EQ(r.waves, waves);
        EXPECT_EQ(r.wave_instructions % waves, 0u) << "each wave executes the same";
    }
}

// All lanes of a wave load before any of them stores.
TEST_P(DispatchTest, OneWaveCopiesOntoItself) {
    wj_kernel* k = kernel("ids", "copy");
    ASSERT_TRUE(k);
    const uint64_t memory = buffer(256 * 4);
    uint32_t* const v = host<uint32_t>(memory);
    for (uint32_t bytes = 4 * 28; bytes <= 4 * 172; bytes += bytes % 16 ? 1 : 3) {
        for (uint32_t i = 0; i < 256; i++) v[i] = i * 0x01010101;
        std::vector<uint32_t> want(v, v + 256);
        std::memcpy(reinterpret_cast<char*>(want.data()) + bytes, v + 100, 64 * 4);
        const uint64_t in = memory + 400, out = memory + bytes;
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(out)};
        const wj_launch_options o = launch(args, {64}, {64});
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        ASSERT_TRUE(std::equal(want.begin(), want.end(), v)) << int(bytes) - 400;
    }
}

// Waves store columns: pieces of them, or a dword of each of 64, which wait for those of the next
// waves. Work-groups with odd numbers of rows, matrices whose columns start anywhere.
TEST_P(DispatchTest, Transpose) {
    wj_kernel* k = kernel("ids", "transpose");
    ASSERT_TRUE(k);
    constexpr uint32_t most = 192 * 84;
    const uint64_t in = buffer(most * 4), out = buffer((most + 32) * 4);
    for (uint32_t i = 0; i < most; i++) host<uint32_t>(in)[i] = i * 2654435761u;
    struct Case {
        uint32_t block[2], w, h;
    };
    for (const Case& c : {Case{{16, 16}, 192, 64},
                          {{8, 8}, 192, 64},
                          {{32, 8}, 192, 64},
                          {{64, 4}, 192, 64},
                          {{8, 32}, 192, 64},
                          {{24, 8}, 192, 64},
                          {{4, 16}, 192, 64},
                          {{16, 2}, 192, 64},
                          {{64, 1}, 192, 84},
                          {{64, 3}, 192, 66},
                          {{64, 7}, 128, 84},
                          {{64, 16}, 64, 80},
                          {{64, 5}, 192, 15},
                          {{32, 2}, 96, 46},
                          {{32, 6}, 192, 78},
                          {{16, 4}, 48, 36},
                          {{128, 2}, 128, 20}}) {
        for (const uint32_t shift : {0u, 3u}) {
            const uint64_t to = out + 4 * shift;
            wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(to)};
            const wj_launch_options o = launch(args, {c.w, c.h}, {c.block[0], c.block[1]});
            std::vector<uint32_t> want(most + 32, 0x5a5a5a5a);
            std::copy(want.begin(), want.end(), host<uint32_t>(out));
            for (uint32_t y = 0; y < c.h; y++)
                for (uint32_t x = 0; x < c.w; x++)
                    want[shift + x * c.h + y] = host<uint32_t>(in)[y * c.w + x];
            ASSERT_EQ(run(k, o), WJ_OK) << error();
            EXPECT_TRUE(std::equal(want.begin(), want.end(), host<uint32_t>(out)))
                << c.block[0] << " x " << c.block[1] << " of " << c.w << " x " << c.h << " + "
                << shift;
        }
    }
    for (const auto& block : {std::array<uint32_t, 2>{16, 16}, {64, 4}}) {
        const uint64_t small = buffer(4096);
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(small)};
        const wj_launch_options o = launch(args, {192, 64}, {block[0], block[1]});
        EXPECT_EQ(run(k, o), WJ_GUEST_FAULT);
        EXPECT_NE(error().find("global_store_dword"), std::string::npos) << error();
        EXPECT_GE(fault.address, small + 4096);
    }
}

// Every work-group comes once, whether it is looked up or follows another.
TEST(GroupOrder, LocateAndAdvanceAgree) {
    for (const uint32_t together : {1u, 2u, 4u, 8u}) {
        runtime::LaunchPlan plan;
        plan.target = find_target("gfx90a");
        plan.request.grid = {3 * 64 - 5, 16 * 4 - 3, 2};
        plan.request.work_group = {64, 4, 1};
        plan.group_count = {3, 16, 2};
        plan.total_groups = 3 * 16 * 2;
        plan.rows_together = together;
        machine::WorkGroup next;
        runtime::locate_group(plan, 0, next);
        std::set<std::array<uint32_t, 3>> seen;
        for (uint64_t id = 0; id < plan.total_groups; id++) {
            machine::WorkGroup group;
            runtime::locate_group(plan, id, group);
            const std::array at{group.id[0], group.id[1], group.id[2]};
            EXPECT_TRUE(seen.insert(at).second) << id;
            EXPECT_EQ(at[1] % together, id % together);
            EXPECT_EQ(group.size[0], at[0] == 2 ? 59u : 64u);
            EXPECT_EQ(group.size[1], at[1] == 15 ? 1u : 4u);
            EXPECT_EQ(group.wave_count, (group.size[0] * group.size[1] + 63) / 64);
            EXPECT_EQ(next.linear_id, id);
            EXPECT_EQ((std::array{next.id[0], next.id[1], next.id[2]}), at);
            EXPECT_EQ(next.size[0], group.size[0]);
            EXPECT_EQ(next.size[1], group.size[1]);
            EXPECT_EQ(next.wave_count, group.wave_count);
            if (id + 1 < plan.total_groups) runtime::advance_group(plan, next);
        }
    }
}

// The same in launches that fill the caches. From the second one on the work-groups run in another
// order, so that columns become whole cache lines, where their number allows that.
TEST_P(DispatchTest, TransposeOfStreams) {
    wj_kernel* k = kernel("ids", "transpose");
    ASSERT_TRUE(k);
    constexpr uint32_t w = 2304, most = w * 2308;
    const uint64_t in = buffer(most * 4), out = buffer(most * 4 + 64);
    for (uint32_t i = 0; i < most; i++) host<uint32_t>(in)[i] = i * 2654435761u;
    struct Case {
        uint32_t block[2], h, shift;
    };
    for (const Case& c : {Case{{64, 4}, 2304, 0},
                          {{64, 4}, 2302, 0},
                          {{64, 4}, 2308, 3},
                          {{16, 8}, 2304, 0},
                          {{128, 2}, 2304, 16}}) {
        const uint64_t to = out + 4 * c.shift;
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(to)};
        const wj_launch_options o = launch(args, {w, c.h}, {c.block[0], c.block[1]});
        for (int turn = 0; turn < 2; turn++) {
            std::fill_n(host<uint32_t>(out), most, 0);
            ASSERT_EQ(run(k, o), WJ_OK) << error();
            uint32_t wrong = 0;
            for (uint32_t y = 0; y < c.h; y++)
                for (uint32_t x = 0; x < w; x++)
                    wrong +=
                        host<uint32_t>(out)[c.shift + x * c.h + y] != host<uint32_t>(in)[y * w + x];
            EXPECT_EQ(wrong, 0u) << c.block[0] << " x " << c.block[1] << ", " << c.h << " rows, "
                                 << turn;
        }
    }
}

// So many work-items that stores go around the caches, aligned and not.
TEST_P(DispatchTest, StreamsOfStores) {
    wj_kernel* k = kernel("ids", "copy");
    ASSERT_TRUE(k);
    constexpr uint32_t n = 5 << 20;
    const uint64_t in = buffer(n * 4), memory = buffer(n * 4 + 64);
    for (uint32_t i = 0; i < n; i++) host<uint32_t>(in)[i] = i * 2654435761u;
    for (const uint64_t out : {memory, memory + 4}) {
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(out)};
        const wj_launch_options o = launch(args, {n}, {256});
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        EXPECT_TRUE(
            std::equal(host<uint32_t>(in), host<uint32_t>(in) + n,
                       reinterpret_cast<const uint32_t*>(host<uint8_t>(memory) + (out - memory))));
    }
}

// Indices up to the last byte in front of a page without rights, into more than the caches hold:
// waves look at the next one's.
TEST_P(DispatchTest, GatherFromALargeTable) {
    wj_kernel* k = kernel("ids", "gather");
    ASSERT_TRUE(k);
    constexpr uint32_t entries = 1 << 21, n = 1 << 16, part = n - 4864;
    const uint64_t table = buffer(entries * 4), index = buffer(n * 4), out = buffer(n * 4);
    for (uint32_t i = 0; i < entries; i++) host<uint32_t>(table)[i] = i * 2654435761u;
    for (uint32_t i = 0; i < n; i++) host<uint32_t>(index)[i] = (i * 2246822519u) >> 11;
    host<uint32_t>(index)[part] = ~0u;  // behind what the second launch reads
    for (const uint32_t items : {part, n}) {
        if (items == n) host<uint32_t>(index)[part] = 7;
        std::fill_n(host<uint32_t>(out), n, 0);
        wj_argument args[] = {WJ_POINTER(table), WJ_POINTER(index), WJ_POINTER(out)};
        const wj_launch_options o = launch(args, {items}, {256});
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        for (uint32_t i = 0; i < n; i++)
            ASSERT_EQ(host<uint32_t>(out)[i],
                      i < items ? host<uint32_t>(index)[i] * 2654435761u : 0u)
                << i;
    }
}

TEST_P(DispatchTest, Saxpy) {
    wj_kernel* k = kernel("ids", "saxpy");
    ASSERT_TRUE(k);
    const uint32_t n = 10001;
    uint64_t x = buffer(n * 4), y = buffer(n * 4);
    for (uint32_t i = 0; i < n; i++) host<float>(x)[i] = float(i), host<float>(y)[i] = float(2 * i);
    float a = 0.5f;
    wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(x), WJ_POINTER(y), WJ_POINTER(n)};
    const wj_launch_options o = launch(args, {10240}, {256});
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    for (uint32_t i = 0; i < n; i++) ASSERT_EQ(host<float>(y)[i], 2.5f * float(i)) << i;
}

TEST_P(DispatchTest, ArgumentKinds) {
    wj_kernel* k = kernel("ids", "arguments");
    ASSERT_TRUE(k);
    uint64_t out = buffer(64);
    int8_t a = -5;
    int16_t b = -300;
    float c[4] = {1, 2, 3, 4};
    double d = 1e300;
    struct {
        int32_t a;
        int64_t b;
        int8_t c;
    } m = {7, -1ll << 40, 9};
    wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(b), WJ_POINTER(c),
                          WJ_POINTER(d), WJ_POINTER(m), WJ_POINTER(out)};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.arguments = args;
    o.argument_count = 6;
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    const double* v = host<double>(out);
    EXPECT_EQ(v[0], -5);
    EXPECT_EQ(v[1], -300);
    EXPECT_EQ(v[2], 4321);
    EXPECT_EQ(v[3], 1e300);
    EXPECT_EQ(v[4], 7);
    EXPECT_EQ(v[5], -0x1p40);
    EXPECT_EQ(v[6], 9);
}

TEST_P(DispatchTest, LocalMemoryAndBarriers) {
    wj_kernel* k = kernel("ids", "sum");
    ASSERT_TRUE(k);
    uint64_t in = buffer(8 * 256 * 4), out = buffer(8 * 4);
    for (uint32_t i = 0; i < 8 * 256; i++) host<uint32_t>(in)[i] = i;
    wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(out), {nullptr, 256 * 4}};
    const wj_launch_options o = launch(args, {8 * 256}, {256});
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    for (uint32_t g = 0; g < 8; g++)
        EXPECT_EQ(host<uint32_t>(out)[g], 256 * (g * 256) + 255 * 256 / 2 + 1000) << g;
}

TEST_P(DispatchTest, PrivateMemory) {
    wj_kernel* k = kernel("ids", "private_array");
    ASSERT_TRUE(k);
    const uint32_t n = 700;
    uint64_t index = buffer(32 * 4), out = buffer(n * 4);
    for (uint32_t i = 0; i < 32; i++) host<uint32_t>(index)[i] = i * 7 + 3;
    wj_argument args[] = {WJ_POINTER(index), WJ_POINTER(out)};
    const wj_launch_options o = launch(args, {n}, {128});
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a[32];
        for (uint32_t j = 0; j < 32; j++) a[j] = i * 100 + j;
        for (uint32_t j = 0; j < 8; j++) a[host<uint32_t>(index)[(i + j) % 32] % 32] ^= j << 16;
        ASSERT_EQ(host<uint32_t>(out)[i], a[host<uint32_t>(index)[i % 32] % 32]) << i;
    }
}

TEST_P(DispatchTest, PreloadedArguments) {
    if (GetParam().target != std::string("gfx90a")) GTEST_SKIP() << "only gfx90a can preload";
    wj_kernel* k = kernel("asm", "preloaded");
    ASSERT_TRUE(k);
    uint64_t out = buffer(64);
    ASSERT_EQ(run(k, packed(out, 1234)), WJ_OK) << error();
    EXPECT_EQ(*host<uint32_t>(out), 1234u);
}

WJ_SETUPS(DispatchTest);

// SEED-META-10, -21, -53.
TEST_P(DispatchTest, WorkGroupSizesThatKernelsAreCompiledFor) {
    const uint64_t out = buffer(4096);
    wj_argument arguments[] = {WJ_POINTER(out)};
    wj_kernel* exact = kernel("ids", "of_32_by_2");
    ASSERT_EQ(run(exact, launch(arguments, {32, 4}, {32, 2})), WJ_OK) << error();
    EXPECT_EQ(host<uint32_t>(out)[127], 3202u);
    EXPECT_EQ(run(exact, launch(arguments, {64}, {64})), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("exactly 32 x 2 x 1"), std::string::npos) << error();
    wj_kernel* small = kernel("ids", "of_up_to_128");
    ASSERT_EQ(run(small, launch(arguments, {128}, {128})), WJ_OK) << error();
    EXPECT_EQ(host<uint32_t>(out)[127], 128u);
    EXPECT_EQ(run(small, launch(arguments, {192}, {192})), WJ_OUT_OF_RANGE);
    EXPECT_NE(error().find("at most 128"), std::string::npos) << error();
}

}  // namespace
}  // namespace wj::test
