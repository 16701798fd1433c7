// Executables: code objects loaded for agents, and their symbols.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hsa/state.h"

namespace wj::hsa {

struct Reader {
    std::vector<std::byte> file;       // read from a file
    std::span<const std::byte> bytes;  // of `file`, or the program's memory
    std::string uri;
    int descriptor = -1;
};

struct Executable;

struct Symbol {
    std::string name;                               // kernels with ".kd"
    Agent* agent = nullptr;                         // null = program allocation
    const runtime::LoadedKernel* kernel = nullptr;  // one of these two
    const runtime::Module::Variable* variable = nullptr;
    bool weak = false;
    runtime::Module::Variable external{};  // the variable, where the program has defined it
    bool has_program_allocation() const { return !agent && variable == &external; }
};

struct LoadedObject {
    Executable* executable = nullptr;
    Agent* agent = nullptr;
    std::shared_ptr<runtime::Module> module;
    std::string uri;
    const std::byte* storage = nullptr;  // what the reader named
    uint64_t storage_size = 0;
    int descriptor = -1;
};

struct Executable {
    bool frozen = false;
    hsa_profile_t profile = HSA_PROFILE_FULL;
    hsa_default_float_rounding_mode_t rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT;
    std::mutex mutex;
    std::vector<std::unique_ptr<LoadedObject>> objects;
    std::map<std::pair<Agent*, std::string>, std::unique_ptr<Symbol>> symbols;
    // Of the agent, or with program allocation; null = none.
    const Symbol* find(Agent* agent, const std::string& name) const;
    hsa_executable_t handle() { return {reinterpret_cast<uint64_t>(this)}; }
};

// All executables, for look-ups by address and iteration.
struct ExecutableList {
    std::mutex mutex;
    std::vector<Executable*> all;
};
ExecutableList& executables();

Executable* executable_of(hsa_executable_t handle);                // null = no such executable
Reader memory_reader(std::span<const std::byte> bytes);            // refers to them
const Reader* deserialized_reader(hsa_code_object_t code_object);  // null = no such object
// Attributes of hsa_executable_symbol_info_t; hsa_code_symbol_info_t has the same numbers. Those of
// loaded symbols only (agent, addresses) are invalid where the symbol has none.
hsa_status_t symbol_info(const Symbol& symbol, uint32_t attribute, void* value);
hsa_status_t make_reader(int file, size_t offset, size_t size, hsa_code_object_reader_t* out);
hsa_status_t fill_loader_table(void* table, size_t size);  // AMD loader extension 1.x
hsa_status_t fill_image_table(void* table, size_t size);

}  // namespace wj::hsa
