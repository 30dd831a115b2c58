// One node at its cap where readings say little: budget_test.cpp has the boards whose readings are good.
#include "daemon/power/regulator.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace samovar::power {
namespace {

using Watts = std::function<std::optional<double>(const Drive&)>;

struct Bench {
  explicit Bench(std::size_t levels) : regulator(levels) {}
  Drive run(int seconds, const Watts& watts, std::optional<double> cap, bool working = true) {
    for (int i = 0; i < seconds; ++i) {
      RegulatorInput input;
      input.watts = watts(working ? drive : Drive{0, 0});
      input.rate = working ? 1000 * drive.duty : 0;
      input.working = working;
      input.kind = "glm";
      input.cap_watts = cap;
      drive = regulator.step(input);
    }
    return drive;
  }
  Regulator regulator;
  Drive drive;
};

std::optional<double> always_twelve(const Drive&) { return 12; }

// An estimate from the load of a machine that others keep busy: our work changes nothing about it.
TEST(Regulator, WorkThatCannotBeToldFromRestDoesNotCrawl) {
  for (const std::size_t levels : {1u, 6u}) {
    Bench bench(levels);
    bench.run(20, always_twelve, 20, false);
    bench.run(2, always_twelve, 20);
    EXPECT_LE(bench.drive.duty, 0.5) << "it begins carefully";
    const Drive drive = bench.run(60, always_twelve, 20);
    EXPECT_EQ(drive.duty, 1) << levels;
    EXPECT_EQ(drive.level, 0u) << levels;
    EXPECT_FALSE(bench.regulator.knows());
    bench.run(120, always_twelve, 20);
    EXPECT_EQ(bench.drive.duty, 1) << "and does not begin anew, " << levels;
  }
}

TEST(Regulator, WhatIsNotSeenIsHeldBelowTheCap) {
  // Seen only once it is much: a coarse sensor that counts whole steps of eight watts.
  const Watts coarse = [](const Drive& drive) { return drive.duty > 0.6 ? 20.0 : 12.0; };
  Bench bench(1);
  bench.run(20, coarse, 16, false);
  bench.run(60, coarse, 16);
  double joules = 0;
  for (int i = 0; i < 60; ++i) joules += *coarse(bench.run(1, coarse, 16));
  EXPECT_LE(joules / 60, 16.5);
  EXPECT_GE(bench.drive.duty, 0.3);
}

TEST(Regulator, RestAboveTheCapKeepsWorkAtItsLeast) {
  Bench bench(1);
  bench.run(20, always_twelve, 10, false);
  EXPECT_NEAR(bench.run(60, always_twelve, 10).duty, Regulator::kDutyMin, 0.01);
}

TEST(Regulator, WithoutAnyReadingItStaysCareful) {
  const Watts none = [](const Drive&) { return std::nullopt; };
  Bench bench(1);
  bench.run(10, none, 20, false);
  EXPECT_EQ(bench.run(100, none, 20).duty, Regulator::kDutyUnknown);
  EXPECT_EQ(bench.run(1, none, std::nullopt).duty, 1) << "without a cap there is nothing to be careful for";
}

TEST(Regulator, ALiftedCapIsFullSpeedAtOnce) {
  const Watts board = [](const Drive& drive) { return 5 + 20 * drive.duty; };
  Bench bench(1);
  bench.run(10, board, 10, false);
  EXPECT_NEAR(bench.run(60, board, 10).duty, 0.25, 0.02);
  EXPECT_EQ(bench.run(1, board, std::nullopt).duty, 1);
  bench.run(1, board, 10);
  EXPECT_NEAR(bench.run(1, board, 10).duty, 0.25, 0.05) << "what was learned is still known";
}

}  // namespace
}  // namespace samovar::power
