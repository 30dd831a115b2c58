// What is in a data set: schema, first rows, profile, pieces, and all of it as a file.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/api/data_support.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_datasets.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {
namespace {

struct Wanted {
  cluster::Dataset dataset;
  std::uint32_t version = 1;
};

std::optional<Wanted> wanted_version(Services& services, const Request& request,
                                     std::optional<Response>& refused) {
  auto dataset = seen_dataset(services, request, refused);
  if (refused) return std::nullopt;
  Wanted wanted;
  wanted.version = version_of(services, request, *dataset, refused);
  wanted.dataset = *std::move(dataset);
  if (refused) return std::nullopt;
  return wanted;
}

// Rows, in whatever form: only with the right to them, and not out of the bin.
std::optional<Wanted> readable_version(Services& services, const Request& request,
                                       std::optional<Response>& refused) {
  auto wanted = wanted_version(services, request, refused);
  if (refused) return std::nullopt;
  if (!cluster::may_read_rows(call_of(request).actor, wanted->dataset)) {
    refused =
        problem(request, 403, "rows_denied",
                "You may see that this data set exists, not its rows: its owner or an administrator can "
                "share it with you.");
    return std::nullopt;
  }
  if (wanted->dataset.binned_at) {
    refused = problem(request, 409, "dataset_binned", "This data set is in the bin: restore it first.");
    return std::nullopt;
  }
  return wanted;
}

Response csv_response(Result<std::unique_ptr<jobs::ByteStream>> stream, const Request& request,
                      const Wanted& wanted, std::string_view ending) {
  if (!stream) return problem_from(stream.error(), request);
  Response response;
  response.headers.set("Content-Type", "text/csv; charset=utf-8");
  response.headers.set("Content-Disposition", attachment(wanted.dataset.name, ending));
  response.stream = streamed_body(*std::move(stream));
  return response;
}

}  // namespace

Task<Response> get_dataset_schema(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto version = services.cluster().dataset_version(wanted->dataset.id, wanted->version);
  if (!version) co_return not_found(request);
  const View body = {{"version", wanted->version}, {"columns", columns_view(*version)}};
  co_return json_response(200, body);
}

Task<Response> get_dataset_preview(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = readable_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto preview = co_await services.data().preview(std::move(call), wanted->dataset.id, wanted->version);
  if (!preview) co_return problem_from(preview.error(), request);
  const auto version = services.cluster().dataset_version(wanted->dataset.id, wanted->version);
  if (!version) co_return not_found(request);
  View rows = View::array();
  for (const auto& row : preview->rows) {
    View cells = View::array();
    for (const auto& cell : row) cells.push_back(cell ? View(*cell) : View(nullptr));
    rows.push_back(std::move(cells));
  }
  const View body = {{"version", wanted->version}, {"columns", columns_view(*version)}, {"rows", rows}};
  co_return json_response(200, body);
}

Task<Response> get_dataset_profile(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Actor actor = call_of(request).actor;
  std::string target(request.query_value("target"));
  auto profile = co_await services.data().profile(std::move(actor), wanted->dataset.id, wanted->version,
                                                  std::move(target));
  if (!profile) co_return problem_from(profile.error(), request);
  co_return json_response(200, View(*profile));
}

Task<Response> get_dataset_shards(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto version = services.cluster().dataset_version(wanted->dataset.id, wanted->version);
  if (!version) co_return not_found(request);
  co_return json_response(200, shards_view(services, *version));
}

Task<Response> get_dataset_download(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = readable_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto stream = co_await services.data().download(std::move(call), wanted->dataset.id, wanted->version);
  co_return csv_response(std::move(stream), request, *wanted, ".csv");
}

Task<Response> get_dataset_bad_rows(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = readable_version(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto stream = co_await services.data().bad_rows(std::move(call), wanted->dataset.id, wanted->version);
  co_return csv_response(std::move(stream), request, *wanted, "-bad-rows.csv");
}

Task<Response> get_formats(Services&, Request&) { co_return json_response(200, formats_view()); }

}  // namespace samovar::api
