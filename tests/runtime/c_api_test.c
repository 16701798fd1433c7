/* The C interface from C99: compiled with -std=c99 -pedantic -Werror. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wavejit/wavejit.h"

static int failures;
#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            printf("%s:%d: %s failed\n", __FILE__, __LINE__, #condition);           \
            failures++;                                                             \
        }                                                                           \
    } while (0)

/* A device of numbers, and rights of what saxpy writes to; then saxpy begins with s_endpgm. */
static int load_number(void* numbers, uint64_t address, uint32_t bytes, uint32_t* value) {
    if (bytes != sizeof(float)) return 1;
    memcpy(value, (const float*)numbers + address % 4096 / sizeof(float), bytes);
    return 0;
}

static void test_pages(const char* file) {
    wj_context_options options = WJ_INIT(wj_context_options);
    wj_launch_options launch = WJ_INIT(wj_launch_options);
    wj_page_hooks hooks = WJ_INIT(wj_page_hooks);
    wj_context* context = NULL;
    wj_module* module = NULL;
    wj_kernel* kernel = NULL;
    float a = 2.0f, numbers[4] = {1.0f, 2.0f, 4.0f, 8.0f}, out[4];
    uint64_t x = 0x510000000000ull, y = 0;
    uint32_t n = 4;
    const uint32_t end_program = 0xbf810000u;
    wj_argument arguments[4];
    options.memory_mode = WJ_MEMORY_CHECKED;
    hooks.context = numbers;
    hooks.load = load_number;
    CHECK(wj_context_create(&options, &context, NULL, 0) == WJ_OK);
    CHECK(wj_module_load_file(context, file, &module) == WJ_OK);
    CHECK(wj_module_get_kernel(module, "saxpy", &kernel) == WJ_OK);
    CHECK(wj_memory_allocate(context, 4096, &y) == WJ_OK);
    CHECK(wj_memory_hook(context, x, 4096, &hooks) == WJ_OK);
    arguments[0].data = &a, arguments[0].size = sizeof a;
    arguments[1].data = &x, arguments[1].size = sizeof x;
    arguments[2].data = &y, arguments[2].size = sizeof y;
    arguments[3].data = &n, arguments[3].size = sizeof n;
    launch.grid[0] = launch.block[0] = 64;
    launch.arguments = arguments;
    launch.argument_count = 4;
    CHECK(wj_launch(kernel, &launch, NULL) == WJ_OK);
    CHECK(wj_memory_read(context, out, y, sizeof out) == WJ_OK);
    CHECK(out[0] == 2.0f && out[3] == 16.0f);
    CHECK(wj_memory_protect(context, y, 4096, WJ_READ) == WJ_OK);
    CHECK(wj_launch(kernel, &launch, NULL) == WJ_GUEST_FAULT);
    CHECK(strstr(wj_last_error(context), "which is read-only") != NULL);
    CHECK(wj_kernel_patch(kernel, 0, &end_program, sizeof end_program) == WJ_OK);
    CHECK(wj_launch(kernel, &launch, NULL) == WJ_OK);
    CHECK(wj_memory_unregister(context, x) == WJ_OK);
    wj_module_unload(module);
    wj_context_destroy(context);
}

