// Which work-groups of a launch start next.
//
// One after the other, as on hardware; or, where nothing depends on that, each thread goes through
// a part of its own, and finds in its caches what it has read and written in launches of the same
// size. Who is done with his part helps the others.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace wj::runtime {

class GroupOrder {
public:
    explicit GroupOrder(uint64_t total) : left_(total), whole_{0, total} {}

    // Before anything is taken. (Allocates, but for one part.)
    void split(uint32_t parts);
    // All of them again; as many parts as before.
    void reset(uint64_t total);

    uint64_t left() const { return left_; }

    struct Groups {
        uint64_t begin = 0, end = 0;
        uint64_t size() const { return end - begin; }
    };
    // Takes between one and `most` work-groups for the thread of that number (below `parts`, if
    // there are any); some are left(). `sharing`: threads that run the launch, over which the last
    // work-groups are spread.
    Groups take(uint32_t thread, uint64_t most, uint32_t sharing);
    // All, which are in one part, before anything is taken.
    Groups take_whole() {
        left_ = 0;
        return std::exchange(whole_, {});
    }
    // Work-groups that were taken and have not started: they are the next ones.
    void give_back(Groups groups);

private:
    uint64_t left_;
    Groups whole_;  // that have not been taken, unless there are
    std::vector<Groups> parts_, returned_;
};

}  // namespace wj::runtime
