// How near to the hardware's the results are of what kernels have executed: which instructions are
// exact, which are bounded, and how (interpreter/coverage.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "frontend/code_object.h"
#include "frontend/target.h"
#include "interpreter/coverage.h"
#include "runtime/covered_code.h"
#include "runtime/device.h"

namespace wj::runtime {

class FidelityReport {
public:
    // What has been reached of an object; objects with one name are one.
    void add(const std::string& name, const CodeObject& object, const Target& target,
             const std::vector<CoveredFunction>& functions);
    // A dispatch ended there, as it is refused.
    void add_refused(const FaultRecord& fault);
    std::string text() const;
    Status write(const std::string& path) const;  // HostError

private:
    struct Instructions {
        std::string note;
        std::set<std::pair<std::string, uint64_t>> places;  // object, ELF address
        uint8_t waves = 0;  // at the place where most came by; 255: or more
    };
    struct LeastExactFirst {
        using Key = std::pair<interp::Fidelity, std::string>;
        bool operator()(const Key& a, const Key& b) const {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        }
    };
    std::map<LeastExactFirst::Key, Instructions, LeastExactFirst> found_;
};

}  // namespace wj::runtime
