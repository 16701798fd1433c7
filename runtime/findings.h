// What checkers have found: kept by device or by several together, each once, with how many
// dispatches had it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
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
    size_t size() const;
    std::optional<FaultRecord> at(size_t index) const;  // none: there are not so many
    void clear();
    // By the name's ending: .json, .sarif or text. Devices that share findings write one after the
    // other.
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
    mutable std::mutex file_mutex_, mutex_;
    std::vector<FaultRecord> records_;
};

// Of a dispatch. When it has ended the first finding is its fault, if it has no other one: the
// first of the first work-group, whichever thread was faster.
class DispatchFindings final : public machine::FindingSink {
public:
    // unwritten: null without machine::check_init.
    DispatchFindings(const DispatchState& dispatch, const memory::AddressSpace& memory,
                     Findings& all, machine::UnwrittenMemory* unwritten)
        : dispatch_(dispatch), memory_(memory), all_(all), unwritten_(unwritten) {
        forget();
    }
    machine::DispatchShadow& shadow() { return *shadow_; }
    void found(const machine::Wave& wave, const machine::Finding& finding) override;
    void found_missed_barrier(GroupContext& group);
    void conclude(DispatchResult& result);
    void forget();

private:
    bool is_atomic_anyway(uint64_t address) const;
    // The place and the kind: what is found there again is the same.
    using Place = std::tuple<uint64_t, machine::Check, const char*>;
    struct Found {
        uint64_t group = 0;   // linear_id
        uint64_t number = 0;  // what one work-group finds has ascending ones
        FaultRecord record;
        enum { New, Told, Suppressed } kind = New;  // a dispatch that goes on concludes again
    };
    // Keeps what `report()` makes, unless the same is known of this work-group or one before it.
    template <typename Report>
    void keep(const Place& place, uint64_t group, Report report);

    const DispatchState& dispatch_;
    const memory::AddressSpace& memory_;
    Findings& all_;
    machine::UnwrittenMemory* const unwritten_;
    std::unique_ptr<machine::DispatchShadow> shadow_;
    std::mutex mutex_;
    std::map<Place, Found> found_;
    uint64_t next_number_ = 0;
};

}  // namespace wj::runtime
