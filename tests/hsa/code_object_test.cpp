// Code objects of HSA 1.0: deserialize, look at, load with hsa_executable_load_code_object.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/hsa/fixture.h"

namespace {

// tests/runtime/kernels/ids.cl: copy() has two pointers as arguments (and hidden ones behind).
class CodeObjects : public Hsa {
protected:
    void SetUp() override {
        Hsa::SetUp();
        char name[64] = "";
        HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
        std::ifstream file(std::string(WJ_TEST_KERNELS "/ids.") + name + ".hsaco",
                           std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        ASSERT_FALSE(bytes.empty());
        std::vector<char> passing = bytes;
        HSA_OK(hsa_code_object_deserialize(passing.data(), passing.size(), nullptr, &object));
        std::fill(passing.begin(), passing.end(), 0);  // the runtime has its own copy
    }
    void TearDown() override {
        HSA_OK(hsa_code_object_destroy(object));
        EXPECT_EQ(hsa_code_object_destroy(object), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
        Hsa::TearDown();
    }

    std::vector<char> bytes;
    hsa_code_object_t object{};
};

TEST_F(CodeObjects, Info) {
    hsa_isa_t isa{}, own{};
    HSA_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_ISA, &isa));
    HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_ISA, &own));
    EXPECT_EQ(isa.handle, own.handle);
    hsa_machine_model_t model{};
    HSA_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_MACHINE_MODEL, &model));
    EXPECT_EQ(model, HSA_MACHINE_MODEL_LARGE);
    char version[64];
    std::memset(version, 'x', sizeof version);
    HSA_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_VERSION, version));
    EXPECT_EQ(version[sizeof version - 1], 0);
    // The byte of the ELF header that says it: 2 is version 4, 3 is 5, 4 is 6 (AMDGPUUsage).
    EXPECT_EQ(std::string(version), std::to_string(bytes[8] + 2) + ".0");
    EXPECT_EQ(hsa_code_object_get_info(object, static_cast<hsa_code_object_info_t>(99), &isa),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_code_object_get_info({1}, HSA_CODE_OBJECT_INFO_ISA, &isa),
              HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

TEST_F(CodeObjects, Refusals) {
    char junk[64] = "no ELF file";
    hsa_code_object_t none{};
    EXPECT_EQ(hsa_code_object_deserialize(junk, sizeof junk, nullptr, &none),
              HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    EXPECT_EQ(hsa_code_object_deserialize(bytes.data(), 0, nullptr, &none),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_executable_t executable;
    HSA_OK(hsa_executable_create(HSA_PROFILE_BASE, HSA_EXECUTABLE_STATE_UNFROZEN, "", &executable));
    EXPECT_EQ(hsa_executable_load_code_object(executable, gpus[0], {1}, nullptr),
              HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    EXPECT_EQ(hsa_executable_load_code_object(executable, cpu, object, nullptr),
              HSA_STATUS_ERROR_INVALID_AGENT);
    HSA_OK(hsa_executable_freeze(executable, nullptr));
    EXPECT_EQ(hsa_executable_load_code_object(executable, gpus[0], object, nullptr),
              HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    HSA_OK(hsa_executable_destroy(executable));
}

TEST_F(CodeObjects, Serialize) {
    void* out = nullptr;
    size_t size = 0;
    std::vector<char> memory;
    const auto allocate = [](size_t wanted, hsa_callback_data_t data, void** address) {
        auto* m = reinterpret_cast<std::vector<char>*>(data.handle);
        m->resize(wanted);
        *address = m->data();
        return HSA_STATUS_SUCCESS;
    };
    HSA_OK(hsa_code_object_serialize(object, allocate, {reinterpret_cast<uint64_t>(&memory)},
                                     nullptr, &out, &size));
    EXPECT_EQ(out, memory.data());
    EXPECT_EQ(size, bytes.size());
    EXPECT_EQ(memory, bytes);
}

// Symbols before loading are those after it, as far as their attributes go.
TEST_F(CodeObjects, SymbolsAndKernel) {
    hsa_executable_t executable;
    HSA_OK(hsa_executable_create(HSA_PROFILE_BASE, HSA_EXECUTABLE_STATE_UNFROZEN, "", &executable));
    HSA_OK(hsa_executable_load_code_object(executable, gpus[0], object, nullptr));
    HSA_OK(hsa_executable_freeze(executable, nullptr));
    hsa_code_symbol_t before;
    HSA_OK(hsa_code_object_get_symbol(object, "copy.kd", &before));
    EXPECT_EQ(hsa_code_object_get_symbol(object, "nothing", &before),
              HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    HSA_OK(hsa_code_object_get_symbol_from_name(object, nullptr, "copy.kd", &before));
    hsa_executable_symbol_t after;
    HSA_OK(hsa_executable_get_symbol(executable, nullptr, "copy.kd", gpus[0], 0, &after));
    for (int a : {HSA_CODE_SYMBOL_INFO_TYPE, HSA_CODE_SYMBOL_INFO_NAME_LENGTH,
                  HSA_CODE_SYMBOL_INFO_LINKAGE, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                  HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
                  HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE}) {
        uint32_t x = ~0u, y = ~1u;
        HSA_OK(hsa_code_symbol_get_info(before, static_cast<hsa_code_symbol_info_t>(a), &x));
        HSA_OK(hsa_executable_symbol_get_info(after, static_cast<hsa_executable_symbol_info_t>(a),
                                              &y));
        EXPECT_EQ(x, y) << a;
    }
    uint64_t object_address = 0;
    EXPECT_EQ(
        hsa_code_symbol_get_info(
            before, static_cast<hsa_code_symbol_info_t>(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT),
            &object_address),
        HSA_STATUS_ERROR_INVALID_ARGUMENT);  // it is loaded nowhere
    HSA_OK(hsa_executable_symbol_get_info(after, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                          &object_address));
    // The descriptor of the amdhsa ABI starts with the sizes of LDS and stack.
    uint32_t lds = ~0u, private_bytes = ~0u;
    HSA_OK(hsa_code_symbol_get_info(before, HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &lds));
    HSA_OK(hsa_code_symbol_get_info(before, HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                    &private_bytes));
    const auto* descriptor = reinterpret_cast<const uint32_t*>(object_address);
    EXPECT_EQ(descriptor[0], lds);
    EXPECT_EQ(descriptor[1], private_bytes);

    std::map<std::string, uint32_t> kinds;
    HSA_OK(hsa_code_object_iterate_symbols(
        object,
        [](hsa_code_object_t, hsa_code_symbol_t s, void* data) {
            uint32_t length = 0, kind = ~0u;
            hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_NAME_LENGTH, &length);
            hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_TYPE, &kind);
            std::string name(length, 0);
            hsa_code_symbol_get_info(s, HSA_CODE_SYMBOL_INFO_NAME, name.data());
            (*static_cast<std::map<std::string, uint32_t>*>(data))[name] = kind;
            return HSA_STATUS_SUCCESS;
        },
        &kinds));
    EXPECT_EQ(kinds.at("copy.kd"), static_cast<uint32_t>(HSA_SYMBOL_KIND_KERNEL));
    HSA_OK(hsa_executable_destroy(executable));
}

}  // namespace
