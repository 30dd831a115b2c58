#include "trainer/sync/local_group.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace samovar::trainer {
namespace {

using namespace std::chrono_literals;

TEST(LocalGroup, MessagesComeInOrderWithTheirSender) {
  LocalGroup group({{0}, {1}, {2}});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(group.member(2).send(0, to_bytes("from 2: " + std::to_string(i))));
  for (int i = 0; i < 10; ++i) {
    auto got = group.member(0).receive(0ms);
    ASSERT_TRUE(got && *got);
    EXPECT_EQ((*got)->from, 2u);
    EXPECT_EQ((*got)->epoch, 1u);
    EXPECT_EQ(as_text((*got)->body), "from 2: " + std::to_string(i));
  }
  auto none = group.member(0).receive(0ms);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(group.messages_sent(2), 10u);
}

TEST(LocalGroup, ACutMemberIsGoneForTheOthersAndKnowsIt) {
  LocalGroup group({{0, 3}, {1}, {2}});
  ASSERT_EQ(group.member(1).membership().members, (std::vector<std::uint32_t>{0, 1, 2}));
  group.cut(0, 1);
  EXPECT_EQ(group.member(0).receive(0ms).error().code(), Errc::unavailable);
  EXPECT_EQ(group.member(0).send(1, {}).error().code(), Errc::unavailable);
  // Not before receive() has told.
  EXPECT_TRUE(group.member(1).membership().has(0));
  ASSERT_TRUE(group.member(1).receive(0ms));
  EXPECT_EQ(group.member(1).membership().members, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(group.member(1).membership().blocks, (std::vector<std::uint32_t>{0, 1, 3}));
  EXPECT_TRUE(group.member(1).membership().leads());
  EXPECT_TRUE(group.member(1).send(0, {}));
}

TEST(LocalGroup, OneThatJoinsHasANewNumberAndPartOfTheBlocks) {
  LocalGroup group({{0, 1, 2}, {3}});
  group.cut(1);
  const std::uint32_t number = group.add(0);
  EXPECT_EQ(number, 2u);
  EXPECT_EQ(group.member(2).membership().blocks, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(group.member(2).membership().members, (std::vector<std::uint32_t>{0, 2}));
  ASSERT_TRUE(group.member(0).receive(0ms));
  EXPECT_EQ(group.member(0).membership().blocks, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(group.member(0).membership().epoch, group.member(2).membership().epoch);
}

TEST(LocalGroup, AMemberThatWaitsIsWokenByMessagesChangesAndStop) {
  LocalGroup group({{0}, {1}});
  std::thread other([&] {
    for (int step = 0; step < 3; ++step) {
      auto got = group.member(0).receive(1h);
      if (step == 0) {
        EXPECT_TRUE(got && *got);
        EXPECT_TRUE(group.member(0).send(1, {}));
      }
      if (step == 1) {
        EXPECT_TRUE(got && !*got);
        EXPECT_EQ(group.member(0).membership().members.size(), 3u);
        EXPECT_TRUE(group.member(0).send(2, {}));
      }
      if (step == 2) {
        EXPECT_EQ(got.error().code(), Errc::conflict);
      }
    }
  });
  ASSERT_TRUE(group.member(1).send(0, {}));
  ASSERT_TRUE(group.member(1).receive(1h));
  group.add();
  ASSERT_TRUE(group.member(2).receive(1h));
  group.stop(0);
  other.join();
}

}  // namespace
}  // namespace samovar::trainer
