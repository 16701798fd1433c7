// FLAT, GLOBAL, SCRATCH, MUBUF and DS loads and stores. Typed and indexed buffer accesses are
// calls.
#include <optional>
#include <utility>

#include "frontend/buffer_layout.h"
#include "frontend/coherence.h"
#include "ir/buffer.h"
#include "lift/address.h"

namespace wj::lift {
namespace {

using ir::Access;
using ir::make_aux;
using machine::BufferLayout;

// How a loaded value reaches its register: whole, or as one half (d16). The other half is kept, or
// 0 where Traits::sramecc.
enum class D16 { None, Low, High };

void write_loaded(Lifter& l, const Inst& i, Value tuple, uint32_t dwords, D16 d16) {
    const bool sramecc = l.options.target->traits.sramecc;
    for (uint32_t d = 0; d < dwords; ++d) {
        Value v = l.emit(Op::Elem, {tuple}, d);
        if (d16 == D16::High) v = l.emit(Op::Shl32, {v, l.c32(16)});
        const auto halves = [&](Value low, Value high) {
            return l.emit(Op::Bitop3, {l.c32(0xffff), low, high}, 0xca);
        };
        if (d16 == D16::Low && sramecc)
            v = l.emit(Op::And32, {v, l.c32(0xffff)});
        else if (d16 == D16::Low)
            v = halves(v, l.raw(i.dst[0]));
        else if (d16 == D16::High && !sramecc)
            v = halves(l.raw(i.dst[0]), v);
        l.write(i.dst[0], v, d);
    }
}

// Stores take their data in args[4..7].
void emit_store(Lifter& l, Op op, std::initializer_list<Value> head, const Operand& data,
                uint32_t first, uint32_t dwords, uint64_t imm, Access access, uint32_t aux = 0) {
    std::array<Value, 8> args;
    args.fill(no_value);
    std::copy(head.begin(), head.end(), args.begin());
    for (uint32_t d = 0; d < dwords; ++d) args[4 + d] = l.raw(data, first + d);
    l.emit(op, {args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7]}, imm,
           make_aux(access, dwords) | aux);
}

// GLOBAL: a uniform base (or none) and the lanes' offsets.
struct GlobalAddress {
    Value base = no_value, lanes;
};
GlobalAddress global_address(Lifter& l, const Inst& i) {
    const bool has_base = i.sbase().is(Operand::Kind::Sgpr) && !is_summed_address(l, i);
    const Value base = has_base ? l.s64(i.sbase()) : no_value;
    const Value lanes = has_base ? l.raw(i.vaddr()) : whole_address(l, i);
    const auto line = l.affine ? l.affine->address(lanes, has_base) : std::nullopt;
    if (!line) return {base, lanes};
    Value first = line->base;
    Affine::Motion next = line->next;
    if (has_base) {
        first = l.emit(Op::UAdd64, {base, l.emit(Op::UZext32, {first})});
        next = l.affine->behind(base, next);
    }
    // Offsets are unsigned.
    const int64_t below = std::max<int64_t>(0, -line->stride) * (machine::lanes - 1);
    if (below) first = l.emit(Op::USub64, {first, l.s.const64(static_cast<uint64_t>(below))});
    l.affine->goes_on(first, next);
    if (line->flat()) return {no_value, l.emit(Op::Splat64, {first})};
    const Value step = has_base ? line->step : l.emit(Op::ULo, {line->step});
    return {first, l.affine->as_operand({l.s.const32(static_cast<uint32_t>(below)), line->stride,
                                         step, line->width})};
}

// SCRATCH: one of saddr and vaddr, or neither.
Value scratch_address(Lifter& l, const Inst& i) {
    Value v = no_value;
    if (i.vaddr().is(Operand::Kind::Vgpr)) v = l.raw(i.vaddr());
    if (const uint32_t bytes = offset_unit(i); bytes != 1 && v != no_value)
        v = l.emit(Op::Mul32, {v, l.c32(bytes)});
    if (i.sbase().is(Operand::Kind::Sgpr)) {
        const Value base = l.s.splat(l.s32(i.sbase()));
        v = v == no_value ? base : l.emit(Op::Add32, {v, base});
    }
    return v == no_value ? l.c32(0) : v;
}

// BufferLimit of gfx10 (ir/buffer.h). bytes: of an access, at most 4 of which are checked at once.
Value limit_by_oob_select(Lifter& l, Value low, Value high, Value soffset, uint32_t bytes) {
    const auto c = [&](uint32_t v) { return l.s.const32(v); };
    const auto field = [&](Value dword, machine::BufferField f) {
        return l.emit(Op::UAnd32, {l.emit(Op::UShr32, {dword, c(f.shift())}), c(f.mask())});
    };
    const BufferLayout layout = buffer_layout(l.options.target->traits);
    constexpr machine::BufferFields words = ir::buffer_words;
    const auto either = [&](Value condition, Value a, Value b) {
        return l.emit(Op::USelect32, {condition, a, b});
    };
    const Value records = l.emit(Op::ULo, {high}), word1 = l.emit(Op::UHi, {low}),
                word3 = l.emit(Op::UHi, {high});
    const Value select = field(word3, machine::fields_of(layout).oob_select);
    const Value raw = l.emit(Op::UCmpEq32, {select, c(ir::raw)});
    const Value by_lane =
        l.emit(Op::UOr32, {field(word1, words.swizzle), field(word3, words.add_tid)});
    // Of a plain buffer lanes have index 0. What begins in range is: the limit lies as far behind
    // that as what is checked at once is long.
    const Value within = either(l.emit(Op::UCmpEq32, {select, c(ir::structured_with_offset)}),
                                field(word1, words.stride), c(~0u));
    const Value indexed = either(l.emit(Op::UCmpEq32, {records, c(0)}), c(0), within);
    const uint32_t more = std::min(bytes, 4u) - 1;
    const Value plain = l.emit(
        Op::UAdd32, {l.emit(Op::UMinU32, {either(raw, records, indexed), c(~0u - more)}), c(more)});
    // Gfx10 has nothing in the bits where BufferWords puts the elements' size.
    const uint32_t format_bits =
        words.stride_high.dword_mask() |
        (layout == BufferLayout::Gfx10 ? ir::buffer_element.dword_mask() : 0);
    const Value flags =
        l.emit(Op::UOr32,
               {l.emit(Op::UAnd32, {word3, c(~format_bits)}),
                either(by_lane, l.emit(Op::UShl32, {select, c(words.stride_high.shift())}), c(0))});
    const Value limit =
        l.emit(Op::BufferLimit, {low, l.emit(Op::UPack64, {either(by_lane, records, plain), flags}),
                                 either(raw, soffset, c(0))});
    return l.emit(Op::UOr64,
                  {limit, l.emit(Op::USelect64,
                                 {by_lane, l.s.const64(ir::buffer_oob_select), l.s.const64(0)})});
}

// gfx11's V# says how large the elements are that swizzling keeps together, where others say
// whether there is any. Here the word has the bit of the others, and the size is in the last word.
struct BufferWords {
    Value low, high;    // what BufferLimit takes
    Value low_of_base;  // what BufferBase takes: private segments have elements of a dword
    BufferWords(Lifter& l, uint32_t descriptor)
        : low(l.s.get64(descriptor)), high(l.s.get64(descriptor + 2)), low_of_base(low) {
        const BufferLayout layout = buffer_layout(l.options.target->traits);
        const machine::BufferField swizzle = machine::fields_of(layout).swizzle;
        if (swizzle.bits == 1) return;
        const auto c = [&](uint32_t v) { return l.s.const32(v); };
        const Value word1 = l.emit(Op::UHi, {low}), words0 = l.emit(Op::ULo, {low}),
                    kind = l.emit(Op::UShr32, {word1, c(swizzle.shift())}),
                    plain = l.emit(Op::UAnd32, {word1, c(~swizzle.dword_mask())});
        const auto with_swizzle = [&](Value condition) {
            return l.emit(
                Op::UPack64,
                {words0,
                 l.emit(Op::UOr32,
                        {plain,
                         l.emit(Op::UShl32, {condition, c(ir::buffer_words.swizzle.shift())})})});
        };
        const Value any = l.emit(Op::UCmpNe32, {kind, c(0)});
        low = with_swizzle(any);
        low_of_base = with_swizzle(l.emit(Op::UCmpEq32, {kind, c(1)}));
        const Value size = l.emit(Op::USub32, {kind, any});  // 0: 4 bytes, 1: 8, 2: 16
        const Value word3 = l.emit(
            Op::UOr32,
            {l.emit(Op::UAnd32, {l.emit(Op::UHi, {high}), c(~ir::buffer_element.dword_mask())}),
             l.emit(Op::UShl32, {size, c(ir::buffer_element.shift())})});
        high = l.emit(Op::UPack64, {l.emit(Op::ULo, {high}), word3});
    }
};

// The same of gfx12.5 (ir/buffer.h).
struct WideBuffer {
    Value base, limit;
    WideBuffer(Lifter& l, const Inst& i) {
        const auto c = [&](uint32_t v) { return l.s.const32(v); };
        const auto mask = [&](uint32_t bits) { return l.s.const64((uint64_t{1} << bits) - 1); };
        const auto either = [&](Value condition, Value a, Value b) {
            return l.emit(Op::USelect64, {condition, a, b});
        };
        constexpr machine::BufferFields f = machine::fields_of(BufferLayout::Gfx125);
        const uint32_t descriptor = i.sbase().reg & 124;
        const Value low = l.s.get64(descriptor), high = l.s.get64(descriptor + 2);
        const auto last = [&](machine::BufferField field) {
            return l.emit(
                Op::UAnd32,
                {l.emit(Op::UShr32, {l.emit(Op::UHi, {high}), c(field.shift())}), c(field.mask())});
        };
        const Value offset = l.emit(
            Op::UAdd64, {l.emit(Op::UZext32, {l.s32(i.soffset())}), l.s.const64(offset_of(i))});
        const Value address = l.emit(Op::UAnd64, {low, mask(f.base_bits())});
        const Value records =
            l.emit(Op::UOr64,
                   {l.emit(Op::UShr64, {low, c(f.records_low.shift_in_pair())}),
                    l.emit(Op::UShl64,
                           {l.emit(Op::UAnd64, {high, mask(f.records_bits() - f.records_low.bits)}),
                            c(f.records_low.bits)})});
        // Beyond what offsets reach all limits are one, also when no limit is meant.
        const Value beyond = l.s.const64(uint64_t{1} << (ir::buffer_limit_bits - 2));
        const auto least = [&](Value a, Value b) {
            return either(l.emit(Op::UCmpLtU64, {a, b}), a, b);
        };
        const Value stride =
            l.emit(Op::UZext32,
                   {l.emit(Op::UMul32, {last(f.stride), stride_scale(l, last(f.stride_scale))})});
        const Value in_record = either(
            l.emit(Op::UAnd32, {last(f.oob_select),
                                l.emit(Op::UCmpNe64, {records, l.s.const64(f.all_records())})}),
            stride, beyond);
        const Value bytes = least(least(records, beyond), in_record);
        const Value swizzle = last(f.swizzle);
        base = l.emit(Op::UAdd64, {address, either(swizzle, l.s.const64(0), offset)});
        limit = either(
            swizzle,
            l.emit(Op::UOr64, {offset, l.s.const64(ir::buffer_oob_select | ir::buffer_swizzle |
                                                   ir::buffer_rows)}),
            l.emit(Op::UAnd64, {l.emit(Op::USub64, {bytes, offset}), mask(ir::buffer_limit_bits)}));
    }

