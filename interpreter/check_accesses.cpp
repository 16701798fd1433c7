// Accesses of global memory: races, addresses that are no multiple of the element; and divisions.
#include <algorithm>
#include <array>
#include <bit>

#include "interpreter/check_parts.h"
#include "interpreter/mem_smem.h"
#include "interpreter/spots.h"
#include "interpreter/valu.h"
#include "memory/address_space.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

using machine::GlobalShadow;

constexpr uint32_t most_bytes = 16;                // of an access of a lane
constexpr size_t most_pieces = size_t{lanes} * 4;  // swizzled buffers: four dwords each

bool is_plain_load(const Inst& inst) {
    // Loads that leave the caches alone are marked by GLC and SLC, coherent ones by GLC or a scope.
    return !(inst.glc || inst.scc || inst.scope) || inst.slc;
}

// The races of an instruction: what is reported of the first.
class Races {
public:
    Races(Wave& w, const Inst& inst, Access access, GlobalShadow::Kind kind)
        : w_(w),
          inst_(inst),
          kind_(kind),
          shadow_(w.group->shadow->dispatch->global),
          agent_(shadow_.agent(static_cast<uint32_t>(w.group->linear_id), w.wave_in_group)) {
        found_.check = machine::check_race;
        found_.access = access;
    }
    void by(uint64_t lane_bit, uint64_t address, uint32_t bytes, bool silent,
            const uint8_t* data = nullptr) {
        const auto pc = static_cast<uint32_t>(w_.pc - inst_.size);
        const GlobalShadow::Race race =
            shadow_.access(agent_, pc, kind_, address, bytes, silent, data);
        if (!race.other.pc) return;
        const char* what = race.wrote ? memory::unordered_with_write : memory::unordered_with_read;
        if (!found_.what) {
            found_.what = what;
            found_.bytes = bytes;
            found_.address = address;
            found_.other = {(w_.pc & ~uint64_t{0xffffffff}) | race.other.pc, race.other.group,
                            race.other.wave};
        }
        if (found_.what == what) found_.lanes |= lane_bit;
    }
    // Of several lanes; false: lane by lane, please.
    bool none(uint64_t address, uint32_t bytes, const uint8_t* data) {
        const auto pc = static_cast<uint32_t>(w_.pc - inst_.size);
        return shadow_.access_in_order(agent_, pc, kind_, address, bytes, data);
    }
    void acquire() { shadow_.acquire(agent_); }
    void acquire_everything() { shadow_.acquire_everything(agent_); }
    const Finding& found() const { return found_; }

private:
    Wave& w_;
    const Inst& inst_;
    const GlobalShadow::Kind kind_;
    GlobalShadow& shadow_;
    GlobalShadow::Agent& agent_;
    Finding found_;
};

bool accesses_memory(const Inst& inst) {
    return effects(inst.op).access != MemoryAccess::None;
}

