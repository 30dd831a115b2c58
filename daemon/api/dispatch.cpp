#include "daemon/api/dispatch.hpp"

#include <utility>

#include "daemon/api/refusal.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

// "application/json; charset=utf-8", "application/merge-patch+json".
bool is_json(std::string_view content_type) {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  constexpr std::string_view kSuffix = "+json";
  return equal_no_case(type, "application/json") ||
         (type.size() > kSuffix.size() && equal_no_case(type.substr(type.size() - kSuffix.size()), kSuffix));
}

// After the guard, so that a cross-site form post is answered as what it is.
std::optional<Response> check_type(const Route& route, const Request& request) {
  if (route.body != Body::json || request.body.empty() || is_json(request.headers.get("Content-Type"))) {
    return std::nullopt;
  }
  return to_response({415, "not_json", "Send the body as 'Content-Type: application/json'."}, request.path,
                     request.trace_id);
}

Task<void> serve([[maybe_unused]] std::shared_ptr<const void> owner, const Guard& guard, const Route& route,
                 Request request, std::function<void(Response)> done) {
  if (guard) {
    std::optional<Response> early = co_await guard(route, request);
    if (early) {
      done(std::move(*early));
      co_return;
    }
  }
  if (auto refused = check_type(route, request)) {
    done(std::move(*refused));
    co_return;
  }
  done(co_await route.handler(request));
}

}  // namespace

void dispatch(Loop& loop, std::shared_ptr<const void> owner, const Guard& guard, const Route& route,
              Request request, std::function<void(Response)> done) {
  // Loop::Work is copied, a request should not be.
  auto shared = std::make_shared<Request>(std::move(request));
  loop.post([owner = std::move(owner), &guard, &route, shared, done = std::move(done)] {
    spawn(serve(owner, guard, route, std::move(*shared), done));
  });
}

}  // namespace samovar::api
