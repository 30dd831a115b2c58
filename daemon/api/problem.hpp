// Errors as the API tells them: RFC 9457 problem details, application/problem+json.
//
// `code` is for programs and never changes; `detail` is for people and says what to do.
//
// Threading: any thread.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

struct FieldError {
  std::string pointer;  // JSON pointer into the request's body, "/admin/password"; "" is the body itself
  std::string code;     // required, unknown, type, too_short, too_long, range, format, …
  std::string detail;
};

struct Problem {
  int status = 500;
  std::string code;
  std::string title;  // empty: the status' usual phrase
  std::string detail;
  std::vector<FieldError> errors;
  std::optional<std::chrono::seconds> retry_after;
  std::string extra_name = {};  // a member of its own, as RFC 9457 allows
  std::string extra = {};       // its JSON
};

Response to_response(const Problem& problem, const Request& request);
inline Response problem(const Request& request, int status, std::string_view code, std::string_view detail) {
  return to_response({status, std::string(code), {}, std::string(detail), {}, {}}, request);
}
// 422 "validation".
Response validation_problem(const Request& request, std::vector<FieldError> errors);
// From below: invalid 422, not_found 404, denied 403, conflict 409, busy and unavailable 503,
// no_space 507, the rest 500 (with the trace id instead of inner details). A stale revision is 412, the
// other refusals of the cluster are 409 with codes of their own.
Response problem_from(const Error& error, const Request& request);
std::string_view status_phrase(int status) noexcept;

}  // namespace samovar::api
