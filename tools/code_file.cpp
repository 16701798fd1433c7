#include "tools/code_file.h"

#include "frontend/target.h"
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
    auto found = find_code_objects_in_file(file);
    if (!found || found->empty()) return {};
    static const char* const preference[] = {"gfx90a", "gfx908", "gfx906",       "gfx900",
                                             "gfx904", "gfx909", "gfx90c",       "gfx902",
                                             "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic"};
    for (const char* name : preference) {
        const FoundCodeObject* best = nullptr;
        for (const FoundCodeObject& object : *found)
            if (object.target.processor && object.target.processor->name == name &&
                (!best || object.target.xnack == Feature::Any ||
                 object.target.xnack == Feature::Off))
                best = &object;
        if (best) return best->target.str();
    }
    std::string have;
    for (const FoundCodeObject& object : *found) {
        std::string name = object.target.str();
        if (have.find(name) == std::string::npos) have += (have.empty() ? "" : ", ") + name;
    }
    fail(file + " holds code for " + have + ", but emulated are " + supported_target_names() +
         "; recompile it with --offload-arch=gfx90a");
}

}  // namespace wj::tools
