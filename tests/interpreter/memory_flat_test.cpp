#include "tests/interpreter/memory_fixture.h"

namespace wj::interp {
namespace {

using machine::private_aperture;
using machine::shared_aperture;

struct GlobalMemory : MemoryTest {};
struct FlatMemory : MemoryTest {};
struct ScratchMemory : MemoryTest {};

TEST_F(GlobalMemory, LoadsExtendAndKeepInactiveLanes) {
    for (uint32_t i = 0; i < 2048; ++i) memory_at<uint8_t>()[i] = static_cast<uint8_t>(0x80 + i);
    consecutive(2, 4);
    for (uint32_t l = 0; l < 64; ++l) v(1)[l] = 0x11112222;
    exec(0x5);
    EXPECT_EQ(run({0xdc448003, 0x017f0002 /* global_load_sbyte v1, v[2:3], off offset:3 */}), none);
    EXPECT_EQ(v(1)[0], 0xffffff83u);
    EXPECT_EQ(v(1)[1], 0x11112222u);
    EXPECT_EQ(v(1)[2], 0xffffff8bu);
    EXPECT_EQ(run({0xdc408000, 0x017f0002 /* global_load_ubyte v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[2], 0x88u);
    EXPECT_EQ(run({0xdc4c8000, 0x017f0002 /* global_load_sshort v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[2], 0xffff8988u);
    EXPECT_EQ(run({0xdc488000, 0x017f0002 /* global_load_ushort v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[0], 0x8180u);
}

TEST_F(GlobalMemory, D16LoadsKeepTheOtherHalfWithoutSramEcc) {
    for (uint32_t i = 0; i < 64; ++i) memory_at<uint8_t>()[i] = static_cast<uint8_t>(0x80 + i);
    consecutive(2, 4);
    exec(1);
    ctx->target = find_target("gfx90a:sramecc-");
    v(1)[0] = 0x11112222;
    EXPECT_EQ(run({0xdc908000, 0x017f0002 /* global_load_short_d16 v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[0], 0x11118180u);
    EXPECT_EQ(run({0xdc8c8000, 0x017f0002 /* global_load_sbyte_d16_hi v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[0], 0xff808180u);
    ctx->target = find_target("gfx90a");
    EXPECT_EQ(run({0xdc908000, 0x017f0002 /* global_load_short_d16 v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[0], 0x00008180u);
    EXPECT_EQ(run({0xdc8c8000, 0x017f0002 /* global_load_sbyte_d16_hi v1, v[2:3], off */}), none);
    EXPECT_EQ(v(1)[0], 0xff800000u);
}

TEST_F(GlobalMemory, ADestinationMayOverlapTheAddress) {
    for (uint32_t i = 0; i < 256; ++i) memory_at()[i] = i * 3;
    consecutive(2, 16);
    EXPECT_EQ(run({0xdc5c8000, 0x027f0002 /* global_load_dwordx4 v[2:5], v[2:3], off */}), none);
    for (uint32_t l = 0; l < 64; ++l)
        for (uint32_t d = 0; d < 4; ++d) EXPECT_EQ(v(2 + d)[l], (l * 4 + d) * 3);
}

TEST_F(GlobalMemory, SaddrAddsAnUnsignedRegisterAndASignedOffset) {
    memory_at()[100] = 77;
    w().set_s64(4, data - 0x90000000ull + 400 + 8);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = 0x90000000;
    EXPECT_EQ(run({0xdc509ff8, 0x01040002 /* global_load_dword v1, v2, s[4:5] offset:-8 */}), none);
    EXPECT_EQ(v(1)[63], 77u);
}

TEST_F(GlobalMemory, StoresOfEveryWidth) {
    consecutive(2, 16);
    for (uint32_t l = 0; l < 64; ++l)
        for (uint32_t d = 0; d < 4; ++d) v(4 + d)[l] = 0xa0000000 + l * 16 + d;
    EXPECT_EQ(run({0xdc788000, 0x007f0402 /* global_store_dwordx3 v[2:3], v[4:6], off */}), none);
    EXPECT_EQ(memory_at()[4 * 63 + 2], 0xa0000000u + 63 * 16 + 2);
    EXPECT_EQ(memory_at()[4 * 63 + 3], 0u);
    EXPECT_EQ(
        run({0xdc64800d, 0x007f0402 /* global_store_byte_d16_hi v[2:3], v4, off offset:13 */}),
        none);
    EXPECT_EQ(memory_at()[3], 0u);
    v(4)[0] = 0x00560000;
    EXPECT_EQ(
        run({0xdc64800d, 0x007f0402 /* global_store_byte_d16_hi v[2:3], v4, off offset:13 */}),
        none);
    EXPECT_EQ(memory_at()[3], 0x5600u);
    EXPECT_EQ(
        run({0xdc6c800e, 0x007f0402 /* global_store_short_d16_hi v[2:3], v4, off offset:14 */}),
        none);
    EXPECT_EQ(memory_at()[3], 0x00565600u);
}

TEST_F(GlobalMemory, AFaultNamesItsLanesAndChangesNothing) {
    consecutive(2, 4);
    set_address(2, 5, 16);
    set_address(2, 9, data + 8190);
    for (uint32_t l = 0; l < 64; ++l) v(1)[l] = l;
    EXPECT_EQ(run({0xdc508000, 0x017f0002 /* global_load_dword v1, v[2:3], off */}), fault);
    EXPECT_EQ(w().exit.lane_mask, 1ull << 5 | 1ull << 9);
    EXPECT_EQ(w().exit.address, 16u);
    EXPECT_EQ(w().exit.access, machine::Access::Read);
    EXPECT_EQ(w().exit.access_bytes, 4u);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], l);
    exec(1ull << 9);
    EXPECT_EQ(run({0xdc748000, 0x007f0402 /* global_store_dwordx2 v[2:3], v[4:5], off */}), fault);
    EXPECT_EQ(w().exit.address, data + 8192);
    EXPECT_EQ(w().exit.access, machine::Access::Write);
    EXPECT_EQ(w().exit.access_bytes, 8u);
    exec(1);
    EXPECT_EQ(run({0xdc508000, 0x017f0002 /* global_load_dword v1, v[2:3], off */}), none);
}

