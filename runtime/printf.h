// What kernels print by OpenCL C's printf: the buffer that hidden_printf_buffer points at, and its
// text. Source: the value kind in LLVM's "User Guide for AMDGPU Backend", "amdhsa.printf"; the
// compiler's own part is its pass AMDGPUPrintfRuntimeBinding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontend/code_object.h"
#include "memory/address_space.h"

namespace wj::runtime {

// A buffer of one dispatch: a dword with the bytes used, one with the bytes there are, messages.
// A message that does not fit is lost, and printf returns -1 in the kernel.
class PrintfBuffer {
public:
    // Whether the kernel has the argument and its code object strings to print.
    static bool wanted(const KernelInfo& kernel, const std::vector<std::string>& formats);

    static Result<PrintfBuffer> make(memory::AddressSpace& memory,
                                     const std::vector<std::string>& formats);
    PrintfBuffer(PrintfBuffer&& other) noexcept;
    PrintfBuffer& operator=(PrintfBuffer&&) = delete;
    ~PrintfBuffer();

    uint64_t address() const { return address_; }
    // All messages so far, in the order in which kernels asked for room.
    std::string text() const;
    // What it holds, and that it holds this once more.
    std::vector<std::byte> save() const;
    void restore(const std::vector<std::byte>& saved);

private:
    PrintfBuffer(memory::AddressSpace& memory, uint64_t address,
                 const std::vector<std::string>& formats)
        : memory_(&memory), address_(address), formats_(&formats) {}
    memory::AddressSpace* memory_;
    uint64_t address_;
    const std::vector<std::string>* formats_;  // of the code object's metadata
};

// The text of `messages`: dwords, each message an id and the arguments of the printf that has it.
// What follows an id that no format has is not understood, which the text says, too.
std::string printf_text(const std::vector<std::string>& formats,
                        std::span<const std::byte> messages);

}  // namespace wj::runtime
