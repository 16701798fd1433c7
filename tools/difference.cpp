#include "tools/difference.h"

#include <algorithm>

namespace wj::tools {
namespace {

constexpr std::pair<const char*, wj_engine> engines[] = {{"auto", WJ_ENGINE_AUTO},
                                                         {"interp", WJ_ENGINE_INTERPRETER},
                                                         {"avx2", WJ_ENGINE_AVX2},
                                                         {"avx512", WJ_ENGINE_AVX512}};

}  // namespace

wj_context_options options_of(const Setup& setup) {
    wj_context_options o = WJ_INIT(wj_context_options);
    for (const auto& [name, engine] : engines)
        if (setup.engine == name) o.engine = engine;
    o.memory_mode = setup.memory == "identity" ? WJ_MEMORY_IDENTITY : WJ_MEMORY_CHECKED;
    o.deterministic = 1;
    return o;
}

std::optional<Outcome> run(const std::string& path, const Setup& setup, const LaunchLimits& limits,
                           std::string& why) {
    const auto captured = CapturedContext::open(path, options_of(setup), why);
    if (!captured) return std::nullopt;
    Outcome outcome{captured->launch(limits), {}};
    outcome.memory = captured->memory();
    return outcome;
}

bool differ(const Outcome& a, const Outcome& b) {
    return a.ending.key != b.ending.key || compare(a.memory, b.memory);
}

bool make_read_only(runtime::Capture& capture, uint64_t address, uint64_t bytes) {
    auto& regions = capture.image.regions;
    const auto whole = std::ranges::find_if(regions, [&](const memory::ImageRegion& r) {
        return address >= r.guest && address - r.guest < r.size &&
               (r.rights & (memory::writable | memory::executable)) == memory::writable;
    });
    if (whole == regions.end()) return false;
    const memory::ImageRegion r = *whole;
    regions.erase(whole);
    const auto add = [&](uint64_t begin, uint64_t end, uint32_t rights) {
        if (begin >= end) return;
        memory::ImageRegion part = r;
        part.guest = begin;
        part.size = part.reach = end - begin;
        part.offset += begin - r.guest;
        part.rights = rights;
        part.extent = memory::Extent::Bytes;
        part.pages.clear();
        regions.push_back(std::move(part));
    };
    const uint64_t end = r.guest + r.reach, behind = std::min(address + bytes, end);
    add(r.guest, address, r.rights);
    add(address, behind, r.rights & ~uint32_t{memory::writable});
    add(behind, end, r.rights);
    return true;
}

}  // namespace wj::tools
