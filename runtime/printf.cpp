#include "runtime/printf.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>

#include "common/guest_float.h"

namespace wj::runtime {
namespace {

constexpr uint64_t buffer_bytes = 1 << 20, header_bytes = 8;

// Bytes that are consumed from the front; reads beyond the end are zeros.
class Bytes {
public:
    explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
    size_t left() const { return bytes_.size(); }
    std::span<const std::byte> take(size_t count) {
        const auto part = bytes_.first(std::min(count, bytes_.size()));
        bytes_ = bytes_.subspan(part.size());
        return part;
    }

private:
    std::span<const std::byte> bytes_;
};

uint64_t integer(std::span<const std::byte> bytes) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min<size_t>(bytes.size(), 8));
    return value;
}

uint64_t sign_extended(uint64_t value, size_t bytes) {
    if (bytes == 0 || bytes >= 8) return value;
    const int unused = 64 - static_cast<int>(bytes) * 8;
    return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

double floating(std::span<const std::byte> bytes) {
    const uint64_t bits = integer(bytes);
    if (bytes.size() == 8) return std::bit_cast<double>(bits);
    if (bytes.size() == 4) return std::bit_cast<float>(static_cast<uint32_t>(bits));
    return gf::to_float(gf::Half{static_cast<uint16_t>(bits)});
}

// "%-8.3v4hld": flags, width and precision as text, elements of a vector, bytes by its length.
struct Conversion {
    std::string flags;
    uint32_t elements = 1;
    size_t length_bytes = 0;  // 0: as the argument has them
    char type = 0;
};

// `at` is behind the '%'; on success behind the conversion.
bool parse_conversion(std::string_view format, size_t& at, Conversion& c) {
    auto take = [&](std::string_view any) {
        const size_t begin = at;
        while (at < format.size() && any.find(format[at]) != std::string_view::npos) at++;
        return format.substr(begin, at - begin);
    };
    c.flags = take("-+ #0");
    c.flags += take("0123456789");
    if (at < format.size() && format[at] == '.') {
        at++;
        c.flags += '.';
        c.flags += take("0123456789");
    }
    if (c.flags.size() > 32) return false;
    if (at < format.size() && format[at] == 'v') {
        at++;
        const std::string_view count = take("0123456789");
        const auto end = count.data() + count.size();
        if (std::from_chars(count.data(), end, c.elements).ptr != end || count.empty())
            return false;
        if (c.elements < 2 || c.elements > 16) return false;
    }
    const std::string_view length = take("hljzt");
    c.length_bytes = length == "hh" ? 1 : length == "h" ? 2 : length == "hl" ? 4 : 0;
    if (at == format.size()) return false;
    c.type = format[at++];
    return std::string_view("diouxXcfFeEgGaAsp").find(c.type) != std::string_view::npos;
}

template <class T>
std::string formatted(const Conversion& c, const char* length, T value) {
    const std::string spec = "%" + c.flags + length + c.type;
    char small[64];
    const int size = std::snprintf(small, sizeof small, spec.c_str(), value);
    if (size < static_cast<int>(sizeof small))
        return {small, static_cast<size_t>(std::max(size, 0))};
    std::string text(static_cast<size_t>(size) + 1, 0);
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    text.pop_back();
    return text;
}

std::string element_text(const Conversion& c, std::span<const std::byte> bytes) {
    const size_t size = c.length_bytes ? std::min(c.length_bytes, bytes.size()) : bytes.size();
    switch (c.type) {
        case 'd':
        case 'i':
            return formatted(
                c, "ll", static_cast<long long>(sign_extended(integer(bytes.first(size)), size)));
        case 'c':
            return formatted(c, "", static_cast<int>(integer(bytes.first(size))));
        case 'p':
            return formatted(c, "", reinterpret_cast<void*>(integer(bytes)));
        case 'o':
        case 'u':
        case 'x':
        case 'X':
            return formatted(c, "ll", static_cast<unsigned long long>(integer(bytes.first(size))));
        default:
            return formatted(c, "", floating(bytes));
    }
}

std::string argument_text(const Conversion& c, std::span<const std::byte> bytes) {
    if (c.type == 's') {
        const std::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return formatted(c, "", std::string(raw.substr(0, raw.find('\0'))).c_str());
    }
    // Vectors of three have the size of four.
    const size_t stored = c.elements == 3 ? 4 : c.elements, size = bytes.size() / stored;
    std::string text;
    for (uint32_t e = 0; size && e < c.elements; e++)
        text += (e ? "," : "") + element_text(c, bytes.subspan(e * size, size));
    return text;
}

// The metadata has control characters and colons as escapes.
std::string unescaped(std::string_view text) {
    static constexpr std::string_view letters = "abfnrv", values = "\a\b\f\n\r\v";
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        const size_t known =
            text[i] == '\\' && i + 1 < text.size() ? letters.find(text[i + 1]) : letters.npos;
        if (known != letters.npos)
            out += values[known], i++;
        else if (text.substr(i, 3) == "\\72")
            out += ':', i += 2;
        else
            out += text[i];
    }
    return out;
}

