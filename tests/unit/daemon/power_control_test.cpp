// A budget over three nodes that talk to each other: simulated boards, clocks and network, the control real.
#include "daemon/power_control.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"
#include "tests/support/fake_board.hpp"
#include "tests/support/simulated_board.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar::daemon {
namespace {

struct World;

struct Node {
  Node(World& world, const std::string& name, test::BoardModel model);
  PowerHooks hooks();
  void second();

  World& world;
  SimLoop loop;
  std::unique_ptr<SimTransport> transport;
  net::Exchange exchange;
  test::TempDir dir;
  test::FakeBoard sys;
  test::SimulatedBoard board;
  bool up = true;
  bool working = false;
  double joules_before = 0;
  double samples_before = 0;
  std::optional<double> job_watts;
  std::string leader;  // whom it takes for the leader
  std::unique_ptr<PowerControl> control;
};

struct World {
  explicit World(std::size_t levels = 1) {
    auto models = {test::tx1_like(), test::orin_like(), test::old_pc_like()};
    for (test::BoardModel model : models) {
      model.clocks.resize(levels);
      nodes.push_back(
          std::make_unique<Node>(*this, std::string(1, static_cast<char>('a' + nodes.size())), model));
    }
    lead("a");
  }
  void lead(const std::string& id) {
    for (auto& node : nodes) node->leader = id;
  }
  // Each second: what boards did, samples, answers.
  void run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      double watts = 0;
      for (auto& node : nodes) {
        if (!node->up) continue;
        node->second();
        watts += node->board.joules() - node->joules_before;
      }
      scheduler.run_for(std::chrono::seconds(1));
      last.push_back(watts);
    }
  }
  double mean(std::size_t seconds) const {
    return std::accumulate(last.end() - static_cast<std::ptrdiff_t>(seconds), last.end(), 0.0) /
           static_cast<double>(seconds);
  }
  void work(bool on = true) {
    for (auto& node : nodes) {
      node->working = on;
      node->control->dial()->running = on ? 1 : 0;
    }
  }

  SimScheduler scheduler{1};
  SimNetwork network{scheduler, {}};
  power::Settings settings;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<double> last;  // watts of all, each second
};

Node::Node(World& w, const std::string& name, test::BoardModel model)
    : world(w),
      loop(w.scheduler),
      transport(w.network.attach(name, loop)),
      exchange(loop, *transport),
      board(std::move(model), static_cast<std::uint32_t>(name[0])) {
  control = std::make_unique<PowerControl>(loop, real_disk(), exchange, sys.root(),
                                           dir.path() + "/clock-caps", hooks());
  control->start();
}

PowerHooks Node::hooks() {
  PowerHooks h;
  h.leader = [this] { return leader; };
  h.members = [] { return std::vector<std::string>{"a", "b", "c"}; };
  h.settings = [this] { return world.settings; };
  h.local_time = [] { return power::LocalTime{}; };
  h.work = [this] { return jobs::PowerWork{"glm", job_watts, job_watts ? "job_1" : ""}; };
  return h;
}

void Node::second() {
  joules_before = board.joules();
  board.set(0, control->dial()->duty.load(), working);
  board.pass(1);
  control->dial()->rows += static_cast<std::uint64_t>(board.samples() - samples_before);
  samples_before = board.samples();
  power::Sample sample;
  sample.t = loop.clock().wall();
  sample.covers_s = 1;
  sample.watts = board.sense();
  sample.temp_max_c = board.celsius();
  control->on_sample(sample);
}

TEST(PowerControl, WithoutABudgetEverybodyRunsFreely) {
  World world;
  world.work();
  world.run(20);
  for (auto& node : world.nodes) {
    EXPECT_EQ(node->control->dial()->duty, 1);
    EXPECT_FALSE(node->control->cap_watts());
  }
  EXPECT_GT(world.mean(10), 90);
}

TEST(PowerControl, ThreeNodesHoldABudgetAndALiftedOneIsForgotten) {
  World world;
  world.settings.budget_watts = 50;
  world.run(20);
  world.work();
  world.run(60);
  for (int i = 0; i < 30; ++i) {
    world.run(2);
    EXPECT_LE(world.mean(10), 51.5);
  }
  EXPECT_GE(world.mean(10), 46) << "and makes use of it";
  world.settings.budget_watts.reset();
  world.run(4);
  EXPECT_EQ(world.nodes[1]->control->dial()->duty, 1);
}

TEST(PowerControl, NodesThatRestedForLongHaveTheirCapsWithinSeconds) {
  World world;
  world.run(100);
  for (auto& node : world.nodes) EXPECT_FALSE(node->control->cap_watts());
  world.settings.budget_watts = 50;
  world.run(4);
  for (auto& node : world.nodes) EXPECT_TRUE(node->control->cap_watts());
}

TEST(PowerControl, ALeaderThatIsLostIsReplacedWithoutALeap) {
  World world;
  world.settings.budget_watts = 50;
  world.run(20);
  world.work();
  world.run(90);
  world.nodes[0]->up = false;
  world.network.partition({"a"});
  world.run(3);  // nobody has noticed
  world.nodes[1]->leader = world.nodes[2]->leader = "";
  world.run(4);  // an election
  world.nodes[1]->leader = world.nodes[2]->leader = "b";
  for (int i = 0; i < 60; ++i) {
    world.run(1);
    EXPECT_LE(world.mean(10), 51.5) << i;
  }
  ASSERT_TRUE(world.nodes[1]->control->led());
  EXPECT_EQ(world.nodes[1]->control->led()->nodes.at(0).state, "unknown");
  EXPECT_GE(world.mean(10), 44) << "the watts of the one that is gone are used";
}

