// The DWORD_ATOMIC messages on the IR's evaluator and on the translators: every operation and width
// with values from the document's formulas, what is refused, lanes that collide, bounds, host
// threads.
#include "ir/dword_atomic.h"

#include <atomic>
#include <thread>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::AtomicSurface;
using ir::AtomicType;
using ir::DwordAtomicMessage;

constexpr uint8_t half_bit = 0x20;

struct Row {
    std::string_view name;
    uint32_t bits;
    uint64_t old, src0, src1, stored, returned;
};
// Integers: the formulas of the document's table. Floats: IEEE 754 comparisons; a quiet NaN loses
// against a number, a signalling one is quieted and wins, -0 is less than +0, denormals count.
constexpr Row rows[] = {
    {"ADD", 16, 0xffff, 3, 0, 2, 0xffff},
    {"ADD", 32, 0xffffffff, 3, 0, 2, 0xffffffff},
    {"ADD", 64, 0xffffffff, 3, 0, 0x100000002, 0xffffffff},
    {"SUB", 16, 2, 3, 0, 0xffff, 2},
    {"SUB", 32, 2, 3, 0, 0xffffffff, 2},
    {"SUB", 64, 0x100000000, 1, 0, 0xffffffff, 0x100000000},
    {"INC", 16, 0xffff, 0, 0, 0, 0xffff},
    {"INC", 32, 0xffffffff, 0, 0, 0, 0xffffffff},
    {"INC", 32, 6, 0, 0, 7, 6},
    {"INC", 64, 0xffffffff, 0, 0, 0x100000000, 0xffffffff},
    {"DEC", 16, 0, 0, 0, 0xffff, 0},
    {"DEC", 32, 0, 0, 0, 0xffffffff, 0},
    {"DEC", 64, 0x100000000, 0, 0, 0xffffffff, 0x100000000},
    {"MIN", 16, 1, 0xffff, 0, 1, 1},
    {"MIN", 16, 0x8000, 0x7fff, 0, 0x7fff, 0x8000},
    {"MIN", 32, 1, 0xffffffff, 0, 1, 1},
    {"MIN", 64, 0x100000000, 2, 0, 2, 0x100000000},
    {"MAX", 16, 1, 0xffff, 0, 0xffff, 1},
    {"MAX", 32, 1, 0xffffffff, 0, 0xffffffff, 1},
    {"MAX", 64, 1, 1ull << 63, 0, 1ull << 63, 1},
    {"XCHG", 16, 5, 9, 0, 9, 5},
    {"XCHG", 32, 5, 9, 0, 9, 5},
    {"XCHG", 64, 5, 9ull << 32, 0, 9ull << 32, 5},
    {"CMPXCHG", 16, 5, 9, 5, 9, 5},
    {"CMPXCHG", 16, 5, 9, 6, 5, 5},
    {"CMPXCHG", 32, 5, 9, 5, 9, 5},
    {"CMPXCHG", 32, 5, 9, 6, 5, 5},
    {"CMPXCHG", 64, 1ull << 40, 9, 1ull << 40, 9, 1ull << 40},
    {"CMPXCHG", 64, 1ull << 40, 9, 0, 1ull << 40, 1ull << 40},
    {"AND", 16, 12, 10, 0, 8, 12},
    {"AND", 32, 12, 10, 0, 8, 12},
    {"AND", 64, 12ull << 32, 10ull << 32, 0, 8ull << 32, 12ull << 32},
    {"OR", 16, 12, 10, 0, 14, 12},
    {"OR", 32, 12, 10, 0, 14, 12},
    {"OR", 64, 12ull << 32, 10, 0, 0xc0000000a, 12ull << 32},
    {"XOR", 16, 12, 10, 0, 6, 12},
    {"XOR", 32, 12, 10, 0, 6, 12},
    {"XOR", 64, 12ull << 32, 10ull << 32, 0, 6ull << 32, 12ull << 32},
    {"IMIN", 16, 1, 0xffff, 0, 0xffff, 1},
    {"IMIN", 32, 1, 0xffffffff, 0, 0xffffffff, 1},
    {"IMIN", 64, 1, ~0ull, 0, ~0ull, 1},
    {"IMAX", 16, 1, 0xffff, 0, 1, 1},
    {"IMAX", 16, 0x8000, 0x7fff, 0, 0x7fff, 0x8000},
    {"IMAX", 32, 0x80000000, 5, 0, 5, 0x80000000},
    {"IMAX", 64, 1ull << 63, 5, 0, 5, 1ull << 63},
    {"PREDEC", 16, 0, 0, 0, 0xffff, 0xffff},
    {"PREDEC", 16, 5, 0, 0, 4, 4},
    {"PREDEC", 32, 0, 0, 0, 0xffffffff, 0xffffffff},
    {"PREDEC", 64, 0x100000000, 0, 0, 0xffffffff, 0xffffffff},
    {"FMAX", 16, 0x3c00, 0x4000, 0, 0x4000, 0x3c00},  // 1 and 2
    {"FMAX", 16, 0xbc00, 0x8001, 0, 0x8001, 0xbc00},  // -1 and the denormal next to -0
    {"FMAX", 16, 0x7e00, 0x3c00, 0, 0x3c00, 0x7e00},
    {"FMAX", 16, 0x7c01, 0x3c00, 0, 0x7e01, 0x7c01},
    {"FMAX", 16, 0x8000, 0x0000, 0, 0x0000, 0x8000},
    {"FMAX", 16, 0x0001, 0x0002, 0, 0x0002, 0x0001},
    {"FMAX", 32, 0x3f800000, 0x40000000, 0, 0x40000000, 0x3f800000},
    {"FMAX", 32, 0x7fc00000, 0x3f800000, 0, 0x3f800000, 0x7fc00000},
    {"FMAX", 32, 1, 2, 0, 2, 1},
    {"FMIN", 16, 0x3c00, 0x4000, 0, 0x3c00, 0x3c00},
    {"FMIN", 16, 0x3c00, 0xfc00, 0, 0xfc00, 0x3c00},  // minus infinity
    {"FMIN", 16, 0x3c00, 0x7e00, 0, 0x3c00, 0x3c00},
    {"FMIN", 16, 0x0000, 0x8000, 0, 0x8000, 0x0000},
    {"FMIN", 32, 0x40000000, 0xbf800000, 0, 0xbf800000, 0x40000000},
    {"FMIN", 32, 0x3f800000, 0x7f800001, 0, 0x7fc00001, 0x3f800000},
    {"FCMPWR", 16, 0x3c00, 0x3c00, 0x4400, 0x4400, 0x3c00},
    {"FCMPWR", 16, 0x3c00, 0x4400, 0x3c00, 0x3c00, 0x3c00},
    {"FCMPWR", 16, 0x8000, 0x0000, 0x4400, 0x4400, 0x8000},  // -0 equals +0
    {"FCMPWR", 16, 0x7e00, 0x7e00, 0x4400, 0x7e00, 0x7e00},  // a NaN equals nothing
    {"FCMPWR", 16, 0x0001, 0x0000, 0x4400, 0x0001, 0x0001},
    {"FCMPWR", 32, 0x3f800000, 0x3f800000, 0x40800000, 0x40800000, 0x3f800000},
    {"FCMPWR", 32, 0x80000000, 0x00000000, 0x40800000, 0x40800000, 0x80000000},
    {"FCMPWR", 32, 0x7fc00000, 0x7fc00000, 0x40800000, 0x7fc00000, 0x7fc00000},
};

