// The node's history in memory: 1 s for an hour, 10 s for a day, 5 min for 30 days.
//
// Three rings of slots; the slot of a time is (unix seconds / step) mod capacity and carries its own
// number, so a clock that jumps by decades costs nothing and never mixes two times. The coarse rings
// hold the mean of what they cover, and the maximum where a mean would hide what matters.
//
// Memory: 20,880 slots, kHistoryBytes (just under 2 MB), allocated with the first sample.
// Threading: loop only.
// Format: docs/formats/history.md
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "daemon/power/history_ring.hpp"
#include "daemon/power/sample.hpp"

namespace samovar::power {

struct HistoryQuery {
  std::vector<std::string> metrics;  // names in history_metrics.hpp
  WallTime from{};
  WallTime to{};             // exclusive
  std::uint32_t step_s = 0;  // 0: chosen so that a chart has at most kPointsAuto points
};

// names[0] is "t" (unix seconds, start of each step); cols[i] belongs to names[i]; NaN is "no value".
struct HistoryTable {
  std::uint32_t step_s = 0;
  std::int64_t start_s = 0;
  std::int64_t end_s = 0;
  std::vector<std::string> names;
  std::vector<std::vector<double>> cols;
};

struct Energy {
  double joules = 0;
  double seconds = 0;  // of the asked time for which power is known
};

class History {
 public:
  static constexpr std::uint32_t kPointsAuto = 1500;
  static constexpr std::uint32_t kPointsMax = 11000;

  History();

  void add(const Sample& sample);

  // Errc::invalid for an unknown metric, an empty or reversed range, or more than kPointsMax points.
  // Where the fine rings no longer reach back to `from`, the step grows to what is still there.
  Result<HistoryTable> query(const HistoryQuery& query) const;
  // Sum over [from, to), parts of a step in proportion.
  Energy energy(WallTime from, WallTime to) const;

  // Everything, in a versioned form (plain: seal it before it touches a disk).
  Bytes encode() const;
  // Errc::corrupt for anything that encode did not make; unknown metrics of a newer version are left out.
  static Result<History> decode(ByteView bytes);
  // Takes over what an older run recorded; slots of this run stay.
  void merge(const History& older);

 private:
  std::array<HistoryRing, 3> rings_;
  std::int64_t last_s_ = 0;  // second of the sample added last; 0 before the first
};

}  // namespace samovar::power
