#include <cstring>

#include "hsa/executable.h"

using namespace wj::hsa;

namespace {

hsa_status_t kernel_info(const wj::runtime::LoadedKernel& k, uint32_t attribute, void* value) {
    switch (attribute) {
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
            return put(value, k.kernel_object);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
            return put(value, k.kernarg_size);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
            return put(value, k.kernarg_align);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
            return put(value, k.group_segment_fixed_size);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
            return put(value, k.private_segment_fixed_size);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
            return put(value, k.dynamic_call_stack);
        case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
            return put(value, uint32_t{0});
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t variable_info(const wj::runtime::Module::Variable& v, uint32_t attribute,
                           void* value) {
    switch (attribute) {
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
            return put(value, v.address);
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
            return put(value, static_cast<uint32_t>(v.size));
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
            return put(value,
                       v.read_only ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL);
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT: {
            // What the address shows, at most a page.
            const uint64_t lowest = v.address & (~v.address + 1);
            return put(value, static_cast<uint32_t>(lowest && lowest < 4096 ? lowest : 4096));
        }
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
            return put(value, v.read_only);
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

Symbol* find(Executable& e, const char* name, Agent* agent) {
    std::lock_guard lock(e.mutex);
    if (agent) {
        auto it = e.symbols.find({agent, name});
        return it != e.symbols.end() ? it->second.get() : nullptr;
    }
    for (auto& [key, symbol] : e.symbols)
        if (key.second == name) return symbol.get();
    return nullptr;
}

template <class Select, class Call>
hsa_status_t for_each(Executable& e, Select select, Call call) {
    std::vector<Symbol*> list;
    {
        std::lock_guard lock(e.mutex);
        for (auto& [key, symbol] : e.symbols)
            if (select(*symbol)) list.push_back(symbol.get());
    }
    for (Symbol* s : list)
        if (hsa_status_t r = call({reinterpret_cast<uint64_t>(s)}); r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

}  // namespace

namespace wj::hsa {

hsa_status_t symbol_info(const Symbol& s, uint32_t attribute, void* value) {
    if (!s.agent && attribute >= HSA_EXECUTABLE_SYMBOL_INFO_AGENT &&
        !(s.has_program_allocation() && attribute == HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
        case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
            return put(value, s.kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
        case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
            return put(value, static_cast<uint32_t>(s.name.size()));
        case HSA_EXECUTABLE_SYMBOL_INFO_NAME:  // no terminator: as long as NAME_LENGTH says
            std::memcpy(value, s.name.data(), s.name.size());
            return HSA_STATUS_SUCCESS;
        case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
            return put(value, uint32_t{0});
        case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
            return HSA_STATUS_SUCCESS;
        case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
            return put(value, s.agent->handle());
        case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
            if (s.kernel) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            return put(value, s.has_program_allocation() ? HSA_VARIABLE_ALLOCATION_PROGRAM
                                                         : HSA_VARIABLE_ALLOCATION_AGENT);
        case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
            return put(value, HSA_SYMBOL_LINKAGE_PROGRAM);
        case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
            return put(value, true);
        default:
            break;
    }
    return s.kernel ? kernel_info(*s.kernel, attribute, value)
                    : variable_info(*s.variable, attribute, value);
}

}  // namespace wj::hsa

extern "C" {

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* symbol_name,
                                               const hsa_agent_t* agent,
                                               hsa_executable_symbol_t* symbol) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!symbol_name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    Agent* a = nullptr;
    if (agent && !(a = agent_of(*agent))) return HSA_STATUS_ERROR_INVALID_AGENT;
    Symbol* s = find(*e, symbol_name, a);
    if (!s) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    symbol->handle = reinterpret_cast<uint64_t>(s);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char* module_name,
                                       const char* symbol_name, hsa_agent_t agent,
                                       int32_t call_convention, hsa_executable_symbol_t* symbol) {
    if (module_name && *module_name) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    if (call_convention != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_executable_get_symbol_by_name(executable, symbol_name, &agent, symbol);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t executable_symbol,
                                            hsa_executable_symbol_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    auto* s = reinterpret_cast<Symbol*>(executable_symbol.handle);
    if (!s) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return symbol_info(*s, attribute, value);
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t exec,
                                                                     hsa_executable_symbol_t symbol,
                                                                     void* data),
                                            void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    return for_each(
        *e, [](const Symbol&) { return true; },
        [&](hsa_executable_symbol_t s) { return callback(executable, s, data); });
}

hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent,
                             hsa_executable_symbol_t symbol, void* data),
    void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    return for_each(
        *e, [&](const Symbol& s) { return s.agent == a; },
        [&](hsa_executable_symbol_t s) { return callback(executable, agent, s, data); });
}

// Code objects have none: these are the variables that the program has defined for all agents.
hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void* data),
    void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Executable* e = executable_of(executable);
    if (!e) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    return for_each(
        *e, [](const Symbol& s) { return s.has_program_allocation(); },
        [&](hsa_executable_symbol_t s) { return callback(executable, s, data); });
}

}  // extern "C"
