// wj_kernel_patch: code that is changed in place.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

// Encodings of gfx9 (Vega ISA manual, 13.3 VOP2, 13.6 FLAT): an inline constant n is 128 + n.
constexpr uint32_t add_to_v2(uint32_t constant) {
    return 0x34u << 25 | 2u << 17 | 2u << 9 | (128 + constant);  // v_add_u32_e32 v2, n, v2
}
constexpr uint32_t store = 0xdc708000;  // global_store_dword, its first word
constexpr uint32_t stored(uint32_t vgpr) {
    return 4u << 16 | vgpr << 8 | 1u;  // its second: v1, the VGPR, s[4:5]
}
constexpr uint32_t end_program = 0xbf810000, no_operation = 0xbf800000;

class PatchTest : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        if (!context) return;
        sum = kernel("patch", "sum");
        ASSERT_EQ(wj_module_get_kernel(modules[0].get(), "other", &other), WJ_OK) << error();
        ASSERT_EQ(wj_kernel_get_info(sum, &info), WJ_OK) << error();
        out = buffer(64 * 4);
    }
    // Where this word is in the kernel's code.
    uint64_t find(uint32_t word) const {
        for (uint64_t at = 0; at < info.code_size; at += 4) {
            uint32_t there = 0;
            EXPECT_EQ(wj_memory_read(context.get(), &there, info.entry + at, 4), WJ_OK);
            if (there == word) return at;
        }
        ADD_FAILURE() << "no such instruction";
        return 0;
    }
    wj_status patch(uint64_t at, uint32_t word) { return wj_kernel_patch(sum, at, &word, 4); }
    uint32_t result(uint32_t laps) {
        std::memset(host<void>(out), 0, 64 * 4);
        EXPECT_EQ(run(sum, packed(out, laps)), WJ_OK) << error();
        return host<uint32_t>(out)[63];
    }
    uint64_t translated() {
        wj_counters c = WJ_INIT(wj_counters);
        EXPECT_EQ(wj_context_get_counters(context.get(), &c), WJ_OK);
        return c.blocks_translated;
    }

    wj_kernel *sum = nullptr, *other = nullptr;
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    uint64_t out = 0;
};

TEST_P(PatchTest, LaunchesRunTheNewCode) {
    const uint64_t add = find(add_to_v2(7)), data = find(store) + 4;
    // Cold, and translated with what the engine knows of the loop.
    for (const uint32_t laps : {5u, 1000u})
        for (const uint32_t n : {7u, 3u, 64u, 1u}) {
            ASSERT_EQ(patch(add, add_to_v2(n)), WJ_OK) << error();
            for (int i = 0; i < 3; i++) ASSERT_EQ(result(laps), n * laps);
        }
    // What nobody read is read.
    ASSERT_EQ(patch(data, stored(3)), WJ_OK) << error();
    EXPECT_EQ(result(1000), 0u);
    EXPECT_EQ(result(5), 995u);
    ASSERT_EQ(patch(add, end_program), WJ_OK) << error();
    EXPECT_EQ(result(5), 0u);
    ASSERT_EQ(patch(add, add_to_v2(2)), WJ_OK) << error();
    EXPECT_EQ(result(5), 990u);
    // Reports show what is there.
    ASSERT_EQ(patch(add, 0xbfffffff), WJ_OK) << error();
    EXPECT_EQ(run(sum, packed(out, 5)), WJ_ILLEGAL_INSTRUCTION);
    EXPECT_EQ(fault.words[0], 0xbfffffffu);
    EXPECT_EQ(static_cast<uint64_t>(fault.kernel_offset), add);
}

TEST_P(PatchTest, WhatWasNoInstructionIsOne) {
    for (const uint64_t at : {0, 4})
        for (int i = 0; i < 3; i++) {
            ASSERT_EQ(patch(0, no_operation), WJ_OK) << error();
            ASSERT_EQ(patch(at, ~0u), WJ_OK) << error();
            EXPECT_EQ(run(sum, packed(out, 1)), WJ_ILLEGAL_INSTRUCTION) << error();
            ASSERT_EQ(patch(at, end_program), WJ_OK) << error();
            EXPECT_EQ(run(sum, packed(out, 1)), WJ_OK) << error();
        }
}

