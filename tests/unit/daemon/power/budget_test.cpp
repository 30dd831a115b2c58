// The whole of power control on simulated boards with heat: a governor, a regulator and a guard on each
// board, one simulated second after the other. What must hold: the ten-second mean of what all boards really
// draw stays within 3 % of the budget, and the samples come near to those of an oracle that knows the boards'
// formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "daemon/power/governor.hpp"
#include "daemon/power/regulator.hpp"
#include "daemon/power/thermal_guard.hpp"
#include "tests/support/simulated_board.hpp"

namespace samovar::power {
namespace {

using test::BoardModel;
using test::SimulatedBoard;

constexpr int kReportSeconds = 1;  // between what a node tells the leader

struct SimNode {
  SimNode(BoardModel model, std::uint32_t seed)
      : board(std::move(model), seed), regulator(std::in_place, board.model().clocks.size()) {}
  SimulatedBoard board;
  std::optional<Regulator> regulator;
  ThermalGuard guard;
  std::optional<double> cap;
  double watts = 0;  // sensed
  double samples_before = 0;
  bool up = true;
  bool working = false;
};

// What an all-knowing planner reaches: every board's best samples for each three-hundredth of the budget,
// then the best split.
double oracle_rate(const std::vector<std::unique_ptr<SimNode>>& nodes, double budget) {
  const double grain = budget / 300;
  const auto slots = static_cast<std::size_t>(budget / grain);
  std::vector<double> best(slots + 1, 0);
  for (const auto& node : nodes) {
    if (!node->up) continue;
    std::vector<double> own(slots + 1, -1);
    for (std::size_t s = 0; s <= slots; ++s) {
      const double watts = static_cast<double>(s) * grain;
      const double idle = node->board.watts_at(0, 0);
      if (watts < idle) continue;
      own[s] = 0;
      if (!node->working) continue;
      for (std::size_t level = 0; level < node->board.model().clocks.size(); ++level) {
        const double full = node->board.watts_at(level, 1);
        const double duty = std::min(1.0, (watts - idle) / (full - idle));
        own[s] = std::max(own[s], node->board.rate_at(level, duty));
      }
    }
    std::vector<double> next(slots + 1, -1);
    for (std::size_t all = 0; all <= slots; ++all)
      for (std::size_t s = 0; s <= all; ++s)
        if (own[s] >= 0 && best[all - s] >= 0) next[all] = std::max(next[all], own[s] + best[all - s]);
    best = std::move(next);
  }
  return std::max(0.0, best[slots]);
}

class Lab {
 public:
  explicit Lab(const std::vector<BoardModel>& models, std::uint32_t seed = 1, bool equal = false)
      : equal_(equal) {
    for (std::size_t i = 0; i < models.size(); ++i)
      nodes.push_back(std::make_unique<SimNode>(models[i], seed * 100 + static_cast<std::uint32_t>(i)));
  }

  void set_budget(std::optional<double> watts) {
    // A lower budget cannot hold for the seconds before it was known.
    if (watts && (!budget || *watts < *budget)) exempt_until_ = second_ + 10 + kReportSeconds + 1;
    budget = watts;
  }

  void second() {
    ++second_;
    double joules = 0;
    for (const auto& node : nodes) {
      if (!node->up) continue;
      const double before = node->board.joules();
      for (int i = 0; i < 10; ++i) node->board.pass(0.1);
      joules += node->board.joules() - before;
    }
    last_ten_.push_back(joules);
    if (last_ten_.size() > 10) last_ten_.pop_front();
    if (budget && last_ten_.size() == 10 && second_ > exempt_until_) {
      double mean = 0;
      for (const double j : last_ten_) mean += j / 10;
      worst = std::max(worst, mean / *budget);
    }
    if (second_ % kReportSeconds == 0) govern();
    for (const auto& node : nodes)
      if (node->up) regulate(*node);
  }

  void run(int seconds, const std::function<void(int)>& at = nullptr) {
    for (int i = 0; i < seconds; ++i) {
      if (at) at(i);
      second();
    }
  }

