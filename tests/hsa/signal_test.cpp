// Signals: contract sections 6.1 to 6.4.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/hsa/fixture.h"

namespace {

using namespace std::chrono_literals;

TEST_F(Hsa, SignalLayoutIsWhatDeviceCodeReads) {
    const hsa_signal_t s = signal(42);
    EXPECT_EQ(s.handle % 64, 0u);
    const auto* abi = reinterpret_cast<const amd_signal_t*>(s.handle);
    EXPECT_EQ(abi->kind, AMD_SIGNAL_KIND_USER);
    EXPECT_EQ(abi->value, 42);
    EXPECT_EQ(abi->queue_ptr, nullptr);
    uint32_t padding[16];
    std::memcpy(padding, abi, sizeof padding);
    for (size_t byte : {28, 56, 60}) EXPECT_EQ(padding[byte / 4], 0u) << byte;
    // An event that the host waits for; interrupts carry the low 8 bits of its number.
    EXPECT_NE(abi->event_mailbox_ptr, 0u);
    EXPECT_EQ(*reinterpret_cast<const uint64_t*>(abi->event_mailbox_ptr), 0u);
    EXPECT_NE(abi->event_id, 0u);
    volatile hsa_signal_value_t* word = nullptr;
    HSA_OK(hsa_amd_signal_value_pointer(s, &word));
    EXPECT_EQ(reinterpret_cast<uint64_t>(word), s.handle + 8);
    HSA_OK(hsa_signal_destroy(s));
    EXPECT_EQ(abi->kind, AMD_SIGNAL_KIND_INVALID);
    EXPECT_EQ(hsa_signal_destroy(s), HSA_STATUS_ERROR_INVALID_SIGNAL);
    EXPECT_EQ(hsa_signal_destroy({0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, SignalArithmetic) {
    const hsa_signal_t s = signal(12);
    hsa_signal_add_relaxed(s, 5);
    EXPECT_EQ(hsa_signal_load_relaxed(s), 17);
    hsa_signal_subtract_scacq_screl(s, 1);
    hsa_signal_and_relaxed(s, 0x18);
    EXPECT_EQ(hsa_signal_load_scacquire(s), 16);
    hsa_signal_or_release(s, 3);
    hsa_signal_xor_acquire(s, 1);
    EXPECT_EQ(hsa_signal_exchange_relaxed(s, -7), 18);
    EXPECT_EQ(hsa_signal_cas_scacq_screl(s, 0, 9), -7);
    EXPECT_EQ(hsa_signal_cas_scacq_screl(s, -7, 9), -7);
    EXPECT_EQ(hsa_signal_load_scacquire(s), 9);
    HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, WaitReturnsAtTheTimeout) {
    const hsa_signal_t s = signal(1);
    for (uint64_t ns : {0ull, 10'000ull, 3'000'000ull}) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(
            hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, ns, HSA_WAIT_STATE_ACTIVE), 1);
        EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::nanoseconds(ns));
    }
    HSA_OK(hsa_signal_destroy(s));
}

// SEED-DISP-48: the value that the host's condition is compared with, below, at and above.
TEST_F(Hsa, WaitConditions) {
    const hsa_signal_t s = signal(0);
    struct {
        hsa_signal_condition_t condition;
        bool below, at, above;
    } const rows[] = {{HSA_SIGNAL_CONDITION_EQ, false, true, false},
                      {HSA_SIGNAL_CONDITION_NE, true, false, true},
                      {HSA_SIGNAL_CONDITION_LT, true, false, false},
                      {HSA_SIGNAL_CONDITION_GTE, false, true, true}};
    for (const auto& row : rows)
        for (const auto& [value, met] : {std::pair{-6, row.below}, {-5, row.at}, {-4, row.above}}) {
            hsa_signal_store_relaxed(s, value);
            const auto begin = std::chrono::steady_clock::now();
            const uint64_t limit = met ? 10'000'000'000 : 2'000'000;  // ns
            EXPECT_EQ(
                hsa_signal_wait_scacquire(s, row.condition, -5, limit, HSA_WAIT_STATE_BLOCKED),
                value);
            const auto waited = std::chrono::steady_clock::now() - begin;
            if (met)
                EXPECT_LT(waited, 5s) << row.condition << " " << value;
            else
                EXPECT_GE(waited, 2ms) << row.condition << " " << value;
        }
    HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, SleepersWakeUpForEveryWayToWrite) {
    const hsa_signal_t s = signal(1);
    volatile hsa_signal_value_t* word = nullptr;
    HSA_OK(hsa_amd_signal_value_pointer(s, &word));
    for (int way = 0; way < 4; way++) {
        hsa_signal_silent_store_relaxed(s, 1);
        std::atomic<bool> woken{false};
        std::thread sleeper([&] {
            EXPECT_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                                HSA_WAIT_STATE_BLOCKED),
                      0);
            woken = true;
        });
        std::this_thread::sleep_for(2ms);
        EXPECT_FALSE(woken);
        if (way == 0) hsa_signal_store_screlease(s, 0);
        if (way == 1) hsa_signal_subtract_relaxed(s, 1);
        if (way == 2) hsa_signal_silent_store_relaxed(s, 0);        // nobody is told
        if (way == 3) __atomic_store_n(word, 0, __ATOMIC_RELEASE);  // as guest code does
        sleeper.join();
    }
    HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, WaitAnyFindsTheOne) {
    hsa_signal_t s[3] = {signal(1), signal(1), signal(1)};
    hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ,
                                            HSA_SIGNAL_CONDITION_GTE};
    hsa_signal_value_t values[3] = {0, 0, 5}, seen = 0;
    EXPECT_EQ(
        hsa_amd_signal_wait_any(3, s, conditions, values, 1'000'000, HSA_WAIT_STATE_BLOCKED, &seen),
        UINT32_MAX);
    std::thread writer([&] {
        std::this_thread::sleep_for(2ms);
        hsa_signal_store_relaxed(s[2], 8);
    });
    EXPECT_EQ(hsa_amd_signal_wait_any(3, s, conditions, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED,
                                      &seen),
              2u);
    EXPECT_EQ(seen, 8);
    writer.join();
    for (hsa_signal_t one : s) HSA_OK(hsa_signal_destroy(one));
}

