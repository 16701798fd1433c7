// C interface: call stacks of faults and of waves that stand still.
#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

wj_status wj::c_api::write_frame(wj_context* context, const runtime::CallStack& stack, size_t index,
                                 wj_stack_frame* frame) {
    if (index >= stack.frames.size())
        return context->fail(WJ_NOT_FOUND, "the call stack has " +
                                               std::to_string(stack.frames.size()) +
                                               " frames, numbered from 0");
    const runtime::StackFrame& from = stack.frames[index];
    wj_stack_frame to{};
    to.pc = from.pc;
    to.function = from.function.c_str();
    to.file = from.file.c_str();
    to.line = from.line;
    to.column = from.column;
    to.inlined = from.inlined;
    to.incomplete = !stack.complete && index + 1 == stack.frames.size();
    return write_struct(frame, to) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
}

extern "C" {

wj_status wj_dispatch_get_frame(wj_dispatch* dispatch, size_t index, wj_stack_frame* frame) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(dispatch->context, [&] {
        if (!dispatch->dispatch->done()) return WJ_NOT_READY;
        const KeptFinding* const kept = keep_fault(dispatch->dispatch->result(), dispatch->fault);
        return kept ? write_frame(dispatch->context, kept->record.stack, index, frame)
                    : WJ_NOT_FOUND;
    });
}

wj_status wj_wave_get_frame(wj_wave* wave, size_t index, wj_stack_frame* frame) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        if (!index || !wave->stack)
            wave->stack = std::make_unique<runtime::CallStack>(
                wave->context->device->call_stack(wave->stopped));
        return write_frame(wave->context, *wave->stack, index, frame);
    });
}

}  // extern "C"