  // Samples a second over the next seconds, and the oracle's over the same.
  std::pair<double, double> measure(int seconds) {
    double before = samples();
    double oracle = 0;
    for (int i = 0; i < seconds; ++i) {
      if (i % 10 == 0) oracle += oracle_rate(nodes, *budget) * std::min(10, seconds - i);
      second();
    }
    return {(samples() - before) / seconds, oracle / seconds};
  }

  double samples() const {
    double sum = 0;
    for (const auto& node : nodes) sum += node->board.samples();
    return sum;
  }

  std::vector<std::unique_ptr<SimNode>> nodes;
  std::optional<double> budget;
  std::optional<double> limit_celsius;
  double worst = 0;  // ten-second mean of what is really drawn, over the budget
  PowerPlan plan;

 private:
  void govern() {
    std::vector<NodeStatus> all;
    for (const auto& node : nodes) {
      if (!node->up) continue;
      NodeStatus status;
      status.id = node->board.model().name;
      status.working = node->working;
      status.watts = node->watts;
      status.idle_watts = node->regulator->idle_watts();
      status.watts_max = node->regulator->watts_max();
      if (const auto curve = node->regulator->curve(); curve && !node->regulator->probing())
        status.curve.assign(curve->points().begin() + 1, curve->points().end());
      all.push_back(std::move(status));
    }
    plan = governor_.step(kReportSeconds, budget, all);
    std::size_t next = 0;
    for (const auto& node : nodes) {
      if (!node->up) continue;
      node->cap = std::nullopt;
      if (!plan.budget_watts) continue;
      node->cap = equal_ ? *budget * 0.99 / static_cast<double>(all.size()) : plan.caps[next].watts;
      ++next;
    }
  }

  void regulate(SimNode& node) {
    node.watts = node.board.sense();
    RegulatorInput input;
    input.watts = node.watts;
    input.rate = node.board.samples() - node.samples_before;
    node.samples_before = node.board.samples();
    input.working = node.working;
    input.kind = "glm";
    input.cap_watts = node.cap;
    input.heat_share = node.guard.step(1, node.board.celsius(), limit_celsius);
    const Drive drive = node.regulator->step(input);
    node.board.set(drive.level, drive.duty, node.working);
  }

  const bool equal_;
  Governor governor_;
  std::deque<double> last_ten_;
  int second_ = 0;
  int exempt_until_ = 0;
};

const std::vector<BoardModel> kUnlike = {test::tx1_like(), test::orin_like(), test::old_pc_like(),
                                         test::nano_like()};

void all_work(Lab& lab, bool on = true) {
  for (auto& node : lab.nodes) node->working = on;
}

TEST(Budget, HeldThroughStartHeatAndChangesOnEverySeed) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Lab lab(kUnlike, seed);
    lab.set_budget(60);
    lab.run(20);
    all_work(lab);
    lab.run(300, [&](int second) {
      if (second == 120) lab.nodes[1]->working = false;
      if (second == 150) lab.nodes[1]->working = true;
      if (second == 200) lab.set_budget(45);
      if (second == 250) lab.set_budget(70);
    });
    EXPECT_LE(lab.worst, 1.03) << "seed " << seed;
    EXPECT_GT(lab.worst, 0.9) << "it was never tried, seed " << seed;
  }
}

// Boards for which nobody chose a gain: from a few watts to two hundred, with fine, coarse or no clock steps,
// slow and fast heat, noisy sensors.
std::vector<BoardModel> drawn(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, static_cast<double>(random() % 10'000) / 10'000);
  };
  std::vector<BoardModel> models(3 + seed % 4);
  for (std::size_t i = 0; i < models.size(); ++i) {
    BoardModel& m = models[i];
    m.name = "board" + std::to_string(i);
    m.idle_watts = between(1, 30);
    m.dynamic_watts = m.idle_watts * between(1, 6);
    m.leak_per_degree = between(0.001, 0.006);
    m.voltage_floor = between(0.5, 0.95);
    m.rate = m.dynamic_watts * between(20, 400);
    m.memory_bound = between(0.05, 0.7);
    m.kelvin_per_watt = between(35, 70) / (m.idle_watts + m.dynamic_watts);
    m.heat_seconds = between(15, 200);
    m.sensor_noise = between(0.005, 0.04);
    const auto steps = static_cast<unsigned>(random() % 3 == 0 ? 1 : 2 + random() % 12);
    m.clocks.clear();
    for (unsigned c = 0; c < steps; ++c) m.clocks.push_back(1 - 0.65 * c / std::max(1u, steps - 1));
  }
  return models;
}

