// INA3221 as the mainline driver shows it, Jetson Linux R34 and later. It has no power files:
// the watts are voltage times current. It converts every 430 ms; we read once a second.
#include "daemon/power/ina3221.hpp"

namespace samovar::power {
namespace {

constexpr int kChannels = 3;  // in4..6 are shunt voltages, in7 and curr4 sums of channels

// "NC" as a word: a channel that is not connected.
bool not_connected(std::string_view label) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::size_t begin = label.find_first_of(kLetters);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(label.find_first_not_of(kLetters, begin), label.size());
    if (label.substr(begin, end - begin) == "NC") return true;
    begin = label.find_first_of(kLetters, end);
  }
  return false;
}

std::vector<std::string> find_chips(const Sysfs& sys) {
  std::vector<std::string> chips;
  const std::string drivers = "/sys/bus/i2c/drivers/ina3221";
  for (const std::string& name : sys.list(drivers)) {
    if (!is_i2c_device(name)) continue;
    const std::string parent = drivers + "/" + name + "/hwmon";
    for (const std::string& hwmon : sys.list(parent)) chips.push_back(parent + "/" + hwmon);
  }
  if (!chips.empty()) return chips;
  for (const std::string& hwmon : sys.list("/sys/class/hwmon"))
    if (sys.text("/sys/class/hwmon/" + hwmon + "/name").value_or("") == "ina3221")
      chips.push_back("/sys/class/hwmon/" + hwmon);
  return chips;
}

}  // namespace

std::unique_ptr<PowerSensor> detect_ina3221_hwmon(const Sysfs& sys) {
  std::vector<InaRail> rails;
  for (const std::string& chip : find_chips(sys))
    for (int n = 1; n <= kChannels; ++n) {
      const std::string channel = std::to_string(n);
      const std::string label = sys.text(chip + "/in" + channel + "_label").value_or("channel " + channel);
      if (not_connected(label) || label.rfind("sum of shunt", 0) == 0) continue;
      if (sys.number(chip + "/in" + channel + "_enable").value_or(1) == 0) continue;
      rails.push_back({label, "", chip + "/in" + channel + "_input", chip + "/curr" + channel + "_input"});
    }
  return make_ina3221(sys, std::move(rails), "hwmon");
}

}  // namespace samovar::power
