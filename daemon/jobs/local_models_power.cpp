// What this node's trainings take, what they want of the power budget, and how they stand with their
// deadlines.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/jobs/local_models_work.hpp"

namespace samovar::jobs {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds kPowerEvery{1};
constexpr double kGapSecondsMax = 5;  // of silence that a mean is carried over

}  // namespace

void LocalModels::on_sample(const power::Sample& sample) {
  sample_ = sample;
  std::size_t busy = 0;
  for (const auto& [ref, member] : members_) busy += member->begun ? 1 : 0;
  const double duty = options_.worker.dial ? options_.worker.dial->duty.load() : 1;
  for (const auto& [ref, member] : members_) {
    if (!member->begun) continue;
    member->busy_seconds += sample.covers_s;
    member->duty_seconds += duty * sample.covers_s;
  }
  if (!sample.watts) return;
  const double joules = meter_.add(*sample.watts, sample.covers_s, busy > 0);
  const double error = sample.watts_error_share * joules + sample.watts_error * sample.covers_s;
  // Jobs that run side by side share what the node takes.
  for (const auto& [ref, member] : members_) {
    if (!member->begun) continue;
    member->joules += joules / static_cast<double>(busy);
    member->joules_error += error / static_cast<double>(busy);
  }
}

PowerWork LocalModels::power_work() const {
  PowerWork work;
  std::set<std::string> kinds;
  std::map<std::string, power::JobWish> wishes;
  const auto wish = [&](const std::string& id, const trainer::PowerSpec& asked) -> power::JobWish& {
    power::JobWish& one = wishes[id];
    one.id = id;
    one.cap_watts = asked.watts;
    one.gentle = asked.mode == trainer::PowerSpec::Mode::gentle;
    // One that has passed when the job was started again is none.
    const auto record = asked.finish_by.empty() ? std::nullopt : cluster_.job(id);
    one.deadline = record && deadline_of_job(asked, *record);
    return one;
  };
  for (const auto& [ref, member] : members_) {
    if (!member->begun || member->ended) continue;
    kinds.insert(member->size.kind);
    ++work.workers;
    wish(ref.job_id, member->power);
    if (!member->power.watts || (work.job_watts && *work.job_watts <= *member->power.watts)) continue;
    work.job_watts = member->power.watts;
    work.job_id = ref.job_id;
  }
  const WallTime now = cluster_.now();
  for (const auto& [id, run] : runs_) {
    if (!run->crew || !run->crew->begun()) continue;
    power::JobWish& one = wish(id, run->power);
    if (run->deadline) one.pace = run->pace.pace(std::chrono::duration<double>(*run->deadline - now).count());
  }
  for (auto& [id, one] : wishes) work.jobs.push_back(std::move(one));
  for (const std::string& kind : kinds) work.kind += (work.kind.empty() ? "" : "+") + kind;
  if (work.kind.empty()) work.kind = "other";
  return work;
}

const power::JobGrant* LocalModels::grant_of(const std::string& id) const {
  const power::CapAnswer* told = options_.power_told ? options_.power_told() : nullptr;
  if (told == nullptr) return nullptr;
  for (const power::JobGrant& grant : told->jobs)
    if (grant.id == id) return &grant;
  return nullptr;
}

