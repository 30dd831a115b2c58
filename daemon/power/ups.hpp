// Whether this node runs from a battery, as the kernel shows it under /sys/class/power_supply.
//
// Threading: any thread.
#pragma once
#include <optional>

#include "daemon/power/sysfs.hpp"

namespace samovar::power {

// Nothing when the kernel knows neither mains nor a battery: a board on a plug, or a UPS it does not speak
// to.
std::optional<bool> on_battery(const Sysfs& sys);

}  // namespace samovar::power
