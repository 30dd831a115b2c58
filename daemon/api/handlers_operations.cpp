// Work that takes longer than a request: looked at, and called off, by those who began it and by
// administrators.

#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_data.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {

Task<Response> get_operations(Services& services, Request& request) {
  View items = View::array();
  for (const auto& operation : services.data().operations(call_of(request).actor))
    items.push_back(operation_view(operation));
  co_return json_response(200, page_view(std::move(items), ""));
}

Task<Response> get_operation(Services& services, Request& request) {
  const auto operation = services.data().operation(call_of(request).actor, request.param("id"));
  if (!operation) co_return not_found(request);
  co_return json_response(200, operation_view(*operation));
}

Task<Response> post_operation_cancel(Services& services, Request& request) {
  const std::string id(request.param("id"));
  if (!services.data().operation(call_of(request).actor, id)) co_return not_found(request);
  cluster::Call call = call_of(request);
  auto done = co_await services.data().cancel(std::move(call), id);
  if (!done) co_return problem_from(done.error(), request);
  const auto operation = services.data().operation(call_of(request).actor, id);
  if (!operation) co_return no_content();
  co_return json_response(200, operation_view(*operation));
}

}  // namespace samovar::api
