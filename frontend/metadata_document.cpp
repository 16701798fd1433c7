#include "frontend/metadata_document.h"

#include <algorithm>
#include <exception>

// Without this msgpack-cxx needs Boost.
#ifndef MSGPACK_NO_BOOST
#define MSGPACK_NO_BOOST
#endif
#include <yaml.h>
#include <msgpack.hpp>

namespace wj {
namespace {

constexpr size_t max_depth = 32;  // real documents have 5
constexpr size_t max_yaml_bytes = 16u << 20;

Status invalid_document(std::string text) {
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

// Of libyaml's parser, which gives one event after the other.
class YamlReader {
public:
    YamlReader(std::string_view text, MetadataDocument& document)
        : document_(document), ready_(yaml_parser_initialize(&parser_)) {
        if (ready_)
            yaml_parser_set_input_string(
                &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~YamlReader() {
        if (ready_) yaml_parser_delete(&parser_);
    }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;

    // The first document of the text; empty, or what is wrong with it.
    std::string read() {
        if (!ready_) return "no memory";
        for (bool more = true; more;) {
            yaml_event_t event;
            if (!yaml_parser_parse(&parser_, &event))
                return "line " + std::to_string(parser_.problem_mark.line + 1) + ": " +
                       (parser_.problem ? parser_.problem : "not YAML");
            const char* error = take(event);
            more = event.type != YAML_DOCUMENT_END_EVENT && event.type != YAML_STREAM_END_EVENT;
            yaml_event_delete(&event);
            if (error) return error;
        }
        return {};
    }

private:
    const char* take(const yaml_event_t& event) {
        switch (event.type) {
            case YAML_ALIAS_EVENT:
                return "aliases are not used in metadata";
            case YAML_SCALAR_EVENT:
                scalar(event.data.scalar, add());
                return nullptr;
            case YAML_SEQUENCE_START_EVENT:
                return open(MetadataNode::Kind::Array);
            case YAML_MAPPING_START_EVENT:
                return open(MetadataNode::Kind::Map);
            case YAML_SEQUENCE_END_EVENT:
            case YAML_MAPPING_END_EVENT:
                open_.pop_back();
                return nullptr;
            default:
                return nullptr;
        }
    }
    // Only the last item of the innermost open node grows, so the addresses of open nodes stay
    // valid.
    MetadataNode& add() {
        return open_.empty() ? document_.root : open_.back()->items.emplace_back();
    }
    const char* open(MetadataNode::Kind kind) {
        if (open_.size() > max_depth) return "values are nested too deeply";
        MetadataNode& node = add();
        node.kind = kind;
        open_.push_back(&node);
        return nullptr;
    }
    template <class Scalar>
    void scalar(const Scalar& in, MetadataNode& out) {
        const std::string_view text(reinterpret_cast<const char*>(in.value), in.length);
        if (in.style == YAML_PLAIN_SCALAR_STYLE && (text.empty() || text == "~" || text == "null"))
            return;
        out.kind = MetadataNode::Kind::Text;
        out.text = document_.strings.emplace_back(text);
    }

    MetadataDocument& document_;
    yaml_parser_t parser_;
    const bool ready_;
    std::vector<MetadataNode*> open_;
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
        return invalid_document(std::string("MessagePack: ") + e.what());
    }
    if (!done || builder.error)
        return invalid_document("MessagePack, byte " + std::to_string(offset) + ": " +
                                (builder.error ? builder.error : "the document is truncated"));
    return document;
}

Result<MetadataDocument> read_yaml(std::string_view text) {
    if (text.size() > max_yaml_bytes) return invalid_document("YAML, longer than 16 MiB");
    MetadataDocument document;
    if (const std::string error = YamlReader(text, document).read(); !error.empty())
        return invalid_document("YAML, " + error);
    return document;
}

}  // namespace wj
