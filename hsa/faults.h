// What happens when a kernel stops with an error.
#pragma once

#include <string>

namespace wj::hsa {

// Writes a fault report to stderr in one piece.
void print_fault(const std::string& report);

}  // namespace wj::hsa
