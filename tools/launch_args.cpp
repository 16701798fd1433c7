#include "tools/launch_args.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "tools/cli.h"

namespace wj::tools {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    for (size_t at = 0;;) {
        size_t end = text.find(by, at);
        parts.push_back(text.substr(at, end - at));
        if (end == std::string::npos) return parts;
        at = end + 1;
    }
}

struct Scalar {
    const char* name;
    uint32_t bytes;
    char kind;  // i, u, f
};
constexpr Scalar scalars[] = {{"i8", 1, 'i'},  {"u8", 1, 'u'},  {"i16", 2, 'i'}, {"u16", 2, 'u'},
                              {"i32", 4, 'i'}, {"u32", 4, 'u'}, {"i64", 8, 'i'}, {"u64", 8, 'u'},
                              {"f32", 4, 'f'}, {"f64", 8, 'f'}};

const Scalar* find_scalar(const std::string& name) {
    for (const Scalar& s : scalars)
        if (name == s.name) return &s;
    return nullptr;
}

std::vector<uint8_t> parse_scalar(const Scalar& type, const std::string& value,
                                  const std::string& text) {
    uint64_t bits = 0;
    char* end = nullptr;
    errno = 0;
    bool fits = true;
    if (type.kind == 'f') {
        double d = std::strtod(value.c_str(), &end);
        if (type.bytes == 4) {
            float f = static_cast<float>(d);
            std::memcpy(&bits, &f, 4);
        } else {
            std::memcpy(&bits, &d, 8);
        }
        errno = 0;  // subnormal results are fine
    } else if (type.kind == 'i') {
        int64_t i = std::strtoll(value.c_str(), &end, 0);
        int shift = 64 - static_cast<int>(type.bytes) * 8;
        fits = static_cast<int64_t>(static_cast<uint64_t>(i) << shift) >> shift == i;
        bits = static_cast<uint64_t>(i);
    } else {
        fits = value.empty() || value[0] != '-';
        bits = std::strtoull(value.c_str(), &end, 0);
        fits = fits && (type.bytes == 8 || bits >> (type.bytes * 8) == 0);
    }
    if (value.empty() || *end || errno || !fits)
        fail("--arg " + text + ": '" + value + "' is not a value of type " + type.name, exit_usage);
    std::vector<uint8_t> bytes(type.bytes);
    std::memcpy(bytes.data(), &bits, type.bytes);
    return bytes;
}

std::vector<uint8_t> read_whole(const std::string& path, const std::string& text) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("--arg " + text + ": cannot read " + path + ": " + std::strerror(errno));
    return {std::istreambuf_iterator<char>(file), {}};
}

void check_api(wj_context* context, wj_status status, const std::string& text) {
    if (status != WJ_OK) fail("--arg " + text + ": " + wj_last_error(context));
}

// What a buffer is to hold, by one of fill=, word=, iota=, file=.
bool initialise(const LaunchArg& arg, std::vector<uint8_t>& bytes, const std::string& key,
                const std::string& value) {
    bytes.resize(arg.size);
    if (key == "fill") {
        uint64_t byte = parse_size(value, "--arg " + arg.text);
        if (byte > 255)
            fail("--arg " + arg.text + ": fill= takes a byte; for four bytes use word=",
                 exit_usage);
        std::ranges::fill(bytes, static_cast<uint8_t>(byte));
    } else if (key == "word") {
        uint64_t word = parse_size(value, "--arg " + arg.text);
        if (word > UINT32_MAX || arg.size % 4)
            fail("--arg " + arg.text + ": word= takes 32 bits, the size must be a multiple of 4",
                 exit_usage);
        uint32_t w = static_cast<uint32_t>(word);
        for (uint64_t i = 0; i < arg.size; i += 4) std::memcpy(&bytes[i], &w, 4);
    } else if (key == "iota") {
        if (value != "u32" && value != "f32")
            fail("--arg " + arg.text + ": iota= takes u32 or f32", exit_usage);
        for (uint64_t i = 0; i + 4 <= arg.size; i += 4) {
            uint32_t n = static_cast<uint32_t>(i / 4);
            float f = static_cast<float>(n);
            std::memcpy(&bytes[i], value == "u32" ? static_cast<void*>(&n) : &f, 4);
        }
    } else if (key == "file") {
        auto all = read_whole(value, arg.text);
        if (all.size() > arg.size)
            fail(fmt::format("--arg {}: {} has {} bytes, the buffer {}", arg.text, value,
                             all.size(), arg.size));
        std::copy(all.begin(), all.end(), bytes.begin());
    } else {
        return false;
    }
    return true;
}