const ir::DwordAtomic& operation(std::string_view name) {
    return *std::ranges::find(ir::dword_atomics(), name, &ir::DwordAtomic::name);
}

// Rows of the harness: 0 offsets, 2 and 3 src0, 4 and 5 src1, 8 and 9 what is returned.
constexpr uint32_t offset_row = 0, src0_row = 2, src1_row = 4, result_row = 8, base_sgpr = 4;

DwordAtomicMessage message(Builder& b, const ir::DwordAtomic& op, uint32_t bits, bool local,
                           Value mask) {
    using enum ir::AtomicSources;
    DwordAtomicMessage m;
    m.op = static_cast<uint8_t>(op.code | (bits == 16 ? half_bit : 0));
    m.surface =
        static_cast<uint8_t>(local ? AtomicSurface::SharedLocalMemory : AtomicSurface::Stateless);
    m.type = op.type;
    m.quad = bits == 64;
    if (!local) m.base = b.op(Op::GetS64, {}, base_sgpr);
    m.offsets = b.v(offset_row);
    m.mask = mask;
    const auto source = [&](uint32_t row) {
        return std::array<Value, 2>{b.v(row), m.quad ? b.v(row + 1) : ir::no_value};
    };
    if (op.sources != None) m.src0 = source(src0_row);
    if (op.sources == Exchange || op.sources == Compare) m.src1 = source(src1_row);
    return m;
}

