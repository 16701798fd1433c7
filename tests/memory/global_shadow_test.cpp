// Which accesses of global memory race: the rules of machine/global_shadow.h, one by one.
#include "machine/global_shadow.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace wj::machine {
namespace {

using Kind = GlobalShadow::Kind;

class GlobalShadowTest : public testing::Test {
protected:
    // By wave `wave` of work-group `group`; the pc is any but 0.
    GlobalShadow::Race access(uint32_t group, uint32_t wave, Kind kind, uint64_t at,
                              uint32_t bytes = 4, bool silent = false,
                              const uint8_t* stored = nullptr) {
        return shadow.access(shadow.agent(group, wave), 100 * group + wave + 1, kind, at, bytes,
                             silent, stored);
    }
    void expect_race(const GlobalShadow::Race& race, uint32_t group, uint32_t wave, bool wrote) {
        EXPECT_EQ(race.other.pc, 100 * group + wave + 1);
        EXPECT_EQ(race.other.group, group);
        EXPECT_EQ(race.other.wave, wave);
        EXPECT_EQ(race.wrote, wrote);
    }
    static void expect_none(const GlobalShadow::Race& race) { EXPECT_EQ(race.other.pc, 0u); }
    void fence(uint32_t group, uint32_t wave) { shadow.acquire(shadow.agent(group, wave)); }

