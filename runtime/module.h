// A code object in guest memory.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "frontend/code_object.h"
#include "frontend/debug_info.h"
#include "frontend/source_scopes.h"
#include "runtime/device.h"
#include "runtime/kernel_code.h"

namespace wj::runtime {

// What a program is told of a kernel whose descriptor and code are at these addresses.
LoadedKernel loaded_kernel(const KernelInfo& kernel, uint64_t kernel_object, uint64_t entry);

class ModuleImpl final : public Module {
public:
    static Result<std::shared_ptr<ModuleImpl>> load(std::span<const std::byte> code_object,
                                                    std::string_view target,
                                                    memory::AddressSpace& memory);
    // One whose memory is there already, as it was when it was captured.
    static Result<std::shared_ptr<ModuleImpl>> restore(std::span<const std::byte> code_object,
                                                       uint64_t address, std::string_view target,
                                                       memory::AddressSpace& memory);
    // The same in a copy of its memory (memory/clone.h), without `uses`.
    Result<std::shared_ptr<ModuleImpl>> clone(memory::AddressSpace& memory) const;
    ~ModuleImpl() override;

    const std::vector<LoadedKernel>& kernels() const override { return kernels_; }
    const LoadedKernel* find_kernel(std::string_view name) const override;
    const std::vector<Variable>& variables() const override { return variables_; }
    std::optional<uint64_t> find_definition(std::string_view name) const override;
    bool linked() const override { return unresolved_.empty(); }
    Status link(const Resolver& resolver) override;
    uint64_t load_address() const override { return base_; }
    uint64_t load_size() const override { return layout_.size; }
    std::span<const std::byte> file_bytes() const override { return file_; }
    const CodeObject& object() const override { return object_; }

    KernelCode code_of(const KernelInfo& kernel, const Target& target) {
        return codes_->of(object_, kernel, target);
    }
    // Its executable bytes at this guest address become others, here and in the file's copy; what
    // engines have of them is the caller's to drop. No launch is being made. InvalidArgument: they
    // are not all in an executable segment.
    Status patch(uint64_t address, std::span<const std::byte> bytes);
    uint32_t patches() const { return patches_.load(std::memory_order_relaxed); }
    // The kernel whose kernel object is at this guest address; null = none.
    const KernelInfo* kernel_at(uint64_t kernel_object) const;
    bool contains(uint64_t address) const { return address - base_ < layout_.size; }
    uint64_t elf_address(uint64_t guest) const { return guest - base_ + layout_.base; }
    uint64_t guest_address(uint64_t elf) const { return elf - layout_.base + base_; }
    std::optional<SymbolLocation> symbol_at(uint64_t pc) const;
    std::string where(uint64_t pc) const;  // "function+0x10", or empty
    const DebugInfo& lines() const;        // read when first asked for
    const SourceScopes& scopes() const;    // the same
    // Whether `pc` is in the kernel itself that begins at `entry`.
    bool in_kernel(uint64_t entry, uint64_t pc) const;
    // `module`, or one that it uses, whose code is at `pc`; or null.
    static std::shared_ptr<const ModuleImpl> holder(const std::shared_ptr<ModuleImpl>& module,
                                                    uint64_t pc);
    // A number for `pc` that is the same in every process (machine::Coverage::place).
    uint64_t place(uint64_t pc) const;
    // A name for the code object that is the same in every process: a kernel's, and a number.
    std::string file_name() const;

    // The device goes away before the module: its memory is freed with the address space.
    void detach() {
        base_ = 0;
        on_unload = nullptr;
    }

    // Called before the memory goes away.
    std::function<void(ModuleImpl&)> on_unload;

    std::vector<std::shared_ptr<ModuleImpl>> uses;  // whose definitions this one refers to

    // What launches so far have shown of a kernel. Only the last one is remembered: a guess need
    // not be right.
    class Trait {
    public:
        bool of(uint64_t kernel_object) const {
            return kernel_.load(std::memory_order_relaxed) == kernel_object;
        }
        void note(uint64_t kernel_object, bool has) {
            if (has)
                kernel_.store(kernel_object, std::memory_order_relaxed);
            else
                kernel_.compare_exchange_strong(kernel_object, 0, std::memory_order_relaxed);
        }

    private:
        std::atomic<uint64_t> kernel_{0};
    };
    Trait stores_columns;  // ExecContext::columns_cut
    Trait contended;       // faster on one thread (Contention)

private:
    explicit ModuleImpl(memory::AddressSpace& memory) : memory_(memory) {}
    static Result<std::shared_ptr<ModuleImpl>> parse(std::span<const std::byte> code_object,
                                                     memory::AddressSpace& memory);
    uint64_t identity() const;
    void forget_codes();
    Status check_target(std::string_view target) const;
    Status find_size();
    Status place();
    Status fill();
    Status describe();
    Result<std::span<std::byte>> image();
    Status protect();

    memory::AddressSpace& memory_;
    std::vector<std::byte> file_;
    CodeObject object_;
    ImageLayout layout_;
    uint64_t base_ = 0;
    uint64_t size_ = 0;                   // of the memory at base_
    std::vector<Relocation> unresolved_;  // those that wait for link()
    std::vector<LoadedKernel> kernels_;   // same order as object_.kernels
    std::vector<Variable> variables_;
    mutable std::once_flag lines_read_;
    mutable DebugInfo lines_;
    mutable std::once_flag scopes_read_;
    mutable SourceScopes scopes_;
    mutable std::once_flag identified_;
    mutable uint64_t identity_ = 0;  // of the file's bytes, from identified_ on
    std::unique_ptr<KernelCodes> codes_;
    std::atomic<uint32_t> patches_{0};
};

}  // namespace wj::runtime
