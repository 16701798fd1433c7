#include "runtime/c_api_callbacks.h"

#include <utility>

#include "common/per_thread.h"
#include "runtime/c_api_internal.h"

namespace wj::c_api {
namespace {

struct Innermost {
    const Callback* callback = nullptr;
};

}  // namespace

Callback::Callback(const wj_context* context)
    : context_(context), outer_(std::exchange(per_thread_by_key<Innermost>().callback, this)) {}

Callback::~Callback() {
    per_thread_by_key<Innermost>().callback = outer_;
}

bool Callback::within(const wj_context* context) {
    const Callback* c = per_thread_by_key<Innermost>().callback;
    while (c && c->context_ != context) c = c->outer_;
    return c;
}

bool refused_in_callback(wj_context* context, const char* function) {
    if (!Callback::within(context)) return false;
    context->fail(WJ_INVALID_ARGUMENT,
                  std::string(function) +
                      " cannot be called within a hook or another callback of its context, which "
                      "is in the midst of a dispatch: call it when the dispatch has ended "
                      "(wavejit.h, \"Callbacks\", says what can be called there)");
    return true;
}

}  // namespace wj::c_api
