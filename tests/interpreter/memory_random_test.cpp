// Random memory instructions on random registers: none may touch host memory outside the guest's,
// crash or leave an undefined exit. Worth the most in sanitizer builds.
#include <random>

#include "tests/interpreter/memory_fixture.h"

namespace wj::interp {
namespace {

struct RandomMemory : MemoryTest, ::testing::WithParamInterface<const char*> {
    std::mt19937_64 random{42};

    uint64_t address() {
        switch (random() % 8) {
            case 0:
                return random();
            case 1:
                return machine::shared_aperture + random() % 1024;
            case 2:
                return machine::private_aperture + random() % 128;
            case 3:
                return data + 8192 - random() % 16;
            default:
                return data + random() % 8192;
        }
    }

    void fill() {
        for (uint32_t r = 0; r < 64; r += 2)
            for (uint32_t l = 0; l < 64; ++l)
                set_address(r, l, random() % 2 ? address() : random() % 600);
        for (uint32_t r = 0; r < 124; r += 2) w().set_s64(r, address());
        w().sgpr[machine::m0] = static_cast<uint32_t>(random() % 1024);
        for (uint32_t r = 0; r < 100; r += 4) {  // some buffer descriptors that work
            w().set_s64(r, random() % 4 ? data : scratch);
            if (random() % 4 == 0) w().sgpr[r + 1] |= static_cast<uint32_t>(random()) << 16;
            w().sgpr[r + 2] = static_cast<uint32_t>(random() % 4 ? 8192 : random());
            w().sgpr[r + 3] = static_cast<uint32_t>(random());
        }
        exec(random() % 4 ? random() : ~0ull);
    }

    bool fits(const Inst& inst) {
        for (const auto& operands :
             {std::span<const Operand>(inst.dst), std::span<const Operand>(inst.src)})
            for (const Operand& o : operands) {
                if (o.kind == Operand::Kind::Agpr) return false;
                if (o.kind == Operand::Kind::Vgpr && o.reg + std::max<uint32_t>(o.dwords, 1) > 64)
                    return false;
            }
        return true;
    }
};

TEST_P(RandomMemory, NothingBreaks) {
    ctx->target = find_target(GetParam());
    constexpr uint32_t formats[] = {0x30, 0x36, 0x37, 0x38, 0x3a};  // SMEM, DS, FLAT, MUBUF, MTBUF
    uint32_t executed = 0, faults = 0;
    for (uint32_t i = 0; i < 60000; ++i) {
        if (i % 64 == 0) fill();
        const uint32_t format = formats[random() % 5];
        uint32_t words[2] = {static_cast<uint32_t>(random()) >> 6 | format << 26,
                             static_cast<uint32_t>(random())};
        // Few registers exist, and rarely set bits decide whether an encoding is valid at all.
        words[1] &= format == 0x30 ? 0x8e1fffff : random() % 4 ? 0x3f7f3f3f : 0x3f003f3f;
        if (format == 0x36 && random() % 4) words[1] &= 0xff00ffff;
        if (format == 0x36 && random() % 4) words[0] &= ~0x10000u;
        Inst inst;
        if (!decode(*ctx->target, words, inst) || inst.illegal_operand || !fits(inst)) continue;
        const Handler h = handler(inst.op);
        if (!h) continue;
        w().exit = {};
        h(w(), inst);
        ++executed;
        if (w().exit.kind == machine::ExitKind::MemoryFault) {
            ++faults;
            EXPECT_NE(w().exit.access, machine::Access::None) << disassemble(*ctx->target, inst);
            if (inst.format != Format::SMEM) {
                EXPECT_NE(w().exit.lane_mask, 0u) << disassemble(*ctx->target, inst);
                EXPECT_EQ(w().exit.lane_mask & ~w().exec(), 0u);
            }
        }
        // A scalar load may have hit EXEC or the descriptors.
        if (inst.format == Format::SMEM) exec(random());
    }
    EXPECT_GT(executed, 3000u);
    EXPECT_GT(faults, 100u);
    EXPECT_GT(executed - faults, 500u);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomMemory,
                         ::testing::Values("gfx700", "gfx803", "gfx900", "gfx908", "gfx90a",
                                           "gfx942", "gfx950"));

}  // namespace
}  // namespace wj::interp
