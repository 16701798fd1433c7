#include "hsa/copy.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "hsa/memory.h"
#include "hsa/signal.h"
#include "hsa/state.h"

namespace wj::hsa {
namespace {

constexpr uint64_t copy_here_bytes = 1 << 20, piece_bytes = 2 << 20;
constexpr uint32_t largest_crew = 4;

void move_bytes(void* to, const void* from, uint64_t bytes) {
    std::memmove(to, from, bytes);
    if (auto* unwritten = unwritten_memory())
        unwritten->copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes);
}

}  // namespace

CopyEngine& copies() {
    static CopyEngine* e = new CopyEngine;
    return *e;
}

CopyJob::CopyJob(uint64_t bytes, uint64_t pieces, std::function<void(uint64_t)> piece,
                 uint32_t dependencies, const hsa_signal_t* signals, hsa_signal_t completion)
    : bytes_(bytes), pieces_(pieces), piece_(std::move(piece)), completion_(completion) {
    for (uint32_t i = 0; i < dependencies; i++)
        if (signal_of(signals[i])) dependencies_.push_back(signals[i]);
}

bool CopyJob::ready() const {
    return std::all_of(dependencies_.begin(), dependencies_.end(), [](hsa_signal_t handle) {
        Signal* s = signal_of(handle);
        return !s || s->load() == 0;
    });
}

void CopyJob::start() {
    if (!ready()) {
        for (hsa_signal_t s : dependencies_)
            if (Signal* signal = signal_of(s)) signal->watched.fetch_add(1);
        monitor().park(shared_from_this());
        poll();  // the signals were not watched before
        return;
    }
    launched_.store(true);
    launch();
}

void CopyJob::poll() {
    if (!ready() || launched_.exchange(true)) return;
    auto self = shared_from_this();
    monitor().unpark(this);
    for (hsa_signal_t s : dependencies_)
        if (Signal* signal = signal_of(s)) signal->watched.fetch_sub(1);
    launch();
}

void CopyJob::launch() {
    begin_ns_.store(now_ns());
    if (pieces_ == 0) return complete_signal(completion_, begin_ns_, begin_ns_);
    if (bytes_ <= copy_here_bytes) {
        while (run_piece()) {
        }
        return;
    }
    copies().submit(shared_from_this());
}

bool CopyJob::run_piece() {
    const uint64_t i = next_.fetch_add(1);
    if (i >= pieces_) return false;
    piece_(i);
    if (done_.fetch_add(1) + 1 == pieces_) complete_signal(completion_, begin_ns_, now_ns());
    return true;
}

void CopyEngine::submit(std::shared_ptr<CopyJob> job) {
    if (!enter(std::move(job)))
        while (help()) {
        }
}

bool CopyEngine::enter(std::shared_ptr<CopyJob> job) {
    std::lock_guard lock(mutex_);
    const bool several = job->pieces_ > 1;
    jobs_.push_back(std::move(job));
    job_count_.store(static_cast<uint32_t>(jobs_.size()));
    if (!crew_) {
        note_use();
        const uint32_t crew = std::clamp(std::thread::hardware_concurrency(), 1u, largest_crew);
        while (crew_ < crew && start_thread([this] { main(); })) crew_++;
        if (!crew_) return false;
    }
    several ? work_.notify_all() : work_.notify_one();
    return true;
}

bool CopyEngine::help() {
    if (!job_count_.load(std::memory_order_relaxed)) return false;
    std::shared_ptr<CopyJob> job;
    {
        std::lock_guard lock(mutex_);
        if (jobs_.empty()) return false;
        job = jobs_.front();
    }
    if (job->run_piece()) return true;
    std::lock_guard lock(mutex_);
    if (!jobs_.empty() && jobs_.front() == job) jobs_.pop_front();
    job_count_.store(static_cast<uint32_t>(jobs_.size()));
    return true;
}

void CopyEngine::main() {
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            work_.wait(lock, [&] { return !jobs_.empty(); });
        }
        while (help()) {
        }
    }
}

