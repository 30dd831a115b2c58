// One blocking reading of everything: the sampler's hands.
//
// Threading: one thread at a time.
#pragma once
#include <optional>
#include <string>

#include "base/disk.hpp"
#include "daemon/power/sample.hpp"
#include "daemon/power/vitals.hpp"

namespace samovar::power {

struct Reading {
  Sample sample;
  Sensors sensors;
};

class Probe {
 public:
  // disk outlives the probe.
  Probe(Disk& disk, std::string state_dir, std::string root);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  Reading read(WallTime wall, MonoTime mono);
  const Board& board() const noexcept { return board_; }
  const PowerSensor& power() const noexcept { return *power_; }

 private:
  Disk& disk_;
  const std::string state_dir_;
  const Sysfs sys_;
  const Board board_;
  const std::unique_ptr<PowerSensor> power_;
  const std::optional<Gpu> gpu_;
  std::optional<Counters> last_;
};

}  // namespace samovar::power