TEST_F(GlobalMemory, AtomicsOfOneAddressAreSerialInLaneOrder) {
    for (uint32_t l = 0; l < 64; ++l) set_address(2, l, data + 8), v(4)[l] = l + 1, v(1)[l] = 5;
    memory_at()[2] = 100;
    EXPECT_EQ(run({0xdd098000, 0x017f0402 /* global_atomic_add v1, v[2:3], v4, off glc */}), none);
    uint32_t sum = 100;
    for (uint32_t l = 0; l < 64; ++l) {
        EXPECT_EQ(v(1)[l], sum);
        sum += l + 1;
    }
    EXPECT_EQ(memory_at()[2], sum);
    EXPECT_EQ(run({0xdd0c8000, 0x007f0402 /* global_atomic_sub v[2:3], v4, off */}), none);
    EXPECT_EQ(memory_at()[2], 100u);
}

TEST_F(GlobalMemory, AtomicOperations) {
    struct Case {
        uint32_t old, operand, umin, umax, smin, smax, inc, dec;
    };
    // inc: old >= data ? 0 : old + 1; dec: old == 0 || old > data ? data : old - 1
    const Case cases[] = {{5, 0x80000000, 5, 0x80000000, 0x80000000, 5, 6, 4},
                          {7, 7, 7, 7, 7, 7, 0, 6},
                          {0, 9, 0, 9, 0, 9, 1, 9},
                          {12, 9, 9, 12, 9, 12, 0, 9}};
    exec(1);
    set_address(2, 0, data);
    for (const Case& c : cases) {
        v(4)[0] = c.operand;
        auto check = [&](std::initializer_list<uint32_t> words, uint32_t expected) {
            memory_at()[0] = c.old;
            EXPECT_EQ(run(words), none);
            EXPECT_EQ(v(1)[0], c.old);
            EXPECT_EQ(memory_at()[0], expected);
        };
        check({0xdd158000, 0x017f0402 /* global_atomic_umin v1, v[2:3], v4, off glc */}, c.umin);
        check({0xdd1d8000, 0x017f0402 /* global_atomic_umax v1, v[2:3], v4, off glc */}, c.umax);
        check({0xdd118000, 0x017f0402 /* global_atomic_smin v1, v[2:3], v4, off glc */}, c.smin);
        check({0xdd198000, 0x017f0402 /* global_atomic_smax v1, v[2:3], v4, off glc */}, c.smax);
        check({0xdd2d8000, 0x017f0402 /* global_atomic_inc v1, v[2:3], v4, off glc */}, c.inc);
        check({0xdd318000, 0x017f0402 /* global_atomic_dec v1, v[2:3], v4, off glc */}, c.dec);
        check({0xdd298000, 0x017f0402 /* global_atomic_xor v1, v[2:3], v4, off glc */},
              c.old ^ c.operand);
        check({0xdd018000, 0x017f0402 /* global_atomic_swap v1, v[2:3], v4, off glc */}, c.operand);
    }
}