// What lanes access of global memory, piece by piece, and what they store, unless that is converted
// on the way.
class Pieces {
public:
    Pieces(Wave& w, const Inst& inst) : w_(w), inst_(inst) {
        known_ = access_of(inst.op) == Access::Write && !converts(inst) && is_vector(inst.vdata());
        shift_ = stores_high_half(inst.op) ? 2 : 0;
        uint32_t lane_before = lanes, at = 0;
        const uint32_t certain = converts(inst) ? 1 : bytes_of(w, inst);
        known_ = known_ && certain <= most_bytes;
        each_spot(w, inst, certain, [&](uint32_t lane, Spot spot, uint32_t bytes) {
            at = lane == lane_before ? at + bytes : 0;
            lane_before = lane;
            if (spot.place == Place::Global) add(lane, spot.address, at, bytes);
        });
    }
    // Those that follow one another in memory are looked at in one go.
    void look(Races& races, GlobalShadow::Kind kind) {
        const bool reads = kind == GlobalShadow::Kind::Read;
        const bool together = reads || kind == GlobalShadow::Kind::Write;
        for (size_t i = 0; i < count_;) {
            const size_t end = together ? end_of_run(i, reads) : i + 1;
            if (!together || !races.none(pieces_[i].address, run_bytes_, data(pieces_[i])))
                for (size_t p = i; p < end; p++) look_at(races, pieces_[p]);
            i = end;
        }
    }
    // Lanes whose bytes others of them overwrite with other values. Leaves the pieces in the order
    // of their addresses.
    uint64_t disagreeing(uint64_t& address) {
        if (!known_ || apart_) return 0;
        const auto end = pieces_.begin() + static_cast<ptrdiff_t>(count_);
        std::sort(pieces_.begin(), end,
                  [](const Piece& a, const Piece& b) { return a.address < b.address; });
        uint64_t lanes = 0;
        for (size_t i = 1; i < count_; i++) {
            const Piece &a = pieces_[i - 1], &b = pieces_[i];
            const uint64_t apart = b.address - a.address;
            if (apart >= a.bytes) continue;
            const size_t common = std::min<size_t>(a.bytes - apart, b.bytes);
            if (!std::memcmp(data(a) + apart, data(b), common)) continue;
            if (!lanes) address = b.address;
            lanes |= uint64_t{1} << a.lane | uint64_t{1} << b.lane;
        }
        return lanes;
    }

private:
    struct Piece {
        uint64_t address;
        uint32_t bytes;
        uint16_t lane, data;  // where what is stored begins in data_
    };
    // at: of the bytes in the lane's data.
    void add(uint32_t lane, uint64_t address, uint32_t at, uint32_t bytes) {
        apart_ &= !count_ || address >= pieces_[count_ - 1].address + pieces_[count_ - 1].bytes;
        pieces_[count_++] = {address, bytes, static_cast<uint16_t>(lane), data_bytes_};
        if (!known_) return;
        for (uint32_t b = 0; b < bytes;) {
            const uint32_t from = at + b + shift_, piece = std::min(4 - from % 4, bytes - b),
                           dword = vrow(w_, inst_.vdata(), from / 4)[lane] >> from % 4 * 8;
            std::memcpy(&data_[data_bytes_ + b], &dword, piece);
            b += piece;
        }
        data_bytes_ = static_cast<uint16_t>(data_bytes_ + bytes);
    }
    // What it stores; null if that is not known.
    const uint8_t* data(const Piece& p) const { return known_ ? &data_[p.data] : nullptr; }
    // It leaves memory as it is.
    bool silent(const Piece& p) const {
        if (!known_) return false;
        const void* now =
            w_.ctx->memory->translate(w_.ctx->reach(p.address), p.bytes, memory::readable);
        return now && !std::memcmp(now, data(p), p.bytes);
    }
    void look_at(Races& races, const Piece& p) {
        races.by(uint64_t{1} << p.lane, p.address, p.bytes, silent(p), data(p));
    }
    // Lanes that read what one before them does change nothing.
    size_t end_of_run(size_t i, bool reads) {
        const uint64_t begin = pieces_[i].address;
        uint64_t behind = begin + pieces_[i].bytes;
        while (++i < count_) {
            const Piece& p = pieces_[i];
            if (p.address == behind)
                behind += p.bytes;
            else if (!reads || p.address < begin || p.address + p.bytes > behind)
                break;
        }
        run_bytes_ = static_cast<uint32_t>(behind - begin);
        return i;
    }

    Wave& w_;
    const Inst& inst_;
    bool known_, apart_ = true;
    uint32_t shift_;
    uint16_t data_bytes_ = 0;
    uint32_t run_bytes_ = 0;
    size_t count_ = 0;
    std::array<Piece, most_pieces> pieces_;
    std::array<uint8_t, size_t{lanes} * most_bytes> data_;
};

void check_lanes(Wave& w, const Inst& inst, Access access, GlobalShadow::Kind kind,
                 Finding& found) {
    Pieces pieces(w, inst);
    {
        const std::lock_guard lock(w.group->shadow->dispatch->global.mutex());
        Races races(w, inst, access, kind);
        pieces.look(races, kind);
        found = races.found();
    }
    if (found.what) return;
    uint64_t address = 0;
    const uint64_t disagreeing = pieces.disagreeing(address);
    if (!disagreeing) return;
    found.what = memory::lanes_disagree;
    found.bytes = std::min(bytes_of(w, inst), 4u);
    found.address = address;
    found.lanes = disagreeing;
}

}  // namespace

bool converts(const Inst& inst) {
    constexpr Opcode ops[] = {
        Opcode::buffer_load_format_x,        Opcode::buffer_load_format_xy,
        Opcode::buffer_load_format_xyz,      Opcode::buffer_load_format_xyzw,
        Opcode::buffer_store_format_x,       Opcode::buffer_store_format_xy,
        Opcode::buffer_store_format_xyz,     Opcode::buffer_store_format_xyzw,
        Opcode::buffer_load_format_d16_x,    Opcode::buffer_load_format_d16_xy,
        Opcode::buffer_load_format_d16_xyz,  Opcode::buffer_load_format_d16_xyzw,
        Opcode::buffer_store_format_d16_x,   Opcode::buffer_store_format_d16_xy,
        Opcode::buffer_store_format_d16_xyz, Opcode::buffer_store_format_d16_xyzw,
    };
    return inst.format == Format::MTBUF ||
           (inst.format == Format::MUBUF && std::ranges::find(ops, inst.op) != std::end(ops));
}

