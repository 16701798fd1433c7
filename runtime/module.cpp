#include "runtime/module.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "frontend/code_object_bytes.h"
#include "frontend/debug_info.h"
#include "machine/coverage.h"

namespace wj::runtime {
namespace {

// Instructions are fetched from here up to three words at a time: keep the decoder's look-ahead
// mapped.
constexpr uint64_t fetch_slack = 64;

}  // namespace

LoadedKernel loaded_kernel(const KernelInfo& k, uint64_t kernel_object, uint64_t entry) {
    LoadedKernel kernel;
    kernel.name = k.name;
    kernel.kernel_object = kernel_object;
    kernel.entry = entry;
    kernel.group_segment_fixed_size = k.descriptor.group_segment_fixed_size;
    kernel.private_segment_fixed_size = k.descriptor.private_segment_fixed_size;
    kernel.kernarg_size =
        static_cast<uint32_t>(std::min<uint64_t>(k.kernarg_segment_size(), UINT32_MAX));
    kernel.kernarg_align = k.kernarg_segment_align();
    kernel.dynamic_call_stack = k.dynamic_call_stack();
    return kernel;
}

Result<std::shared_ptr<ModuleImpl>> ModuleImpl::parse(std::span<const std::byte> code_object,
                                                      memory::AddressSpace& memory) {
    std::shared_ptr<ModuleImpl> module(new ModuleImpl(memory));
    module->file_.assign(code_object.begin(), code_object.end());  // the caller's bytes may go away
    auto object = parse_code_object(module->file_);
    if (!object) return object.status();
    module->object_ = std::move(*object);
    return module;
}

Result<std::shared_ptr<ModuleImpl>> ModuleImpl::load(std::span<const std::byte> code_object,
                                                     std::string_view target,
                                                     memory::AddressSpace& memory) {
    auto parsed = parse(code_object, memory);
    if (!parsed) return parsed;
    const std::shared_ptr<ModuleImpl>& module = *parsed;
    Status status = module->check_target(target);
    if (status) status = module->place();
    if (status) status = module->fill();
    if (status) status = module->describe();
    if (!status) return status;
    return parsed;
}

Result<std::shared_ptr<ModuleImpl>> ModuleImpl::restore(std::span<const std::byte> code_object,
                                                        uint64_t address, std::string_view target,
                                                        memory::AddressSpace& memory) {
    auto parsed = parse(code_object, memory);
    if (!parsed) return parsed;
    ModuleImpl& module = **parsed;
    Status status = module.check_target(target);
    if (status) status = module.find_size();
    if (!status) return status;
    memory::Allocation allocation;
    if (address % memory::page_size || !memory.find(address, allocation) ||
        allocation.guest != address || allocation.size < module.size_)
        return Status(Code::InvalidArgument, "no memory of " + std::to_string(module.size_) +
                                                 " bytes is at " + hex(address) +
                                                 ", where a code object was");
    module.base_ = address;
    if (status = module.describe(); !status) return status;
    return parsed;
}

Result<std::shared_ptr<ModuleImpl>> ModuleImpl::clone(memory::AddressSpace& memory) const {
    auto parsed = parse(file_, memory);
    if (!parsed) return parsed;
    ModuleImpl& copy = **parsed;
    copy.layout_ = layout_;
    copy.base_ = base_;
    copy.size_ = size_;
    copy.unresolved_ = unresolved_;
    std::call_once(copy.identified_, [&] { copy.identity_ = identity(); });
    if (Status status = copy.describe(); !status) return status;
    return parsed;
}

Status ModuleImpl::check_target(std::string_view target) const {
    auto agent = parse_target_id(target);
    if (agent && can_run_on(object_.target, *agent)) return Status::ok();
    return {Code::UnsupportedTarget,
            "the code object is for " + object_.target.str() + ", but the device is a " +
                std::string(target) +
                "; choose another target (emulated: " + supported_target_names() + ")"};
}

// Of its memory.
Status ModuleImpl::find_size() {
    if (!object_.loadable)
        return {
            Code::InvalidCodeObject,
            "the code object is a relocatable file (ET_REL): link it with ld.lld -shared first"};
    auto layout = layout_code_object(object_);
    if (!layout) return layout.status();
    layout_ = *layout;
    if (layout_.align > 2 * 1024 * 1024)
        return {Code::Unimplemented, "the code object wants an alignment of " + hex(layout_.align) +
                                         " bytes, at most 2 MiB are supported"};
    // allocate() aligns to 4 KiB, from 2 MiB on to 2 MiB.
    size_ = layout_.size + fetch_slack;
    if (layout_.align > memory::page_size) size_ = std::max<uint64_t>(size_, 2 * 1024 * 1024);
    return Status::ok();
}

Status ModuleImpl::place() {
    if (Status status = find_size(); !status) return status;
    auto base = memory_.allocate(size_, memory::read_write | memory::executable, "code object");
    if (!base) return base.status();
    base_ = *base;
    return Status::ok();
}

Status ModuleImpl::fill() {
    auto bytes = image();
    if (!bytes) return bytes.status();
    return load_code_object(object_, layout_, *bytes, base_, {}, &unresolved_);
}

// What is told of it, and the rights of its pages.
Status ModuleImpl::describe() {
    forget_codes();
    for (const KernelInfo& k : object_.kernels) {
        const uint64_t delta = base_ - layout_.base;
        kernels_.push_back(loaded_kernel(k, k.descriptor_address + delta, k.entry_address + delta));
    }
    for (const Symbol& s : object_.symbols)
        if (s.kind == Symbol::Kind::Variable)
            variables_.push_back({s.name, base_ + (s.address - layout_.base), s.size, !s.writable});

    return protect();
}

// The bytes of the loaded segments, for writing.
Result<std::span<std::byte>> ModuleImpl::image() {
    void* bytes = memory_.translate(base_, layout_.size, memory::read_write);
    if (!bytes) return Status(Code::HostError, "the memory of the code object is not accessible");
    return std::span(static_cast<std::byte*>(bytes), layout_.size);
}

Status ModuleImpl::link(const Resolver& resolver) {
    if (unresolved_.empty()) return Status::ok();
    Status status = memory_.protect(base_, size_, memory::read_write | memory::executable);
    if (!status) return status;
    auto bytes = image();
    if (!bytes) return bytes.status();
    const Status linked = link_code_object(object_, layout_, *bytes, base_, resolver, unresolved_);
    status = protect();
    if (!linked) return linked;
    unresolved_.clear();
    return status;
}

void ModuleImpl::forget_codes() {
    codes_ = std::make_unique<KernelCodes>();
    codes_->resize(object_.kernels.size());
}

Status ModuleImpl::patch(uint64_t address, std::span<const std::byte> bytes) {
    const uint64_t at = elf_address(address);
    const auto holds = [&](const Segment& s) {
        return s.executable && at >= s.address && at - s.address <= s.file_size &&
               bytes.size() <= s.file_size - (at - s.address);
    };
    const auto segment = std::ranges::find_if(object_.segments, holds);
    if (segment == object_.segments.end())
        return {Code::InvalidArgument, std::to_string(bytes.size()) + " bytes at " + hex(address) +
                                           " are not in one executable segment of the code object"};
    (void)identity();  // that of the file as it was
    if (Status status = memory_.overwrite(address, bytes); !status) return status;
    const uint64_t offset = segment->file_offset + (at - segment->address);
    std::ranges::copy(bytes, file_.begin() + static_cast<std::ptrdiff_t>(offset));
    forget_codes();
    patches_.fetch_add(1, std::memory_order_relaxed);
    return Status::ok();
}

uint64_t ModuleImpl::identity() const {
    std::call_once(identified_, [this] {
        uint64_t hash = file_.size();
        for (size_t at = 0; at < file_.size(); at += sizeof(uint64_t)) {
            uint64_t word = 0;
            std::memcpy(&word, &file_[at], std::min(sizeof word, file_.size() - at));
            hash = machine::Coverage::mix(hash ^ word);
        }
        identity_ = hash;
    });
    return identity_;
}

uint64_t ModuleImpl::place(uint64_t pc) const {
    return identity() + elf_address(pc);
}

std::string ModuleImpl::file_name() const {
    std::string name;
    if (!object_.kernels.empty()) name = object_.kernels.front().name.substr(0, 64);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    return name + "." + hex(identity()).substr(2) + ".hsaco";
}

std::optional<uint64_t> ModuleImpl::find_definition(std::string_view name) const {
    const Symbol* symbol = object_.find_definition(name);
    if (!symbol) return std::nullopt;
    return symbol->absolute ? symbol->address : base_ + (symbol->address - layout_.base);
}

// Kernels write only to pages with segments that may be written, and only those with code are
// executed, whatever the sizes. Where two segments share a page it has the rights of both.
// Constants with a name may be written, too: programs set them (hipMemcpyToSymbol), and HIP 6 does
// that by a kernel. Code never is.
Status ModuleImpl::protect() {
    using memory::page_size;
    std::vector<uint32_t> rights(size_ / page_size + 1, memory::no_access);
    for (const Segment& s : object_.segments) {
        if (!s.memory_size) continue;
        const uint64_t begin = s.address - layout_.base;
        const uint32_t of_segment = memory::readable | (s.writable ? memory::writable : 0u) |
                                    (s.executable ? memory::executable : 0u);
        for (uint64_t page = begin / page_size; page <= (begin + s.memory_size - 1) / page_size;
             ++page)
            rights[page] |= of_segment;
    }
    for (const Variable& v : variables_) {
        // A symbol says where it lies and how large it is, true or not.
        const uint64_t begin = v.address - base_;
        if (begin >= layout_.size || v.size > layout_.size - begin) continue;
        for (uint64_t at = begin & ~(page_size - 1); at < begin + v.size; at += page_size)
            if (!(rights[at / page_size] & memory::executable))
                rights[at / page_size] |= memory::writable;
    }
    const uint64_t pages = (size_ + page_size - 1) / page_size;
    for (uint64_t page = 0; page < pages; ++page)  // what code is fetched beyond its end, too
        if (!rights[page])
            rights[page] = memory::readable | (page ? rights[page - 1] & memory::executable : 0u);
    for (uint64_t page = 0, end = 0; page < pages; page = end) {
        while (end < pages && rights[end] == rights[page]) ++end;
        Status status =
            memory_.protect(base_ + page * page_size, (end - page) * page_size, rights[page]);
        if (!status) return status;
    }
    return Status::ok();
}

ModuleImpl::~ModuleImpl() {
    if (!base_) return;
    if (on_unload) on_unload(*this);
    (void)memory_.free(base_);
}

const LoadedKernel* ModuleImpl::find_kernel(std::string_view name) const {
    if (name.ends_with(".kd")) name.remove_suffix(3);
    for (const LoadedKernel& kernel : kernels_)
        if (kernel.name == name) return &kernel;
    return nullptr;
}

const KernelInfo* ModuleImpl::kernel_at(uint64_t kernel_object) const {
    for (size_t i = 0; i < kernels_.size(); i++)
        if (kernels_[i].kernel_object == kernel_object) return &object_.kernels[i];
    return nullptr;
}

std::optional<SymbolLocation> ModuleImpl::symbol_at(uint64_t pc) const {
    if (!contains(pc)) return std::nullopt;
    return find_symbol_location(object_, elf_address(pc));
}

const DebugInfo& ModuleImpl::lines() const {
    std::call_once(lines_read_, [this] { lines_ = DebugInfo::read(object_); });
    return lines_;
}

const SourceScopes& ModuleImpl::scopes() const {
    std::call_once(scopes_read_, [this] { scopes_ = SourceScopes::read(object_); });
    return scopes_;
}

bool ModuleImpl::in_kernel(uint64_t entry, uint64_t pc) const {
    for (size_t i = 0; i < kernels_.size(); i++)
        if (kernels_[i].entry == entry) return pc - entry < object_.kernels[i].code_size;
    return false;
}

std::shared_ptr<const ModuleImpl> ModuleImpl::holder(const std::shared_ptr<ModuleImpl>& module,
                                                     uint64_t pc) {
    if (!module || module->contains(pc)) return module;
    for (const auto& used : module->uses)
        if (auto found = holder(used, pc)) return found;
    return nullptr;
}

std::string ModuleImpl::where(uint64_t pc) const {
    const auto location = symbol_at(pc);
    return location ? location->text() : std::string();
}

}  // namespace wj::runtime
