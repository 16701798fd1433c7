#include "machine/guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "common/per_thread.h"

#ifndef SEGV_MAPERR
#define SEGV_MAPERR 1
#endif

namespace wj::machine {
namespace {

// Read inside the signal handler: initial-exec keeps the access free of __tls_get_addr, which may
// allocate.
#define WJ_HANDLER_TLS __attribute__((tls_model("initial-exec")))
thread_local constinit GuardFrame* guard_top WJ_HANDLER_TLS = nullptr;
// The chained call under way: its context and stack frame. A chained handler may longjmp away, so
// there is no counter to keep: a nested call has the same context and a deeper frame.
thread_local constinit const void* chained_context WJ_HANDLER_TLS = nullptr;
thread_local constinit uintptr_t chained_frame WJ_HANDLER_TLS = 0;
thread_local constinit uint32_t chained_level WJ_HANDLER_TLS = 0;

constexpr size_t alternate_stack_bytes = 128 * 1024;  // chained handlers print stack traces on it
constexpr size_t host_page = 4096;
constexpr size_t stack_vicinity = 64 * 1024;
constexpr uint64_t page_fault_write = 1u << 1, page_fault_fetch = 1u << 4;  // Intel SDM vol. 3, 4.7
constexpr int general_protection = 13;

std::mutex install_mutex;
// The handlers that were found where ours went, oldest first. More than one when another library
// installed its own over ours and ours was put on top again.
struct Previous {
    static constexpr uint32_t most = 16;
    struct sigaction actions[most];
    std::atomic<uint32_t> count{0};
};
Previous previous_segv, previous_bus;

Previous& previous_of(int signal) {
    return signal == SIGSEGV ? previous_segv : previous_bus;
}

void pass_on(int signal, siginfo_t* info, void* context) {
    // A handler that was installed over ours may hand the signal back to us: each time the next
    // older one gets it.
    const Previous& previous = previous_of(signal);
    const uint32_t count = previous.count.load(std::memory_order_acquire);
    const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const bool nested = chained_context == context && frame < chained_frame;
    const uint32_t level = nested ? chained_level + 1 : 0;
    struct sigaction action {};  // SIG_DFL
    if (level < count) action = previous.actions[count - 1 - level];
    if (!(action.sa_flags & SA_SIGINFO) &&
        (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
        // The kernel does not let a thread ignore its own fault. With the default action in place
        // the faulting instruction runs again and ends the process, with the right core dump.
        const bool sent = info->si_code <= 0;
        if (action.sa_handler == SIG_IGN && sent) return;
        struct sigaction fallback {};
        fallback.sa_handler = SIG_DFL;
        sigemptyset(&fallback.sa_mask);
        sigaction(signal, &fallback, nullptr);
        if (sent) pthread_kill(pthread_self(), signal);
        return;
    }
    sigset_t blocked = action.sa_mask, before;
    if (!(action.sa_flags & SA_NODEFER)) sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    chained_context = context;
    chained_frame = frame;
    chained_level = level;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, context);
    else
        action.sa_handler(signal);
    chained_context = nullptr;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// With a guard frame active every memory fault is the guest's, except those that guest accesses
// cannot cause: signals sent by kill(), instruction fetches, and addresses around this thread's
// stack pointer (a stack overflow of the host). The interpreter's accesses are ordinary C++ code,
// so its host PC tells nothing; explain_fault() compares the address with the instruction's own
// afterwards.
bool guest_fault(const siginfo_t& info, const ucontext_t& context) {
    if (info.si_code <= 0) return false;
    const auto& registers = context.uc_mcontext.gregs;
    const bool protection = registers[REG_TRAPNO] == general_protection;
    if (!protection && (registers[REG_ERR] & page_fault_fetch)) return false;
    const uint64_t address = reinterpret_cast<uint64_t>(info.si_addr);
    const uint64_t sp = static_cast<uint64_t>(registers[REG_RSP]);
    return protection || address > sp + host_page || address + stack_vicinity < sp;
}

void on_fault(int signal, siginfo_t* info, void* raw) {
    const auto* context = static_cast<const ucontext_t*>(raw);
    GuardFrame* frame = guard_top;
    if (!frame || !guest_fault(*info, *context)) return pass_on(signal, info, raw);

    Wave& wave = *frame->wave;
    const auto& registers = context->uc_mcontext.gregs;
    ExitInfo exit;
    exit.kind = ExitKind::MemoryFault;
    exit.pc = wave.exit.pc;
    if (registers[REG_TRAPNO] == general_protection) {
        // #GP names no address; explain_fault() finds it from the instruction's operands.
        exit.access = Access::None;
        exit.reason = "non-canonical address";
    } else {
        exit.access = registers[REG_ERR] & page_fault_write ? Access::Write : Access::Read;
        exit.address = reinterpret_cast<uint64_t>(info->si_addr);
        exit.reason = signal == SIGBUS ? "no memory behind the page (SIGBUS)" : nullptr;
    }
    if (frame->lookup)
        frame->lookup(frame->engine, static_cast<uintptr_t>(registers[REG_RIP]), raw, wave, exit);
    if (exit.kind == ExitKind::None) return;
    wave.exit = exit;
    // Whoever called this handler may have blocked signals: go back with the mask of the guest
    // code.
    pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, nullptr);
    siglongjmp(frame->env, 1);
}

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_fault;
}

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
    return a.sa_flags == b.sa_flags && a.sa_handler == b.sa_handler &&
           std::memcmp(&a.sa_mask, &b.sa_mask, sizeof a.sa_mask) == 0;
}

