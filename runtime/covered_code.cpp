#include "runtime/covered_code.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/each_instruction.h"
#include "frontend/effects.h"

namespace wj::runtime {
namespace {

struct Range {
    uint64_t begin = 0, end = 0;
    std::string name;
    bool kernel = false;
};

// Where the wave goes on behind an instruction that does not go on by itself.
struct Exit {
    uint64_t next = 0, target = 0;
    Flow flow = Flow::Next;
};

struct Function {
    Range range;
    std::map<uint64_t, uint64_t> instructions;  // their ends, by address
    std::map<uint64_t, Exit> exits;             // by the instruction's address
    std::set<uint64_t> leaders;
};

std::vector<Range> ranges_of(const CodeObject& object) {
    std::vector<Range> found;
    for (const KernelInfo& k : object.kernels)
        if (k.code_size)
            found.push_back({k.entry_address, k.entry_address + k.code_size, k.name, true});
    for (const Symbol& s : object.symbols)
        if (s.kind == Symbol::Kind::Function && s.size && !s.absolute)
            found.push_back({s.address, s.address + s.size, s.name, false});
    // Kernels first, as a symbol with the same address is the same code.
    std::ranges::stable_sort(found, {},
                             [](const Range& r) { return std::pair(r.begin, !r.kernel); });
    std::vector<Range> apart;
    for (Range& r : found)
        if (apart.empty() || r.begin >= apart.back().end) apart.push_back(std::move(r));
    return apart;
}

Function decode_function(const CodeObject& object, const Target& target, Range range) {
    Function f{.range = std::move(range), .instructions = {}, .exits = {}, .leaders = {}};
    f.leaders.insert(f.range.begin);
    const auto code = object.bytes_at(f.range.begin, f.range.end - f.range.begin);
    if (!code) return f;
    each_instruction(target, *code, [&](size_t at, const Inst& inst) {
        const uint64_t pc = f.range.begin + at, next = pc + inst.size;
        f.instructions[pc] = next;
        const Flow flow = effects(inst.op).flow;
        if (flow == Flow::Next || flow == Flow::Yield) return;
        const bool direct = flow == Flow::Goto || flow == Flow::Branch || flow == Flow::Call;
        const uint64_t to = direct ? branch_target(inst, next) : 0;
        f.exits[pc] = {next, to, flow};
        f.leaders.insert(next);
        if (to - f.range.begin < f.range.end - f.range.begin) f.leaders.insert(to);
    });
    return f;
}

uint8_t saturated(uint32_t count) {
    return static_cast<uint8_t>(std::min<uint32_t>(count, 255));
}

class Counts {
public:
    explicit Counts(const machine::Coverage& coverage) : coverage_(coverage) {}

    uint8_t of(uint64_t from, uint64_t to) const {
        const auto [full, divided] = coverage_.edge(from, to);
        uint32_t count = coverage_.counters[full];
        const uint32_t parts = coverage_.lanes ? machine::Coverage::lane_ranges : 1;
        for (uint32_t p = 0; coverage_.splits() && p < parts; p++)
            if (divided + p != full) count += coverage_.counters[divided + p];
        return saturated(count);
    }
    void add(const Function& f, const std::set<uint64_t>& places) {
        for (const auto& [pc, exit] : f.exits) {
            if (exit.target) arrive(exit.next, exit.target);
            if (exit.flow == Flow::Branch) arrive(exit.next, exit.next);
            if (exit.flow != Flow::Jump) continue;
            for (const uint64_t to : places) arrive(exit.next, to);
            for (const uint64_t to : f.leaders)
                if (!places.contains(to)) arrive(exit.next, to);
        }
    }
    uint32_t arrived(uint64_t at) const {
        const auto found = arrived_.find(at);
        return found == arrived_.end() ? 0 : found->second;
    }

private:
    void arrive(uint64_t from, uint64_t to) { arrived_[to] += of(from, to); }

    const machine::Coverage& coverage_;
    std::map<uint64_t, uint32_t> arrived_;
};

// What leaves an exit, of all that is known to.
uint32_t left(const Exit& exit, const Counts& counts) {
    switch (exit.flow) {
        case Flow::End:
            return counts.of(exit.next, machine::Coverage::nowhere);
        case Flow::Branch:
            return counts.of(exit.next, exit.target) + counts.of(exit.next, exit.next);
        case Flow::Goto:
        case Flow::Call:
            return counts.of(exit.next, exit.target);
        default:
            return 0;
    }
}

// Of a kernel's first block: what leaves at the first exit less what came in by other ways.
uint32_t started(const Function& f, const Counts& counts) {
    uint32_t any = 0;
    for (const auto& [pc, exit] : f.exits) any += left(exit, counts);
    if (!any || f.exits.empty()) return 0;
    const auto& [pc, exit] = *f.exits.begin();
    uint32_t others = 0;
    for (const uint64_t leader : f.leaders)
        if (leader > f.range.begin && leader <= pc) others += counts.arrived(leader);
    const uint32_t all = left(exit, counts);
    return all > others ? all - others : 1;
}

CoveredFunction blocks_of(const Function& f, const Counts& counts) {
    CoveredFunction out{f.range.name, {}};
    bool goes_on = false;
    for (const auto& [pc, end] : f.instructions) {
        if (f.leaders.contains(pc)) {
            uint32_t count = counts.arrived(pc);
            if (goes_on) count += out.blocks.back().count;
            if (f.range.kernel && pc == f.range.begin) count += started(f, counts);
            out.blocks.push_back({.instructions = {}, .count = saturated(count), .branch = {}});
        }
        if (out.blocks.empty()) continue;
        CoveredBlock& block = out.blocks.back();
        block.instructions.push_back(pc);
        block.end = end;
        const auto exit = f.exits.find(pc);
        goes_on = exit == f.exits.end();
        if (!goes_on && exit->second.flow == Flow::Branch)
            block.branch = {counts.of(exit->second.next, exit->second.target),
                            counts.of(exit->second.next, exit->second.next)};
    }
    return out;
}

}  // namespace

std::vector<CoveredFunction> covered_functions(const CodeObject& object, const Target& target,
                                               const machine::Coverage& coverage) {
    std::vector<Function> functions;
    for (Range& range : ranges_of(object))
        functions.push_back(decode_function(object, target, std::move(range)));
    // Where jumps by a register may lead: functions, and behind calls.
    std::set<uint64_t> places;
    for (const Function& f : functions) {
        if (!f.range.kernel) places.insert(f.range.begin);
        for (const auto& [pc, exit] : f.exits)
            if (exit.flow == Flow::Call || exit.flow == Flow::Jump) places.insert(exit.next);
    }
    Counts counts(coverage);
    for (const Function& f : functions) counts.add(f, places);
    std::vector<CoveredFunction> out;
    for (const Function& f : functions) out.push_back(blocks_of(f, counts));
    return out;
}

}  // namespace wj::runtime
