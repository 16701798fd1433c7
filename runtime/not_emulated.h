// Processors by the names that users give, and the message for one that is not emulated.
#pragma once

#include <string>
#include <string_view>

#include "frontend/target.h"

namespace wj::runtime {

// find_target(), by other names of processors, too ("fiji").
const Target* emulated_target(std::string_view name);

// Why a name is not one of the emulated processors: a known one with its usual name ("fiji
// (gfx803)"), one of the r600 family, or not known at all; and which are emulated.
std::string not_emulated(std::string_view name);

}  // namespace wj::runtime
