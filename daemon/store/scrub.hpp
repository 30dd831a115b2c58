// Reads what is stored and compares it with the hashes of the manifest. Needs no keys.
//
// Threading: one object is used by one thread at a time; calls block on the disk (io pool).
// Ownership: borrows Disk, which outlives it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"

namespace samovar::store {

struct ScrubTarget {
  std::string name;  // "<dst_…>.<v>/<n>": what a scrub is resumed by
  std::string path;
  std::uint64_t stored_bytes = 0;
  security::Hash256 hash{};
};

enum class ScrubFinding : std::uint8_t { good, damaged };

// Damaged: other bytes, another length, gone, or unreadable.
Result<ScrubFinding> scrub_file(Disk& disk, const ScrubTarget& target);

// All targets in the order of their names, a slice at a time, so that a caller can pace it, show it, and stop
// it between any two.
class ScrubPass {
 public:
  // Goes on behind `after`, the name where an earlier pass stood; empty: from the beginning.
  ScrubPass(Disk& disk, std::vector<ScrubTarget> targets, std::string after = {});
  ~ScrubPass();
  ScrubPass(const ScrubPass&) = delete;
  ScrubPass& operator=(const ScrubPass&) = delete;

  struct Step {
    std::uint64_t bytes = 0;                    // read just now
    const ScrubTarget* finished = nullptr;      // a target whose end was reached
    ScrubFinding finding = ScrubFinding::good;  // of that one
  };
  // Reads at most `bytes_max` of one target.
  Step step(std::size_t bytes_max);
  bool done() const noexcept;
  // For resuming: the last target that was finished.
  const std::string& position() const noexcept;
  std::uint64_t bytes_done() const noexcept;
  std::uint64_t bytes_total() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How long to rest after reading so many bytes in such a time, to stay at a pace.
Duration scrub_rest(std::uint64_t bytes, Duration took, std::uint64_t bytes_per_second) noexcept;

}  // namespace samovar::store
