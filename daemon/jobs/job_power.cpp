#include "daemon/jobs/job_power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ids.hpp"
#include "base/json.hpp"

namespace samovar::jobs {
namespace {

using std::chrono::seconds;

// Of a job's summary.
constexpr const char* kAskedAgain = "asked_again_at";
constexpr seconds kDay{24 * 60 * 60};
constexpr seconds kSoonest{10};          // less is no time to train in
constexpr double kAboveRest = 1.1;       // what is advised when rest takes it all
constexpr double kReserveSeconds = 4;    // for saving the model
constexpr double kReserveShare = 0.03;   // of what is left: speeds vary
constexpr double kWindowSecondsMin = 5;  // of readings behind a speed

}  // namespace

std::optional<WallTime> deadline_of(const trainer::PowerSpec& power, WallTime from,
                                    const ZoneOffset& offset) {
  if (power.finish_by.empty()) return std::nullopt;
  const auto minute = trainer::minute_of_day(power.finish_by);
  if (!minute) {
    const auto moment = parse_time(power.finish_by);
    return moment ? std::optional(*moment) : std::nullopt;
  }
  const auto east = [&](WallTime at) { return offset ? offset(at) : seconds(0); };
  const auto local = std::chrono::floor<seconds>(from.time_since_epoch()) + east(from);
  seconds wanted = std::chrono::floor<std::chrono::duration<std::int64_t, std::ratio<86400>>>(local) +
                   std::chrono::minutes(*minute);
  if (wanted <= local) wanted += kDay;
  // The clock may be changed in between: that of the deadline counts.
  const WallTime about(wanted - east(from));
  const WallTime exact(wanted - east(about));
  // A time that the clock leaps over comes as long after the leap as it would have come.
  return east(exact) == east(about) ? exact : about;
}

std::optional<WallTime> asked_again_at(std::string_view summary_json) {
  const auto summary = nlohmann::json::parse(summary_json, nullptr, false);
  if (!summary.is_object()) return std::nullopt;
  const auto found = summary.find(kAskedAgain);
  if (found == summary.end() || !found->is_string()) return std::nullopt;
  const auto moment = parse_time(found->get<std::string>());
  return moment ? std::optional(*moment) : std::nullopt;
}

std::optional<WallTime> deadline_of_job(const trainer::PowerSpec& power, WallTime created_at,
                                        std::string_view summary_json, const ZoneOffset& offset) {
  const auto again = asked_again_at(summary_json);
  const auto deadline = deadline_of(power, again.value_or(created_at), offset);
  return again && deadline && *deadline <= *again ? std::nullopt : deadline;
}

std::optional<std::string> summary_asked_again(const trainer::PowerSpec& power, WallTime created_at,
                                               std::string_view summary_json, WallTime now,
                                               const ZoneOffset& offset) {
  const auto deadline = deadline_of_job(power, created_at, summary_json, offset);
  if (!deadline || *deadline > now) return std::nullopt;
  auto summary = nlohmann::json::parse(summary_json, nullptr, false);
  if (!summary.is_object()) summary = nlohmann::json::object();
  summary[kAskedAgain] = format_time(now);
  return summary.dump();
}

std::string clock_text(WallTime time, WallTime now, const ZoneOffset& offset) {
  const seconds east = offset ? offset(time) : seconds(0);
  const std::string local = format_time(time + east);
  const std::string clock = local.substr(11, 5);
  const bool near = std::chrono::abs(time - now) < kDay;
  return near ? clock : local.substr(0, 10) + " " + clock;
}

void check_power(const trainer::PowerSpec& power, const PowerFacts& facts, WallTime now,
                 const ZoneOffset& offset, std::vector<trainer::SpecFault>& faults) {
  if (const auto deadline = deadline_of(power, now, offset); deadline && *deadline < now + kSoonest)
    faults.push_back({"/power/finish_by", "range",
                      *deadline < now
                          ? "this moment is over: name one to come, or a time of day such as 06:00"
                          : "this is only seconds away: name a later moment"});
  if (!power.watts) return;
  if (facts.idle_watts && *power.watts <= *facts.idle_watts)
    faults.push_back({"/power/watts", "range",
                      fmt::format("the nodes draw about {0:.0f} W at rest, and this is for all of them "
                                  "together: give it {1:.0f} W or more",
                                  *facts.idle_watts, std::ceil(kAboveRest * *facts.idle_watts) + 1)});
  if (facts.budget_highest && *power.watts > *facts.budget_highest)
    faults.push_back({"/power/watts", "range",
                      fmt::format("the power budget of the box is {0:g} W, and a job cannot raise it: give "
                                  "it {0:g} W or less, or leave it out",
                                  *facts.budget_highest)});
}

void PaceMeter::add(MonoTime now, double share) {
  if (!points_.empty() && share < points_.back().share) points_.clear();
  now_ = now;
  // Some solvers tell a share once a pass: a speed lies between two such moments, however far apart they are.
  if (!points_.empty() && share == points_.back().share) return;
  points_.push_back({now, share});
  while (points_.size() > 2 && now - points_[1].at >= kWindow) points_.pop_front();
}

std::optional<double> PaceMeter::share_per_second() const {
  if (points_.size() < 2) return std::nullopt;
  const double passed = std::chrono::duration<double>(points_.back().at - points_.front().at).count();
  const double done = points_.back().share - points_.front().share;
  if (passed < kWindowSecondsMin || done <= 0) return std::nullopt;
  return done / passed;
}

std::optional<double> PaceMeter::seconds_to_go() const {
  const auto speed = share_per_second();
  return speed ? std::optional((1 - points_.back().share) / *speed) : std::nullopt;
}

std::optional<double> PaceMeter::pace(double left_seconds) const {
  const auto to_go = seconds_to_go();
  // Old news was acted upon already, and says nothing of what that did.
  if (!to_go || now_ - points_.back().at >= kWindow) return std::nullopt;
  const double left = left_seconds - kReserveSeconds - kReserveShare * std::max(0.0, left_seconds);
  return left <= 0 ? kPaceMax : std::clamp(*to_go / left, 0.0, kPaceMax);
}

}  // namespace samovar::jobs
