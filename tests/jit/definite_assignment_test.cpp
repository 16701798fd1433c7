// What may be used that nobody has written, as the code alone tells, and as the interpreter finds
// it. Branches count dwords.
#include "lift/definite_assignment.h"

#include <random>

#include "machine/group_shadow.h"
#include "machine/work_group.h"
#include "tests/jit/sequence_machine.h"

namespace wj::jit_test {
namespace {

using Lines = std::vector<std::string>;

constexpr uint64_t base = 0x1000;

// v0, s[20:21] and s22 have been written.
lift::AssignedAtStart started(bool whole) {
    lift::AssignedAtStart start{{}, 1, whole};
    for (uint32_t s = 20; s < 23; s++) start.scalars.set(s);
    for (uint32_t s = machine::flat_scratch_lo; s < start.scalars.size(); s++)
        start.scalars[s] = s != machine::m0 && s != machine::vcc_lo && s != machine::vcc_lo + 1;
    return start;
}

bool may_use(const std::vector<uint32_t>& words, bool whole) {
    const lift::Fetch fetch = [&](uint64_t pc) {
        const uint64_t at = (pc - base) / 4;
        return at < words.size() ? std::span(words).subspan(at) : std::span<const uint32_t>();
    };
    return lift::find_unassigned_use(*find_target("gfx90a"), fetch, base, started(whole)).possible;
}

TEST(DefiniteAssignment, OfWhatCompilersWrite) {
    struct Code {
        const char* what;
        Lines lines;
        bool may_use;
    };
    const std::string store_v1 = "global_store_dword v0, v1, s[20:21]";
    const Code codes[] = {
        {"a store of nothing", {store_v1}, true},
        {"an address of nothing", {"global_load_dword v1, v2, s[20:21]"}, true},
        {"a branch by nothing", {"s_cbranch_scc1 0"}, true},
        {"lanes of nothing", {"s_mov_b64 exec, s[0:1]"}, true},
        {"a copy", {"v_mov_b32 v1, v2", "s_mov_b64 s[0:1], s[2:3]"}, false},
        {"a value", {"v_mov_b32 v1, 0", store_v1}, false},
        {"a sum", {"v_mov_b32 v1, 0", "v_add_u32 v1, v1, v2", store_v1}, true},
        {"in the lanes of a mask",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc", "v_mov_b32 v1, 0", store_v1},
         false},
        {"in more lanes than that",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc", "v_mov_b32 v1, 0",
          "s_or_b64 exec, exec, s[0:1]", store_v1},
         true},
        {"on both ways of a condition",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc",
          "s_xor_b64 s[0:1], exec, s[0:1]", "v_mov_b32 v1, 0", "s_or_saveexec_b64 s[0:1], s[0:1]",
          "s_xor_b64 exec, exec, s[0:1]", "v_mov_b32 v1, 1", "s_or_b64 exec, exec, s[0:1]",
          store_v1},
         false},
        {"on one of them",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc",
          "s_xor_b64 s[0:1], exec, s[0:1]", "s_nop 0", "s_or_saveexec_b64 s[0:1], s[0:1]",
          "s_xor_b64 exec, exec, s[0:1]", "v_mov_b32 v1, 1", "s_or_b64 exec, exec, s[0:1]",
          store_v1},
         true},
        {"unless nobody is there",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc", "s_cbranch_execz 1",
          "v_mov_b32 v1, 0", store_v1},
         false},
        {"in a loop that lanes leave one by one",
         {"s_mov_b64 s[2:3], 0", "v_mov_b32 v2, 0", "v_mov_b32 v1, v2", "v_add_u32 v2, 1, v2",
          "v_cmp_lt_u32 vcc, v0, v2", "s_or_b64 s[2:3], vcc, s[2:3]",
          "s_andn2_b64 exec, exec, s[2:3]", "s_cbranch_execnz 65530", "s_or_b64 exec, exec, s[2:3]",
          store_v1},
         false},
        {"masks, lane by lane",
         {"s_or_b64 s[2:3], s[2:3], exec", "s_and_b64 s[4:5], exec, s[2:3]",
          "s_and_saveexec_b64 s[6:7], s[4:5]"},
         false},
        {"masks of other lanes",
         {"v_cmp_lt_u32 vcc, 5, v0", "s_and_saveexec_b64 s[0:1], vcc",
          "s_or_b64 s[2:3], s[2:3], exec", "s_or_b64 exec, exec, s[0:1]",
          "s_and_b64 s[4:5], exec, s[2:3]", "s_and_saveexec_b64 s[6:7], s[4:5]"},
         true},
        {"the low half of a sum",
         {"v_mov_b32 v2, 0", "v_mad_u64_u32 v[4:5], s[2:3], v0, 3, v[2:3]", "v_mov_b32 v1, v4",
          store_v1},
         false},
        {"the high half",
         {"v_mov_b32 v2, 0", "v_mad_u64_u32 v[4:5], s[2:3], v0, 3, v[2:3]", "v_mov_b32 v1, v5",
          store_v1},
         true},
        {"one of two",
         {"v_mov_b32 v2, 0", "v_mov_b32 v3, 0",
          "v_pk_mul_f32 v[4:5], v[2:3], v[2:3] op_sel_hi:[0,0]", "v_mov_b32 v1, v5", store_v1},
         false},
        {"the other one",
         {"v_mov_b32 v2, 0", "v_pk_mul_f32 v[4:5], v[2:3], v[2:3] op_sel_hi:[0,1]",
          "v_mov_b32 v1, v5", store_v1},
         true},
        {"exchanged", {"v_mov_b32 v1, 0", "v_swap_b32 v1, v2", store_v1}, true},
        {"a function", {"s_swappc_b64 s[30:31], s[20:21]"}, true},
        {"a data share's data", {"ds_write_b32 v0, v1"}, false},
        {"what is loaded", {"global_load_dword v1, v0, s[20:21]", store_v1}, false},
        {"bytes for whole registers",
         {"v_or_b32_sdwa v1, v0, v0 dst_sel:DWORD src0_sel:BYTE_1 src1_sel:BYTE_0", store_v1},
         false},
        {"bytes of registers",
         {"v_or_b32_sdwa v1, v0, v0 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 "
          "src1_sel:BYTE_0",
          store_v1},
         true},
    };
    for (const Code& code : codes) {
        Lines lines = code.lines;
        lines.push_back("s_endpgm");
        std::vector<test::SemanticCase> cases(1);
        cases[0].assembly = lines;
        ASSERT_TRUE(test::assemble(cases, WJ_LLVM_MC)) << code.what;
        EXPECT_EQ(may_use(cases[0].code, false), code.may_use) << code.what;
    }
}

