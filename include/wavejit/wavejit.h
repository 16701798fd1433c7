/* wavejit: runs AMD GPU machine code on the CPU. C interface, C99.
 *
 * Handles are opaque and made by the functions below; there is no global state. Every function that
 * can fail returns a wj_status; the text for the last failure of the calling thread is kept in the
 * context (wj_last_error).
 *
 * Threads: all functions may be called from any thread, and on the same context from several
 * threads at once. A handle must not be used while or after another thread destroys it. Dispatches
 * of one context run concurrently with each other; order them with wj_dispatch_wait.
 *
 * Lifetimes: destroy dispatches, then modules, then memory, then the context. wj_kernel handles
 * belong to their module. A module stays loaded until its last dispatch has ended.
 *
 * Option structs begin with `size`, which the caller sets to sizeof the struct (WJ_INIT does it),
 * so that fields may be added at the end. Fields that are left 0 take their defaults; other values
 * of fields that this version does not know are an error.
 *
 * Addresses: device memory is ordinary memory of this process, device address = host address. In
 * identity mode kernels can also reach memory that was not registered; in checked mode and in a
 * window they cannot.
 *
 * Callbacks: the library calls functions of the embedder's: those of wj_hooks and wj_page_hooks,
 * and print. Within one only these functions may be called for its context:
 *   - wj_wave_..., of the wave that the hook has been given;
 *   - wj_memory_read, _write, _copy, _fill, _host_pointer and _mark_written;
 *   - wj_last_error, wj_dispatch_done and _cancel, and those with _get_, _find_, _count and _at in
 *     their names.
 * All others are refused with WJ_INVALID_ARGUMENT, and those without a status do nothing; either
 * leaves a text for wj_last_error. Other contexts may be used, and new ones made. A thread that a
 * callback waits for must not call them either, as it would wait for ever. A callback returns: no
 * exception and no longjmp may leave it.
 *
 * fork: a child may use the contexts of its parent if these had not run a kernel, each process for
 * itself from then on. Contexts that had are left behind: every function that can fail answers
 * WJ_HOST_ERROR, destroying is allowed, and new contexts may be made.
 *
 * dlclose: the library stays in the process (its signal handlers may be chained).
 *
 * Signals: a context in identity mode or with a window installs handlers for SIGSEGV and SIGBUS
 * (once per process). Faults that no kernel caused are passed on to the handlers that were there
 * before. */
#ifndef WAVEJIT_H
#define WAVEJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(WJ_STATIC)
#define WJ_API
#else
#define WJ_API __attribute__((visibility("default")))
#endif

#define WJ_VERSION_MAJOR 0
#define WJ_VERSION_MINOR 1

typedef enum wj_status {
    WJ_OK = 0,
    WJ_INVALID_ARGUMENT = 1,    /* the caller broke a stated precondition */
    WJ_NOT_FOUND = 2,           /* no such file, kernel, symbol */
    WJ_INVALID_CODE_OBJECT = 3, /* malformed or truncated ELF, bundle, metadata */
    WJ_UNSUPPORTED_TARGET = 4, /* well formed, but for a processor or system that is not emulated */
    WJ_OUT_OF_MEMORY = 5,
    WJ_OUT_OF_RANGE = 6, /* a size or limit of the modelled device is exceeded */
    WJ_GUEST_FAULT = 7,  /* a kernel touched memory it must not touch */
    WJ_ILLEGAL_INSTRUCTION = 8,
    WJ_UNIMPLEMENTED = 9, /* a valid instruction or feature that wavejit refuses by name */
    WJ_TIMEOUT = 10,      /* time or instruction limit used up, or cancelled */
    WJ_DEADLOCK = 11,     /* every wave of a work-group waits and none can go on */
    WJ_GUEST_TRAP = 12,   /* s_trap: assert; an arithmetic exception that is enabled */
    WJ_HOST_ERROR = 13,   /* an operating system call failed */
    WJ_NOT_READY = 14     /* the dispatch is still running */
} wj_status;

typedef enum wj_engine {
    WJ_ENGINE_AUTO = 0, /* the best that the host can run; kernels are interpreted until a
                         * translation pays */
    WJ_ENGINE_INTERPRETER = 1,
    WJ_ENGINE_AVX2 = 2,
    WJ_ENGINE_AVX512 = 3
} wj_engine;
/* Where edges of guest code are counted: from a branch of any kind to the instruction that is
 * executed next, once for each wave that takes it; s_endpgm leads to nowhere. An edge has the same
 * counter on every engine and in every process: a hash of the code object and of offsets in it.
 * Counters have 8 bits and stay at 255. With several threads a few counts may be lost. */
typedef enum wj_coverage {
    WJ_COVERAGE_AUTO = 0, /* a program with an LLVMFuzzerTestOneInput and SanitizerCoverage, as
                           * libFuzzer's targets are, gets 4,096 counters of that, and the operands
                           * of integer compares; others none. A library that is opened by dlopen
                           * sees these only if the executable exports them. */
    WJ_COVERAGE_OFF = 1,
    WJ_COVERAGE_COUNTERS = 2 /* in coverage_counters; AFL++: __afl_area_ptr, __afl_map_size */
} wj_coverage;
typedef enum wj_memory_mode {
    WJ_MEMORY_IDENTITY = 0, /* guest addresses are the host's: a kernel reaches all memory of the
                             * process */
    WJ_MEMORY_CHECKED = 1,  /* each access is looked up, exact to the byte */
    WJ_MEMORY_WINDOW = 2    /* guest addresses are the host's inside a window, which holds what
                             * wj_memory_allocate gives and no host memory; every other address
                             * leads to some place in the window. Pages that are not allocated
                             * fault. Nearly as fast as identity. */
} wj_memory_mode;

/* Checkers look for what hardware lets pass. The dispatch goes on as hardware does; with findings
 * it ends with WJ_GUEST_FAULT, wj_fault tells the first one (what, where in the source, in which
 * lanes) and wj_finding_get all. Each kind of finding is told once for an instruction. What is
 * checked costs several times as much to execute; with WAITCNT everything is interpreted. */
