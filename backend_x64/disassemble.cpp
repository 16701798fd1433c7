#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/engine.h"

namespace wj::x64 {

std::string disassemble_block(const ir::Block& block, Isa isa, bool checked) {
    BlockCompiler compiler;
    CompiledBlock code;
    CompileOptions options;
    options.avx512 = isa == Isa::Avx512;
    options.checked = checked;
    if (!compiler.compile(block, options, code))
        return "cannot compile: " + compiler.error() + "\n";
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    std::string out;
    size_t next_pc = 0;
    for (uint32_t offset = 0; offset < code.code_size;) {
        for (; next_pc < code.pcs.size() && code.pcs[next_pc].offset <= offset; ++next_pc)
            if (code.pcs[next_pc].guest < block.guest_pcs.size())
                out += fmt::format("; {:#x}\n", block.guest_pcs[code.pcs[next_pc].guest]);
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
                &decoder, code.code + offset, code.code_size - offset, &instruction, operands))) {
            out += fmt::format("{:6x}  (bad)\n", offset++);
            continue;
        }
        char text[192];
        ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                        instruction.operand_count_visible, text, sizeof text,
                                        offset, nullptr);
        out += fmt::format("{:6x}  {}\n", offset, text);
        offset += instruction.length;
    }
    return out;
}

struct DryTranslator::State {
    BlockCompiler compiler;
    CompileOptions options;
    CompiledBlock code;
};

DryTranslator::DryTranslator(Isa isa, bool checked) : state_(std::make_unique<State>()) {
    state_->options.avx512 = isa == Isa::Avx512;
    state_->options.checked = checked;
}

DryTranslator::~DryTranslator() = default;

Result<uint32_t> DryTranslator::translate(const ir::Block& block) {
    if (!state_->compiler.compile(block, state_->options, state_->code))
        return Status(Code::Unimplemented, state_->compiler.error());
    return state_->code.code_size;
}

}  // namespace wj::x64
