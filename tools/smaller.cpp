#include "tools/smaller.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "frontend/code_object.h"
#include "frontend/each_instruction.h"
#include "frontend/effects.h"
#include "memory/pages.h"
#include "runtime/not_emulated.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

constexpr uint32_t s_nop = 0xbf80'0000;  // on all families

CodeObject object_of(const runtime::Capture& c) {
    auto object = parse_code_object(c.code.front().file);
    if (!object) fail(object.status().message());
    return std::move(*object);
}

// Without it a wave goes on behind it, as behind s_nop.
bool may_be_nop(const Inst& inst) {
    const Flow flow = effects(inst.op).flow;
    return (flow == Flow::Next || flow == Flow::Yield || flow == Flow::Branch) &&
           op_info(inst.op).name != std::string_view("s_nop");
}

struct Range {
    uint64_t begin = 0, bytes = 0;
};

std::vector<Range> code_of(const CodeObject& object, const std::string& kernel) {
    std::vector<Range> ranges;
    for (const KernelInfo& k : object.kernels)
        if (k.name == kernel) ranges.push_back({k.entry_address, k.code_size});
    const auto is_kernel = [&](const Symbol& s) {
        return std::ranges::any_of(
            object.kernels, [&](const KernelInfo& k) { return k.entry_address == s.address; });
    };
    for (const Symbol& s : object.symbols)
        if (s.kind == Symbol::Kind::Function && !s.absolute && !is_kernel(s))
            ranges.push_back({s.address, s.size});
    return ranges;
}

// Bytes that may be changed, in place of those of the capture.
std::span<std::byte> own_copy(runtime::Capture& c, std::span<const std::byte>& bytes) {
    auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    bytes = *copy;
    c.holders.push_back(copy);
    return *copy;
}

void put_nops(std::span<std::byte> bytes, uint64_t at, uint32_t size) {
    for (uint32_t b = 0; b + 4 <= size && at + b + 4 <= bytes.size(); b += 4)
        std::memcpy(bytes.data() + at + b, &s_nop, 4);
}

}  // namespace

Kept leave_out(size_t count, const std::function<bool(const Kept&)>& holds) {
    Kept kept(count, true);
    for (size_t piece = count; piece; piece /= 2)
        for (size_t at = 0; at < count; at += piece) {
            Kept trial = kept;
            std::fill_n(trial.begin() + static_cast<ptrdiff_t>(at), std::min(piece, count - at),
                        false);
            if (trial != kept && holds(trial)) kept = std::move(trial);
        }
    return kept;
}

Smaller::Smaller(runtime::Capture capture) : capture_(std::move(capture)) {
    const auto& l = capture_.launch;
    for (int i = 0; i < 3; i++)
        all_.groups[i] = (l.grid[i] - 1) / std::max(1u, l.work_group[i]) + 1;
    code_blocks_.resize(capture_.image.blocks.size());
    for (size_t i = 0; i < capture_.image.regions.size(); i++) {
        const memory::ImageRegion& r = capture_.image.regions[i];
        if (r.rights & memory::executable)
            code_blocks_[r.block] = true;
        else
            regions_.push_back(i);
    }
    find_pages();
    find_instructions();
    all_.regions.assign(regions_.size(), true);
    all_.pages.assign(pages_.size(), true);
    all_.instructions.assign(instructions_.size(), true);
}

void Smaller::find_pages() {
    for (uint32_t b = 0; b < capture_.image.blocks.size(); b++)
        for (const auto& run : capture_.image.blocks[b].runs)
            for (uint64_t at = memory::page_floor(run.offset);
                 at < run.offset + run.bytes.size() && !code_blocks_[b]; at += memory::page_size)
                if (pages_.empty() || pages_.back().block != b || pages_.back().offset != at)
                    pages_.push_back({b, at});
}

