// Divisions by steps whose results are not always those of IEEE division.
#include <bit>
#include <cstring>

#include "backend_x64/frame.h"
#include "common/guest_float.h"

namespace wj::x64 {
namespace {

template <class T>
void divide(Frame& f) {
    for (uint64_t left = f.mask; left; left &= left - 1) {
        const auto at = static_cast<size_t>(std::countr_zero(left)) * sizeof(T);
        auto element = [at](uint32_t* from) { return reinterpret_cast<char*>(from) + at; };
        T n, d;
        std::memcpy(&n, element(f.data[2]), sizeof n);
        std::memcpy(&d, element(f.address_lo), sizeof d);
        const T q = gf::div_by_steps(n, d);
        std::memcpy(element(f.data[0]), &q, sizeof q);
    }
}

}  // namespace

bool run_division(machine::Wave&, Frame& frame, uint64_t bits, uint32_t) {
    bits == 64 ? divide<double>(frame) : divide<float>(frame);
    return true;
}

}  // namespace wj::x64
