#include <charconv>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

std::optional<Response> read_time(const Request& request, std::string_view name,
                                  std::optional<WallTime>& out) {
  const std::string_view text = request.query_value(name);
  if (text.empty()) return std::nullopt;
  auto time = parse_time(text);
  if (!time)
    return problem(request, 400, "bad_query",
                   std::string(name) + " must be a time such as 2026-01-31T12:00:00Z.");
  out = *time;
  return std::nullopt;
}

cluster::AuditQuery audit_query(const Request& request, std::optional<Response>& refused) {
  cluster::AuditQuery query;
  const auto page = page_of(request, refused);
  query.limit = page.limit;
  if (!page.cursor.empty()) {
    std::uint64_t seq = 0;
    const auto [end, error] =
        std::from_chars(page.cursor.data(), page.cursor.data() + page.cursor.size(), seq);
    if (error != std::errc{} || end != page.cursor.data() + page.cursor.size())
      refused = problem(request, 400, "bad_query", "cursor is not one of ours.");
    query.before_seq = seq;
  }
  query.actor = std::string(request.query_value("actor"));
  query.action = std::string(request.query_value("action"));
  query.text = std::string(request.query_value("q"));
  if (auto wrong = read_time(request, "from", query.from)) refused = std::move(wrong);
  if (auto wrong = read_time(request, "to", query.to)) refused = std::move(wrong);
  // An analyst sees what they did themselves, by id: a name could be given to somebody else later.
  if (request.caller->user.role == cluster::Role::analyst) query.actor = request.caller->user.id;
  return query;
}

}  // namespace

Task<Response> get_audit(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto query = audit_query(request, refused);
  if (refused) co_return std::move(*refused);
  const auto page = services.cluster().audit(query);
  View items = View::array();
  for (const auto& entry : page.items) items.push_back(audit_view(entry));
  const std::string next = page.next_before_seq ? std::to_string(*page.next_before_seq) : std::string();
  co_return json_response(200, page_view(std::move(items), next));
}

Task<Response> get_audit_export(Services& services, Request& request) {
  auto& state = services.cluster();
  std::optional<Response> refused;
  cluster::AuditQuery query = audit_query(request, refused);
  if (refused) co_return std::move(*refused);
  // Recorded first: an export that cannot be recorded does not happen, and the export holds its own entry.
  auto recorded = co_await state.record(call_of(request), "audit.export", "audit", "ok", "{}");
  if (!recorded) co_return problem_from(recorded.error(), request);
  std::vector<std::string> lines;
  query.limit = cluster::kPageMax;
  for (;;) {
    const auto page = state.audit(query);
    for (const auto& entry : page.items) {
      View line = audit_view(entry);
      line["prev"] = hex_encode(entry.prev);
      lines.push_back(line.dump(-1, ' ', false, View::error_handler_t::replace));
    }
    if (!page.next_before_seq) break;
    query.before_seq = page.next_before_seq;
  }
  Response response;
  response.headers.set("Content-Type", "application/x-ndjson");
  response.headers.set("Content-Disposition", "attachment; filename=\"samovar-audit.ndjson\"");
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    response.body += *line + "\n";  // oldest first
  co_return response;
}

Task<Response> post_audit_verify(Services& services, Request& request) {
  auto verdict = co_await services.cluster().verify_audit();
  if (!verdict) co_return problem_from(verdict.error(), request);
  const View body = {
      {"ok", verdict->ok},
      {"entries", verdict->entries},
      {"head_hash", hex_encode(verdict->head_hash)},
      {"first_bad_seq", verdict->first_bad_seq ? View(*verdict->first_bad_seq) : View(nullptr)},
      {"message", verdict->message}};
  co_return json_response(200, body);
}

}  // namespace samovar::api
