// Implicit arguments of OpenCL C (runtime/hidden_layout.h): compiler output with both libraries and
// without one, at several levels, must find its work-items, or be refused with a message.
#include <filesystem>
#include <fstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

struct Compiled {
    const char *target, *level, *library;
};

class HiddenLayoutOf : public testing::TestWithParam<Compiled> {
protected:
    void SetUp() override {
        context = make_context(GetParam().target, WJ_ENGINE_INTERPRETER, 1);
        ASSERT_TRUE(context);
        folder = (std::filesystem::temp_directory_path() / "wj-hidden-XXXXXX").string();
        ASSERT_TRUE(mkdtemp(folder.data()));
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    // Compiles kernel k, or skips the test where the library is not there.
    wj_kernel* compile(const std::string& source) {
        std::ofstream(folder + "/k.cl") << source;
        std::string flags, isa = std::string(GetParam().target).substr(3);
        if (GetParam().library == std::string("libclc")) flags = WJ_LIBCLC_FLAGS;
        if (GetParam().library == std::string("rocm")) {
            for (const char* name :
                 {"opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off",
                  "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_off",
                  "oclc_wavefrontsize64_on", "oclc_abi_version_500"})
                flags += " -Xclang -mlink-builtin-bitcode -Xclang " WJ_ROCM_BITCODE "/" +
                         std::string(name) + ".bc";
            const std::string of_isa = WJ_ROCM_BITCODE "/oclc_isa_version_" + isa + ".bc";
            if (!std::filesystem::exists(of_isa)) {
                missing = "ROCm's device libraries have no " + of_isa;
                return nullptr;
            }
            flags += " -Xclang -mlink-builtin-bitcode -Xclang " + of_isa;
        }
        const std::string command =
            "cd " + folder +
            " && " WJ_CLANG
            " -w -x cl -cl-std=CL2.0 -Xclang -finclude-default-header "
            "--target=amdgcn-amd-amdhsa -nogpulib -mcode-object-version=5 -mcpu=" +
            std::string(GetParam().target) + " -" + GetParam().level + " " + flags +
            " -c k.cl -o k.o >log 2>&1 && " WJ_LLD " --no-undefined -shared k.o -o k.co >>log 2>&1";
        if (std::system(command.c_str())) {
            std::ifstream log(folder + "/log");
            ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(log), {});
            return nullptr;
        }
        wj_module* m = nullptr;
        EXPECT_EQ(wj_module_load_file(context.get(), (folder + "/k.co").c_str(), &m), WJ_OK)
            << wj_last_error(context.get());
        module.reset(m);
        wj_kernel* k = nullptr;
        EXPECT_EQ(wj_module_get_kernel(m, "k", &k), WJ_OK) << wj_last_error(context.get());
        return k;
    }
    // Work-items that are wrong, or -1: refused with the message.
    int run(wj_kernel* k, wj_hidden_layout layout) {
        uint64_t out = 0;
        EXPECT_EQ(wj_memory_allocate(context.get(), items * 8, &out), WJ_OK);
        wj_argument a = WJ_POINTER(out);
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = items;
        o.block[0] = 64;
        o.global_offset[0] = offset;
        o.arguments = &a;
        o.argument_count = 1;
        o.hidden_layout = layout;
        if (const wj_status status = wj_launch(k, &o, nullptr)) {
            EXPECT_EQ(status, WJ_INVALID_ARGUMENT);
            EXPECT_NE(std::string(wj_last_error(context.get())).find("--hidden-layout"),
                      std::string::npos)
                << wj_last_error(context.get());
            return -1;
        }
        int wrong = 0;
        const auto* q = reinterpret_cast<const uint32_t*>(out);
        for (uint32_t i = 0; i < items; ++i)
            wrong += q[2 * i] != i + offset || q[2 * i + 1] != 64 + 1000 * (items / 64);
        return wrong;
    }

    static constexpr uint32_t items = 256, offset = 512;
    Context context;
    Module module;
    std::string folder, missing;
};

// Ids by the library, whose functions are called at -O0. What is decided without help is right.
TEST_P(HiddenLayoutOf, Ids) {
    const bool none = GetParam().library == std::string("none");
    wj_kernel* k = compile(
        none ? "static uint size(void) { return *(constant ushort*)((constant char*)"
               "__builtin_amdgcn_implicitarg_ptr() + 12); }\n"
               "static uint groups(void) { return *(constant uint*)"
               "__builtin_amdgcn_implicitarg_ptr(); }\n"
               "static ulong offset(void) { return *(constant ulong*)((constant char*)"
               "__builtin_amdgcn_implicitarg_ptr() + 40); }\n"
               "kernel void k(global uint* o) { uint i = __builtin_amdgcn_workgroup_id_x() * "
               "size() + __builtin_amdgcn_workitem_id_x(); o[2 * i] = i + offset(); "
               "o[2 * i + 1] = size() + 1000 * groups(); }\n"
             : "kernel void k(global uint* o) { uint i = get_global_id(0) - get_global_offset(0); "
               "o[2 * i] = get_global_id(0); "
               "o[2 * i + 1] = get_local_size(0) + 1000 * get_num_groups(0); }\n");
    if (!missing.empty()) GTEST_SKIP() << missing;
    ASSERT_TRUE(k);
    const bool libclc = GetParam().library == std::string("libclc");
    const int found = run(k, WJ_HIDDEN_AUTO);
    EXPECT_LE(found, 0) << found << " work-items are wrong";
    if (GetParam().level != std::string("O0")) {
        EXPECT_EQ(found, 0) << "refused";
    }
    EXPECT_EQ(run(k, libclc ? WJ_HIDDEN_LIBCLC : WJ_HIDDEN_STANDARD), 0);
}

std::vector<Compiled> all() {
    std::vector<Compiled> out;
    for (const char* target : {"gfx900", "gfx90a", "gfx942", "gfx950"})
        for (const char* level : {"O0", "O2", "O3"})
            for (const char* library : {"libclc", "rocm", "none"})
                out.push_back({target, level, library});
    return out;
}
INSTANTIATE_TEST_SUITE_P(Compilers, HiddenLayoutOf, testing::ValuesIn(all()),
                         [](const testing::TestParamInfo<Compiled>& info) {
                             return std::string(info.param.target) + "_" + info.param.level + "_" +
                                    info.param.library;
                         });

}  // namespace
}  // namespace wj::test