void print_values(const LaunchArg& arg, const uint8_t* host) {
    size_t x = arg.print.find('x');
    const Scalar* type = x == std::string::npos ? nullptr : find_scalar(arg.print.substr(x + 1));
    if (!type) fail("--arg " + arg.text + ": print= takes COUNTxTYPE, such as 8xf32", exit_usage);
    uint64_t count = std::min<uint64_t>(parse_size(arg.print.substr(0, x), "--arg " + arg.text),
                                        arg.size / type->bytes);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        std::memcpy(&bits, host + i * type->bytes, type->bytes);
        double d;
        float f;
        std::memcpy(&d, &bits, 8);
        std::memcpy(&f, &bits, 4);
        int shift = 64 - static_cast<int>(type->bytes) * 8;
        if (type->kind == 'f')
            fmt::print("{}{}", i ? " " : "",
                       type->bytes == 4 ? fmt::format("{}", f) : fmt::format("{}", d));
        else if (type->kind == 'u')
            fmt::print("{}{}", i ? " " : "", bits);
        else
            fmt::print("{}{}", i ? " " : "", static_cast<int64_t>(bits << shift) >> shift);
    }
    fmt::print("\n");
}

}  // namespace

std::vector<uint8_t> parse_hex(const std::string& digits, const std::string& what) {
    std::vector<uint8_t> bytes;
    if (digits.size() % 2 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        fail(what + ": takes an even number of hexadecimal digits", exit_usage);
    for (size_t i = 0; i < digits.size(); i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    return bytes;
}

LaunchArg LaunchArg::make(wj_context* context, const std::string& text) {
    LaunchArg arg;
    arg.text = text;
    size_t colon = text.find(':');
    std::string type = text.substr(0, colon);
    std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (const Scalar* scalar = find_scalar(type)) {
        arg.value = parse_scalar(*scalar, rest, text);
        return arg;
    }
    if (type == "hex") {
        arg.value = parse_hex(rest, "--arg " + text);
        return arg;
    }
    auto parts = split(rest, ':');
    if (type == "local") {
        arg.is_local = true;
        arg.size = parse_size(parts[0], "--arg " + text);
        return arg;
    }
    if (type != "buf")
        fail("--arg " + text + ": '" + type +
                 "' is not a kind of argument (buf, local, hex, i8 ... f64)",
             exit_usage);
    arg.is_buffer = true;
    arg.size = parse_size(parts[0], "--arg " + text);
    if (!arg.size) fail("--arg " + text + ": a buffer needs a size", exit_usage);
    check_api(context, wj_memory_allocate(context, arg.size, &arg.address), text);
    std::vector<uint8_t> bytes;  // none: nobody has written the buffer
    for (size_t i = 1; i < parts.size(); i++) {
        size_t equal = parts[i].find('=');
        std::string key = parts[i].substr(0, equal),
                    value = equal == std::string::npos ? "" : parts[i].substr(equal + 1);
        if (key == "dump")
            arg.dump = value;
        else if (key == "compare")
            arg.compare = value;
        else if (key == "print")
            arg.print = value;
        else if (!initialise(arg, bytes, key, value))
            fail("--arg " + text + ": '" + key +
                     "' is not known (fill, word, iota, file, dump, compare, print)",
                 exit_usage);
    }
    check_api(context, wj_memory_write(context, arg.address, bytes.data(), bytes.size()), text);
    arg.value.resize(8);
    std::memcpy(arg.value.data(), &arg.address, 8);
    return arg;
}

wj_argument LaunchArg::argument() const {
    return is_local ? wj_argument{nullptr, size} : wj_argument{value.data(), value.size()};
}

bool LaunchArg::finish(wj_context* context) const {
    if (!is_buffer) return true;
    void* memory = nullptr;
    check_api(context, wj_memory_host_pointer(context, address, size, WJ_READ, &memory), text);
    const uint8_t* host = static_cast<const uint8_t*>(memory);
    if (!print.empty()) print_values(*this, host);
    if (!dump.empty()) {
        std::ofstream file(dump, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host), static_cast<std::streamsize>(size));
        file.close();
        if (!file) fail("--arg " + text + ": cannot write " + dump + ": " + std::strerror(errno));
    }
    if (compare.empty()) return true;
    auto expected = read_whole(compare, text);
    if (expected.size() != size) {
        fmt::print(stderr, "wavejit: --arg {}: {} has {} bytes, the buffer {}\n", text, compare,
                   expected.size(), size);
        return false;
    }
    auto [got, want] = std::mismatch(host, host + size, expected.begin());
    if (got == host + size) return true;
    uint64_t differing = 0;
    for (uint64_t i = 0; i < size; i++) differing += host[i] != expected[i];
    fmt::print(stderr,
               "wavejit: --arg {}: differs from {} in {} of {} bytes, first at offset {} "
               "(0x{:02x}, expected 0x{:02x})\n",
               text, compare, differing, size, got - host, *got, *want);
    return false;
}

}  // namespace wj::tools