TEST_F(GlobalMemory, CompareAndSwap) {
    exec(3);
    set_address(2, 0, data), set_address(2, 1, data + 8);
    memory_at<uint64_t>()[0] = 0x1122334455667788, memory_at<uint64_t>()[1] = 42;
    for (uint32_t l = 0; l < 2; ++l) {  // new value 5, expected 0x1122334455667788
        v(4)[l] = 5, v(5)[l] = 0, v(6)[l] = 0x55667788, v(7)[l] = 0x11223344;
    }
    EXPECT_EQ(run({0xdd858000,
                   0x087f0402 /* global_atomic_cmpswap_x2 v[8:9], v[2:3], v[4:7], off glc */}),
              none);
    EXPECT_EQ(memory_at<uint64_t>()[0], 5u);
    EXPECT_EQ(memory_at<uint64_t>()[1], 42u);
    EXPECT_EQ(v(9)[0], 0x11223344u);
    EXPECT_EQ(v(8)[1], 42u);
}

TEST_F(GlobalMemory, FloatAtomics) {
    exec(1);
    set_address(2, 0, data);
    memory_at<float>()[0] = 1.5f;
    float f = 2.25f;
    std::memcpy(&v(4)[0], &f, 4);
    EXPECT_EQ(run({0xdd358000, 0x017f0402 /* global_atomic_add_f32 v1, v[2:3], v4, off glc */}),
              none);
    EXPECT_EQ(memory_at<float>()[0], 3.75f);
    EXPECT_EQ(v(1)[0], 0x3fc00000u);
    // Denormals: flushed by the memory unit of gfx90a, kept from gfx940 on.
    memory_at()[0] = 1, v(4)[0] = 1;
    EXPECT_EQ(run({0xdd348000, 0x007f0402 /* global_atomic_add_f32 v[2:3], v4, off */}), none);
    EXPECT_EQ(memory_at()[0], 0u);
    memory_at<double>()[0] = -3;
    v(4)[0] = 0, v(5)[0] = 0xc0100000;  // -4.0
    EXPECT_EQ(run({0xdd408000, 0x007f0402 /* global_atomic_min_f64 v[2:3], v[4:5], off */}), none);
    EXPECT_EQ(memory_at<double>()[0], -4.0);
    memory_at()[0] = 0x3c004000, v(4)[0] = 0x3c003c00;  // {2, 1} + {1, 1} in f16
    EXPECT_EQ(run({0xdd388000, 0x007f0402 /* global_atomic_pk_add_f16 v[2:3], v4, off */}), none);
    EXPECT_EQ(memory_at()[0], 0x40004200u);
}

TEST_F(GlobalMemory, MisalignedAtomicsFault) {
    exec(6);
    consecutive(2, 2);
    EXPECT_EQ(run({0xdd088000, 0x007f0402 /* global_atomic_add v[2:3], v4, off */}), fault);
    EXPECT_EQ(w().exit.lane_mask, 2u);
    EXPECT_EQ(w().exit.access, machine::Access::Atomic);
    ASSERT_NE(w().exit.reason, nullptr);
    EXPECT_STREQ(w().exit.reason, "misaligned atomic");
}

TEST_F(GlobalMemory, ASignalInIdentityModeIsExplained) {
    ASSERT_TRUE(machine::install_fault_handler());
    ctx->memory_mode = machine::MemoryMode::Identity;
    consecutive(2, 4);
    set_address(2, 7, data + 8192 + 100);
    set_address(2, 20, data + 8192 + 4096);
    const Inst inst = decoded({0xdc508000, 0x017f0002 /* global_load_dword v1, v[2:3], off */});
    const auto kind = machine::run_guarded(w(), nullptr, nullptr, [&](machine::Wave& wv) {
        handler(inst.op)(wv, inst);
        return wv.exit.kind;
    });
    ASSERT_EQ(kind, fault);
    EXPECT_EQ(w().exit.address, data + 8192 + 100);
    explain_fault(w(), inst, w().exit);
    EXPECT_EQ(w().exit.lane_mask, 1ull << 7 | 1ull << 20);
    EXPECT_EQ(w().exit.access_bytes, 4u);
    // Not canonical: the signal has no address, the registers do.
    set_address(2, 7, 0x0123000000000000), set_address(2, 20, data);
    const auto again = machine::run_guarded(w(), nullptr, nullptr, [&](machine::Wave& wv) {
        handler(inst.op)(wv, inst);
        return wv.exit.kind;
    });
    ASSERT_EQ(again, fault);
    explain_fault(w(), inst, w().exit);
    EXPECT_EQ(w().exit.address, 0x0123000000000000u);
    EXPECT_EQ(w().exit.lane_mask, 1ull << 7);
    EXPECT_STREQ(w().exit.reason, "non-canonical address");
}

