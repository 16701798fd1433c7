// The AMD loader extension: what is loaded where.
#include <algorithm>
#include <cstring>

#include "hsa/executable.h"
#include "hsa/memory.h"

using namespace wj::hsa;

namespace {

hsa_status_t query_host_address(const void* device_address, const void** host_address) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!device_address || !host_address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *host_address = without_alias(device_address);
    return HSA_STATUS_SUCCESS;
}

template <class F>
void for_each_object(F f) {
    ExecutableList& list = executables();
    std::lock_guard lock(list.mutex);
    for (Executable* e : list.all) {
        std::lock_guard inner(e->mutex);
        for (auto& o : e->objects) f(*o);
    }
}

hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* descriptors,
                                       size_t* count) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!count || (!descriptors && *count) || (descriptors && !*count))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    size_t n = 0;
    for_each_object([&](LoadedObject& o) {
        if (descriptors && n < *count) {
            auto& d = descriptors[n];
            d.agent = o.agent->handle();
            d.executable = o.executable->handle();
            d.code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
            d.code_object_storage_base = o.storage;
            d.code_object_storage_size = o.storage_size;
            d.code_object_storage_offset = 0;
            d.segment_base = reinterpret_cast<const void*>(o.module->load_address());
            d.segment_size = o.module->load_size();
        }
        n++;
    });
    if (descriptors && n != *count) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    *count = n;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t query_executable(const void* device_address, hsa_executable_t* executable) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!device_address || !executable) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    executable->handle = 0;
    const auto address = reinterpret_cast<uint64_t>(device_address);
    for_each_object([&](LoadedObject& o) {
        if (address - o.module->load_address() < o.module->load_size())
            *executable = o.executable->handle();
    });
    return executable->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t iterate_loaded_code_objects(hsa_executable_t executable,
                                         hsa_status_t (*callback)(hsa_executable_t,
                                                                  hsa_loaded_code_object_t, void*),
                                         void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    std::vector<LoadedObject*> list;
    {
        std::lock_guard lock(e->mutex);
        for (auto& o : e->objects) list.push_back(o.get());
    }
    for (LoadedObject* o : list)
        if (hsa_status_t r = callback(executable, {reinterpret_cast<uint64_t>(o)}, data);
            r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t loaded_code_object_get_info(hsa_loaded_code_object_t object,
                                         hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                         void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    auto* o = reinterpret_cast<LoadedObject*>(object.handle);
    if (!o) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const bool file = o->descriptor >= 0;
    switch (attribute) {
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
            return put(value, o->executable->handle());
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
            return put(value, uint32_t{HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT});
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
            return put(value, o->agent->handle());
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
            return put(value, uint32_t{file ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE
                                            : HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY});
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
            if (file) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            return put(value, reinterpret_cast<uint64_t>(o->storage));
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
            if (file) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            return put(value, o->storage_size);
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
            if (!file) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            return put(value, o->descriptor);
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
            // Code objects are linked at address 0.
            return put(value, static_cast<int64_t>(o->module->load_address()));
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
            return put(value, o->module->load_address());
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
            return put(value, o->module->load_size());
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
            return put(value, static_cast<uint32_t>(o->uri.size()));
        case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
            std::memcpy(value, o->uri.data(), o->uri.size());
            return HSA_STATUS_SUCCESS;
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t reader_from_part_of_file(hsa_file_t file, size_t offset, size_t size,
                                      hsa_code_object_reader_t* code_object_reader) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!code_object_reader || !size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return make_reader(file, offset, size, code_object_reader);
}

hsa_status_t iterate_executables(hsa_status_t (*callback)(hsa_executable_t, void*), void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::vector<Executable*> all;
    {
        std::lock_guard lock(executables().mutex);
        all = executables().all;
    }
    for (Executable* e : all)
        if (hsa_status_t r = callback(e->handle(), data); r != HSA_STATUS_SUCCESS) return r;
    return HSA_STATUS_SUCCESS;
}

}  // namespace

namespace wj::hsa {

hsa_status_t fill_loader_table(void* table, size_t size) {
    hsa_ven_amd_loader_1_03_pfn_t all;
    all.hsa_ven_amd_loader_query_host_address = query_host_address;
    all.hsa_ven_amd_loader_query_segment_descriptors = query_segment_descriptors;
    all.hsa_ven_amd_loader_query_executable = query_executable;
    all.hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_loaded_code_objects;
    all.hsa_ven_amd_loader_loaded_code_object_get_info = loaded_code_object_get_info;
    all.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size =
        reader_from_part_of_file;
    all.hsa_ven_amd_loader_iterate_executables = iterate_executables;
    std::memcpy(table, &all, std::min(size, sizeof all));
    return HSA_STATUS_SUCCESS;
}

}  // namespace wj::hsa
