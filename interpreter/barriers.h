// s_barrier_* of gfx12 and gfx12.5.
#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

void signal_barrier(Wave& w, const Inst& in);
void signal_barrier_is_first(Wave& w, const Inst& in);
void wait_for_barrier(Wave& w, const Inst& in);
void get_barrier_state(Wave& w, const Inst& in);
void init_barrier(Wave& w, const Inst& in);
void join_barrier(Wave& w, const Inst& in);
void leave_barrier(Wave& w, const Inst& in);

}  // namespace wj::interp
