#include "daemon/power/thermal.hpp"

#include <algorithm>

namespace samovar::power {
namespace {

constexpr std::size_t kSensorsMax = 64;
// A unit that is powered off reads -256 °C; silicon is never past 150 °C and alive.
constexpr std::int64_t kMilliCelsiusMin = -55'000;
constexpr std::int64_t kMilliCelsiusMax = 150'000;

bool is_no_temperature(std::string_view type) {
  return type.find("PMIC") != std::string_view::npos || type.find("fan-est") != std::string_view::npos;
}

void append(std::vector<Temperature>& all, std::string name, std::optional<std::int64_t> milli) {
  if (!milli || *milli < kMilliCelsiusMin || *milli > kMilliCelsiusMax || all.size() >= kSensorsMax) return;
  all.push_back({std::move(name), static_cast<double>(*milli) / 1e3});
}

// AMD makes no thermal zone for its processor, and Intel none without its package driver.
void read_hwmon(const Sysfs& sys, std::vector<Temperature>& all) {
  for (const std::string& entry : sys.list("/sys/class/hwmon")) {
    const std::string dir = "/sys/class/hwmon/" + entry;
    const std::string driver = sys.text(dir + "/name").value_or("");
    if (driver != "k10temp" && driver != "zenpower" && driver != "coretemp") continue;
    for (const std::string& file : sys.list(dir)) {
      constexpr std::string_view kSuffix = "_input";
      if (file.rfind("temp", 0) != 0 || file.size() <= kSuffix.size() ||
          file.compare(file.size() - kSuffix.size(), kSuffix.size(), kSuffix) != 0)
        continue;
      const std::string stem = file.substr(0, file.size() - kSuffix.size());
      append(all, sys.text(dir + "/" + stem + "_label").value_or(driver + " " + stem),
             sys.number(dir + "/" + file));
    }
  }
}

}  // namespace

std::vector<Temperature> read_temperatures(const Sysfs& sys) {
  std::vector<Temperature> all;
  for (const std::string& entry : sys.list("/sys/class/thermal")) {
    if (entry.rfind("thermal_zone", 0) != 0) continue;
    const std::string dir = "/sys/class/thermal/" + entry;
    const std::string type = sys.text(dir + "/type").value_or(entry);
    if (!is_no_temperature(type)) append(all, type, sys.number(dir + "/temp"));
  }
  const bool processor_seen = std::any_of(all.begin(), all.end(), [](const Temperature& t) {
    return t.name == "x86_pkg_temp" || t.name.find("therm") != std::string::npos;
  });
  if (!processor_seen) read_hwmon(sys, all);
  return all;
}

const Temperature* hottest(const std::vector<Temperature>& all) noexcept {
  const auto most = std::max_element(all.begin(), all.end(), [](const Temperature& a, const Temperature& b) {
    return a.celsius < b.celsius;
  });
  return most == all.end() ? nullptr : &*most;
}

}  // namespace samovar::power
