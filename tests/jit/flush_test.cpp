// Code memory is finite: when it is full everything is dropped, on however many threads.
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using Kind = ir::Terminator::Kind;

constexpr uint64_t first_pc = 0x10000, distance = 64;

// Block i adds to s1 and v2 and goes on to block i + 1, every fourth one by an indirect jump.
struct ChainSource final : x64::BlockSource {
    explicit ChainSource(uint64_t count) : count(count) {}
    uint64_t count;
    uint32_t asked = 0, resets = 0;
    static uint32_t addend(uint64_t i) { return static_cast<uint32_t>(i * 2654435761u) >> 8; }
    ir::Block block(const x64::BlockRequest& request) override {
        ++asked;
        const uint64_t i = (request.pc - first_pc) / distance;
        Builder b(request.pc);
        b.block.exec_changed = false;
        if (i >= count) return b.block;
        b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, 1), b.c32(addend(i))})}, 1);
        b.op(Op::SetV, {b.op(Op::Add32, {b.v(2), b.op(Op::Splat32, {b.c32(addend(i))})}), b.exec()},
             2);
        const uint64_t next = request.pc + distance;
        if (i % 4 == 3)
            b.block.term = {.kind = Kind::Indirect, .cond = b.c64(next)};
        else
            b.block.term = {.kind = Kind::Jump, .target = next};
        return b.block;
    }
    void reset() override { ++resets; }
};

struct TinyRig {
    TinyRig(x64::Isa isa, uint64_t blocks, size_t code_bytes) {
        auto owned = std::make_unique<ChainSource>(blocks);
        source = owned.get();
        auto made = x64::make_engine(std::move(owned), isa, {.code_bytes = code_bytes});
        if (made) engine = std::move(*made);
    }
    // From block `from` to the end, in slices.
    void run(uint64_t from, uint64_t exec, int64_t slice) const {
        uint32_t sum = 0;
        for (uint64_t i = from; i < source->count; ++i) sum += ChainSource::addend(i);
        State s;
        s.wave.pc = first_pc + from * distance;
        s.wave.set_s64(machine::exec_lo, exec);
        machine::ExitKind kind;
        do {
            s.wave.budget = slice;
            kind = engine->run(s.wave);
        } while (kind == machine::ExitKind::Yield);
        ASSERT_EQ(kind, machine::ExitKind::EndProgram)
            << (s.wave.exit.reason ? s.wave.exit.reason : "");
        EXPECT_EQ(s.wave.sgpr[1], sum);
        for (uint32_t l = 0; l < 64; ++l)
            EXPECT_EQ(s.wave.row(2)[l], exec >> l & 1 ? sum : 0u) << "lane " << l;
    }
    ChainSource* source = nullptr;
    std::unique_ptr<machine::Engine> engine;
};

size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    size_t all = 0, resident = 0;
    statm >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

class FlushTest : public JitTest {};

TEST_P(FlushTest, ManyBlocksThroughATinyBuffer) {
    const TinyRig rig(GetParam(), 5000, 200 << 10);
    ASSERT_TRUE(rig.engine);
    rig.run(0, ~0ull, 1 << 20);
    const uint64_t flushes = rig.engine->counters().code_flushes;
    EXPECT_GT(flushes, 1u);
    EXPECT_EQ(rig.source->resets, flushes);
    rig.run(0, 0x123456789abcdef1, 700);
    rig.run(2500, ~0ull, 1);
    const size_t before = resident_bytes();
    for (int round = 0; round < 3; ++round) rig.run(0, ~0ull, 1 << 20);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(resident_bytes(), before + (4 << 20));
#endif
    EXPECT_GT(rig.engine->counters().code_flushes, 4 * flushes);
}

TEST_P(FlushTest, FourThreads) {
    const TinyRig rig(GetParam(), 2000, 100 << 10);
    ASSERT_TRUE(rig.engine);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t)
        threads.emplace_back([&rig, t] {
            for (uint64_t round = 0; round < 4; ++round)
                rig.run(t * 300 + round, t % 2 ? ~0ull : 0xf0f0ull << t, t == 3 ? 100 : 1 << 20);
        });
    for (std::thread& t : threads) t.join();
    EXPECT_GT(rig.engine->counters().code_flushes, 4u);
}

