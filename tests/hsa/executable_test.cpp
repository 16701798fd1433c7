// Executables of several code objects: what one leaves undefined another one, or the program,
// defines, in whatever order they come.
#include <hsa/hsa.h>

#include <array>
#include <memory>
#include <string>

#include "tests/frontend/build_objects.h"
#include "tests/hsa/fixture.h"

namespace {

// A kernel that gathers what others define into the words at its argument.
const char* const user_source = R"(
.macro address_of symbol
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, \symbol@gotpcrel32@lo+4
  s_addc_u32 s1, s1, \symbol@gotpcrel32@hi+12
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
.endm
.macro put offset
  v_mov_b32 v1, s2
  global_store_dword v0, v1, s[6:7] offset:\offset
.endm
.weak nowhere
.text
.globl gather
.p2align 8
.type gather,@function
gather:
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v0, 0
  address_of shared             // a variable of the other object
  s_load_dword s2, s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  put 0
  address_of doubled            // a function of the other object
  s_swappc_b64 s[8:9], s[0:1]
  put 4
  address_of pointers           // which holds addresses that it does not define itself
  s_load_dwordx4 s[12:15], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dword s2, s[12:13], 0x0
  s_waitcnt lgkmcnt(0)
  put 8
  s_load_dword s2, s[14:15], 0x0
  s_waitcnt lgkmcnt(0)
  put 12
  address_of agent_word
  s_load_dword s2, s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  put 16
  address_of nowhere            // weak and undefined: address 0
  s_or_b32 s2, s0, s1
  put 20
  s_endpgm
.data
.globl back
.type back,@object
.size back, 4
back: .long 1000001
.rodata
.p2align 6
.amdhsa_kernel gather
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 16
)";

const char* const provider_source = R"(
.text
.globl doubled
.type doubled,@function
doubled:
  s_lshl_b32 s2, s2, 1
  s_setpc_b64 s[8:9]
.data
.p2align 3
.globl shared
.type shared,@object
.size shared, 4
shared: .long 1234
.p2align 3
.globl pointers
.type pointers,@object
.size pointers, 16
pointers: .quad back, program_word
)";

class Executables : public Hsa {
protected:
    void SetUp() override {
        Hsa::SetUp();
        char name[64] = "";
        HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
        const std::string accum = std::string(name) == "gfx90a" ? "  .amdhsa_accum_offset 4\n" : "";
        user = shop.assemble(user_source + accum + ".end_amdhsa_kernel\n", name);
        ASSERT_FALSE(user.empty()) << shop.log();
        provider = shop.assemble(provider_source, name);
        ASSERT_FALSE(provider.empty()) << shop.log();
        HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         nullptr, &executable));
        words = allocate<uint32_t>(16);
        words[0] = 77;
        words[1] = 88;
    }
    void TearDown() override {
        HSA_OK(hsa_executable_destroy(executable));
        HSA_OK(hsa_amd_memory_pool_free(words));
        Hsa::TearDown();
    }
    hsa_status_t load(const wj::test::Buffer& object) {
        hsa_code_object_reader_t reader;
        EXPECT_EQ(hsa_code_object_reader_create_from_memory(object.data(), object.size(), &reader),
                  HSA_STATUS_SUCCESS);
        const hsa_status_t r =
            hsa_executable_load_agent_code_object(executable, gpus[0], reader, nullptr, nullptr);
        EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
        return r;
    }
    hsa_status_t define_program_word() {
        return hsa_executable_global_variable_define(executable, "program_word", &words[0]);
    }
    hsa_status_t define_agent_word() {
        return hsa_executable_agent_global_variable_define(executable, gpus[0], "agent_word",
                                                           &words[1]);
    }
    hsa_status_t freeze() { return hsa_executable_freeze(executable, nullptr); }
    uint32_t invalid() {
        uint32_t result = 99;
        EXPECT_EQ(hsa_executable_validate(executable, &result), HSA_STATUS_SUCCESS);
        return result;
    }
    void expect_gathered() {
        hsa_executable_symbol_t symbol;
        HSA_OK(hsa_executable_get_symbol_by_name(executable, "gather.kd", &gpus[0], &symbol));
        hsa_kernel_dispatch_packet_t p{};
        HSA_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                              &p.kernel_object));
        auto** arguments = allocate<uint32_t*>(8);
        uint32_t* out = allocate<uint32_t>(8);
        out[5] = 1;
        arguments[0] = out;
        p.setup = 1;
        p.workgroup_size_x = p.workgroup_size_y = p.workgroup_size_z = 1;
        p.grid_size_x = p.grid_size_y = p.grid_size_z = 1;
        p.kernarg_address = arguments;
        p.completion_signal = signal(1);
        TestQueue q(gpus[0], 64);
        q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        ASSERT_EQ(wait_zero(p.completion_signal), 0);
        const std::array<uint32_t, 6> expected{1234, 2468, 1000001, words[0], words[1], 0};
        for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(out[i], expected[i]) << i;
        HSA_OK(hsa_signal_destroy(p.completion_signal));
        HSA_OK(hsa_amd_memory_pool_free(arguments));
        HSA_OK(hsa_amd_memory_pool_free(out));
    }

    wj::test::Workshop shop;
    wj::test::Buffer user, provider;
    hsa_executable_t executable{};
    uint32_t* words = nullptr;
};