enum {
    WJ_CHECK_MEMORY = 1,   /* With checked memory only: LDS beyond what the work-group asked for, to
                            * the byte. The addresses of memory that was freed are not used again
                            * before 4,096 later frees, so that accesses to it are faults. */
    WJ_CHECK_INIT = 2,     /* LDS that is read before any wave of the work-group has written it;
                            * bits of registers, of scratch memory and of what wj_memory_allocate
                            * gave that nobody has written, where they become an address, a
                            * condition, EXEC, data in global memory or a part of an atomic
                            * operation. Hosts that write through an address itself say so
                            * (wj_memory_mark_written); of what is to hold the zeros that it was
                            * allocated with, too. */
    WJ_CHECK_RACE = 4,     /* bytes that one wave writes and another reads or writes, and that no
                            * barrier, or in global memory atomics with fences, puts in an order;
                            * atomics have one among themselves. Stores of equal values are none. */
    WJ_CHECK_BARRIER = 8,  /* waves that have ended while others of the work-group wait */
    WJ_CHECK_WAITCNT = 16, /* registers that are read or written while a load of them may still be
                            * under way, as no s_waitcnt has waited for it */
    WJ_CHECK_ALIGNMENT = 32, /* scalar accesses at addresses that are no multiple of their size, or
                              * of 4: the low bits are left out */
    WJ_CHECK_DIVISION = 64,  /* v_rcp_iflag_f32 of 0, with which integers of 32 bits are divided */
    WJ_CHECK_ALL = 127,
    /* Not in ALL: vector accesses and LDS at addresses that are no multiple of their size, or of 4;
     * compilers make them of accesses of bytes. */
    WJ_CHECK_UNALIGNED = 128,
    /* Not in ALL, nor together with INIT: addresses, branches and EXEC that follow from a result
     * which hardware may have otherwise in its last bits (`wavejit info --coverage`). What goes
     * through memory is forgotten. Everything is interpreted. */
    WJ_CHECK_INEXACT = 256
};

typedef struct wj_context wj_context;
typedef struct wj_module wj_module;
typedef struct wj_kernel wj_kernel;
typedef struct wj_dispatch wj_dispatch;

/* wj_launch_options options = WJ_INIT(wj_launch_options); */
#ifdef __cplusplus
#define WJ_INIT(type)              \
    ([] {                          \
        type value{};              \
        value.size = sizeof(type); \
        return value;              \
    }())
#else
#define WJ_INIT(type) \
    { .size = sizeof(type) }
#endif

WJ_API const char* wj_status_name(wj_status status); /* "invalid argument" */
WJ_API void wj_version(int* major, int* minor);

/* ---- context: one emulated GPU ------------------------------------------------------------------
 */

typedef struct wj_context_options {
    size_t size;
    const char* target; /* "gfx90a", "gfx906:xnack-"; NULL = gfx90a */
    wj_engine engine;
    wj_memory_mode memory_mode;
    uint32_t threads;            /* worker threads; 0 = all processors */
    uint32_t compute_units;      /* that kernels are told about; 0 = 8 */
    uint64_t slice_instructions; /* of a wave between scheduler visits; 0 = 2^20 */
    int use_environment; /* non-zero: WAVEJIT_TARGET, _ENGINE, _THREADS, _MEMORY, _CUS, _CACHE,
                            _CACHE_DIR, _CACHE_MIB, _CAPTURE,
                            _CAPTURE_COUNT, _CAPTURE_KERNEL, _CHECK, _CHECK_REPORT,
                            _CHECK_SUPPRESSIONS, _CODE_KIB, _COVERAGE, _DETERMINISTIC, _FIDELITY,
                            _HOT, _PLANS, _SCHEDULE_SEED, _WEAK_MEMORY override */
    int allow_unallocated_registers; /* non-zero: registers beyond a kernel's allocation are not
                                        reported */
    int cache_translations;      /* non-zero: translated code is kept on disk for later processes */
    const char* cache_directory; /* for it; NULL = ${XDG_CACHE_HOME:-$HOME/.cache}/wavejit. Not
                                    read when others than the user may write it. */
    int exclusive_memory; /* non-zero: while a dispatch runs, nothing but this context touches the
                             memory that its kernels update by atomics. Whenever one
                             thread runs alone, those are then plain host instructions, several
                             times faster. */
    int count_host_instructions; /* non-zero: translated code counts what it executes, for
                                    wj_counters and wj_context_get_hot_blocks; several times slower
                                  */
    wj_coverage coverage;
    uint8_t* coverage_counters; /* with WJ_COVERAGE_COUNTERS: they must live as long as the context,
                                   which never clears them */
    size_t coverage_size;       /* how many there are, 1 to 2^32 - 1; need not be a power of two */
    int deterministic; /* non-zero: results, reports, clocks and the order of waves are a function
                        * of what kernels are given, as long as these see no addresses that differ,
                        * on any number of threads: dispatches run one after the other, in the order
                        * of their submission, on one thread (one that waits for a later one never
                        * ends), and clocks tell executed instructions since the dispatch began.
                        * Time limits stop where time says. */
    uint32_t checks;   /* WJ_CHECK_...; translated code is then not kept on disk */
    /* Files. A report is written when the context is made and after each dispatch with findings, as
     * JSON, SARIF 2.1.0 or text by its name's ending (.json, .sarif). Suppressions are lines
     * CHECKER:PATTERN, "race:histogram*": findings in such kernels or source lines (fnmatch) are
     * none; CHECKER may be *. */
    const char* check_report;
    const char* check_suppressions;
    uint64_t window_bytes; /* with WJ_MEMORY_WINDOW: a power of two, 2^35 to 2^44; 0 = 2^36. Of
                            * these addresses memory gets all but 2^34; 2^37 more are reserved. */
    const char* coverage_report; /* a file: lines, functions and branches of the source that kernels
                                  * have reached, as lcov writes it, of modules with line tables;
                                  * or, if its name ends in .drcov, the blocks of code, of all
                                  * modules, as drcov writes them. Written when the context is made
                                  * and when it is destroyed. With WJ_COVERAGE_AUTO it has counters
                                  * of its own, with WJ_COVERAGE_COUNTERS it is made of those. */
    int coverage_divergence;     /* non-zero: an edge that a wave takes with some of the lanes that
                                  * it began with on, others off, has a counter of its own */
    int coverage_lanes;          /* non-zero: it has one for each of 1, 2, 3-4, 5-8, 9-16, 17-32 and
                                  * 33-63 lanes that are some of the wave's */
    int weak_memory; /* non-zero, with `deterministic`: in dispatches with a schedule_seed a store
                      * to global memory stays under way until a wait of its wave or the seed says
                      * otherwise, and loads may find what a cache has held since an earlier one, so
                      * that missing fences show. Everything is interpreted. */
} wj_context_options;

