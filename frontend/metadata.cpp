#include "frontend/metadata.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>

#include "frontend/code_object_bytes.h"
#include "frontend/metadata_document.h"

namespace wj {
namespace {

using Node = MetadataNode;

Status invalid_metadata(std::string text) {
    return {Code::InvalidCodeObject, "metadata: " + std::move(text)};
}

template <class E>
struct Name {
    const char* v2;
    const char* v3;
    E value;
};

using VK = ValueKind;
constexpr Name<ValueKind> value_kinds[] = {
    {"ByValue", "by_value", VK::ByValue},
    {"GlobalBuffer", "global_buffer", VK::GlobalBuffer},
    {"DynamicSharedPointer", "dynamic_shared_pointer", VK::DynamicSharedPointer},
    {"Sampler", "sampler", VK::Sampler},
    {"Image", "image", VK::Image},
    {"Pipe", "pipe", VK::Pipe},
    {"Queue", "queue", VK::Queue},
    {"HiddenGlobalOffsetX", "hidden_global_offset_x", VK::HiddenGlobalOffsetX},
    {"HiddenGlobalOffsetY", "hidden_global_offset_y", VK::HiddenGlobalOffsetY},
    {"HiddenGlobalOffsetZ", "hidden_global_offset_z", VK::HiddenGlobalOffsetZ},
    {"HiddenNone", "hidden_none", VK::HiddenNone},
    {"HiddenPrintfBuffer", "hidden_printf_buffer", VK::HiddenPrintfBuffer},
    {"HiddenHostcallBuffer", "hidden_hostcall_buffer", VK::HiddenHostcallBuffer},
    {"HiddenDefaultQueue", "hidden_default_queue", VK::HiddenDefaultQueue},
    {"HiddenCompletionAction", "hidden_completion_action", VK::HiddenCompletionAction},
    {"HiddenMultiGridSyncArg", "hidden_multigrid_sync_arg", VK::HiddenMultiGridSyncArg},
    {nullptr, "hidden_block_count_x", VK::HiddenBlockCountX},
    {nullptr, "hidden_block_count_y", VK::HiddenBlockCountY},
    {nullptr, "hidden_block_count_z", VK::HiddenBlockCountZ},
    {nullptr, "hidden_group_size_x", VK::HiddenGroupSizeX},
    {nullptr, "hidden_group_size_y", VK::HiddenGroupSizeY},
    {nullptr, "hidden_group_size_z", VK::HiddenGroupSizeZ},
    {nullptr, "hidden_remainder_x", VK::HiddenRemainderX},
    {nullptr, "hidden_remainder_y", VK::HiddenRemainderY},
    {nullptr, "hidden_remainder_z", VK::HiddenRemainderZ},
    {nullptr, "hidden_grid_dims", VK::HiddenGridDims},
    {nullptr, "hidden_heap_v1", VK::HiddenHeapV1},
    {nullptr, "hidden_dynamic_lds_size", VK::HiddenDynamicLdsSize},
    {nullptr, "hidden_private_base", VK::HiddenPrivateBase},
    {nullptr, "hidden_shared_base", VK::HiddenSharedBase},
    {nullptr, "hidden_queue_ptr", VK::HiddenQueuePtr},
};
static_assert(std::size(value_kinds) == static_cast<size_t>(VK::count_));
static_assert([] {
    for (size_t i = 0; i < std::size(value_kinds); i++)
        if (value_kinds[i].value != static_cast<VK>(i)) return false;
    return true;
}());

constexpr Name<AddressSpaceKind> address_spaces[] = {
    {"Private", "private", AddressSpaceKind::Private},
    {"Global", "global", AddressSpaceKind::Global},
    {"Constant", "constant", AddressSpaceKind::Constant},
    {"Local", "local", AddressSpaceKind::Local},
    {"Generic", "generic", AddressSpaceKind::Generic},
    {"Region", "region", AddressSpaceKind::Region},
};
constexpr Name<Access> accesses[] = {
    {"Default", "default", Access::None},
    {"ReadOnly", "read_only", Access::ReadOnly},
    {"WriteOnly", "write_only", Access::WriteOnly},
    {"ReadWrite", "read_write", Access::ReadWrite},
};

// Reads fields of one map; remembers the first error.
class Reader {
public:
    Reader(bool v2, Status& status) : v2_(v2), status_(status) {}
    bool v2() const { return v2_; }
    void fail(std::string text) {
        if (status_) status_ = invalid_metadata(where_ + text);
    }
    void set_where(std::string where) { where_ = std::move(where); }
    const std::string& where() const { return where_; }

