/* A target for libFuzzer, honggfuzz and others that take its targets: wavejit sees that it is
 * linked with one and counts the kernel's branches in the fuzzer's counters (WJ_COVERAGE_AUTO).
 *
 *   clang-22 -x cl -Xclang -finclude-default-header -O2 -g -nogpulib \
 *       --target=amdgcn-amd-amdhsa -mcpu=gfx90a message.cl -o message.hsaco
 *   clang-14 -g -fsanitize=fuzzer message_target.c -lwavejit -o message_target
 *   ./message_target                             finds the mistake in parse_frame
 *   MESSAGE_PARSER=parse_number ./message_target
 *
 * The code object is message.hsaco, or what MESSAGE_FILE says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wavejit/wavejit.h>

enum { most_bytes = 64, table_entries = 256 };

static wj_context* context;
static wj_module* module;
static wj_kernel* kernel;
static uint64_t message, table, out;

static void must(wj_status status) {
    if (status == WJ_OK) return;
    fprintf(stderr, "%s: %s\n", wj_status_name(status), wj_last_error(context));
    exit(2);
}

static void set_up(void) {
    const char *file = getenv("MESSAGE_FILE"), *parser = getenv("MESSAGE_PARSER");
    char error[512];
    wj_context_options options = WJ_INIT(wj_context_options);
    options.memory_mode = WJ_MEMORY_CHECKED; /* a kernel reaches what is allocated, to the byte */
    options.threads = 1;
    if (wj_context_create(&options, &context, error, sizeof error) != WJ_OK) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    must(wj_module_load_file(context, file ? file : "message.hsaco", &module));
    must(wj_module_get_kernel(module, parser ? parser : "parse_frame", &kernel));
    must(wj_memory_allocate(context, most_bytes, &message));
    must(wj_memory_allocate(context, table_entries * 4, &table));
    must(wj_memory_allocate(context, 4, &out));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (!context) set_up();
    if (size > most_bytes) return -1; /* not for the corpus */
    must(wj_memory_write(context, message, data, size));
    uint32_t bytes = (uint32_t)size;
    wj_argument arguments[] = {WJ_POINTER(message), WJ_POINTER(bytes), WJ_POINTER(table),
                               WJ_POINTER(out)};
    wj_launch_options options = WJ_INIT(wj_launch_options);
    options.grid[0] = options.block[0] = 1;
    options.arguments = arguments;
    options.argument_count = 4;
    options.instruction_limit = 100000;
    if (wj_launch(kernel, &options, NULL) != WJ_OK) {
        fprintf(stderr, "%s\n", wj_last_error(context));
        abort(); /* what the fuzzer keeps the input of */
    }
    return 0;
}
