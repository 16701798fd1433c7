#include "tools/drop_in.h"

#include <string>

#include "tools/cli.h"

namespace wj::tools {

namespace fs = std::filesystem;

fs::path drop_in_directory() {
    // Installed, in the build folder, and copied beside the tool.
    std::string looked_in;
    for (const char* const place : {WJ_DROP_IN_DIRECTORY, "../hsa", "."}) {
        const fs::path directory = (fs::path(own_directory()) / place).lexically_normal();
        std::error_code error;
        if (fs::exists(directory / "libhsa-runtime64.so.1", error)) return directory;
        looked_in += (looked_in.empty() ? "" : ", ") + directory.string();
    }
    fail("wavejit's libhsa-runtime64.so.1 is missing (looked in " + looked_in +
         "): install wavejit again, or build the target hsa-runtime64");
}

}  // namespace wj::tools