// One message by the lanes of EXEC.
ir::Block block_of(const ir::DwordAtomic& op, uint32_t bits, bool local, bool returns) {
    Builder b;
    b.next_guest(0x1008);
    const Value mask = b.exec();
    Value result = ir::no_value;
    EXPECT_EQ(ir::append(b.block, message(b, op, bits, local, mask), result), "");
    for (uint32_t d = 0; returns && d < (bits == 64 ? 2u : 1u); ++d)
        b.op(Op::SetV, {b.op(Op::Elem, {result}, d), mask}, result_row + d);
    EXPECT_EQ(ir::verify(b.block), "");
    return b.block;
}

class DwordAtomicTest : public JitTest {
protected:
    // On the evaluator, or on the translator.
    machine::ExitKind execute(const ir::Block& block, State& s, bool translated) {
        s.wave.pc = block.pc;
        if (!translated) {
            ir::evaluate(block, s.wave);
            return machine::ExitKind::EndProgram;
        }
        Rig rig(GetParam());
        rig.source->blocks[block.pc] = block;
        return rig.engine->run(s.wave);
    }
};

TEST_P(DwordAtomicTest, EveryOperationAndWidth) {
    constexpr uint32_t stride = 8, junk = 0xbeef0000;  // upper halves of 16-bit operands
    for (const ir::DwordAtomic& op : ir::dword_atomics())
        for (const uint32_t bits : {16u, 32u, 64u})
            for (const bool local : {true, false})
                for (const bool returns : {true, false})
                    for (const bool translated : {false, true}) {
                        if (bits == 64 && (local || op.type == AtomicType::Float)) continue;
                        SCOPED_TRACE(std::string(op.name) + " " + std::to_string(bits));
                        std::vector<Row> mine;
                        std::ranges::copy_if(rows, std::back_inserter(mine), [&](const Row& r) {
                            return r.name == op.name && r.bits == bits;
                        });
                        ASSERT_FALSE(mine.empty());
                        State s;
                        std::vector<uint8_t> memory(64 * stride, 0xa5);
                        const uint32_t bytes = bits / 8;
                        // Words at both halves of a dword.
                        const auto place = [&](size_t l) { return l * stride + l % 2 * bytes % 4; };
                        std::vector<uint8_t> want = memory;
                        for (size_t l = 0; l < mine.size(); ++l) {
                            std::memcpy(&memory[place(l)], &mine[l].old, bytes);
                            std::memcpy(&want[place(l)], &mine[l].stored, bytes);
                            const uint32_t above = bits == 16 ? junk : 0;
                            s.wave.row(offset_row)[l] = static_cast<uint32_t>(place(l));
                            for (uint32_t d = 0; d < 2; ++d) {
                                s.wave.row(src0_row + d)[l] =
                                    static_cast<uint32_t>(mine[l].src0 >> 32 * d) | above;
                                s.wave.row(src1_row + d)[l] =
                                    static_cast<uint32_t>(mine[l].src1 >> 32 * d) | above;
                            }
                        }
                        for (uint32_t l = 0; l < 64; ++l) s.wave.row(result_row)[l] = 77;
                        s.wave.set_s64(machine::exec_lo, (1ull << mine.size()) - 1);
                        s.wave.set_s64(base_sgpr, reinterpret_cast<uint64_t>(memory.data()));
                        std::memcpy(s.lds.data(), memory.data(), memory.size());
                        ASSERT_EQ(execute(block_of(op, bits, local, returns), s, translated),
                                  machine::ExitKind::EndProgram);
                        EXPECT_EQ(std::memcmp(local ? s.lds.data() : memory.data(), want.data(),
                                              want.size()),
                                  0);
                        for (uint32_t l = 0; l < 64; ++l) {
                            uint64_t got = s.wave.row(result_row)[l];
                            if (bits == 64) got |= uint64_t{s.wave.row(result_row + 1)[l]} << 32;
                            const bool written = returns && l < mine.size();
                            EXPECT_EQ(bits == 64 && !written ? got & ~0u : got,
                                      written ? mine[l].returned : 77)
                                << "lane " << l;
                        }
                    }
}

