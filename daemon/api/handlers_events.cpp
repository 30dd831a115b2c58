#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/handlers.hpp"
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

Task<Response> get_events(Services& services, Request& request) {
  Subscription subscription;
  subscription.topics = items_of(request.query_value("topics"));
  for (const auto& topic : subscription.topics) {
    const std::string head = topic.substr(0, topic.find('.'));
    constexpr std::array<std::string_view, 12> kTopics = {"node",      "peer",    "link",    "alert",
                                                          "audit",     "cluster", "session", "dataset",
                                                          "operation", "job",     "model",   "scoring"};
    if (std::find(kTopics.begin(), kTopics.end(), head) == kTopics.end())
      co_return problem(
          request, 400, "bad_query",
          "topics may be node, peer, link, alert, audit, cluster, session, dataset, operation, job, model "
          "and scoring.");
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
