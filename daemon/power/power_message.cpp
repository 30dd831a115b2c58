#include "daemon/power/power_message.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::power {
namespace {

using nlohmann::json;

constexpr double kWattsMax = 1e7;
constexpr double kRateMax = 1e15;
constexpr std::size_t kPointsMax = 16;
constexpr std::size_t kNodesMax = 1024;
constexpr std::size_t kJobsMax = 64;
constexpr double kPaceMax = 1000;
constexpr std::size_t kTextBytesMax = 256;
constexpr int kDepthMax = 8;

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

std::optional<double> number(const json& object, const char* name, double least, double most) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  return std::isfinite(value) && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

bool flag(const json& object, const char* name, bool otherwise = false) {
  const auto at = object.find(name);
  return at != object.end() && at->is_boolean() ? at->get<bool>() : otherwise;
}

std::string text(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_string()) return {};
  const auto& value = at->get_ref<const std::string&>();
  return value.size() <= kTextBytesMax ? value : std::string();
}

std::uint32_t count(const json& object, const char* name, std::uint32_t otherwise) {
  return static_cast<std::uint32_t>(number(object, name, 0, 1000).value_or(otherwise));
}

json json_of(const std::vector<JobWish>& wishes) {
  json all = json::array();
  for (const JobWish& wish : wishes)
    all.push_back({{"id", wish.id},
                   {"cap_watts", or_null(wish.cap_watts)},
                   {"gentle", wish.gentle},
                   {"deadline", wish.deadline},
                   {"pace", or_null(wish.pace)}});
  return all;
}

json json_of(const std::vector<JobGrant>& grants) {
  json all = json::array();
  for (const JobGrant& grant : grants)
    all.push_back({{"id", grant.id},
                   {"watts", or_null(grant.watts)},
                   {"limit_watts", or_null(grant.limit_watts)},
                   {"late", grant.late},
                   {"needed_watts", or_null(grant.needed_watts)}});
  return all;
}

// Those of its objects that have a place.
std::vector<json> objects_of(const json& object, const char* name) {
  std::vector<json> found;
  if (const auto list = object.find(name); list != object.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_object() && found.size() < kJobsMax) found.push_back(one);
  return found;
}

std::vector<JobWish> wishes_of(const json& object) {
  std::vector<JobWish> all;
  for (const json& one : objects_of(object, "jobs"))
    all.push_back({text(one, "id"), number(one, "cap_watts", 1, kWattsMax), flag(one, "gentle"),
                   flag(one, "deadline"), number(one, "pace", 0, kPaceMax)});
  return all;
}

std::vector<JobGrant> grants_of(const json& object) {
  std::vector<JobGrant> all;
  for (const json& one : objects_of(object, "jobs"))
    all.push_back({text(one, "id"), number(one, "watts", 0, kWattsMax),
                   number(one, "limit_watts", 0, kWattsMax), flag(one, "late"),
                   number(one, "needed_watts", 0, kWattsMax)});
  return all;
}

json json_of(const PowerStatus& status) {
  json curve = json::array();
  for (const CurvePoint& point : status.curve) curve.push_back({point.watts, point.rate});
  return {{"working", status.working},
          {"watts", or_null(status.watts)},
          {"estimated", status.estimated},
          {"idle_watts", status.idle_watts},
          {"curve", std::move(curve)},
          {"watts_max", status.watts_max},
          {"celsius", or_null(status.celsius)},
          {"hot", status.hot},
          {"on_battery", status.on_battery},
          {"probing", status.probing},
          {"duty", status.duty},
          {"level", status.level},
          {"levels", status.levels},
          {"clocks", status.clocks},
          {"job_watts", or_null(status.job_watts)},
          {"job_id", status.job_id},
          {"jobs", json_of(status.jobs)}};
}

PowerStatus status_of(const json& object) {
  PowerStatus status;
  status.working = flag(object, "working");
  status.watts = number(object, "watts", 0, kWattsMax);
  status.estimated = flag(object, "estimated", true);
  status.idle_watts = number(object, "idle_watts", 0, kWattsMax).value_or(0);
  if (const auto curve = object.find("curve"); curve != object.end() && curve->is_array())
    for (const json& point : *curve) {
      if (status.curve.size() == kPointsMax) break;
      if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) continue;
      const CurvePoint one{point[0].get<double>(), point[1].get<double>()};
      if (one.watts >= 0 && one.watts <= kWattsMax && one.rate >= 0 && one.rate <= kRateMax)
        status.curve.push_back(one);
    }
  status.watts_max = number(object, "watts_max", 0, kWattsMax).value_or(0);
  status.celsius = number(object, "celsius", -100, 1000);
  status.hot = flag(object, "hot");
  status.on_battery = flag(object, "on_battery");
  status.probing = flag(object, "probing");
  status.duty = number(object, "duty", 0, 1).value_or(1);
  status.level = count(object, "level", 0);
  status.levels = std::max(1u, count(object, "levels", 1));
  status.clocks = text(object, "clocks");
  status.job_watts = number(object, "job_watts", 1, kWattsMax);
  status.job_id = text(object, "job_id");
  status.jobs = wishes_of(object);
  return status;
}

