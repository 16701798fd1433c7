// What the sources of the C interface share.
#pragma once

#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/fork.h"
#include "frontend/code_object.h"
#include "frontend/code_object_bytes.h"
#include "machine/unwritten_memory.h"
#include "memory/reserved_addresses.h"
#include "memory/snapshot.h"
#include "runtime/c_api_callbacks.h"
#include "runtime/capture.h"
#include "runtime/device.h"
#include "runtime/hidden_layout.h"
#include "runtime/kernel_args.h"
#include "runtime/printf.h"
#include "wavejit/wavejit.h"

namespace wj::c_api {

wj_status to_c(Code code);

}  // namespace wj::c_api

namespace wj::c_api {

// What wj_capture_open has read.
struct CapturedState {
    std::vector<wj_module*> modules;  // which the context unloads; the kernel's first
    size_t kernel = 0;                // its number there
    runtime::CapturedLaunch launch;
    struct Memory {
        uint64_t number = 0, address = 0, bytes = 0;
        uint32_t rights = 0;
        std::string label;
    };
    std::vector<Memory> memory;
};

// Whose strings wj_finding_get has given.
struct KeptFinding {
    runtime::FaultRecord record;
    std::string report;
};

}  // namespace wj::c_api

namespace wj::c_api {

class SavedDispatch;  // runtime/c_api_resume.cpp

// Dispatches that keep their waves, and those of them that snapshots have.
class StoppedDispatches {
public:
    void add(wj_dispatch* dispatch);
    void remove(wj_dispatch* dispatch);  // it is about to be released
    bool has(const wj_dispatch* dispatch);
    // Of one that has().
    Status save(wj_dispatch* dispatch, std::unique_ptr<SavedDispatch>& to);
    void add(wj_snapshot snapshot, std::unique_ptr<SavedDispatch> saved);
    void release(wj_snapshot snapshot);
    // InvalidArgument: the snapshot has one that was released.
    Status check(wj_snapshot snapshot);
    void restore(wj_snapshot snapshot);  // does nothing if it has none
    StoppedDispatches();
    ~StoppedDispatches();

private:
    std::mutex mutex_;
    std::vector<wj_dispatch*> dispatches_;
    std::map<wj_snapshot, std::unique_ptr<SavedDispatch>> saved_;  // null: released
};

}  // namespace wj::c_api

struct wj_context {
    std::unique_ptr<wj::runtime::Device> device;
    std::string target, engine;
    std::unique_ptr<wj::memory::Snapshots> snapshots;
    // Of each snapshot, with WJ_CHECK_INIT.
    std::map<wj_snapshot, wj::machine::UnwrittenMemory::State> unwritten;
    wj::c_api::StoppedDispatches stopped;
    std::mutex mapped_mutex;
    std::multimap<uint64_t, wj::memory::ReservedAddresses> mapped;  // what map_at() has, by address
    std::mutex modules_mutex;
    std::vector<wj_module*> modules;                     // loaded
    std::unique_ptr<wj::c_api::CapturedState> captured;  // null: it is not made of a file

    explicit wj_context(std::unique_ptr<wj::runtime::Device> made);
    ~wj_context();

    // Keeps the text for wj_last_error and returns the status.
    wj_status fail(const wj::Status& status) {
        return fail(wj::c_api::to_c(status.code()), status.message());
    }
    wj_status fail(wj_status status, std::string text) {
        std::lock_guard lock(error_mutex);
        errors[std::this_thread::get_id()] = std::move(text);
        return status;
    }
    // With the report of a fault, which is made when somebody asks for it.
    wj_status fail(const wj::runtime::FaultRecord& fault) {
        std::lock_guard lock(error_mutex);
        errors[std::this_thread::get_id()] = fault;
        return wj::c_api::to_c(fault.code);
    }
    std::mutex error_mutex;
    // One entry per thread that failed.
    std::map<std::thread::id, std::variant<std::string, wj::runtime::FaultRecord>> errors;
    std::vector<std::unique_ptr<wj::c_api::KeptFinding>> findings;
};