    // A key is "Section.Key" in V2, where Section is a nested map; a null name does not exist
    // there.
    const Node* find(const Node& map, const char* v2_key, const char* v3_key) const {
        std::string_view key = v2_ ? (v2_key ? v2_key : "") : (v3_key ? v3_key : "");
        if (key.empty()) return nullptr;
        const Node* node = &map;
        // In V3 the dots belong to the name.
        if (size_t dot = key.find('.'); v2_ && dot != std::string_view::npos) {
            node = map.find(key.substr(0, dot));
            key.remove_prefix(dot + 1);
            if (!node) return nullptr;
        }
        return node->find(key);
    }

    std::optional<uint64_t> number(const Node& node) const {
        if (node.kind == Node::Kind::Unsigned || node.kind == Node::Kind::Bool) return node.number;
        if (!v2_ || node.kind != Node::Kind::Text) return std::nullopt;
        uint64_t value = 0;
        const char* end = node.text.data() + node.text.size();
        auto [stop, error] = std::from_chars(node.text.data(), end, value);
        if (error != std::errc() || stop != end) return std::nullopt;
        return value;
    }

    template <class T>
    void get(const Node& map, const char* v2_key, const char* v3_key, T& out,
             bool required = false) {
        const Node* node = find(map, v2_key, v3_key);
        const char* key = v2_ ? v2_key : v3_key;
        if (!node) {
            if (required && key) fail(std::string("required key '") + key + "' is missing");
            return;
        }
        auto value = number(*node);
        if (!value || *value > std::numeric_limits<T>::max())
            return fail(std::string("'") + key + "' is not an unsigned number that fits");
        out = static_cast<T>(*value);
    }
    void get(const Node& map, const char* v2_key, const char* v3_key, bool& out) {
        const Node* node = find(map, v2_key, v3_key);
        if (!node) return;
        if (node->kind == Node::Kind::Bool || node->kind == Node::Kind::Unsigned)
            out = node->number != 0;
        else if (v2_ && (node->text == "true" || node->text == "false"))
            out = node->text == "true";
        else
            fail(std::string("'") + (v2_ ? v2_key : v3_key) + "' is not a boolean");
    }
    void get(const Node& map, const char* v2_key, const char* v3_key, std::string& out,
             bool required = false) {
        const Node* node = find(map, v2_key, v3_key);
        const char* key = v2_ ? v2_key : v3_key;
        if (!node) {
            if (required && key) fail(std::string("required key '") + key + "' is missing");
            return;
        }
        if (node->kind != Node::Kind::Text)
            return fail(std::string("'") + key + "' is not a string");
        out = node->text;
    }
    template <size_t N>
    void get(const Node& map, const char* v2_key, const char* v3_key,
             std::array<uint32_t, N>& out) {
        const Node* node = find(map, v2_key, v3_key);
        if (!node) return;
        bool good = node->kind == Node::Kind::Array && node->items.size() == N;
        for (size_t i = 0; good && i < N; i++) {
            auto value = number(node->items[i]);
            good = value && *value <= UINT32_MAX;
            if (good) out[i] = static_cast<uint32_t>(*value);
        }
        if (!good)
            fail(std::string("'") + (v2_ ? v2_key : v3_key) + "' is not a sequence of " +
                 std::to_string(N) + " numbers");
    }
    template <class E, size_t N>
    void get(const Node& map, const char* v2_key, const char* v3_key, const Name<E> (&names)[N],
             E& out, bool required = false) {
        std::string text;
        get(map, v2_key, v3_key, text, required);
        if (text.empty()) return;
        for (const Name<E>& name : names) {
            const char* candidate = v2_ ? name.v2 : name.v3;
            if (candidate && text == candidate) {
                out = name.value;
                return;
            }
        }
        fail(std::string("'") + (v2_ ? v2_key : v3_key) + "' has the unknown value '" +
             printable(text) + "'");
    }
    // The elements of a sequence, or nothing.
    std::span<const Node> items(const Node& map, const char* v2_key, const char* v3_key,
                                bool required) {
        const Node* node = find(map, v2_key, v3_key);
        const char* key = v2_ ? v2_key : v3_key;
        if (!node || node->kind == Node::Kind::Nil) {
            if (required) fail(std::string("required key '") + key + "' is missing");
            return {};
        }
        if (node->kind != Node::Kind::Array) {
            fail(std::string("'") + key + "' is not a sequence");
            return {};
        }
        return node->items;
    }

private:
    bool v2_;
    Status& status_;
    std::string where_;
};

void read_arg(Reader& r, const Node& map, KernelArg& arg) {
    r.get(map, "Name", ".name", arg.name);
    r.get(map, "TypeName", ".type_name", arg.type_name);
    r.get(map, "Size", ".size", arg.size, true);
    r.get(map, nullptr, ".offset", arg.offset, true);
    r.get(map, "Align", nullptr, arg.align, true);
    r.get(map, "ValueKind", ".value_kind", value_kinds, arg.kind, true);
    r.get(map, "ValueType", ".value_type", arg.value_type);
    r.get(map, "AddrSpaceQual", ".address_space", address_spaces, arg.address_space);
    r.get(map, "AccQual", ".access", accesses, arg.access);
    r.get(map, "ActualAccQual", ".actual_access", accesses, arg.actual_access);
    r.get(map, "PointeeAlign", ".pointee_align", arg.pointee_align);
    r.get(map, "IsConst", ".is_const", arg.is_const);
    r.get(map, "IsRestrict", ".is_restrict", arg.is_restrict);
    r.get(map, "IsVolatile", ".is_volatile", arg.is_volatile);
    r.get(map, "IsPipe", ".is_pipe", arg.is_pipe);
    for (char& c : arg.value_type)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (arg.pointee_align && !std::has_single_bit(arg.pointee_align))
        r.fail("'" + arg.name + "': pointee alignment is not a power of two");
}

void read_args(Reader& r, const Node& map, KernelMetadata& kernel) {
    uint64_t next = 0;
    for (const Node& node : r.items(map, "Args", ".args", false)) {
        KernelArg& arg = kernel.args.emplace_back();
        r.set_where("kernel '" + printable(kernel.name) + "', argument " +
                    std::to_string(kernel.args.size() - 1) + ": ");
        read_arg(r, node, arg);
        if (r.v2()) {  // SEED-META-26
            if (!std::has_single_bit(arg.align)) return r.fail("alignment is not a power of two");
            next = (next + arg.align - 1) & ~uint64_t{arg.align - 1};
            if (next > UINT32_MAX) return r.fail("offset does not fit 32 bits");
            arg.offset = static_cast<uint32_t>(next);
            next += arg.size;
        } else if (uint64_t{arg.offset} + arg.size > kernel.kernarg_segment_size) {
            return r.fail("bytes " + std::to_string(arg.offset) + " to " +
                          std::to_string(uint64_t{arg.offset} + arg.size) +
                          " are outside the kernarg segment of " +
                          std::to_string(kernel.kernarg_segment_size) + " bytes");
        }
    }
}

void read_kernel(Reader& r, const Node& map, KernelMetadata& k) {
    bool v3 = !r.v2();
    r.get(map, "Name", ".name", k.name, true);
    r.set_where("kernel '" + printable(k.name) + "': ");
    r.get(map, "SymbolName", ".symbol", k.symbol, v3);
    r.get(map, "Language", ".language", k.language);
    r.get(map, "LanguageVersion", ".language_version", k.language_version);
    r.get(map, "Attrs.ReqdWorkGroupSize", ".reqd_workgroup_size", k.reqd_workgroup_size);
    r.get(map, "Attrs.WorkGroupSizeHint", ".workgroup_size_hint", k.workgroup_size_hint);
    r.get(map, nullptr, ".cluster_dims", k.cluster_dims);
    r.get(map, "Attrs.VecTypeHint", ".vec_type_hint", k.vec_type_hint);
    r.get(map, "Attrs.RuntimeHandle", ".device_enqueue_symbol", k.device_enqueue_symbol);
    r.get(map, nullptr, ".kind", k.kind);
    r.get(map, "CodeProps.KernargSegmentSize", ".kernarg_segment_size", k.kernarg_segment_size, v3);
    r.get(map, "CodeProps.KernargSegmentAlign", ".kernarg_segment_align", k.kernarg_segment_align,
          v3);
    r.get(map, "CodeProps.GroupSegmentFixedSize", ".group_segment_fixed_size",
          k.group_segment_fixed_size, v3);
    r.get(map, "CodeProps.PrivateSegmentFixedSize", ".private_segment_fixed_size",
          k.private_segment_fixed_size, v3);
    r.get(map, "CodeProps.WavefrontSize", ".wavefront_size", k.wavefront_size, v3);
    r.get(map, "CodeProps.MaxFlatWorkGroupSize", ".max_flat_workgroup_size",
          k.max_flat_workgroup_size, v3);
    r.get(map, "CodeProps.NumSGPRs", ".sgpr_count", k.sgpr_count, v3);
    r.get(map, "CodeProps.NumVGPRs", ".vgpr_count", k.vgpr_count, v3);
    r.get(map, nullptr, ".agpr_count", k.agpr_count);
    r.get(map, "CodeProps.NumSpilledSGPRs", ".sgpr_spill_count", k.spilled.sgprs);
    r.get(map, "CodeProps.NumSpilledVGPRs", ".vgpr_spill_count", k.spilled.vgprs);
    r.get(map, "CodeProps.IsDynamicCallStack", ".uses_dynamic_stack", k.uses_dynamic_stack);
    r.get(map, nullptr, ".uniform_work_group_size", k.uniform_work_group_size);
    r.get(map, nullptr, ".workgroup_processor_mode", k.workgroup_processor_mode);
    r.get(map, nullptr, ".max_num_workgroups_x", k.max_num_workgroups[0]);
    r.get(map, nullptr, ".max_num_workgroups_y", k.max_num_workgroups[1]);
    r.get(map, nullptr, ".max_num_workgroups_z", k.max_num_workgroups[2]);
    // V2 writes "foo@kd" for the kernel symbol "foo".
    if (r.v2()) {
        if (k.symbol.ends_with("@kd")) k.symbol.resize(k.symbol.size() - 3);
        if (k.symbol.empty()) k.symbol = k.name;
    }
    if (k.kernarg_segment_align && !std::has_single_bit(k.kernarg_segment_align))
        r.fail("kernarg segment alignment " + std::to_string(k.kernarg_segment_align) +
               " is not a power of two");
    if (k.wavefront_size && k.wavefront_size != 32 && k.wavefront_size != 64)
        r.fail("wavefront size " + std::to_string(k.wavefront_size) + " is neither 32 nor 64");
    auto required = k.reqd_workgroup_size;
    if (required != std::array<uint32_t, 3>{} && std::ranges::count(required, 0u))
        r.fail("the required work-group size has a dimension of 0");
    read_args(r, map, k);
}

Result<Metadata> read_metadata(const Node& root, bool v2) {
    if (root.kind != Node::Kind::Map) return invalid_metadata("the document is not a map");
    Status status;
    Reader r(v2, status);
    Metadata m;
    std::array<uint32_t, 2> version{};
    if (!r.find(root, "Version", "amdhsa.version"))
        r.fail("required key 'amdhsa.version' is missing");
    r.get(root, "Version", "amdhsa.version", version);
    m.version_major = version[0];
    m.version_minor = version[1];
    if (status && version[0] != 1)
        r.fail("version " + std::to_string(version[0]) + "." + std::to_string(version[1]) +
               ", only major version 1 is known");
    r.get(root, nullptr, "amdhsa.target", m.target);
    for (const Node& node : r.items(root, "Printf", "amdhsa.printf", false)) {
        if (node.kind != Node::Kind::Text)
            r.fail("a printf entry is not a string");
        else
            m.printf.emplace_back(node.text);
    }
    // Older assemblers leave the list out when there is no kernel.
    for (const Node& node : r.items(root, "Kernels", "amdhsa.kernels", false)) {
        r.set_where("kernel " + std::to_string(m.kernels.size()) + ": ");
        read_kernel(r, node, m.kernels.emplace_back());
        if (!status) break;
    }
    if (!status) return status;
    return m;
}

}  // namespace

const char* value_kind_name(ValueKind kind) {
    return value_kinds[static_cast<size_t>(kind)].v3;
}

Result<Metadata> parse_metadata_msgpack(std::span<const std::byte> note) {
    auto document = read_msgpack(note);
    if (!document) return invalid_metadata(document.status().message());
    return read_metadata(document->root, false);
}

Result<Metadata> parse_metadata_yaml(std::string_view note) {
    if (size_t nul = note.find('\0'); nul != std::string_view::npos) note = note.substr(0, nul);
    auto document = read_yaml(note);
    if (!document) return invalid_metadata(document.status().message());
    return read_metadata(document->root, true);
}

Status merge_metadata(Metadata& metadata, Metadata&& more) {
    if (more.version_major != metadata.version_major)
        return invalid_metadata("metadata notes of versions " +
                                std::to_string(metadata.version_major) + " and " +
                                std::to_string(more.version_major));
    metadata.version_minor = std::max(metadata.version_minor, more.version_minor);
    if (metadata.target.empty()) metadata.target = more.target;
    if (!more.target.empty() && more.target != metadata.target)
        return invalid_metadata("metadata notes for " + metadata.target + " and for " +
                                more.target);
    std::unordered_map<std::string_view, const KernelMetadata*> known;
    for (const KernelMetadata& kernel : metadata.kernels) known.emplace(kernel.symbol, &kernel);
    std::vector<KernelMetadata> added;
    for (KernelMetadata& kernel : more.kernels) {
        const auto it = known.find(kernel.symbol);
        if (it == known.end())
            added.push_back(std::move(kernel));
        else if (!(*it->second == kernel))
            return invalid_metadata("two metadata notes say different things of kernel '" +
                                    kernel.symbol + "'");
    }
    std::ranges::move(added, std::back_inserter(metadata.kernels));
    auto id = [](const std::string& text) { return text.substr(0, text.find(':')); };
    for (std::string& text : more.printf) {
        const auto same = std::ranges::find(metadata.printf, id(text), id);
        if (same == metadata.printf.end())
            metadata.printf.push_back(std::move(text));
        else if (*same != text)
            return invalid_metadata("two metadata notes have different printf strings of number " +
                                    id(text));
    }
    return Status::ok();
}

// SEED-META-05: "ID:N:S[0]:...:S[N-1]:format"; the format may itself contain colons.
Result<PrintfFormat> parse_printf_string(std::string_view text) {
    auto field = [&text]() -> std::optional<uint32_t> {
        size_t colon = text.find(':');
        if (colon == std::string_view::npos) return std::nullopt;
        uint32_t value = 0;
        auto [stop, error] = std::from_chars(text.data(), text.data() + colon, value);
        if (error != std::errc() || stop != text.data() + colon) return std::nullopt;
        text.remove_prefix(colon + 1);
        return value;
    };
    PrintfFormat out;
    auto id = field();
    auto count = id ? field() : std::nullopt;
    if (!count || *count > text.size())
        return invalid_metadata("printf entry is not 'ID:N:sizes:format'");
    out.id = *id;
    for (uint32_t i = 0; i < *count; i++) {
        auto size = field();
        if (!size) return invalid_metadata("printf entry is not 'ID:N:sizes:format'");
        out.sizes.push_back(*size);
    }
    out.format = text;
    return out;
}

}  // namespace wj
