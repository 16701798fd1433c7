// Patterns that users name kernels by.
#pragma once

#include <string>

namespace wj::runtime {

// As fnmatch has patterns: of the symbol, or of what it stands for in C++, with its parameters or
// without: "_Z5scalefPfm", "scale(float, float*, unsigned long)" and "scale" are one kernel.
bool kernel_fits(const std::string& pattern, const std::string& symbol);

// "scale(float, float*, unsigned long)"; of C the symbol.
std::string readable_name(const std::string& symbol);

}  // namespace wj::runtime
