// Code objects of HSA 1.0: read into memory of the runtime first, loaded into executables later.
// LLVM's OpenMP plug-in up to version 15 loads with these.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "frontend/code_object.h"
#include "frontend/target.h"
#include "hsa/executable.h"
#include "runtime/module.h"

namespace wj::hsa {
namespace {

struct Deserialized {
    Reader reader;
    CodeObject object;
    std::vector<runtime::LoadedKernel> kernels;        // loaded nowhere: addresses of the ELF file
    std::vector<runtime::Module::Variable> variables;  // the same
    std::vector<Symbol> symbols;                       // of these, which stay where they are
    hsa_code_object_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

struct List {
    std::mutex mutex;
    std::vector<std::unique_ptr<Deserialized>> all;
};

List& list() {
    static List& made = *new List;
    return made;
}

Deserialized* find(hsa_code_object_t handle) {
    List& l = list();
    std::lock_guard lock(l.mutex);
    for (auto& d : l.all)
        if (d->handle().handle == handle.handle) return d.get();
    return nullptr;
}

void list_symbols(Deserialized& d) {
    for (const KernelInfo& k : d.object.kernels)
        d.kernels.push_back(runtime::loaded_kernel(k, k.descriptor_address, k.entry_address));
    for (const auto& s : d.object.symbols)
        if (s.kind == wj::Symbol::Kind::Variable)
            d.variables.push_back({s.name, s.address, s.size, !s.writable});
    for (const auto& k : d.kernels) d.symbols.push_back({k.name + ".kd", nullptr, &k, nullptr});
    for (const auto& v : d.variables) d.symbols.push_back({v.name, nullptr, nullptr, &v});
}

// The instruction set of an agent that the object can run on; 0 = none has it.
hsa_isa_t isa_for(const CodeObject& object) {
    for (Agent* a : state()->gpus) {
        const auto target = parse_target_id(a->device->options().target);
        if (target && can_run_on(object.target, *target))
            return {reinterpret_cast<uint64_t>(&a->isa)};
    }
    return {0};
}

}  // namespace

const Reader* deserialized_reader(hsa_code_object_t code_object) {
    const Deserialized* d = find(code_object);
    return d ? &d->reader : nullptr;
}

}  // namespace wj::hsa

using namespace wj::hsa;

extern "C" {

hsa_status_t hsa_code_object_deserialize(void* serialized_code_object, size_t size, const char*,
                                         hsa_code_object_t* code_object) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!serialized_code_object || !size || !code_object) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    auto d = std::make_unique<Deserialized>();
    const auto* bytes = static_cast<const std::byte*>(serialized_code_object);
    d->reader = memory_reader({bytes, size});
    d->reader.file.assign(bytes, bytes + size);  // the program's bytes may go away
    d->reader.bytes = d->reader.file;
    auto object = wj::parse_code_object(d->reader.bytes);
    if (!object) {
        log_error("a code object cannot be deserialized: " + object.status().message());
        return status_of(object.status().code());
    }
    d->object = std::move(*object);
    list_symbols(*d);
    *code_object = d->handle();
    std::lock_guard lock(list().mutex);
    list().all.push_back(std::move(d));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_serialize(
    hsa_code_object_t code_object,
    hsa_status_t (*alloc_callback)(size_t size, hsa_callback_data_t data, void** address),
    hsa_callback_data_t callback_data, const char*, void** serialized_code_object,
    size_t* serialized_code_object_size) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const Deserialized* d = find(code_object);
    if (!d) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (!alloc_callback || !serialized_code_object || !serialized_code_object_size)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const auto bytes = d->reader.bytes;
    void* memory = nullptr;
    if (hsa_status_t r = alloc_callback(bytes.size(), callback_data, &memory);
        r != HSA_STATUS_SUCCESS)
        return r;
    if (!memory) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    std::memcpy(memory, bytes.data(), bytes.size());
    *serialized_code_object = memory;
    *serialized_code_object_size = bytes.size();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t code_object) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    List& l = list();
    std::lock_guard lock(l.mutex);
    const auto gone = std::erase_if(
        l.all, [&](const auto& d) { return d->handle().handle == code_object.handle; });
    return gone ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

hsa_status_t hsa_code_object_get_info(hsa_code_object_t code_object,
                                      hsa_code_object_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const Deserialized* d = find(code_object);
    if (!d) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
        case HSA_CODE_OBJECT_INFO_VERSION:  // 64 characters
            std::memset(value, 0, 64);
            std::snprintf(static_cast<char*>(value), 64, "%u.0", d->object.version);
            return HSA_STATUS_SUCCESS;
        case HSA_CODE_OBJECT_INFO_TYPE:
            return put(value, HSA_CODE_OBJECT_TYPE_PROGRAM);
        case HSA_CODE_OBJECT_INFO_ISA: {
            const hsa_isa_t isa = isa_for(d->object);
            return isa.handle ? put(value, isa) : HSA_STATUS_ERROR_INVALID_ISA;
        }
        case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
            return put(value, HSA_MACHINE_MODEL_LARGE);
        case HSA_CODE_OBJECT_INFO_PROFILE:
            return put(value, HSA_PROFILE_BASE);
        case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
            return put(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t code_object, const char* symbol_name,
                                        hsa_code_symbol_t* symbol) {
    return hsa_code_object_get_symbol_from_name(code_object, nullptr, symbol_name, symbol);
}

hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t code_object,
                                                  const char* module_name, const char* symbol_name,
                                                  hsa_code_symbol_t* symbol) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const Deserialized* d = find(code_object);
    if (!d) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    if (!symbol_name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (module_name && *module_name) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    for (const Symbol& s : d->symbols)
        if (s.name == symbol_name) return put(symbol, reinterpret_cast<uint64_t>(&s));
    return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t code_symbol,
                                      hsa_code_symbol_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const auto* s = reinterpret_cast<const Symbol*>(code_symbol.handle);
    if (!s) return HSA_STATUS_ERROR_INVALID_CODE_SYMBOL;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return symbol_info(*s, attribute, value);
}

hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t code_object,
                                             hsa_status_t (*callback)(hsa_code_object_t code_object,
                                                                      hsa_code_symbol_t symbol,
                                                                      void* data),
                                             void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Deserialized* d = find(code_object);
    if (!d) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    for (const Symbol& s : d->symbols)
        if (hsa_status_t r = callback(code_object, {reinterpret_cast<uint64_t>(&s)}, data);
            r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

}  // extern "C"
