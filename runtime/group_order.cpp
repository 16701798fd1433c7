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

GroupOrder::Groups GroupOrder::take(uint32_t thread, uint64_t most, uint32_t sharing) {
    const bool own = parts_.empty() || parts_[thread].size();
    Groups& from = parts_.empty() ? whole_
                   : own          ? parts_[thread]
                                  : *std::max_element(parts_.begin(), parts_.end(),
                                                      [](const Groups& a, const Groups& b) {
                                                 return a.size() < b.size();
                                             });
    // A queue is everybody's; what is left of a part its owner and one who helps him share.
    const uint64_t fair = sharing == 1 ? from.size()
                                       : from.size() / (parts_.empty() ? 2 * sharing : 2),
                   count = std::max<uint64_t>(1, std::min(most, fair));
    left_ -= count;
    if (own) {
        from.begin += count;
        return {from.begin - count, from.begin};
    }
    from.end -= count;
    return {from.end, from.end + count};
}

}  // namespace wj::runtime
