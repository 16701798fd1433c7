// What kernels do to queues and signals by stores alone: they put packets into queues and ring
// their doorbells, and they wake the host by an interrupt. And what a packet says of its kernel.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/frontend/build_objects.h"
#include "tests/hsa/fixture.h"

namespace {

using namespace std::chrono_literals;

// Offsets: amd_hsa_queue.h, amd_hsa_signal.h, hsa_kernel_dispatch_packet_t.
const char* const source = R"(
.macro kernel name
  .text
  .globl \name
  .p2align 8
  .type \name,@function
  \name:
.endm
.macro descriptor name, accum, first, second, third
  .rodata
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_kernarg_size 64
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 48
    \accum
    \first
    \second
    \third
  .end_amdhsa_kernel
.endm

kernel answer                                // (uint32_t* result)
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 4711
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[8:9]
  s_endpgm

kernel enqueue     // (amd_queue_t*, packet*, amd_signal_t* or null, uint32_t* out, uint32_t* result)
  s_load_dwordx8 s[8:15], s[0:1], 0x0
  s_load_dwordx2 s[16:17], s[0:1], 0x20
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v0, 0
  v_mov_b32 v2, 1
  v_mov_b32 v3, 0
  global_atomic_add_x2 v[4:5], v0, v[2:3], s[8:9] offset:56 glc    // write_dispatch_id
  s_load_dwordx2 s[18:19], s[8:9], 0x8       // hsa_queue.base_address
  s_load_dwordx2 s[20:21], s[8:9], 0x10      // hsa_queue.doorbell_signal
  s_load_dword s22, s[8:9], 0x18             // hsa_queue.size
  s_load_dwordx16 s[32:47], s[10:11], 0x0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_load_dwordx2 s[20:21], s[20:21], 0x8     // hardware_doorbell_ptr
  v_readfirstlane_b32 s24, v4
  s_sub_u32 s22, s22, 1
  s_and_b32 s22, s22, s24
  s_lshl_b32 s22, s22, 6
  s_add_u32 s18, s18, s22
  s_addc_u32 s19, s19, 0
  .set i, 1
  .rept 15
    v_mov_b32 v1, s[32 + i]
    global_store_dword v0, v1, s[18:19] offset:4 * i
    .set i, i + 1
  .endr
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mov_b32 v1, s32
  global_store_dword v0, v1, s[18:19]        // the header, last
  s_waitcnt vmcnt(0)
  global_store_dwordx2 v0, v[4:5], s[20:21]  // the doorbell
  s_cmp_eq_u64 s[12:13], 0
  s_cbranch_scc1 enqueued
still:
  global_load_dword v6, v0, s[12:13] offset:8 glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s24, v6
  s_cmp_eq_u32 s24, 0
  s_cbranch_scc0 still
  global_load_dword v1, v0, s[16:17] glc
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[14:15]
enqueued:
  s_endpgm

kernel interrupt                             // (amd_signal_t*, uint32_t* out)
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[12:13], s[8:9], 0x10      // event_mailbox_ptr
  s_load_dword s14, s[8:9], 0x18             // event_id
  v_mov_b32 v0, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  global_store_dwordx2 v0, v[2:3], s[8:9] offset:8     // the signal's value
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mov_b32 v2, s14
  global_store_dwordx2 v0, v[2:3], s[12:13]
  s_waitcnt vmcnt(0)
  s_and_b32 m0, s14, 0xff
  s_sendmsg sendmsg(MSG_INTERRUPT)
  global_load_dword v1, v0, s[12:13] glc
  s_waitcnt vmcnt(0)
  v_add_u32 v1, 1, v1
  global_store_dword v0, v1, s[10:11]        // the mailbox and 1
held:
  global_load_dword v1, v0, s[10:11] offset:4 glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s24, v1
  s_cmp_eq_u32 s24, 0
  s_cbranch_scc1 held
  s_endpgm

kernel number                                // (uint32_t* out), the dispatch's id in s[2:3]
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v1, s2
  v_mov_b32 v2, s3
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[8:9]
  global_store_dword v0, v2, s[8:9] offset:4
  s_endpgm

kernel spill                   // (uint32_t* out): through byte 64 of its private segment; it states 4
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_add_u32 flat_scratch_lo, s2, s5
  s_addc_u32 flat_scratch_hi, s3, 0
  v_mov_b32 v0, 64
  v_mov_b32 v1, 4711
  scratch_store_dword v0, v1, off
  s_waitcnt vmcnt(0)
  scratch_load_dword v2, v0, off
  v_mov_b32 v0, 0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v0, v2, s[8:9]
  s_endpgm
)";

