// The WAVEJIT_ variables of the process.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wj::runtime {

struct Variable {
    std::string_view name, meaning;
};
// All that are read, by name.
std::span<const Variable> known_variables();

// The known variable that a misspelt one is most like: "WAVEJIT_TIMOUT" -> "WAVEJIT_TIMEOUT".
// Empty for the name of a known one, and for one without the prefix WAVEJIT_.
std::string_view nearest_variable(std::string_view name);

// Names each variable of the environment that begins with WAVEJIT_ and that nothing reads, with the
// nearest right one, on standard error. Once in a process, whatever opens devices in it.
void report_unknown_variables();

}  // namespace wj::runtime
