#include "backend_x64/host_listing.h"

#include <Zycore/Zycore.h>
#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "backend_x64/frame.h"
#include "common/optional_library.h"

namespace wj::x64 {
namespace {

using machine::Wave;

// ---- names of memory
// ------------------------------------------------------------------------------------------

struct Field {
    const char* name;
    size_t offset, size, element;  // element: 0 = not an array
};
#define WJ_FIELD(type, name) \
    { #name, offsetof(type, name), sizeof(type::name), 0 }
#define WJ_ARRAY(type, name) \
    { #name, offsetof(type, name), sizeof(type::name), sizeof(std::declval <type>().name[0]) }

constexpr Field wave_fields[] = {
    WJ_FIELD(Wave, vgpr),      WJ_FIELD(Wave, agpr),          WJ_FIELD(Wave, pc),
    WJ_FIELD(Wave, scc),       WJ_FIELD(Wave, mode),          WJ_FIELD(Wave, budget),
    WJ_FIELD(Wave, lds),       WJ_FIELD(Wave, lds_size),      WJ_FIELD(Wave, scratch),
    WJ_FIELD(Wave, ctx),       WJ_FIELD(Wave, scratch_bytes), WJ_FIELD(Wave, exit),
    WJ_FIELD(Wave, trapsts),   WJ_FIELD(Wave, status),        WJ_FIELD(Wave, hw_id),
    WJ_FIELD(Wave, lds_alloc), WJ_ARRAY(Wave, row_shapes),    WJ_ARRAY(Wave, upper_row_shapes)};
constexpr Field frame_fields[] = {
    WJ_FIELD(Frame, link_stub),      WJ_FIELD(Frame, budget_stub),
    WJ_FIELD(Frame, call_stub),      WJ_FIELD(Frame, leave_stub),
    WJ_FIELD(Frame, indirect_stub),  WJ_FIELD(Frame, turn_stub),
    WJ_FIELD(Frame, memory_stub),    WJ_FIELD(Frame, division_stub),
    WJ_FIELD(Frame, uload32_stub),   WJ_FIELD(Frame, again_stub),
    WJ_FIELD(Frame, settle_stub),    WJ_FIELD(Frame, uload64_stub),
    WJ_FIELD(Frame, jump_table),     WJ_FIELD(Frame, shapes_stub),
    WJ_FIELD(Frame, gather_stub),    WJ_FIELD(Frame, spread_stub),
    WJ_FIELD(Frame, regather_stub),  WJ_ARRAY(Frame, constants),
    WJ_FIELD(Frame, lane_id),        WJ_ARRAY(Frame, tables),
    WJ_FIELD(Frame, address_lo),     WJ_FIELD(Frame, address_hi),
    WJ_ARRAY(Frame, data),           WJ_FIELD(Frame, address_base),
    WJ_FIELD(Frame, mask),           WJ_FIELD(Frame, buffer_limit),
    WJ_FIELD(Frame, scattered),      WJ_FIELD(Frame, lane_hosts),
    WJ_FIELD(Frame, saved_vectors),  WJ_ARRAY(Frame, spills),
    WJ_ARRAY(Frame, temps),          WJ_FIELD(Frame, prefetch_items),
    WJ_FIELD(Frame, prefetch_row),   WJ_FIELD(Frame, prefetch_rows),
    WJ_FIELD(Frame, columns_wait),   WJ_FIELD(Frame, kept),
    WJ_FIELD(Frame, kept_epoch),     WJ_ARRAY(Frame, lane_bits),
    WJ_FIELD(Frame, not_streamed),   WJ_FIELD(Frame, ahead_stub),
    WJ_FIELD(Frame, fewer_stub),     WJ_FIELD(Frame, even_row_stub),
    WJ_FIELD(Frame, rows_stub),      WJ_FIELD(Frame, together_stub),
    WJ_FIELD(Frame, step_stub),      WJ_FIELD(Frame, step_ids_stub),
    WJ_FIELD(Frame, access_stub),    WJ_FIELD(Frame, column_stub),
    WJ_FIELD(Frame, open_rows_stub), WJ_FIELD(Frame, store_rows_stub),
    WJ_FIELD(Frame, row_order_stub), WJ_ARRAY(Frame, row_lanes),
    WJ_FIELD(Frame, reach),          WJ_FIELD(Frame, stub_access),
};
#undef WJ_FIELD
#undef WJ_ARRAY

std::string plus(int64_t rest) {
    return rest ? fmt::format("{:+}", rest) : "";
}

template <size_t N>
std::string field_name(const char* structure, const Field (&fields)[N], int64_t offset) {
    for (const Field& f : fields) {
        const int64_t at = offset - static_cast<int64_t>(f.offset);
        if (at < 0 || at >= static_cast<int64_t>(f.size)) continue;
        if (!f.element) return f.name + plus(at);
        const auto element = static_cast<int64_t>(f.element);
        return fmt::format("{} {}{}", f.name, at / element, plus(at % element));
    }
    return structure + plus(offset);
}

std::string sgpr_name(int64_t offset) {
    static constexpr std::pair<uint32_t, const char*> special[] = {
        {machine::vcc_lo, "vcc_lo"},
        {machine::vcc_lo + 1, "vcc_hi"},
        {machine::m0, "m0"},
        {machine::exec_lo, "exec_lo"},
        {machine::exec_lo + 1, "exec_hi"},
        {Wave::first_exec, "first_exec_lo"},
        {Wave::first_exec + 1, "first_exec_hi"}};
    for (const auto& [index, name] : special)
        if (offset / 4 == index) return name + plus(offset % 4);
    return fmt::format("s{}{}", offset / 4, plus(offset % 4));
}

// A row of registers: `offset` from the first one, for the chunk in rbp.
std::string row_name(char kind, int64_t offset) {
    return fmt::format("{}{}{}", kind, offset / 256, plus(offset % 256));
}

// `at`: from the address in the frame's register.
std::string frame_name(int64_t at) {
    const int64_t offset = at + static_cast<int64_t>(frame_bias);
    const int64_t slots = offset - static_cast<int64_t>(offsetof(Frame, slots));
    if (slots < 0 || slots >= static_cast<int64_t>(sizeof(Frame::slots)))
        return field_name("frame", frame_fields, offset);
    return fmt::format("slots {}{}", slot_count - 1 - slots / 8, plus(slots % 8));
}

// rbp counts up to 0, r14 as well (asm/block_compiler.h).
constexpr int64_t chunk_bias = 256, bits_bias = 8, rows_bias = 8192,
                  wave_bias = offsetof(Wave, sgpr);

// Nothing when the operand is no place that has a name.
std::string place(const ZydisDecodedOperandMem& m) {
    const int64_t at = m.disp.has_displacement ? m.disp.value : 0;
    const bool plain = m.index == ZYDIS_REGISTER_NONE;
    const bool chunk = m.index == ZYDIS_REGISTER_RBP && m.scale == 1;
    const bool bits = m.index == ZYDIS_REGISTER_R14 && m.scale == 1;
    switch (m.base) {
        case ZYDIS_REGISTER_R12:
            if (chunk) return row_name('v', at - chunk_bias + rows_bias);
            break;
        case ZYDIS_REGISTER_R15:
            if (chunk) return row_name('a', at - chunk_bias);
            break;
        case ZYDIS_REGISTER_R13:
            if (plain) return frame_name(at);
            if (chunk) return frame_name(at - chunk_bias) + " of chunk";
            if (bits) return frame_name(at - bits_bias) + " of chunk";
            break;
        case ZYDIS_REGISTER_RBX: {
            if (!plain && !bits) break;
            const int64_t offset = bits ? at - bits_bias : at;
            const std::string name =
                offset >= 0 && offset < static_cast<int64_t>(sizeof(Wave::sgpr))
                    ? sgpr_name(offset)
                    : field_name("wave", wave_fields, offset + wave_bias);
            return bits ? name + " of chunk" : name;
        }
        default:
            break;
    }
    return {};
}

// ---- Zydis
// ------------------------------------------------------------------------------------------

// Debian has no archive of Zydis and of its base library, and only listings need them. Structs
// differ between minor versions.
template <uint64_t version>
std::string numbered(const char* name) {
    return fmt::format("{}{}.{}", name, ZYDIS_VERSION_MAJOR(version), ZYDIS_VERSION_MINOR(version));
}

struct Zydis : OptionalLibrary {
    Zydis()
        : OptionalLibrary(numbered<ZYDIS_VERSION>("libZydis.so."),
                          numbered<ZYDIS_VERSION>("libzydis")) {}
    WJ_OPTIONAL_FUNCTION(ZydisCalcAbsoluteAddress);
    WJ_OPTIONAL_FUNCTION(ZydisDecoderDecodeFull);
    WJ_OPTIONAL_FUNCTION(ZydisDecoderInit);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterBufferAppend);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterBufferGetString);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterFormatInstruction);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterInit);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterSetHook);
    WJ_OPTIONAL_FUNCTION(ZydisFormatterSetProperty);
};

