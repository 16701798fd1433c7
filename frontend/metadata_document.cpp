#include "frontend/metadata_document.h"

#include <algorithm>
#include <exception>

// Without this msgpack-cxx needs Boost.
#ifndef MSGPACK_NO_BOOST
#define MSGPACK_NO_BOOST
#endif
#include <yaml-cpp/yaml.h>
#include <msgpack.hpp>

namespace wj {
namespace {

constexpr size_t max_depth = 32;  // real documents have 5
constexpr size_t max_yaml_bytes = 16u << 20;
constexpr size_t max_yaml_nodes = 4u << 20;  // aliases can repeat a node without end

Status invalid(std::string text) {
    return {Code::InvalidCodeObject, std::move(text)};
}

// Builds the tree while parsing, so that a claimed element count allocates nothing by itself.
class Builder : public msgpack::null_visitor {
public:
    explicit Builder(MetadataNode& root) { stack_.push_back(&root); }
    const char* error = nullptr;

    bool visit_nil() { return set(MetadataNode::Kind::Nil, 0); }
    bool visit_boolean(bool v) { return set(MetadataNode::Kind::Bool, v); }
    bool visit_positive_integer(uint64_t v) { return set(MetadataNode::Kind::Unsigned, v); }
    bool visit_negative_integer(int64_t v) {
        // msgpack-cxx reports positive values of signed encodings here as well.
        auto kind = v < 0 ? MetadataNode::Kind::Negative : MetadataNode::Kind::Unsigned;
        return set(kind, static_cast<uint64_t>(v));
    }
    bool visit_float32(float) { return set(MetadataNode::Kind::Other, 0); }
    bool visit_float64(double) { return set(MetadataNode::Kind::Other, 0); }
    bool visit_str(const char* v, uint32_t size) {
        top().text = {v, size};
        return set(MetadataNode::Kind::Text, 0);
    }
    bool visit_bin(const char*, uint32_t) { return set(MetadataNode::Kind::Other, 0); }
    bool visit_ext(const char*, uint32_t) { return set(MetadataNode::Kind::Other, 0); }
    bool start_array(uint32_t) { return open(MetadataNode::Kind::Array); }
    bool start_array_item() { return push(); }
    bool end_array_item() { return pop(); }
    bool end_array() { return true; }
    bool start_map(uint32_t) { return open(MetadataNode::Kind::Map); }
    bool start_map_key() { return push(); }
    bool end_map_key() { return pop(); }
    bool start_map_value() { return push(); }
    bool end_map_value() { return pop(); }
    bool end_map() { return true; }
    void parse_error(size_t, size_t) { error = "a byte that begins no MessagePack value"; }
    void insufficient_bytes(size_t, size_t) { error = "the document is truncated"; }

private:
    MetadataNode& top() { return *stack_.back(); }
    bool set(MetadataNode::Kind kind, uint64_t number) {
        top().kind = kind;
        top().number = number;
        return true;
    }
    bool open(MetadataNode::Kind kind) {
        if (stack_.size() > max_depth) {
            error = "values are nested too deeply";
            return false;
        }
        return set(kind, 0);
    }
    // Only the last item of the parent is ever on the stack, so its address stays valid while it
    // is.
    bool push() {
        top().items.emplace_back();
        stack_.push_back(&top().items.back());
        return true;
    }
    bool pop() {
        stack_.pop_back();
        return true;
    }
    std::vector<MetadataNode*> stack_;
};

// yaml-cpp parses recursively: refuse deep nesting before it sees the text. Inside a line nesting
// comes from brackets and from "- - - x"; by indentation yaml-cpp itself stops at 500 levels.
bool yaml_nests_deeply(std::string_view text) {
    size_t depth = 0, marks = 0;
    for (size_t i = 0; i < text.size(); i++) {
        char c = text[i], before = i ? text[i - 1] : '\n',
             after = i + 1 < text.size() ? text[i + 1] : '\n';
        if (c == '[' || c == '{') depth++;
        if ((c == ']' || c == '}') && depth) depth--;
        bool alone = (before == ' ' || before == '\n') && (after == ' ' || after == '\n');
        if ((c == '-' || c == '?' || c == ':') && alone) marks++;
        if (c == '\n') marks = 0;
        if (depth > max_depth || marks > max_depth) return true;
    }
    return false;
}

struct YamlReader {
    MetadataDocument& document;
    size_t nodes = 0;
    const char* error = nullptr;

    std::string_view keep(const std::string& text) {
        document.strings.push_back(text);
        return document.strings.back();
    }
    bool convert(const YAML::Node& in, MetadataNode& out, size_t depth) {
        if (depth > max_depth || ++nodes > max_yaml_nodes) {
            error = "values are nested too deeply or repeated too often";
            return false;
        }
        if (in.IsScalar()) {
            out.kind = MetadataNode::Kind::Text;
            out.text = keep(in.Scalar());
        } else if (in.IsSequence()) {
            out.kind = MetadataNode::Kind::Array;
            for (const auto& item : in) {
                out.items.emplace_back();
                if (!convert(item, out.items.back(), depth + 1)) return false;
            }
        } else if (in.IsMap()) {
            out.kind = MetadataNode::Kind::Map;
            for (const auto& item : in) {
                for (const YAML::Node& part : {item.first, item.second}) {
                    out.items.emplace_back();
                    if (!convert(part, out.items.back(), depth + 1)) return false;
                }
            }
        }
        return true;
    }
};

}  // namespace

const MetadataNode* MetadataNode::find(std::string_view key) const {
    if (kind != Kind::Map) return nullptr;
    for (size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].kind == Kind::Text && items[i].text == key) return &items[i + 1];
    return nullptr;
}

Result<MetadataDocument> read_msgpack(std::span<const std::byte> bytes) {
    MetadataDocument document;
    Builder builder(document.root);
    size_t offset = 0;
    bool done = false;
    try {
        done = msgpack::parse(reinterpret_cast<const char*>(bytes.data()), bytes.size(), offset,
                              builder);
    } catch (const std::exception& e) {
        return invalid(std::string("MessagePack: ") + e.what());
    }
    if (!done || builder.error)
        return invalid("MessagePack, byte " + std::to_string(offset) + ": " +
                       (builder.error ? builder.error : "the document is truncated"));
    return document;
}

Result<MetadataDocument> read_yaml(std::string_view text) {
    if (text.size() > max_yaml_bytes) return invalid("YAML: longer than 16 MiB");
    if (yaml_nests_deeply(text)) return invalid("YAML: values are nested too deeply");
    MetadataDocument document;
    YamlReader reader{document};
    try {
        YAML::Node root = YAML::Load(std::string(text));
        if (!reader.convert(root, document.root, 0))
            return invalid(std::string("YAML: ") + reader.error);
    } catch (const std::exception& e) {
        return invalid(std::string("YAML: ") + e.what());
    }
    return document;
}

}  // namespace wj