bool looks_at_accesses(Opcode op) {
    const Format format = op_info(op).format;
    const Effects& e = effects(op);
    if (e.invalidates || encoding_info(op).gws) return true;
    if (e.access == MemoryAccess::None) return false;
    return format == Format::GLOBAL || format == Format::FLAT || format == Format::SCRATCH ||
           format == Format::MUBUF || format == Format::MTBUF || format == Format::SMEM;
}

void check_global(Wave& w, const Inst& inst) {
    if (!looks_at_accesses(inst.op) || inst.format == Format::SCRATCH) return;
    using Kind = GlobalShadow::Kind;
    const Access access = access_of(inst.op);
    const Kind kind = access == Access::Atomic  ? Kind::Atomic
                      : access == Access::Write ? Kind::Write
                      : is_plain_load(inst)     ? Kind::Read
                                                : Kind::Coherent;
    GlobalShadow& global = w.group->shadow->dispatch->global;
    Finding found;
    if (effects(inst.op).invalidates) {
        const std::lock_guard lock(global.mutex());
        Races(w, inst, access, kind).acquire();
        return;
    }
    if (encoding_info(inst.op).gws) {  // a barrier of all work-groups
        const std::lock_guard lock(global.mutex());
        Races(w, inst, access, kind).acquire_everything();
        return;
    }
    if (inst.format != Format::SMEM) {
        check_lanes(w, inst, access, kind, found);
    } else if (accesses_memory(inst) && !encoding_info(inst.op).v_sharp) {
        const std::lock_guard lock(global.mutex());
        Races races(w, inst, access, kind);
        races.by(0, scalar_address(w, inst), bytes_of(w, inst), false);
        found = races.found();
    }
    if (!found.what) return;
    found.check = machine::check_race;
    found.access = access;
    report(w, inst, found);
}

void check_alignment(Wave& w, const Inst& inst) {
    if (inst.format != Format::SMEM || !accesses_memory(inst)) return;
    if (const std::optional<uint64_t> address = misaligned_scalar_address(w, inst))
        report(w, inst,
               {.check = machine::check_alignment,
                .what = memory::dropped_address_bits,
                .access = access_of(inst.op),
                .bytes = bytes_of(w, inst),
                .address = *address});
}

// Elements larger than a dword need no more than a dword's alignment (but for atomics, which are
// faults otherwise).
void check_unaligned(Wave& w, const Inst& inst) {
    if (inst.format == Format::SMEM || !accesses_memory(inst) || converts(inst)) return;
    Finding found{.check = machine::check_unaligned,
                  .what = memory::no_multiple,
                  .access = access_of(inst.op),
                  .bytes = bytes_of(w, inst)};
    const auto look = [&](uint32_t lane, uint64_t address, uint64_t aperture) {
        if (!found.bytes || address % std::min(found.bytes, 4u) == 0) return;
        if (!found.lanes) found.address = aperture + address;
        found.lanes |= uint64_t{1} << lane;
    };
    each_spot(w, inst, found.bytes, [&](uint32_t lane, Spot spot, uint32_t) {
        const uint64_t aperture = spot.place == Place::Lds       ? machine::shared_aperture
                                  : spot.place == Place::Scratch ? machine::private_aperture
                                                                 : 0;
        if (spot.place != Place::Nowhere) look(lane, spot.address, aperture);
    });
    if (inst.format == Format::DS && is_vector(inst.vaddr()))
        for_each_lane(w.exec(), [&](uint32_t lane) {
            const uint32_t scale = encoding_info(inst.op).two_offsets ? 4 : 1;
            look(lane, vrow(w, inst.vaddr())[lane] + static_cast<uint32_t>(inst.offset) * scale,
                 machine::shared_aperture);
        });
    if (found.lanes) report(w, inst, found);
}

// "Reciprocal with integer division exceptions": what compilers make of divisions of 32 bits.
void check_division(Wave& w, const Inst& inst) {
    Valu v(w, inst);
    Row buffer;
    const uint32_t* divisor = v.fetch(0, 0, buffer);
    Finding found{.check = machine::check_division, .what = memory::divided_by_zero};
    for_each_lane(v.active, [&](uint32_t lane) {
        if (!(divisor[lane] & 0x7fffffff)) found.lanes |= uint64_t{1} << lane;
    });
    if (found.lanes) report(w, inst, found);
}

}  // namespace wj::interp
