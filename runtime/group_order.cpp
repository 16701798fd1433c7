#include "runtime/group_order.h"

#include <algorithm>

namespace wj::runtime {

void GroupOrder::split(uint32_t parts) {
    if (parts == 1) return;
    parts_.reserve(parts);
    for (uint64_t i = 0, begin = 0; i < parts; i++) {
        const uint64_t end = begin + (left_ - begin) / (parts - i);
        parts_.push_back({begin, end});
        begin = end;
    }
}

void GroupOrder::reset(uint64_t total) {
    left_ = total;
    whole_ = {0, total};
    returned_.clear();
    const auto parts = static_cast<uint32_t>(parts_.size());
    parts_.clear();
    if (parts) split(parts);
}

GroupOrder::Groups GroupOrder::take(uint32_t thread, uint64_t most, uint32_t sharing) {
    if (!returned_.empty()) {
        Groups& next = returned_.back();
        const Groups taken{next.begin, next.begin + std::min(most, next.size())};
        left_ -= taken.size();
        next.begin = taken.end;
        if (!next.size()) returned_.pop_back();
        return taken;
    }
    Groups* from = parts_.empty() ? &whole_ : &parts_[thread];
    const bool own = from->size();
    if (!own) from = &*std::ranges::max_element(parts_, {}, &Groups::size);
    // A queue is everybody's; what is left of a part its owner and one who helps him share.
    uint64_t fair = from->size();
    if (sharing > 1) fair /= parts_.empty() ? 2 * sharing : 2;
    const uint64_t count = std::max<uint64_t>(1, std::min(most, fair));
    left_ -= count;
    if (own) {
        from->begin += count;
        return {from->begin - count, from->begin};
    }
    from->end -= count;
    return {from->end, from->end + count};
}

void GroupOrder::give_back(Groups groups) {
    if (!groups.size()) return;
    left_ += groups.size();
    returned_.push_back(groups);
}

}  // namespace wj::runtime