TEST_P(PatchTest, PreparedLaunchesStayValid) {
    const uint64_t add = find(add_to_v2(7)), data = find(store) + 4;
    const wj_launch_options o = packed(out, 10);
    wj_prepared* p = nullptr;
    ASSERT_EQ(wj_launch_prepare(sum, &o, &p), WJ_OK) << error();
    for (uint32_t round = 0; round < 100; round++) {
        const uint32_t n = round % 60 + 1, reg = round % 2 ? 3 : 2;
        ASSERT_EQ(patch(add, add_to_v2(n)), WJ_OK) << error();
        ASSERT_EQ(patch(data, stored(reg)), WJ_OK) << error();
        for (int i = 0; i < 2; i++) {
            ASSERT_EQ(wj_prepared_launch(p, nullptr), WJ_OK) << error();
            ASSERT_EQ(host<uint32_t>(out)[5], reg == 2 ? 10 * n : 1000 - 10 * n);
        }
    }
    wj_prepared_release(p);
}

TEST_P(PatchTest, OtherKernelsKeepTheirTranslations) {
    const uint64_t add = find(add_to_v2(7));
    for (int i = 0; i < 100; i++) ASSERT_EQ(run(other, packed(out, 0)), WJ_OK) << error();
    EXPECT_EQ(result(1000), 7000u);
    const uint64_t before = translated();
    for (uint32_t n = 1; n < 5; n++) {
        ASSERT_EQ(patch(add, add_to_v2(n)), WJ_OK) << error();
        ASSERT_EQ(run(other, packed(out, 0)), WJ_OK) << error();
        EXPECT_EQ(host<uint32_t>(out)[9], 9u);
    }
    EXPECT_EQ(translated(), before);
}

TEST_P(PatchTest, WhatCannotBeIsRefused) {
    const uint64_t add = find(add_to_v2(7)), size = info.code_size;
    const uint32_t word = add_to_v2(7);
    EXPECT_EQ(wj_kernel_patch(nullptr, 0, &word, 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_kernel_patch(sum, 0, nullptr, 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_kernel_patch(sum, 0, &word, 0), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_kernel_patch(sum, size, &word, 4), WJ_OUT_OF_RANGE);
    EXPECT_NE(error().find("bytes of code"), std::string::npos) << error();
    EXPECT_EQ(wj_kernel_patch(sum, size - 2, &word, 4), WJ_OUT_OF_RANGE);
    EXPECT_EQ(wj_kernel_patch(sum, ~uint64_t{0}, &word, 4), WJ_OUT_OF_RANGE);
    EXPECT_EQ(wj_kernel_patch(sum, 0, &word, ~size_t{0}), WJ_OUT_OF_RANGE);
    wj_launch_options o = packed(out, 7);
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(kernel("asm", "endless"), &o, &d), WJ_OK) << error();
    dispatch.reset(d);
    EXPECT_EQ(patch(add, word), WJ_NOT_READY);
    EXPECT_NE(error().find("while no dispatch runs"), std::string::npos) << error();
    wj_dispatch_cancel(d);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_TIMEOUT);
    EXPECT_EQ(patch(add, word), WJ_OK) << error();
    EXPECT_EQ(result(3), 21u);
    // Code is still not written by others.
    EXPECT_EQ(wj_memory_write(context.get(), info.entry + add, &word, 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(run(kernel("asm", "store_at"), packed(info.entry, 4)), WJ_GUEST_FAULT);
}

TEST_P(PatchTest, ClonesAndSnapshots) {
    const uint64_t add = find(add_to_v2(7));
    wj_snapshot snapshot = 0;
    ASSERT_EQ(wj_snapshot_take(context.get(), nullptr, &snapshot), WJ_OK) << error();
    ASSERT_EQ(patch(add, add_to_v2(4)), WJ_OK) << error();
    ASSERT_EQ(wj_snapshot_restore(context.get(), snapshot, nullptr), WJ_OK) << error();
    EXPECT_EQ(result(10), 40u);
    if (GetParam().memory != WJ_MEMORY_CHECKED) return;
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_clone(context.get(), &made), WJ_OK) << error();
    Context clone(made);
    wj_module* m = nullptr;
    wj_kernel* there = nullptr;
    ASSERT_EQ(wj_context_get_module(made, modules[0].get(), &m), WJ_OK);
    ASSERT_EQ(wj_module_get_kernel(m, "sum", &there), WJ_OK);
    const wj_launch_options o = packed(out, 10);
    ASSERT_EQ(wj_launch(there, &o, nullptr), WJ_OK) << wj_last_error(made);
    uint32_t word = 0;
    ASSERT_EQ(wj_memory_read(made, &word, out, 4), WJ_OK);
    EXPECT_EQ(word, 40u);
    EXPECT_EQ(patch(add, add_to_v2(5)), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("has clones"), std::string::npos) << error();
    clone.reset();
    ASSERT_EQ(patch(add, add_to_v2(5)), WJ_OK) << error();
    EXPECT_EQ(result(10), 50u);
}

WJ_SETUPS(PatchTest);

}  // namespace
}  // namespace wj::test
