// Instructions of loaded code, as the runtime looks at them.
#pragma once

#include "frontend/inst.h"
#include "frontend/target.h"
#include "memory/address_space.h"

namespace wj::runtime {

// False: the memory at pc cannot be read, or holds no instruction of the target.
bool fetch_inst(const Target& target, const memory::AddressSpace& memory, uint64_t pc, Inst& inst);

// What is behind it need not be what runs next.
bool may_jump(const Inst& inst);

// It reads and writes memory beyond the wave's registers in no other way than by loads.
bool only_loads(const Inst& inst);

}  // namespace wj::runtime
