#include "daemon/api/data_support.hpp"

#include <charconv>

#include "daemon/api/handlers.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/cluster/dataset_rights.hpp"

namespace samovar::api {

std::optional<cluster::Dataset> seen_dataset(Services& services, const Request& request,
                                             std::optional<Response>& refused) {
  auto dataset = services.cluster().dataset(request.param("id"));
  if (dataset && cluster::may_see(call_of(request).actor, *dataset)) return dataset;
  refused = not_found(request);
  return std::nullopt;
}

std::optional<cluster::Dataset> managed_dataset(Services& services, const Request& request,
                                                std::optional<Response>& refused) {
  auto dataset = seen_dataset(services, request, refused);
  if (refused || cluster::may_manage(call_of(request).actor, *dataset)) return dataset;
  refused = problem(request, 403, "denied", "Only the owner of a data set or an administrator may do this.");
  return std::nullopt;
}

std::uint32_t version_of(Services& services, const Request& request, const cluster::Dataset& dataset,
                         std::optional<Response>& refused) {
  const std::string_view text = request.query_value("version");
  if (text.empty()) return dataset.version;
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version == 0) {
    refused = problem(request, 400, "bad_query", "version must be a number, 1 or more.");
  } else if (!services.cluster().version_summary(dataset.id, version)) {
    refused = not_found(request);
  }
  return version;
}

}  // namespace samovar::api