// Each second, of a job that this node looks after.
void LocalModels::watch_power(Run& run) {
  const MonoTime now = loop_.clock().mono();
  const double passed = std::chrono::duration<double>(now - run.power_at).count();
  if (now - run.power_at < kPowerEvery) return;
  const bool first = run.power_at == MonoTime{};
  run.power_at = now;
  const power::CapAnswer* told = options_.power_told ? options_.power_told() : nullptr;
  JobHistory& history = history_of(run.job_id);
  if (told != nullptr && told->mean_watts && !first && run.step != "waiting") {
    const double seconds = std::min(passed, kGapSecondsMax);
    history.box_joules += *told->mean_watts * seconds;
    history.box_seconds += seconds;
  }
  if (!run.deadline) return;
  // Each step has a speed of its own.
  if (std::exchange(run.pace_step, run.step) != run.step) run.pace.clear();
  if (run.step == "training" || run.step == "evaluating") run.pace.add(now, run.share);
  const power::JobGrant* grant = grant_of(run.job_id);
  if (grant == nullptr || grant->late == run.late) return;
  const auto to_go = run.pace.seconds_to_go();
  if (grant->late && !to_go) return;
  run.late = grant->late;
  const std::string by = clock_text(*run.deadline, cluster_.now(), options_.zone_offset);
  std::string text = fmt::format("{} can be kept after all.", by);
  if (run.late) {
    const WallTime end = cluster_.now() + std::chrono::seconds(static_cast<std::int64_t>(*to_go));
    const std::string until = clock_text(end, cluster_.now(), options_.zone_offset);
    text = !grant->limit_watts
               ? fmt::format("{} cannot be kept: even at full speed it ends at about {}.", by, until)
               : fmt::format(
                     "{} cannot be kept under {:.0f} W: it ends at about {}. The limit in watts wins; {}.",
                     by, *grant->limit_watts, until,
                     grant->needed_watts
                         ? fmt::format("about {:.0f} W would do", std::ceil(*grant->needed_watts))
                         : std::string("not even full power would do"));
  }
  history.event(cluster_.now(), run.late ? "late" : "in_time", "", text);
  log_line(run.job_id, run.late ? "warn" : "info", text);
  run.live_due = true;
}

// How it ended, for one that asked for something.
void LocalModels::tell_power_end(const Run& run) {
  if (run.power == trainer::PowerSpec{}) return;
  const JobHistory& history = history_of(run.job_id);
  const WallTime now = cluster_.now();
  std::string text;
  if (run.deadline)
    text = fmt::format("Ended {} {}. ", now <= *run.deadline ? "in time for" : "too late for",
                       clock_text(*run.deadline, now, options_.zone_offset));
  if (history.box_seconds > 0)
    text += fmt::format("The nodes drew {:.1f} W on average{}.", history.box_joules / history.box_seconds,
                        run.power.watts ? fmt::format(", of {:g} W asked for", *run.power.watts) : "");
  if (!text.empty()) log_line(run.job_id, "info", text);
}

std::optional<WallTime> LocalModels::deadline_of_job(const trainer::PowerSpec& power,
                                                     const cluster::JobRecord& record) const {
  return jobs::deadline_of_job(power, record.created_at, record.summary_json, options_.zone_offset);
}

void LocalModels::log_deadline(const cluster::JobRecord& record) {
  if (!asked_again_at(record.summary_json)) return;
  const auto asked = trainer::parse_spec(json::parse(record.spec_json, nullptr, false), nullptr).spec.power;
  if (asked.finish_by.empty()) return;
  const auto deadline = deadline_of_job(asked, record);
  log_line(record.id, "info",
           deadline
               ? fmt::format("Its deadline had passed when it was started again: it is to end by {} now.",
                             clock_text(*deadline, cluster_.now(), options_.zone_offset))
               : std::string("Its deadline had passed when it was started again: it has none now."));
}

void LocalModels::show_power(Job& job) const {
  if (const auto found = histories_.find(job.record.id); found != histories_.end()) {
    const JobHistory& seen = found->second;
    if (seen.box_seconds > 0) job.box_watts = seen.box_joules / seen.box_seconds;
  }
  const auto spec = json::parse(job.record.spec_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("power")) return;
  JobPower& power = job.power.emplace();
  power.asked = trainer::parse_spec(spec, nullptr).spec.power;
  power.deadline = deadline_of_job(power.asked, job.record);
  if (job.state != JobState::running) return;
  if (const power::JobGrant* grant = grant_of(job.record.id)) {
    power.watts = grant->watts;
    power.late = grant->late;
    power.needed_watts = grant->needed_watts;
  }
}

}  // namespace samovar::jobs
