#include "hsa/executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace wj::hsa {

ExecutableList& executables() {
    static ExecutableList* list = new ExecutableList;
    return *list;
}

Executable* executable_of(hsa_executable_t handle) {
    auto* e = reinterpret_cast<Executable*>(handle.handle);
    ExecutableList& list = executables();
    std::lock_guard lock(list.mutex);
    return std::find(list.all.begin(), list.all.end(), e) != list.all.end() ? e : nullptr;
}

Reader memory_reader(std::span<const std::byte> bytes) {
    Reader reader;
    reader.bytes = bytes;
    reader.uri = "memory://" + std::to_string(getpid()) +
                 "#offset=" + std::to_string(reinterpret_cast<uint64_t>(bytes.data())) +
                 "&size=" + std::to_string(bytes.size());
    return reader;
}

hsa_status_t make_reader(int file, size_t offset, size_t size, hsa_code_object_reader_t* out) {
    struct stat info;
    if (fstat(file, &info) != 0 || offset > static_cast<size_t>(info.st_size))
        return HSA_STATUS_ERROR_INVALID_FILE;
    const size_t rest = static_cast<size_t>(info.st_size) - offset;
    if (size == 0) size = rest;
    if (size > rest) return HSA_STATUS_ERROR_INVALID_FILE;
    auto reader = std::make_unique<Reader>();
    reader->file.resize(size);
    for (size_t done = 0; done < size;) {
        const ssize_t n =
            pread(file, reader->file.data() + done, size - done, static_cast<off_t>(offset + done));
        if (n <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
        done += static_cast<size_t>(n);
    }
    reader->bytes = reader->file;
    reader->descriptor = file;
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = readlink(link.c_str(), path, sizeof path);
    reader->uri = "file://" + std::string(path, length > 0 ? static_cast<size_t>(length) : 0) +
                  "#offset=" + std::to_string(offset) + "&size=" + std::to_string(size);
    out->handle = reinterpret_cast<uint64_t>(reader.release());
    return HSA_STATUS_SUCCESS;
}

namespace {

hsa_status_t create(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                    hsa_executable_t* out) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!out) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto* e = new Executable;
    e->profile = profile;
    e->rounding = rounding;
    ExecutableList& list = executables();
    std::lock_guard lock(list.mutex);
    list.all.push_back(e);
    *out = e->handle();
    return HSA_STATUS_SUCCESS;
}

void add_symbols(Executable& e, LoadedObject& object) {
    const auto add = [&](std::string name) -> Symbol& {
        auto& slot = e.symbols[{object.agent, name}];
        slot = std::make_unique<Symbol>();
        slot->name = std::move(name);
        slot->agent = object.agent;
        return *slot;
    };
    for (const auto& k : object.module->kernels()) add(k.name + ".kd").kernel = &k;
    for (const auto& v : object.module->variables()) add(v.name).variable = &v;
}

// WAVEJIT_DUMP=folder keeps every code object that is loaded.
void dump(std::span<const std::byte> bytes) {
    static const char* folder = std::getenv("WAVEJIT_DUMP");
    static std::atomic<uint32_t> number{0};
    if (!folder || !*folder) return;
    const std::string path =
        std::string(folder) + "/code_object_" + std::to_string(number++) + ".hsaco";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) log_error("cannot write " + path);
}

hsa_status_t load(Executable& e, Agent& agent, const Reader& reader,
                  hsa_loaded_code_object_t* out) {
    const auto resolve = [&](const std::string& name, uint64_t& address) {
        for (const auto& x : e.externals)
            if (x.name == name && (!x.agent || x.agent == &agent)) {
                address = x.address;
                return true;
            }
        return false;
    };
    dump(reader.bytes);
    auto module = agent.device->load(reader.bytes, resolve);
    if (!module) {
        log_error("a code object cannot be loaded for " + agent.name + ": " +
                  module.status().message());
        return status_of(module.status().code());
    }
    auto object = std::make_unique<LoadedObject>();
    object->executable = &e;
    object->agent = &agent;
    object->module = std::move(*module);
    object->uri = reader.uri;
    object->storage = reader.bytes.data();
    object->storage_size = reader.bytes.size();
    object->descriptor = reader.descriptor;
    if (!reader.file.empty()) object->storage = object->module->file_bytes().data();
    add_symbols(e, *object);
    if (out) out->handle = reinterpret_cast<uint64_t>(object.get());
    e.objects.push_back(std::move(object));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t load_for(hsa_executable_t executable, hsa_agent_t agent, const Reader* reader,
                      hsa_status_t no_reader, hsa_loaded_code_object_t* out) {
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    Agent* a = agent_of(agent);
    if (!a || !a->gpu) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!reader) return no_reader;
    std::lock_guard lock(e->mutex);
    if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    return load(*e, *a, *reader, out);
}

