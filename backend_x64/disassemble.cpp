#include <fmt/format.h>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/engine.h"
#include "backend_x64/host_listing.h"

namespace wj::x64 {

std::string disassemble_block(const ir::Block& block, Isa isa) {
    CompileOptions options;
    options.avx512 = isa == Isa::Avx512;
    return disassemble_block(block, options);
}

std::string disassemble_block(const ir::Block& block, const CompileOptions& options,
                              const std::function<std::string(uint64_t)>& guest_text) {
    BlockCompiler compiler;
    CompiledBlock code;
    if (!compiler.compile(block, options, code))
        return "cannot compile: " + compiler.error() + "\n";
    std::string out;
    uint32_t guest = ~0u;
    auto name = [&](uint64_t pc) { return guest_text ? guest_text(pc) : fmt::format("{:#x}", pc); };
    for (const HostLine& line : list_host_code(code)) {
        if (line.guest != guest && line.guest < block.guest_pcs.size())
            out += "; " + name(block.guest_pcs[line.guest]) + "\n";
        guest = line.guest;
        out += (line.label ? "  " : "      ") + line.text + "\n";
    }
    return out;
}

std::string plan_of_block(const ir::Block& block, const CompileOptions& options,
                          const std::function<std::string(uint64_t)>& guest_text) {
    BlockCompiler compiler;
    CompiledBlock code;
    CompileOptions watched = options;
    Decisions decisions;
    watched.decisions = &decisions;
    if (!compiler.compile(block, watched, code))
        return "  cannot compile: " + compiler.error() + "\n";
    return decisions.print(block, guest_text);
}

struct DryTranslator::State {
    BlockCompiler compiler;
    CompileOptions options;
    CompiledBlock code;
};

DryTranslator::DryTranslator(Isa isa, bool checked) : state_(std::make_unique<State>()) {
    state_->options.avx512 = isa == Isa::Avx512;
    state_->options.address_mode = address_mode(checked, false);
}

DryTranslator::~DryTranslator() = default;

Result<DryTranslator::Bytes> DryTranslator::translate(const ir::Block& block) {
    if (!state_->compiler.compile(block, state_->options, state_->code))
        return Status(Code::Unimplemented, state_->compiler.error());
    const CompiledBlock& code = state_->code;
    return Bytes{code.hot_size, code.code_size - code.hot_size, code.size - code.code_size};
}

}  // namespace wj::x64
