#include "runtime/coverage_report.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <ranges>
#include <sstream>

#include "frontend/debug_info.h"
#include "runtime/covered_code.h"

namespace wj::runtime {
namespace {

// What a function has from one file. Line tables do not say where a function stands: it is taken to
// begin at the first line of the file that most of it is from.
struct FilePart {
    explicit FilePart(uint32_t line) : first_line(line) {}
    uint32_t first_line, instructions = 0;
};

bool has_line(const std::optional<SourceLocation>& at) {
    return at && !at->approximate && at->line;
}

}  // namespace

void CoverageReport::Unmap::operator()(uint8_t* counters) const {
    munmap(counters, counter_count);
}

uint8_t* CoverageReport::counters() {
    std::lock_guard lock(mutex_);
    if (!counters_) {
        void* const made = mmap(nullptr, counter_count, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) throw std::bad_alloc();
        counters_.reset(static_cast<uint8_t*>(made));
    }
    return counters_.get();
}

void CoverageReport::add(const std::string& name, const CodeObject& object, const Target& target,
                         const machine::Coverage& coverage) {
    const auto functions = covered_functions(object, target, coverage);
    const auto layout = layout_code_object(object);
    const DebugInfo lines = DebugInfo::read(object);
    std::lock_guard lock(mutex_);
    fidelity_.add(name, object, target, functions);
    if (layout) {
        ReachedObject& reached = objects_[name];
        reached.bytes = layout->size;
        for (const CoveredFunction& f : functions)
            for (const CoveredBlock& block : f.blocks)
                if (block.count)
                    reached.blocks[block.instructions.front() - layout->base] =
                        block.end - block.instructions.front();
    }
    if (!lines.empty()) add_lines(lines, functions);
}

void CoverageReport::add_refused(const FaultRecord& fault) {
    std::lock_guard lock(mutex_);
    fidelity_.add_refused(fault);
}

void CoverageReport::add_lines(const DebugInfo& lines,
                               const std::vector<CoveredFunction>& functions) {
    const auto raise = [](uint8_t& count, uint8_t to) { count = std::max(count, to); };
    for (const CoveredFunction& f : functions) {
        if (f.blocks.empty()) continue;
        std::map<std::string, FilePart> parts;
        uint32_t branches = 0;
        for (const CoveredBlock& block : f.blocks) {
            std::optional<SourceLocation> at;
            for (const uint64_t pc : block.instructions) {
                if (at = lines.find(pc); !has_line(at)) continue;
                raise(files_[at->file].lines[at->line], block.count);
                parts.try_emplace(at->file, at->line).first->second.instructions++;
            }
            if (!block.branch || !has_line(at)) continue;
            auto& branch = files_[at->file].branches[{at->line, {f.name, branches++}}];
            if (!block.count) continue;
            if (!branch) branch.emplace();
            raise((*branch)[0], block.branch->taken);
            raise((*branch)[1], block.branch->not_taken);
        }
        const auto own = std::ranges::max_element(
            parts, {}, [](const auto& part) { return part.second.instructions; });
        if (own == parts.end()) continue;
        auto& [line, count] = files_[own->first].functions[f.name];
        line = own->second.first_line;
        raise(count, f.blocks.front().count);
    }
}

std::string CoverageReport::as_lcov() const {
    std::ostringstream out;
    const auto reached = [](const auto& counts) {
        return std::ranges::count_if(counts, [](uint8_t count) { return count != 0; });
    };
    for (const auto& [name, file] : files_) {
        out << "TN:\nSF:" << name << '\n';
        for (const auto& [function, at] : file.functions)
            out << "FN:" << at.first << ',' << function << '\n';
        for (const auto& [function, at] : file.functions)
            out << "FNDA:" << +at.second << ',' << function << '\n';
        out << "FNF:" << file.functions.size()
            << "\nFNH:" << reached(file.functions | std::views::values | std::views::values)
            << '\n';
        size_t taken = 0, block = 0;
        for (const auto& [where, counts] : file.branches) {
            for (size_t way = 0; way < 2; way++) {
                out << "BRDA:" << where.first << ',' << block << ',' << way << ',';
                if (counts)
                    out << +(*counts)[way] << '\n';
                else
                    out << "-\n";
                taken += counts && (*counts)[way];
            }
            block++;
        }
        out << "BRF:" << 2 * file.branches.size() << "\nBRH:" << taken << '\n';
        for (const auto& [line, count] : file.lines) out << "DA:" << line << ',' << +count << '\n';
        out << "LF:" << file.lines.size() << "\nLH:" << reached(file.lines | std::views::values)
            << "\nend_of_record\n";
    }
    return out.str();
}

Status CoverageReport::write(const std::string& path) const {
    std::lock_guard lock(mutex_);
    const bool blocks = path.ends_with(".drcov");
    if (blocks && objects_.size() > drcov_objects)
        return {Code::OutOfRange, "the coverage report '" + path +
                                      "' cannot be written: drcov knows " +
                                      std::to_string(drcov_objects) + " code objects, and " +
                                      std::to_string(objects_.size()) + " were run"};
    std::ofstream out(path, std::ios::trunc | std::ios::binary);
    out << (blocks ? as_drcov(objects_) : as_lcov());
    out.close();
    if (!out)
        return {Code::HostError,
                "the coverage report '" + path + "' cannot be written: " + std::strerror(errno)};
    if (!blocks && files_.empty() && !objects_.empty())
        return {Code::NotFound, "the coverage report '" + path +
                                    "' is empty: no kernel's code has line tables; compile with "
                                    "-g or -gline-tables-only, or name a file *.drcov, which "
                                    "tells blocks instead of lines"};
    return Status::ok();
}

Status CoverageReport::write(const ReportFiles& files) const {
    if (!files.fidelity.empty()) {
        std::lock_guard lock(mutex_);
        if (Status status = fidelity_.write(files.fidelity); !status) return status;
    }
    return files.coverage.empty() ? Status::ok() : write(files.coverage);
}

Status CoverageReport::write_at_end(const ReportFiles& files) {
    Status status = write(files);
    if (status) return status;
    std::lock_guard lock(mutex_);
    if (said_ == status.message()) return Status::ok();
    said_ = status.message();
    return status;
}

}  // namespace wj::runtime