typedef struct wj_context_info {
    size_t size;
    const char* target; /* valid as long as the context */
    const char* engine; /* "interp", "avx2", "avx512" */
    wj_memory_mode memory_mode;
    uint32_t threads, compute_units, wave_size;
    uint32_t lds_bytes;           /* per work-group */
    uint32_t max_work_group_size; /* work-items */
} wj_context_info;

/* options may be NULL. On failure `error` (may be NULL) gets the reason, cut to error_size bytes.
 */
WJ_API wj_status wj_context_create(const wj_context_options* options, wj_context** context,
                                   char* error, size_t error_size);
WJ_API void wj_context_destroy(wj_context* context); /* NULL is allowed */
WJ_API wj_status wj_context_get_info(wj_context* context, wj_context_info* info);

/* The message of the last failed call by this thread on the context; "" if there was none. Valid
 * until the next failing call by this thread, or the end of the context. */
WJ_API const char* wj_last_error(wj_context* context);

/* Another context with the same options, memory contents at the same addresses and modules; from
 * then on nothing that happens to one is seen in the other. To be destroyed like any other one, in
 * any order. Memory is copied at once, without pages that hold zeros; translations are shared, and
 * so are coverage_counters and findings. What a context frees, the host gets back when all
 * of its clones have ended. A clone has no snapshots and no prepared launches; GDS holds zeros.
 * Its memory is elsewhere than its addresses say: the host reaches it by wj_memory_read,
 * wj_memory_write and wj_memory_host_pointer alone.
 * WJ_INVALID_ARGUMENT: memory is not checked, or host memory is registered. WJ_NOT_READY: a
 * dispatch runs. */
WJ_API wj_status wj_context_clone(wj_context* context, wj_context** clone);
/* What `module`, of a context that this one was cloned from, or of a clone, is in this one. It ends
 * with the context, or by wj_module_unload. WJ_NOT_FOUND: it is not there. */
WJ_API wj_status wj_context_get_module(wj_context* context, wj_module* module, wj_module** same);

typedef struct wj_counters {
    size_t size;
    uint64_t dispatches, work_groups, waves, wave_instructions;
    uint64_t execution_ns; /* sum over dispatches, without wj_prepared_launch with no result */
    uint64_t blocks_translated, instructions_translated, host_code_bytes, translation_ns;
    /* of wave_instructions: run by the interpreter, be it that translated code leaves them to it or
     * that a translation would not pay yet */
    uint64_t interpreter_fallbacks;
    uint64_t blocks_loaded, blocks_stored; /* from and to the on-disk cache */
    /* with count_host_instructions: of translated code, and its calls of the interpreter and of
     * memory operations lane by lane, which are not in host_instructions */
    uint64_t host_instructions, host_calls;
} wj_counters;
WJ_API wj_status wj_context_get_counters(wj_context* context, wj_counters* counters);

/* With count_host_instructions: the `most` blocks with the most executed host instructions, guest
 * and host code side by side, as text that is cut to `size` bytes with the final 0 (text may be
 * NULL when size is 0); *needed (may be NULL) gets the size of all of it. */
WJ_API wj_status wj_context_get_hot_blocks(wj_context* context, size_t most, char* text,
                                           size_t size, size_t* needed);

/* With coverage_report: the same of what kernels have reached so far, into another file, whose name
 * says the format. WJ_NOT_FOUND: there are modules, but none has line tables, and the file is
 * empty; compile with -g. */
WJ_API wj_status wj_coverage_write(wj_context* context, const char* path);

/* ---- memory -------------------------------------------------------------------------------------
 */

enum { WJ_READ = 1, WJ_WRITE = 2 };

/* Zeroed, page aligned, readable and writable by host and device. With checked memory it ends at
 * its last byte. */
WJ_API wj_status wj_memory_allocate(wj_context* context, uint64_t size, uint64_t* address);
WJ_API wj_status wj_memory_free(wj_context* context, uint64_t address);
/* Lets kernels reach host memory; *address is where they see it. rights: WJ_READ | WJ_WRITE. With
 * checked memory what lies beside it is out of reach to the byte (scalar loads: to 16 bytes). */
WJ_API wj_status wj_memory_register(wj_context* context, void* host, uint64_t size, uint32_t rights,
                                    uint64_t* address);
/* The same, with checked memory alone, at an address of the caller's choice below 2^48, which is as
 * far from its page of 4 KiB as the host's is. Host memory may be mapped at several addresses.
 * While it is, the process has nothing else at these addresses. */
WJ_API wj_status wj_memory_map(wj_context* context, uint64_t address, void* host, uint64_t size,
                               uint32_t rights);
WJ_API wj_status wj_memory_unregister(wj_context* context, uint64_t address); /* all kinds */
/* From now on kernels, and the functions below, have these rights to the pages of 4 KiB that the
 * bytes lie in, which are of one allocation or mapping: WJ_READ, WJ_WRITE, both or 0. A range
 * begins and ends where pages do, or the memory does; what else lies on its first and last page has
 * the same rights. A snapshot has the rights of its time, a clone those of the context. Without
 * checked memory host pages are protected, too, so that pointers of the host's fault there, and
 * registered memory is refused: the program may protect it itself. Nothing of it is executed,
 * whatever its rights: code is what modules have in executable segments, which kernels cannot
 * write. A kernel that runs learns of it at the end of its slice at the latest. */
WJ_API wj_status wj_memory_protect(wj_context* context, uint64_t address, uint64_t size,
                                   uint32_t rights);

/* A device with registers in memory: what loads and stores to its pages call. They return 0, or
 * anything else to make the access a fault; what is NULL is a fault always.
 *
 * Pieces: an access of a lane, or of a scalar instruction, is taken apart into calls for 1, 2 or 4
 * bytes at a multiple of their number, the lowest address first: each aligned dword of it is one
 * call. An atomic operation is its loads, then its stores, also if they change nothing, with no
 * other call to these pages in between.
 * Order: the lanes of an instruction in ascending order, an access with all its pieces before the
 * next lane's. Instructions follow each other as the memory model has it
 * (docs/design/memory-model.md): volatile and atomic accesses of a lane as in its program.
 * Accesses whose result nobody uses may be left out unless they are volatile or atomic. Behind a
 * refusal nothing of the instruction is called.
 * Threads: the one that runs the wave calls, for one access to these pages at a time; a dispatch is
 * running. "Callbacks" above says what may be called there. */
