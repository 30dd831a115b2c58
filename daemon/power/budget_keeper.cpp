#include "daemon/power/budget_keeper.hpp"

#include <algorithm>
#include <utility>

namespace samovar::power {
namespace {

constexpr double kStepSecondsMax = 5;

}  // namespace

BudgetKeeper::State BudgetKeeper::state_of(const Entry& entry, MonoTime now) const {
  const auto age = now - entry.heard;
  const bool rests = !entry.status.working && !entry.status.job_watts && entry.status.jobs.empty();
  if (age <= kFresh || (rests && !budget_.watts && age <= kFreshResting)) return State::reporting;
  if (age <= kSilent) return State::silent;
  return age <= kAway ? State::away : State::unknown;
}

void BudgetKeeper::heard(const std::string& id, PowerStatus status, MonoTime now) {
  Entry& entry = entries_[id];
  entry.status = std::move(status);
  entry.heard = now;
}

// What the administrator said, then what trainings that run want for themselves.
void BudgetKeeper::choose_budget(MonoTime now, const Settings& settings, LocalTime local, double seconds,
                                 const std::vector<NodeStatus>& nodes) {
  bool battery = false;
  std::vector<JobWish> wishes;
  for (const auto& [id, entry] : entries_) {
    // What a silent node was promised holds as long as its cap is kept free for it.
    const State state = state_of(entry, now);
    if (state != State::reporting && state != State::silent) continue;
    const PowerStatus& status = entry.status;
    battery = battery || status.on_battery;
    wishes.insert(wishes.end(), status.jobs.begin(), status.jobs.end());
    // Work that nobody explains wants all there is.
    if (!status.job_watts && (!status.jobs.empty() || !status.working)) continue;
    JobWish other;
    other.id = status.job_id;
    other.cap_watts = status.job_watts;
    wishes.push_back(std::move(other));
  }
  budget_ = budget_at(settings, local, battery);
  const auto outcome = goals_.step(seconds, budget_.watts, merged(wishes), nodes, governor_.mean_watts());
  grants_ = outcome.grants;
  job_id_ = outcome.job_id;
  if (outcome.watts && (!budget_.watts || *outcome.watts < *budget_.watts)) budget_ = {outcome.watts, "job"};
}

void BudgetKeeper::step(MonoTime now, const Settings& settings, LocalTime local,
                        const std::vector<std::string>& members) {
  members_ = members;
  std::erase_if(entries_, [&](const auto& row) {
    return std::find(members.begin(), members.end(), row.first) == members.end();
  });
  const bool all = std::all_of(members.begin(), members.end(),
                               [this](const std::string& id) { return entries_.contains(id); });
  ready_ = ready_ || all || now >= began_ + kGather;
  std::vector<NodeStatus> nodes;
  for (const auto& [id, entry] : entries_) {
    const State state = state_of(entry, now);
    if (state == State::unknown) continue;
    const PowerStatus& status = entry.status;
    NodeStatus node;
    node.id = id;
    node.idle_watts = status.idle_watts;
    node.watts = status.idle_watts;
    if (state == State::silent) node.watts = std::max(entry.cap.value_or(0), status.watts.value_or(0));
    if (state == State::reporting) {
      node.working = status.working;
      node.watts = status.watts;
      node.curve = status.curve;
      node.watts_max = status.watts_max;
    }
    nodes.push_back(std::move(node));
  }
  const double seconds =
      stepped_ ? std::min(kStepSecondsMax, std::chrono::duration<double>(now - *stepped_).count()) : 0;
  stepped_ = now;
  choose_budget(now, settings, local, seconds, nodes);
  plan_ = governor_.step(seconds, budget_.watts, nodes);
  for (auto& [id, entry] : entries_) {
    // What a silent node was told last is what it goes by.
    if (state_of(entry, now) == State::silent) continue;
    const auto cap = std::find_if(plan_.caps.begin(), plan_.caps.end(),
                                  [&id = id](const NodeCap& one) { return one.id == id; });
    entry.cap = cap == plan_.caps.end() ? std::nullopt : std::optional(cap->watts);
  }
}

CapAnswer BudgetKeeper::answer(const std::string& id) const {
  const auto at = entries_.find(id);
  if (!ready_ || !stepped_ || at == entries_.end()) return {};
  // Heard for the first time after the last step: the next one has its cap.
  if (plan_.budget_watts && !at->second.cap) return {};
  return {true, at->second.cap, plan_.budget_watts, plan_.idle_watts, governor_.mean_watts(), grants_};
}

ClusterPower BudgetKeeper::view(MonoTime now) const {
  static constexpr const char* kNames[] = {"reporting", "silent", "away", "unknown"};
  ClusterPower all;
  all.budget_watts = budget_.watts;
  all.reason = budget_.reason;
  all.job_id = job_id_;
  all.held = plan_.held;
  all.idle_watts = plan_.idle_watts;
  all.mean_watts = governor_.mean_watts();
  all.jobs = grants_;
  for (const std::string& id : members_) {
    NodePower node{id, "unknown", std::nullopt, std::nullopt};
    if (const auto at = entries_.find(id); at != entries_.end()) {
      node.state = kNames[static_cast<std::size_t>(state_of(at->second, now))];
      node.status = at->second.status;
      node.cap_watts = at->second.cap;
    }
    all.nodes.push_back(std::move(node));
  }
  return all;
}

}  // namespace samovar::power
