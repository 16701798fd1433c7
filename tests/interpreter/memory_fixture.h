// A wave over host memory, for tests of single memory instructions. Encodings are LLVM's.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "machine/guard.h"
#include "memory/address_space.h"

namespace wj::interp {

struct MemoryTest : ::testing::Test {
    static constexpr uint32_t scratch_bytes = 64, lds_bytes = 512;

    memory::AddressSpace space;
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    std::unique_ptr<machine::Wave> wave = std::make_unique<machine::Wave>();
    std::vector<uint32_t> registers = std::vector<uint32_t>(64 * 64 + 16);
    std::vector<uint8_t> lds = std::vector<uint8_t>(lds_bytes);
    uint64_t scratch = 0, data = 0;  // guest addresses

    machine::Wave& w() { return *wave; }
    uint32_t* v(uint32_t r) { return w().row(r); }

    void SetUp() override {
        ctx->memory = &space;
        ctx->memory_mode = machine::MemoryMode::Checked;
        ctx->target = find_target("gfx90a");
        scratch = space.allocate(scratch_bytes * 64, memory::read_write, "scratch").value();
        data = space.allocate(8192, memory::read_write, "data").value();
        w().ctx = ctx.get();
        auto p = reinterpret_cast<uintptr_t>(registers.data());
        w().vgpr = reinterpret_cast<uint32_t*>((p + 63) & ~uintptr_t{63});
        w().vgpr_count = 64;
        w().sgpr_count = 102;
        w().lds = lds.data();
        w().lds_size = lds_bytes;
        w().scratch = reinterpret_cast<uint8_t*>(scratch);
        w().scratch_bytes = scratch_bytes;
        w().scratch_base = scratch;
        w().mode = 0xf0;
        w().set_s64(machine::exec_lo, ~0ull);
    }

    template <class T = uint32_t>
    T* memory_at(uint64_t address = 0) {
        return reinterpret_cast<T*>(address ? address : data);
    }

    Inst decoded(std::initializer_list<uint32_t> words) {
        Inst inst;
        const std::vector<uint32_t> bytes(words);
        EXPECT_TRUE(decode(*ctx->target, bytes, inst));
        return inst;
    }

    machine::ExitKind run(std::initializer_list<uint32_t> words) {
        const Inst inst = decoded(words);
        const Handler h = handler(inst.op);
        EXPECT_NE(h, nullptr);
        w().exit = {};
        if (h) h(w(), inst);
        return w().exit.kind;
    }

    void set_address(uint32_t r, uint32_t lane, uint64_t address) {
        v(r)[lane] = static_cast<uint32_t>(address);
        v(r + 1)[lane] = static_cast<uint32_t>(address >> 32);
    }
    // Lane i accesses data + i * stride.
    void consecutive(uint32_t r, uint32_t stride, uint64_t from = 0) {
        for (uint32_t l = 0; l < 64; ++l) set_address(r, l, (from ? from : data) + l * stride);
    }
    void exec(uint64_t mask) { w().set_s64(machine::exec_lo, mask); }
};

inline constexpr auto none = machine::ExitKind::None;
inline constexpr auto fault = machine::ExitKind::MemoryFault;

}  // namespace wj::interp
