// Shared libraries that one feature needs and everything else does not: they are opened when that
// feature is used for the first time, so that wavejit runs where they are not installed.
#pragma once

#include <string>

namespace wj {

class OptionalLibrary {
public:
    // soname: with the version of the headers that the caller is compiled with.
    // package: what a user installs to have it.
    OptionalLibrary(std::string soname, std::string package);
    // It stays open: there is one for each library, for the life of the process.
    OptionalLibrary(const OptionalLibrary&) = delete;
    OptionalLibrary& operator=(const OptionalLibrary&) = delete;

    // Empty when the library and all functions that were asked for are there; else what is missing
    // and what to do.
    const std::string& missing() const { return missing_; }

protected:
    // Of the library or of one that it needs; null if it is not there.
    void* function(const char* name);

private:
    std::string soname_, package_;
    void* handle_;
    std::string missing_;
};

// A member of a class that is derived from OptionalLibrary: a pointer that has the function's name
// and type.
#define WJ_OPTIONAL_FUNCTION(name) \
    decltype(&::name) const name = reinterpret_cast<decltype(&::name)>(function(#name))

}  // namespace wj
