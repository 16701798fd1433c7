#include "tools/code_file.h"

#include "runtime/program_target.h"
#include "tools/cli.h"

namespace wj::tools {

CodeObject linked_object(const FoundCodeObject& found) {
    auto object = parse_code_object(found.bytes);
    if (!object) fail(found.origin + ": " + object.status().message());
    if (!object->loadable)
        fail(found.origin +
             " is a relocatable object, not linked yet: link it with ld.lld -shared first");
    return std::move(*object);
}

std::string choose_target(const std::string& file) {
    auto target = runtime::choose_target(file);
    if (!target) fail(target.status().message());
    return *target;
}

}  // namespace wj::tools
