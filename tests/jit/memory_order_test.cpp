// Where the lifter puts fences (docs/design/memory-model.md): one line a rule. Whether they do what
// they should is what tests/litmus shows.
#include <gtest/gtest.h>

#include <string>

#include "backend_x64/schedule.h"
#include "tests/jit/sequence_machine.h"

namespace wj {
namespace {

// The block's accesses to memory in order: U scalar load, L load, S store, A atomic; | fence in
// program order, # fence of the host; C call of a handler.
std::string order(const ir::Block& block) {
    std::string out;
    for (const ir::Inst& i : block.insts) switch (ir::op_info(i.op).cls) {
            case ir::Class::ULoad:
                out += 'U';
                break;
            case ir::Class::LaneLoad:
                out += 'L';
                break;
            case ir::Class::LaneStore:
                out += 'S';
                break;
            case ir::Class::LaneAtomic:
                out += 'A';
                break;
            case ir::Class::Fence:
                out += i.imm == ir::stores_before_loads ? '#' : '|';
                break;
            case ir::Class::Call:
                out += 'C';
                break;
            default:
                break;
        }
    return out;
}

const std::string load = "global_load_dword v1, v[2:3], off", coherent = load + " glc",
                  store = "global_store_dword v[4:5], v6, off",
                  atomic = "global_atomic_add v[4:5], v6, off", wait = "s_waitcnt vmcnt(0)",
                  empty = "buffer_wbinvl1_vol", end = "s_endpgm", again = "s_cbranch_scc1 0";

struct Rule {
    const char* what;
    std::vector<std::string> code;
    const char* order;
    bool exec_full = false;
};

TEST(MemoryOrder, Fences) {
    const Rule rules[] = {
        {"no wait, no order", {store, load, end}, "SL"},
        {"a wait for a store", {store, wait, load, end}, "S|#L"},
        {"a wait for a load", {load, wait, load, end}, "LL"},
        {"nothing comes behind it", {store, wait, end}, "S|"},
        {"one fence for all loads", {store, wait, load, load, end}, "S|#LL"},
        {"a wait for all but one", {store, load, "s_waitcnt vmcnt(1)", load, end}, "SLL"},
        {"a wait for the LDS and scalar loads", {store, "s_waitcnt lgkmcnt(0)", load, end}, "SL"},
        {"a wait that is for a load as well", {store, load, wait, load, end}, "SLL"},
        {"but not in front of a coherent load", {store, load, wait, coherent, end}, "SL#L"},
        {"or behind an emptied cache", {store, load, wait, empty, load, end}, "SL|#L"},
        {"stores in front of the block", {coherent, end}, "#L"},
        {"once is enough", {coherent, wait, coherent, wait, empty, load, end}, "#LL|L"},
        {"scalar loads", {store, wait, "s_load_dword s0, s[2:3], 0x0", end}, "S|#U"},
        {"release", {store, wait, store, end}, "S|S"},
        {"release whose wait is for a load as well", {store, load, wait, store, end}, "SL|S"},
        {"an atomic of all lanes locks", {store, wait, atomic, load, end}, "S|AL", true},
        {"one of no lane does not", {store, wait, atomic, load, end}, "S|A#L"},
        {"release by an atomic", {store, load, wait, atomic, end}, "SL|A"},
        {"a barrier in between", {store, wait, "s_barrier"}, "S|#"},
        {"what is behind a loop waits", {store, again, wait, load, end}, "S#"},
        {"what is behind a loop loads", {store, again, load, wait, end}, "S"},
        {"plain stores of a loop", {store, load, wait, store, again, end}, "SLS"},
        {"accesses by handlers",
         {"buffer_store_dword v1, v2, s[4:7], 0 idxen", wait, load, end},
         "C|#L"},
        {"private memory is nobody else's",
         {"scratch_store_dword v1, v2, off", wait, load, end},
         "SL"},
    };
    for (const Rule& rule : rules)
        EXPECT_EQ(order(jit_test::lifted(jit_test::assembled(rule.code), rule.exec_full, 0x3c0)),
                  rule.order)
            << rule.what;
}

// Loads and stores on both sides of a fence are in regions of their own, whatever their addresses.
TEST(MemoryOrder, NothingIsDoneAcross) {
    const ir::Block block = jit_test::lifted(
        jit_test::assembled({coherent, wait, empty, "global_load_dword v7, v[8:9], off", wait,
                             "v_add_u32 v1, v1, v7", "global_store_dword v[4:5], v1, off", end}),
        false, 0x3c0);
    x64::Schedule schedule;
    ASSERT_TRUE(schedule.build(block, false, {.direct = true}));
    std::vector<uint32_t> loads;
    for (ir::Value v = 0; v < block.insts.size(); ++v)
        if (ir::op_info(block.insts[v].op).cls == ir::Class::LaneLoad)
            loads.push_back(schedule.position(v));
    ASSERT_EQ(loads.size(), 2u);
    EXPECT_LT(loads[0], loads[1]);
}

TEST(MemoryOrder, NobodyLooks) {
    const std::vector<uint32_t> words = jit_test::assembled({store, wait, coherent, end});
    const lift::Fetch fetch = [&](uint64_t pc) {
        return std::span(words).subspan(std::min(words.size(), size_t(pc - 0x1000) / 4));
    };
    lift::InstStore calls;
    lift::Options o;
    o.target = find_target("gfx90a");
    o.mode = 0x3c0;
    o.handler = &interp::handler;
    o.observed = false;
    EXPECT_EQ(order(x64::lift_for_translation(o, 0x1000, fetch, calls)), "SL");
}

}  // namespace
}  // namespace wj
