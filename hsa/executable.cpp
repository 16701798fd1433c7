#include "hsa/executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_set>

#include "frontend/code_object.h"

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

const Symbol* Executable::find(Agent* agent, const std::string& name) const {
    for (Agent* a : {agent, static_cast<Agent*>(nullptr)})
        if (auto it = symbols.find({a, name}); it != symbols.end()) return it->second.get();
    return nullptr;
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

// The symbols of a code object. A name that the executable has already is an error, unless one of
// the two is weak: templates are instantiated in each object.
hsa_status_t add_symbols(Executable& e, LoadedObject& object) {
    std::unordered_set<std::string_view> weak;
    for (const wj::Symbol& s : object.module->object().symbols)
        if (s.weak) weak.insert(s.name);
    std::vector<std::unique_ptr<Symbol>> added;
    const auto add = [&](std::string name, const std::string& symbol) -> Symbol& {
        added.push_back(std::make_unique<Symbol>());
        added.back()->name = std::move(name);
        added.back()->agent = object.agent;
        added.back()->weak = weak.contains(symbol);
        return *added.back();
    };
    const auto& kernels = object.module->object().kernels;  // in the order of kernels()
    for (const auto& k : object.module->kernels())
        add(k.name + ".kd", kernels[added.size()].symbol).kernel = &k;
    for (const auto& v : object.module->variables()) add(v.name, v.name).variable = &v;

    for (const auto& s : added)
        if (const Symbol* other = e.find(s->agent, s->name); other && !other->weak && !s->weak) {
            log_error("a code object cannot be loaded for " + object.agent->name + ": '" + s->name +
                      "' is already defined in the executable, by another code object or by "
                      "hsa_executable_*_variable_define");
            return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
        }
    for (auto& s : added) {
        auto& slot = e.symbols[{s->agent, s->name}];
        if (!slot || (slot->weak && !s->weak)) slot = std::move(s);
    }
    return HSA_STATUS_SUCCESS;
}

// WAVEJIT_DUMP=folder keeps every code object that is loaded.
void dump(std::span<const std::byte> bytes) {
    static const char* folder = std::getenv("WAVEJIT_DUMP");
    static std::atomic<uint32_t> number{0};
    if (!folder || !*folder) return;
    const std::string path =
        std::string(folder) + "/code_object_" + std::to_string(number++) + ".hsaco";
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (file) return;
    log_error("WAVEJIT_DUMP: cannot write " + path + ": " + std::strerror(errno));
    std::filesystem::remove(path, ignored);
}

hsa_status_t load(Executable& e, Agent& agent, const Reader& reader,
                  hsa_loaded_code_object_t* out) {
    dump(reader.bytes);
    auto module = agent.device->load_unlinked(reader.bytes);
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
    if (hsa_status_t r = add_symbols(e, *object); r != HSA_STATUS_SUCCESS) return r;
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

hsa_status_t define(hsa_executable_t executable, Agent* agent, const char* name, void* address,
                    bool read_only) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!name || !address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    std::lock_guard lock(e->mutex);
    if (e->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    if (e->find(agent, name)) return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
    auto symbol = std::make_unique<Symbol>();
    symbol->name = name;
    symbol->agent = agent;
    symbol->external = {name, reinterpret_cast<uint64_t>(address), 0, read_only};
    symbol->variable = &symbol->external;
    e->symbols[{agent, name}] = std::move(symbol);
    return HSA_STATUS_SUCCESS;
}

// Undefined symbols get their addresses: of variables that the program has defined, or of what
// other code objects of the executable define for the same agent.
Status link(const Executable& e, LoadedObject& object) {
    return object.module->link([&](std::string_view name) -> std::optional<uint64_t> {
        if (const Symbol* s = e.find(object.agent, std::string(name)); s && s->variable)
            return s->variable->address;
        for (const auto& other : e.objects)
            if (other->agent == object.agent)
                if (auto address = other->module->find_definition(name)) return address;
        return std::nullopt;
    });
}

hsa_status_t freeze(Executable& e) {
    for (auto& object : e.objects)
        if (Status status = link(e, *object); !status) {
            log_error("an executable cannot be frozen: " + status.message());
            return status.code() == Code::NotFound ? HSA_STATUS_ERROR_VARIABLE_UNDEFINED
                                                   : status_of(status.code());
        }
    e.frozen = true;
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
    return freeze(*e);
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
    return define(executable, nullptr, variable_name, address, false);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                         hsa_agent_t agent,
                                                         const char* variable_name, void* address) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    return a ? define(executable, a, variable_name, address, false)
             : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                     const char* variable_name, void* address) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    return a ? define(executable, a, variable_name, address, true) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::lock_guard lock(e->mutex);
    // All else was checked when it was loaded or frozen.
    *result = std::ranges::all_of(e->objects, [](auto& o) { return o->module->linked(); }) ? 0 : 1;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char*,
                                         uint32_t* result) {
    return hsa_executable_validate(executable, result);
}

}  // extern "C"
