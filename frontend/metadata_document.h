// A parsed YAML or MessagePack document as a tree: what frontend/metadata.cpp reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace wj {

struct MetadataNode {
    enum class Kind : uint8_t { Nil, Bool, Unsigned, Negative, Text, Array, Map, Other };
    Kind kind = Kind::Nil;
    uint64_t number = 0;              // Bool, Unsigned; Negative: the two's complement
    std::string_view text;            // Text; also every YAML scalar
    std::vector<MetadataNode> items;  // Array: elements; Map: key, value, key, value, ...

    const MetadataNode* find(std::string_view key) const;  // of a map, or nullptr
};

struct MetadataDocument {
    MetadataNode root;
    std::deque<std::string> strings;  // backs the text of YAML documents
};

// The text of a MessagePack document points into `bytes`. Depth, and by that memory, are limited.
Result<MetadataDocument> read_msgpack(std::span<const std::byte> bytes);
// YAML scalars are Text; metadata.cpp converts them where it expects a number or a boolean.
Result<MetadataDocument> read_yaml(std::string_view text);

}  // namespace wj