    GlobalShadow shadow;
};

constexpr uint64_t data = 0x7000'0000'1000, flag = 0x7000'0000'2000;

TEST_F(GlobalShadowTest, StoresAndLoadsOfTwoWaves) {
    expect_none(access(0, 0, Kind::Write, data));
    expect_none(access(0, 0, Kind::Read, data));
    expect_race(access(1, 0, Kind::Read, data), 0, 0, true);
    expect_race(access(1, 1, Kind::Write, data), 0, 0, true);
    expect_none(access(1, 0, Kind::Read, data + 4));
    expect_race(access(0, 0, Kind::Write, data + 4), 1, 0, false);
}

TEST_F(GlobalShadowTest, LoadsAloneDoNotRace) {
    for (uint32_t group = 0; group < 5; group++) expect_none(access(group, 0, Kind::Read, data));
    // Whichever of them stores, another one has loaded.
    for (uint32_t group = 0; group < 5; group++) {
        const auto race = access(group, 0, Kind::Write, data + 0);
        EXPECT_NE(race.other.pc, 0u);
        EXPECT_NE(race.other.group, group);
    }
}

TEST_F(GlobalShadowTest, EqualStoresAreSilent) {
    expect_none(access(0, 0, Kind::Write, data));
    expect_none(access(1, 0, Kind::Write, data, 4, true));
    expect_race(access(2, 0, Kind::Write, data), 1, 0, true);
}

// The first store need not have reached memory when the second one is looked at.
TEST_F(GlobalShadowTest, EqualStoresOnTheirWayAreSilent) {
    const uint8_t one[] = {1, 2, 3, 4, 5, 6, 7, 8}, other[] = {1, 2, 9, 4};
    const auto store = [&](uint32_t group, uint64_t at, uint32_t bytes, const uint8_t* stored) {
        return access(group, 0, Kind::Write, at, bytes, false, stored);
    };
    const uint64_t at = data + 0xffc;  // the second dword is on the next page
    expect_none(store(0, at, 8, one));
    expect_none(store(1, at, 8, one));
    expect_none(store(2, at + 4, 4, one + 4));
    expect_none(store(3, at + 1, 2, one + 1));
    expect_race(store(4, at, 4, other), 3, 0, true);
    expect_race(store(5, at + 4, 4, nullptr), 2, 0, true);
    expect_race(store(6, at + 4, 4, one + 4), 5, 0, true);
}

TEST_F(GlobalShadowTest, NeighbouringBytesAreApart) {
    expect_none(access(0, 0, Kind::Write, data, 1));
    expect_none(access(1, 0, Kind::Write, data + 1, 1));
    expect_none(access(2, 0, Kind::Write, data + 2, 2));
    expect_race(access(3, 0, Kind::Read, data + 1, 1), 1, 0, true);
    // Dwords that were noted before bytes came.
    expect_none(access(0, 0, Kind::Write, data + 64));
    expect_none(access(1, 0, Kind::Write, data + 68, 1));
    expect_race(access(1, 0, Kind::Read, data + 67, 1), 0, 0, true);
}

TEST_F(GlobalShadowTest, AccessesOverTheEndOfAPage) {
    expect_none(access(0, 0, Kind::Write, data + 4096 - 8, 16));
    expect_race(access(1, 0, Kind::Read, data + 4096 + 4), 0, 0, true);
    expect_none(access(1, 0, Kind::Read, data + 4096 + 8));
}

TEST_F(GlobalShadowTest, BarriersOrderAWorkGroup) {
    expect_none(access(0, 0, Kind::Write, data));
    expect_none(access(1, 0, Kind::Write, data + 256));
    shadow.barrier(0, 2);
    expect_none(access(0, 1, Kind::Read, data));
    expect_race(access(0, 1, Kind::Read, data + 256), 1, 0, true);
    expect_race(access(0, 0, Kind::Write, data), 0, 1, false);
    shadow.barrier(0, 2);
    expect_none(access(0, 0, Kind::Write, data));
}

TEST_F(GlobalShadowTest, AtomicsHaveAnOrderAmongThemselves) {
    for (uint32_t group = 0; group < 3; group++) expect_none(access(group, 0, Kind::Atomic, data));
}

TEST_F(GlobalShadowTest, AnAtomicAndAFenceOrderWhatWasBefore) {
    expect_none(access(0, 0, Kind::Write, data));
    expect_none(access(0, 0, Kind::Atomic, flag));
    expect_none(access(0, 0, Kind::Write, data + 4));  // behind the release
    expect_none(access(1, 0, Kind::Atomic, flag));
    expect_race(access(1, 0, Kind::Read, data), 0, 0, true);  // no fence yet
    fence(1, 0);
    expect_none(access(1, 0, Kind::Read, data));
    expect_none(access(0, 0, Kind::Write, data + 8));
    expect_race(access(1, 0, Kind::Read, data + 8), 0, 0, true);
    expect_race(access(2, 0, Kind::Read, data), 0, 0, true);
}

TEST_F(GlobalShadowTest, AFlagThatIsStoredAndLookedAt) {
    expect_none(access(0, 0, Kind::Write, data));
    expect_none(access(0, 1, Kind::Write, data + 64));
    shadow.barrier(0, 2);
    expect_none(access(0, 0, Kind::Write, flag));
    for (int lap = 0; lap < 3; lap++) expect_none(access(1, 0, Kind::Coherent, flag));
    fence(1, 0);
    expect_none(access(1, 0, Kind::Read, data));
    expect_none(access(1, 0, Kind::Read, data + 64));  // of the other wave, in front of a barrier
    // And on: who looks at what this one stores knows as much.
    expect_none(access(1, 0, Kind::Write, flag + 4));
    expect_none(access(2, 0, Kind::Coherent, flag + 4));
    fence(2, 0);
    expect_none(access(2, 0, Kind::Read, data + 64));
}

TEST_F(GlobalShadowTest, ABarrierOfAllWorkGroups) {
    constexpr uint32_t groups = 100;  // more than an address keeps apart
    for (uint32_t g = 0; g < groups; g++) {
        expect_none(access(g, 0, Kind::Write, data + 4 * g));
        expect_none(access(g, 0, Kind::Atomic, flag));
    }
    for (uint32_t g = 0; g < groups; g++) {
        expect_none(access(g, 0, Kind::Coherent, flag));
        fence(g, 0);
        expect_none(access(g, 0, Kind::Read, data + 4 * ((g + 1) % groups)));
    }
    shadow.acquire_everything(shadow.agent(groups, 0));
    expect_none(access(groups, 0, Kind::Write, data));
}

TEST_F(GlobalShadowTest, SeveralLanesAtOnce) {
    const auto together = [&](uint32_t group, Kind kind, uint64_t at, uint32_t bytes) {
        return shadow.access_in_order(shadow.agent(group, 0), 100 * group + 1, kind, at, bytes,
                                      nullptr);
    };
    EXPECT_TRUE(together(0, Kind::Write, data, 256));
    EXPECT_TRUE(together(0, Kind::Read, data + 4, 256));
    EXPECT_TRUE(together(1, Kind::Write, data + 260, 256));
    EXPECT_FALSE(together(1, Kind::Write, data + 256, 4));  // which the other one has read
    EXPECT_FALSE(together(1, Kind::Read, data + 128, 64));
    // Nothing was noted of these.
    expect_race(access(2, 0, Kind::Write, data + 256), 0, 0, false);
    expect_race(access(2, 0, Kind::Write, data + 128), 0, 0, true);
    expect_race(access(2, 0, Kind::Read, data + 512), 1, 0, true);
    expect_none(access(2, 0, Kind::Read, data + 516));
}

// Whole rows give what their dwords give one by one.
TEST_F(GlobalShadowTest, RowsAreTheirDwords) {
    std::mt19937 random(1);
    GlobalShadow rows, dwords;
    uint32_t races = 0;
    for (uint32_t n = 1; n < 20000; n++) {
        const uint32_t group = random() % 2, wave = random() % 2, count = 1 + random() % 64;
        const uint64_t at = data + (random() % 2 ? random() % 32 * 256 : random() % 2048 * 4);
        const Kind kind = random() % 2 ? Kind::Write : Kind::Read;
        if (random() % 8 == 0)
            for (GlobalShadow* s : {&rows, &dwords}) s->barrier(group, 2);
        if (random() % 16 == 0)
            for (GlobalShadow* s : {&rows, &dwords}) s->acquire_everything(s->agent(group, wave));
        std::array<uint32_t, 64> values{};
        for (uint32_t& v : values) v = random() % 8 == 0;
        const auto* const stored =
            kind == Kind::Write ? reinterpret_cast<const uint8_t*>(values.data()) : nullptr;
        const auto by_dword = [&](GlobalShadow& s) {
            std::vector<std::array<uint32_t, 4>> found;
            for (uint32_t d = 0; d < count; d++) {
                const auto race = s.access(s.agent(group, wave), n, kind, at + 4 * d, 4, false,
                                           stored ? stored + size_t{4} * d : nullptr);
                if (race.other.pc) found.push_back({d, race.other.pc, race.other.time, race.wrote});
            }
            return found;
        };
        const auto expected = by_dword(dwords);
        races += !expected.empty();
        if (rows.access_in_order(rows.agent(group, wave), n, kind, at, 4 * count, stored))
            ASSERT_TRUE(expected.empty()) << n;
        else
            ASSERT_EQ(by_dword(rows), expected) << n;
    }
    EXPECT_GT(races, 1000u);
    EXPECT_LT(races, 19000u);
}

}  // namespace
}  // namespace wj::machine