namespace {

hsa_status_t copy_linear(void* to, const void* from, uint64_t size, uint32_t dependencies,
                         const hsa_signal_t* signals, hsa_signal_t completion) {
    char* dst = static_cast<char*>(without_alias(to));
    const char* src = static_cast<const char*>(without_alias(from));
    auto piece = [dst, src, size](uint64_t i) {
        const uint64_t at = i * piece_bytes;
        move_bytes(dst + at, src + at, std::min(piece_bytes, size - at));
    };
    std::make_shared<CopyJob>(size, (size + piece_bytes - 1) / piece_bytes, piece, dependencies,
                              signals, completion)
        ->start();
    return HSA_STATUS_SUCCESS;
}

bool bad_dependencies(uint32_t count, const hsa_signal_t* signals) {
    return (count != 0) != (signals != nullptr) && count != 0;
}

}  // namespace

}  // namespace wj::hsa

using namespace wj::hsa;

extern "C" {

hsa_status_t hsa_amd_memory_async_copy(void* dst, hsa_agent_t dst_agent, const void* src,
                                       hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
                                       const hsa_signal_t* dep_signals,
                                       hsa_signal_t completion_signal) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if ((size && (!dst || !src)) || bad_dependencies(num_dep_signals, dep_signals))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!agent_of(dst_agent) || !agent_of(src_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    return copy_linear(dst, src, size, num_dep_signals, dep_signals, completion_signal);
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void* dst, hsa_agent_t dst_agent, const void* src,
                                                 hsa_agent_t src_agent, size_t size,
                                                 uint32_t num_dep_signals,
                                                 const hsa_signal_t* dep_signals,
                                                 hsa_signal_t completion_signal,
                                                 uint32_t /*engine*/, bool /*force*/) {
    return hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size, num_dep_signals,
                                     dep_signals, completion_signal);
}

hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent,
                                               uint32_t* engine_ids_mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(dst_agent) || !agent_of(src_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (engine_ids_mask) *engine_ids_mask = 1;
    return HSA_STATUS_SUCCESS;
}

// ROCm 7: there is one engine, so it is the best one for all.
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent, hsa_agent_t src_agent,
                                                      uint32_t* recommended_ids_mask) {
    if (!recommended_ids_mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_amd_memory_copy_engine_status(dst_agent, src_agent, recommended_ids_mask);
}

hsa_status_t hsa_amd_memory_async_copy_rect(
    const hsa_pitched_ptr_t* dst, const hsa_dim3_t* dst_offset, const hsa_pitched_ptr_t* src,
    const hsa_dim3_t* src_offset, const hsa_dim3_t* range, hsa_agent_t copy_agent,
    hsa_amd_copy_direction_t, uint32_t num_dep_signals, const hsa_signal_t* dep_signals,
    hsa_signal_t completion_signal) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(copy_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!dst || !src || !dst_offset || !src_offset || !range ||
        bad_dependencies(num_dep_signals, dep_signals))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_pitched_ptr_t to = *dst, from = *src;
    const hsa_dim3_t size = *range;  // x in bytes
    char* dst_base = static_cast<char*>(without_alias(to.base)) + dst_offset->x +
                     dst_offset->y * to.pitch + dst_offset->z * to.slice;
    const char* src_base = static_cast<const char*>(without_alias(from.base)) + src_offset->x +
                           src_offset->y * from.pitch + src_offset->z * from.slice;
    // One piece: some rows of a plane.
    const uint64_t rows =
        std::clamp<uint64_t>(piece_bytes / std::max(size.x, 1u), 1, size.y ? size.y : 1);
    const uint64_t pieces_per_plane = (size.y + rows - 1) / rows;
    auto piece = [=](uint64_t i) {
        const uint64_t z = i / pieces_per_plane, first = i % pieces_per_plane * rows;
        for (uint64_t y = first; y < std::min<uint64_t>(first + rows, size.y); y++)
            move_bytes(dst_base + z * to.slice + y * to.pitch,
                       src_base + z * from.slice + y * from.pitch, size.x);
    };
    const uint64_t bytes = uint64_t{size.x} * size.y * size.z;
    std::make_shared<CopyJob>(bytes, bytes ? pieces_per_plane * size.z : 0, piece, num_dep_signals,
                              dep_signals, completion_signal)
        ->start();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void* ptr, uint32_t value, size_t count) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || reinterpret_cast<uint64_t>(ptr) % 4) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto* const to = static_cast<uint32_t*>(without_alias(ptr));
    std::fill_n(to, count, value);
    if (auto* unwritten = unwritten_memory())
        unwritten->write(reinterpret_cast<uint64_t>(to), count * sizeof value);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_copy(void* dst, const void* src, size_t size) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (size && (!dst || !src)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    move_bytes(without_alias(dst), without_alias(src), size);
    return HSA_STATUS_SUCCESS;
}

}  // extern "C"
