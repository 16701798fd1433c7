// Whether this build is watched by ThreadSanitizer, for the few places that must tell it something.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define WJ_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WJ_THREAD_SANITIZER 1
#endif
#endif
#ifndef WJ_THREAD_SANITIZER
#define WJ_THREAD_SANITIZER 0
#endif

#if WJ_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
