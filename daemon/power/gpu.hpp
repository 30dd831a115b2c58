// The Jetson's GPU through devfreq: load and clock.
//
// Threading: any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/power/sysfs.hpp"

namespace samovar::power {

struct GpuReading {
  std::optional<double> load;  // 0..1; nothing while the unit is power-gated
  std::optional<std::uint64_t> clock_hz;
};

class Gpu {
 public:
  // Nothing when the board has no GPU that we know. sys is borrowed and outlives the Gpu.
  static std::optional<Gpu> detect(const Sysfs& sys);
  GpuReading read() const;
  const std::string& name() const noexcept { return name_; }

 private:
  Gpu(const Sysfs& sys, std::string name, std::string freq_dir, std::string load_path);
  const Sysfs* sys_;
  std::string name_;  // "57000000.gpu"
  std::string freq_dir_;
  std::string load_path_;  // empty when the driver shows no load
};

}  // namespace samovar::power
