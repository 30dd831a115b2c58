// A board that only exists as formulas: watts and samples a second as functions of clocks and duty, heat with
// inertia that makes it draw more, a sensor with noise. What the power control is tried on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace samovar::test {

struct BoardModel {
  std::string name;
  double idle_watts = 2;           // at 25 °C
  double dynamic_watts = 8;        // at the highest clock and full duty
  double leak_per_degree = 0.004;  // more of all watts, for each degree above 25
  double voltage_floor = 0.6;      // of the highest; power goes with its square
  double rate = 1000;              // samples a second at the highest clock
  double memory_bound = 0.3;       // 0: with the clock; towards 1: the clock buys less and less
  double kelvin_per_watt = 3;
  double heat_seconds = 60;  // the time constant of its heat
  double ambient_celsius = 25;
  double throttle_celsius = 97;  // the hardware halves its clock by itself
  std::vector<double> clocks = {1, 0.88, 0.76, 0.64, 0.52, 0.4};
  double sensor_noise = 0.02;
};

BoardModel tx1_like();
BoardModel orin_like();
BoardModel old_pc_like();
BoardModel nano_like();

class SimulatedBoard {
 public:
  SimulatedBoard(BoardModel model, std::uint32_t seed) : model_(std::move(model)), random_(seed) {
    celsius_ = model_.ambient_celsius;
  }

  const BoardModel& model() const { return model_; }
  // True values, now, if it were set like this and worked.
  double watts_at(std::size_t level, double duty) const;
  double rate_at(std::size_t level, double duty) const;

  void set(std::size_t level, double duty, bool working) {
    level_ = level;
    duty_ = working ? duty : 0;
  }
  // Lets time pass; what it used and did is added up.
  void pass(double seconds);
  double joules() const { return joules_; }    // in all
  double samples() const { return samples_; }  // in all
  double celsius() const { return celsius_; }
  // What the sensor says of the power since the last look.
  double sense();

 private:
  double clock(std::size_t level) const;

  BoardModel model_;
  std::mt19937 random_;
  std::size_t level_ = 0;
  double duty_ = 0;
  double celsius_ = 25;
  double joules_ = 0;
  double samples_ = 0;
  double sensed_joules_ = 0;
  double sensed_seconds_ = 0;
};

}  // namespace samovar::test