void Smaller::find_instructions() {
    const CodeObject object = object_of(capture_);
    const Target* target = runtime::emulated_target(capture_.target);
    if (!target) fail(runtime::not_emulated(capture_.target));
    for (const KernelInfo& k : object.kernels)
        if (k.name == capture_.launch.kernel)
            if (const Target* own = with_wave_size(*target, k.descriptor.wave_size)) target = own;
    std::set<uint64_t> leaders;
    std::map<uint64_t, Instruction> found;
    for (const Range& range : code_of(object, capture_.launch.kernel)) {
        const auto bytes = object.bytes_at(range.begin, range.bytes);
        if (!bytes) continue;
        leaders.insert(range.begin);
        each_instruction(*target, *bytes, [&](size_t at, const Inst& inst) {
            const uint64_t pc = range.begin + at, next = pc + inst.size;
            const Flow flow = effects(inst.op).flow;
            if (flow != Flow::Next && flow != Flow::Yield) leaders.insert(next);
            if (flow == Flow::Goto || flow == Flow::Branch || flow == Flow::Call)
                leaders.insert(branch_target(inst, next));
            if (may_be_nop(inst)) found[pc] = {pc, inst.size};
        });
    }
    uint64_t leader = 0;
    for (const auto& [pc, instruction] : found) {
        const uint64_t own = *std::prev(leaders.upper_bound(pc));
        if (blocks_.empty() || own != leader) blocks_.emplace_back();
        leader = own;
        blocks_.back().push_back(instructions_.size());
        instructions_.push_back(instruction);
    }
}

runtime::Capture Smaller::with(const Parts& parts) const {
    runtime::Capture c = capture_;
    auto& l = c.launch;
    for (int i = 0; i < 3; i++)
        if (parts.groups[i] < all_.groups[i]) l.grid[i] = parts.groups[i] * l.work_group[i];
    leave_out_memory(c, parts);
    if (std::ranges::count(parts.instructions, false)) leave_out_code(c, parts.instructions);
    return c;
}

void Smaller::leave_out_memory(runtime::Capture& c, const Parts& parts) const {
    for (uint32_t b = 0; b < c.image.blocks.size(); b++)
        if (!code_blocks_[b]) c.image.blocks[b].runs.clear();
    for (size_t i = 0; i < pages_.size(); i++) {
        if (!parts.pages[i]) continue;
        const Page& page = pages_[i];
        for (const auto& run : capture_.image.blocks[page.block].runs) {
            const uint64_t begin = std::max(run.offset, page.offset),
                           end = std::min(run.offset + run.bytes.size(),
                                          page.offset + memory::page_size);
            if (begin < end)
                c.image.blocks[page.block].runs.push_back(
                    {begin, run.bytes.subspan(begin - run.offset, end - begin)});
        }
    }
    std::vector<bool> shown(c.image.blocks.size());
    for (size_t i = regions_.size(); i-- > 0;)
        if (!parts.regions[i])
            c.image.regions.erase(c.image.regions.begin() + static_cast<ptrdiff_t>(regions_[i]));
    for (const memory::ImageRegion& r : c.image.regions) shown[r.block] = true;
    for (uint32_t b = 0; b < c.image.blocks.size(); b++)
        if (!shown[b]) c.image.blocks[b] = {memory::page_size, {}};
}

// In the file and in memory, which is the file's with relocations.
void Smaller::leave_out_code(runtime::Capture& c, const Kept& instructions) const {
    const CodeObject object = object_of(capture_);
    const auto layout = layout_code_object(object);
    if (!layout) fail(layout.status().message());
    const std::span<std::byte> file = own_copy(c, c.code.front().file);
    const memory::ImageRegion* region = nullptr;
    for (const memory::ImageRegion& r : c.image.regions)
        if (r.guest == c.code.front().address) region = &r;
    if (!region) fail("the capture has no memory for its code object");
    auto& runs = c.image.blocks[region->block].runs;
    std::vector<std::span<std::byte>> own;
    for (auto& run : runs) own.push_back(own_copy(c, run.bytes));
    for (size_t i = 0; i < instructions_.size(); i++) {
        if (instructions[i]) continue;
        const Instruction& instruction = instructions_[i];
        for (const Segment& s : object.segments)
            if (instruction.address - s.address < s.file_size)
                put_nops(file, s.file_offset + (instruction.address - s.address),
                         instruction.bytes);
        const uint64_t at = region->offset + (instruction.address - layout->base);
        for (size_t k = 0; k < runs.size(); k++)
            if (at >= runs[k].offset && at - runs[k].offset < own[k].size())
                put_nops(own[k], at - runs[k].offset, instruction.bytes);
    }
}

}  // namespace wj::tools
