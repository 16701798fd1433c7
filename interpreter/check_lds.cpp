// LDS: beyond what the work-group has, unwritten, raced for.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "interpreter/check_parts.h"
#include "interpreter/lds_spots.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

using machine::LdsShadow;

// An access of the wave, as its lanes make it.
class LdsAccess {
public:
    LdsAccess(Wave& w, Access access)
        : w_(w),
          shadow_(w.group->shadow->lds),
          size_(std::min<uint64_t>(shadow_.size(), w.lds_size)),
          wave_(static_cast<uint16_t>(w.wave_in_group)),
          checks_(w.ctx->checks),
          access_(access) {}

    // each(f) calls f(lane, its address, its bytes, part) for what it accesses, part being 0 or 1.
    // What lies side by side is looked at in one go; lane by lane only what there is something to
    // say of.
    template <class Each>
    void of(const Inst& inst, Each&& each) {
        std::array<Run, 2> runs;
        bool plain = !looks_at_cells() || access_ != Access::Atomic;
        each([&](uint32_t, uint64_t at, uint32_t bytes, uint32_t part) {
            plain = plain && (runs[part].extends(at, bytes) || note(runs[part].restart(at, bytes)));
        });
        if (plain && note(runs[0]) && note(runs[1])) return;
        each([&](uint32_t lane, uint64_t at, uint32_t bytes, uint32_t) { by(lane, at, bytes); });
        tell(inst);
    }

private:
    struct Run {
        uint64_t begin = 0, end = 0;
        bool extends(uint64_t at, uint32_t bytes) {
            if (at == end) end += bytes;
            return at >= begin && at + bytes <= end;
        }
        // Returns what was there.
        Run restart(uint64_t at, uint32_t bytes) {
            return std::exchange(*this, Run{at, at + bytes});
        }
    };
    bool note(const Run& run) {
        return run.end <= size_ &&
               (!looks_at_cells() || shadow_.note_plain(wave_, access_ == Access::Write, run.begin,
                                                        run.end - run.begin));
    }
    bool looks_at_cells() const { return checks_ & (machine::check_init | machine::check_race); }
    void by(uint32_t lane, uint64_t at, uint32_t bytes) {
        Found found;
        if (at + bytes > size_) found.add(check_memory_beyond(checks_));
        if (looks_at_cells()) {
            const uint64_t end = std::min(at + bytes, size_), step = shadow_.split(at, bytes);
            for (uint64_t b = at; b < end; b += step) found.add(note(shadow_.cell(b)));
        }
        if (!found.reason || (first_.reason && found.reason != first_.reason)) return;
        if (!first_.reason) first_ = found, address_ = at, bytes_ = bytes;
        lanes_ |= uint64_t{1} << lane;
    }

    void tell(const Inst& inst) const {
        if (!first_.reason) return;
        report(w_, inst,
               {.check = first_.check,
                .what = first_.reason,
                .lanes = lanes_,
                .access = access_,
                .bytes = bytes_,
                .address = machine::shared_aperture + address_});
    }

    struct Found {
        const char* reason = nullptr;
        machine::Check check{};
        void add(const Found& f) {
            if (!reason) *this = f;
        }
    };
    static Found check_memory_beyond(uint32_t checks) {
        if (!(checks & machine::check_memory)) return {};
        return {memory::beyond_lds, machine::check_memory};
    }
    bool others(uint16_t who) const { return who != LdsShadow::nobody && who != wave_; }
    uint16_t joined(uint16_t who) const {
        return who == LdsShadow::nobody || who == wave_ ? wave_ : LdsShadow::several;
    }

    // Reads and writes of different waves between two barriers have no order, nor have two writes.
    // Atomics have one among themselves; loads beside them look like atomic loads, as those in
    // front of a loop of compare-and-swap.
    Found note(LdsShadow::Cell& b) {
        const bool reads = access_ != Access::Write, writes = access_ != Access::Read,
                   atomic = access_ == Access::Atomic;
        Found found;
        if (reads && !b.written && checks_ & machine::check_init)
            found.add({memory::unwritten_lds, machine::check_init});
        if (checks_ & machine::check_race) {
            if (others(b.writer) && !(b.atomic && reads))
                found.add({memory::raced_with_write, machine::check_race});
            if (writes && !atomic && others(b.reader))
                found.add({memory::raced_with_read, machine::check_race});
        }
        if (writes) {
            b.atomic = atomic && (b.writer == LdsShadow::nobody || b.atomic);
            b.writer = joined(b.writer);
            b.written = true;
        } else {
            b.reader = joined(b.reader);
        }
        return found;
    }

    Wave& w_;
    LdsShadow& shadow_;
    const uint64_t size_;
    const uint16_t wave_;
    const uint32_t checks_;
    const Access access_;
    Found first_;  // what is told of, and of these lanes
    uint32_t bytes_ = 0;
    uint64_t address_ = 0, lanes_ = 0;
};

void check_ds(Wave& w, const Inst& inst) {
    LdsAccess access(w, access_of(inst.op));
    access.of(inst, [&](auto&& f) { each_ds(w, inst, f); });
}

void check_flat(Wave& w, const Inst& inst) {
    const Effects& e = effects(inst.op);
    if (e.access == MemoryAccess::None) return;
    const FlatAddress address(w, inst);
    LdsAccess access(w, access_of(inst.op));
    access.of(inst, [&](auto&& f) {
        for_each_lane(w.exec(), [&](uint32_t lane) {
            const Spot spot = address.spot(lane, 0);
            if (spot.place == Place::Lds) f(lane, static_cast<uint32_t>(spot.address), e.bytes, 0);
        });
    });
}

void check_load(Wave& w, const Inst& inst) {
    const WholeLds whole(w);
    LdsAccess access(w, Access::Write);
    access.of(inst, [&](auto&& f) { each_lds_slot(w, inst, f); });
}

}  // namespace

void check_lds(Wave& w, const Inst& inst) {
    switch (inst.format) {
        case Format::DS:
            return check_ds(w, inst);
        case Format::FLAT:
            return check_flat(w, inst);
        case Format::GLOBAL:
        case Format::SCRATCH:
        case Format::MUBUF:
            if (loads_to_lds(inst)) check_load(w, inst);
            return;
        default:
            return;
    }
}

bool looks_at_lds(Opcode op) {
    const Format format = op_info(op).format;
    return (format == Format::DS || format == Format::FLAT) &&
           effects(op).access != MemoryAccess::None;
}

}  // namespace wj::interp
