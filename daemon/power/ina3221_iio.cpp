// INA3221 as NVIDIA's driver ina3221x shows it, Jetson Linux R28 and R32.
#include <map>

#include "daemon/power/ina3221.hpp"

namespace samovar::power {
namespace {

constexpr int kChannels = 3;

// Where the chips of a board may hang, newest form first. The last two are how TX1 and TX2 showed them
// before the driver made its links.
constexpr std::string_view kParents[] = {
    "/sys/bus/i2c/drivers/ina3221x",
    "/sys/bus/i2c/devices",
    "/sys/devices/platform/7000c400.i2c/i2c-1",
    "/sys/devices/3160000.i2c/i2c-0",
};

// The folder with the channels inside a chip's folder, or "".
std::string channels_dir(const Sysfs& sys, const std::string& chip) {
  for (const std::string& name : sys.list(chip)) {
    if (name.rfind("iio:device", 0) != 0 && name != "iio_device") continue;
    if (sys.exists(chip + "/" + name + "/rail_name_0")) return chip + "/" + name;
    // Some kernels put one more folder in between.
    for (const std::string& inner : sys.list(chip + "/" + name))
      if (inner.rfind("iio:device", 0) == 0 && sys.exists(chip + "/" + name + "/" + inner + "/rail_name_0"))
        return chip + "/" + name + "/" + inner;
  }
  return {};
}

}  // namespace

std::unique_ptr<PowerSensor> detect_ina3221_iio(const Sysfs& sys) {
  std::map<std::string, std::string> chips;  // "1-0040" → folder: one chip is reachable by several paths
  for (const std::string_view parent : kParents)
    for (const std::string& name : sys.list(parent)) {
      if (!is_i2c_device(name) || chips.count(name) != 0) continue;
      const std::string dir = channels_dir(sys, std::string(parent) + "/" + name);
      if (!dir.empty()) chips.emplace(name, dir);
    }

  std::vector<InaRail> rails;
  for (const auto& chip : chips)
    for (int n = 0; n < kChannels; ++n) {
      const std::string channel = std::to_string(n);
      const auto name = sys.text(chip.second + "/rail_name_" + channel);
      if (!name || *name == "NC") continue;
      rails.push_back({*name, chip.second + "/in_power" + channel + "_input",
                       chip.second + "/in_voltage" + channel + "_input",
                       chip.second + "/in_current" + channel + "_input"});
    }
  return make_ina3221(sys, std::move(rails), "iio");
}

}  // namespace samovar::power
