// Instructions that move data between lanes, and DPP source selection.
#include <bit>
#include <map>

#include "ir/pure.h"
#include "lift/lifter.h"

namespace wj::lift {
namespace {

bool readfirstlane(Lifter& l, const Inst& i) {
    if (!l.is_vector(i.src[0])) {
        l.set_s32(i.dst[0], l.s32(i.src[0]));
        return true;
    }
    // With EXEC empty lane 0 is read, whatever it holds.
    const bool full = l.s.is_full(l.s.exec());
    const Value v = full ? l.raw(i.src[0]) : l.s.read_all(l.row(i.src[0]));
    if (const auto first = l.affine ? l.affine->lane_0(v, !full) : std::nullopt) {
        l.set_s32(i.dst[0], *first);
        return true;
    }
    l.set_s32(i.dst[0], l.emit(Op::ReadFirst, {v, l.s.exec()}));
    return true;
}

bool readlane(Lifter& l, const Inst& i) {
    if (!l.is_vector(i.src[0])) return false;
    l.set_s32(i.dst[0], l.emit(Op::ReadLane, {l.s.read_all(l.row(i.src[0])), l.s32(i.src[1])}));
    return true;
}

bool writelane(Lifter& l, const Inst& i) {
    const uint32_t row = l.row(i.dst[0]);
    l.s.write_all(row,
                  l.emit(Op::WriteLane, {l.s.read_all(row), l.s32(i.src[0]), l.s32(i.src[1])}));
    return true;
}

// Numbers that the lanes have, whoever runs the block: what is made of the lane's number alone.
using Lanes = std::array<uint32_t, machine::lanes>;
std::optional<Lanes> constant_lanes(Lifter& l, Value v, std::map<Value, Lanes>& known) {
    constexpr size_t most = 64;
    if (const auto it = known.find(v); it != known.end()) return it->second;
    const ir::Inst i = l.s.inst(v);
    Lanes lanes;
    uint64_t c;
    if (i.op == Op::LaneId) {
        for (uint32_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = lane;
    } else if (i.op == Op::Splat32 && l.s.is_const(v, c)) {
        lanes.fill(static_cast<uint32_t>(c));
    } else if (i.op == Op::MaskOf && l.s.is_const(i.args[0], c)) {
        for (uint32_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = c >> lane & 1;
    } else if (i.op >= Op::Add32 && i.op <= Op::BorrowOut32) {
        const Lanes none{};
        Lanes args[3] = {none, none, none};
        for (int a = 0; a < ir::op_info(i.op).arg_count; ++a) {
            const auto of = constant_lanes(l, i.args[static_cast<size_t>(a)], known);
            if (!of) return {};
            args[a] = *of;
        }
        for (uint32_t lane = 0; lane < lanes.size(); ++lane)
            lanes[lane] =
                static_cast<uint32_t>(ir::pure(i, args[0][lane], args[1][lane], args[2][lane]));
    } else {
        return {};
    }
    if (known.size() == most) return {};
    known.emplace(v, lanes);
    return lanes;
}

// In each lane the data of another one, whose number is a quarter of the address and `offset`; 0
// where that one is not readable.
Value permuted(Lifter& l, Value address, Value data, Value readable, uint64_t offset = 0) {
    std::map<Value, Lanes> known;
    const auto from = constant_lanes(l, address, known);
    if (!from) return l.emit(Op::BPermute, {address, data, readable}, offset);
    std::array<uint8_t, machine::lanes> table;  // a shuffle
    for (uint32_t lane = 0; lane < table.size(); ++lane)
        table[lane] = static_cast<uint8_t>(((*from)[lane] + static_cast<uint32_t>(offset)) / 4 %
                                           l.block.wave_size);
    l.block.lane_tables.push_back(table);
    return l.emit(Op::Swizzle, {data, readable}, l.block.lane_tables.size() - 1);
}

bool bpermute(Lifter& l, const Inst& i) {
    if (i.gds) return false;
    const auto offset = static_cast<uint64_t>(int64_t{i.offset});
    l.write(i.dst[0], permuted(l, l.raw(i.vaddr()), l.raw(i.vdata()), l.s.exec(), offset));
    return true;
}

Value all_lanes(Lifter& l) {
    return l.s.mask_of(l.s.const64(l.block.every_lane()));
}

// v_permlane16 and relatives: each lane reads the lane with this number (of which four bits count)
// in its row of 16, or in the neighbouring row. OP_SEL: lanes that are off are read, too; where one
// is read that is not, the result is 0, and else as it was.
template <bool other>
bool permute_rows(Lifter& l, const Inst& i, Value number) {
    const bool reads_all = i.op_sel & 1, writes_zeros = i.op_sel & 2;
    const Value readable = reads_all ? all_lanes(l) : l.s.exec();
    const uint32_t row = l.row(i.src[0]);
    Value from = l.emit(Op::And32, {l.emit(Op::LaneId, {}), l.c32(~15u)});
    if (other) from = l.emit(Op::Xor32, {from, l.c32(16)});
    from = l.emit(Op::Or32, {from, l.emit(Op::And32, {number, l.c32(15)})});
    const Value address = l.emit(Op::Shl32, {from, l.c32(2)});
    Value r = permuted(l, address, reads_all ? l.s.read_all(row) : l.s.read(row), readable);
    if (!reads_all && !writes_zeros && !l.s.is_full(readable)) {
        const Value hit = permuted(l, address, l.c32(~0u), readable);
        r = l.s.select(l.emit(Op::CmpNe32, {hit, l.c32(0)}), r, l.raw(i.dst[0]));
    }
    l.write(i.dst[0], r);
    return true;
}

// Nibble n of S2:S1 is for lane n of each row.
template <bool other>
bool permlane16(Lifter& l, const Inst& i) {
    const Value shift =
        l.emit(Op::Shl32, {l.emit(Op::And32, {l.emit(Op::LaneId, {}), l.c32(7)}), l.c32(2)});
    const Value upper =
        l.emit(Op::CmpNe32, {l.emit(Op::And32, {l.emit(Op::LaneId, {}), l.c32(8)}), l.c32(0)});
    const Value half = l.s.select(upper, l.raw(i.src[2]), l.raw(i.src[1]));
    return permute_rows<other>(l, i, l.emit(Op::Shr32, {half, shift}));
}
template <bool other>
bool permlane16_var(Lifter& l, const Inst& i) {
    return permute_rows<other>(l, i, l.raw(i.src[1]));
}

Value lane_across(Lifter& l, uint32_t distance) {
    return l.emit(Op::Shl32,
                  {l.emit(Op::Xor32, {l.emit(Op::LaneId, {}), l.c32(distance)}), l.c32(2)});
}
bool permlane64(Lifter& l, const Inst& i) {
    if (l.block.wave_size != machine::lanes) return true;
    l.write(i.dst[0], permuted(l, lane_across(l, 32), l.s.read_all(l.row(i.src[0])), all_lanes(l)));
    return true;
}
// The upper rows of the destination, by this distance, change places with the lower ones of the
// source, whatever EXEC is.
template <uint32_t distance>
bool permlane_swap(Lifter& l, const Inst& i) {
    if (l.block.wave_size <= distance) return false;  // it has no such rows
    const uint32_t d = l.row(i.dst[0]), s = l.row(i.src[0]);
    if (d == s) return false;
    const Value address = lane_across(l, distance), upper = l.s.read_all(d),
                lower = l.s.read_all(s);
    const Value is_upper = l.emit(
        Op::CmpNe32, {l.emit(Op::And32, {l.emit(Op::LaneId, {}), l.c32(distance)}), l.c32(0)});
    const Value from_s = permuted(l, address, lower, all_lanes(l)),
                from_d = permuted(l, address, upper, all_lanes(l));
    l.s.write_all(d, l.s.select(is_upper, from_s, upper));
    l.s.write_all(s, l.s.select(is_upper, lower, from_d));
    return true;
}

bool swizzle(Lifter& l, const Inst& i) {
    const auto pattern = static_cast<uint32_t>(i.offset) & 0xffff;
    if (i.gds || pattern >= 0xc000) return false;  // rotate and FFT modes
    std::array<uint8_t, 64> table;
    for (uint32_t lane = 0; lane < 64; ++lane) {
        const uint32_t from =
            pattern & 0x8000
                ? (lane & ~3u) | (pattern >> (lane & 3) * 2 & 3)
                : (lane & 32) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^
                                 (pattern >> 10 & 31));
        table[lane] = static_cast<uint8_t>(from);
    }
    l.block.lane_tables.push_back(table);
    l.write(i.dst[0],
            l.emit(Op::Swizzle, {l.raw(i.vaddr()), l.s.exec()}, l.block.lane_tables.size() - 1));
    return true;
}

// gfx12.5's shuffles within groups of `width` lanes, a power of two: by numbers that are known,
// each lane reads that of its group which `from` says, or itself.
using LaneOf = uint32_t (*)(uint32_t in_group, uint32_t number, uint32_t width);
template <LaneOf from>
bool permute_group(Lifter& l, const Inst& i) {
    uint64_t number, width;
    if (!l.s.is_const(l.s32(i.src[1]), number) || !l.s.is_const(l.s32(i.src[2]), width) ||
        number >= width || !std::has_single_bit(width) || width > l.block.wave_size)
        return false;
    std::array<uint8_t, machine::lanes> table;
    for (uint32_t lane = 0; lane < table.size(); ++lane) {
        const uint32_t inside = lane % static_cast<uint32_t>(width);
        table[lane] = static_cast<uint8_t>(
            lane - inside +
            from(inside, static_cast<uint32_t>(number), static_cast<uint32_t>(width)));
    }
    l.block.lane_tables.push_back(table);
    l.write(i.dst[0], l.emit(Op::Swizzle, {l.s.read_all(l.row(i.src[0])), all_lanes(l)},
                             l.block.lane_tables.size() - 1));
    return true;
}
uint32_t one_lane(uint32_t, uint32_t number, uint32_t) {
    return number;
}
uint32_t lane_above(uint32_t in_group, uint32_t number, uint32_t) {
    return in_group < number ? in_group : in_group - number;
}
uint32_t lane_below(uint32_t in_group, uint32_t number, uint32_t width) {
    return in_group + number < width ? in_group + number : in_group;
}
uint32_t lane_opposite(uint32_t in_group, uint32_t number, uint32_t) {
    return in_group ^ number;
}

// The address for which ds_bpermute_b32 reads a lane of one's group.
bool permute_index(Lifter& l, const Inst& i) {
    uint64_t width;
    if (!l.s.is_const(l.s32(i.src[1]), width) || !std::has_single_bit(width) ||
        width > l.block.wave_size)
        return false;
    const auto inside = static_cast<uint32_t>(width) - 1;
    const Value group = l.emit(Op::And32, {l.emit(Op::LaneId, {}), l.c32(~inside)});
    const Value in_group = l.emit(Op::And32, {l.raw(i.src[0]), l.c32(inside)});
    l.write(i.dst[0], l.emit(Op::Shl32, {l.emit(Op::Or32, {group, in_group}), l.c32(2)}));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_permlane_idx_gen_b32, permute_index},
    {Opcode::v_permlane_bcast_b32, permute_group<one_lane>},
    {Opcode::v_permlane_up_b32, permute_group<lane_above>},
    {Opcode::v_permlane_down_b32, permute_group<lane_below>},
    {Opcode::v_permlane_xor_b32, permute_group<lane_opposite>},
    {Opcode::v_permlane16_b32, permlane16<false>},
    {Opcode::v_permlanex16_b32, permlane16<true>},
    {Opcode::v_permlane16_var_b32, permlane16_var<false>},
    {Opcode::v_permlanex16_var_b32, permlane16_var<true>},
    {Opcode::v_permlane64_b32, permlane64},
    {Opcode::v_permlane16_swap_b32, permlane_swap<16>},
    {Opcode::v_permlane32_swap_b32, permlane_swap<32>},
    {Opcode::v_readfirstlane_b32, readfirstlane},
    {Opcode::v_readlane_b32, readlane},
    {Opcode::v_writelane_b32, writelane},
    {Opcode::ds_bpermute_b32, bpermute},
    {Opcode::ds_swizzle_b32, swizzle},
};

}  // namespace

std::span<const Entry> cross_entries() {
    return entries;
}

// Source lane of `lane` under a DPP control, or no_lane when it is out of range.
static constexpr uint8_t no_lane = 255;

static uint8_t dpp_source(uint32_t ctrl, uint32_t lane, uint32_t wave_size) {
    const uint32_t row = lane & ~15u, in_row = lane & 15, n = ctrl & 15;
    auto in_range = [](bool ok, uint32_t from) {
        return ok ? static_cast<uint8_t>(from) : no_lane;
    };
    if (ctrl <= 0xff)
        return static_cast<uint8_t>((lane & ~3u) | (ctrl >> (lane & 3) * 2 & 3));  // quad_perm
    switch (ctrl >> 4) {
        case 0x10:
            return in_range(in_row + n < 16, lane + n);  // row_shl
        case 0x11:
            return in_range(in_row >= n, lane - n);  // row_shr
        case 0x12:
            return static_cast<uint8_t>(row | ((in_row - n) & 15));  // row_ror
        case 0x15:
            return static_cast<uint8_t>(row | n);  // row_newbcast, row_share
        case 0x16:
            return static_cast<uint8_t>(row | (in_row ^ n));  // row_xmask
        default:
            break;
    }
    switch (ctrl) {
        case 0x130:
            return in_range(lane < wave_size - 1, lane + 1);  // wave_shl
        case 0x134:
            return static_cast<uint8_t>((lane + 1) % wave_size);  // wave_rol
        case 0x138:
            return in_range(lane > 0, lane - 1);  // wave_shr
        case 0x13c:
            return static_cast<uint8_t>((lane - 1) % wave_size);  // wave_ror
        case 0x140:
            return static_cast<uint8_t>(row | (15 - in_row));  // row_mirror
        case 0x141:
            return static_cast<uint8_t>((lane & ~7u) | (7 - (lane & 7)));  // row_half_mirror
        case 0x142:
            return in_range(lane >= 16, row - 1);  // row_bcast:15
        case 0x143:
            return in_range(lane >= 32, 31);  // row_bcast:31
        default:
            return no_lane;
    }
}

static bool known_dpp(uint32_t ctrl) {
    const uint32_t kind = ctrl >> 4;
    return ctrl <= 0xff || kind == 0x10 || kind == 0x11 || kind == 0x12 || kind == 0x15 ||
           kind == 0x16 || ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c ||
           (ctrl >= 0x140 && ctrl <= 0x143);
}

bool Lifter::begin_dpp(const Inst& inst) {
    const bool by_eight = !is_dpp16(inst.variant);
    const bool one_result =
        inst.format == Format::VOPC ||
        (is_vector(inst.dst[0]) && inst.dst[0].dwords == 1 && !inst.dst[1].present());
    if ((!by_eight && !known_dpp(inst.dpp_ctrl)) || !is_vector(inst.src[0]) || !one_result ||
        inst.src[0].dwords != 1)
        return false;
    std::array<uint8_t, 64> table{};
    uint64_t enabled = 0, in_range = 0;
    for (uint32_t lane = 0; lane < block.wave_size; ++lane) {
        const uint8_t from =
            by_eight ? static_cast<uint8_t>((lane & ~7u) | (inst.dpp8_lanes >> 3 * (lane & 7) & 7))
                     : dpp_source(inst.dpp_ctrl, lane, block.wave_size);
        const uint64_t bit = uint64_t{1} << lane;
        table[lane] = from == no_lane ? static_cast<uint8_t>(lane) : from;
        if (from != no_lane) in_range |= bit;
        if ((inst.row_mask >> lane / 16 & 1) && (inst.bank_mask >> lane % 16 / 4 & 1))
            enabled |= bit;
    }
    block.lane_tables.push_back(table);
    const uint64_t index = block.lane_tables.size() - 1;
    const Value reachable = s.mask_of(s.const64(in_range));
    // Lanes without a source read 0; with bound_ctrl off they are not written instead. FI: those
    // that are off are sources, too.
    const uint32_t from = row(inst.src[0]);
    const Value source = inst.fetch_invalid ? s.read_all(from) : s.read(from);
    const Value readable = inst.fetch_invalid ? s.mask_of(s.const64(block.every_lane())) : s.exec();
    dpp_source_ = s.select(reachable, emit(Op::Swizzle, {source, readable}, index), c32(0));
    dpp_valid_ = s.mask_of(s.const64(enabled));
    if (!inst.bound_ctrl && !by_eight) {
        const Value hit = emit(Op::Swizzle, {c32(~0u), readable}, index);
        dpp_valid_ =
            emit(Op::MaskAnd,
                 {dpp_valid_, emit(Op::MaskAnd, {reachable, emit(Op::CmpNe32, {hit, c32(0)})})});
    }
    current_dpp_ = &inst.src[0];
    return true;
}

}  // namespace wj::lift
