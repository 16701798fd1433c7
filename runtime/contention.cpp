#include "runtime/contention.h"

#include <algorithm>

namespace wj::runtime {
namespace {

constexpr uint64_t trial_ns = 500'000, first_ns = 8'000'000, known_ns = 16'000'000,
                   longest_ns = 64'000'000;
constexpr uint64_t least_groups = 4;  // finished ones that say something about speed
// One thread must be clearly faster: it leaves the others idle.
constexpr double alone_gain = 1.1;

}  // namespace

void Contention::begin(uint64_t now_ns, uint64_t finished_groups, uint64_t duration_ns) {
    begin_ns_ = now_ns;
    begin_groups_ = finished_groups;
    next_ns_.store(now_ns + duration_ns, std::memory_order_relaxed);
}

void Contention::watch(bool alone, uint64_t now_ns, uint64_t finished_groups) {
    between_trials_ns_ = first_ns;
    begin(now_ns, finished_groups, alone ? known_ns : trial_ns);
}

void Contention::put_off(uint64_t now_ns, uint64_t finished_groups) {
    trial_ = false;
    begin(now_ns, finished_groups, trial_ns);
}

bool Contention::decide(bool alone, uint64_t now_ns, uint64_t finished_groups) {
    const uint64_t groups = finished_groups - begin_groups_;
    const double rate = static_cast<double>(groups) /
                        static_cast<double>(std::max<uint64_t>(now_ns - begin_ns_, 1));
    if (!trial_) {
        if (groups < least_groups) {
            next_ns_.store(now_ns + trial_ns, std::memory_order_relaxed);
            return alone;
        }
        trial_ = true;
        rate_ = rate;
        begin(now_ns, finished_groups, trial_ns);
        return !alone;
    }
    trial_ = false;
    const double one = alone ? rate : rate_, all = alone ? rate_ : rate;
    const bool better = one > all * alone_gain;
    // As before the trial: the next one may wait longer.
    between_trials_ns_ = better == alone ? first_ns : std::min(between_trials_ns_ * 2, longest_ns);
    begin(now_ns, finished_groups, between_trials_ns_);
    return better;
}

}  // namespace wj::runtime
