// Planted mistakes and their clean twins: each one is found by its checker, where it is, and
// nothing in its twin, with all checkers on.
#include <fstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

struct Row {
    const char* kernel;
    const char* check;
    const char* says;  // in the report
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.kernel;
}

class Table : public testing::TestWithParam<std::tuple<Row, wj_engine>> {
protected:
    static constexpr uint32_t words = 2048;
    void SetUp() override {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = "gfx90a";
        o.engine = std::get<1>(GetParam());
        o.memory_mode = WJ_MEMORY_CHECKED;
        o.threads = 1;  // the order in which accesses are found
        o.checks = WJ_CHECK_ALL | WJ_CHECK_UNALIGNED;
        if (o.engine != WJ_ENGINE_INTERPRETER) o.checks &= ~WJ_CHECK_WAITCNT;
        wj_context* c = nullptr;
        char why[512] = "";
        const wj_status status = wj_context_create(&o, &c, why, sizeof why);
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << why;
        checks = o.checks;
    }
    wj_kernel* kernel(const char* file, const std::string& name) {
        wj_module* m = nullptr;
        EXPECT_EQ(wj_module_load_file(context.get(), kernel_file(file, "gfx90a").c_str(), &m),
                  WJ_OK)
            << wj_last_error(context.get());
        module.reset(m);
        wj_kernel* k = nullptr;
        EXPECT_EQ(wj_module_get_kernel(m, name.c_str(), &k), WJ_OK) << name;
        return k;
    }
    // Of two work-groups of 256, or one wave. Memory is written, where it is not what init is for.
    wj_status run(wj_kernel* k, uint64_t argument, uint32_t groups, bool written = true) {
        EXPECT_EQ(wj_memory_allocate(context.get(), words * 4, &out), WJ_OK);
        const uint32_t zero = 0, filled = written ? words * 4 : 0;
        EXPECT_EQ(wj_memory_fill(context.get(), out, &zero, sizeof zero, filled), WJ_OK);
        const uint64_t arguments[] = {out, argument};
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.block[0] = groups > 1 ? 256 : 64;
        o.grid[0] = groups * o.block[0];
        o.packed_arguments = arguments;
        o.packed_size = 12;
        return wj_launch(k, &o, nullptr);
    }
    std::string findings() {
        std::string all;
        for (size_t i = 0; i < wj_finding_count(context.get()); i++) {
            wj_fault f = WJ_INIT(wj_fault);
            EXPECT_EQ(wj_finding_get(context.get(), i, &f), WJ_OK);
            all += std::string(f.report) + "\n";
        }
        return all;
    }
    // A finding of the row's checker in this line, or at any if it is 0.
    bool has(const Row& row, const std::string& place) {
        for (size_t i = 0; i < wj_finding_count(context.get()); i++) {
            wj_fault f = WJ_INIT(wj_fault);
            EXPECT_EQ(wj_finding_get(context.get(), i, &f), WJ_OK);
            if (std::string(f.check) == row.check && std::strstr(f.report, row.says) &&
                std::strstr(f.report, place.c_str()))
                return true;
        }
        return false;
    }
    bool looks(const std::string& check) const {
        return (check != "init" || checks & WJ_CHECK_INIT) &&
               (check != "waitcnt" || checks & WJ_CHECK_WAITCNT);
    }
    uint64_t out = 0;
    Context context;
    Module module;
    uint32_t checks = 0;
};

class Sources : public Table {
protected:
    static std::string place(const std::string& name) {
        std::ifstream file(WJ_TEST_SOURCES "/checker_table.cl");
        std::string line;
        for (int number = 1; std::getline(file, line); number++)
            if (line.ends_with("// HERE " + name))
                return "checker_table.cl:" + std::to_string(number);
        return "checker_table.cl:";
    }
};

TEST_P(Sources, IsFoundAndItsTwinIsClean) {
    const Row& row = std::get<0>(GetParam());
    if (!looks(row.check)) GTEST_SKIP() << "its checker interprets";
    wj_kernel* k = kernel("checker_table", row.kernel);
    const bool written = std::string(row.check) != "init";
    EXPECT_EQ(run(k, 0, 2, written), WJ_OK) << findings();
    EXPECT_EQ(wj_finding_count(context.get()), 0u) << findings();
    EXPECT_EQ(run(k, 1, 2, written), WJ_GUEST_FAULT);
    EXPECT_TRUE(has(row, place(row.kernel))) << place(row.kernel) << "\n" << findings();
}