TEST_F(FlatMemory, LanesGoToThreePlaces) {
    exec(7);
    memory_at()[1] = 11;
    std::memcpy(lds.data() + 20, "\x16\0\0\0", 4);
    memory_at(scratch)[64 + 2] = 33;  // dword 1 of lane 2
    set_address(2, 0, data);
    set_address(2, 1, shared_aperture + 16);
    set_address(2, 2, private_aperture);
    EXPECT_EQ(run({0xdc500004, 0x01000002 /* flat_load_dword v1, v[2:3] offset:4 */}), none);
    EXPECT_EQ(v(1)[0], 11u);
    EXPECT_EQ(v(1)[1], 0x16u);
    EXPECT_EQ(v(1)[2], 33u);
    for (uint32_t l = 0; l < 3; ++l) v(4)[l] = 1;
    EXPECT_EQ(run({0xdd090004, 0x01000402 /* flat_atomic_add v1, v[2:3], v4 offset:4 glc */}),
              none);
    EXPECT_EQ(v(1)[1], 0x16u);
    EXPECT_EQ(memory_at()[1], 12u);
    EXPECT_EQ(lds[20], 0x17);
    EXPECT_EQ(memory_at(scratch)[66], 34u);
}

TEST_F(FlatMemory, OutOfRangeLdsReadsZeroAndPrivateFaults) {
    exec(1);
    v(1)[0] = 9;
    set_address(2, 0, shared_aperture + lds_bytes);
    EXPECT_EQ(run({0xdc500000, 0x01000002 /* flat_load_dword v1, v[2:3] */}), none);
    EXPECT_EQ(v(1)[0], 0u);
    EXPECT_EQ(run({0xdc700000, 0x00000102 /* flat_store_dword v[2:3], v1 */}), none);
    set_address(2, 0, private_aperture + scratch_bytes);
    EXPECT_EQ(run({0xdc500000, 0x01000002 /* flat_load_dword v1, v[2:3] */}), fault);
    EXPECT_EQ(w().exit.lane_mask, 1u);
    EXPECT_EQ(w().exit.address, private_aperture + scratch_bytes);
    EXPECT_STREQ(w().exit.reason, "beyond the private segment");
}

// (p / 4) * 256 + lane * 4 + p % 4.
TEST_F(ScratchMemory, DwordsAreInterleavedByLane) {
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = 8, v(4)[l] = l, v(5)[l] = 1000 + l;
    EXPECT_EQ(run({0xdc744004, 0x007f0402 /* scratch_store_dwordx2 v2, v[4:5], off offset:4 */}),
              none);
    for (uint32_t l = 0; l < 64; ++l) {
        EXPECT_EQ(memory_at(scratch)[3 * 64 + l], l);
        EXPECT_EQ(memory_at(scratch)[4 * 64 + l], 1000 + l);
    }
    w().sgpr[6] = 10;
    EXPECT_EQ(run({0xdc504004, 0x01060000 /* scratch_load_dword v1, off, s6 offset:4 */}),
              none);  // unaligned: bytes 14..17
    EXPECT_EQ(v(1)[3], (3u >> 16) | (1003u & 0xffff) << 16);
    EXPECT_EQ(run({0xdc484006, 0x01060000 /* scratch_load_ushort v1, off, s6 offset:6 */}), none);
    EXPECT_EQ(v(1)[3], 1003u);
}

TEST_F(ScratchMemory, BeyondTheSegmentFaults) {
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l < 60 ? 0 : scratch_bytes - 2;
    EXPECT_EQ(run({0xdc704000, 0x007f0402 /* scratch_store_dword v2, v4, off */}), fault);
    EXPECT_EQ(w().exit.lane_mask, 0xf000000000000000u);
    EXPECT_EQ(w().exit.access, machine::Access::Write);
    EXPECT_EQ(run({0xdc684000, 0x007f0402 /* scratch_store_short v2, v4, off */}), none);
    EXPECT_EQ(run({0xdc685fff, 0x007f0402 /* scratch_store_short v2, v4, off offset:-1 */}),
              fault);  // wraps to 4 GiB - 1
}

}  // namespace
}  // namespace wj::interp