struct wj_kernel {
    wj_module* module = nullptr;
    const wj::runtime::LoadedKernel* loaded = nullptr;
    const wj::KernelInfo* info = nullptr;
    wj::runtime::HiddenLayout layout = wj::runtime::HiddenLayout::Standard;
};

struct wj_module {
    wj_context* context = nullptr;  // null: it has gone
    std::shared_ptr<wj::runtime::Module> module;
    std::vector<wj_kernel> kernels;
    uint64_t origin = 0;    // the same in clones of the context, and in no other module
    bool of_clone = false;  // or of a capture: the context unloads it

    wj_module(wj_context* holder, std::shared_ptr<wj::runtime::Module> loaded);
    ~wj_module();
};

struct wj_wave {
    wj_context* context = nullptr;
    wj::runtime::StoppedWave stopped;
    std::unique_ptr<wj::runtime::CallStack> stack;  // of when frame 0 was last asked for
};

namespace wj::c_api {

// The waves of a launch that has ended, as the embedder is given them.
class StoppedWaves {
public:
    // Of a runtime::Dispatch that is done, or a PreparedLaunch.
    template <class Launch>
    size_t count(wj_context* context, const Launch& launch) {
        std::lock_guard lock(mutex_);
        if (!std::exchange(made_, true))
            for (const runtime::StoppedWave& stopped : launch.stopped_waves())
                waves_.push_back({context, stopped, nullptr});
        return waves_.size();
    }
    wj_wave* at(size_t index) { return &waves_[index]; }
    void forget() {
        std::lock_guard lock(mutex_);
        made_ = false;
        waves_.clear();
    }

private:
    std::mutex mutex_;
    bool made_ = false;
    std::vector<wj_wave> waves_;
};

}  // namespace wj::c_api

struct wj_dispatch {
    wj_context* context = nullptr;
    wj::c_api::StoppedWaves waves;
    std::shared_ptr<wj::runtime::Dispatch> dispatch;
    std::unique_ptr<wj::c_api::KeptFinding> fault;    // made on demand
    std::optional<wj::runtime::PrintfBuffer> printf;  // until its text is printed
    void (*print)(void*, const char*, size_t) = nullptr;
    void* print_context = nullptr;
    std::mutex print_mutex;
    std::mutex resume_mutex;   // of who makes it go on, or tells how it ended
    bool keeps_waves = false;  // it may go on when it has stopped
    bool printed = false;      // what the buffer has
    void flush_print();        // when the dispatch has ended
    void begin_part();         // it goes on
    ~wj_dispatch();
};

