/* Preloaded into rocminfo, which looks for the kernel driver before it uses the HSA runtime: files that only the
 * driver makes are replaced by others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* The device node (may the user open it?), and whether the module is there (rocminfo 5.7 on; older ones ask lsmod). */
static const char device[] = "/dev/kfd", module[] = "/sys/module/amdgpu", state[] = "/sys/module/amdgpu/initstate";

static const char* replacement(const char* path) {
    return strcmp(path, device) == 0 ? "/dev/null" : path;
}

static void* next(const char* symbol) {
    return dlsym(RTLD_NEXT, symbol);
}

#define VISIBLE __attribute__((visibility("default")))

#define INTERPOSE_OPEN(name)                                         \
    VISIBLE int name(const char* path, int flags, ...) {             \
        va_list args;                                                \
        va_start(args, flags);                                       \
        mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;  \
        va_end(args);                                                \
        typedef int function(const char*, int, ...);                 \
        return ((function*)next(#name))(replacement(path), flags, mode); \
    }

INTERPOSE_OPEN(open)
INTERPOSE_OPEN(open64)

/* std::ifstream opens by these and reads from the descriptor. */
static FILE* live(void) {
    int file = memfd_create("initstate", MFD_CLOEXEC);
    if (file < 0 || write(file, "live\n", 5) != 5 || lseek(file, 0, SEEK_SET) != 0) return NULL;
    return fdopen(file, "r");
}

#define INTERPOSE_FOPEN(name)                                        \
    VISIBLE FILE* name(const char* path, const char* mode) {         \
        typedef FILE* function(const char*, const char*);            \
        if (strcmp(path, state) != 0) return ((function*)next(#name))(replacement(path), mode); \
        return live();                                               \
    }

INTERPOSE_FOPEN(fopen)
INTERPOSE_FOPEN(fopen64)

VISIBLE int stat(const char* path, struct stat* out) {
    typedef int function(const char*, struct stat*);
    const char* there = strcmp(path, module) == 0 || strcmp(path, state) == 0 ? "/sys" : replacement(path);
    return ((function*)next("stat"))(there, out);
}