struct Count {
    std::atomic<int> calls{0};
    hsa_signal_t signal;
};

TEST_F(Hsa, HandlerRunsUntilItReturnsFalse) {
    Count count;
    count.signal = signal(1);
    HSA_OK(hsa_amd_signal_async_handler(
        count.signal, HSA_SIGNAL_CONDITION_LT, 1,
        [](hsa_signal_value_t value, void* data) {
            auto* c = static_cast<Count*>(data);
            EXPECT_EQ(value, 0);
            if (++c->calls == 2) return false;
            hsa_signal_store_relaxed(c->signal, 1);  // calls back into the runtime
            return true;
        },
        &count));
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(count.calls, 0);
    for (int expected = 1; expected <= 2; expected++) {
        hsa_signal_store_relaxed(count.signal, 0);
        for (int i = 0; i < 2000 && count.calls < expected; i++) std::this_thread::sleep_for(1ms);
        ASSERT_EQ(count.calls, expected);
    }
    hsa_signal_store_relaxed(count.signal, -3);
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(count.calls, 2);
    HSA_OK(hsa_signal_destroy(count.signal));
}

TEST_F(Hsa, ManyThreadsDecrementOneSignal) {
    constexpr int threads = 8, each = 2000;
    const hsa_signal_t s = signal(threads * each);
    std::vector<std::thread> list;
    for (int t = 0; t < threads; t++)
        list.emplace_back([&] {
            for (int i = 0; i < each; i++) hsa_signal_subtract_screlease(s, 1);
        });
    EXPECT_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
                                        HSA_WAIT_STATE_BLOCKED),
              0);
    for (auto& t : list) t.join();
    HSA_OK(hsa_signal_destroy(s));
}

}  // namespace
