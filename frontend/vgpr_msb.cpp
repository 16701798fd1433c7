#include "frontend/vgpr_msb.h"

#include <array>

#include "frontend/dual.h"
#include "frontend/encoding.h"

namespace wj {
namespace {

// Which two bits an operand gets.
enum Part : uint8_t { Source0, Source1, Source2, Destination, None };

// Of the sources; first destinations get those of the destination.
using Parts = std::array<Part, 6>;
constexpr Parts plain{Source0, Source1, Source2, None, None, None};  // none: scales of products
constexpr Parts dual{Source0, Source1, Source2, Source0, Source1, Source2};
constexpr Parts flat{Source0, Source1, None, None, None, None};
// The second source, data of a buffer or a place in the LDS, stands in the destination's field.
constexpr Parts in_destination{Source0, Destination, None, None, None, None};

const Parts& parts_of(const Inst& inst) {
    switch (inst.format) {
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH:
            return encoding_info(inst.op).lds_address ? in_destination : flat;
        case Format::MUBUF:
            return in_destination;
        default:
            return is_dual(inst) ? dual : plain;
    }
}

// The third source that VOPD has of an operation that adds to its destination.
bool adds_to_destination(Opcode op) {
    return effects(op).partial && op_info(op).src_count < 3;
}

}  // namespace

void add_vgpr_msb(Inst& inst, uint8_t msb) {
    if (!msb) return;
    const auto add = [&](Operand& o, Part part) {
        if (part == None || !o.is(Operand::Kind::Vgpr)) return;
        o.reg = static_cast<uint16_t>(o.reg + (msb >> 2 * part & 3u) * named_vgprs);
    };
    Parts parts = parts_of(inst);
    if (is_dual(inst)) {
        if (adds_to_destination(inst.op)) parts[2] = Destination;
        if (adds_to_destination(inst.op_y)) parts[5] = Destination;
    }
    for (Operand& o : inst.dst) add(o, Destination);
    for (size_t i = 0; i < inst.src.size(); ++i) add(inst.src[i], parts[i]);
}

}  // namespace wj