// Waves that stopped anywhere go on after a flush: they hold no host addresses.
TEST_P(FlushTest, InvalidateBetweenSlices) {
    const TinyRig rig(GetParam(), 400, 64 << 10);
    ASSERT_TRUE(rig.engine);
    State s;
    s.wave.pc = first_pc;
    machine::ExitKind kind;
    uint32_t slices = 0;
    do {
        s.wave.budget = 5;
        kind = rig.engine->run(s.wave);
        rig.engine->invalidate(first_pc, first_pc + ++slices % 7 * 1000);
    } while (kind == machine::ExitKind::Yield);
    ASSERT_EQ(kind, machine::ExitKind::EndProgram);
    uint32_t sum = 0;
    for (uint64_t i = 0; i < 400; ++i) sum += ChainSource::addend(i);
    EXPECT_EQ(s.wave.sgpr[1], sum);
}

// Every MODE has code of its own.
TEST_P(FlushTest, ManyModes) {
    const TinyRig rig(GetParam(), 3, 1 << 20);
    ASSERT_TRUE(rig.engine);
    for (uint32_t mode = 0; mode < 3000; ++mode) {
        State s;
        s.wave.pc = first_pc;
        s.wave.mode = mode << 8;
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
        ASSERT_EQ(s.wave.sgpr[1],
                  ChainSource::addend(0) + ChainSource::addend(1) + ChainSource::addend(2));
    }
    EXPECT_GT(rig.engine->counters().code_flushes, 1u);
}

TEST_P(FlushTest, BlockThatDoesNotFit) {
    auto owned = std::make_unique<MapSource>();
    Builder big;
    for (uint32_t i = 0; i < 2000; ++i)
        big.set(i % 30, big.op(Op::Add32, {big.v(i % 31), big.v(i % 29)}));
    owned->blocks[0x1000] = big.block;
    owned->blocks[0x3000] = Builder(0x3000).block;
    auto engine = x64::make_engine(std::move(owned), GetParam(), {.code_bytes = 16 << 10});
    ASSERT_TRUE(engine);
    State s;
    EXPECT_EQ((*engine)->run(s.wave), machine::ExitKind::Unimplemented);
    EXPECT_STREQ(s.wave.exit.reason, "the code memory is too small for one instruction");
    EXPECT_EQ(s.wave.exit.pc, 0x1000u);
    s.wave.pc = 0x3000;
    EXPECT_EQ((*engine)->run(s.wave), machine::ExitKind::EndProgram);
}

TEST_P(FlushTest, BufferTooSmallForTheStubs) {
    const auto engine =
        x64::make_engine(std::make_unique<MapSource>(), GetParam(), {.code_bytes = 64});
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.status().code(), Code::HostError);
}

// run_waves: one after another until one stops for another reason.
TEST_P(FlushTest, RunWaves) {
    const TinyRig rig(GetParam(), 50, 200 << 10);
    ASSERT_TRUE(rig.engine);
    State states[4];
    machine::Wave waves[4];
    for (int i = 0; i < 4; ++i) {
        waves[i] = states[i].wave;
        waves[i].pc = first_pc + static_cast<uint64_t>(i) * distance;
        waves[i].budget = i == 2 ? 10 : 1000;
    }
    EXPECT_EQ(rig.engine->run_waves(waves, 4), 3u);
    EXPECT_EQ(waves[0].exit.kind, machine::ExitKind::EndProgram);
    EXPECT_EQ(waves[1].exit.kind, machine::ExitKind::EndProgram);
    EXPECT_EQ(waves[2].exit.kind, machine::ExitKind::Yield);
    EXPECT_EQ(waves[3].pc, first_pc + 3 * distance);
    uint32_t sum = 0;
    for (uint64_t i = 1; i < 50; ++i) sum += ChainSource::addend(i);
    EXPECT_EQ(waves[1].sgpr[1], sum);
    EXPECT_EQ(waves[0].sgpr[1], sum + ChainSource::addend(0));
}

WJ_JIT_TESTS(FlushTest);

}  // namespace
}  // namespace wj::jit_test