std::string message_text(const PrintfFormat& f, std::string_view format, Bytes arguments) {
    std::string text;
    auto size = f.sizes.begin();
    for (size_t at = 0; at < format.size();) {
        if (format[at] != '%') {
            text += format[at++];
            continue;
        }
        if (format.substr(at, 2) == "%%") {
            text += '%', at += 2;
            continue;
        }
        const size_t begin = at++;
        Conversion c;
        if (parse_conversion(format, at, c) && size != f.sizes.end())
            text += argument_text(c, arguments.take(*size++));
        else
            text += format.substr(begin, at - begin);
    }
    return text;
}

}  // namespace

std::string printf_text(const std::vector<std::string>& formats,
                        std::span<const std::byte> messages) {
    struct Known {
        PrintfFormat format;
        std::string text;
        size_t bytes = 0;
    };
    std::map<uint64_t, Known> known;
    for (const std::string& f : formats)
        if (auto parsed = parse_printf_string(f)) {
            Known k{*parsed, unescaped(parsed->format)};
            for (const uint32_t size : parsed->sizes) k.bytes += size;
            known.emplace(parsed->id, std::move(k));
        }
    std::string text;
    for (Bytes rest(messages); rest.left() >= 4;) {
        const uint64_t id = integer(rest.take(4));
        const auto k = known.find(id);
        if (id && k == known.end())
            text += "[wavejit: printf message of number " + std::to_string(id) +
                    ", which the code object does not have, and " + std::to_string(rest.left()) +
                    " bytes behind it]\n";
        if (k == known.end() || rest.left() < k->second.bytes) break;
        text += message_text(k->second.format, k->second.text, Bytes(rest.take(k->second.bytes)));
    }
    return text;
}

bool PrintfBuffer::wanted(const KernelInfo& kernel, const std::vector<std::string>& formats) {
    return !formats.empty() && std::ranges::any_of(kernel.metadata.args, [](const KernelArg& a) {
        return a.kind == ValueKind::HiddenPrintfBuffer;
    });
}

Result<PrintfBuffer> PrintfBuffer::make(memory::AddressSpace& memory,
                                        const std::vector<std::string>& formats) {
    auto address = memory.allocate(buffer_bytes, memory::read_write, "printf buffer");
    if (!address) return address.status();
    const uint32_t capacity = buffer_bytes - header_bytes;
    std::memcpy(reinterpret_cast<void*>(*address + 4), &capacity, 4);
    return PrintfBuffer(memory, *address, formats);
}

PrintfBuffer::PrintfBuffer(PrintfBuffer&& other) noexcept
    : memory_(other.memory_), address_(other.address_), formats_(other.formats_) {
    other.memory_ = nullptr;
}

PrintfBuffer::~PrintfBuffer() {
    if (memory_) (void)memory_->free(address_);
}

std::string PrintfBuffer::text() const {
    const std::vector<std::byte> all = save();
    return printf_text(*formats_, std::span(all).subspan(header_bytes));
}

std::vector<std::byte> PrintfBuffer::save() const {
    const auto* const buffer = reinterpret_cast<const std::byte*>(address_);
    uint32_t used = 0;
    std::memcpy(&used, buffer, 4);
    used = std::min<uint32_t>(used, buffer_bytes - header_bytes);
    return {buffer, buffer + header_bytes + used};
}

void PrintfBuffer::restore(const std::vector<std::byte>& saved) {
    std::memcpy(reinterpret_cast<void*>(address_), saved.data(), saved.size());
}

}  // namespace wj::runtime