// Lanes of one element are done in ascending order; each one's update is whole.
TEST_P(DwordAtomicTest, LanesOfOneElementInAscendingOrder) {
    for (const uint32_t bits : {16u, 32u})
        for (const bool local : {true, false})
            for (const bool translated : {false, true})
                for (const std::string_view name : {"ADD", "PREDEC", "CMPXCHG", "FCMPWR"}) {
                    SCOPED_TRACE(std::string(name) + " " + std::to_string(bits));
                    const uint64_t exec = 0x8000000100f00001ull;
                    State s;
                    alignas(8) uint32_t element = 100;
                    std::memcpy(&s.lds[256], &element, 4);
                    for (uint32_t l = 0; l < 64; ++l) {
                        // The n-th lane of EXEC finds 100 + n and stores 101 + n. As floats these
                        // are denormals.
                        const auto n =
                            static_cast<uint32_t>(__builtin_popcountll(exec & ((1ull << l) - 1)));
                        const bool compare = name == "FCMPWR";
                        s.wave.row(offset_row)[l] = local ? 256 : 0;
                        s.wave.row(src0_row)[l] = name == "ADD" ? 1 : 101 + n - compare;
                        s.wave.row(src1_row)[l] = 100 + n + compare;
                    }
                    s.wave.set_s64(base_sgpr, reinterpret_cast<uint64_t>(&element));
                    s.wave.set_s64(machine::exec_lo, exec);
                    ASSERT_EQ(execute(block_of(operation(name), bits, local, true), s, translated),
                              machine::ExitKind::EndProgram);
                    uint32_t n = 0;
                    for (uint32_t l = 0; l < 64; ++l) {
                        if (!(exec >> l & 1)) continue;
                        EXPECT_EQ(s.wave.row(result_row)[l], name == "PREDEC" ? 99 - n : 100 + n)
                            << "lane " << l;
                        ++n;
                    }
                    if (local) std::memcpy(&element, &s.lds[256], 4);
                    EXPECT_EQ(element, name == "PREDEC" ? 100 - n : 100 + n);
                }
}

// Beyond shared local memory: zeros are returned, nothing is stored.
TEST_P(DwordAtomicTest, BeyondSharedLocalMemory) {
    for (const uint32_t bits : {16u, 32u})
        for (const std::string_view name : {"ADD", "PREDEC", "FMAX"})
            for (const bool translated : {false, true}) {
                SCOPED_TRACE(std::string(name) + " " + std::to_string(bits));
                State s;
                const uint32_t bytes = bits / 8;
                const uint32_t offsets[] = {lds_bytes - bytes, lds_bytes, lds_bytes + 64,
                                            0u - bytes};
                std::ranges::fill(s.lds, uint8_t{1});
                std::vector<uint8_t> want = s.lds;
                for (uint32_t l = 0; l < 4; ++l) {
                    s.wave.row(offset_row)[l] = offsets[l];
                    s.wave.row(src0_row)[l] = 0x3c00;
                    s.wave.row(result_row)[l] = 77;
                }
                const uint32_t old = bits == 16 ? 0x0101 : 0x01010101;
                // As floats 0x0101 is less than 0x3c00 (1), 0x01010101 is more than that denormal.
                const uint32_t stored = name == "ADD"      ? old + 0x3c00
                                        : name == "PREDEC" ? old - 1
                                        : bits == 16       ? 0x3c00
                                                           : old;
                std::memcpy(&want[lds_bytes - bytes], &stored, bytes);
                s.wave.set_s64(machine::exec_lo, 15);
                ASSERT_EQ(execute(block_of(operation(name), bits, true, true), s, translated),
                          machine::ExitKind::EndProgram);
                EXPECT_EQ(s.lds, want);
                EXPECT_EQ(s.wave.row(result_row)[0], name == "PREDEC" ? stored : old);
                for (uint32_t l = 1; l < 4; ++l) EXPECT_EQ(s.wave.row(result_row)[l], 0u);
            }
}

