// Code objects as the subcommands read them from files.
#pragma once

#include <string>

#include "frontend/bundle.h"
#include "frontend/code_object.h"

namespace wj::tools {

// Fails for what is no valid code object, and for a relocatable one: its kernels have no addresses
// before the linker has been there.
CodeObject linked_object(const FoundCodeObject& found);

// The target to run a file's code on: the newest that HIP and wavejit both know among those that it
// holds code for. Empty when it holds none (a program's code may be in its libraries); fails when
// it holds code for other processors only.
std::string choose_target(const std::string& file);

// Fails when a file holds code, and none of it runs on the target that the user named.
void check_target(const std::string& file, const std::string& target);

}  // namespace wj::tools
