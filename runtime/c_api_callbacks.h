// Functions of an embedder that the C interface calls, and which of ours it may call within them.
#pragma once

#include "wavejit/wavejit.h"

namespace wj::c_api {

// As long as it lives the calling thread is within a callback of the context.
class Callback {
public:
    explicit Callback(const wj_context* context);
    ~Callback();
    Callback(const Callback&) = delete;
    Callback& operator=(const Callback&) = delete;

    // This thread is within one, perhaps within one of another context that was called there.
    static bool within(const wj_context* context);

private:
    const wj_context* const context_;
    const Callback* const outer_;
};

// Of the functions without a status: true, with a text for wj_last_error, within a callback of the
// context, where they do nothing.
bool refused_in_callback(wj_context* context, const char* function = __builtin_FUNCTION());

}  // namespace wj::c_api
