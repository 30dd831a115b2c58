#include "tests/support/simulated_board.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::test {

BoardModel tx1_like() {
  BoardModel m;
  m.name = "tx1";
  m.idle_watts = 2.5;
  m.dynamic_watts = 9;
  m.rate = 1000;
  m.kelvin_per_watt = 4;
  return m;
}

BoardModel orin_like() {
  BoardModel m;
  m.name = "orin";
  m.idle_watts = 5;
  m.dynamic_watts = 30;
  m.rate = 6000;
  m.voltage_floor = 0.5;
  m.kelvin_per_watt = 1.4;
  m.heat_seconds = 90;
  return m;
}

BoardModel old_pc_like() {
  BoardModel m;
  m.name = "old pc";
  m.idle_watts = 12;
  m.dynamic_watts = 45;
  m.rate = 2500;
  m.memory_bound = 0.5;
  m.kelvin_per_watt = 0.8;
  m.heat_seconds = 120;
  return m;
}

BoardModel nano_like() {
  BoardModel m;
  m.name = "nano";
  m.idle_watts = 1.8;
  m.dynamic_watts = 6;
  m.rate = 450;
  m.voltage_floor = 0.75;
  m.kelvin_per_watt = 5;
  m.heat_seconds = 45;
  return m;
}

double SimulatedBoard::clock(std::size_t level) const {
  const double wanted = model_.clocks[std::min(level, model_.clocks.size() - 1)];
  return celsius_ >= model_.throttle_celsius ? wanted / 2 : wanted;
}

double SimulatedBoard::watts_at(std::size_t level, double duty) const {
  const double f = clock(level);
  // Voltage falls with the clock down to its floor: f·V².
  const double volts = model_.voltage_floor + (1 - model_.voltage_floor) * f;
  const double leak = 1 + model_.leak_per_degree * (celsius_ - 25);
  return (model_.idle_watts + model_.dynamic_watts * f * volts * volts * duty) * leak;
}

double SimulatedBoard::rate_at(std::size_t level, double duty) const {
  const double f = clock(level);
  const double m = model_.memory_bound;
  // Time per sample: a part that goes with the clock, and one that waits for memory.
  return model_.rate * duty / ((1 - m) / f + m);
}

void SimulatedBoard::pass(double seconds) {
  const double watts = watts_at(level_, duty_);
  const double goal = model_.ambient_celsius + model_.kelvin_per_watt * watts;
  celsius_ += (goal - celsius_) * (1 - std::exp(-seconds / model_.heat_seconds));
  joules_ += watts * seconds;
  sensed_joules_ += watts * seconds;
  sensed_seconds_ += seconds;
  samples_ += rate_at(level_, duty_) * seconds;
}

double SimulatedBoard::sense() {
  const double mean = sensed_seconds_ > 0 ? sensed_joules_ / sensed_seconds_ : watts_at(level_, duty_);
  sensed_joules_ = sensed_seconds_ = 0;
  std::normal_distribution<double> noise(1, model_.sensor_noise);
  return mean * noise(random_);
}

}  // namespace samovar::test
