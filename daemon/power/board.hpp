// What this computer is: model, SoC, Jetson release, processors.
//
// Threading: pure functions of the file tree.
#pragma once
#include <string>

#include "daemon/power/sysfs.hpp"

namespace samovar::power {

struct Board {
  std::string model;  // "NVIDIA Jetson TX1 Developer Kit", "ThinkCentre M70q", "virtual machine (KVM)"
  std::string soc;    // "tegra210"; empty elsewhere
  std::string jetson_release;  // "R32.7.1"; empty elsewhere
  std::string cpu_name;        // as the kernel calls it; may be empty
  unsigned cores = 1;          // online now
  bool virtual_machine = false;

  bool is_jetson() const noexcept { return !soc.empty(); }
};

Board identify_board(const Sysfs& sys);

}  // namespace samovar::power