int main(int argc, char** argv) {
    wj_context_options options = WJ_INIT(wj_context_options);
    wj_context_info info = WJ_INIT(wj_context_info);
    wj_kernel_info kernel_info = WJ_INIT(wj_kernel_info);
    wj_argument_info argument_info = WJ_INIT(wj_argument_info);
    wj_launch_options launch = WJ_INIT(wj_launch_options);
    wj_result result = WJ_INIT(wj_result);
    wj_counters counters = WJ_INIT(wj_counters);
    wj_context* context = NULL;
    wj_module* module = NULL;
    wj_kernel* kernel = NULL;
    char error[256];
    float a = 3.0f;
    uint64_t x = 0, y = 0;
    uint32_t n = 100, i;
    wj_argument arguments[4];
    float *host_x, *host_y;

    if (argc != 2) return 2;
    options.target = "gfx90a";
    options.engine = WJ_ENGINE_INTERPRETER;
    options.threads = 1;
    if (wj_context_create(&options, &context, error, sizeof error) != WJ_OK) {
        printf("%s\n", error);
        return 1;
    }
    CHECK(wj_context_get_info(context, &info) == WJ_OK);
    CHECK(strcmp(info.target, "gfx90a") == 0);
    CHECK(strcmp(info.engine, "interp") == 0);
    CHECK(info.threads == 1 && info.lds_bytes == 65536 && info.max_work_group_size == 1024);
    CHECK(strcmp(wj_last_error(context), "") == 0);

    CHECK(wj_module_load_file(context, argv[1], &module) == WJ_OK);
    if (!module) {
        printf("%s\n", wj_last_error(context));
        return 1;
    }
    CHECK(wj_module_kernel_count(module) >= 2);
    CHECK(wj_module_get_kernel(module, "saxpy.kd", &kernel) == WJ_OK);
    CHECK(wj_kernel_get_info(kernel, &kernel_info) == WJ_OK);
    CHECK(strcmp(kernel_info.name, "saxpy") == 0);
    CHECK(kernel_info.explicit_argument_count == 4 && kernel_info.has_metadata);
    CHECK(wj_kernel_get_argument(kernel, 1, &argument_info) == WJ_OK);
    CHECK(strcmp(argument_info.kind, "global_buffer") == 0);
    CHECK(argument_info.offset == 8 && argument_info.bytes == 8 && !argument_info.hidden);
    CHECK(wj_kernel_get_argument(kernel, kernel_info.argument_count, &argument_info) == WJ_INVALID_ARGUMENT);

    CHECK(wj_memory_allocate(context, n * sizeof(float), &x) == WJ_OK);
    host_y = (float*)calloc(n, sizeof(float));
    CHECK(wj_memory_register(context, host_y, n * sizeof(float), WJ_READ | WJ_WRITE, &y) == WJ_OK);
    CHECK(wj_memory_host_pointer(context, x, n * sizeof(float), WJ_READ | WJ_WRITE, (void**)&host_x) == WJ_OK);
    for (i = 0; i < n; i++) host_x[i] = (float)i;

    arguments[0].data = &a, arguments[0].size = sizeof a;
    arguments[1].data = &x, arguments[1].size = sizeof x;
    arguments[2].data = &y, arguments[2].size = sizeof y;
    arguments[3].data = &n, arguments[3].size = sizeof n;
    launch.grid[0] = 128;
    launch.block[0] = 64;
    launch.arguments = arguments;
    launch.argument_count = 4;
    CHECK(wj_launch(kernel, &launch, &result) == WJ_OK);
    CHECK(result.work_groups == 2 && result.waves == 2 && result.wave_instructions > 0);
    for (i = 0; i < n; i++) CHECK(host_y[i] == 3.0f * (float)i);
    CHECK(wj_context_get_counters(context, &counters) == WJ_OK);
    CHECK(counters.dispatches == 1 && counters.waves == 2);

    /* An older caller's shorter struct: what it does not know is neither read nor written. */
    memset(&kernel_info, 0x55, sizeof kernel_info);
    kernel_info.size = offsetof(wj_kernel_info, entry);
    CHECK(wj_kernel_get_info(kernel, &kernel_info) == WJ_OK);
    CHECK(kernel_info.kernel_object != 0 && kernel_info.entry == 0x5555555555555555ull);
    CHECK(kernel_info.size == offsetof(wj_kernel_info, entry));

    launch.argument_count = 3;
    CHECK(wj_launch(kernel, &launch, NULL) == WJ_INVALID_ARGUMENT);
    CHECK(strstr(wj_last_error(context), "4 arguments") != NULL);
    CHECK(wj_launch(NULL, &launch, NULL) == WJ_INVALID_ARGUMENT);
    CHECK(strcmp(wj_status_name(WJ_OK), "ok") == 0);
    CHECK(wj_status_name((wj_status)99) != NULL);

    CHECK(wj_memory_unregister(context, y) == WJ_OK);
    CHECK(wj_memory_free(context, x) == WJ_OK);
    wj_module_unload(module);
    wj_context_destroy(context);
    wj_context_destroy(NULL);
    free(host_y);
    test_pages(argv[1]);
    if (!failures) printf("ok\n");
    return failures != 0;
}
