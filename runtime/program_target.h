// Which processor a program's own code is for: its file is looked at before anything runs.
#pragma once

#include <string>

#include "common/status.h"

namespace wj::runtime {

// The target to run a file's code on: the newest that HIP and wavejit both know among those that it
// holds code for, else any that is emulated. Empty when it holds none, or cannot be read (a
// program's code may be in its libraries). UnsupportedTarget when it holds code for other
// processors only: the message lists these, and what is emulated.
Result<std::string> choose_target(const std::string& file);

// UnsupportedTarget when a file holds code, and none of it runs on the target that the user named.
Status check_target(const std::string& file, const std::string& target);

}  // namespace wj::runtime
