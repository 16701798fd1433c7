#include "runtime/fidelity_report.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "frontend/decode.h"
#include "frontend/each_instruction.h"

namespace wj::runtime {
namespace {

constexpr const char* names[] = {"exact", "bounded", "refused"};

std::string counted(size_t count, const char* thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

void FidelityReport::add(const std::string& name, const CodeObject& object, const Target& target,
                         const std::vector<CoveredFunction>& functions) {
    for (const CoveredFunction& f : functions)
        for (const CoveredBlock& block : f.blocks) {
            if (!block.count) continue;
            const uint64_t begin = block.instructions.front();
            const auto bytes = object.bytes_at(begin, block.end - begin);
            if (!bytes) continue;
            each_instruction(target, *bytes, [&](size_t at, const Inst& inst) {
                const interp::Coverage c = interp::coverage(target.traits, inst);
                Instructions& i = found_[{c.fidelity, std::string(op_info(inst.op).name)}];
                i.note = c.note;
                i.places.emplace(name, begin + at);
                i.waves = std::max(i.waves, block.count);
            });
        }
}

void FidelityReport::add_refused(const FaultRecord& fault) {
    const std::string name = fault.instruction.substr(0, fault.instruction.find(' '));
    Instructions& i = found_[{interp::Fidelity::Refused, name}];
    if (!i.places.empty()) return;  // its block is known to have been reached
    i.note = fault.message;
    i.places.emplace(fault.kernel, fault.kernel_offset);
    i.waves = 1;
}

std::string FidelityReport::text() const {
    size_t places[std::size(names)] = {};
    for (const auto& [key, i] : found_) places[static_cast<size_t>(key.first)] += i.places.size();
    std::ostringstream out;
    out << "# What kernels have executed: places in their code, and waves at the one where most "
           "came by (255: or more).\n";
    for (size_t f = 0; f < std::size(names); f++)
        out << names[f] << ": " << counted(places[f], "place") << '\n';
    for (const auto& [key, i] : found_) {
        out << names[static_cast<size_t>(key.first)] << ' ' << key.second << ": "
            << counted(i.places.size(), "place") << ", " << counted(i.waves, "wave");
        if (!i.note.empty()) out << ": " << i.note;
        out << '\n';
    }
    return out.str();
}

Status FidelityReport::write(const std::string& path) const {
    std::ofstream out(path, std::ios::trunc | std::ios::binary);
    out << text();
    out.close();
    if (out) return Status::ok();
    return {Code::HostError,
            "the fidelity report '" + path + "' cannot be written: " + std::strerror(errno)};
}

}  // namespace wj::runtime
