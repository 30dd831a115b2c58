#include "daemon/power/ups.hpp"

namespace samovar::power {

std::optional<bool> on_battery(const Sysfs& sys) {
  static constexpr std::string_view kDir = "/sys/class/power_supply";
  bool mains = false;
  bool mains_on = false;
  bool battery = false;
  bool discharging = false;
  for (const std::string& name : sys.list(kDir)) {
    const std::string dir = std::string(kDir) + "/" + name;
    const std::string type = sys.text(dir + "/type").value_or("");
    // The battery of a mouse feeds no board.
    if (sys.text(dir + "/scope").value_or("") == "Device") continue;
    if (type == "Mains") {
      mains = true;
      mains_on = mains_on || sys.number(dir + "/online").value_or(0) == 1;
    } else if (type == "UPS" || type == "Battery") {
      battery = true;
      discharging = discharging || sys.text(dir + "/status").value_or("") == "Discharging";
    }
  }
  if (battery) return discharging;
  if (mains) return !mains_on;
  return std::nullopt;
}

}  // namespace samovar::power
