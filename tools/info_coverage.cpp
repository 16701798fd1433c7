// wavejit info --coverage: which instructions of a kernel are not exact, or refused, before it
// runs.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "frontend/code_object.h"
#include "frontend/decode.h"
#include "frontend/effects.h"
#include "interpreter/coverage.h"
#include "tools/info_coverage.h"

namespace wj::tools {
namespace {

using interp::Coverage;
using interp::Fidelity;

struct Finding {
    Coverage coverage;
    std::string text;
    std::vector<uint64_t> pcs;
};

class Scan {
public:
    Scan(const Target& target, const CodeObject& object) : target_(target), object_(object) {}

    // Follows branches from `entry`; a block of undecodable bytes ends a path with a finding.
    void function(uint64_t entry) { todo_.insert(entry); }
    void run() {
        while (!todo_.empty()) {
            uint64_t pc = *todo_.begin();
            todo_.erase(todo_.begin());
            while (done_.insert(pc).second && step(pc)) {
            }
        }
    }

    bool indirect() const { return indirect_; }
    uint64_t instructions() const { return instructions_; }
    const std::map<std::string, Finding>& findings() const { return findings_; }

private:
    // False: the path ends here. Moves pc on.
    bool step(uint64_t& pc) {
        uint32_t words[most_instruction_words];
        size_t count = 0;
        for (; count < most_instruction_words; ++count) {
            const auto bytes = object_.bytes_at(pc + 4 * count, 4);
            if (!bytes || bytes->size() < 4) break;
            std::memcpy(&words[count], bytes->data(), 4);
        }
        Inst inst;
        if (!count || !decode(target_, std::span<const uint32_t>(words, count), inst)) {
            add(pc, {Fidelity::Refused, "no instruction of this target"}, "(undefined bytes)");
            return false;
        }
        ++instructions_;
        const Coverage c = interp::coverage(target_.traits, inst);
        if (c.fidelity != Fidelity::Exact) add(pc, c, std::string(op_info(inst.op).name));
        const uint64_t next = pc + inst.size;
        const Effects& e = effects(inst.op);
        const bool goes = e.flow == Flow::Goto || e.flow == Flow::Branch || e.flow == Flow::Call;
        const bool named = inst.format == Format::SOPP || inst.format == Format::SOPK;
        if (goes && named) todo_.insert(branch_target(inst, next));
        if (e.flow == Flow::Jump || (goes && !named)) indirect_ = true;
        if (e.flow == Flow::End || e.flow == Flow::Goto) return false;
        // One that stores where it came from is a call.
        if (e.flow == Flow::Jump && !inst.dst[0].present()) return false;
        pc = next;
        return true;
    }

    void add(uint64_t pc, const Coverage& c, const std::string& text) {
        Finding& f = findings_[text];
        f.coverage = c;
        f.text = text;
        f.pcs.push_back(pc);
    }

    const Target& target_;
    const CodeObject& object_;
    std::set<uint64_t> todo_, done_;
    std::map<std::string, Finding> findings_;
    uint64_t instructions_ = 0;
    bool indirect_ = false;
};

bool is_kernel(const CodeObject& object, uint64_t address) {
    return std::any_of(object.kernels.begin(), object.kernels.end(),
                       [&](const KernelInfo& k) { return k.entry_address == address; });
}

void print_finding(const Finding& f, uint64_t entry) {
    const bool refused = f.coverage.fidelity == Fidelity::Refused;
    std::string where;
    for (size_t i = 0; i < f.pcs.size() && i < 4; ++i)
        where += fmt::format("{}{:+#x}", i ? ", " : "",
                             static_cast<int64_t>(f.pcs[i]) - static_cast<int64_t>(entry));
    if (f.pcs.size() > 4) where += fmt::format(" and {} more", f.pcs.size() - 4);
    fmt::print("    {} {} at {}: {}\n", refused ? "refused" : "bounded", f.text, where,
               f.coverage.note);
}

}  // namespace

bool print_coverage(const Target& target, const CodeObject& object, const std::string& only) {
    bool all_run = true;
    for (const KernelInfo& k : object.kernels) {
        if (!only.empty() && k.name != only) continue;
        Scan scan(*with_wave_size(target, k.descriptor.wave_size), object);
        scan.function(k.entry_address);
        scan.run();
        if (scan.indirect()) {
            // Called through registers: any function of the object that is no kernel may be meant.
            for (const Symbol& s : object.symbols)
                if (s.kind == Symbol::Kind::Function && !is_kernel(object, s.address))
                    scan.function(s.address);
            scan.run();
        }
        size_t refused = 0, bounded = 0;
        for (const auto& [text, f] : scan.findings())
            (f.coverage.fidelity == Fidelity::Refused ? refused : bounded) += f.pcs.size();
        fmt::print(
            "  {}\n    {} instructions: {}{}\n", k.name, scan.instructions(),
            refused   ? fmt::format("{} refused, {} not exact", refused, bounded)
            : bounded ? fmt::format("all run, {} not exact", bounded)
                      : "all exact",
            scan.indirect() ? " (calls through registers: every function was looked at)" : "");
        for (const auto& [text, f] : scan.findings()) print_finding(f, k.entry_address);
        all_run = all_run && !refused;
    }
    return all_run;
}

}  // namespace wj::tools