TEST(DefiniteAssignment, KnowsWhetherAllLanesAreOn) {
    const std::vector<uint32_t> words =
        assembled({"v_mov_b32 v1, 0", "s_mov_b64 exec, -1", "global_store_dword v0, v1, s[20:21]",
                   "s_endpgm"});
    EXPECT_TRUE(may_use(words, false));
    EXPECT_FALSE(may_use(words, true));
}

// The interpreter, looking at each bit.
class Watched : machine::FindingSink {
public:
    Watched() {
        context_.target = find_target("gfx90a");
        context_.memory = &space_;
        context_.checks = machine::check_init;
        code_ = space_.allocate(4096, memory::read_write | memory::executable, "code").value();
        out_ = space_.allocate(4096, memory::read_write, "out").value();
        engine_ = interp::make_interpreter(*context_.target);
        shadow_.dispatch = &dispatch_;
        shadow_.waves.resize(1);
        group_.shadow = &shadow_;
        group_.wave_count = 1;
    }
    // What it found in a wave that starts as started() says.
    size_t findings(const std::vector<uint32_t>& words, uint64_t exec) {
        std::memcpy(reinterpret_cast<void*>(code_), words.data(), words.size() * 4);
        engine_->invalidate(code_, code_ + 4096);
        found_ = 0;
        machine::Wave w;
        w.vgpr = rows_.data();
        w.vgpr_count = rows;
        w.sgpr_count = 32;
        w.ctx = &context_;
        w.group = &group_;
        w.mode = 0xf0;
        w.budget = 400;
        w.pc = code_;
        for (uint32_t l = 0; l < machine::lanes; l++) w.row(0)[l] = l * 4;
        w.set_s64(machine::exec_lo, exec);
        w.set_s64(20, out_);
        machine::RegisterShadow& shadow = shadow_.waves[0];
        shadow.begin(true, rows, 1, 0, 0);
        for (uint32_t s = 20; s < 23; s++) shadow.scalars[s] = 0;
        engine_->run(w);
        return found_;
    }

private:
    static constexpr uint32_t rows = 8;
    void found(const machine::Wave&, const machine::Finding&) override { found_++; }

    memory::AddressSpace space_;
    alignas(64) std::array<uint32_t, rows * machine::lanes> rows_{};
    machine::ExecContext context_;
    machine::WorkGroup group_;
    machine::UnwrittenMemory unwritten_;
    machine::DispatchShadow dispatch_{*this, &unwritten_, true};
    machine::GroupShadow shadow_;
    std::unique_ptr<machine::Engine> engine_;
    uint64_t code_ = 0, out_ = 0;
    size_t found_ = 0;
};

