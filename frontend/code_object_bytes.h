// Bounded reads from untrusted bytes, for any offset and alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace wj {

class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::span<const std::byte> data) : data_(data) {}
    uint64_t size() const { return data_.size(); }
    std::span<const std::byte> span() const { return data_; }

    bool contains(uint64_t offset, uint64_t size) const {
        return offset <= data_.size() && size <= data_.size() - offset;
    }
    std::optional<std::span<const std::byte>> slice(uint64_t offset, uint64_t size) const {
        if (!contains(offset, size)) return std::nullopt;
        return data_.subspan(offset, size);
    }
    // Little-endian, as the guest and every supported host are.
    template <class T>
    std::optional<T> get(uint64_t offset) const {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!contains(offset, sizeof(T))) return std::nullopt;
        T value;
        std::memcpy(&value, data_.data() + offset, sizeof(T));
        return value;
    }
    // For callers that have checked the range.
    template <class T>
    T at(uint64_t offset) const {
        return get<T>(offset).value_or(T{});
    }
    std::string_view text(uint64_t offset, uint64_t size) const {
        auto part = slice(offset, size);
        if (!part || part->empty()) return {};
        return {reinterpret_cast<const char*>(part->data()), part->size()};
    }
    // NUL-terminated string, or nothing when there is no NUL before the end.
    std::optional<std::string_view> c_string(uint64_t offset) const {
        if (offset >= data_.size()) return std::nullopt;
        const char* begin = reinterpret_cast<const char*>(data_.data()) + offset;
        const void* end = std::memchr(begin, 0, data_.size() - offset);
        if (!end) return std::nullopt;
        return std::string_view(begin, static_cast<const char*>(end) - begin);
    }

private:
    std::span<const std::byte> data_;
};

std::string hex(uint64_t value);                    // "0x1f"
std::string printable(std::string_view untrusted);  // control characters escaped, at most 200 bytes

}  // namespace wj
