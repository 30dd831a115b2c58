// Clock caps of processors and GPU, through the files that the kernel offers where it lets us write.
//
// Discovered, never assumed: a cap is a file that exists, can be written and has more than one value below
// what it held. Without one there is a single level and only duty cycles are left. nvpmodel is never
// switched: its modes change what is online and may want a reboot; `advice` names it.
//
// What was found is written down before the first change and put back at stop; after a crash the next start
// puts it back.
//
// Threading: one thread at a time. Ownership: borrows Sysfs and Disk, which outlive it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/power/board.hpp"
#include "daemon/power/sysfs.hpp"

namespace samovar::power {

class Actuator {
 public:
  // keep_path: where what was found is written down; one that is there is put back first.
  Actuator(const Sysfs& sys, Disk& disk, std::string keep_path);
  ~Actuator();  // restores
  Actuator(const Actuator&) = delete;
  Actuator& operator=(const Actuator&) = delete;

  // 1: only the duty. Level 0 is as found, each further one slower.
  std::size_t levels() const noexcept { return levels_; }
  // Errc::denied when the kernel refuses after all: from then on there is one level, as found.
  Result<void> set(std::size_t level);
  void restore();

  // "cpufreq policy0, 57000000.gpu"; empty without caps.
  std::string describe() const;
  // Why clocks are not capped, or what nvpmodel could do beyond it; for people, may be empty.
  std::string advice(const Board& board) const;

 private:
  struct Knob {
    std::string name;
    std::string path;                 // of the upper bound
    std::int64_t found = 0;           // what it held
    std::vector<std::int64_t> steps;  // ascending, up to `found`; two: any value between them
    bool exact = false;               // only values of `steps`
  };
  void add(std::string name, std::string path, const std::string& steps_path, const std::string& least_path);
  Result<void> write(const Knob& knob, std::int64_t value) const;
  Result<void> write_down();
  void put_back_after_crash();
  static std::int64_t value_at(const Knob& knob, double share);

  const Sysfs& sys_;
  Disk& disk_;
  const std::string keep_path_;
  std::vector<Knob> knobs_;
  std::size_t levels_ = 1;
  std::size_t level_ = 0;
  bool written_down_ = false;
  bool refused_ = false;
  bool read_only_ = false;  // caps exist, but not for us
};

}  // namespace samovar::power
