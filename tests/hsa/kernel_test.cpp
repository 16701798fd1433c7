// Who runs a kernel: the one that rings the doorbell, a worker, or nobody unless somebody is woken.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "tests/hsa/fixture.h"

namespace {

constexpr uint16_t behind_all = 1 << HSA_PACKET_HEADER_BARRIER;
constexpr uint64_t patience = 5'000'000'000;  // ns
constexpr uint32_t items = 64;

// copy() of tests/runtime/kernels/ids.cl, loaded as a program would load it.
class Kernels : public Hsa {
protected:
    void SetUp() override {
        Hsa::SetUp();
        char name[64] = "";
        HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
        const std::string path = std::string(WJ_TEST_KERNELS "/ids.") + name + ".hsaco";
        const int file = open(path.c_str(), O_RDONLY);
        ASSERT_GE(file, 0) << path;
        HSA_OK(hsa_code_object_reader_create_from_file(file, &reader));
        HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         nullptr, &executable));
        HSA_OK(
            hsa_executable_load_agent_code_object(executable, gpus[0], reader, nullptr, nullptr));
        HSA_OK(hsa_executable_freeze(executable, nullptr));
        close(file);
        hsa_executable_symbol_t symbol;
        HSA_OK(hsa_executable_get_symbol_by_name(executable, "copy.kd", &gpus[0], &symbol));
        const auto get = [&](hsa_executable_symbol_info_t what, void* value) {
            HSA_OK(hsa_executable_symbol_get_info(symbol, what, value));
        };
        packet.setup = 1;
        packet.workgroup_size_x = packet.grid_size_x = items;
        packet.workgroup_size_y = packet.workgroup_size_z = 1;
        packet.grid_size_y = packet.grid_size_z = 1;
        get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object);
        get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &packet.group_segment_size);
        get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &packet.private_segment_size);
        arguments = allocate<uint32_t*>(64);
        std::fill_n(arguments, 64, nullptr);
        arguments[0] = allocate<uint32_t>(items);
        arguments[1] = allocate<uint32_t>(items);
        packet.kernarg_address = arguments;
    }
    void TearDown() override {
        HSA_OK(hsa_amd_memory_pool_free(arguments[0]));
        HSA_OK(hsa_amd_memory_pool_free(arguments[1]));
        HSA_OK(hsa_amd_memory_pool_free(arguments));
        HSA_OK(hsa_executable_destroy(executable));
        HSA_OK(hsa_code_object_reader_destroy(reader));
        Hsa::TearDown();
    }
    void submit(TestQueue& q, hsa_signal_t completion) {
        hsa_kernel_dispatch_packet_t p = packet;
        p.completion_signal = completion;
        q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH | behind_all);
    }
    // A wait with a time limit: such threads run no kernels themselves.
    static bool done(hsa_signal_t s) {
        return hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, patience,
                                         HSA_WAIT_STATE_BLOCKED) == 0;
    }
    void expect_copied(uint32_t first) {
        for (uint32_t i = 0; i < items; i++) ASSERT_EQ(arguments[1][i], first + i);
    }

    hsa_code_object_reader_t reader{};
    hsa_executable_t executable{};
    hsa_kernel_dispatch_packet_t packet{};
    uint32_t** arguments = nullptr;
};

// A queue waits for a signal; the kernels behind it are known to be short, so that no worker would
// be woken if the thread that starts them were to run them. The one that changes the signal, or the
// monitor that sees the change, does not.
TEST_F(Kernels, BehindASignalThatTheHostChanges) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t gate = signal(0), finished = signal(0);
    hsa_signal_value_t* word = nullptr;
    HSA_OK(hsa_amd_signal_value_pointer(gate, const_cast<volatile hsa_signal_value_t**>(&word)));
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 0; i < items; i++) arguments[0][i] = 1000 * round + i;
        hsa_signal_store_relaxed(gate, 1);
        hsa_signal_store_relaxed(finished, 1);
        q.barrier(HSA_PACKET_TYPE_BARRIER_AND, {gate}, {0});
        submit(q, finished);
        if (round & 1)
            hsa_signal_store_screlease(gate, 0);
        else
            __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);  // as a kernel would: tells nobody
        ASSERT_TRUE(done(finished)) << "round " << round;
        expect_copied(1000 * round);
    }
    HSA_OK(hsa_signal_destroy(gate));
    HSA_OK(hsa_signal_destroy(finished));
}

