#include "bench/products.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend_x64/matrix_avx512.h"
#include "backend_x64/translator.h"
#include "frontend/target.h"
#include "interpreter/interpreter.h"

namespace bench {
namespace {

using namespace wj;

struct Product {
    Opcode op;
    const char* target;
    uint32_t element;  // both halves or all four bytes of a register hold this number near 1
};
const Product products[] = {
    {Opcode::v_mfma_f32_32x32x8f16, "gfx90a", 0x3c003c00},
    {Opcode::v_mfma_f32_16x16x16f16, "gfx90a", 0x3c003c00},
    {Opcode::v_mfma_i32_16x16x16i8, "gfx90a", 0x01010101},
    {Opcode::v_wmma_f32_16x16x16_f16, "gfx1100", 0x3c003c00},
    {Opcode::v_wmma_f16_16x16x16_f16, "gfx1100", 0x3c003c00},
    {Opcode::v_wmma_f32_16x16x16_bf16, "gfx1100", 0x3f803f80},
    {Opcode::v_wmma_i32_16x16x16_iu8, "gfx1100", 0x01010101},
    {Opcode::v_wmma_f32_16x16x16_f16_rdna4, "gfx1201", 0x3c003c00},
    {Opcode::v_wmma_i32_16x16x16_iu8_rdna4, "gfx1201", 0x01010101},
    {Opcode::v_wmma_i32_16x16x32_iu4, "gfx1201", 0x11111111},
    {Opcode::v_wmma_f32_16x16x16_fp8_fp8, "gfx1201", 0x38383838},
    {Opcode::v_swmmac_f32_16x16x32_f16, "gfx1201", 0x3c003c00},
    {Opcode::v_swmmac_i32_16x16x32_iu8, "gfx1201", 0x01010101},
    {Opcode::v_wmma_f32_16x16x32_f16, "gfx1250", 0x3c003c00},
    {Opcode::v_wmma_f32_16x16x128_fp8_fp8, "gfx1250", 0x38383838},
    {Opcode::v_wmma_scale_f32_16x16x128_f8f6f4, "gfx1250", 0x38383838},
};

Operand registers(uint16_t first, uint8_t dwords) {
    Operand o;
    o.kind = Operand::Kind::Vgpr;
    o.reg = first;
    o.dwords = dwords;
    return o;
}

// A in v[0:31], B in v[32:63], C and D in v[64:95], scales in v96.
void run_product(benchmark::State& state, const Product& product, interp::Handler handler) {
    std::vector<uint32_t> file(98 * machine::lanes, product.element);
    const auto base = (reinterpret_cast<uintptr_t>(file.data()) + 63) & ~uintptr_t{63};
    machine::ExecContext ctx;
    ctx.target = find_target(product.target);
    machine::Wave wave;
    wave.ctx = &ctx;
    wave.size = ctx.target->traits.wave_size;
    wave.vgpr = reinterpret_cast<uint32_t*>(base);
    std::fill_n(wave.row(96), machine::lanes, 0x7f7f7f7fu);
    Inst in;
    in.op = product.op;
    in.dst[0] = registers(64, 32);
    in.src = {registers(0, 32), registers(32, 32), registers(64, 32), registers(96, 1),
              registers(96, 1)};
    if (op_info(product.op).name.starts_with("v_swmmac")) in.src[2] = registers(96, 1);
    for (auto _ : state) handler(wave, in);
    if (wave.exit.kind != machine::ExitKind::None) state.SkipWithError(wave.exit.reason);
}

}  // namespace

void register_products() {
    const bool avx512 = x64::missing_features(x64::Isa::Avx512).empty();
    for (const Product& p : products) {
        const std::string name =
            "product/" + std::string(op_info(p.op).name) + "/" + p.target + "/";
        const auto add = [&](const char* engine, interp::Handler handler) {
            benchmark::RegisterBenchmark(
                (name + engine).c_str(),
                [&p, handler](benchmark::State& s) { run_product(s, p, handler); });
        };
        add("avx2", interp::handler(p.op));
        if (avx512) add("avx512", x64::handler_avx512(p.op));
    }
}

}  // namespace bench