struct Zycore : OptionalLibrary {
    Zycore()
        : OptionalLibrary(numbered<ZYCORE_VERSION>("libZycore.so."),
                          numbered<ZYCORE_VERSION>("libzycore")) {}
    WJ_OPTIONAL_FUNCTION(ZyanStringAppend);
    WJ_OPTIONAL_FUNCTION(ZyanStringViewInsideBuffer);
};

// Never destroyed: HIP's exit handlers come after ours.
template <class Library>
const Library& opened() {
    static const Library& library = *new Library;
    return library;
}
const Zydis& zydis() {
    return opened<Zydis>();
}
const Zycore& zycore() {
    return opened<Zycore>();
}

struct Names {
    const CompiledBlock& code;
    std::map<uint64_t, uint32_t> labels, constants;  // numbers by offset
    ZydisFormatterFunc memory = nullptr, typecast = nullptr, address = nullptr;

    // Constants in the order in which they are named, single dwords with their value.
    std::string constant(const ZydisFormatterContext& c, uint64_t at) {
        const bool dword = c.operand->size == 32 ||
                           (c.instruction->avx.broadcast.mode && c.operand->element_size == 32);
        if (dword && at + 4 <= code.size) {
            uint32_t value;
            std::memcpy(&value, code.code + at, 4);
            return fmt::format("={:#x}", value);
        }
        const auto next = static_cast<uint32_t>(constants.size());
        return fmt::format("constant {}", constants.try_emplace(at, next).first->second);
    }
};

