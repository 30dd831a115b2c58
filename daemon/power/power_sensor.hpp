// Watts: one interface, four ways to know them, the best one found at start.
//
//   INA3221 through iio     Jetson R28/R32 (driver ina3221x)
//   INA3221 through hwmon   Jetson R34 and later (driver ina3221)
//   RAPL                    Intel and AMD
//   estimate                from the processor's load and a stated model, marked as an estimate
//
// Threading: a sensor keeps its last counters, so one thread at a time uses it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "daemon/power/board.hpp"
#include "daemon/power/sysfs.hpp"

namespace samovar::power {

struct Rail {
  std::string name;
  double watts = 0;
};

struct PowerReading {
  std::optional<double> watts;  // of the whole board; nothing rather than a sum with holes
  bool estimated = false;
  // How far off the watts may be, as a class of sensor: a share of them, and watts besides.
  double error_share = 0;
  double error_watts = 0;
  std::vector<Rail> rails;  // those that could be read now
};

// What the estimate is made from, and the time that counters are divided by.
struct PowerContext {
  MonoTime now{};
  std::optional<double> cpu;       // 0..1 of all processors
  std::optional<double> gpu_load;  // 0..1
};

class PowerSensor {
 public:
  virtual ~PowerSensor() = default;
  virtual std::string_view kind() const = 0;  // "ina3221", "rapl", "estimate"
  virtual std::string note() const = 0;       // for people: what is measured, and what is not
  virtual PowerReading read(const PowerContext& context) = 0;
};

// Never null: the estimate needs no hardware. sys is borrowed and outlives the sensor.
std::unique_ptr<PowerSensor> detect_power_sensor(const Sysfs& sys, const Board& board);

// The single ways, null when the hardware is not there; detect tries them in this order.
std::unique_ptr<PowerSensor> detect_ina3221_iio(const Sysfs& sys);
std::unique_ptr<PowerSensor> detect_ina3221_hwmon(const Sysfs& sys);
std::unique_ptr<PowerSensor> detect_rapl(const Sysfs& sys);
// why: put in front of the note, e.g. that RAPL is there but may not be read.
std::unique_ptr<PowerSensor> make_estimate(const Board& board, std::string why);

// "POM_5V_IN" or "VDD_IN" is the whole module; without either it is the sum of all rails.
bool is_total_rail(std::string_view name) noexcept;

}  // namespace samovar::power
