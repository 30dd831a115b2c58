#include "daemon/power/history_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/log.hpp"
#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "security/init.hpp"

namespace samovar::power {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kDir = "/state/history";
const std::string kFile = kDir + "/history.sealed";

struct World {
  World() {
    EXPECT_TRUE(security::init());
    log::set_sink([this](std::string_view line) { logged += std::string(line) + "\n"; });
  }
  ~World() { log::set_sink({}); }

  std::unique_ptr<HistoryFile> open(History& history, std::uint8_t key_byte = 1) {
    security::SecretBytes key(32);
    key.mutable_view()[0] = key_byte;
    return std::make_unique<HistoryFile>(loop, disk, history, std::move(key),
                                         HistoryFileOptions{kDir, offload});
  }
  void add(History& history, int count) {
    for (int i = 0; i < count; ++i) {
      Sample s;
      s.t = loop.clock().wall();
      s.covers_s = 1;
      s.cpu = 0.5;
      s.watts = 10;
      history.add(s);
      scheduler.run_for(seconds(1));
    }
  }
  double joules(const History& history) const {
    return history.energy(SimClock::kStart, SimClock::kStart + std::chrono::hours(24)).joules;
  }

  SimScheduler scheduler{1};
  SimLoop loop{scheduler};
  SimDisk disk{1};
  std::function<bool(std::function<void()>)> offload;
  std::string logged;
};

TEST(HistoryFile, SurvivesARestart) {
  World w;
  {
    History history;
    auto file = w.open(history);
    file->start();
    w.add(history, 50);
    EXPECT_TRUE(file->stop());
  }
  w.disk.crash();
  History history;
  w.open(history)->start();
  EXPECT_NEAR(w.joules(history), 500, 0.01);
  EXPECT_EQ(w.logged, "");
}

TEST(HistoryFile, IsSavedEveryFiveMinutesSoThatACrashLosesNoMore) {
  World w;
  History history;
  auto file = w.open(history);
  file->start();
  w.add(history, 290);
  EXPECT_FALSE(w.disk.exists(kFile));
  w.add(history, 100);
  w.disk.crash();
  History again;
  w.open(again)->start();
  EXPECT_NEAR(w.joules(again), 3000, 30);
}

TEST(HistoryFile, NothingReadableTouchesTheDisk) {
  World w;
  History history;
  auto file = w.open(history);
  file->start();
  w.add(history, 10);
  ASSERT_TRUE(file->stop());
  const Bytes bytes = *w.disk.read_file(kFile, 1 << 24);
  EXPECT_EQ(as_text(bytes).find("SMVH"), std::string_view::npos);
  EXPECT_EQ(as_text(bytes).find("watts"), std::string_view::npos);
}

TEST(HistoryFile, ADamagedFileIsSetAsideWithAWarning) {
  World w;
  {
    History history;
    auto file = w.open(history);
    file->start();
    w.add(history, 10);
    ASSERT_TRUE(file->stop());
  }
  ASSERT_TRUE(w.disk.flip_bit(kFile, 4000));
  History history;
  auto file = w.open(history);
  file->start();
  EXPECT_EQ(w.joules(history), 0);
  EXPECT_FALSE(w.disk.exists(kFile));
  EXPECT_TRUE(w.disk.exists(kFile + ".damaged"));
  EXPECT_NE(w.logged.find("does not open"), std::string::npos) << w.logged;
  w.add(history, 10);
  EXPECT_TRUE(file->stop());
  EXPECT_TRUE(w.disk.exists(kFile));
}

TEST(HistoryFile, TheFileOfAnotherBoxDoesNotOpen) {
  World w;
  {
    History history;
    auto file = w.open(history, 1);
    file->start();
    w.add(history, 10);
    ASSERT_TRUE(file->stop());
  }
  History history;
  w.open(history, 2)->start();
  EXPECT_EQ(w.joules(history), 0);
  EXPECT_TRUE(w.disk.exists(kFile + ".damaged"));
}

TEST(HistoryFile, AFailingDiskIsWarnedAboutAndRecordingGoesOn) {
  World w;
  History history;
  auto file = w.open(history);
  file->start();
  w.add(history, 10);
  w.disk.fail_nth(1, Errc::no_space);
  w.add(history, 300);
  EXPECT_NE(w.logged.find("could not be saved"), std::string::npos) << w.logged;
  EXPECT_NEAR(w.joules(history), 3100, 1);
  EXPECT_TRUE(file->stop());
}

TEST(HistoryFile, EveryFailedOperationLeavesTheOldFileOrTheNew) {
  for (std::uint64_t n = 1;; ++n) {
    World w;
    History history;
    auto file = w.open(history);
    file->start();
    w.add(history, 10);
    ASSERT_TRUE(file->stop());
    file = w.open(history);
    file->start();  // merging what it already holds doubles the weights, which is all the same here
    w.add(history, 1);
    const std::uint64_t before = w.disk.operations();
    w.disk.cut_power_at(n);
    const bool saved = file->stop().has_value();
    w.disk.crash();
    History again;
    w.open(again)->start();
    EXPECT_GE(w.joules(again), 99) << "power cut at operation " << n;
    EXPECT_FALSE(w.disk.exists(kFile + ".damaged")) << "power cut at operation " << n;
    if (saved) {
      EXPECT_LT(w.disk.operations() - before, 20U);
      break;
    }
  }
}

TEST(HistoryFile, AWriteThatStillWaitsAtStopDoesNotOverwriteTheLastOne) {
  World w;
  std::vector<std::function<void()>> queue;
  w.offload = [&](std::function<void()> work) {
    queue.push_back(std::move(work));
    return true;
  };
  History history;
  auto file = w.open(history);
  file->start();
  w.add(history, 310);
  ASSERT_EQ(queue.size(), 1U);
  w.add(history, 50);
  ASSERT_TRUE(file->stop());
  file.reset();
  queue[0]();
  w.scheduler.run_for(seconds(1));
  w.offload = nullptr;
  History again;
  w.open(again)->start();
  EXPECT_NEAR(w.joules(again), 3600, 1);
}

}  // namespace
}  // namespace samovar::power
