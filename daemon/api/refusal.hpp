// What the engine itself says no to, before or instead of a handler: RFC 9457 problem documents.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api/http.hpp"

namespace samovar::api {

struct Refusal {
  // Not an aggregate: g++ 12 destroys aggregate temporaries of a co_await expression twice.
  Refusal(int with_status, std::string with_code, std::string with_detail)
      : status(with_status), code(std::move(with_code)), detail(std::move(with_detail)) {}

  int status;
  std::string code;    // stable, for programs
  std::string detail;  // for people: what is wrong and what to do
};

std::string_view reason_phrase(int status) noexcept;

// 429 and 503 get Retry-After: 1.
Response to_response(const Refusal& refusal, std::string_view instance, std::string_view trace_id);

}  // namespace samovar::api
