// DS instructions with the gds bit: the global data share.
#pragma once

#include "interpreter/mem.h"

namespace wj::interp {

// False: not a GDS instruction. Else done: `self` has run on the wave's window of the GDS,
// M0[31:16] the base and M0[15:0] the size in bytes (Vega ISA manual, "M0 register"), while no
// other wave could access it; beyond the window reads give 0 and writes are dropped, as in LDS.
bool in_gds(Wave& w, const Inst& inst, Handler self);

}  // namespace wj::interp
