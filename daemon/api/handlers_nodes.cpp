#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/json.hpp"
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

// A member that is not removed.
std::optional<cluster::NodeRecord> member_row(Services& services, std::string_view id) {
  auto row = services.cluster().node(id);
  if (row && row->state == cluster::NodeState::removed) row.reset();
  return row;
}

Task<Response> drain(Services& services, Request& request, bool on) {
  if (!member_row(services, request.param("id"))) co_return not_found(request);
  auto done = co_await services.cluster().drain_node(call_of(request), std::string(request.param("id")), on);
  if (!done) co_return problem_from(done.error(), request);
  co_return json_response(200, node_view(services, *done));
}

struct Removal {
  cluster::DrainPreview preview;
  bool quorum_after = true;  // those that are left and answer are a majority
};

Removal removal_of(Services& services, const cluster::NodeRecord& row) {
  Removal out;
  const auto& state = services.cluster();
  out.preview = cluster::preview_drain(state.stored_files(), services.members().storage_nodes(), row.id);
  std::size_t voters = 0;
  std::size_t answering = 0;
  for (const auto& member : state.log_members()) {
    if (member.node_id == row.id || member.voice != raft::Voice::voter) continue;
    ++voters;
    if (member.node_id == services.node.facts().id || services.members().contact(member.node_id).reachable)
      ++answering;
  }
  out.quorum_after = voters == 0 || answering > voters / 2;
  return out;
}

// What a person should know before they go on, worst first.
std::string removal_sentence(const Removal& removal, const cluster::NodeRecord& row) {
  const auto& preview = removal.preview;
  if (preview.last_copies > 0)
    return fmt::format("{} holds the only copy of {} {}: they would be lost. Drain it first.", row.name,
                       preview.last_copies, preview.last_copies == 1 ? "file" : "files");
  if (!removal.quorum_after)
    return fmt::format("Without {} those that are left and answer are no majority: nothing could be changed.",
                       row.name);
  if (!preview.fits_elsewhere)
    return fmt::format("What {} holds does not fit on the other nodes: some data would have fewer copies.",
                       row.name);
  if (preview.below_wanted > 0)
    return fmt::format("{} {} would have fewer copies than wanted until they are made anew elsewhere.",
                       preview.below_wanted, preview.below_wanted == 1 ? "file" : "files");
  return fmt::format("{} can be removed: everything it holds is kept elsewhere, too.", row.name);
}

View removal_view(Services& services, const cluster::NodeRecord& row) {
  const Removal removal = removal_of(services, row);
  return {{"files", removal.preview.files},
          {"bytes", removal.preview.bytes},
          {"last_copies", removal.preview.last_copies},
          {"below_wanted", removal.preview.below_wanted},
          {"fits_elsewhere", removal.preview.fits_elsewhere},
          {"quorum_after", removal.quorum_after},
          {"sentence", removal_sentence(removal, row)}};
}

Response unsafe_problem(Services& services, const Request& request, const cluster::NodeRecord& row,
                        std::string why) {
  Problem unsafe{409, "unsafe_removal", {}, std::move(why), {}, {}};
  unsafe.extra = removal_view(services, row).dump();
  unsafe.extra_name = "removal";
  return to_response(unsafe, request);
}

// 409 with the preview when something would be lost or fall below what was asked for.
std::optional<Response> unsafe_removal(Services& services, const Request& request,
                                       const cluster::NodeRecord& row) {
  const Removal removal = removal_of(services, row);
  if (removal.preview.last_copies == 0 && removal.preview.below_wanted == 0 && removal.quorum_after)
    return std::nullopt;
  return unsafe_problem(services, request, row, removal_sentence(removal, row));
}

// How many files whoever asks agreed to lose: none without force, with it as many as they were told of.
Result<std::uint64_t> losses_of(const Request& request, bool force) {
  const std::string_view text = request.query_value("losses_max");
  if (text.empty()) return force ? cluster::kLossesAny : 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return Error{Errc::invalid, "losses_max is a number of files"};
  return force ? value : 0;
}

}  // namespace

Task<Response> get_nodes(Services& services, Request& request) {
  std::optional<Response> refused;
  page_of(request, refused);
  if (refused) co_return std::move(*refused);
  co_await services.members().refresh();
  co_return json_response(200, page_view(nodes_view(services), ""));
}

Task<Response> get_node(Services& services, Request& request) {
  const std::string_view id = request.param("id");
  co_await services.members().refresh();
  if (const auto row = services.cluster().node(id)) co_return json_response(200, node_view(services, *row));
  if (id != services.node.facts().id) co_return not_found(request);
  co_return json_response(200, self_view(services));
}

Task<Response> get_history(Services& services, Request& request) {
  const std::string& self = services.node.facts().id;
  const std::string node(request.query_value("node"));
  const bool own = node.empty() || node == self;
  if (!own && !member_row(services, node)) co_return not_found(request);
  auto query = history_query(services, request);
  if (!query) co_return problem(request, 400, "bad_query", query.error().message() + ".");
  if (own) {
    auto table = services.node.history().query(*query);
    if (!table) co_return problem(request, 400, "bad_query", table.error().message() + ".");
    co_return json_response(200, history_view(*table, self));
  }
  auto table = co_await services.members().history_of(node, std::move(*query));
  if (!table && table.error().code() == Errc::invalid)
    co_return problem(request, 400, "bad_query", table.error().message() + ".");
  if (!table)
    co_return problem(request, 503, "node_unreachable",
                      "The history of a node is kept by that node, and it does not answer now.");
  co_return json_response(200, history_view(*table, node));
}

Task<Response> get_node_removal(Services& services, Request& request) {
  const auto row = member_row(services, request.param("id"));
  if (!row) co_return not_found(request);
  co_await services.members().refresh();
  co_return json_response(200, removal_view(services, *row));
}

Task<Response> post_node_drain(Services& services, Request& request) {
  return drain(services, request, true);
}

Task<Response> post_node_resume(Services& services, Request& request) {
  return drain(services, request, false);
}

Task<Response> delete_node(Services& services, Request& request) {
  const auto row = member_row(services, request.param("id"));
  if (!row) co_return not_found(request);
  const std::string_view forced = request.query_value("force");
  const bool force = forced == "1" || forced == "true";
  const auto losses_max = losses_of(request, force);
  if (!losses_max) co_return problem(request, 400, "bad_query", losses_max.error().message() + ".");
  if (!force) {
    co_await services.members().refresh();
    if (auto unsafe = unsafe_removal(services, request, *row)) co_return std::move(*unsafe);
  }
  auto done = co_await services.cluster().remove_node(call_of(request), row->id, *losses_max);
  // It came to hold the last copy of something since it was looked at.
  if (!done && cluster::refusal_of(done.error()) == cluster::Refusal::last_copies)
    co_return unsafe_problem(services, request, *row, done.error().message());
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

}  // namespace samovar::api