// The same kernel reads at an odd address on each agent: the report has one finding, of as many
// dispatches.
TEST_F(Kernels, FindingsOfAllAgentsAreInOneReport) {
    const char* const report = std::getenv("WAVEJIT_CHECK_REPORT");
    if (!report || gpus.size() < 2) GTEST_SKIP() << "hsa.shared_report sets what this needs";
    HSA_OK(hsa_amd_agents_allow_access(2, gpus.data(), nullptr, arguments));
    HSA_OK(hsa_amd_agents_allow_access(2, gpus.data(), nullptr, arguments[0]));
    HSA_OK(hsa_amd_agents_allow_access(2, gpus.data(), nullptr, arguments[1]));
    hsa_executable_t second;
    HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                     nullptr, &second));
    HSA_OK(hsa_executable_load_agent_code_object(second, gpus[1], reader, nullptr, nullptr));
    HSA_OK(hsa_executable_freeze(second, nullptr));
    uint32_t* const aligned = arguments[0];
    arguments[0] = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(aligned) + 1);
    packet.workgroup_size_x = packet.grid_size_x = items / 2;
    for (size_t i = 0; i < 2; i++) {
        hsa_executable_symbol_t symbol;
        HSA_OK(hsa_executable_get_symbol_by_name(i ? second : executable, "copy.kd", &gpus[i],
                                                 &symbol));
        HSA_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                              &packet.kernel_object));
        std::atomic<uint32_t> error{0};
        const auto keep = [](hsa_status_t status, hsa_queue_t*, void* data) {
            *static_cast<std::atomic<uint32_t>*>(data) = status;
        };
        TestQueue q(gpus[i], 64, keep, &error);
        submit(q, {0});
        for (int ms = 0; ms < 5000 && !error; ms++)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_NE(error, 0u) << "agent " << i;
    }
    arguments[0] = aligned;
    HSA_OK(hsa_executable_destroy(second));
    std::ifstream file(report);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.find("\"check\""), text.rfind("\"check\"")) << text;
    EXPECT_NE(text.find("\"check\": \"unaligned\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"dispatches\": 2"), std::string::npos) << text;
}

// Each queue's kernel waits for the last one's: the thread that finishes a kernel makes packets of
// other queues go on.
TEST_F(Kernels, HandedFromQueueToQueue) {
    constexpr uint32_t queues = 4, rounds = 50;
    std::vector<std::unique_ptr<TestQueue>> q;
    for (uint32_t i = 0; i < queues; i++) q.push_back(std::make_unique<TestQueue>(gpus[0], 256));
    for (uint32_t i = 0; i < items; i++) arguments[0][i] = 7 + i;
    std::vector<hsa_signal_t> links{signal(1)};
    for (uint32_t i = 0; i < queues * rounds; i++) {
        links.push_back(signal(1));
        q[i % queues]->barrier(HSA_PACKET_TYPE_BARRIER_AND, {links[i]}, {0});
        submit(*q[i % queues], links[i + 1]);
    }
    hsa_signal_store_screlease(links[0], 0);
    ASSERT_TRUE(done(links.back()));
    expect_copied(7);
    for (hsa_signal_t s : links) HSA_OK(hsa_signal_destroy(s));
}

// SEED-DISP-08: the kernel reads the caller's argument memory when it starts, not a copy made
// before.
TEST_F(Kernels, ArgumentsAreReadWhenItStarts) {
    EXPECT_EQ(reinterpret_cast<uint64_t>(arguments) % 16, 0u);
    TestQueue q(gpus[0], 64);
    const hsa_signal_t gate = signal(1), finished = signal(1);
    uint32_t *const first = arguments[1], *const second = allocate<uint32_t>(items);
    for (uint32_t i = 0; i < items; i++) arguments[0][i] = 500 + i, first[i] = second[i] = 0;
    q.barrier(HSA_PACKET_TYPE_BARRIER_AND, {gate}, {0});
    submit(q, finished);
    arguments[1] = second;
    hsa_signal_store_screlease(gate, 0);
    ASSERT_TRUE(done(finished));
    expect_copied(500);
    EXPECT_EQ(first[0], 0u);
    HSA_OK(hsa_amd_memory_pool_free(first));  // TearDown frees arguments[1]
    for (hsa_signal_t s : {gate, finished}) HSA_OK(hsa_signal_destroy(s));
}

// Many short kernels of one queue, alone and in bursts.
TEST_F(Kernels, OneAfterTheOther) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t finished = signal(0);
    for (uint32_t round = 0; round < 200; round++) {
        const uint32_t burst = 1 + round % 5;
        for (uint32_t i = 0; i < items; i++) arguments[0][i] = round + i;
        hsa_signal_store_relaxed(finished, burst);
        for (uint32_t i = 0; i < burst; i++) submit(q, finished);
        ASSERT_TRUE(done(finished)) << "round " << round;
        expect_copied(round);
    }
    HSA_OK(hsa_signal_destroy(finished));
}

// lds_leftovers() writes at the end of a work-group that takes some 100 us.
TEST_F(Kernels, NoneGoesOnWhenItsQueueIsDestroyed) {
    constexpr uint32_t groups = 1024, lds_bytes = 65536, many = groups * items;
    hsa_executable_symbol_t symbol;
    HSA_OK(hsa_executable_get_symbol_by_name(executable, "lds_leftovers.kd", &gpus[0], &symbol));
    HSA_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                          &packet.kernel_object));
    packet.grid_size_x = many;
    packet.group_segment_size = lds_bytes;
    auto* const out = allocate<uint32_t>(many);
    auto* const given = allocate<uint64_t>(64);
    std::fill_n(given, 64, 0);
    given[0] = reinterpret_cast<uint64_t>(out);
    given[1] = uint64_t{lds_bytes / 4} << 32;  // scratch: 0, count
    packet.kernarg_address = given;
    constexpr uint32_t unwritten = ~0u;
    for (int round = 0; round < 10; round++) {
        std::fill_n(out, many, unwritten);
        {
            TestQueue q(gpus[0], 64);
            for (int i = 0; i < 2; i++) submit(q, {0});
            while (std::count(out, out + many, unwritten) == many) std::this_thread::yield();
        }
        std::fill_n(out, many, unwritten);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_EQ(std::count(out, out + many, unwritten), many);
    }
    HSA_OK(hsa_amd_memory_pool_free(out));
    HSA_OK(hsa_amd_memory_pool_free(given));
}

