/* A code object manager that does nothing but count its actions. As that of ROCm 7.2 it does not
 * survive the question for an ISA that was not set. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t handle;
} handle;
static const char* isa; /* of the one action that there is */

int amd_comgr_create_action_info(handle* info) {
    isa = NULL;
    info->handle = 1;
    return 0;
}
int amd_comgr_destroy_action_info(handle info) {
    return info.handle != 1;
}
int amd_comgr_action_info_set_isa_name(handle info, const char* name) {
    isa = name;
    return info.handle != 1;
}
int amd_comgr_action_info_get_isa_name(handle info, size_t* size, char* name) {
    if (!isa) abort();
    *size = strlen(isa) + 1;
    if (name) memcpy(name, isa, *size);
    return info.handle != 1;
}
int amd_comgr_action_info_set_bundle_entry_ids(handle info, const char** ids, size_t count) {
    return info.handle != 1 || (count && !ids);
}
int amd_comgr_action_info_set_device_lib_linking(handle info, bool on) {
    (void)on;
    return info.handle != 1;
}
int amd_comgr_action_info_get_language(handle info, int* language) {
    *language = 0;
    return info.handle != 1;
}
int amd_comgr_action_info_get_logging(handle info, bool* logging) {
    *logging = false;
    return info.handle != 1;
}
int amd_comgr_action_info_get_option_list_count(handle info, size_t* count) {
    *count = 0;
    return info.handle != 1;
}
int amd_comgr_action_data_count(handle set, int kind, size_t* count) {
    *count = 0;
    return set.handle != 2 && kind < 0;
}
void amd_comgr_get_version(size_t* major, size_t* minor) {
    *major = 3, *minor = 0;
}

static int actions;
int amd_comgr_do_action(int kind, handle info, handle inputs, handle results) {
    (void)kind, (void)inputs, (void)results;
    actions++;
    return info.handle != 1;
}
int fake_actions(void) {
    return actions;
}
