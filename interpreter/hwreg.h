// Hardware registers, as s_getreg and s_setreg see them.
#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

// MODE as the wave sees it.
uint32_t read_mode(const Wave& w);
bool write_mode(Wave& w, uint32_t value);  // true

void getreg(Wave& w, const Inst& in);
// field: the immediate that says which bits of which register.
void setreg(Wave& w, const Operand& field, uint32_t source);

}  // namespace wj::interp