typedef struct wj_page_hooks {
    size_t size;
    void* context; /* passed on */
    int (*load)(void* context, uint64_t address, uint32_t bytes, uint32_t* value);
    int (*store)(void* context, uint64_t address, uint32_t bytes, uint32_t value);
} wj_page_hooks;
/* With checked memory alone: accesses of kernels to the pages of 4 KiB in [address, address +
 * size), which nothing is at, call `hooks`, until wj_memory_unregister. Other accesses are as fast
 * as without. They are not device memory: the host's functions refuse these addresses, snapshots
 * know nothing of them, and a clone of the context has no hooks there until it is given some. */
WJ_API wj_status wj_memory_hook(wj_context* context, uint64_t address, uint64_t size,
                                const wj_page_hooks* hooks);

/* Device ranges are checked against the map; errors name the nearest allocation. */
WJ_API wj_status wj_memory_write(wj_context* context, uint64_t to, const void* from, uint64_t size);
WJ_API wj_status wj_memory_read(wj_context* context, void* to, uint64_t from, uint64_t size);
WJ_API wj_status wj_memory_copy(wj_context* context, uint64_t to, uint64_t from, uint64_t size);
/* Repeats a pattern of 1 to 16 bytes; size must be a multiple of it. */
WJ_API wj_status wj_memory_fill(wj_context* context, uint64_t to, const void* pattern,
                                size_t pattern_size, uint64_t size);
/* Where the host reaches device bytes; they must be mapped with `rights`. */
WJ_API wj_status wj_memory_host_pointer(wj_context* context, uint64_t address, uint64_t size,
                                        uint32_t rights, void** host);

/* ---- snapshots ----------------------------------------------------------------------------------
 */

/* What device memory holds, and which allocations there are: of wj_memory_allocate, and the
 * variables of modules. GDS is no part of it, nor are modules: unload none that a snapshot knows.
 * No dispatch may run (WJ_NOT_READY). There may be any number of them; restoring one leaves the
 * others as they are. A handle that was released, or is another context's, is an error.
 *
 * With `dispatch` it has a dispatch besides that has stopped in the midst of its kernel and could
 * be resumed: all of its waves with their registers, LDS and private memory, barriers, clusters,
 * which work-groups have ended and which not begun, counts and clocks, its arguments, what it has
 * printed, and GDS and GWS of the context. Restoring it brings that back, whatever has become of
 * the dispatch meanwhile: it stands where it stood, as often as wanted, and wj_dispatch_resume
 * makes it go on from there, with the hooks and limits that it is given.
 *
 * A snapshot without one leaves all dispatches as they are: restoring one from before the launch
 * takes memory back alone, and one from the midst of the kernel can bring both back afterwards.
 * Released dispatches cannot be brought back: restoring their snapshots is WJ_INVALID_ARGUMENT. */
typedef uint64_t wj_snapshot;

typedef struct wj_snapshot_options {
    size_t size;
    /* Non-zero, with checked memory only: the host writes to device memory by functions of this
     * interface, through pointers that wj_memory_host_pointer has given with WJ_WRITE, or says so
     * (wj_memory_mark_written). A restore then costs what has been written since the last one;
     * otherwise it compares all of the memory. */
    int only_marked_writes;
    int registered_memory; /* non-zero: writable registered memory is a part of it, too */
    /* Or NULL. WJ_INVALID_ARGUMENT: it is none of this context's that was launched with keep_waves
     * (or was released), or wj_dispatch_resume would refuse it. WJ_UNIMPLEMENTED: the context has
     * checks. */
    wj_dispatch* dispatch;
} wj_snapshot_options;

typedef struct wj_restore_info {
    size_t size;
    uint64_t pages_examined, pages_copied; /* of 4 KiB */
    uint64_t allocations_freed, allocations_put_back;
} wj_restore_info;

/* options may be NULL. */
WJ_API wj_status wj_snapshot_take(wj_context* context, const wj_snapshot_options* options,
                                  wj_snapshot* snapshot);
/* Memory is as it was: allocations that were made since are freed, those freed since are there
 * again at their addresses. info may be NULL. With a dispatch it costs copies of its waves'
 * registers, LDS and private memory. */
WJ_API wj_status wj_snapshot_restore(wj_context* context, wj_snapshot snapshot,
                                     wj_restore_info* info);
WJ_API wj_status wj_snapshot_release(wj_context* context, wj_snapshot snapshot);
/* The host has written to this device memory by itself: for only_marked_writes, WJ_CHECK_INIT. */
WJ_API wj_status wj_memory_mark_written(wj_context* context, uint64_t address, uint64_t size);

/* ---- code objects -------------------------------------------------------------------------------
 */

/* `data`: a code object, an offload bundle or a host program that holds some (the best one for the
 * context's target is taken). The bytes are copied. Undefined symbols are those of modules that
 * were loaded before, whose memory then stays as long as this module; a symbol that none defines is
 * WJ_NOT_FOUND. */
WJ_API wj_status wj_module_load(wj_context* context, const void* data, size_t size,
                                wj_module** module);
WJ_API wj_status wj_module_load_file(wj_context* context, const char* path, wj_module** module);
WJ_API void wj_module_unload(wj_module* module); /* NULL is allowed */
WJ_API size_t wj_module_kernel_count(wj_module* module);
WJ_API wj_kernel* wj_module_kernel_at(wj_module* module, size_t index); /* NULL when out of range */
WJ_API wj_status wj_module_get_kernel(wj_module* module, const char* name, wj_kernel** kernel);
WJ_API wj_status wj_module_get_variable(wj_module* module, const char* name, uint64_t* address,
                                        uint64_t* size);

typedef struct wj_kernel_info {
    size_t size;
    const char* name;        /* valid as long as the module */
    uint64_t kernel_object;  /* device address of the kernel descriptor */
    uint64_t entry;          /* device address of the first instruction */
    uint64_t code_size;      /* bytes; 0 = not known */
    uint32_t argument_count; /* explicit and hidden */
    uint32_t explicit_argument_count;
    uint32_t kernarg_size, kernarg_align;
    uint32_t static_lds, private_bytes; /* per work-group, per work-item */
    uint32_t vgprs, agprs, sgprs;       /* allocated */
    uint32_t max_work_group_size; /* work-items that the kernel was compiled for; 0 = not stated */
    uint32_t required_work_group_size[3]; /* 0 = not required */
    int has_metadata, dynamic_call_stack;
} wj_kernel_info;
WJ_API wj_status wj_kernel_get_info(wj_kernel* kernel, wj_kernel_info* info);