uint64_t absolute(const ZydisFormatterContext& c) {
    ZyanU64 at = 0;
    zydis().ZydisCalcAbsoluteAddress(c.instruction, c.operand, c.runtime_address, &at);
    return at;
}

ZyanStatus append(ZydisFormatterBuffer* buffer, const std::string& text) {
    ZyanString* string = nullptr;
    ZyanStringView view;
    ZyanStatus status = zydis().ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_USER);
    if (ZYAN_SUCCESS(status)) status = zydis().ZydisFormatterBufferGetString(buffer, &string);
    if (ZYAN_SUCCESS(status)) status = zycore().ZyanStringViewInsideBuffer(&view, text.c_str());
    return ZYAN_SUCCESS(status) ? zycore().ZyanStringAppend(string, &view) : status;
}

ZyanStatus format_memory(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                         ZydisFormatterContext* context) {
    auto& names = *static_cast<Names*>(context->user_data);
    const ZydisDecodedOperandMem& m = context->operand->mem;
    const std::string name =
        m.base == ZYDIS_REGISTER_RIP ? names.constant(*context, absolute(*context)) : place(m);
    if (name.empty()) return names.memory(formatter, buffer, context);
    const bool sized = m.type == ZYDIS_MEMOP_TYPE_MEM || m.type == ZYDIS_MEMOP_TYPE_VSIB;
    const ZyanStatus typed =
        sized ? names.typecast(formatter, buffer, context) : ZYAN_STATUS_SUCCESS;
    return ZYAN_SUCCESS(typed) ? append(buffer, "[" + name + "]") : typed;
}