namespace wj::c_api {

Result<runtime::DeviceOptions> make_device_options(const wj_context_options& options);
wj_module* add_module(wj_context* context, const std::shared_ptr<runtime::Module>& loaded);

// What a launch's options say.
struct Launch {
    wj_launch_options options;
    runtime::ArgumentBlock block;
    runtime::DispatchRequest request;  // without the arguments
    runtime::HiddenValues hidden;
};
wj_status outcome(wj_dispatch* dispatch);  // of one that has ended or stopped
// Fills in what launches and dispatches that go on have: hooks and kept waves.
wj_status read_watching(wj_context* context, const wj_hooks* from, uint32_t keep_waves,
                        std::shared_ptr<machine::Hooks>& hooks, runtime::KeptWaves& kept);
wj_status make_launch(wj_kernel* kernel, const wj_launch_options* options, Launch& out);
std::shared_ptr<machine::Hooks> make_hooks(const wj_hooks& hooks, wj_context* context);
// By WAVEJIT_CAPTURE; what keeps it from it is printed. Before hidden arguments are filled in.
void capture_if_wanted(const wj_kernel& kernel, const Launch& launch);
wj_result to_c_result(const runtime::DispatchResult& result);
// Its strings are the record's and the report.
wj_fault to_c_fault(const runtime::FaultRecord& record, const std::string& report);
// With all texts, made the first time; null if the launch ended well.
const KeptFinding* keep_fault(const runtime::DispatchResult& result,
                              std::unique_ptr<KeptFinding>& kept);
// WJ_NOT_FOUND if it ended well, or there are not so many frames.
wj_status write_frame(wj_context* context, const runtime::CallStack& stack, size_t index,
                      wj_stack_frame* frame);
// WJ_NOT_FOUND if the launch ended well.
wj_status write_fault(wj_context* context, const runtime::DispatchResult& result,
                      std::unique_ptr<KeptFinding>& kept, wj_fault* fault);
wj_status write_fault_data(wj_context* context, const runtime::DispatchResult& result,
                           wj_fault_data* data);

// No exception leaves the C interface. Of what may be called within callbacks, too
// (c_api_callbacks.h).
template <class Body>
wj_status guarded_in_callbacks(wj_context* context, Body&& body) {
    if (!context) return WJ_INVALID_ARGUMENT;
    try {
        if (context->device->left_behind()) return context->fail(WJ_HOST_ERROR, left_behind_text);
        return body();
    } catch (const std::bad_alloc&) {
        return context->fail(WJ_OUT_OF_MEMORY, "the host is out of memory");
    } catch (const std::exception& e) {
        return context->fail(WJ_HOST_ERROR, std::string("unexpected failure: ") + e.what());
    }
}

// Of all other functions. The caller is the one that messages name.
template <class Body>
wj_status guarded(wj_context* context, Body&& body, const char* function = __builtin_FUNCTION()) {
    return guarded_in_callbacks(context, [&] {
        return refused_in_callback(context, function) ? WJ_INVALID_ARGUMENT : body();
    });
}

// WJ_NOT_READY while dispatches run; `what` names what has to wait.
inline wj_status need_idle(wj_context* context, const char* what) {
    if (context->device->idle()) return WJ_OK;
    return context->fail(WJ_NOT_READY, std::string(what) +
                                           " while no dispatch runs: wait for those of the "
                                           "context first");
}

// Lets kernels see something at addresses that the process has nothing else at from then on.
template <class Map>
wj_status map_at(wj_context* context, const char* function, uint64_t address, uint64_t size,
                 Map map) {
    memory::ReservedAddresses reserved;
    if (!reserved.reserve(address, size))
        return context->fail(
            WJ_INVALID_ARGUMENT,
            std::string(function) + ": this process, or an earlier mapping, has something in the " +
                std::to_string(size) + " bytes at " + hex(address) + ": choose another address");
    std::lock_guard lock(context->mapped_mutex);
    if (const Status status = map(context->device->memory()); !status) return context->fail(status);
    context->mapped.emplace(address, std::move(reserved));
    return WJ_OK;
}

// A caller's option struct in the size that this library knows; missing fields are 0, and those of
// later versions have to be.
template <class T>
bool read_options(const T* from, T& to) {
    std::memset(&to, 0, sizeof(T));
    if (!from) return true;
    if (from->size < sizeof(size_t)) return false;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(from);
    constexpr size_t most_added = 4096;  // by later versions; a larger size was never set
    if (from->size > sizeof(T) + most_added) return false;
    for (size_t at = sizeof(T); at < from->size; at++)
        if (bytes[at]) return false;
    std::memcpy(&to, from, std::min(from->size, sizeof(T)));
    return true;
}

// Fills as much of a caller's struct as its `size` says.
template <class T>
bool write_struct(T* to, T from) {
    if (!to || to->size < sizeof(size_t)) return false;
    size_t size = to->size;
    std::memcpy(to, &from, std::min(size, sizeof(T)));
    to->size = size;
    return true;
}

inline constexpr const char* bad_size =
    "the struct's `size` field is not set (initialize it with WJ_INIT(type)), or fields are set "
    "that this version of the library does not know";

}  // namespace wj::c_api