TEST(Budget, HeldByBoardsOfAnyKind) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const auto models = drawn(seed);
    double idle = 0;
    double full = 0;
    for (const auto& m : models) {
      idle += m.idle_watts;
      full += m.idle_watts + m.dynamic_watts;
    }
    for (const double part : {0.3, 0.5, 0.75}) {
      Lab lab(models, seed);
      lab.set_budget(idle + part * (full - idle));
      lab.run(20);
      all_work(lab);
      lab.run(240);
      // Warm boards draw more at rest: nothing can be done about that.
      double rest = 0;
      for (const auto& node : lab.nodes) rest += node->board.watts_at(0, 0);
      if (rest > 0.95 * *lab.budget) continue;
      EXPECT_LE(lab.worst, 1.03) << "seed " << seed << ", " << part;
      EXPECT_GT(lab.worst, 0.8) << "it was never tried, seed " << seed << ", " << part;
    }
  }
}

// It comes back as after a reboot: knowing nothing, its worker started anew some seconds later.
TEST(Budget, HeldWhenANodeLeavesAndComesBack) {
  Lab lab(kUnlike, 5);
  lab.set_budget(60);
  lab.run(20);
  all_work(lab);
  lab.run(240, [&](int second) {
    if (second == 100) lab.nodes[2]->up = false;
    if (second == 160) {
      auto& node = *lab.nodes[2];
      node.up = true;
      node.working = false;
      node.cap.reset();
      node.regulator.emplace(node.board.model().clocks.size());
      node.board.set(0, 0, false);
    }
    if (second == 165) lab.nodes[2]->working = true;
  });
  EXPECT_LE(lab.worst, 1.03);
}

TEST(Budget, ThroughputIsThatOfAnOracleAndAheadOfEqualShares) {
  for (const double budget : {40.0, 55.0, 75.0}) {
    Lab planned(kUnlike);
    Lab equal(kUnlike, 1, true);
    for (Lab* lab : {&planned, &equal}) {
      lab->set_budget(budget);
      lab->run(20);
      all_work(*lab);
      lab->run(150);
    }
    const auto [rate, oracle] = planned.measure(120);
    const auto [plain, same_oracle] = equal.measure(120);
    EXPECT_GE(rate, 0.95 * oracle) << budget << " W";
    EXPECT_GE(rate, 1.1 * plain) << budget << " W";
    EXPECT_LE(planned.worst, 1.03) << budget << " W";
    RecordProperty(("of_oracle_" + std::to_string(static_cast<int>(budget))).c_str(),
                   std::to_string(rate / oracle));
    RecordProperty(("over_equal_" + std::to_string(static_cast<int>(budget))).c_str(),
                   std::to_string(rate / plain));
  }
}

// Not each of them reaches 95 %: a rest that takes most of the budget leaves little to split, of which the
// margin below the budget is a large part; and a board that its hardware throttles is not what it was a
// second ago.
TEST(Budget, ThroughputOfBoardsOfAnyKindIsNearAnOracles) {
  double share = 0;
  double ahead = 0;
  int runs = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const auto models = drawn(seed);
    double budget = 0;
    for (const auto& m : models) budget += m.idle_watts + 0.5 * m.dynamic_watts;
    Lab planned(models, seed);
    Lab equal(models, seed, true);
    for (Lab* lab : {&planned, &equal}) {
      lab->set_budget(budget);
      lab->run(20);
      all_work(*lab);
      lab->run(150);
    }
    const auto [rate, oracle] = planned.measure(60);
    const auto [plain, same_oracle] = equal.measure(60);
    share += rate / oracle;
    ahead += rate / plain;
    ++runs;
    EXPECT_GE(rate, 0.85 * oracle) << "seed " << seed;
  }
  EXPECT_GE(share / runs, 0.975);
  EXPECT_GE(ahead / runs, 1.3);
  RecordProperty("of_oracle_mean", std::to_string(share / runs));
  RecordProperty("over_equal_mean", std::to_string(ahead / runs));
}

