// C interface: dispatches that go on where they have stopped, and those that snapshots have.
#include <algorithm>

#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

void wj_dispatch::begin_part() {
    waves.forget();
    fault.reset();
    std::lock_guard lock(print_mutex);
    printed = false;
}

class wj::c_api::SavedDispatch {
public:
    SavedDispatch(wj_dispatch& dispatch, std::unique_ptr<runtime::DispatchImage> image)
        : dispatch_(dispatch), image_(std::move(image)) {
        if (dispatch.printf) messages_ = dispatch.printf->save();
    }
    bool is_of(const wj_dispatch* dispatch) const { return &dispatch_ == dispatch; }
    void restore() {
        dispatch_.dispatch->wait();  // what ran it last may not have told its end yet
        image_->restore();
        dispatch_.begin_part();
        if (dispatch_.printf) dispatch_.printf->restore(messages_);
    }

private:
    wj_dispatch& dispatch_;
    std::unique_ptr<runtime::DispatchImage> image_;
    std::vector<std::byte> messages_;
};

StoppedDispatches::StoppedDispatches() = default;
StoppedDispatches::~StoppedDispatches() = default;

void StoppedDispatches::add(wj_dispatch* dispatch) {
    std::lock_guard lock(mutex_);
    dispatches_.push_back(dispatch);
}

void StoppedDispatches::remove(wj_dispatch* dispatch) {
    std::lock_guard lock(mutex_);
    std::erase(dispatches_, dispatch);
    for (auto& [snapshot, saved] : saved_)
        if (saved && saved->is_of(dispatch)) saved.reset();
}

bool StoppedDispatches::has(const wj_dispatch* dispatch) {
    std::lock_guard lock(mutex_);
    return std::ranges::find(dispatches_, dispatch) != dispatches_.end();
}

Status StoppedDispatches::save(wj_dispatch* dispatch, std::unique_ptr<SavedDispatch>& to) {
    auto image = dispatch->dispatch->save();
    if (!image) return image.status();
    to = std::make_unique<SavedDispatch>(*dispatch, std::move(*image));
    return Status::ok();
}

void StoppedDispatches::add(wj_snapshot snapshot, std::unique_ptr<SavedDispatch> saved) {
    std::lock_guard lock(mutex_);
    saved_[snapshot] = std::move(saved);
}

void StoppedDispatches::release(wj_snapshot snapshot) {
    std::lock_guard lock(mutex_);
    saved_.erase(snapshot);
}

Status StoppedDispatches::check(wj_snapshot snapshot) {
    std::lock_guard lock(mutex_);
    const auto found = saved_.find(snapshot);
    if (found == saved_.end() || found->second) return Status::ok();
    return {Code::InvalidArgument, "the dispatch that snapshot " + std::to_string(snapshot) +
                                       " has was released: release the snapshot, too"};
}

void StoppedDispatches::restore(wj_snapshot snapshot) {
    std::lock_guard lock(mutex_);
    const auto found = saved_.find(snapshot);
    if (found != saved_.end() && found->second) found->second->restore();
}

extern "C" wj_status wj_dispatch_resume(wj_dispatch* dispatch, const wj_resume_options* options) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    wj_context* context = dispatch->context;
    return guarded(context, [&] {
        wj_resume_options o;
        if (!read_options(options, o)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        runtime::ResumeRequest request;
        request.timeout_ns = o.timeout_ns;
        request.instruction_limit = o.instruction_limit;
        request.wait = o.wait != 0;
        if (const wj_status status =
                read_watching(context, o.hooks, o.keep_waves, request.hooks, request.kept_waves);
            status != WJ_OK)
            return status;
        const std::unique_lock alone(dispatch->resume_mutex, std::try_to_lock);
        if (!alone || !dispatch->dispatch->done())
            return context->fail(WJ_NOT_READY, "the dispatch runs: wait until it has stopped");
        if (Status status = dispatch->dispatch->may_resume(); !status) return context->fail(status);
        dispatch->begin_part();
        if (Status status = dispatch->dispatch->resume(request); !status)
            return context->fail(status);
        return o.wait ? outcome(dispatch) : WJ_OK;
    });
}
