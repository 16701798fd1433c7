#include "runtime/findings.h"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>

#include "runtime/fault_report.h"

namespace wj::runtime {
namespace {

constexpr size_t most_places = 1000;  // of a dispatch

bool matches(const std::string& pattern, const std::string& text) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool is_checker(const std::string& name) {
    return name == "*" ||
           std::ranges::any_of(check_names, [&](const auto& known) { return name == known.first; });
}

}  // namespace

bool Findings::Suppression::fits(const FaultRecord& record) const {
    return (check == "*" || check == record.check) &&
           (matches(pattern, record.kernel) || matches(pattern, record.source));
}

Status Findings::open(const std::string& report, const std::string& suppressions) {
    report_ = report;
    if (Status status = read_suppressions(suppressions); !status) return status;
    return write();
}

Status Findings::read_suppressions(const std::string& path) {
    if (path.empty()) return Status::ok();
    std::ifstream file(path);
    if (!file) return {Code::NotFound, "the file of suppressions '" + path + "' cannot be read"};
    std::string line;
    for (int number = 1; std::getline(file, line); number++) {
        line.erase(std::min(line.find('#'), line.size()));
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
            line.pop_back();
        if (line.empty()) continue;
        const size_t colon = line.find(':');
        if (colon == std::string::npos || !is_checker(line.substr(0, colon)))
            return {Code::InvalidArgument,
                    path + ":" + std::to_string(number) +
                        ": a suppression is CHECKER:PATTERN, for instance race:histogram* or "
                        "*:*/block_load.hpp:*"};
        suppressions_.push_back({line.substr(0, colon), line.substr(colon + 1)});
    }
    return Status::ok();
}

bool Findings::add(const FaultRecord& record) {
    if (std::ranges::any_of(suppressions_, [&](const auto& s) { return s.fits(record); }))
        return false;
    std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(records_, record.key, &FaultRecord::key);
    if (known == records_.end())
        records_.push_back(record);
    else
        known->occurrences++;
    return true;
}

std::vector<FaultRecord> Findings::all() const {
    std::lock_guard lock(mutex_);
    return records_;
}

void Findings::clear() {
    std::lock_guard lock(mutex_);
    records_.clear();
}

Status Findings::write() const {
    return report_.empty() ? Status::ok() : write(report_);
}

void DispatchFindings::forget() {
    shadow_ = std::make_unique<machine::DispatchShadow>(*this);
    places_.clear();
    first_.reset();
    count_ = 0;
}

bool DispatchFindings::is_new(const Place& place) {
    std::lock_guard lock(mutex_);
    return places_.size() < most_places && places_.insert(place).second;
}

void DispatchFindings::add(FaultRecord record) {
    if (!all_.add(record)) return;
    std::lock_guard lock(mutex_);
    count_++;
    if (!first_) first_ = std::make_unique<FaultRecord>(std::move(record));
}

void DispatchFindings::found(const machine::Wave& wave, const machine::Finding& finding) {
    if (is_new({finding.pc, finding.check, finding.what}))
        add(finding_report(memory_, dispatch_, wave, finding));
}

void DispatchFindings::found_missed_barrier(GroupContext& group) {
    FaultRecord record = missed_barrier_report(memory_, dispatch_, group);
    if (is_new({record.exit.pc, machine::check_barrier, nullptr})) add(std::move(record));
}

// A fault is a finding, too, of its own kind.
void DispatchFindings::conclude(DispatchResult& result) {
    std::lock_guard lock(mutex_);
    if (result.code != Code::Ok) {
        FaultRecord& fault = result.fault;
        fault.check = "fault";
        fault.key =
            fault.check + ":" + fault.kernel + ":" + fault.place + ":" + code_name(fault.code);
        all_.add(fault);
    } else if (first_) {
        result.code = first_->code;
        result.fault = *first_;
        if (count_ > 1)
            result.fault.notes.push_back("and " + std::to_string(count_ - 1) +
                                         " more findings in this dispatch: WAVEJIT_CHECK_REPORT "
                                         "names a file for all of them");
    }
    // Where it cannot be written it could not be when it was opened.
    if (result.code != Code::Ok) (void)all_.write();
}

}  // namespace wj::runtime
