// What the two forms of the INA3221 have in common: named rails, and which of them is the whole board.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "daemon/power/power_sensor.hpp"

namespace samovar::power {

struct InaRail {
  std::string name;
  std::string power_path;    // mW; empty when the driver offers only the two below
  std::string voltage_path;  // mV
  std::string current_path;  // mA
};

// Leaves out rails that cannot be read even once; null when none is left.
// form: how the driver shows itself, for the note.
std::unique_ptr<PowerSensor> make_ina3221(const Sysfs& sys, std::vector<InaRail> rails, std::string form);

// "1-0040": an I²C device's folder.
bool is_i2c_device(std::string_view name) noexcept;

}  // namespace samovar::power
