// This node's part in the power budget: what the control is told, and what people are told of it.
#include <fmt/format.h>

#include "base/metrics.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/node.hpp"

namespace samovar::daemon {

PowerHooks Node::power_hooks() {
  PowerHooks hooks;
  hooks.leader = [this] { return phase_ == api::Phase::ready ? cluster_->status().leader_id : ""; };
  hooks.members = [this] {
    std::vector<std::string> ids;
    for (const auto& row : cluster_->nodes())
      if (row.state != cluster::NodeState::removed) ids.push_back(row.id);
    return ids;
  };
  hooks.settings = [this] { return power::decode_settings(cluster_->setting("power").json); };
  hooks.local_time = [this] { return power::local_time_at(clock_.wall(), zone_offset_at(clock_.wall())); };
  hooks.work = [this] { return models_ ? models_->power_work() : jobs::PowerWork{}; };
  return hooks;
}

// Who rests tells the leader of its watts rarely (power/report_pace.hpp): whoever looks sees what the nodes
// say of themselves now.
Task<power::ClusterPower> Node::look_at_power() {
  co_await net_->refresh();
  power::ClusterPower all = co_await power_->look();
  for (power::NodePower& node : all.nodes) {
    if (node.id == facts_.id || node.state != "reporting" || !node.status || node.status->working) continue;
    const api::NodeReport* report = net_->reports().find(node.id);
    if (!net_->reports().reachable(node.id)) {
      node.state = "silent";
    } else if (report != nullptr && report->sample.watts) {
      node.status->watts = report->sample.watts;
      node.status->estimated = report->sample.watts_estimated;
      node.status->celsius = report->sample.temp_max_c;
    }
  }
  co_return all;
}

std::chrono::seconds Node::zone_offset_at(WallTime time) const {
  const auto info = cluster_->info();
  return api::zone_offset(info ? info->time_zone : "UTC", time);
}

jobs::PowerFacts Node::power_facts() const {
  jobs::PowerFacts facts;
  facts.idle_watts = power_->cluster_idle_watts();
  const power::Settings settings = power::decode_settings(cluster_->setting("power").json);
  const auto now = power::local_time_at(clock_.wall(), zone_offset_at(clock_.wall()));
  facts.budget_watts = power::budget_at(settings, now, power_->status().on_battery).watts;
  facts.budget_highest = settings.budget_watts;
  for (const power::Period& period : settings.schedule)
    if (facts.budget_highest)
      facts.budget_highest =
          period.watts ? std::optional(std::max(*period.watts, *facts.budget_highest)) : std::nullopt;
  return facts;
}

// Known to the leader, whose alert it is.
std::string Node::power_trouble() const {
  if (phase_ != api::Phase::ready) return {};
  const auto all = power_->led();
  if (!all || all->held || !all->budget_watts) return {};
  return fmt::format("The budget is {:.0f} W, and the nodes draw {:.0f} W even at rest.", *all->budget_watts,
                     all->idle_watts);
}

void Node::publish_power() const {
  static metrics::Gauge& cap =
      metrics::gauge("samovar_power_cap_watts", "What this node may draw; 0 without a power budget.");
  static metrics::Gauge& duty =
      metrics::gauge("samovar_power_duty_ratio", "The part of the time that its workers may work.");
  cap.set(power_->cap_watts().value_or(0));
  duty.set(power_->status().duty);
}

}  // namespace samovar::daemon
