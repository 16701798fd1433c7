/* Preloaded into rocminfo, which opens the driver's device node to see whether the user may use it: that
 * one path is sent to the null device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

typedef int open_function(const char*, int, ...);

static int forward(const char* symbol, const char* path, int flags, mode_t mode) {
    open_function* next = (open_function*)dlsym(RTLD_NEXT, symbol);
    return next(strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path, flags, mode);
}

#define INTERPOSE(name)                                   \
    int name(const char* path, int flags, ...) {          \
        va_list args;                                     \
        va_start(args, flags);                            \
        mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0; \
        va_end(args);                                     \
        return forward(#name, path, flags, mode);         \
    }

__attribute__((visibility("default"))) INTERPOSE(open)
__attribute__((visibility("default"))) INTERPOSE(open64)