class DeviceEnqueue : public Hsa {
protected:
    void SetUp() override {
        Hsa::SetUp();
        char name[64] = "";
        HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
        std::string all = source;
        const std::string accum =
            std::string(name) == "gfx90a" ? ", \".amdhsa_accum_offset 8\"" : ", \"\"";
        for (const char* kernel : {"answer", "enqueue", "interrupt"})
            all += "descriptor " + std::string(kernel) + accum + "\n";
        all += "descriptor number" + accum + ", \".amdhsa_user_sgpr_dispatch_id 1\"\n";
        all += "descriptor spill" + accum +
               ", \".amdhsa_user_sgpr_flat_scratch_init 1\", "
               "\".amdhsa_system_sgpr_private_segment_wavefront_offset 1\", "
               "\".amdhsa_private_segment_fixed_size 4\"\n";
        wj::test::Workshop shop;
        object = shop.assemble(all, name);
        ASSERT_FALSE(object.empty()) << shop.log();
        HSA_OK(hsa_code_object_reader_create_from_memory(object.data(), object.size(), &reader));
        HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         nullptr, &executable));
        HSA_OK(
            hsa_executable_load_agent_code_object(executable, gpus[0], reader, nullptr, nullptr));
        HSA_OK(hsa_executable_freeze(executable, nullptr));
        memory = allocate<uint64_t>(256);
        out = reinterpret_cast<uint32_t*>(memory);
        result = reinterpret_cast<uint32_t*>(memory + 8);
        out[0] = out[1] = result[0] = 0;
        finished = signal(1);
        answered = signal(1);
    }
    void TearDown() override {
        HSA_OK(hsa_signal_destroy(finished));
        HSA_OK(hsa_signal_destroy(answered));
        HSA_OK(hsa_amd_memory_pool_free(memory));
        HSA_OK(hsa_executable_destroy(executable));
        HSA_OK(hsa_code_object_reader_destroy(reader));
        Hsa::TearDown();
    }
    // A packet for one work-item of a kernel; `at`: where the arguments lie.
    hsa_kernel_dispatch_packet_t packet(const char* kernel, uint64_t* at,
                                        std::array<const void*, 5> arguments,
                                        hsa_signal_t completion) {
        hsa_executable_symbol_t symbol;
        EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, kernel, &gpus[0], &symbol),
                  HSA_STATUS_SUCCESS);
        hsa_kernel_dispatch_packet_t p{};
        EXPECT_EQ(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                                 &p.kernel_object),
                  HSA_STATUS_SUCCESS);
        std::ranges::transform(arguments, at,
                               [](const void* a) { return reinterpret_cast<uint64_t>(a); });
        p.setup = 1;
        p.workgroup_size_x = p.workgroup_size_y = p.workgroup_size_z = 1;
        p.grid_size_x = p.grid_size_y = p.grid_size_z = 1;
        p.kernarg_address = at;
        p.completion_signal = completion;
        return p;
    }
    // The kernel `enqueue` in queue `from` puts `answer` into queue `to`.
    void enqueue(TestQueue& from, TestQueue& to, bool waits) {
        auto* inner = reinterpret_cast<hsa_kernel_dispatch_packet_t*>(memory + 32);
        *inner = packet("answer.kd", memory + 48, {result}, answered);
        inner->header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
        const void* completion = waits ? reinterpret_cast<const void*>(answered.handle) : nullptr;
        from.submit(
            packet("enqueue.kd", memory + 64, {to.queue, inner, completion, out, result}, finished),
            HSA_PACKET_TYPE_KERNEL_DISPATCH);
        // Waits with a time limit: such threads run no kernels themselves.
        EXPECT_EQ(wait_zero(answered), 0);
        EXPECT_EQ(wait_zero(finished), 0);
        EXPECT_EQ(result[0], 4711u);
        EXPECT_EQ(out[0], waits ? 4711u : 0u);
        EXPECT_EQ(hsa_queue_load_read_index_scacquire(to.queue), from.queue == to.queue ? 2u : 1u);
    }

    wj::test::Buffer object;
    hsa_code_object_reader_t reader{};
    hsa_executable_t executable{};
    uint64_t* memory = nullptr;
    uint32_t *out = nullptr, *result = nullptr;
    hsa_signal_t finished{}, answered{};
};

