#include "base/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace samovar {
namespace {

TEST(BoundedQueue, GivesBackInOrder) {
  BoundedQueue<int> q(3);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_TRUE(q.try_push(2));
  EXPECT_EQ(q.size(), 2U);
  EXPECT_EQ(q.pop(), 1);
  EXPECT_EQ(q.try_pop(), 2);
  EXPECT_EQ(q.try_pop(), std::nullopt);
}

TEST(BoundedQueue, RefusesWhenFullAndLeavesTheItem) {
  BoundedQueue<std::unique_ptr<int>> q(1);
  EXPECT_TRUE(q.try_push(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(q.try_push(std::move(second)));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, 2);
}

TEST(BoundedQueue, CloseLetsTheRestOut) {
  BoundedQueue<int> q(4);
  EXPECT_TRUE(q.try_push(1));
  q.close();
  EXPECT_FALSE(q.try_push(2));
  EXPECT_EQ(q.pop(), 1);
  EXPECT_EQ(q.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesWaiters) {
  BoundedQueue<int> q(1);
  std::thread waiter([&] { EXPECT_EQ(q.pop(), std::nullopt); });
  q.close();
  waiter.join();
}

TEST(BoundedQueue, EveryItemReachesExactlyOneConsumer) {
  constexpr int kProducers = 3;
  constexpr int kEach = 2000;
  BoundedQueue<int> q(16);
  std::vector<std::atomic<int>> seen(kProducers * kEach);
  std::vector<std::thread> consumers;
  for (int i = 0; i < 3; ++i) {
    consumers.emplace_back([&] {
      while (const auto item = q.pop()) ++seen[static_cast<std::size_t>(*item)];
    });
  }
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&q, p] {
      for (int i = 0; i < kEach; ++i) {
        int item = p * kEach + i;
        while (!q.try_push(std::move(item))) std::this_thread::yield();
      }
    });
  }
  for (auto& t : producers) t.join();
  q.close();
  for (auto& t : consumers) t.join();
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace samovar
