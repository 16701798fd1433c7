#include "common/status.h"

#include <array>

namespace wj {

const char* code_name(Code code) {
    static constexpr std::array names{"ok",
                                      "invalid argument",
                                      "not found",
                                      "invalid code object",
                                      "unsupported target",
                                      "out of memory",
                                      "out of range",
                                      "guest fault",
                                      "illegal instruction",
                                      "unimplemented",
                                      "timeout",
                                      "deadlock",
                                      "guest trap",
                                      "host error"};
    return names[static_cast<size_t>(code)];
}

}  // namespace wj
