#include "daemon/power/sampler.hpp"

#include <gtest/gtest.h>

#include "base/asio_loop.hpp"
#include "base/pool.hpp"
#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct World {
  World() { ignore(disk.make_dir("/state"), "a failure shows in the samples"); }
  SamplerOptions options() const { return {"/state", fake.root(), {}}; }

  SimScheduler scheduler{1};
  SimLoop loop{scheduler};
  SimDisk disk{1, 1 << 30};
  test::FakeBoard fake;
  std::vector<Sample> samples;
};

TEST(Sampler, FirstSampleHasLevelsButNoRates) {
  World w;
  w.fake.make_tx1();
  Sampler sampler(w.loop, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  ASSERT_EQ(w.samples.size(), 1U);
  const Sample& s = w.samples[0];
  EXPECT_EQ(s.t, w.loop.clock().wall());
  EXPECT_EQ(s.covers_s, 0);
  EXPECT_FALSE(s.cpu || s.net_rx_bps || s.net_tx_bps || s.process_cpu);
  EXPECT_EQ(s.mem_used_bytes, 1024000ULL * 1024);
  EXPECT_EQ(s.disk_total_bytes, 1ULL << 30);
  EXPECT_DOUBLE_EQ(s.watts.value(), 4.321);
  EXPECT_FALSE(s.watts_estimated);
  EXPECT_EQ(s.temp_max_name, "CPU-therm");
  EXPECT_DOUBLE_EQ(s.gpu_load.value(), 0.25);
  EXPECT_EQ(sampler.sensors().power, "ina3221");
  EXPECT_EQ(sampler.sensors().rails.size(), 9U);
  EXPECT_EQ(sampler.board().soc, "tegra210");
}

TEST(Sampler, TakesOneSampleInEachSecondOfTheWallClock) {
  World w;
  w.fake.make_vm();
  Sampler sampler(w.loop, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  w.scheduler.run_for(minutes(2));
  ASSERT_GE(w.samples.size(), 119U);
  ASSERT_LE(w.samples.size(), 122U);
  for (std::size_t i = 2; i < w.samples.size(); ++i)
    EXPECT_EQ(std::chrono::floor<seconds>(w.samples[i].t) - std::chrono::floor<seconds>(w.samples[i - 1].t),
              seconds(1));
}

TEST(Sampler, LateTimersStillFallIntoTheirOwnSecond) {
  World w;
  w.fake.make_vm();
  SimLoop late(w.scheduler, {milliseconds(400)});
  Sampler sampler(late, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  w.scheduler.run_for(minutes(2));
  for (std::size_t i = 2; i < w.samples.size(); ++i)
    EXPECT_EQ(std::chrono::floor<seconds>(w.samples[i].t) - std::chrono::floor<seconds>(w.samples[i - 1].t),
              seconds(1));
}

TEST(Sampler, SecondSampleHasRatesAndAnEstimateFromThem) {
  World w;
  w.fake.make_vm();
  Sampler sampler(w.loop, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  EXPECT_FALSE(w.samples.at(0).watts);
  w.fake.set_cpu(1100, 9100);
  w.fake.set_net("eth0", 4000, 2000);
  w.scheduler.run_for(seconds(1));
  const Sample& s = w.samples.at(1);
  EXPECT_DOUBLE_EQ(s.cpu.value(), 0.5);
  EXPECT_DOUBLE_EQ(s.watts.value(), 8 + 6);
  EXPECT_TRUE(s.watts_estimated);
  EXPECT_NEAR(s.net_rx_bps.value(), 3000 / s.covers_s, 1e-6);
  EXPECT_FALSE(s.temp_max_c);
  EXPECT_TRUE(s.temp_max_name.empty());
}

TEST(Sampler, GoesOnWhenTheWallClockJumps) {
  World w;
  w.fake.make_vm();
  Sampler sampler(w.loop, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  w.scheduler.run_for(seconds(5));
  for (const auto jump : {Duration(std::chrono::hours(24 * 365)), Duration(-std::chrono::hours(24 * 700))}) {
    w.loop.clock().step_wall(jump);
    const std::size_t before = w.samples.size();
    w.scheduler.run_for(seconds(5));
    EXPECT_GE(w.samples.size(), before + 4);
    EXPECT_LE(w.samples.back().covers_s, 2.0);
  }
}

TEST(Sampler, OffloadedReadingsComeOneAtATime) {
  World w;
  w.fake.make_vm();
  std::vector<std::function<void()>> queue;
  SamplerOptions options = w.options();
  options.offload = [&](std::function<void()> work) {
    queue.push_back(std::move(work));
    return true;
  };
  Sampler sampler(w.loop, w.disk, std::move(options));
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  w.scheduler.run_for(seconds(10));
  ASSERT_EQ(queue.size(), 1U);  // a sensor that hangs holds one thread, not all
  EXPECT_TRUE(w.samples.empty());
  queue[0]();
  w.scheduler.run_for(seconds(1));
  EXPECT_EQ(w.samples.size(), 1U);
  EXPECT_EQ(queue.size(), 2U);
}

TEST(Sampler, AFullPoolCostsOneSecondOnly) {
  World w;
  w.fake.make_vm();
  bool full = true;
  SamplerOptions options = w.options();
  options.offload = [&](const std::function<void()>& work) {
    if (!full) work();
    return !full;
  };
  Sampler sampler(w.loop, w.disk, std::move(options));
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  w.scheduler.run_for(seconds(3));
  EXPECT_TRUE(w.samples.empty());
  full = false;
  w.scheduler.run_for(seconds(3));
  EXPECT_GE(w.samples.size(), 2U);
}

TEST(Sampler, MayBeDestroyedWhileAReadingIsOnItsWay) {
  World w;
  w.fake.make_vm();
  std::vector<std::function<void()>> queue;
  {
    SamplerOptions options = w.options();
    options.offload = [&](std::function<void()> work) {
      queue.push_back(std::move(work));
      return true;
    };
    Sampler sampler(w.loop, w.disk, std::move(options));
    sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  }
  ASSERT_EQ(queue.size(), 1U);
  queue[0]();
  w.scheduler.run_for(seconds(5));
  EXPECT_TRUE(w.samples.empty());
}

// With real threads, for the thread sanitizer: the first sample comes at once, so nothing waits.
TEST(Sampler, ReadsOnARealPoolAndAnswersOnTheLoop) {
  test::FakeBoard fake;
  fake.make_tx1();
  AsioLoop loop;
  Pool pool("io", 2, 8);
  SamplerOptions options{"/", fake.root(),
                         [&](std::function<void()> work) { return pool.submit(std::move(work)); }};
  Sampler sampler(loop, real_disk(), std::move(options));
  std::optional<double> watts;
  bool in_loop = false;
  loop.post([&] {
    sampler.start([&](const Sample& s) {
      watts = s.watts;
      in_loop = loop.in_loop();
      sampler.stop();
      loop.stop();
    });
  });
  loop.run();
  EXPECT_DOUBLE_EQ(watts.value_or(0), 4.321);
  EXPECT_TRUE(in_loop);
}

TEST(Sampler, StopsWhenAsked) {
  World w;
  w.fake.make_vm();
  Sampler sampler(w.loop, w.disk, w.options());
  sampler.start([&](const Sample& s) { w.samples.push_back(s); });
  sampler.stop();
  w.scheduler.run_for(seconds(5));
  EXPECT_EQ(w.samples.size(), 1U);
  EXPECT_EQ(w.loop.pending(), 0U);
}

}  // namespace
}  // namespace samovar::power
