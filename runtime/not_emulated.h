// The message for a name that is not one of the emulated processors.
#pragma once

#include <string>
#include <string_view>

namespace wj::runtime {

// Why a name is not one of the emulated processors: a known one with its usual name ("fiji
// (gfx803)"), one of the r600 family, or not known at all; and which are emulated.
std::string not_emulated(std::string_view name);

}  // namespace wj::runtime
