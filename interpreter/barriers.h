// s_barrier_* of gfx12.
#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

void signal_barrier(Wave& w, const Inst& in);
void signal_barrier_is_first(Wave& w, const Inst& in);
void wait_for_barrier(Wave& w, const Inst& in);
void get_barrier_state(Wave& w, const Inst& in);
// s_barrier_init, _join and _leave, whose barriers gfx12.5 has first.
void named_barrier(Wave& w, const Inst& in);

}  // namespace wj::interp
