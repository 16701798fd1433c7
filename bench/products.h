// Matrix instructions alone: registers in, registers out.
#pragma once

namespace bench {

// Registers "product/<mnemonic>/<target>/<engine>" with Google Benchmark.
void register_products();

}  // namespace bench
