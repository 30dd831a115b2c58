#include "daemon/power/gpu.hpp"

#include <algorithm>
#include <utility>

namespace samovar::power {
namespace {

constexpr std::string_view kDevfreq = "/sys/class/devfreq/";
constexpr std::int64_t kLoadMax = 1000;             // per mille
constexpr std::int64_t kClockMax = 20'000'000'000;  // Hz

bool names_gpu(std::string_view name) {
  for (const std::string_view chip : {"gp10b", "gv11b", "ga10b", "gb10b", "gpu"})
    if (name.find(chip) != std::string_view::npos) return true;
  return false;
}

}  // namespace

Gpu::Gpu(const Sysfs& sys, std::string name, std::string freq_dir, std::string load_path)
    : sys_(&sys), name_(std::move(name)), freq_dir_(std::move(freq_dir)), load_path_(std::move(load_path)) {}

std::optional<Gpu> Gpu::detect(const Sysfs& sys) {
  for (const std::string& entry : sys.list(kDevfreq)) {
    const std::string dir = std::string(kDevfreq) + entry;
    // The device tree's name decides; boards that hide it still put it into the entry ("57000000.gpu").
    if (!names_gpu(sys.text(dir + "/device/of_node/name").value_or(entry))) continue;
    for (const std::string& load : {dir + "/device/load", std::string("/sys/devices/gpu.0/load"),
                                    std::string("/sys/devices/platform/gpu.0/load")})
      if (sys.exists(load)) return Gpu(sys, entry, dir, load);
    return Gpu(sys, entry, dir, "");
  }
  return std::nullopt;
}

GpuReading Gpu::read() const {
  GpuReading reading;
  if (!load_path_.empty())
    if (const auto load = sys_->number(load_path_); load && *load >= 0 && *load <= kLoadMax)
      reading.load = static_cast<double>(*load) / static_cast<double>(kLoadMax);
  if (const auto clock = sys_->number(freq_dir_ + "/cur_freq"); clock && *clock >= 0 && *clock <= kClockMax)
    reading.clock_hz = static_cast<std::uint64_t>(*clock);
  return reading;
}

}  // namespace samovar::power
