// The power budget: what is set, what holds now and why, and how every node stands with it.
#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/handlers_power.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/power_desk.hpp"
#include "daemon/api/power_settings.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/api/views.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {
namespace {

View or_null(const std::optional<double>& value) { return value ? View(*value) : View(nullptr); }

View node_power_view(const power::NodePower& node, const std::vector<cluster::NodeRecord>& rows) {
  View view = {{"id", node.id}, {"name", ""}, {"state", node.state}, {"cap_watts", or_null(node.cap_watts)}};
  for (const auto& row : rows)
    if (row.id == node.id) view["name"] = row.name;
  const power::PowerStatus status = node.status.value_or(power::PowerStatus{});
  view["working"] = status.working;
  view["watts"] = or_null(status.watts);
  view["estimated"] = status.estimated;
  view["idle_watts"] = node.status ? View(status.idle_watts) : View(nullptr);
  view["duty"] = status.duty;
  view["clock_level"] = status.level;
  view["clock_levels"] = status.levels;
  view["clocks"] = status.clocks;
  view["temperature"] = or_null(status.celsius);
  view["hot"] = status.hot;
  view["on_battery"] = status.on_battery;
  view["probing"] = status.probing;
  View curve = View::array();
  for (const auto& point : status.curve) curve.push_back({{"watts", point.watts}, {"rate", point.rate}});
  view["curve"] = std::move(curve);
  return view;
}

// A sentence for people; empty while there is nothing to say.
std::string trouble_of(const power::ClusterPower& all) {
  if (all.leader_id.empty())
    return all.budget_watts ? "No node leads at the moment: work goes on as slowly as it can until one does."
                            : "";
  if (!all.held && all.budget_watts)
    return fmt::format(
        "The budget cannot be held: it is {:.0f} W, and the nodes draw {:.0f} W even at rest. Raise it, or "
        "switch nodes off; until then work goes on as slowly as it can.",
        *all.budget_watts, all.idle_watts);
  for (const auto& node : all.nodes)
    if (all.budget_watts && node.state == "unknown")
      return "Not every node reports what it draws (it is off, or of an older version): what it draws comes "
             "on top of the budget.";
  return "";
}

Response power_response(const cluster::Setting& setting) {
  Response response = json_response(200, power_settings_view(power::decode_settings(setting.json)));
  response.headers.set("ETag", etag_of(setting.revision));
  return response;
}

// Trainings are named to those who may see them.
void hide_jobs(Services& services, const cluster::Actor& actor, power::ClusterPower& all) {
  if (services.node.models() == nullptr) return;
  const auto hidden = [&](const std::string& id) { return !id.empty() && !services.models().job(actor, id); };
  std::erase_if(all.jobs, [&](const power::JobGrant& one) { return hidden(one.id); });
  if (hidden(all.job_id)) all.job_id.clear();
}

}  // namespace

View power_view(const power::ClusterPower& all, const std::vector<cluster::NodeRecord>& rows) {
  View nodes = View::array();
  bool estimated = false;
  double watts = 0;
  bool any = false;
  for (const auto& node : all.nodes) {
    nodes.push_back(node_power_view(node, rows));
    if (!node.status || !node.status->watts || node.state != "reporting") continue;
    estimated = estimated || node.status->estimated;
    watts += *node.status->watts;
    any = true;
  }
  View jobs = View::array();
  for (const auto& job : all.jobs)
    jobs.push_back({{"id", job.id},
                    {"watts", or_null(job.watts)},
                    {"limit_watts", or_null(job.limit_watts)},
                    {"late", job.late},
                    {"needed_watts", or_null(job.needed_watts)}});
  return {{"budget_watts", or_null(all.budget_watts)},
          {"reason", all.reason},
          {"job_id", all.job_id},
          {"changes_at", nullptr},
          {"held", all.held},
          {"trouble", trouble_of(all)},
          {"watts", any ? View(watts) : View(nullptr)},
          {"mean_watts", or_null(all.mean_watts)},
          {"estimated", estimated},
          {"idle_watts", all.idle_watts},
          {"leader", all.leader_id.empty() ? View(nullptr) : View(all.leader_id)},
          {"advice", ""},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)}};
}

Task<Response> get_power(Services& services, Request& request) {
  power::ClusterPower all;
  auto* desk = dynamic_cast<PowerDesk*>(&services.node);
  if (desk != nullptr) all = co_await desk->look_at_power();
  hide_jobs(services, call_of(request).actor, all);
  View view = power_view(all, services.cluster().nodes());
  if (desk != nullptr) view["advice"] = desk->power_advice();
  const auto settings = power::decode_settings(services.cluster().setting("power").json);
  const auto info = services.cluster().info();
  const auto now = services.now();
  const std::string zone = info ? info->time_zone : "UTC";
  auto change = next_change(settings, now, zone_offset(zone, now));
  // Clocks may be changed in between: those of that moment count.
  if (change) change = next_change(settings, now, zone_offset(zone, *change));
  if (change) view["changes_at"] = format_time(*change);
  co_return json_response(200, view);
}

Response get_power_setting(Services& services) { return power_response(services.cluster().setting("power")); }

Task<Response> put_power_setting(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  const power::Settings settings = read_power_settings(*body, errors);
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto done = co_await services.cluster().put_setting(call_of(request), "power",
                                                      power::encode_settings(settings), revision);
  if (!done) co_return problem_from(done.error(), request);
  co_return power_response(*done);
}

}  // namespace samovar::api