    // Of STRIDE_SCALE.
    static Value stride_scale(Lifter& l, Value select) {
        Value scale = l.s.const32(machine::stride_scales[0]);
        for (uint32_t n = 1; n < machine::stride_scales.size(); ++n)
            scale = l.emit(Op::USelect32, {l.emit(Op::UCmpEq32, {select, l.s.const32(n)}),
                                           l.s.const32(machine::stride_scales[n]), scale});
        return scale;
    }
};

// MUBUF without IDXEN: the offset in the buffer, and what LoadBuffer wants to know of the V#.
struct BufferOperands {
    Value offset, base, limit;
    BufferOperands(Lifter& l, const Inst& i, uint32_t bytes) {
        if (l.options.target->traits.wide_buffers) {
            const WideBuffer wide(l, i);
            base = wide.base;
            limit = wide.limit;
            offset = i.offen ? l.raw(i.vaddr()) : l.c32(0);
            return;
        }
        const uint32_t descriptor = i.sbase().reg & 124;
        const BufferWords words(l, descriptor);
        const Value soffset = l.s32(i.soffset());
        base = l.emit(Op::BufferBase, {words.low_of_base, words.high, soffset});
        limit = l.options.target->traits.buffer_records == BufferRecords::Gfx10
                    ? limit_by_oob_select(l, words.low, words.high, soffset, bytes)
                    : l.emit(Op::BufferLimit, {words.low, words.high, soffset});
        offset = l.c32(static_cast<uint32_t>(i.offset));
        if (i.offen) offset = l.emit(Op::Add32, {l.raw(i.vaddr()), offset});
    }
};

// MUBUF of gfx6 and gfx7 with ADDR64: all parts of the address add up, the base as a signed number,
// and nothing is checked.
Value buffer_address64(Lifter& l, const Inst& i) {
    const Value above = l.s.const32(64 - machine::fields_of(BufferLayout::Gfx6).base_bits());
    const Value words = l.s.get64(i.sbase().reg & 124);
    const Value base = l.emit(Op::USar64, {l.emit(Op::UShl64, {words, above}), above});
    const Value first = l.emit(Op::UAdd64, {base, l.emit(Op::UZext32, {l.s32(i.soffset())})});
    return l.emit(Op::Add64, {address64(l, i), l.emit(Op::Splat64, {first})});
}

bool translated(const Lifter& l, const Inst& i) {
    if (i.format == Format::MUBUF && l.options.target->traits.buffer_elements && !i.addr64())
        return false;
    return !i.lds && !i.tfe && !i.idxen;
}

template <uint32_t dwords, Access access = Access::Dwords, D16 d16 = D16::None>
bool load(Lifter& l, const Inst& i) {
    if (!translated(l, i)) return false;
    const Value exec = l.s.exec();
    const uint32_t aux = make_aux(access, dwords);
    l.block.loads_in_order |= i.glc || i.scc || i.scope;
    if (i.format != Format::SCRATCH) l.order.load(is_coherent(i));
    Value tuple;
    if (i.format == Format::MUBUF && i.addr64()) {
        tuple = l.emit(Op::LoadGlobal, {buffer_address64(l, i), exec}, offset_of(i), aux);
    } else if (i.format == Format::MUBUF) {
        const BufferOperands b(l, i, ir::access_bytes(access, dwords));
        tuple = l.emit(Op::LoadBuffer, {b.offset, exec, b.base, b.limit}, 0, aux);
    } else if (i.format == Format::SCRATCH)
        tuple = l.emit(Op::LoadScratch, {scratch_address(l, i), exec}, offset_of(i), aux);
    else if (i.format == Format::FLAT) {
        const FlatAddress at = flat_address(l, i);
        tuple = l.emit(Op::LoadFlat, {at.value, exec}, at.imm, aux);
    } else {
        const GlobalAddress at = global_address(l, i);
        tuple = at.base == no_value
                    ? l.emit(Op::LoadGlobal, {at.lanes, exec}, offset_of(i), aux)
                    : l.emit(Op::LoadGlobalS, {at.base, at.lanes, exec}, offset_of(i), aux);
    }
    write_loaded(l, i, tuple, dwords, d16);
    return true;
}

template <uint32_t dwords, Access access = Access::Dwords>
bool store(Lifter& l, const Inst& i) {
    if (!translated(l, i)) return false;
    const Value exec = l.s.exec();
    if (i.format != Format::SCRATCH) l.order.store(is_coherent(i));
    if (i.format == Format::MUBUF && i.addr64()) {
        emit_store(l, Op::StoreGlobal, {buffer_address64(l, i), exec}, i.vdata(), 0, dwords,
                   offset_of(i), access);
    } else if (i.format == Format::MUBUF) {
        const BufferOperands b(l, i, ir::access_bytes(access, dwords));
        emit_store(l, Op::StoreBuffer, {b.offset, exec, b.base, b.limit}, i.vdata(), 0, dwords, 0,
                   access);
    } else if (i.format == Format::SCRATCH)
        emit_store(l, Op::StoreScratch, {scratch_address(l, i), exec}, i.vdata(), 0, dwords,
                   offset_of(i), access);
    else if (i.format == Format::FLAT) {
        const FlatAddress at = flat_address(l, i);
        emit_store(l, Op::StoreFlat, {at.value, exec}, i.vdata(), 0, dwords, at.imm, access);
    } else if (const GlobalAddress at = global_address(l, i); at.base == no_value)
        emit_store(l, Op::StoreGlobal, {at.lanes, exec}, i.vdata(), 0, dwords, offset_of(i),
                   access);
    else
        emit_store(l, Op::StoreGlobalS, {at.base, at.lanes, exec}, i.vdata(), 0, dwords,
                   offset_of(i), access);
    return true;
}

// A value and the constant that is added to it.
std::optional<std::pair<Value, uint32_t>> constant_sum(Lifter& l, Value v, bool of_rows) {
    const ir::Inst& sum = l.s.inst(v);
    uint64_t c;
    if (sum.op == Op::Add32)
        for (const int a : {1, 0})
            if (l.s.is_const(sum.args[a], c)) return std::pair(sum.args[!a], uint32_t(c));
    return of_rows && l.affine ? l.affine->sum_in_row(v) : std::nullopt;
}

Value load_lds(Lifter& l, const LdsAddress& at, uint32_t aux) {
    return l.emit(Op::LoadLds, {at.value, l.s.exec()}, at.imm, aux | at.aux);
}

template <uint32_t dwords, Access access = Access::Dwords, D16 d16 = D16::None>
bool ds_read(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    const LdsAddress a =
        lds_address(l, i, static_cast<uint32_t>(i.offset), ir::access_bytes(access, dwords));
    write_loaded(l, i, load_lds(l, a, make_aux(access, dwords)), dwords, d16);
    return true;
}

template <uint32_t dwords, Access access = Access::Dwords>
bool ds_write(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    const LdsAddress a =
        lds_address(l, i, static_cast<uint32_t>(i.offset), ir::access_bytes(access, dwords));
    emit_store(l, Op::StoreLds, {a.value, l.s.exec()}, i.vdata(), 0, dwords, a.imm, access, a.aux);
    return true;
}

// Two elements of `dwords` dwords at offset0 and offset1 elements (x64 for the st64 forms).
template <uint32_t dwords, uint32_t scale>
bool ds_read2(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    constexpr uint32_t bytes = dwords * 4, unit = bytes * scale;
    constexpr uint32_t aux = make_aux(Access::Dwords, dwords);
    if (scale == 1 && static_cast<uint8_t>(i.offset) + 1 == i.offset1) {  // neighbours
        const LdsAddress a = lds_address(l, i, static_cast<uint8_t>(i.offset) * unit, 2 * bytes);
        write_loaded(l, i, load_lds(l, a, make_aux(Access::Dwords, 2 * dwords)), 2 * dwords,
                     D16::None);
        return true;
    }
    const LdsAddress a = lds_address(l, i, static_cast<uint8_t>(i.offset) * unit, bytes);
    const LdsAddress b = lds_address(l, i, i.offset1 * unit, bytes);
    const Value first = load_lds(l, a, aux), second = load_lds(l, b, aux);
    for (uint32_t d = 0; d < dwords; ++d) {
        l.write(i.dst[0], l.emit(Op::Elem, {first}, d), d);
        l.write(i.dst[0], l.emit(Op::Elem, {second}, d), dwords + d);
    }
    return true;
}

template <uint32_t dwords, uint32_t scale>
bool ds_write2(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    const Value exec = l.s.exec();
    constexpr uint32_t bytes = dwords * 4, unit = bytes * scale;
    const LdsAddress a = lds_address(l, i, static_cast<uint8_t>(i.offset) * unit, bytes);
    const LdsAddress b = lds_address(l, i, i.offset1 * unit, bytes);
    emit_store(l, Op::StoreLds, {a.value, exec}, i.vdata(), 0, dwords, a.imm, Access::Dwords,
               a.aux);
    if (static_cast<uint8_t>(i.offset) == i.offset1) return true;  // one address: only DATA0
    emit_store(l, Op::StoreLds, {b.value, exec}, i.vdata2(), 0, dwords, b.imm, Access::Dwords,
               b.aux);
    return true;
}

#define WJ_SPACES(row) row(flat) row(global) row(scratch) row(buffer)
#define WJ_MEMORY(space)                                                                      \
    {Opcode::space##_load_dword, load<1>}, {Opcode::space##_load_dwordx2, load<2>},           \
        {Opcode::space##_load_dwordx3, load<3>}, {Opcode::space##_load_dwordx4, load<4>},     \
        {Opcode::space##_load_ubyte, load<1, Access::U8>},                                    \
        {Opcode::space##_load_sbyte, load<1, Access::S8>},                                    \
        {Opcode::space##_load_ushort, load<1, Access::U16>},                                  \
        {Opcode::space##_load_sshort, load<1, Access::S16>},                                  \
        {Opcode::space##_load_ubyte_d16, load<1, Access::U8, D16::Low>},                      \
        {Opcode::space##_load_ubyte_d16_hi, load<1, Access::U8, D16::High>},                  \
        {Opcode::space##_load_sbyte_d16, load<1, Access::S8, D16::Low>},                      \
        {Opcode::space##_load_sbyte_d16_hi, load<1, Access::S8, D16::High>},                  \
        {Opcode::space##_load_short_d16, load<1, Access::U16, D16::Low>},                     \
        {Opcode::space##_load_short_d16_hi, load<1, Access::U16, D16::High>},                 \
        {Opcode::space##_store_dword, store<1>}, {Opcode::space##_store_dwordx2, store<2>},   \
        {Opcode::space##_store_dwordx3, store<3>}, {Opcode::space##_store_dwordx4, store<4>}, \
        {Opcode::space##_store_byte, store<1, Access::U8>},                                   \
        {Opcode::space##_store_short, store<1, Access::U16>},                                 \
        {Opcode::space##_store_byte_d16_hi, store<1, Access::U8D16Hi>},                       \
        {Opcode::space##_store_short_d16_hi, store<1, Access::U16D16Hi>},

constexpr Entry entries[] = {
    WJ_SPACES(WJ_MEMORY){Opcode::global_load_monitor_b32, load<1>},
    {Opcode::global_load_monitor_b64, load<2>},
    {Opcode::global_load_monitor_b128, load<4>},
    {Opcode::ds_read_b32, ds_read<1>},
    {Opcode::ds_read_b64, ds_read<2>},
    {Opcode::ds_read_b96, ds_read<3>},
    {Opcode::ds_read_b128, ds_read<4>},
    {Opcode::ds_read_u8, ds_read<1, Access::U8>},
    {Opcode::ds_read_i8, ds_read<1, Access::S8>},
    {Opcode::ds_read_u16, ds_read<1, Access::U16>},
    {Opcode::ds_read_i16, ds_read<1, Access::S16>},
    {Opcode::ds_read_u8_d16, ds_read<1, Access::U8, D16::Low>},
    {Opcode::ds_read_u8_d16_hi, ds_read<1, Access::U8, D16::High>},
    {Opcode::ds_read_i8_d16, ds_read<1, Access::S8, D16::Low>},
    {Opcode::ds_read_i8_d16_hi, ds_read<1, Access::S8, D16::High>},
    {Opcode::ds_read_u16_d16, ds_read<1, Access::U16, D16::Low>},
    {Opcode::ds_read_u16_d16_hi, ds_read<1, Access::U16, D16::High>},
    {Opcode::ds_write_b32, ds_write<1>},
    {Opcode::ds_write_b64, ds_write<2>},
    {Opcode::ds_write_b96, ds_write<3>},
    {Opcode::ds_write_b128, ds_write<4>},
    {Opcode::ds_write_b8, ds_write<1, Access::U8>},
    {Opcode::ds_write_b16, ds_write<1, Access::U16>},
    {Opcode::ds_write_b8_d16_hi, ds_write<1, Access::U8D16Hi>},
    {Opcode::ds_write_b16_d16_hi, ds_write<1, Access::U16D16Hi>},
    {Opcode::ds_read2_b32, ds_read2<1, 1>},
    {Opcode::ds_read2st64_b32, ds_read2<1, 64>},
    {Opcode::ds_read2_b64, ds_read2<2, 1>},
    {Opcode::ds_read2st64_b64, ds_read2<2, 64>},
    {Opcode::ds_write2_b32, ds_write2<1, 1>},
    {Opcode::ds_write2st64_b32, ds_write2<1, 64>},
    {Opcode::ds_write2_b64, ds_write2<2, 1>},
    {Opcode::ds_write2st64_b64, ds_write2<2, 64>},
};

}  // namespace

LdsAddress lds_address(Lifter& l, const Inst& i, uint32_t offset, uint32_t bytes) {
    constexpr uint64_t most_added = 0x8000;
    Value v = l.raw(i.vaddr());
    uint64_t added = 0;
    while (const auto sum = constant_sum(l, v, bytes != 0)) {
        if (added + sum->second > most_added) break;
        v = sum->first;
        added += sum->second;
    }
    const uint64_t imm = added << 32 | offset;
    if (!bytes || !l.affine) return {v, imm};
    const auto line = l.affine->address(v);
    if (!line) return {v, imm};
    const auto end = static_cast<uint32_t>(added + offset + bytes);
    const bool within = l.affine->guard_within_lds(*line, end, l.s.is_full(l.s.exec()));
    return {l.affine->as_operand(*line), imm, within ? ir::within_lds : 0};
}

std::span<const Entry> memory_entries() {
    return entries;
}

}  // namespace wj::lift
