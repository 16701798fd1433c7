#include "common/optional_library.h"

#include <dlfcn.h>

namespace wj {

OptionalLibrary::OptionalLibrary(std::string soname, std::string package)
    : soname_(std::move(soname)),
      package_(std::move(package)),
      handle_(dlopen(soname_.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (!handle_)
        missing_ = "needs " + soname_ + ", which is not installed (Debian: " + package_ + ")";
}

void* OptionalLibrary::function(const char* name) {
    if (!handle_) return nullptr;
    void* const found = dlsym(handle_, name);
    if (!found && missing_.empty())
        missing_ = std::string("needs ") + name + ", which the installed " + soname_ +
                   " lacks (Debian: " + package_ + ")";
    return found;
}

}  // namespace wj
