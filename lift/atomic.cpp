// Atomics of DS, GLOBAL and FLAT. Buffer atomics, the two-address exchanges, append and consume are
// calls.
#include "lift/address.h"

namespace wj::lift {
namespace {

using ir::AtomicOp;

// f32: MODE's bits 4 (inputs) and 5 (outputs) in LDS; memory flushes unless the target says
// otherwise (docs/design/memory.md). f64 and packed: MODE's bits 6 and 7 in LDS, memory keeps; f64
// sums keep everywhere.
uint32_t flush_flags(const Lifter& l, AtomicOp op, uint32_t dwords) {
    if (op < AtomicOp::FAdd || (op == AtomicOp::FAdd && dwords == 2)) return 0;
    const bool packed = op == AtomicOp::PkAddF16 || op == AtomicOp::PkAddBf16;
    const bool single = dwords == 1 && !packed;
    const uint32_t keep = l.options.mode >> (single ? 4 : 6);
    uint32_t flags = l.options.target->traits.atomics_prefer_numbers ? ir::prefer_numbers : 0;
    if (!(keep & 1)) flags |= ir::flush_in_lds;
    if (!(keep & 2)) flags |= ir::flush_out_lds;
    if (single && op == AtomicOp::FAdd && !l.options.target->traits.memory_fadd_f32_keeps_denorms)
        flags |= ir::flush_in_memory | ir::flush_out_memory;
    return flags;
}

// data, then data2: `dwords` values each.
void emit_atomic(Lifter& l, const Inst& i, Op op, std::initializer_list<Value> head, uint64_t imm,
                 AtomicOp what, uint32_t dwords, std::array<Value, 4> data, bool returns) {
    std::array<Value, 4> a{no_value, no_value, no_value, no_value};
    std::copy(head.begin(), head.end(), a.begin());
    if (dwords == 1 && (what == AtomicOp::Inc || what == AtomicOp::Dec)) {
        // Up to the largest number: that is counting.
        data[0] = l.constant_row(data[0]);
        if (data[0] == l.c32(~0u)) {
            what = what == AtomicOp::Inc ? AtomicOp::Add : AtomicOp::Sub;
            data[0] = l.c32(1);
        }
    } else if (dwords == 1 && ir::atomic_commutes(what)) {
        data[0] = l.constant_row(data[0]);
    }
    const uint32_t aux = ir::make_atomic_aux(what, dwords, flush_flags(l, what, dwords));
    const Value old =
        l.emit(op, {a[0], a[1], a[2], a[3], data[0], data[1], data[2], data[3]}, imm, aux);
    for (uint32_t d = 0; returns && d < dwords; ++d)
        l.write(i.dst[0], l.emit(Op::Elem, {old}, d), d);
}

// cmpswap: the data operand holds the new value, then the expected one.
template <AtomicOp what, uint32_t dwords>
bool atomic(Lifter& l, const Inst& i) {
    if (i.tfe || i.lds) return false;
    std::array<Value, 4> data{no_value, no_value, no_value, no_value};
    for (uint32_t d = 0; d < dwords * ir::atomic_operands(what); ++d) data[d] = l.raw(i.vdata(), d);
    const Value exec = l.s.exec();
    const bool returns = i.glc && Lifter::is_vector(i.dst[0]);
    l.order.atomic(l.s.is_full(exec), returns);
    if (i.format == Format::FLAT) {
        const FlatAddress at = flat_address(l, i);
        emit_atomic(l, i, Op::AtomicFlat, {at.value, exec}, at.imm, what, dwords, data, returns);
    } else if (i.sbase().is(Operand::Kind::Sgpr) && !is_summed_address(l, i))
        emit_atomic(l, i, Op::AtomicGlobalS, {l.s64(i.sbase()), l.raw(i.vaddr()), exec},
                    offset_of(i), what, dwords, data, returns);
    else
        emit_atomic(l, i, Op::AtomicGlobal, {whole_address(l, i), exec}, offset_of(i), what, dwords,
                    data, returns);
    return true;
}

constexpr bool compares(AtomicOp what) {
    return what == AtomicOp::CmpSwap || what == AtomicOp::FCmpSwap;
}

// swapped: ds_cmpst compares with DATA and stores DATA2, the other way round. (gfx11's ds_cmpstore
// does not.)
template <AtomicOp what, uint32_t dwords, bool swapped = compares(what)>
bool ds_atomic(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    constexpr bool two = ir::atomic_operands(what) == 2;
    std::array<Value, 4> data{no_value, no_value, no_value, no_value};
    for (uint32_t d = 0; d < dwords; ++d) {
        data[swapped ? dwords + d : d] = l.raw(i.vdata(), d);
        if (two) data[swapped ? d : dwords + d] = l.raw(i.vdata2(), d);
    }
    const LdsAddress a = lds_address(l, i, static_cast<uint32_t>(i.offset), 0);
    const uint64_t imm = static_cast<uint32_t>(a.imm + (a.imm >> 32));  // all of it wraps
    emit_atomic(l, i, Op::AtomicLds, {a.value, l.s.exec()}, imm, what, dwords, data,
                Lifter::is_vector(i.dst[0]));
    return true;
}

// clang-format off
#define WJ_SPACE(space)                                                                          \
    WJ_BOTH(space, swap, Swap), WJ_BOTH(space, cmpswap, CmpSwap), WJ_BOTH(space, add, Add),      \
    WJ_BOTH(space, sub, Sub), WJ_BOTH(space, smin, SMin), WJ_BOTH(space, umin, UMin),            \
    WJ_BOTH(space, smax, SMax), WJ_BOTH(space, umax, UMax), WJ_BOTH(space, and, And),            \
    WJ_BOTH(space, or, Or), WJ_BOTH(space, xor, Xor), WJ_BOTH(space, inc, Inc),                  \
    WJ_BOTH(space, dec, Dec),                                                                    \
    {Opcode::space##_atomic_add_f32, atomic<AtomicOp::FAdd, 1>},                                 \
    {Opcode::space##_atomic_pk_add_f16, atomic<AtomicOp::PkAddF16, 1>},                          \
    {Opcode::space##_atomic_pk_add_bf16, atomic<AtomicOp::PkAddBf16, 1>},                        \
    {Opcode::space##_atomic_add_f64, atomic<AtomicOp::FAdd, 2>},                                 \
    {Opcode::space##_atomic_min_f64, atomic<AtomicOp::FMin, 2>},                                 \
    {Opcode::space##_atomic_max_f64, atomic<AtomicOp::FMax, 2>},                                 \
    WJ_BOTH(space, fcmpswap, FCmpSwap), WJ_BOTH(space, fmin, FMin), WJ_BOTH(space, fmax, FMax)
#define WJ_BOTH(space, name, what)                                                               \
    {Opcode::space##_atomic_##name, atomic<AtomicOp::what, 1>},                                  \
    {Opcode::space##_atomic_##name##_x2, atomic<AtomicOp::what, 2>}

#define WJ_DS(name, type, what, dwords)                                                          \
    {Opcode::ds_##name##_##type, ds_atomic<AtomicOp::what, dwords>},                             \
    {Opcode::ds_##name##_rtn_##type, ds_atomic<AtomicOp::what, dwords>}
#define WJ_DS_CMPSTORE(type, what, dwords)                                                       \
    {Opcode::ds_cmpstore_##type, ds_atomic<AtomicOp::what, dwords, false>},                      \
    {Opcode::ds_cmpstore_rtn_##type, ds_atomic<AtomicOp::what, dwords, false>}
#define WJ_DS_WIDTH(bits, dwords)                                                                \
    WJ_DS(add, u##bits, Add, dwords), WJ_DS(sub, u##bits, Sub, dwords),                          \
    WJ_DS(rsub, u##bits, RSub, dwords), WJ_DS(inc, u##bits, Inc, dwords),                        \
    WJ_DS(dec, u##bits, Dec, dwords), WJ_DS(min, i##bits, SMin, dwords),                         \
    WJ_DS(max, i##bits, SMax, dwords), WJ_DS(min, u##bits, UMin, dwords),                        \
    WJ_DS(max, u##bits, UMax, dwords), WJ_DS(and, b##bits, And, dwords),                         \
    WJ_DS(or, b##bits, Or, dwords), WJ_DS(xor, b##bits, Xor, dwords),                            \
    WJ_DS(mskor, b##bits, MskOr, dwords), WJ_DS(cmpst, b##bits, CmpSwap, dwords),                \
    WJ_DS(cmpst, f##bits, FCmpSwap, dwords), WJ_DS(min, f##bits, FMin, dwords),                  \
    WJ_DS(max, f##bits, FMax, dwords), WJ_DS(add, f##bits, FAdd, dwords),                        \
    {Opcode::ds_wrxchg_rtn_b##bits, ds_atomic<AtomicOp::Swap, dwords>}

constexpr Entry entries[] = {
    WJ_SPACE(global),
    WJ_SPACE(flat),
    WJ_DS_WIDTH(32, 1),
    WJ_DS_WIDTH(64, 2),
    WJ_DS_CMPSTORE(b32, CmpSwap, 1),
    WJ_DS_CMPSTORE(b64, CmpSwap, 2),
    WJ_DS_CMPSTORE(f32, FCmpSwap, 1),
    WJ_DS_CMPSTORE(f64, FCmpSwap, 2),
    WJ_DS(pk_add, f16, PkAddF16, 1),
    WJ_DS(pk_add, bf16, PkAddBf16, 1),
    {Opcode::ds_wrap_rtn_b32, ds_atomic<AtomicOp::Wrap, 1>},
};
// clang-format on

}  // namespace

std::span<const Entry> atomic_entries() {
    return entries;
}

}  // namespace wj::lift