/* Changes machine code of a kernel in place: `size` bytes, `offset` behind its first instruction,
 * in its code (where code_size is 0, in its executable segment). Its translations are dropped,
 * those of others stay; launches that were prepared run the new code. What its descriptor and
 * metadata say stays, such as the numbers of registers and how arguments are passed. Coverage
 * counts its places as before. A snapshot has no code: restoring one leaves it changed.
 * WJ_NOT_READY: a dispatch runs; none of the module may be begun or prepared meanwhile.
 * WJ_OUT_OF_RANGE: beyond its code. WJ_INVALID_ARGUMENT: the context has clones, which share its
 * translations. */
WJ_API wj_status wj_kernel_patch(wj_kernel* kernel, uint64_t offset, const void* bytes,
                                 size_t size);

typedef struct wj_argument_info {
    size_t size;
    const char* name; /* "" if not recorded; valid as long as the module */
    const char* type_name;
    const char* kind; /* "global_buffer", "by_value", "hidden_block_count_x", ... */
    uint32_t offset, bytes;
    int hidden; /* filled by wavejit */
    int local;  /* dynamic_shared_pointer: pass a number of LDS bytes */
} wj_argument_info;
WJ_API wj_status wj_kernel_get_argument(wj_kernel* kernel, uint32_t index, wj_argument_info* info);

/* ---- dispatch -----------------------------------------------------------------------------------
 */

typedef struct wj_argument {
    const void* data; /* the value's bytes; NULL for a local pointer */
    size_t size;      /* must be the argument's size; local pointer: LDS bytes */
} wj_argument;

#define WJ_POINTER(variable) \
    { &(variable), sizeof(variable) } /* an initializer of wj_argument */

/* OpenCL C kernels of code objects V5 and V6 that were linked with libclc read other implicit
 * arguments than the metadata says. wavejit tells them apart by their code, and that of functions
 * that they call; where it cannot, as may be at -O0, a launch fails until this is set. */
typedef enum wj_hidden_layout {
    WJ_HIDDEN_AUTO = 0,
    WJ_HIDDEN_STANDARD = 1,
    WJ_HIDDEN_LIBCLC = 2
} wj_hidden_layout;

typedef struct wj_launch_options {
    size_t size;
    uint32_t grid[3];             /* work-items; 0 counts as 1 */
    uint32_t block[3];            /* work-items; 0 counts as 1 */
    const wj_argument* arguments; /* the explicit arguments in order ... */
    uint32_t argument_count;
    uint32_t dynamic_lds; /* bytes on top of the kernel's static LDS */
    const void*
        packed_arguments; /* ... or all of them laid out by offset (then argument_count = 0) */
    size_t packed_size;   /* bytes; hidden arguments that begin in them are the caller's, the others
                             are filled in */
    uint64_t timeout_ns;  /* 0 = none */
    /* Wave instructions of the whole dispatch; 0 = none. It stops (WJ_TIMEOUT) at the first end of
     * a basic block of the kernel where it has executed so many and there is more to do: with one
     * thread less than a basic block later than asked for, with several less than one for each of
     * them, on every engine. (Translated code counts a short arm that a branch on EXEC jumps over
     * like the code around it.) */
    uint64_t instruction_limit;
    uint64_t global_offset[3]; /* OpenCL global offset */
    uint32_t
        dynamic_stack_bytes; /* per work-item, for kernels with a dynamic call stack; 0 = 16 KiB */
    wj_hidden_layout hidden_layout;
    int cooperative; /* all work-groups resident at once, for grid barriers */
    /* Gets what the kernel printed with OpenCL C's printf, once, when it has ended; NULL: it goes
     * to standard output. Called by the thread that waits for the dispatch or releases it, as a
     * callback. Kernels that get their printf buffer in packed_arguments print nothing. */
    void (*print)(void* print_context, const char* text, size_t bytes);
    void* print_context;
    uint64_t schedule_seed; /* of a deterministic context: another order of work-groups and waves,
                             * and other slices, for each number; 0 = the order of their numbers */
    const struct wj_hooks* hooks; /* copied; NULL = none */
    uint32_t keep_waves;          /* WJ_KEEP_... */
} wj_launch_options;

typedef enum wj_access {
    WJ_ACCESS_NONE = 0,
    WJ_ACCESS_READ = 1,
    WJ_ACCESS_WRITE = 2,
    WJ_ACCESS_ATOMIC = 3,
    WJ_ACCESS_EXECUTE = 4
} wj_access;

/* Why a dispatch stopped. Strings are valid until the dispatch is released; never NULL. */
typedef struct wj_fault {
    size_t size;
    wj_status status;
    const char* message; /* one line */
    const char* report;  /* everything, several lines */
    const char* kernel;
    const char* instruction; /* disassembly */
    const char* source;      /* "file:line" or "" */
    const char* memory;      /* where the address lies: nearest allocation */
    uint64_t pc;
    int64_t kernel_offset; /* pc - the kernel's entry; below 0 in a function in front of it */
    uint32_t words[4];     /* the instruction's encoding */
    uint32_t word_count;
    wj_access access;
    uint32_t access_bytes;
    uint64_t address;   /* first faulting address */
    uint64_t lane_mask; /* faulting lanes; 0 for scalar accesses */
    uint32_t work_group[3];
    uint32_t wave;
    const char* check; /* of a finding: "race"; of another fault among findings "fault"; else "" */
    const char* key;   /* equal for findings of one kind at one instruction, in every process */
    uint64_t dispatches; /* that had it */
} wj_fault;

typedef struct wj_result {
    size_t size;
    wj_status status;
    uint64_t work_groups, waves, wave_instructions;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
} wj_result;

/* Checks the request and starts it. Arguments are copied. *dispatch must be released. */
WJ_API wj_status wj_dispatch_submit(wj_kernel* kernel, const wj_launch_options* options,
                                    wj_dispatch** dispatch);
/* Waits until it has ended (the caller runs work-groups meanwhile) and returns how it ended. */
WJ_API wj_status wj_dispatch_wait(wj_dispatch* dispatch);
WJ_API int wj_dispatch_done(wj_dispatch* dispatch);
/* Waits for at most this time; WJ_NOT_READY when it has not ended by then. Runs nothing on this
 * thread. */
