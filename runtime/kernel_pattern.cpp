#include "runtime/kernel_pattern.h"

#include <cxxabi.h>
#include <fnmatch.h>

#include <cstdlib>
#include <memory>

namespace wj::runtime {
namespace {

// Without the parameters, and without the type in front of them that templates have.
std::string without_types(const std::string& function) {
    size_t begin = 0, end = function.size(), depth = 0;
    for (size_t i = 0; i < function.size(); i++) {
        const char c = function[i];
        if (c == '(' && !depth && !function.compare(i, 21, "(anonymous namespace)")) {
            i += 20;
        } else if (c == '(' && !depth) {
            end = i;
            break;
        } else if (c == '<' || c == '>') {
            depth += c == '<' ? 1 : -1;
        } else if (c == ' ' && !depth) {
            begin = i + 1;
        }
    }
    return function.substr(begin, end - begin);
}

}  // namespace

std::string readable_name(const std::string& symbol) {
    if (!symbol.starts_with("_Z")) return symbol;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    return text ? text.get() : symbol;
}

bool kernel_fits(const std::string& pattern, const std::string& symbol) {
    const auto fits = [&](const std::string& text) {
        return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    };
    if (fits(symbol)) return true;
    const std::string name = readable_name(symbol);
    return name != symbol && (fits(name) || fits(without_types(name)));
}

}  // namespace wj::runtime
