#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/text.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  for_each_item(list, [&](std::string_view item) {
    if (items.size() < 64) items.emplace_back(item);
  });
  return items;
}

std::optional<std::chrono::seconds> range_of(std::string_view name) {
  if (name.empty() || name == "1h") return std::chrono::hours(1);
  if (name == "5m") return std::chrono::minutes(5);
  if (name == "24h") return std::chrono::hours(24);
  if (name == "7d") return std::chrono::hours(24 * 7);
  if (name == "30d") return std::chrono::hours(24 * 30);
  return std::nullopt;
}

// The asked time as [from, to); a message when it makes no sense.
Result<power::HistoryQuery> history_query(Services& services, const Request& request) {
  power::HistoryQuery query;
  query.metrics = items_of(request.query_value("metric"));
  if (query.metrics.empty()) return Error{Errc::invalid, "metric is missing; ask e.g. for metric=cpu,watts"};
  const std::string_view from = request.query_value("from");
  const std::string_view to = request.query_value("to");
  query.to = services.now() + std::chrono::seconds(1);  // the step that is running now is part of it
  if (!to.empty()) {
    SAMOVAR_TRY(query.to, parse_time(to));
  }
  if (!from.empty()) {
    SAMOVAR_TRY(query.from, parse_time(from));
  } else {
    const auto range = range_of(request.query_value("range"));
    if (!range) return Error{Errc::invalid, "range must be 5m, 1h, 24h, 7d or 30d"};
    query.from = query.to - *range;
  }
  const std::string_view step = request.query_value("step");
  if (!step.empty() && step != "auto") {
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), query.step_s);
    if (error != std::errc{} || end != step.data() + step.size() || query.step_s == 0)
      return Error{Errc::invalid, "step must be auto or a number of seconds"};
  }
  return query;
}

WallTime at_second(std::int64_t unix_seconds) { return WallTime(std::chrono::seconds(unix_seconds)); }

View history_view(const power::HistoryTable& table, const std::string& node) {
  View cols = View::array();
  for (std::size_t i = 0; i < table.cols.size(); ++i) {
    View col = View::array();
    for (const double value : table.cols[i]) {
      if (std::isnan(value)) {
        col.push_back(nullptr);
      } else if (i == 0) {
        col.push_back(static_cast<std::int64_t>(value));
      } else {
        col.push_back(value);
      }
    }
    cols.push_back(std::move(col));
  }
  return {{"node", node},
          {"step_s", table.step_s},
          {"start", format_time(at_second(table.start_s))},
          {"end", format_time(at_second(table.end_s))},
          {"names", table.names},
          {"cols", std::move(cols)}};
}

std::string hello_text(Services& services) {
  const View hello = {{"nodes", nodes_view(services)},
                      {"cluster", cluster_view(services)},
                      {"alerts", alerts_view(services)}};
  return hello.dump(-1, ' ', false, View::error_handler_t::replace);
}

// How long the caller's session or token lives; negative once it has ended.
std::chrono::seconds remaining_life(Services& services, const Caller& caller) {
  constexpr std::chrono::seconds kEnded{-1};
  if (services.node.phase() != Phase::ready) return kEnded;
  auto& state = services.cluster();
  const WallTime now = services.now();
  const auto user = state.user(caller.user.id);
  if (!user || user->disabled || user->role != caller.user.role) return kEnded;
  WallTime end;
  if (caller.token) {
    const auto token = state.token(caller.token->id);
    if (!token) return kEnded;
    end = token->expires_at;
  } else {
    const auto session = state.session(caller.session->id);
    if (!session || !is_live(services, *session)) return kEnded;
    end = std::min(session->expires_at, idle_end(services, *session));
  }
  return std::chrono::floor<std::chrono::seconds>(end - now);
}

}  // namespace

Task<Response> get_nodes(Services& services, Request& request) {
  std::optional<Response> refused;
  page_of(request, refused);
  if (refused) co_return std::move(*refused);
  co_return json_response(200, page_view(nodes_view(services), ""));
}

Task<Response> get_node(Services& services, Request& request) {
  if (request.param("id") != services.node.facts().id) co_return not_found(request);
  co_return json_response(200, node_view(services));
}

Task<Response> get_history(Services& services, Request& request) {
  const std::string& self = services.node.facts().id;
  const std::string_view node = request.query_value("node");
  if (!node.empty() && node != self) co_return not_found(request);
  auto query = history_query(services, request);
  if (!query) co_return problem(request, 400, "bad_query", query.error().message() + ".");
  auto table = services.node.history().query(*query);
  if (!table) co_return problem(request, 400, "bad_query", table.error().message() + ".");
  co_return json_response(200, history_view(*table, self));
}

Task<Response> get_events(Services& services, Request& request) {
  Subscription subscription;
  subscription.topics = items_of(request.query_value("topics"));
  for (const auto& topic : subscription.topics) {
    const std::string head = topic.substr(0, topic.find('.'));
    constexpr std::array<std::string_view, 10> kTopics = {
        "node", "alert", "audit", "cluster", "session", "dataset", "operation", "job", "model", "scoring"};
    if (std::find(kTopics.begin(), kTopics.end(), head) == kTopics.end())
      co_return problem(
          request, 400, "bad_query",
          "topics may be node, alert, audit, cluster, session, dataset, operation, job, model and "
          "scoring.");
  }
  const auto role = request.caller->user.role;
  subscription.audit = role == cluster::Role::admin || role == cluster::Role::auditor;
  subscription.user_id = request.caller->user.id;
  subscription.admin = role == cluster::Role::admin;
  subscription.last_event_id = std::string(request.headers.get("Last-Event-ID").substr(0, 64));
  subscription.hello = [&services] { return hello_text(services); };
  subscription.remaining = [&services, caller = request.caller] { return remaining_life(services, *caller); };
  Response response;
  response.headers.set("Content-Type", "text/event-stream");
  response.events = [&services, subscription](std::shared_ptr<EventSink> sink) {
    // The session may have ended between the guard and the first byte.
    if (subscription.remaining() < std::chrono::seconds::zero()) return sink->close();
    services.events.subscribe(std::move(sink), subscription);
  };
  co_return response;
}

}  // namespace samovar::api