WJ_API wj_status wj_dispatch_wait_for(wj_dispatch* dispatch, uint64_t timeout_ns);
WJ_API wj_status wj_dispatch_get_progress(wj_dispatch* dispatch, uint64_t* groups_done,
                                          uint64_t* groups_total);
WJ_API void wj_dispatch_cancel(wj_dispatch* dispatch);
WJ_API wj_status wj_dispatch_get_result(wj_dispatch* dispatch,
                                        wj_result* result); /* WJ_NOT_READY */
WJ_API wj_status wj_dispatch_get_fault(wj_dispatch* dispatch,
                                       wj_fault* fault); /* WJ_NOT_FOUND if it ended well */
WJ_API void wj_dispatch_release(wj_dispatch* dispatch);  /* waits for its end; NULL is allowed */

/* Submit, wait and release in one call. `result` may be NULL; wj_last_error has the report on
 * failure. */
WJ_API wj_status wj_launch(wj_kernel* kernel, const wj_launch_options* options, wj_result* result);

/* A launch that is made again and again, one at a time: what depends on the options alone is worked
 * out and checked once, arguments stay where the kernel finds them. Kernels that print, and those
 * that get arguments in registers, are refused (WJ_UNIMPLEMENTED). It must be released before its
 * module. */
typedef struct wj_prepared wj_prepared;
WJ_API wj_status wj_launch_prepare(wj_kernel* kernel, const wj_launch_options* options,
                                   wj_prepared** prepared);
/* The number of an explicit argument, for wj_prepared_set_argument and wj_kernel_get_argument. */
WJ_API wj_status wj_kernel_find_argument(wj_kernel* kernel, const char* name, uint32_t* index);
/* Of the launches from now on; `size` must be the argument's. Local pointers cannot be changed. */
WJ_API wj_status wj_prepared_set_argument(wj_prepared* prepared, uint32_t index, const void* data,
                                          size_t size);
/* Runs it and waits, like wj_launch. A kernel that writes to its argument segment finds there what
 * it has written. */
WJ_API wj_status wj_prepared_launch(wj_prepared* prepared, wj_result* result);
/* Of the last launch; strings are valid until the next one. WJ_NOT_FOUND if it ended well. */
WJ_API wj_status wj_prepared_get_fault(wj_prepared* prepared, wj_fault* fault);
WJ_API void wj_prepared_release(wj_prepared* prepared); /* NULL is allowed */

/* What checkers have found in all dispatches of the context that have ended, and what stopped some
 * of these; each once. */
WJ_API size_t wj_finding_count(wj_context* context);
/* WJ_NOT_FOUND: index is too large. Strings are valid until wj_finding_clear. */
WJ_API wj_status wj_finding_get(wj_context* context, size_t index, wj_fault* finding);
WJ_API wj_status wj_finding_clear(wj_context* context);
WJ_API wj_status wj_finding_write(wj_context* context, const char* path); /* as check_report */

/* ---- hooks and stopped waves --------------------------------------------------------------------
 */

/* A wave that stands still: in a hook, until that returns; or of a dispatch that has stopped
 * (wj_dispatch_wave_at), until that goes on or is released. */
typedef struct wj_wave wj_wave;

typedef enum wj_hook_answer {
    WJ_HOOK_GO_ON = 0,
    WJ_HOOK_STOP = 1 /* or any other number */
} wj_hook_answer;

typedef enum wj_space {
    WJ_SPACE_GLOBAL = 0, /* by vector instructions: device addresses; in a window where they lead */
    WJ_SPACE_LDS = 1,    /* bytes of the work-group's LDS */
    WJ_SPACE_PRIVATE = 2, /* bytes of the work-item's private memory */
    WJ_SPACE_SCALAR = 3   /* global memory, by scalar instructions */
} wj_space;

/* What lanes access of one space, each at one address. */
typedef struct wj_access_info {
    size_t size;
    wj_space space;
    wj_access access; /* WJ_ACCESS_READ, _WRITE or _ATOMIC */
    uint32_t bytes;   /* in each lane; 0: the format that a buffer's descriptor has says how many */
    uint64_t lane_mask;        /* 0 of a scalar access */
    const uint64_t* addresses; /* 64; of the lanes in lane_mask, of a scalar access the first */
} wj_access_info;

/* What a dispatch's waves are looked at by (wj_launch_options.hooks); functions that are NULL are
 * not called. A dispatch with hooks is interpreted, with the same results; others have nothing of
 * it.
 *
 * When: before an instruction is executed, in this order: block, instruction, access and atomic,
 * barrier. What the wave would do next is then at its PC. Each instruction that a wave executes is
 * told once, but for one that waits for other work-groups by being tried again (ds_gws_*), each
 * time, and one that a hook has stopped, once more when the dispatch goes on (wj_dispatch_resume).
 *
 * Threads: by the thread that runs the work-group, a worker of the context or one that waits for
 * the dispatch. Waves of a work-group take turns, each up to its end, a barrier or its slice, and
 * their hooks are never called at the same time. Those of other work-groups are, unless the context
 * has one thread. In a deterministic context the order of all calls is the same each time. The
 * first may come before wj_dispatch_submit has returned.
 *
 * What a hook may do: read and write its wave (wj_wave_...); call what all callbacks may
 * ("Callbacks" above); take its time, which counts for time limits.
 *
 * A hook that writes another PC makes the wave go on there, without the instruction. WJ_HOOK_STOP
 * ends the dispatch in front of it with WJ_TIMEOUT, as wj_dispatch_cancel does; other work-groups
 * stop at the end of their slice. wj_fault names the instruction. */
typedef struct wj_hooks {
    size_t size;
    void* hook_context; /* the first argument of each */
    wj_hook_answer (*instruction)(void* hook_context, wj_wave* wave);
    /* At a wave's first instruction and at each one that it comes to by a branch of any kind, taken
     * or not, as edges of coverage are counted. A label that it runs into is in the midst of a
     * block. */
    wj_hook_answer (*block)(void* hook_context, wj_wave* wave);
    /* One call for each space, and for each address of instructions that have several in a lane
     * (ds_read2, swizzled buffers). Lanes that a buffer's descriptor leaves out are not told.
     * Nothing for GDS (ds_* with gds, ds_gws_*, ds_ordered_count) and for ds_*_src2_*, which have
     * both operands in LDS. */
    wj_hook_answer (*access)(void* hook_context, wj_wave* wave, const wj_access_info* access);
    wj_hook_answer (*atomic)(void* hook_context, wj_wave* wave,
                             const wj_access_info* access); /* of atomics, behind `access` */
    /* At s_barrier, s_barrier_signal, _signal_isfirst, _wait, _join and _leave, ds_gws_barrier. */
    wj_hook_answer (*barrier)(void* hook_context, wj_wave* wave);
} wj_hooks;

