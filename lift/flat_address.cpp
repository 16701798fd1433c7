// Addresses of FLAT instructions where the lane is a part of private memory's addresses (gfx12.5).
#include "lift/address.h"

namespace wj::lift {

Value flat_scratch_base(Lifter& l) {
    return l.emit(Op::UOr64,
                  {l.emit(Op::ScratchBase, {}), l.s.const64(machine::flat_scratch_base(0))});
}

// Op::LoadFlat and its kin know private memory by the aperture of other processors. So an address
// that begins with the bits of this one's becomes the lane's offset in that: of another lane, or in
// front of the lane's own memory, an offset that no lane has. The other aperture is nothing here,
// and becomes an address that is not canonical, where an access faults as well.
FlatAddress flat_address(Lifter& l, const Inst& i) {
    if (!l.options.target->traits.flat_scratch_has_lane) return {address64(l, i), offset_of(i)};
    constexpr auto aperture = static_cast<uint32_t>(machine::private_aperture >> 32);
    constexpr uint32_t high_shift = machine::lane_aperture_shift - 32,
                       lane_shift = machine::scratch_lane_shift - 32;
    const Value address = l.emit(Op::Add64, {whole_address(l, i), l.c64(offset_of(i))});
    const Value low = l.emit(Op::Lo, {address}), high = l.emit(Op::Hi, {address});
    const Value base = flat_scratch_base(l);
    const Value lane_high =
        l.emit(Op::Or32, {l.s.splat(l.emit(Op::UHi, {base})),
                          l.emit(Op::Shl32, {l.emit(Op::LaneId, {}), l.c32(lane_shift)})});
    const Value offset =
        l.emit(Op::Sub64, {address, l.s.pack(l.s.splat(l.emit(Op::ULo, {base})), lane_high)});
    const auto equal = [&](Value x, uint32_t y) { return l.emit(Op::CmpEq32, {x, l.c32(y)}); };
    const auto either = [&](Value mask, Value a, Value b) {
        return l.emit(Op::Select32, {mask, a, b});
    };
    const Value is_private =
        equal(l.emit(Op::Shr32, {high, l.c32(high_shift)}), machine::lane_aperture);
    const Value in_lane =
        either(equal(l.emit(Op::Hi, {offset}), 0), l.emit(Op::Lo, {offset}), l.c32(~0u));
    const Value elsewhere = either(equal(high, aperture), l.c32(aperture | 1u << 31), high);
    return {
        l.s.pack(either(is_private, in_lane, low), either(is_private, l.c32(aperture), elsewhere)),
        0};
}

}  // namespace wj::lift
