// Where the drop-in libhsa-runtime64.so.1 is.
#pragma once

#include <filesystem>

namespace wj::tools {

// Its directory, relative to the running tool: an installed tree may be moved. Throws a Failure
// that says where it was looked for.
std::filesystem::path drop_in_directory();

}  // namespace wj::tools
