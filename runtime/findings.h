// What checkers have found: kept by device, each once, with how many dispatches had it.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "machine/group_shadow.h"
#include "runtime/dispatch.h"

namespace wj::runtime {

class Findings {
public:
    // Files or empty. `report` is written when a dispatch has ended that found something, and now;
    // `suppressions` has a line "CHECKER:PATTERN" for each kind of finding that is not reported,
    // where PATTERN (fnmatch) is its kernel or its place in the source and CHECKER may be *.
    Status open(const std::string& report, const std::string& suppressions);

    // False: it is suppressed.
    bool add(const FaultRecord& record);
    std::vector<FaultRecord> all() const;
    void clear();
    // By the name's ending: .json, .sarif or text.
    Status write(const std::string& path) const;
    // To the file that open() was given.
    Status write() const;

private:
    struct Suppression {
        std::string check, pattern;
        bool fits(const FaultRecord& record) const;
    };
    Status read_suppressions(const std::string& path);

    std::string report_;
    std::vector<Suppression> suppressions_;
    mutable std::mutex mutex_;
    std::vector<FaultRecord> records_;
};

// Of a dispatch. The first finding is its fault when it has ended, if it has no other one.
class DispatchFindings final : public machine::FindingSink {
public:
    DispatchFindings(const DispatchState& dispatch, const memory::AddressSpace& memory,
                     Findings& all)
        : dispatch_(dispatch), memory_(memory), all_(all) {
        forget();
    }
    machine::DispatchShadow& shadow() { return *shadow_; }
    void found(const machine::Wave& wave, const machine::Finding& finding) override;
    void found_missed_barrier(GroupContext& group);
    void conclude(DispatchResult& result);
    void forget();

private:
    // The place and the kind: what is found there again is the same.
    using Place = std::tuple<uint64_t, machine::Check, const char*>;
    bool is_new(const Place& place);
    void add(FaultRecord record);

    const DispatchState& dispatch_;
    const memory::AddressSpace& memory_;
    Findings& all_;
    std::unique_ptr<machine::DispatchShadow> shadow_;
    std::mutex mutex_;
    std::set<Place> places_;
    std::unique_ptr<FaultRecord> first_;
    size_t count_ = 0;
};

}  // namespace wj::runtime
