#include "runtime/findings.h"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>

#include "memory/labels.h"
#include "runtime/fault_report.h"
#include "runtime/kernel_pattern.h"

namespace wj::runtime {
namespace {

constexpr size_t most_places = 1000;  // of a dispatch

bool is_checker(const std::string& name) {
    return name == "*" ||
           std::ranges::any_of(check_names, [&](const auto& known) { return name == known.first; });
}

}  // namespace

bool Findings::Suppression::fits(const FaultRecord& record) const {
    return (check == "*" || check == record.check) &&
           (kernel_fits(pattern, record.kernel) ||
            fnmatch(pattern.c_str(), record.source.c_str(), 0) == 0);
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

size_t Findings::size() const {
    std::lock_guard lock(mutex_);
    return records_.size();
}

std::optional<FaultRecord> Findings::at(size_t index) const {
    std::lock_guard lock(mutex_);
    return index < records_.size() ? std::optional(records_[index]) : std::nullopt;
}

void Findings::clear() {
    std::lock_guard lock(mutex_);
    records_.clear();
}

Status Findings::write() const {
    return report_.empty() ? Status::ok() : write(report_);
}

void DispatchFindings::forget() {
    shadow_ = std::make_unique<machine::DispatchShadow>(*this, unwritten_,
                                                        !dispatch_.plan.code.sgpr_aliases);
    found_.clear();
}

template <typename Report>
void DispatchFindings::keep(const Place& place, uint64_t group, Report report) {
    std::unique_lock lock(mutex_);
    const auto is_news = [&] {
        const auto known = found_.find(place);
        return known == found_.end() ? found_.size() < most_places : group < known->second.group;
    };
    if (!is_news()) return;
    const uint64_t number = next_number_++;
    lock.unlock();  // reports take long
    FaultRecord record = report();
    lock.lock();
    if (is_news()) found_.insert_or_assign(place, Found{group, number, std::move(record)});
}

// Atomic stores look like plain ones.
bool DispatchFindings::is_atomic_anyway(uint64_t address) const {
    memory::Allocation allocation;
    return memory_.find(address, allocation) && allocation.label == memory::signals_label;
}

void DispatchFindings::found(const machine::Wave& wave, const machine::Finding& finding) {
    if (finding.check == machine::check_race && is_atomic_anyway(finding.address)) return;
    keep({finding.pc, finding.check, finding.what}, wave.group->linear_id,
         [&] { return finding_report(memory_, dispatch_, wave, finding); });
}

void DispatchFindings::found_missed_barrier(GroupContext& group) {
    FaultRecord record = missed_barrier_report(memory_, dispatch_, group);
    keep({record.exit.pc, machine::check_barrier, nullptr}, group.group.linear_id,
         [&] { return std::move(record); });
}

// A fault is a finding, too, of its own kind.
void DispatchFindings::conclude(DispatchResult& result) {
    std::lock_guard lock(mutex_);
    std::vector<Found*> in_order;
    for (auto& [place, found] : found_) in_order.push_back(&found);
    std::ranges::sort(in_order, {}, [](const Found* f) { return std::pair(f->group, f->number); });
    std::erase_if(in_order, [&](Found* f) {
        if (f->kind == Found::New) f->kind = all_.add(f->record) ? Found::Told : Found::Suppressed;
        return f->kind == Found::Suppressed;
    });
    if (result.code != Code::Ok) {
        FaultRecord& fault = result.fault;
        fault.check = "fault";
        fault.key =
            fault.check + ":" + fault.kernel + ":" + fault.place + ":" + code_name(fault.code);
        all_.add(fault);
    } else if (!in_order.empty()) {
        result.code = in_order.front()->record.code;
        result.fault = in_order.front()->record;
        if (in_order.size() > 1)
            result.fault.notes.push_back("and " + std::to_string(in_order.size() - 1) +
                                         " more findings in this dispatch: WAVEJIT_CHECK_REPORT "
                                         "names a file for all of them");
    }
    // Where it cannot be written it could not be when it was opened.
    if (result.code != Code::Ok) (void)all_.write();
}

}  // namespace wj::runtime
