#include "machine/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace wj::machine {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool deliver_here = false;
#else
constexpr bool deliver_here = true;
#endif

sigjmp_buf foreign_env;
volatile int foreign_calls = 0;

void foreign(int, siginfo_t*, void*) {
    foreign_calls = foreign_calls + 1;
    siglongjmp(foreign_env, 1);
}

void* unmapped_page() {
    void* p = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p;
}

ExitKind load_from(Wave& wave, uint64_t address) {
    wave.exit.pc = 0x1234;
    return run_guarded(wave, nullptr, nullptr, [address](Wave&) {
        (void)*reinterpret_cast<volatile uint32_t*>(address);
        return ExitKind::EndProgram;
    });
}

TEST(Guard, AReadFaultBecomesAnExit) {
    ASSERT_TRUE(install_fault_handler());
    auto wave = std::make_unique<Wave>();
    const uint64_t address = reinterpret_cast<uint64_t>(unmapped_page()) + 8;
    EXPECT_EQ(load_from(*wave, address), ExitKind::MemoryFault);
    EXPECT_EQ(wave->exit.kind, ExitKind::MemoryFault);
    EXPECT_EQ(wave->exit.access, Access::Read);
    EXPECT_EQ(wave->exit.address, address);
    EXPECT_EQ(wave->exit.pc, 0x1234u);
    EXPECT_EQ(current_guard(), nullptr);
}

TEST(Guard, AWriteFaultSaysSoAndMxcsrComesBack) {
    ASSERT_TRUE(install_fault_handler());
    auto wave = std::make_unique<Wave>();
    const uint64_t address = reinterpret_cast<uint64_t>(unmapped_page());
    const uint32_t mxcsr = _mm_getcsr();
    const ExitKind kind = run_guarded(*wave, nullptr, nullptr, [address](Wave&) {
        _mm_setcsr(_mm_getcsr() | 0x8040);
        *reinterpret_cast<volatile uint32_t*>(address) = 1;
        return ExitKind::EndProgram;
    });
    EXPECT_EQ(kind, ExitKind::MemoryFault);
    EXPECT_EQ(wave->exit.access, Access::Write);
    EXPECT_EQ(_mm_getcsr(), mxcsr);
}

TEST(Guard, ANonCanonicalAddressIsNamed) {
    ASSERT_TRUE(install_fault_handler());
    auto wave = std::make_unique<Wave>();
    EXPECT_EQ(load_from(*wave, 1ull << 62), ExitKind::MemoryFault);
    ASSERT_NE(wave->exit.reason, nullptr);
    EXPECT_STREQ(wave->exit.reason, "non-canonical address");
}

TEST(Guard, RepeatedFaultsOnAWorkerThread) {
    ASSERT_TRUE(install_fault_handler());
    std::thread([] {
        prepare_thread_for_faults();
        auto wave = std::make_unique<Wave>();
        const uint64_t address = reinterpret_cast<uint64_t>(unmapped_page());
        for (int i = 0; i < 100; ++i) ASSERT_EQ(load_from(*wave, address), ExitKind::MemoryFault);
        stack_t s{};
        sigaltstack(nullptr, &s);
        EXPECT_FALSE(s.ss_flags & SS_DISABLE);
    }).join();
}

bool lookup_names_pc(void* engine, uintptr_t, void*, Wave&, ExitInfo& out) {
    out.pc = reinterpret_cast<uint64_t>(engine);
    return true;
}

TEST(Guard, TheTranslatorsLookupNamesThePc) {
    ASSERT_TRUE(install_fault_handler());
    auto wave = std::make_unique<Wave>();
    const uint64_t address = reinterpret_cast<uint64_t>(unmapped_page());
    const ExitKind kind =
        run_guarded(*wave, reinterpret_cast<void*>(0x5678), lookup_names_pc, [address](Wave&) {
            (void)*reinterpret_cast<volatile uint32_t*>(address);
            return ExitKind::EndProgram;
        });
    EXPECT_EQ(kind, ExitKind::MemoryFault);
    EXPECT_EQ(wave->exit.pc, 0x5678u);
}

void install_foreign_handler() {
    struct sigaction action {};
    action.sa_sigaction = foreign;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
}

// Another library's handler must see its own faults, whether it came before ours or after.
void foreign_fault_is_passed_on() {
    foreign_calls = 0;
    volatile uint32_t* bad = static_cast<uint32_t*>(unmapped_page());
    if (sigsetjmp(foreign_env, 1) == 0) (void)*bad;
    EXPECT_EQ(foreign_calls, 1);
}

