// Divisions whose results are not always those of IEEE division.
#include <bit>
#include <cstring>

#include "backend_x64/frame.h"
#include "common/guest_float.h"

namespace wj::x64 {
namespace {

template <class T>
void divide(Frame& f, T (*quotient)(T, T)) {
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

}  // namespace

bool run_division(machine::Wave&, Frame& frame, uint64_t division, uint32_t) {
    switch (static_cast<Division>(division)) {
        case Division::Steps32:
            divide<float>(frame, gf::div_by_steps<float>);
            break;
        case Division::Steps64:
            divide<double>(frame, gf::div_by_steps<double>);
            break;
        case Division::Fractions32:
            divide<float>(frame, gf::div_by_fractions<false>);
            break;
        case Division::FractionsReciprocalFirst32:
            divide<float>(frame, gf::div_by_fractions<true>);
            break;
    }
    return true;
}

}  // namespace wj::x64
