// Temperatures of the thermal zones, and of the processor's hwmon where the kernel makes no zone.
//
// Left out: PMIC-Die (a constant 100 °C), thermal-fan-est (computed for the fan), zones that are off.
//
// Threading: any thread.
#pragma once
#include <string>
#include <vector>

#include "daemon/power/sysfs.hpp"

namespace samovar::power {

struct Temperature {
  std::string name;
  double celsius = 0;
};

std::vector<Temperature> read_temperatures(const Sysfs& sys);
// The hottest, or null when there is none.
const Temperature* hottest(const std::vector<Temperature>& all) noexcept;

}  // namespace samovar::power