// What has been copied is as unwritten as it was: whoever uses it is told.
class Copies : public Table {};
TEST_P(Copies, OfUnwrittenMemoryAreUnwritten) {
    wj_kernel* copy = kernel("checker_table", "copy_unwritten");
    EXPECT_EQ(run(copy, 0, 2, false), WJ_OK) << findings();
    const uint64_t copies = out + 512 * 4;
    uint64_t again = 0;
    ASSERT_EQ(wj_memory_allocate(context.get(), 512 * 4, &again), WJ_OK);
    ASSERT_EQ(wj_memory_copy(context.get(), again, copies, 512 * 4), WJ_OK);
    const uint64_t arguments[] = {again, 1};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.block[0] = 256;
    o.grid[0] = 512;
    o.packed_arguments = arguments;
    o.packed_size = 12;
    wj_kernel* use = nullptr;
    ASSERT_EQ(wj_module_get_kernel(module.get(), "global_unwritten", &use), WJ_OK);
    EXPECT_EQ(wj_launch(use, &o, nullptr), WJ_GUEST_FAULT);
    EXPECT_EQ(wj_launch(use, &o, nullptr), WJ_OK) << "it has written them\n" << findings();
}

// Kernels with private memory are interpreted from where they load what they have not written, if
// they do: else translated code calls no more than the looks at their accesses.
class PrivateMemory : public Table {};
TEST_P(PrivateMemory, IsLookedAtInTranslatedCode) {
    wj_kernel* k = kernel("checker_table", std::get<0>(GetParam()).kernel);
    const auto share = [&](uint32_t wrong, wj_status wanted) {
        wj_counters before = WJ_INIT(wj_counters), after = before;
        EXPECT_EQ(wj_context_get_counters(context.get(), &before), WJ_OK);
        EXPECT_EQ(run(k, wrong, 2), wanted) << findings();
        EXPECT_EQ(wj_context_get_counters(context.get(), &after), WJ_OK);
        return static_cast<double>(after.interpreter_fallbacks - before.interpreter_fallbacks) /
               static_cast<double>(after.wave_instructions - before.wave_instructions);
    };
    const double clean = share(0, WJ_OK);
    EXPECT_LT(clean, 0.3);
    EXPECT_GT(share(1, WJ_GUEST_FAULT), clean);
}

// A finding and its twin are two kernels.
class Assembly : public Table {};
TEST_P(Assembly, IsFoundAndItsTwinIsClean) {
    const Row& row = std::get<0>(GetParam());
    if (!looks(row.check)) GTEST_SKIP() << "its checker interprets";
    const std::string name = row.kernel;
    const std::string twin = name == "vector_load_other_counter" ? "vector_load" : name;
    EXPECT_EQ(run(kernel("checker_waits", twin + "_clean"), 0, 1), WJ_OK) << findings();
    EXPECT_EQ(run(kernel("checker_waits", name + "_wrong"), 0, 1), WJ_GUEST_FAULT);
    EXPECT_TRUE(has(row, "")) << findings();
    EXPECT_EQ(wj_finding_count(context.get()), 1u) << findings();
}

TEST_P(Assembly, CopiesOfNothingAreNone) {
    EXPECT_EQ(run(kernel("checker_waits", "moved_about"), 0, 1), WJ_OK) << findings();
}