bool install_for(int signal) {
    struct sigaction current {};
    if (sigaction(signal, nullptr, &current) != 0) return false;
    if (is_ours(current)) return true;
    Previous& previous = previous_of(signal);
    const uint32_t count = previous.count.load(std::memory_order_relaxed);
    // A program may install the same handler again and again.
    if (!count || !same_handler(previous.actions[count - 1], current)) {
        if (count == Previous::most) return false;
        previous.actions[count] = current;
        previous.count.store(count + 1, std::memory_order_release);
    }
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    return sigaction(signal, &ours, nullptr) == 0;
}

// What the handler here needs of an alternate stack, below what the kernel puts there.
constexpr size_t handler_bytes = 4096;

// The thread's alternate stack, with an inaccessible page below it. Freed when the thread ends.
// One that the program has given the thread stays, if the handler fits: the program's own handlers
// may look whether they run on it.
class AlternateStack {
public:
    AlternateStack() {
        if (sigaltstack(nullptr, &before_) != 0) return;
        const long frame = sysconf(_SC_MINSIGSTKSZ);  // depends on the processor's registers
        if (!(before_.ss_flags & SS_DISABLE) && frame > 0 &&
            before_.ss_size >= static_cast<size_t>(frame) + handler_bytes)
            return;
        const long least = sysconf(_SC_SIGSTKSZ);
        const size_t wanted =
            std::max(alternate_stack_bytes, least > 0 ? static_cast<size_t>(least) : 0);
        bytes_ = (wanted + host_page - 1) / host_page * host_page + host_page;
        void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (base == MAP_FAILED) return;
        mprotect(base, host_page, PROT_NONE);
        stack_t stack{};
        stack.ss_sp = static_cast<uint8_t*>(base) + host_page;
        stack.ss_size = bytes_ - host_page;
        if (sigaltstack(&stack, nullptr) != 0) {
            munmap(base, bytes_);
            return;
        }
        base_ = base;
    }
    ~AlternateStack() {
        if (!base_) return;
        stack_t current{};
        sigaltstack(nullptr, &current);
        if (current.ss_sp == static_cast<uint8_t*>(base_) + host_page) {
            before_.ss_flags &= SS_DISABLE;
            sigaltstack(&before_, nullptr);
        }
        munmap(base_, bytes_);
    }

private:
    stack_t before_{};
    void* base_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace

bool install_fault_handler() {
    prepare_thread_for_faults();
    std::lock_guard lock(install_mutex);
    const bool segv = install_for(SIGSEGV), bus = install_for(SIGBUS);
    return segv && bus;
}

void prepare_thread_for_faults() {
    per_thread<AlternateStack>();
}

void expect_faults() {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGSEGV);
    sigaddset(&ours, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
    // Whoever installs a handler for crashes installs one for SIGSEGV.
    struct sigaction current {};
    if (sigaction(SIGSEGV, nullptr, &current) == 0 && !is_ours(current)) install_fault_handler();
}

GuardFrame*& current_guard() {
    return guard_top;
}

}  // namespace wj::machine
