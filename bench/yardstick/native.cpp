// The choice of native loops, and those that have no use for vectors.
#include "bench/yardstick/native.h"

#include <algorithm>
#include <vector>

#include "backend_x64/host_tuning.h"
#include "backend_x64/translator.h"

namespace yardstick::native {
namespace {

struct Choice {
    std::string_view name;
    wj::x64::Isa isa;
    const Loops* loops;
};
constexpr Choice kChoices[] = {{"avx512", wj::x64::Isa::Avx512, &avx512_loops},
                               {"avx2", wj::x64::Isa::Avx2, &avx2_loops}};

const Loops*& chosen() {
    static const Loops* loops =
        wj::x64::host_supports(wj::x64::Isa::Avx512) ? &avx512_loops : &avx2_loops;
    return loops;
}

}  // namespace

const Loops& loops() {
    return *chosen();
}

bool choose_loops(std::string_view isa) {
    const auto at = std::ranges::find(kChoices, isa, &Choice::name);
    if (at == std::end(kChoices) || !wj::x64::host_supports(at->isa)) return false;
    chosen() = at->loops;
    return true;
}

void hist256(const uint32_t* in, uint32_t* bins, size_t nwords) {
    std::vector<uint32_t> h(4 * 256);
    uint32_t *a = h.data(), *b = a + 256, *c = b + 256, *d = c + 256;
    for (size_t i = 0; i < nwords; i++) {
        uint32_t w = in[i];
        a[w & 0xff]++;
        b[(w >> 8) & 0xff]++;
        c[(w >> 16) & 0xff]++;
        d[w >> 24]++;
    }
    for (int i = 0; i < 256; i++) bins[i] += a[i] + b[i] + c[i] + d[i];
}

void hist(const uint32_t* in, uint32_t* bins, size_t n, uint32_t mask) {
    for (size_t i = 0; i < n; i++) bins[in[i] & mask]++;
}

void sort(uint32_t* data, size_t n) {
    std::sort(data, data + n);
}

double bf16_peak(uint32_t iters) {
    const bool runs = loops().bf16_peak && wj::x64::has_bf16_products();
    return runs ? loops().bf16_peak(iters) : 0;
}

}  // namespace yardstick::native