json json_of(const ClusterPower& all) {
  json nodes = json::array();
  for (const NodePower& node : all.nodes)
    nodes.push_back({{"id", node.id},
                     {"state", node.state},
                     {"cap_watts", or_null(node.cap_watts)},
                     {"status", node.status ? json_of(*node.status) : json(nullptr)}});
  return {{"leader_id", all.leader_id},
          {"budget_watts", or_null(all.budget_watts)},
          {"reason", all.reason},
          {"job_id", all.job_id},
          {"held", all.held},
          {"idle_watts", all.idle_watts},
          {"mean_watts", or_null(all.mean_watts)},
          {"nodes", std::move(nodes)},
          {"jobs", json_of(all.jobs)}};
}

ClusterPower cluster_of(const json& object) {
  ClusterPower all;
  all.leader_id = text(object, "leader_id");
  all.budget_watts = number(object, "budget_watts", 0, kWattsMax);
  all.reason = text(object, "reason");
  all.job_id = text(object, "job_id");
  all.held = flag(object, "held", true);
  all.idle_watts = number(object, "idle_watts", 0, kWattsMax).value_or(0);
  all.mean_watts = number(object, "mean_watts", 0, kWattsMax);
  all.jobs = grants_of(object);
  if (const auto nodes = object.find("nodes"); nodes != object.end() && nodes->is_array())
    for (const json& one : *nodes) {
      if (all.nodes.size() == kNodesMax) break;
      if (!one.is_object()) continue;
      NodePower node{text(one, "id"), text(one, "state"), std::nullopt,
                     number(one, "cap_watts", 0, kWattsMax)};
      if (const auto status = one.find("status"); status != one.end() && status->is_object())
        node.status = status_of(*status);
      all.nodes.push_back(std::move(node));
    }
  return all;
}

Result<json> object_of(ByteView bytes) {
  if (bytes.size() > kPowerMessageBytesMax) return Error{Errc::corrupt, "a message about power is too long"};
  const auto shallow = [](int depth, json::parse_event_t, json&) { return depth <= kDepthMax; };
  json value = json::parse(as_text(bytes), shallow, false);
  if (!value.is_object()) return Error{Errc::corrupt, "a message about power is not in order"};
  return value;
}

Bytes bytes_of(const json& value) {
  const std::string written = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return to_bytes(as_bytes(written));
}

}  // namespace

Bytes encode_question(const PowerQuestion& question) {
  json value = {{"look", question.look}};
  if (question.status) value["status"] = json_of(*question.status);
  return bytes_of(value);
}

Result<PowerQuestion> decode_question(ByteView bytes) {
  SAMOVAR_TRY(const json value, object_of(bytes));
  PowerQuestion question;
  question.look = flag(value, "look");
  if (const auto status = value.find("status"); status != value.end() && status->is_object())
    question.status = status_of(*status);
  return question;
}

Bytes encode_reply(const PowerReply& reply) {
  json value = {{"ready", reply.cap.ready},
                {"cap_watts", or_null(reply.cap.cap_watts)},
                {"budget_watts", or_null(reply.cap.budget_watts)},
                {"idle_watts", or_null(reply.cap.idle_watts)},
                {"mean_watts", or_null(reply.cap.mean_watts)},
                {"jobs", json_of(reply.cap.jobs)}};
  if (reply.all) value["all"] = json_of(*reply.all);
  return bytes_of(value);
}

Result<PowerReply> decode_reply(ByteView bytes) {
  SAMOVAR_TRY(const json value, object_of(bytes));
  PowerReply reply;
  reply.cap.ready = flag(value, "ready");
  reply.cap.cap_watts = number(value, "cap_watts", 0, kWattsMax);
  reply.cap.budget_watts = number(value, "budget_watts", 0, kWattsMax);
  reply.cap.idle_watts = number(value, "idle_watts", 0, kWattsMax);
  reply.cap.mean_watts = number(value, "mean_watts", 0, kWattsMax);
  reply.cap.jobs = grants_of(value);
  // A budget without a cap would be no cap at all.
  if (reply.cap.budget_watts && !reply.cap.cap_watts) reply.cap.ready = false;
  if (const auto all = value.find("all"); all != value.end() && all->is_object())
    reply.all = cluster_of(*all);
  return reply;
}

}  // namespace samovar::power
