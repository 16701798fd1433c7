// What kernels have reached: lines, functions and branches of the source in the format of lcov,
// which genhtml, gcovr and editors read, or blocks of code in that of drcov, which disassemblers
// read. Devices may share one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "frontend/code_object.h"
#include "frontend/target.h"
#include "machine/coverage.h"
#include "runtime/device.h"
#include "runtime/drcov.h"
#include "runtime/fidelity_report.h"

namespace wj {
class DebugInfo;
}

namespace wj::runtime {

struct CoveredFunction;

class CoverageReport {
public:
    // Of the whole report's edges, where nobody else has counters: so many that of 10,000 edges two
    // share one once in two reports. Pages of those that are never counted take no memory.
    static constexpr uint32_t counter_count = 1u << 26;
    uint8_t* counters();

    // What has been counted in an object so far, before it is unloaded or in between. Objects with
    // one name are one. `coverage`: its places are ELF addresses.
    void add(const std::string& name, const CodeObject& object, const Target& target,
             const machine::Coverage& coverage);
    // For the fidelity report: a dispatch that ended with Code::Unimplemented.
    void add_refused(const FaultRecord& fault);
    // Blocks if the path ends in .drcov, else lines. NotFound: the file is empty, as there is code
    // and none of it has line tables.
    Status write(const std::string& path) const;
    // Those of the coverage and fidelity reports that are named.
    Status write(const ReportFiles& files) const;
    // The same of the last words of a device. Ok where another one has had the same ones.
    Status write_at_end(const ReportFiles& files);

private:
    struct Branch {
        std::string function;  // with line and number the branch's name: objects with the same code
        uint32_t number = 0;   // are one
        auto operator<=>(const Branch&) const = default;
    };
    struct File {
        std::map<uint32_t, uint8_t> lines;                              // waves, at most 255
        std::map<std::string, std::pair<uint32_t, uint8_t>> functions;  // their lines, waves
        // Taken and not, nothing where the branch was never reached.
        std::map<std::pair<uint32_t, Branch>, std::optional<std::array<uint8_t, 2>>> branches;
    };
    struct Unmap {
        void operator()(uint8_t* counters) const;
    };

    void add_lines(const DebugInfo& lines, const std::vector<CoveredFunction>& functions);
    std::string as_lcov() const;

    mutable std::mutex mutex_;
    std::string said_;  // by write_at_end()
    std::unique_ptr<uint8_t, Unmap> counters_;
    std::map<std::string, File> files_;
    std::map<std::string, ReachedObject> objects_;
    FidelityReport fidelity_;
};

}  // namespace wj::runtime