constexpr Row sources[] = {
    {"lds_read_beyond", "memory", "beyond the work-group's LDS"},
    {"lds_write_beyond", "memory", "beyond the work-group's LDS"},
    {"lds_byte_beyond", "memory", "beyond the work-group's LDS"},
    {"lds_atomic_beyond", "memory", "beyond the work-group's LDS"},
    {"lds_before", "memory", "beyond the work-group's LDS"},
    {"lds_vector_beyond", "memory", "beyond the work-group's LDS"},
    {"global_read_beyond", "fault", "memory fault: read of 4 bytes"},
    {"global_write_beyond", "fault", "memory fault: write of 4 bytes"},
    {"global_atomic_beyond", "fault", "memory fault: atomic access of 4 bytes"},
    {"global_before", "fault", "memory fault: read of 4 bytes"},
    {"no_pointer", "fault", "memory fault: write of 4 bytes at 0x0"},
    {"lds_unwritten", "init", "nobody has written this LDS"},
    {"lds_partly_unwritten", "init", "nobody has written this LDS"},
    {"lds_sum_unwritten", "init", "nobody has written this LDS"},
    {"private_unwritten", "init", "is stored to global memory"},
    {"private_index", "init", "is a part of an address"},
    {"private_condition", "init", "decides"},
    {"global_unwritten", "init", "is stored to global memory"},
    {"global_unwritten_condition", "init", "decides which lanes are on"},
    {"global_unwritten_index", "init", "is a part of an address"},
    {"global_unwritten_uniform", "init", "decides"},
    {"global_unwritten_counter", "init", "goes by what is there, and nobody has written it"},
    {"global_unwritten_byte", "init", "is stored to global memory"},
    {"global_unwritten_copy", "init", "is stored to global memory"},
    {"lds_no_barrier", "race", "since the last barrier"},
    {"lds_set_and_counted", "race", "since the last barrier"},
    {"lds_overwritten", "race", "another wave has read it since the last barrier"},
    {"lds_plain_and_atomic", "race", "since the last barrier"},
    {"lds_reduction", "race", "since the last barrier"},
    {"lds_flag", "race", "another wave has written it since the last barrier"},
    {"global_one_place", "race", "another wave has written it, and nothing orders"},
    {"global_next_group", "race", "another wave has read it, and nothing orders"},
    {"global_no_barrier", "race", "another wave has"},
    {"global_counter", "race", "and nothing orders"},
    {"global_histogram", "race", "lanes of the wave store different values"},
    {"global_stencil", "race", "and nothing orders"},
    {"global_byte", "race", "and nothing orders"},
    {"global_lanes", "race", "lanes of the wave store different values"},
    {"global_last_group", "race", "another wave has read it, and nothing orders"},
    {"leave_early", "barrier", "missed barrier: 3 of 4 waves"},
    {"one_wave_waits", "barrier", "missed barrier: 1 of 4 waves"},
    {"odd_dword", "unaligned", "write of 4 bytes"},
    {"odd_word", "unaligned", "write of 2 bytes"},
    {"odd_read", "unaligned", "read of 4 bytes"},
    {"odd_lds", "unaligned", "write of 4 bytes"},
    {"divide", "division", "divided by zero"},
    {"remainder_", "division", "divided by zero"},
};
constexpr Row assembly[] = {
    {"vector_load", "waitcnt", "v1 is used before the s_waitcnt"},
    {"vector_load_other_counter", "waitcnt", "v1 is used before the s_waitcnt"},
    {"scalar_load", "waitcnt", "s4 is used before the s_waitcnt"},
    {"scalar_order", "waitcnt", "s4 is used before the s_waitcnt"},
    {"vector_order", "waitcnt", "v1 is used before the s_waitcnt"},
    {"lds_load", "waitcnt", "v1 is used before the s_waitcnt"},
    {"flat_load", "waitcnt", "v1 is used before the s_waitcnt"},
    {"overwrite", "waitcnt", "v1 is used before the s_waitcnt"},
    {"address", "waitcnt", "v1 is used before the s_waitcnt"},
    {"returned", "waitcnt", "v2 is used before the s_waitcnt"},
    {"permuted", "waitcnt", "v1 is used before the s_waitcnt"},
    {"unwritten_data", "init", "v2 is stored to global memory"},
    {"unwritten_address", "init", "v2 is a part of an address"},
    {"unwritten_branch", "init", "scc decides where the wave goes on"},
    {"unwritten_lanes", "init", "exec_lo decides which lanes are on"},
};
// Of these every engine tells.
constexpr Row scalars[] = {
    {"odd_base", "alignment", "read of 4 bytes"},
    {"odd_immediate", "alignment", "scalar accesses leave out its low bits"},
    {"odd_register", "alignment", "read of 4 bytes"},
    {"odd_buffer", "alignment", "read of 8 bytes"},
};

std::string row_name(const testing::TestParamInfo<std::tuple<Row, wj_engine>>& info) {
    static const char* const engines[] = {"auto", "interp", "avx2", "avx512"};
    return std::string(std::get<0>(info.param).kernel) + "_" + engines[std::get<1>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Checker, Sources,
                         testing::Combine(testing::ValuesIn(sources),
                                          testing::Values(WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2,
                                                          WJ_ENGINE_AVX512)),
                         row_name);
constexpr Row copies[] = {{"copy_unwritten", "init", ""}};
INSTANTIATE_TEST_SUITE_P(Checker, Copies,
                         testing::Combine(testing::ValuesIn(copies),
                                          testing::Values(WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2,
                                                          WJ_ENGINE_AVX512, WJ_ENGINE_AUTO)),
                         row_name);
constexpr Row private_memory[] = {{"private_unwritten", "init", ""},
                                  {"private_index", "init", ""},
                                  {"private_condition", "init", ""}};
INSTANTIATE_TEST_SUITE_P(Checker, PrivateMemory,
                         testing::Combine(testing::ValuesIn(private_memory),
                                          testing::Values(WJ_ENGINE_AVX2, WJ_ENGINE_AVX512)),
                         row_name);
INSTANTIATE_TEST_SUITE_P(Scalars, Assembly,
                         testing::Combine(testing::ValuesIn(scalars),
                                          testing::Values(WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2,
                                                          WJ_ENGINE_AVX512)),
                         row_name);
INSTANTIATE_TEST_SUITE_P(Checker, Assembly,
                         testing::Combine(testing::ValuesIn(assembly),
                                          testing::Values(WJ_ENGINE_INTERPRETER)),
                         row_name);

}  // namespace
}  // namespace wj::test
