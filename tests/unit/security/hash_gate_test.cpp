#include "security/hash_gate.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/sim/sim_loop.hpp"
#include "security/password.hpp"

namespace samovar::security {
namespace {

// Keeps posted work until the test runs it: the loop's thread is the test's.
class HandLoop : public Loop {
 public:
  Clock& clock() override { return real_clock(); }
  bool in_loop() const override { return true; }
  void post(Work work) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    ready_.notify_all();
  }
  Id after(Duration, Work) override { return 1; }
  void cancel(Id) override {}
  Id watch(int, Work) override { return 1; }
  void unwatch(Id) override {}

  // Waits for one post and runs it.
  void run_one() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return !posted_.empty(); });
    Work work = std::move(posted_.front());
    posted_.erase(posted_.begin());
    lock.unlock();
    work();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return posted_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Work> posted_;
};

// Holds the pool's threads until opened.
class Door {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

SecretBytes secret(std::string_view text) { return SecretBytes::copy_of(as_bytes(text)); }

TEST(HashGate, HashesAndVerifies) {
  HandLoop loop;
  Pool pool("cpu", 2, 64);
  HashGate gate(pool, loop, {.password_cost = kTestCost});
  const SecretBytes pepper = SecretBytes::random(32);
  std::optional<Result<std::string>> stored;
  spawn<Result<std::string>>(gate.hash_password(secret("some password"), pepper),
                             [&](Result<std::string> r) { stored.emplace(std::move(r)); });
  loop.run_one();
  ASSERT_TRUE(stored && *stored);
  std::vector<bool> answers;
  const auto verify = [&](std::optional<std::string> hash, std::string_view password) {
    spawn<Result<bool>>(gate.verify_password(std::move(hash), secret(password), pepper),
                        [&](Result<bool> r) { answers.push_back(*r); });
    loop.run_one();
  };
  verify(**stored, "some password");
  verify(**stored, "other password");
  verify(std::nullopt, "some password");
  EXPECT_EQ(answers, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(gate.running(), 0U);
}

TEST(HashGate, BoundsRunningAndWaitingThenSaysBusy) {
  HandLoop loop;
  Pool pool("cpu", 2, 64);
  HashGate gate(pool, loop, {.running_max = 2, .waiting_max = 16});
  Door door;
  int done = 0;
  int busy = 0;
  for (int i = 0; i < 20; ++i)
    spawn<Result<int>>(gate.run<int>([&]() -> Result<int> {
      door.wait();
      return 1;
    }),
                       [&](Result<int> r) {
                         if (r) {
                           ++done;
                         } else {
                           EXPECT_EQ(r.error().code(), Errc::busy);
                           EXPECT_NE(r.error().message().find("try again in a few seconds"),
                                     std::string::npos);
                           ++busy;
                         }
                       });
  EXPECT_EQ(gate.running(), 2U);
  EXPECT_EQ(gate.waiting(), 16U);
  EXPECT_EQ(busy, 2);  // at once: they waited for nobody
  door.open();
  for (int i = 0; i < 18; ++i) {
    loop.run_one();
    EXPECT_LE(gate.running(), 2U);
  }
  EXPECT_EQ(done, 18);
  EXPECT_EQ(gate.running() + gate.waiting(), 0U);
}

TEST(HashGate, FullPoolIsBusyNotLost) {
  HandLoop loop;
  Door door;  // the doors outlive the pool, whose thread stands in them
  Door started;
  Pool pool("cpu", 1, 1);
  ASSERT_TRUE(pool.submit([&] {
    started.open();
    door.wait();
  }));
  started.wait();
  ASSERT_TRUE(pool.submit([] {}));  // fills the queue
  HashGate gate(pool, loop);
  std::optional<bool> ran;
  gate.enter([] {}, [&](bool r) { ran = r; });
  ASSERT_TRUE(ran.has_value());
  EXPECT_FALSE(*ran);
  EXPECT_EQ(gate.running(), 0U);
  door.open();
}

TEST(HashGate, ErrorsAndMoveOnlyResultsPassThrough) {
  HandLoop loop;
  Pool pool("cpu", 1, 8);
  HashGate gate(pool, loop);
  std::optional<Result<SecretBytes>> out;
  spawn<Result<SecretBytes>>(gate.run<SecretBytes>([]() -> Result<SecretBytes> { return SecretBytes(5); }),
                             [&](Result<SecretBytes> r) { out.emplace(std::move(r)); });
  loop.run_one();
  ASSERT_TRUE(out && *out);
  EXPECT_EQ((*out)->size(), 5U);
  std::optional<Errc> code;
  spawn<Result<int>>(gate.run<int>([]() -> Result<int> { throw std::bad_alloc(); }),
                     [&](Result<int> r) { code = r.error().code(); });
  loop.run_one();
  EXPECT_EQ(code, Errc::internal);
}

TEST(HashGate, OutlivedByItsWork) {
  HandLoop loop;
  std::vector<bool> ran;
  {
    Pool pool("cpu", 1, 8);
    auto gate = std::make_unique<HashGate>(pool, loop, HashGateOptions{.running_max = 1, .waiting_max = 2});
    Door door;
    gate->enter([&] { door.wait(); }, [&](bool r) { ran.push_back(r); });
    gate->enter([] { FAIL() << "must not start after the gate is gone"; }, [&](bool r) { ran.push_back(r); });
    gate.reset();
    loop.run_one();  // who waited is told
    door.open();
    loop.run_one();  // who ran has run
  }
  EXPECT_EQ(ran, (std::vector<bool>{false, true}));
  EXPECT_TRUE(loop.idle());
}

// Without threads (simulations) the order is the caller's.
TEST(HashGate, RunsInASimulation) {
  SimScheduler scheduler(1);
  SimLoop loop(scheduler);
  Pool pool("cpu", 0, 8);
  HashGate gate(pool, loop, {.running_max = 1, .waiting_max = 8});
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) gate.enter([&order, i] { order.push_back(i); }, [](bool) {});
  scheduler.run_for(std::chrono::seconds(1));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace samovar::security
