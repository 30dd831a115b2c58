#include "daemon/api/connection_table.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

using State = ConnectionTable::State;

TEST(ConnectionTable, AdmitsUntilFull) {
  ConnectionTable table(3, 2);
  EXPECT_TRUE(table.admit("a").admitted);
  EXPECT_TRUE(table.admit("b").admitted);
  const auto third = table.admit("c");
  EXPECT_TRUE(third.admitted);
  EXPECT_FALSE(third.evict);
  EXPECT_EQ(table.size(), 3U);
}

TEST(ConnectionTable, WhenFullTheOldestUnprovenGoes) {
  ConnectionTable table(3, 3);
  const auto busy = *table.admit("a").admitted;
  const auto idle = *table.admit("b").admitted;
  const auto slow = *table.admit("c").admitted;
  table.set_state(busy, State::busy);
  table.set_state(idle, State::idle);
  auto verdict = table.admit("d");
  EXPECT_EQ(verdict.evict, slow);
  table.set_state(*verdict.admitted, State::busy);
  verdict = table.admit("e");
  EXPECT_EQ(verdict.evict, idle) << "kept-alive ones are next";
  table.set_state(*verdict.admitted, State::busy);
  verdict = table.admit("f");
  EXPECT_FALSE(verdict.admitted) << "running requests are never cut";
  EXPECT_FALSE(verdict.evict);
  EXPECT_EQ(table.size(), 3U);
}

TEST(ConnectionTable, AnAddressOnlyEvictsItsOwn) {
  ConnectionTable table(10, 2);
  const auto other = *table.admit("good").admitted;
  const auto first = *table.admit("bad").admitted;
  const auto second = *table.admit("bad").admitted;
  auto verdict = table.admit("bad");
  EXPECT_EQ(verdict.evict, first);
  table.set_state(second, State::busy);
  table.set_state(*verdict.admitted, State::busy);
  verdict = table.admit("bad");
  EXPECT_FALSE(verdict.admitted);
  EXPECT_FALSE(verdict.evict);
  table.set_state(other, State::idle);  // still there
  EXPECT_EQ(table.size(), 3U);
}

TEST(ConnectionTable, RemoveFreesTheAddress) {
  ConnectionTable table(10, 1);
  const auto id = *table.admit("a").admitted;
  table.set_state(id, State::busy);
  EXPECT_FALSE(table.admit("a").admitted);
  table.remove(id);
  table.remove(id);
  EXPECT_TRUE(table.admit("a").admitted);
}

TEST(ConnectionTable, VictimIsTakenOut) {
  ConnectionTable table(10, 10);
  EXPECT_FALSE(table.pick_victim());
  const auto id = *table.admit("a").admitted;
  EXPECT_EQ(table.pick_victim(), id);
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace samovar::api
