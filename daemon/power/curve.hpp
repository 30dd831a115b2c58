// What a node's watts buy: samples a second against the power of the whole board, and how that is found out.
//
// A curve is concave by construction: between two settings a node can share its time, so every point below
// the line that joins them can be had, and what lies under it is never chosen.
//
// Threading: values.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace samovar::power {

struct CurvePoint {
  double watts = 0;
  double rate = 0;  // samples a second
};

class Curve {
 public:
  // The upper hull of what was measured, from rest on. Points that are no numbers, or below rest, are left
  // out.
  Curve(double idle_watts, std::vector<CurvePoint> measured);

  double idle_watts() const noexcept { return points_.front().watts; }
  double full_watts() const noexcept { return points_.back().watts; }
  double full_rate() const noexcept { return points_.back().rate; }
  // 0 below rest, full_rate() beyond the last point.
  double rate_at(double watts) const noexcept;
  // Ascending; the first is rest.
  const std::vector<CurvePoint>& points() const noexcept { return points_; }

 private:
  std::vector<CurvePoint> points_;
};

// What was seen of a node at each of its clock settings, brought to full duty.
class CurveBook {
 public:
  static constexpr std::size_t kKindsMax = 16;  // of models; the one not seen for longest is forgotten

  // `level` is an index into the actuator's settings. A reading that says nothing (no watts above rest) is
  // not kept.
  void add(const std::string& kind, std::size_t level, double idle_watts, double watts, double rate,
           double duty, double seconds);
  // At full duty; nothing when it was never run.
  std::optional<CurvePoint> at(const std::string& kind, std::size_t level) const;
  // Rest and what is known; nothing before the first reading.
  std::optional<Curve> curve(const std::string& kind, double idle_watts) const;

 private:
  struct Seen {
    CurvePoint full;
    double seconds = 0;  // behind it, at most kMemorySeconds
  };
  struct Kind {
    std::map<std::size_t, Seen> levels;
    unsigned long used = 0;
  };
  std::map<std::string, Kind> kinds_;
  unsigned long uses_ = 0;
};

// Runs a node for a few seconds at each of several settings, the cheapest first, so that no step is a leap.
class Prober {
 public:
  static constexpr double kSettleSeconds = 1;
  static constexpr double kMeasureSeconds = 3;

  // All levels of `count`, or kLevelsMax of them spread evenly; level 0 is the fastest.
  explicit Prober(std::size_t count);
  // What to run at now; nothing when all are known.
  std::optional<std::size_t> level() const;
  // Time passed at that level.
  void passed(double seconds);
  // Whether what is measured now counts, or is still the level before.
  bool settled() const noexcept { return here_ >= kSettleSeconds; }

 private:
  static constexpr std::size_t kLevelsMax = 5;
  std::vector<std::size_t> levels_;  // still to run, the next one last
  double here_ = 0;
};

}  // namespace samovar::power