// The hardware does not know what work-groups a kernel was compiled for: HIP 6 launches its own
// copy kernels, whose metadata says 256, with 512 work-items.
TEST_F(Kernels, LargerWorkGroupThanItsMetadataSays) {
    constexpr uint32_t many = 512;
    auto* from = allocate<uint32_t>(many);
    auto* to = allocate<uint32_t>(many);
    for (uint32_t i = 0; i < many; i++) from[i] = 3 * i;
    uint32_t* const old[] = {arguments[0], arguments[1]};
    arguments[0] = from;
    arguments[1] = to;
    packet.workgroup_size_x = packet.grid_size_x = many;
    TestQueue q(gpus[0], 64);
    const hsa_signal_t finished = signal(1);
    submit(q, finished);
    ASSERT_TRUE(done(finished));
    for (uint32_t i = 0; i < many; i++) ASSERT_EQ(to[i], 3 * i);
    std::copy_n(old, 2, arguments);
    HSA_OK(hsa_signal_destroy(finished));
    HSA_OK(hsa_amd_memory_pool_free(from));
    HSA_OK(hsa_amd_memory_pool_free(to));
}

// Damaged packets: each is carried out, refused by the queue's callback, or cancelled with the
// queue; nothing crashes or hangs, and the next queue works. Checked memory: stray arguments reach
// nothing of the host's. (ctest hsa.random_packets sets the variables; WJ_PACKETS: how many.)
TEST_F(Kernels, RandomPackets) {
    const char* const wanted = std::getenv("WJ_PACKETS");
    if (!wanted) GTEST_SKIP() << "WJ_PACKETS is not set";
    std::mt19937_64 random(20);
    const hsa_signal_t gate = signal(1), finished = signal(1);
    std::atomic<int> refused{0};
    int carried_out = 0, cancelled = 0;
    const auto refuse = [](hsa_status_t status, hsa_queue_t*, void* data) {
        EXPECT_NE(status, HSA_STATUS_SUCCESS);
        static_cast<std::atomic<int>*>(data)->fetch_add(1);
    };
    const int count = std::atoi(wanted);
    for (int i = 0; i < count; i++) {
        hsa_signal_store_relaxed(finished, 1);
        const int refused_before = refused.load();
        bool done_in_time = false;
        {
            TestQueue q(gpus[0], 64, refuse, &refused);
            hsa_kernel_dispatch_packet_t p = packet;
            p.completion_signal = finished;
            // Everything but signals, which are pointers to hardware and to the runtime alike.
            auto* const bytes = reinterpret_cast<uint8_t*>(&p);
            for (uint64_t flips = random() % 4; flips; flips--) {
                const uint64_t at = 2 + random() % 46;  // setup to kernarg_address
                bytes[at] = random() & 1 ? static_cast<uint8_t>(random())
                                         : static_cast<uint8_t>(bytes[at] ^ 1 << random() % 8);
            }
            const bool plain = random() % 4 != 0;
            if (!plain) std::fill_n(bytes + 8, 40, uint8_t{0});  // of barriers: no signals
            if (!plain && random() % 4 == 0) std::memcpy(bytes + 8, &gate, sizeof gate);
            const auto header = static_cast<uint16_t>(
                plain ? HSA_PACKET_TYPE_KERNEL_DISPATCH | random() << 8 : random());
            q.submit(p, header);
            for (int wait = 0; wait < 100 && !done_in_time; wait++) {
                done_in_time = hsa_signal_wait_scacquire(finished, HSA_SIGNAL_CONDITION_LT, 1,
                                                         200'000, HSA_WAIT_STATE_BLOCKED) == 0 ||
                               refused.load() != refused_before;
            }
        }
        carried_out += hsa_signal_load_relaxed(finished) == 0;
        cancelled += !done_in_time;
    }
    std::printf("%d carried out, %d refused, %d cancelled\n", carried_out, refused.load(),
                cancelled);
    EXPECT_GT(carried_out, count / 10);
    EXPECT_GT(refused.load(), count / 10);
    for (uint32_t i = 0; i < items; i++) arguments[0][i] = 9 + i;
    TestQueue q(gpus[0], 64);
    hsa_signal_store_relaxed(finished, 1);
    submit(q, finished);
    ASSERT_TRUE(done(finished));
    expect_copied(9);
    HSA_OK(hsa_signal_destroy(gate));
    HSA_OK(hsa_signal_destroy(finished));
}

}  // namespace
