// When a dispatch goes on on one thread.
#include "runtime/contention.h"

#include <gtest/gtest.h>

namespace wj::runtime {
namespace {

// A dispatch of the given work-groups per millisecond, on one thread and on all; how much of
// 400 ms it spends on one.
double share_alone(double one, double all, bool alone = false) {
    Contention c;
    uint64_t alone_ms = 0;
    double finished = 0;
    c.watch(alone, 0, 0);
    for (uint64_t us = 0; us < 400'000; us += 10) {
        finished += (alone ? one : all) / 100;
        alone_ms += alone;
        if (c.due(us * 1000)) alone = c.decide(alone, us * 1000, static_cast<uint64_t>(finished));
    }
    return static_cast<double>(alone_ms) / 40'000;
}

TEST(Contention, GoesWhereWorkIsDoneFaster) {
    EXPECT_GT(share_alone(1000, 200), 0.95);
    EXPECT_GT(share_alone(1000, 850), 0.95);
    EXPECT_LT(share_alone(1000, 950), 0.05);  // not worth idle threads
    EXPECT_LT(share_alone(1000, 2000), 0.05);
    EXPECT_LT(share_alone(0, 100), 0.05);   // waits for work-groups that do not run
    EXPECT_LT(share_alone(0.1, 0.2), 0.5);  // too few to tell
    EXPECT_GT(share_alone(1000, 200, true), 0.95);
    EXPECT_LT(share_alone(1000, 2000, true), 0.1);  // no longer so
}

TEST(Contention, IsNotWatchedUnasked) {
    Contention c;
    EXPECT_FALSE(c.watched());
    EXPECT_FALSE(c.due(1'000'000'000'000));
    c.watch(false, 1000, 0);
    EXPECT_TRUE(c.watched());
    EXPECT_FALSE(c.due(2000));
    EXPECT_TRUE(c.due(1'000'000'000'000));
}

}  // namespace
}  // namespace wj::runtime