hsa_status_t define(hsa_executable_t executable, Agent* agent, const char* name, void* address) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!name || !address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    std::lock_guard lock(e->mutex);
    if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    for (const auto& x : e->externals)
        if (x.name == name && x.agent == agent) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
    e->externals.push_back({agent, name, reinterpret_cast<uint64_t>(address)});
    return HSA_STATUS_SUCCESS;
}

}  // namespace
}  // namespace wj::hsa

using namespace wj::hsa;

extern "C" {

hsa_status_t hsa_code_object_reader_create_from_memory(
    const void* code_object, size_t size, hsa_code_object_reader_t* code_object_reader) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!code_object || !size || !code_object_reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto* reader = new Reader(memory_reader({static_cast<const std::byte*>(code_object), size}));
    code_object_reader->handle = reinterpret_cast<uint64_t>(reader);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file,
                                                     hsa_code_object_reader_t* code_object_reader) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!code_object_reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return make_reader(file, 0, 0, code_object_reader);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!code_object_reader.handle) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    delete reinterpret_cast<Reader*>(code_object_reader.handle);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t executable_state,
                                   const char*, hsa_executable_t* executable) {
    hsa_status_t r = create(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, executable);
    if (r == HSA_STATUS_SUCCESS && executable_state == HSA_EXECUTABLE_STATE_FROZEN)
        executable_of(*executable)->frozen = true;
    return r;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t rounding, const char*,
                                       hsa_executable_t* executable) {
    return create(profile, rounding, executable);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    {
        ExecutableList& list = executables();
        std::lock_guard lock(list.mutex);
        std::erase(list.all, e);
    }
    delete e;  // running dispatches keep their module alive
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t code_object_reader,
                                                   const char*,
                                                   hsa_loaded_code_object_t* loaded_code_object) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const auto* reader = reinterpret_cast<const Reader*>(code_object_reader.handle);
    return load_for(executable, agent, reader, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER,
                    loaded_code_object);
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                             hsa_code_object_t code_object, const char*) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return load_for(executable, agent, deserialized_reader(code_object),
                    HSA_STATUS_ERROR_INVALID_CODE_OBJECT, nullptr);
}

hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t, hsa_code_object_reader_t,
                                                     const char*, hsa_loaded_code_object_t*) {
    return not_supported("hsa_executable_load_program_code_object");
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char*) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    std::lock_guard lock(e->mutex);
    if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    e->frozen = true;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute,
                                     void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
        case HSA_EXECUTABLE_INFO_PROFILE:
            *static_cast<hsa_profile_t*>(value) = e->profile;
            break;
        case HSA_EXECUTABLE_INFO_STATE:
            *static_cast<hsa_executable_state_t*>(value) =
                e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
            break;
        case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
            *static_cast<hsa_default_float_rounding_mode_t*>(value) = e->rounding;
            break;
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable,
                                                   const char* variable_name, void* address) {
    return define(executable, nullptr, variable_name, address);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                         hsa_agent_t agent,
                                                         const char* variable_name, void* address) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    return a ? define(executable, a, variable_name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                     const char* variable_name, void* address) {
    return hsa_executable_agent_global_variable_define(executable, agent, variable_name, address);
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!executable_of(executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = 0;  // everything was checked when it was loaded
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char*,
                                         uint32_t* result) {
    return hsa_executable_validate(executable, result);
}

}  // extern "C"