ZyanStatus print_address(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                         ZydisFormatterContext* context) {
    auto& names = *static_cast<Names*>(context->user_data);
    const auto label = names.labels.find(absolute(*context));
    if (label == names.labels.end()) return names.address(formatter, buffer, context);
    return append(buffer, fmt::format("L{}", label->second));
}

// body(run, offset, instruction or null, operands)
template <class Body>
void each_instruction(const CompiledBlock& code, Body&& body) {
    ZydisDecoder decoder;
    zydis().ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const CountedRun whole{.begin = 0, .end = code.code_size, .counter = nullptr};
    const size_t runs = std::max<size_t>(code.runs.size(), 1);
    for (uint32_t r = 0; r < runs; ++r) {
        const CountedRun& run = code.runs.empty() ? whole : code.runs[r];
        for (uint32_t at = run.begin; at < run.end;) {
            const bool good = ZYAN_SUCCESS(zydis().ZydisDecoderDecodeFull(
                &decoder, code.code + at, run.end - at, &instruction, operands));
            body(r, at, good ? &instruction : nullptr, operands);
            at += good ? instruction.length : 1;
        }
    }
}

}  // namespace

const std::string& host_listing_missing() {
    return zydis().missing().empty() ? zycore().missing() : zydis().missing();
}

std::vector<HostLine> list_host_code(const CompiledBlock& code) {
    if (!host_listing_missing().empty())
        return {{0, 0, "(host code " + host_listing_missing() + ")"}};
    Names names{code, {}, {}};
    each_instruction(code, [&](uint32_t, uint32_t at, const ZydisDecodedInstruction* instruction,
                               const ZydisDecodedOperand* operands) {
        if (!instruction || !operands[0].imm.is_relative ||
            operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return;
        ZyanU64 to = 0;
        zydis().ZydisCalcAbsoluteAddress(instruction, &operands[0], at, &to);
        names.labels[to] = 0;
    });
    uint32_t number = 0;
    for (auto& [at, label] : names.labels) label = ++number;

    ZydisFormatter formatter;
    zydis().ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    zydis().ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS,
                                      ZYDIS_SIGNEDNESS_SIGNED);
    auto hook = [&](ZydisFormatterFunction what, ZydisFormatterFunc with) {
        const void* function = reinterpret_cast<const void*>(with);
        zydis().ZydisFormatterSetHook(&formatter, what, &function);
        return reinterpret_cast<ZydisFormatterFunc>(const_cast<void*>(function));
    };
    names.memory = hook(ZYDIS_FORMATTER_FUNC_FORMAT_OPERAND_MEM, &format_memory);
    names.address = hook(ZYDIS_FORMATTER_FUNC_PRINT_ADDRESS_ABS, &print_address);
    names.typecast = formatter.func_print_typecast;

    std::vector<HostLine> lines;
    size_t next_pc = 0;
    uint32_t guest = ~0u;
    each_instruction(
        code, [&](uint32_t run, uint32_t at, const ZydisDecodedInstruction* instruction,
                  const ZydisDecodedOperand* operands) {
            for (; next_pc < code.pcs.size() && code.pcs[next_pc].offset <= at; ++next_pc)
                guest = code.pcs[next_pc].guest;
            // A jump leads to the counter in front of the run.
            auto label = names.labels.upper_bound(at);
            const uint64_t from = code.runs.empty() ? at : run ? code.runs[run - 1].end : 0;
            if (label != names.labels.begin() && std::prev(label)->first >= from &&
                (code.runs.empty() || at == code.runs[run].begin))
                lines.push_back({guest, run, fmt::format("L{}:", std::prev(label)->second), true});
            char text[192];
            if (!instruction ||
                !ZYAN_SUCCESS(zydis().ZydisFormatterFormatInstruction(
                    &formatter, instruction, operands, instruction->operand_count_visible, text,
                    sizeof text, at, &names))) {
                lines.push_back({guest, run, "(bad)"});
                return;
            }
            lines.push_back({guest, run, text});
        });
    return lines;
}

}  // namespace wj::x64