TEST(PowerControl, WhoHearsNoLeaderGoesDownToRest) {
  World world;
  world.settings.budget_watts = 60;
  world.run(20);
  world.work();
  world.run(90);
  const double before = world.nodes[1]->control->dial()->duty;
  world.network.partition({"b"});
  world.nodes[1]->leader = "";
  world.run(10);
  EXPECT_GE(world.nodes[1]->control->dial()->duty, before * 0.6) << "what it was told holds for a while";
  world.run(20);
  EXPECT_LE(world.nodes[1]->control->dial()->duty, 0.03);
  EXPECT_LE(world.mean(10), 61.8) << "and the others have its watts by now";
  world.network.heal();
  world.nodes[1]->leader = "a";
  world.run(20);
  EXPECT_GE(world.nodes[1]->control->dial()->duty, 0.1);
  EXPECT_LE(world.mean(10), 61.8);
}

TEST(PowerControl, ATrainingMayWantLessThanTheBox) {
  World world;
  world.nodes[2]->job_watts = 45;
  world.run(20);
  world.work();
  world.run(90);
  EXPECT_LE(world.mean(10), 46.4);
  EXPECT_EQ(world.nodes[0]->control->led()->reason, "job");
  world.nodes[2]->job_watts.reset();
  world.run(5);
  EXPECT_EQ(world.nodes[1]->control->dial()->duty, 1);
}

TEST(PowerControl, EveryNodeCanSayHowAllStand) {
  World world;
  world.settings.budget_watts = 50;
  world.run(5);
  std::optional<power::ClusterPower> seen;
  spawn([](PowerControl& control, std::optional<power::ClusterPower>& out) -> Task<void> {
    out = co_await control.look();
  }(*world.nodes[2]->control, seen));
  world.scheduler.run_for(std::chrono::seconds(1));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->leader_id, "a");
  EXPECT_EQ(seen->nodes.size(), 3u);
  EXPECT_EQ(seen->nodes[2].state, "reporting");
  world.nodes[2]->leader = "";
  seen.reset();
  spawn([](PowerControl& control, std::optional<power::ClusterPower>& out) -> Task<void> {
    out = co_await control.look();
  }(*world.nodes[2]->control, seen));
  world.scheduler.run_for(std::chrono::seconds(1));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->leader_id, "");
  EXPECT_EQ(seen->budget_watts, 50);
}

// A board whose kernel lets clocks be capped: what was found is put back, at a stop and after a crash.
TEST(PowerControl, ClockCapsArePutBackAtAStopAndAfterACrash) {
  SimScheduler scheduler{1};
  SimNetwork network{scheduler, {}};
  SimLoop loop(scheduler);
  const auto transport = network.attach("a", loop);
  net::Exchange exchange(loop, *transport);
  test::TempDir dir;
  test::FakeBoard sys;
  const std::string policy = "/sys/devices/system/cpu/cpufreq/policy0";
  const std::string top = policy + "/scaling_max_freq";
  sys.write(top, 1'479'000);
  sys.write(policy + "/scaling_available_frequencies", "102000 512000 1036800 1479000\n");
  const power::Sysfs read(sys.root());
  PowerHooks hooks;
  hooks.leader = [] { return std::string("a"); };
  hooks.members = [] { return std::vector<std::string>{"a"}; };
  hooks.settings = [] {
    power::Settings settings;
    settings.budget_watts = 8;
    return settings;
  };
  hooks.local_time = [] { return power::LocalTime{}; };
  hooks.work = [] { return jobs::PowerWork{"glm", {}, {}}; };
  const auto begin = [&] {
    auto control = std::make_unique<PowerControl>(loop, real_disk(), exchange, sys.root(),
                                                  dir.path() + "/clock-caps", hooks);
    control->start();
    control->dial()->running = 1;
    power::Sample sample;
    sample.covers_s = 1;
    for (int i = 0; i < 6; ++i) {
      sample.watts = 3 + 8 * control->dial()->duty;
      control->on_sample(sample);
      scheduler.run_for(std::chrono::seconds(1));
    }
    return control;
  };
  auto control = begin();
  EXPECT_LT(*read.number(top), 1'479'000) << "it probes at a lower clock first";
  EXPECT_TRUE(real_disk().exists(dir.path() + "/clock-caps"));
  control->stop();
  EXPECT_EQ(read.number(top), 1'479'000);
  EXPECT_FALSE(real_disk().exists(dir.path() + "/clock-caps"));
  control.reset();
  // A crash: nothing of it runs; what is left is the file.
  ASSERT_TRUE(real_disk().write_file(dir.path() + "/clock-caps", as_bytes(top + " 1479000\n")));
  sys.write(top, 512'000);
  control = std::make_unique<PowerControl>(loop, real_disk(), exchange, sys.root(),
                                           dir.path() + "/clock-caps", hooks);
  EXPECT_EQ(read.number(top), 1'479'000);
}

}  // namespace
}  // namespace samovar::daemon