/* wj_launch_options.keep_waves: when a dispatch stops otherwise than by its end, its resident waves
 * are kept until it is released (of a prepared launch: until the next one); and, until then, its
 * module and its arguments. */
enum {
    WJ_KEEP_NO_WAVES = 0,
    WJ_KEEP_WAVES = 1, /* exact: the dispatch is interpreted */
    /* As the engine has left them: as fast as without. Where translated code may have run
     * (wj_wave_info.exact is 0) registers that the code does not read any more may have older
     * values, and after a memory fault those that the block of code around it writes, either. With
     * hooks all are exact. */
    WJ_KEEP_WAVES_OF_ENGINE = 2
};

typedef enum wj_wave_state {
    WJ_WAVE_RUNNING = 0,    /* could go on at its PC */
    WJ_WAVE_AT_BARRIER = 1, /* waits; its PC is behind the barrier */
    WJ_WAVE_ENDED = 2,
    WJ_WAVE_STOPPED = 3 /* by the instruction at its PC: a fault, trap or illegal one, or a hook's
                         * answer. Of an arithmetic exception it has been executed. */
} wj_wave_state;

typedef struct wj_wave_info {
    size_t size;
    wj_wave_state state;
    uint32_t work_group[3];
    uint32_t wave;  /* in the work-group */
    uint32_t lanes; /* 64 or 32 */
    uint64_t pc;    /* of the next instruction */
    uint64_t exec;
    int exact; /* registers are what the instructions before the PC have made of them */
    uint32_t sgprs, vgprs, agprs;
    uint32_t lds_bytes;     /* of the work-group, as allocated */
    uint32_t private_bytes; /* of each lane */
} wj_wave_info;

/* Registers are dwords: s0 and on, vectors with one for each lane. Pairs have the low half first.
 */
typedef enum wj_register_file {
    WJ_REGISTER_SGPR = 0,
    WJ_REGISTER_VGPR = 1, /* wj_wave_info.lanes dwords each */
    WJ_REGISTER_AGPR = 2,
    WJ_REGISTER_PC = 3,   /* 2 */
    WJ_REGISTER_EXEC = 4, /* 2; of waves of 32 lanes the second one has no meaning */
    WJ_REGISTER_VCC = 5,
    WJ_REGISTER_M0 = 6,
    WJ_REGISTER_SCC = 7, /* 0 or 1 */
    WJ_REGISTER_MODE = 8,
    WJ_REGISTER_FLAT_SCRATCH = 9, /* 2, or none, as XNACK_MASK */
    WJ_REGISTER_XNACK_MASK = 10,
    WJ_REGISTER_TTMP = 11
} wj_register_file;

/* Of all these functions: WJ_INVALID_ARGUMENT for what the wave does not have. */
WJ_API wj_status wj_wave_get_info(wj_wave* wave, wj_wave_info* info);
/* `count` registers from `first` on, one behind the other. */
WJ_API wj_status wj_wave_read_registers(wj_wave* wave, wj_register_file file, uint32_t first,
                                        uint32_t count, uint32_t* dwords);
WJ_API wj_status wj_wave_write_registers(wj_wave* wave, wj_register_file file, uint32_t first,
                                         uint32_t count, const uint32_t* dwords);
WJ_API wj_status wj_wave_read_lds(wj_wave* wave, uint32_t offset, void* to, uint32_t bytes);
WJ_API wj_status wj_wave_write_lds(wj_wave* wave, uint32_t offset, const void* from,
                                   uint32_t bytes);
WJ_API wj_status wj_wave_read_private(wj_wave* wave, uint32_t lane, uint32_t offset, void* to,
                                      uint32_t bytes);
WJ_API wj_status wj_wave_write_private(wj_wave* wave, uint32_t lane, uint32_t offset,
                                       const void* from, uint32_t bytes);
/* The instruction at `pc` as the wave would execute it: its text, cut to `size` bytes, and how many
 * bytes it has; both may be NULL. WJ_NOT_FOUND: there is none. */
WJ_API wj_status wj_wave_disassemble(wj_wave* wave, uint64_t pc, char* text, size_t size,
                                     uint32_t* bytes);

/* Why a dispatch stopped, without a text: some microseconds less than wj_fault, whose texts, as
 * wj_last_error's, are made when they are first asked for, of the memory and code that there are
 * then. */
typedef struct wj_fault_data {
    size_t size;
    wj_status status;
    wj_access access;
    uint32_t access_bytes;
    uint32_t wave; /* in the work-group */
    uint32_t work_group[3];
    int lanes_are_exact; /* 0: lane_mask has lanes that may have faulted */
    uint64_t pc;
    int64_t kernel_offset;     /* pc - the kernel's entry */
    uint64_t address;          /* first faulting address */
    uint64_t lane_mask;        /* faulting lanes; 0 for scalar accesses */
    const uint64_t* addresses; /* 64: of each lane in lane_mask the first byte that faulted; NULL:
                                * not known, or no vector access. Valid as wj_fault's strings. */
    uint64_t number; /* the same for faults of one kind at one instruction of a code object, in
                      * every process; 0 of what stops a dispatch from outside, as limits do */
} wj_fault_data;
WJ_API wj_status wj_dispatch_get_fault_data(wj_dispatch* dispatch,
                                            wj_fault_data* data); /* as wj_dispatch_get_fault */
WJ_API wj_status wj_prepared_get_fault_data(wj_prepared* prepared, wj_fault_data* data);

/* Who has called whom, function by function, the innermost first. A function that the compiler has
 * inlined has a frame of its own, by the code object's debug information (clang's -g, or
 * -gline-tables-only; libdw has to be installed). Callers that have called are found by what the
 * code of functions has done with return addresses, for which its symbols suffice; a frame is told
 * only if its call instruction is there. */