TEST_P(DwordAtomicTest, MisalignedWordIsAFault) {
    for (const bool local : {true, false}) {
        State s;
        alignas(8) uint8_t memory[256] = {};
        for (uint32_t l = 0; l < 64; ++l) s.wave.row(offset_row)[l] = 2 * l + (l == 37);
        s.wave.set_s64(base_sgpr, reinterpret_cast<uint64_t>(memory));
        EXPECT_EQ(execute(block_of(operation("INC"), 16, local, true), s, true),
                  machine::ExitKind::MemoryFault);
        const machine::ExitInfo& exit = s.wave.exit;
        EXPECT_EQ(exit.pc, 0x1008u);
        EXPECT_EQ(exit.access, machine::Access::Atomic);
        EXPECT_EQ(exit.access_bytes, 2u);
        EXPECT_EQ(exit.lane_mask, 1ull << 37);
        EXPECT_EQ(exit.address,
                  75 + (local ? machine::shared_aperture : reinterpret_cast<uint64_t>(memory)));
        EXPECT_STREQ(exit.reason, "misaligned atomic");
    }
}

// Words that host threads and their neighbours change meanwhile: nothing is lost.
TEST_P(DwordAtomicTest, WordsAgainstHostThreads) {
    Rig rig(GetParam());
    const ir::Block block = block_of(operation("INC"), 16, false, false);
    rig.source->blocks[block.pc] = block;
    alignas(64) uint16_t words[2] = {};
    constexpr uint32_t rounds = 1000;
    std::thread host([&] {
        for (uint32_t i = 0; i < rounds * 64; ++i) std::atomic_ref(words[i & 1])++;
    });
    State s;
    s.wave.set_s64(base_sgpr, reinterpret_cast<uint64_t>(words));
    for (uint32_t i = 0; i < rounds; ++i) {
        for (uint32_t l = 0; l < 64; ++l) s.wave.row(offset_row)[l] = (l ^ i) >> 1 & 1 ? 2 : 0;
        s.wave.pc = block.pc;
        rig.engine->run(s.wave);
    }
    host.join();
    for (const uint16_t word : words) EXPECT_EQ(word, static_cast<uint16_t>(rounds * 64));
}

WJ_JIT_TESTS(DwordAtomicTest);

// Of every byte of operations those with a row are taken.
TEST(DwordAtomicMessages, ReservedOperationsAreRefused) {
    uint32_t taken = 0;
    for (uint32_t byte = 0; byte < 256; ++byte) {
        Builder b;
        const auto row =
            std::ranges::find(ir::dword_atomics(), byte & 0x1f, &ir::DwordAtomic::code);
        const ir::DwordAtomic& op = row == ir::dword_atomics().end() ? operation("ADD") : *row;
        DwordAtomicMessage m = message(b, op, 32, true, b.exec());
        m.op = static_cast<uint8_t>(byte);
        const size_t before = b.block.insts.size();
        Value result = ir::no_value;
        const std::string fault = ir::append(b.block, m, result);
        const uint32_t code = byte & 0x1f;
        const bool valid = byte < 0x40 && (code <= 0b01101 || (code >= 0b10000 && code <= 0b10010));
        EXPECT_EQ(fault.empty(), valid) << hex(byte) << ' ' << fault;
        if (!valid) {
            EXPECT_NE(fault.find("reserved"), std::string::npos) << fault;
            EXPECT_EQ(b.block.insts.size(), before);
        }
        taken += fault.empty();
    }
    EXPECT_EQ(taken, 2 * 17u);
}

