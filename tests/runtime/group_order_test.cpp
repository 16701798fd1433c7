// Who gets which work-groups.
#include "runtime/group_order.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wj::runtime {
namespace {

TEST(GroupOrder, AQueueIsInOrder) {
    GroupOrder order(1000);
    uint64_t at = 0;
    while (order.left()) {
        const auto groups = order.take(0, 7, 1);
        EXPECT_EQ(groups.begin, at);
        EXPECT_EQ(groups.size(), std::min<uint64_t>(7, 1000 - at));
        at = groups.end;
        EXPECT_EQ(order.left(), 1000 - at);
    }
}

TEST(GroupOrder, ThreadsShareWhatIsLeftOfAQueue) {
    GroupOrder order(1000);
    EXPECT_EQ(order.take(0, 1000, 4).size(), 125);
    EXPECT_EQ(order.take(3, 1000, 4).begin, 125);
    EXPECT_EQ(order.take(3, 1000, 1).end, 1000);
}

TEST(GroupOrder, ThreadsThatAreAsFastStayInTheirParts) {
    constexpr uint32_t threads = 3;
    GroupOrder order(30'001);
    order.split(threads);
    for (uint64_t round = 0; round < 50; round++)
        for (uint32_t thread = 0; thread < threads; thread++) {
            const auto groups = order.take(thread, 100, threads);
            EXPECT_EQ(groups.size(), 100);
            EXPECT_EQ(groups.begin, thread * 10'000 + round * 100);
        }
}

TEST(GroupOrder, WhoIsDoneHelpsWhoHasMostLeftFromTheEnd) {
    GroupOrder order(3000);
    order.split(3);
    while (order.left() > 2000) order.take(1, 100, 1);
    EXPECT_EQ(order.take(0, 600, 1).end, 600);
    auto groups = order.take(1, 300, 3);
    EXPECT_EQ(groups.begin, 2700);
    EXPECT_EQ(groups.end, 3000);
    groups = order.take(1, 1000, 3);  // half of what its owner has left
    EXPECT_EQ(groups.begin, 2350);
    EXPECT_EQ(groups.end, 2700);
    EXPECT_EQ(order.take(2, 10, 3).begin, 2000);
}

TEST(GroupOrder, EveryGroupIsTakenOnce) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; round++) {
        const uint64_t total = 1 + random() % 300;
        const uint32_t threads = 1 + random() % 9;
        GroupOrder order(total);
        if (random() % 4) order.split(threads);
        std::vector<int> taken(total);
        uint64_t left = total;
        while (order.left()) {
            const uint64_t most = 1 + random() % 40;
            const auto groups = order.take(random() % threads, most, 1 + random() % threads);
            ASSERT_GE(groups.size(), 1);
            ASSERT_LE(groups.size(), most);
            ASSERT_LE(groups.end, total);
            for (uint64_t i = groups.begin; i < groups.end; i++) ASSERT_EQ(taken[i]++, 0);
            ASSERT_EQ(order.left(), left -= groups.size());
        }
        ASSERT_EQ(left, 0);
    }
}

}  // namespace
}  // namespace wj::runtime