// SEED-ELF-19
TEST_F(Executables, SymbolsOfOtherCodeObjects) {
    HSA_OK(load(user));
    HSA_OK(load(provider));
    HSA_OK(define_program_word());
    HSA_OK(define_agent_word());
    HSA_OK(freeze());
    EXPECT_EQ(invalid(), 0u);
    expect_gathered();
    // The next dispatch sees what the host has changed, though it reads it as constant data.
    words[0] = 78;
    words[1] = 89;
    expect_gathered();
}

TEST_F(Executables, SymbolsOfOtherCodeObjectsInTheOtherOrder) {
    HSA_OK(define_agent_word());
    HSA_OK(define_program_word());
    HSA_OK(load(provider));
    HSA_OK(load(user));
    HSA_OK(freeze());
    expect_gathered();
}

TEST_F(Executables, UndefinedSymbolsStopTheFreezing) {
    HSA_OK(load(user));
    HSA_OK(load(provider));
    HSA_OK(define_program_word());
    testing::internal::CaptureStderr();
    EXPECT_EQ(freeze(), HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find("symbol 'agent_word': the symbol is undefined"), std::string::npos)
        << message;
    EXPECT_NE(invalid(), 0u);
    HSA_OK(define_agent_word());  // it is not frozen: what is missing may still come
    HSA_OK(freeze());
    EXPECT_EQ(freeze(), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    EXPECT_EQ(define_agent_word(), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    expect_gathered();
}

TEST_F(Executables, SymbolsAreDefinedOnce) {
    HSA_OK(load(provider));
    testing::internal::CaptureStderr();
    EXPECT_EQ(load(provider), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find("is already defined in the executable"), std::string::npos) << message;
    EXPECT_EQ(hsa_executable_agent_global_variable_define(executable, gpus[0], "shared", &words[0]),
              HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
    HSA_OK(define_program_word());
    EXPECT_EQ(define_program_word(), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
}

TEST_F(Executables, VariablesWithProgramAllocation) {
    HSA_OK(define_program_word());
    HSA_OK(define_agent_word());
    std::vector<hsa_executable_symbol_t> found;
    HSA_OK(hsa_executable_iterate_program_symbols(
        executable,
        [](hsa_executable_t, hsa_executable_symbol_t s, void* data) {
            static_cast<std::vector<hsa_executable_symbol_t>*>(data)->push_back(s);
            return HSA_STATUS_SUCCESS;
        },
        &found));
    ASSERT_EQ(found.size(), 1u);
    const auto get = [&](hsa_executable_symbol_info_t what, void* value) {
        return hsa_executable_symbol_get_info(found[0], what, value);
    };
    uint64_t address = 0;
    HSA_OK(get(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address));
    EXPECT_EQ(address, reinterpret_cast<uint64_t>(&words[0]));
    hsa_variable_allocation_t allocation{};
    HSA_OK(get(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION, &allocation));
    EXPECT_EQ(allocation, HSA_VARIABLE_ALLOCATION_PROGRAM);
    hsa_executable_symbol_t of_agent;
    HSA_OK(hsa_executable_get_symbol_by_name(executable, "agent_word", &gpus[0], &of_agent));
    HSA_OK(hsa_executable_symbol_get_info(of_agent, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION,
                                          &allocation));
    EXPECT_EQ(allocation, HSA_VARIABLE_ALLOCATION_AGENT);
    HSA_OK(freeze());
}

}  // namespace
