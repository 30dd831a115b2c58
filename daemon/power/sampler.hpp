// Takes a Sample of this node every second.
//
// Threading: loop only. The reading itself blocks for milliseconds (I²C), so it runs through
// `offload` when given, one reading at a time; a reading that is late makes the next tick skip.
// Ownership: borrows Loop and Disk, which outlive it; may be destroyed at any time on the loop.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "daemon/power/board.hpp"
#include "daemon/power/sample.hpp"

namespace samovar::power {

struct SamplerOptions {
  std::string state_dir;  // whose file system's space is reported
  std::string root;       // fake tree of tests; "" is the running system
  // Runs work on another thread, e.g. Pool::submit; false when its queue is full. Empty: on the loop.
  std::function<bool(std::function<void()>)> offload;
};

class Sampler {
 public:
  using OnSample = std::function<void(const Sample&)>;

  // Looks for the board and its sensors at once (a few milliseconds).
  Sampler(Loop& loop, Disk& disk, SamplerOptions options);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // First sample at once (it has no rates yet), then every second.
  void start(OnSample on_sample);
  void stop();

  const Board& board() const;
  // Empty (t at the epoch) until the first reading is in.
  const Sample& latest() const;
  const Sensors& sensors() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the one reading that may be on its way
};

}  // namespace samovar::power