// Many drawn clusters, one line each; not part of the tests that always run:
//   power_test --gtest_also_run_disabled_tests --gtest_filter='Budget.DISABLED_Sweep'
TEST(Budget, DISABLED_Sweep) {
  int runs = 0;
  int over = 0;
  int below = 0;
  double worst = 0;
  double least = 1;
  double share = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const auto models = drawn(seed);
    double idle = 0;
    double full = 0;
    for (const auto& m : models) {
      idle += m.idle_watts;
      full += m.idle_watts + m.dynamic_watts;
    }
    for (const double part : {0.3, 0.5, 0.75}) {
      Lab lab(models, seed);
      lab.set_budget(idle + part * (full - idle));
      lab.run(20);
      all_work(lab);
      lab.run(150);
      const auto [rate, oracle] = lab.measure(60);
      double rest = 0;
      for (const auto& node : lab.nodes) rest += node->board.watts_at(0, 0);
      const bool hopeless = rest > 0.95 * *lab.budget;
      ++runs;
      const double of = oracle > 0 ? rate / oracle : 1;
      if (!hopeless && lab.worst > 1.03) ++over;
      if (of < 0.95) ++below;
      if (!hopeless) worst = std::max(worst, lab.worst);
      least = std::min(least, of);
      share += of;
      if ((!hopeless && lab.worst > 1.03) || of < 0.95)
        std::printf("seed %u part %.2f worst %.4f of oracle %.4f rest/budget %.2f boards %zu\n", seed, part,
                    lab.worst, of, rest / *lab.budget, models.size());
    }
  }
  std::printf("%d runs: %d over 3 %%, worst %.4f; %d below 95 %% of the oracle, least %.4f, mean %.4f\n",
              runs, over, worst, below, least, share / runs);
}

// The harness itself: without caps the same boards draw far more than the budget.
TEST(Budget, WithoutCapsTheBudgetIsBroken) {
  Lab lab(kUnlike);
  lab.set_budget(60);
  lab.run(20);
  for (auto& node : lab.nodes) node->working = true;
  lab.run(60, [&](int) {
    for (auto& node : lab.nodes) node->board.set(0, 1, true);
  });
  double full = 0;
  for (const auto& node : lab.nodes) full += node->board.watts_at(0, 1);
  EXPECT_GT(full, 1.5 * 60);
}

TEST(Budget, AThermalLimitIsKeptAndItsWattsGoToTheOthers) {
  std::vector<BoardModel> models = {test::tx1_like(), test::orin_like()};
  models[0].kelvin_per_watt = 2.5;
  models[1].ambient_celsius = 45;
  models[1].kelvin_per_watt = 2;
  Lab lab(models, 3);
  lab.limit_celsius = 80;
  lab.set_budget(38);
  lab.run(20);
  all_work(lab);
  lab.run(600);
  double hottest = 0;
  double tx1_before = lab.nodes[0]->board.samples();
  lab.run(300, [&](int) { hottest = std::max(hottest, lab.nodes[1]->board.celsius()); });
  EXPECT_LE(hottest, 82);
  EXPECT_GE(hottest, 75) << "it is held at the limit, not stopped";
  // The cooler one has all it can use.
  EXPECT_GE((lab.nodes[0]->board.samples() - tx1_before) / 300, 0.95 * lab.nodes[0]->board.rate_at(0, 1));
  EXPECT_LE(lab.worst, 1.03);
}

TEST(Budget, RestAboveTheBudgetIsSaid) {
  Lab lab(kUnlike);
  lab.set_budget(15);
  lab.run(30);
  EXPECT_FALSE(lab.plan.held);
  EXPECT_NEAR(lab.plan.idle_watts, 21.3, 1.5);
  lab.set_budget(60);
  lab.run(30);
  EXPECT_TRUE(lab.plan.held);
}

}  // namespace
}  // namespace samovar::power
