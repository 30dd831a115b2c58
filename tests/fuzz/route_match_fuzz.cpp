// Any path against a table with every kind of pattern: what matches must match for a reason.
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "daemon/api/router.hpp"

using namespace samovar;
using namespace samovar::api;

namespace {

Router make_table() {
  const Handler none = [](Request&) -> Task<Response> { co_return Response{}; };
  std::vector<Route> routes;
  for (const char* pattern :
       {"/", "/api/v1/users", "/api/v1/users/{id}", "/api/v1/a/{x}/b/{y}", "/healthz"}) {
    routes.push_back({Method::get, pattern, Access::anyone(), Body::none, none});
  }
  for (const char* pattern : {"/api/v1/users", "/api/v1/users/{id}:unlock", "/api/v1/audit:verify"}) {
    routes.push_back({Method::post, pattern, Access::anyone(), Body::json, none});
  }
  return *Router::create(std::move(routes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Router router = make_table();
  if (size == 0) return 0;
  const auto method = static_cast<Method>(data[0] % 7);
  const std::string_view path(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Router::Match match = router.match(method, path);
  switch (match.outcome) {
    case Router::Match::Outcome::found:
      SAMOVAR_ASSERT(match.route != nullptr && path.front() == '/');
      for (const auto& [name, value] : match.params) {
        SAMOVAR_ASSERT(!value.empty() && value.find('/') == std::string::npos &&
                       value.find(':') == std::string::npos);
      }
      break;
    case Router::Match::Outcome::wrong_method:
    case Router::Match::Outcome::options:
      SAMOVAR_ASSERT(!match.allow.empty());
      break;
    case Router::Match::Outcome::not_found:
      SAMOVAR_ASSERT(match.route == nullptr);
      break;
  }
  return 0;
}