typedef struct wj_stack_frame {
    size_t size;
    uint64_t pc;          /* of the instruction; in the callers' frames of the call */
    const char* function; /* as in the source, without parameters; else the symbol; "": not known */
    const char* file;     /* as the compiler wrote it; "": not known */
    uint32_t line;        /* 0: not known */
    uint32_t column;
    int inlined;    /* in the next frame's function; both have one pc */
    int incomplete; /* of the last frame: who called its function could not be found. Where
                     * translated code has faulted, what the block of code around it changes is not
                     * known. */
} wj_stack_frame;
/* Frame `index` of where the wave stood that wj_fault tells of. WJ_NOT_FOUND: there are not so
 * many, or the dispatch ended well. Strings are valid as wj_fault's. */
WJ_API wj_status wj_dispatch_get_frame(wj_dispatch* dispatch, size_t index, wj_stack_frame* frame);
WJ_API wj_status wj_prepared_get_frame(wj_prepared* prepared, size_t index, wj_stack_frame* frame);
/* The same of a finding (wj_finding_get). */
WJ_API wj_status wj_finding_get_frame(wj_context* context, size_t finding, size_t index,
                                      wj_stack_frame* frame);
/* From the wave's PC on, as it stands when frame 0 is asked for, by one thread at a time. Strings
 * are valid until that is done again, or the wave goes on or away. */
WJ_API wj_status wj_wave_get_frame(wj_wave* wave, size_t index, wj_stack_frame* frame);

/* The waves of a dispatch that has stopped, with keep_waves, work-group by work-group; else 0 and
 * NULL. Resident is a work-group that has begun and not ended. They are valid until the dispatch is
 * resumed, restored or released. */
WJ_API size_t wj_dispatch_wave_count(wj_dispatch* dispatch);
WJ_API wj_wave* wj_dispatch_wave_at(wj_dispatch* dispatch, size_t index);
/* Of the last launch. */
WJ_API size_t wj_prepared_wave_count(wj_prepared* prepared);
WJ_API wj_wave* wj_prepared_wave_at(wj_prepared* prepared, size_t index);

/* How a dispatch goes on; what is left 0 is as wj_launch_options has it. */
typedef struct wj_resume_options {
    size_t size;
    uint64_t timeout_ns;          /* from here on */
    uint64_t instruction_limit;   /* of wave instructions from here on */
    const struct wj_hooks* hooks; /* copied; NULL = none, whatever it had before */
    uint32_t keep_waves;          /* WJ_KEEP_..., when it stops again */
    int wait; /* non-zero: this thread runs it, and the call returns as wj_dispatch_wait does. The
               * quickest way for small dispatches. */
} wj_resume_options;

/* A dispatch that a limit, a hook or wj_dispatch_cancel has stopped, and whose waves were kept,
 * goes on: each wave where it stands, with what wj_wave_write_... has made of it, then the
 * work-groups that had not started. From then on everything is as behind wj_dispatch_submit:
 * wj_dispatch_wait tells how it ended, and if it stops again, with keep_waves, it may go on again.
 * options may be NULL. The waves that wj_dispatch_wave_at has given are no longer valid.
 *
 * Nothing else differs from a dispatch that was not stopped: barriers, waves that sleep or wait for
 * others, clusters, GWS and private memory are as they were; wj_result has the sums of all parts,
 * but for its times, which are the last one's. In a deterministic context clocks and the order of
 * waves, with or without a seed, are what they would have been, provided that what changes in
 * between is not seen. In front of the instruction at which a hook has stopped a wave all its hooks
 * are called again: one that stops at an address has to let it pass the second time.
 *
 * Without hooks and with WJ_KEEP_NO_WAVES or _OF_ENGINE it is translated from here on, even if it
 * has been interpreted so far. What a kernel prints is printed when it has ended or is released.
 *
 * One thread makes a dispatch go on and asks what it has come to; others may wait for it, and
 * cancel it.
 *
 * WJ_NOT_READY: it runs. WJ_INVALID_ARGUMENT: it has ended, or was stopped by a fault, trap,
 * deadlock or the like; its waves were not kept; or wj_kernel_patch has changed its module.
 * Prepared launches do not go on: their next launch is a new one. */
WJ_API wj_status wj_dispatch_resume(wj_dispatch* dispatch, const wj_resume_options* options);

/* ---- captures -----------------------------------------------------------------------------------
 */

/* A file that holds a launch: its kernel's code object and those that it refers to, its arguments,
 * and all memory that the context knows, so that it can be made again in another process. `wavejit
 * replay`, `difftest` and `minimise` take such files. */

/* Of a launch that is about to be made, with the same arguments as wj_launch. No dispatch may run
 * (WJ_NOT_READY). What stays outside: memory that kernels reach in identity mode and nobody has
 * registered; GDS; limits, schedule_seed and print. WJ_HOST_ERROR: the file cannot be written. */
WJ_API wj_status wj_capture_write(wj_kernel* kernel, const wj_launch_options* options,
                                  const char* path);
/* A context with what the file holds: memory at the same addresses, and the code. options may be
 * NULL: checked memory. Without a target or compute units it has those of the captured one. With
 * checked memory the host reaches memory by wj_memory_read, wj_memory_write and
 * wj_memory_host_pointer alone, as it is elsewhere than its addresses say. WJ_INVALID_ARGUMENT: the
 * file is none, or damaged; a window; identity memory, and this process has something else at an
 * address. On failure `error` (may be NULL) gets the reason, cut to error_size bytes. */
WJ_API wj_status wj_capture_open(const char* path, const wj_context_options* options,
                                 wj_context** context, char* error, size_t error_size);
/* The kernel, which belongs to the context, and the options that launch it once more; what these
 * point to is valid as long as the context. WJ_INVALID_ARGUMENT: not of wj_capture_open. */
WJ_API wj_status wj_capture_get_launch(wj_context* context, wj_kernel** kernel,
                                       wj_launch_options* options);

typedef struct wj_captured_memory {
    size_t size;
    uint64_t number; /* that reports have: "allocation 7" */
    uint64_t address, bytes;
    uint32_t rights;   /* WJ_READ, WJ_WRITE; 4: code */
    const char* label; /* "wj_memory_allocate"; valid as long as the context */
} wj_captured_memory;
/* Allocations and registered memory in the file. WJ_NOT_FOUND: index is too large. */
WJ_API wj_status wj_capture_get_memory(wj_context* context, size_t index,
                                       wj_captured_memory* memory);

#ifdef __cplusplus
}
#endif
#endif
