// "Finish by 06:00 under 60 W": when that is, whether it can be asked for, and how a training stands with it.
//
// Threading: values; time is handed in.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "trainer/spec.hpp"

namespace samovar::jobs {

// Seconds east of UTC at a time, in the box's time zone.
using ZoneOffset = std::function<std::chrono::seconds(WallTime)>;

// What is known of the box's power when somebody asks for a job.
struct PowerFacts {
  std::optional<double> idle_watts;      // of all nodes
  std::optional<double> budget_watts;    // that holds now
  std::optional<double> budget_highest;  // that ever holds, by the settings; nothing: no limit at some time
};

// A time of day is its next one after `from`, when the job was accepted.
std::optional<WallTime> deadline_of(const trainer::PowerSpec& power, WallTime from, const ZoneOffset& offset);
// The deadline of a job that was accepted, and perhaps started again when its deadline had passed: what is
// left of that is in the job's summary. Then a time of day is its next one, and a moment that is over is
// none.
std::optional<WallTime> deadline_of_job(const trainer::PowerSpec& power, WallTime created_at,
                                        std::string_view summary_json, const ZoneOffset& offset);
// Of a job that is started again: its summary with this moment, if its deadline has passed; else nothing.
std::optional<std::string> summary_asked_again(const trainer::PowerSpec& power, WallTime created_at,
                                               std::string_view summary_json, WallTime now,
                                               const ZoneOffset& offset);
// When that was.
std::optional<WallTime> asked_again_at(std::string_view summary_json);
// As people say it: "06:00", with the day when it is further away than a day.
std::string clock_text(WallTime time, WallTime now, const ZoneOffset& offset);
// Times that are over, watts that nodes draw at rest, more than there will ever be.
void check_power(const trainer::PowerSpec& power, const PowerFacts& facts, WallTime now,
                 const ZoneOffset& offset, std::vector<trainer::SpecFault>& faults);

// How fast a training must go to keep its deadline, in parts of how fast it goes.
class PaceMeter {
 public:
  static constexpr std::chrono::seconds kWindow{10};
  static constexpr double kPaceMax = 10;

  // `share` of the whole that is done; one that falls begins anew.
  void add(MonoTime now, double share);
  void clear() { points_.clear(); }
  // Nothing while the speed is not known.
  std::optional<double> share_per_second() const;
  // `left`: until the deadline.
  std::optional<double> pace(double left_seconds) const;
  std::optional<double> seconds_to_go() const;

 private:
  struct Point {
    MonoTime at{};
    double share = 0;
  };
  std::deque<Point> points_;  // moments at which the share had changed
  MonoTime now_{};            // of the last add()
};

}  // namespace samovar::jobs