TEST(DwordAtomicMessages, OperandsAndSurfacesAreChecked) {
    const auto fault = [](std::string_view name, uint32_t bits, bool local, auto change) {
        Builder b;
        DwordAtomicMessage m = message(b, operation(name), bits, local, b.exec());
        change(m, b);
        Value result = ir::no_value;
        return ir::append(b.block, m, result);
    };
    const auto nothing = [](DwordAtomicMessage&, Builder&) {};
    const auto with_src0 = [](DwordAtomicMessage& m, Builder& b) { m.src0[0] = b.v(2); };
    const auto without_src0 = [](DwordAtomicMessage& m, Builder&) { m.src0[0] = ir::no_value; };
    const auto with_src1 = [](DwordAtomicMessage& m, Builder& b) { m.src1[0] = b.v(4); };
    const auto without_src1 = [](DwordAtomicMessage& m, Builder&) { m.src1[0] = ir::no_value; };
    EXPECT_EQ(fault("INC", 32, true, with_src0), "INC: src0 must be null");
    EXPECT_EQ(fault("DEC", 16, false, with_src0), "DEC: src0 must be null");
    EXPECT_EQ(fault("PREDEC", 32, true, with_src0), "");
    EXPECT_EQ(fault("ADD", 32, true, without_src0), "ADD: src0 must not be null");
    EXPECT_EQ(fault("ADD", 32, true, with_src1), "ADD: src1 must be null");
    EXPECT_EQ(fault("CMPXCHG", 32, true, without_src1), "CMPXCHG: src1 must not be null");
    EXPECT_EQ(fault("FCMPWR", 16, true, without_src1), "FCMPWR: src1 must not be null");
    EXPECT_EQ(fault("ADD", 64, false, without_src1), "");
    EXPECT_NE(fault("ADD", 64, true, nothing), "");  // 64 bits in shared local memory
    EXPECT_NE(fault("FMAX", 64, false, nothing), "");
    EXPECT_NE(fault("ADD", 64, false, [](auto& m, auto&) { m.op |= half_bit; }), "");
    const auto as = [](AtomicType type) {
        return [type](DwordAtomicMessage& m, Builder&) { m.type = type; };
    };
    EXPECT_NE(fault("FMIN", 32, true, as(AtomicType::Unsigned)), "");
    EXPECT_NE(fault("IMIN", 32, true, as(AtomicType::Unsigned)), "");
    EXPECT_NE(fault("MIN", 32, true, as(AtomicType::Signed)), "");
    EXPECT_EQ(fault("PREDEC", 32, true, as(AtomicType::Unsigned)), "");
    EXPECT_NE(fault("PREDEC", 32, true, as(AtomicType::Float)), "");
    for (uint32_t surface = 0; surface < 256; ++surface)
        EXPECT_EQ(fault("ADD", 32, surface != 5,
                        [&](auto& m, auto&) { m.surface = static_cast<uint8_t>(surface); })
                      .empty(),
                  surface == 0 || surface == 5)
            << surface;
}

TEST(DwordAtomicMessages, ChannelsOfExecSize) {
    const uint32_t all = ~0u;
    for (uint32_t n = 0; n <= 5; ++n)  // M1: 1 to 32 elements
        EXPECT_EQ(ir::dword_atomic_lanes(static_cast<uint8_t>(n), all, all),
                  n == 5 ? 0xffffffffull : (1ull << (1u << n)) - 1);
    EXPECT_EQ(ir::dword_atomic_lanes(0x43, 0x00a50000, all), 0xa5u);        // M5, 8 elements
    EXPECT_EQ(ir::dword_atomic_lanes(0xc3, 0x00a50000, all), 0xffu);        // M5_NM
    EXPECT_EQ(ir::dword_atomic_lanes(0xc3, 0, 0x003c0000), 0x3cu);          // and its predicate
    EXPECT_EQ(ir::dword_atomic_lanes(0x72, 0xf0000000, 0x50000000), 0x5u);  // M8, 4 elements
    EXPECT_FALSE(ir::dword_atomic_lanes(0x06, all, all));                   // reserved sizes
    EXPECT_FALSE(ir::dword_atomic_lanes(0x07, all, all));
    EXPECT_FALSE(ir::dword_atomic_lanes(0x08, all, all));
    EXPECT_FALSE(ir::dword_atomic_lanes(0x73, all, all));  // channels 28 to 35
}

}  // namespace
}  // namespace wj::jit_test
