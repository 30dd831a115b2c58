#include <algorithm>
#include <charconv>

#include "daemon/api/handlers.hpp"
#include "daemon/api/problem.hpp"

namespace samovar::api {

cluster::PageQuery page_of(const Request& request, std::optional<Response>& refused) {
  cluster::PageQuery page;
  const std::string_view limit = request.query_value("limit");
  if (!limit.empty()) {
    const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
    if (error != std::errc{} || end != limit.data() + limit.size() || page.limit < 1 ||
        page.limit > cluster::kPageMax)
      refused = problem(request, 400, "bad_query", "limit must be 1 to 200.");
  }
  page.cursor = std::string(request.query_value("cursor"));
  if (page.cursor.size() > 256) refused = problem(request, 400, "bad_query", "cursor is not one of ours.");
  return page;
}

std::optional<std::uint64_t> if_match(const Request& request, std::optional<Response>& refused) {
  std::string_view tag = request.headers.get("If-Match");
  if (tag.empty()) {
    refused =
        problem(request, 428, "if_match_required",
                "Send If-Match with the ETag that you read, so that nobody's change is overwritten unseen.");
    return std::nullopt;
  }
  if (tag == "*") return std::nullopt;
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
  std::uint64_t revision = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), revision);
  if (error != std::errc{} || end != tag.data() + tag.size())
    refused = problem(request, 412, "stale", "If-Match is not an ETag of this object: read it again.");
  return revision;
}

bool is_username(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 32 && letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '.' || c == '_' || c == '-'; });
}

Response not_found(const Request& request) {
  return problem(request, 404, "not_found", "There is no such object, or you may not see it.");
}

}  // namespace samovar::api
