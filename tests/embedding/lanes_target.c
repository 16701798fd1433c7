/* A target of libFuzzer that runs a wave for each input: LANES_FILE, and LANES_DIVERGENCE=1 for divergence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wavejit/wavejit.h>

static void must(wj_status status) {
    if (status == WJ_OK) return;
    fprintf(stderr, "%s\n", wj_status_name(status));
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static wj_context* context;
    static wj_kernel* kernel;
    static uint64_t text, out;
    if (!context) {
        wj_module* module = NULL;
        wj_context_options options = WJ_INIT(wj_context_options);
        options.threads = 1;
        options.coverage_divergence = atoi(getenv("LANES_DIVERGENCE"));
        must(wj_context_create(&options, &context, NULL, 0));
        must(wj_module_load_file(context, getenv("LANES_FILE"), &module));
        must(wj_module_get_kernel(module, "lanes", &kernel));
        must(wj_memory_allocate(context, 64, &text));
        must(wj_memory_allocate(context, 256, &out));
    }
    if (size != 64) return -1; /* not for the corpus */
    must(wj_memory_write(context, text, data, size));
    wj_argument arguments[] = {WJ_POINTER(text), WJ_POINTER(out)};
    wj_launch_options options = WJ_INIT(wj_launch_options);
    options.grid[0] = options.block[0] = 64;
    options.arguments = arguments;
    options.argument_count = 2;
    must(wj_launch(kernel, &options, NULL));
    return 0;
}
