
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {

Task<Response> get_links(Services& services, Request&) {
  co_await services.members().refresh();
  View items = View::array();
  for (const auto& link : services.members().links()) items.push_back(link_view(link));
  const View body = {{"links", std::move(items)}};
  co_return json_response(200, body);
}

Task<Response> post_links_test(Services& services, Request& request) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto to = fields.text("to", Need::required, {1, 64, false});
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  const auto row = services.cluster().node(*to);
  if (!row || row->state == cluster::NodeState::removed || *to == services.node.facts().id)
    co_return problem(request, 422, "validation", "to must be the id of another member.");
  auto link = co_await services.members().test_link(*to);
  if (!link)
    co_return problem(request, 503, "node_unreachable",
                      "The link could not be measured: " + link.error().message() + ".");
  co_return json_response(200, link_view(*link));
}

Task<Response> get_doctor(Services& services, Request&) {
  const DoctorReport report = co_await services.members().doctor();
  co_return json_response(200, doctor_view(report));
}

Task<Response> post_doctor_probe(Services& services, Request& request) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto address = fields.text("address", Need::required, {1, 64, false});
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  const auto checks = co_await services.members().probe(*address);
  const View answer = {{"checks", checks_view(checks)}};
  co_return json_response(200, answer);
}

}  // namespace samovar::api
