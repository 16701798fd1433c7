// Errors as values. No exception crosses a folder boundary and none leaves the C API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace wj {

enum class Code : uint8_t {
    Ok,
    InvalidArgument,    // the caller broke a stated precondition
    NotFound,           // no such file, kernel, symbol, target
    InvalidCodeObject,  // malformed or truncated ELF, bundle, metadata
    UnsupportedTarget,  // well formed, but for a processor or OS ABI that is not emulated
    OutOfMemory,
    OutOfRange,          // a size or limit of the modelled device is exceeded
    GuestFault,          // the guest touched memory it must not touch
    IllegalInstruction,  // bytes that the target's decoder rejects
    Unimplemented,       // a valid instruction or feature that wavejit refuses by name
    Timeout,             // budget exhausted
    Deadlock,            // every wave of a work-group waits and none can go on
    GuestTrap,           // s_trap, assert
    HostError,           // an operating system call failed
};

const char* code_name(Code code);

class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
    static Status ok() { return {}; }
    bool is_ok() const { return code_ == Code::Ok; }
    explicit operator bool() const { return is_ok(); }
    Code code() const { return code_; }
    // Says what was wrong, where, and what to do.
    const std::string& message() const { return message_; }

private:
    Code code_ = Code::Ok;
    std::string message_;
};

// A value or the Status that tells why there is none.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : data_(std::move(value)) {}
    Result(Status status) : data_(std::move(status)) {}
    Result(Code code, std::string message) : data_(Status(code, std::move(message))) {}
    bool is_ok() const { return std::holds_alternative<T>(data_); }
    explicit operator bool() const { return is_ok(); }
    T& value() { return std::get<T>(data_); }
    const T& value() const { return std::get<T>(data_); }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    Status status() const { return is_ok() ? Status() : std::get<Status>(data_); }

private:
    std::variant<T, Status> data_;
};

}  // namespace wj
