#pragma once

#include "frontend/code_object.h"
#include "frontend/target.h"
#include "tools/cli.h"

namespace wj::tools {

// Prints what each kernel holds that is refused or not exact; false when something is refused.
bool print_coverage(const Target& target, const CodeObject& object, const std::string& only);

}  // namespace wj::tools
