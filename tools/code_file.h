// Code objects as the subcommands read them from files.
#pragma once

#include <string>

#include "frontend/bundle.h"
#include "frontend/code_object.h"

namespace wj::tools {

// Fails for what is no valid code object, and for a relocatable one: its kernels have no addresses
// before the linker has been there.
CodeObject linked_object(const FoundCodeObject& found);

// runtime/program_target.h; fails where that has an error.
std::string choose_target(const std::string& file);

}  // namespace wj::tools