class Programs {
public:
    explicit Programs(uint32_t seed) : random_(seed) {}
    Lines next() {
        Lines lines;
        for (int r = 1; r < 8; r++)
            if (below(8)) lines.push_back("v_mov_b32 v" + std::to_string(r) + ", 1");
        for (int s = 0; s < 8; s += 2)
            if (below(4))
                lines.push_back("s_mov_b64 " + pair(s) + ", " + (below(2) ? "exec" : "0"));
        for (uint32_t n = 4 + below(16); n; n--) lines.push_back(line());
        lines.push_back("s_endpgm");
        for (int i = 0; i < 8; i++) lines.push_back("s_endpgm");  // where branches may lead
        return lines;
    }

private:
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
    std::string v() { return "v" + std::to_string(1 + below(7)); }
    std::string read() { return "v" + std::to_string(below(8)); }
    std::string wide() {
        const uint32_t r = 2 + 2 * below(3);
        return "v[" + std::to_string(r) + ":" + std::to_string(r + 1) + "]";
    }
    static std::string pair(uint32_t s) {
        return "s[" + std::to_string(s) + ":" + std::to_string(s + 1) + "]";
    }
    std::string mask() { return below(5) ? pair(2 * below(4)) : "vcc"; }
    std::string any_mask() { return below(3) ? mask() : "exec"; }
    std::string line() {
        static constexpr const char* logic[] = {"s_and_b64 ", "s_or_b64 ",   "s_andn2_b64 ",
                                                "s_xor_b64 ", "s_orn2_b64 ", "s_cselect_b64 "};
        static constexpr const char* saving[] = {"s_and_saveexec_b64 ",   "s_or_saveexec_b64 ",
                                                 "s_xor_saveexec_b64 ",   "s_andn2_saveexec_b64 ",
                                                 "s_andn1_saveexec_b64 ", "s_orn2_saveexec_b64 "};
        static constexpr const char* branches[] = {"s_cbranch_execz ", "s_cbranch_execnz ",
                                                   "s_cbranch_vccz ", "s_cbranch_vccnz ",
                                                   "s_cbranch_scc0 "};
        static constexpr const char* offsets[] = {"1", "2", "3", "5", "65530", "65532"};
        switch (below(22)) {
            case 0:
            case 1:
                return "v_mov_b32 " + v() + ", " + (below(3) ? "2" : read());
            case 2:
                return "v_add_u32 " + v() + ", " + read() + ", " + read();
            case 3:
            case 4:
                return "v_cmp_lt_u32 " + any_mask() + ", " + read() + ", " + read();
            case 5:
                return "v_cndmask_b32 " + v() + ", " + read() + ", " + read() + ", " + mask();
            case 6:
            case 7:
                return saving[below(std::size(saving))] + mask() + ", " + mask();
            case 8:
                return "s_or_b64 exec, exec, " + mask();
            case 9:
                return "s_andn2_b64 exec, exec, " + mask();
            case 10:
            case 11:
                return logic[below(std::size(logic))] + mask() + ", " + any_mask() + ", " +
                       any_mask();
            case 12:
                return "s_mov_b64 " + any_mask() + ", " +
                       (below(3)   ? mask()
                        : below(2) ? "0"
                                   : "-1");
            case 13:
                return "s_mov_b32 s" + std::to_string(below(8)) + ", 5";
            case 14:
                return "v_readfirstlane_b32 s" + std::to_string(below(8)) + ", " + read();
            case 15:
                return "v_mov_b32_dpp " + v() + ", " + read() + " quad_perm:[1,0,3,2]";
            case 16:
                return "v_writelane_b32 " + v() + ", s" + std::to_string(below(8)) + ", 3";
            case 17:
                return "v_mad_u64_u32 " + wide() + ", " + mask() + ", " + read() + ", " + read() +
                       ", " + wide();
            case 18:
                return "v_pk_mul_f32 " + wide() + ", " + wide() + ", " + wide() +
                       (below(2) ? " op_sel_hi:[1,0]" : " op_sel:[0,1]");
            case 19:
                return "v_swap_b32 " + v() + ", " + v();
            case 20:
                return branches[below(std::size(branches))] +
                       std::string(offsets[below(std::size(offsets))]);
            default:
                return "global_store_dword v0, " + read() + ", s[20:21]";
        }
    }
    std::mt19937 random_;
};

TEST(DefiniteAssignment, MissesNothingThatIsFound) {
    constexpr size_t count = 4000;
    Programs programs(7);
    std::vector<test::SemanticCase> cases(count);
    for (test::SemanticCase& c : cases) c.assembly = programs.next();
    ASSERT_TRUE(test::assemble(cases, WJ_LLVM_MC));
    Watched watched;
    std::mt19937_64 random(1);
    size_t clean = 0, faulty = 0;
    for (const test::SemanticCase& c : cases) {
        const bool whole = random() % 2;
        size_t found = 0;
        for (int i = 0; i < 4 && !found; i++)
            found = watched.findings(c.code, whole ? ~uint64_t{0} : random() | 1);
        faulty += found != 0;
        if (may_use(c.code, whole)) continue;
        clean++;
        std::string text;
        for (const std::string& line : c.assembly) text += line + "\n";
        ASSERT_EQ(found, 0u) << text;
    }
    EXPECT_GT(faulty, count / 10);
    EXPECT_GT(clean, count / 10);
}

}  // namespace
}  // namespace wj::jit_test
