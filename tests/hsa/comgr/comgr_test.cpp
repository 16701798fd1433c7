// What the stand-in for AMD's code object manager keeps on disk, and what it must not, on a library
// that counts what reaches it (fake.c).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Handle {
    uint64_t handle = 0;
};
constexpr Handle data_set{2};

class Comgr : public testing::Test {
protected:
    static void SetUpTestSuite() {
        char name[] = "/tmp/wavejit-comgr-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory() = name;
        setenv("WAVEJIT_CACHE", "1", 1);
        setenv("WAVEJIT_CACHE_DIR", name, 1);
        // Where the stand-in looks: another installation's stand-in is in front of the library.
        const std::string other = directory() + "/other";
        ASSERT_TRUE(fs::create_directory(other));
        fs::copy_file(WJ_COMGR, other + "/libamd_comgr.so.3");
        setenv("LD_LIBRARY_PATH", (other + ":" WJ_FAKE_DIRECTORY).c_str(), 1);
        stand_in() = dlopen(WJ_COMGR, RTLD_NOW);
        ASSERT_TRUE(stand_in()) << dlerror();
        fake() = dlopen(WJ_FAKE_DIRECTORY "/libamd_comgr.so.3", RTLD_NOW | RTLD_NOLOAD);
        ASSERT_TRUE(fake()) << "the stand-in has not found it";
    }
    static void TearDownTestSuite() { fs::remove_all(directory()); }
    static void*& stand_in() {
        static void* library;
        return library;
    }
    static void*& fake() {
        static void* library;
        return library;
    }
    static std::string& directory() {
        static std::string name;
        return name;
    }

    template <class... Arguments>
    static void call(const char* name, Arguments... arguments) {
        auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(stand_in(), name));
        ASSERT_NE(function, nullptr) << name;
        EXPECT_EQ(function(arguments...), 0) << name;
    }
    static Handle made() {
        Handle info;
        call("amd_comgr_create_action_info", &info);
        return info;
    }
    // How many of two equal actions reach the library.
    static int reach(int kind, Handle info) {
        auto* const count = reinterpret_cast<int (*)()>(dlsym(fake(), "fake_actions"));
        const int before = count();
        for (int i = 0; i < 2; i++)
            call("amd_comgr_do_action", kind, info, Handle{data_set}, Handle{data_set});
        call("amd_comgr_destroy_action_info", info);
        return count() - before;
    }
};

const char* const isa = "amdgcn-amd-amdhsa--gfx90a";

TEST_F(Comgr, TheSecondOfTwoEqualActionsIsRead) {
    for (const int wanted : {1, 0}) {
        const Handle info = made();
        call("amd_comgr_action_info_set_isa_name", info, isa);
        EXPECT_EQ(reach(2, info), wanted);
    }
}

// HIP 7.2 takes bundles apart so.
TEST_F(Comgr, AnActionWithoutIsa) {
    EXPECT_EQ(reach(3, made()), 2);
    const Handle info = made();
    call("amd_comgr_action_info_set_isa_name", info, static_cast<const char*>(nullptr));
    EXPECT_EQ(reach(3, info), 2);
}

TEST_F(Comgr, ParametersThatCannotBeAskedFor) {
    const char* ids[] = {"hip-amdgcn-amd-amdhsa--gfx90a"};
    Handle info = made();
    call("amd_comgr_action_info_set_isa_name", info, isa);
    call("amd_comgr_action_info_set_bundle_entry_ids", info, static_cast<const char**>(ids),
         size_t{1});
    EXPECT_EQ(reach(4, info), 2);
    for (const bool on : {false, true}) {  // two actions
        info = made();
        call("amd_comgr_action_info_set_isa_name", info, isa);
        call("amd_comgr_action_info_set_device_lib_linking", info, on);
        EXPECT_EQ(reach(5, info), 1);
    }
}

}  // namespace
