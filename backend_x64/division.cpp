// Divisions whose results are not always those of IEEE division.
#include <bit>
#include <cstring>

#include "backend_x64/frame.h"
#include "common/guest_float.h"

namespace wj::x64 {
namespace {

template <class T, T (*quotient)(T, T)>
void divide(Frame& f) {
    for (uint64_t left = f.mask; left; left &= left - 1) {
        const auto at = static_cast<size_t>(std::countr_zero(left)) * sizeof(T);
        auto element = [at](uint32_t* from) { return reinterpret_cast<char*>(from) + at; };
        T n, d;
        std::memcpy(&n, element(f.data[2]), sizeof n);
        std::memcpy(&d, element(f.address_lo), sizeof d);
        const T q = quotient(n, d);
        std::memcpy(element(f.data[0]), &q, sizeof q);
    }
}

// By Division.
constexpr void (*divisions[])(Frame&) = {
    divide<float, gf::div_by_steps<float>>, divide<double, gf::div_by_steps<double>>,
    divide<float, gf::div_by_fractions<false>>, divide<float, gf::div_by_fractions<true>>};

}  // namespace

bool run_division(machine::Wave&, Frame& frame, uint64_t division, uint32_t) {
    divisions[division](frame);
    return true;
}

}  // namespace wj::x64
