// What a loader does with the bytes of a code object, for damaged ones: tests and fuzzers.
#pragma once

#include <cstdlib>
#include <optional>
#include <vector>

#include "frontend/bundle.h"
#include "frontend/code_object.h"
#include "frontend/debug_info.h"
#include "frontend/source_scopes.h"

namespace wj::test {

// Errors say why; without that the program ends.
inline void expect_reason(const Status& status) {
    if (!status.is_ok() && status.message().empty()) std::abort();
}

// 0: it was refused.
inline uint64_t exercise_object(std::span<const std::byte> bytes) {
    auto object = parse_code_object(bytes);
    if (!object) {
        expect_reason(object.status());
        return 0;
    }
    auto layout = layout_code_object(*object);
    if (layout && layout->size <= (1u << 20)) {
        std::vector<std::byte> image(layout->size);
        expect_reason(
            load_code_object(*object, *layout, image, layout->align,
                             [](std::string_view) { return std::optional<uint64_t>(1); }));
    }
    DebugInfo info = DebugInfo::read(*object);
    SourceScopes scopes = SourceScopes::read(*object);
    uint64_t sum = object->symbols.size();
    for (const KernelInfo& kernel : object->kernels) {
        sum += info.find(kernel.entry_address).has_value();
        sum += !scopes.at(kernel.entry_address).empty();
        sum += find_symbol_location(*object, kernel.entry_address).has_value();
        sum += object->bytes_at(kernel.entry_address, kernel.code_size).has_value();
    }
    return sum + 1;
}

// As many of its code objects as were not refused.
inline uint64_t exercise_bundle(std::span<const std::byte> bytes) {
    uint64_t accepted = 0;
    is_hip_program(bytes);
    if (auto found = find_code_objects(bytes))
        for (const FoundCodeObject& f : *found) accepted += exercise_object(f.bytes) != 0;
    return accepted;
}

}  // namespace wj::test
