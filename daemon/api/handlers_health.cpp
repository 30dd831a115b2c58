
#include "base/json.hpp"
#include "base/metrics.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

Response text_response(std::string_view type, std::string body) {
  Response response;
  response.headers.set("Content-Type", std::string(type));
  response.body = std::move(body);
  return response;
}

}  // namespace

Task<Response> get_healthz(Services&, Request&) {
  co_return text_response("text/plain; charset=utf-8", "ok\n");
}

Task<Response> get_readyz(Services& services, Request&) {
  const Phase phase = services.node.phase();
  // One that came back would say of what was made meanwhile that it is not there.
  bool current = true;
  if (phase == Phase::ready) current = co_await services.cluster().is_current();
  const View body = {{"status", current ? to_string(phase) : "catching_up"}};
  co_return json_response(phase == Phase::ready && current ? 200 : 503, body);
}

Task<Response> get_metrics(Services&, Request&) {
  co_return text_response(metrics::kContentType, metrics::render());
}

Task<Response> get_openapi(Services&, Request&) {
  co_return text_response("application/json", std::string(openapi_document()));
}

Task<Response> get_ca(Services& services, Request&) {
  Response response = text_response("application/x-pem-file", services.node.web_certificate().ca_pem);
  response.headers.set("Content-Disposition", "attachment; filename=\"samovar-ca.crt\"");
  co_return response;
}

}  // namespace samovar::api