// SEED-DISP-06, -53
TEST_F(DeviceEnqueue, IntoAnotherQueueWhoseKernelItWaitsFor) {
    TestQueue a(gpus[0], 64), b(gpus[0], 64);
    enqueue(a, b, true);
}

TEST_F(DeviceEnqueue, IntoItsOwnQueueWhoseKernelItWaitsFor) {
    TestQueue a(gpus[0], 64);
    enqueue(a, a, true);
}

TEST_F(DeviceEnqueue, IntoAnotherQueueBeforeItEnds) {
    TestQueue a(gpus[0], 64), b(gpus[0], 64);
    enqueue(a, b, false);
}

// SEED-DISP-16: a dispatch's id is the index of its packet.
TEST_F(DeviceEnqueue, DispatchIdIsThePacketsIndex) {
    TestQueue q(gpus[0], 64);
    for (uint32_t i = 0; i < 70; i++) {  // once around the ring
        hsa_signal_store_relaxed(finished, 1);
        out[0] = out[1] = ~0u;
        q.submit(packet("number.kd", memory + 64, {out}, finished),
                 HSA_PACKET_TYPE_KERNEL_DISPATCH);
        ASSERT_EQ(wait_zero(finished), 0);
        ASSERT_EQ(out[0], i);
        ASSERT_EQ(out[1], 0u);
    }
}

// SEED-DISP-12: the packet says how much private memory there is, in whole dwords.
TEST_F(DeviceEnqueue, PrivateSegmentIsAsLongAsThePacketSays) {
    struct Error {
        std::atomic<uint32_t> status{0};
    } error;
    TestQueue q(
        gpus[0], 64,
        [](hsa_status_t status, hsa_queue_t*, void* data) {
            static_cast<Error*>(data)->status = status;
        },
        &error);
    hsa_kernel_dispatch_packet_t p = packet("spill.kd", memory + 64, {out}, finished);
    for (uint32_t bytes : {68u, 65u, 1024u}) {  // 65 bytes are 68
        hsa_signal_store_relaxed(finished, 1);
        out[0] = 0;
        p.private_segment_size = bytes;
        q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        ASSERT_EQ(wait_zero(finished), 0) << bytes;
        EXPECT_EQ(out[0], 4711u) << bytes;
    }
    p.private_segment_size = 64;
    q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    for (int i = 0; i < 5000 && !error.status; i++) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(error.status, HSA_STATUS_ERROR_MEMORY_FAULT);
}

// SEED-DISP-51, SEED-TRAP-19
TEST_F(DeviceEnqueue, InterruptWakesTheHost) {
    const hsa_signal_t raised = signal(1);
    TestQueue q(gpus[0], 64);
    hsa_signal_value_t seen = -1;
    std::thread host([&] { seen = wait_zero(raised); });
    std::this_thread::sleep_for(2ms);  // it sleeps
    q.submit(packet("interrupt.kd", memory + 64,
                    {reinterpret_cast<const void*>(raised.handle), out}, finished),
             HSA_PACKET_TYPE_KERNEL_DISPATCH);
    host.join();
    EXPECT_EQ(seen, 0);
    EXPECT_EQ(hsa_signal_load_scacquire(finished), 1);  // the kernel still runs
    __atomic_store_n(&out[1], 1, __ATOMIC_RELEASE);
    EXPECT_EQ(wait_zero(finished), 0);
    EXPECT_EQ(out[0], 1u);  // the event had been taken out of the mailbox
    HSA_OK(hsa_signal_destroy(raised));
}

}  // namespace