// Crash reporters are installed when a program likes, and again; servers' threads block all
// signals.
TEST(Guard, LaterHandlersAndBlockedSignals) {
    if (!deliver_here) GTEST_SKIP();
    EXPECT_EXIT(
        {
            install_fault_handler();
            auto wave = std::make_unique<Wave>();
            for (int i = 0; i < 20; ++i) {
                install_foreign_handler();
                sigset_t all;
                sigfillset(&all);
                pthread_sigmask(SIG_BLOCK, &all, nullptr);
                expect_faults();
                if (load_from(*wave, reinterpret_cast<uint64_t>(unmapped_page())) !=
                    ExitKind::MemoryFault)
                    _exit(2);
            }
            foreign_fault_is_passed_on();
            _exit(foreign_calls == 1 ? 0 : 3);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Guard, ForeignFaultsReachTheEarlierHandler) {
    if (!deliver_here) GTEST_SKIP();
    // In a child: the handlers of this process stay as they are.
    EXPECT_EXIT(
        {
            signal(SIGSEGV, SIG_DFL);
            install_foreign_handler();
            install_fault_handler();
            auto wave = std::make_unique<Wave>();
            if (load_from(*wave, reinterpret_cast<uint64_t>(unmapped_page())) !=
                ExitKind::MemoryFault)
                _exit(2);
            foreign_fault_is_passed_on();
            _exit(foreign_calls == 1 ? 0 : 3);
        },
        ::testing::ExitedWithCode(0), "");
}

// A program with a small alternate stack and a handler that looks whether it runs on it.
struct SmallStack {
    static constexpr size_t bytes = 8192, page = 4096;
    uint8_t* base = static_cast<uint8_t*>(mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) +
                    page;
    bool install() {
        stack_t s{};
        s.ss_sp = base;
        s.ss_size = bytes;
        return mprotect(base - page, page, PROT_NONE) == 0 && sigaltstack(&s, nullptr) == 0;
    }
    bool installed() const {
        stack_t s{};
        return sigaltstack(nullptr, &s) == 0 && s.ss_sp == base && s.ss_size == bytes;
    }
};
uint8_t* small_stack = nullptr;

void looks_at_its_stack(int, siginfo_t*, void*) {
    const auto* here = static_cast<uint8_t*>(__builtin_frame_address(0));
    if (here < small_stack || here >= small_stack + SmallStack::bytes) _exit(4);
    foreign_calls = foreign_calls + 1;
    siglongjmp(foreign_env, 1);
}

TEST(Guard, AProgramsSmallAlternateStackStays) {
    if (!deliver_here) GTEST_SKIP();
    if (sysconf(_SC_MINSIGSTKSZ) + 4096 > static_cast<long>(SmallStack::bytes))
        GTEST_SKIP() << "this processor's registers alone take half of the stack";
    EXPECT_EXIT(
        {
            std::thread([] {
                SmallStack stack;
                small_stack = stack.base;
                struct sigaction action {};
                signal(SIGSEGV, SIG_DFL);
                action.sa_sigaction = looks_at_its_stack;
                action.sa_flags = SA_SIGINFO | SA_ONSTACK;
                sigaction(SIGSEGV, &action, nullptr);
                if (!stack.install() || !install_fault_handler()) _exit(2);
                auto wave = std::make_unique<Wave>();
                const auto address = reinterpret_cast<uint64_t>(unmapped_page());
                for (int i = 0; i < 3; i++) {
                    if (load_from(*wave, address) != ExitKind::MemoryFault) _exit(3);
                    if (!stack.installed()) _exit(5);
                    foreign_fault_is_passed_on();
                }
                if (foreign_calls != 1) _exit(6);
            }).join();
            _exit(0);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Guard, WithoutAnotherHandlerAForeignFaultStillKills) {
    EXPECT_EXIT(
        {
            signal(SIGSEGV, SIG_DFL);
            install_fault_handler();
            (void)*static_cast<volatile uint32_t*>(unmapped_page());
            _exit(0);
        },
        ::testing::KilledBySignal(SIGSEGV), "");
}

void chain_to_previous(int signal, siginfo_t* info, void* context);
struct sigaction below;
void chain_to_previous(int signal, siginfo_t* info, void* context) {
    below.sa_sigaction(signal, info, context);
    foreign(signal, info, context);
}

TEST(Guard, AHandlerInstalledLaterThatChainsToOursIsNoLoop) {
    EXPECT_EXIT(
        {
            struct sigaction bottom {};
            struct sigaction action {};
            bottom.sa_sigaction = foreign;
            bottom.sa_flags = SA_SIGINFO;
            sigaction(SIGSEGV, &bottom, nullptr);
            install_fault_handler();
            action.sa_sigaction = chain_to_previous;
            action.sa_flags = SA_SIGINFO;
            sigaction(SIGSEGV, &action, &below);
            install_fault_handler();
            auto wave = std::make_unique<Wave>();
            if (load_from(*wave, reinterpret_cast<uint64_t>(unmapped_page())) !=
                ExitKind::MemoryFault)
                _exit(2);
            foreign_fault_is_passed_on();
            _exit(foreign_calls == 1 ? 0 : 3);
        },
        ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace wj::machine
