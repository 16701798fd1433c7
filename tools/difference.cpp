#include "tools/difference.h"

#include <algorithm>
#include <bit>

#include "frontend/code_object.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

constexpr std::pair<const char*, wj_engine> engines[] = {{"auto", WJ_ENGINE_AUTO},
                                                         {"interp", WJ_ENGINE_INTERPRETER},
                                                         {"avx2", WJ_ENGINE_AVX2},
                                                         {"avx512", WJ_ENGINE_AVX512}};

// Of the first of a failure's lanes.
std::string work_item_of(const Ending& e, const runtime::Capture& capture) {
    const auto object = parse_code_object(capture.code.front().file);
    if (!object || !e.lanes) return "a wave";
    uint32_t wave_size = 64;
    for (const KernelInfo& k : object->kernels)
        if (k.name == capture.launch.kernel) wave_size = k.descriptor.wave_size;
    const auto& block = capture.launch.work_group;
    const uint32_t item = e.wave * wave_size + static_cast<uint32_t>(std::countr_zero(e.lanes));
    return fmt::format("work-item {},{},{}", item % block[0], item / block[0] % block[1],
                       item / block[0] / block[1]);
}

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
    for (const Piece& piece : captured->memory()) outcome.memory.push_back(copy_of(piece));
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

std::string first_writer(runtime::Capture capture, uint64_t address, const Setup& setup,
                         const LaunchLimits& limits) {
    if (!make_read_only(capture, address, 4)) return "no memory that kernels may write is there";
    const TemporaryFile file;
    check(runtime::write_capture(capture, file.path()));
    std::string why;
    const auto outcome = run(file.path(), {setup.engine, "checked"}, limits, why);
    if (!outcome) return why;
    const Ending& e = outcome->ending;
    if (e.status == WJ_OK) return "nobody writes there";
    if (e.status != WJ_GUEST_FAULT || e.address < address || e.address >= address + 4)
        return "not known, as the launch ends before: " + e.key;
    return fmt::format("first written by {} of work-group {},{},{}, {}", work_item_of(e, capture),
                       e.work_group[0], e.work_group[1], e.work_group[2], e.place);
}

}  // namespace wj::tools
