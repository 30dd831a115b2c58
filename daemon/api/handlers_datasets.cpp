// Data sets: made, listed, changed, shared, put into the bin and out of it, destroyed.

#include "base/json.hpp"
#include "daemon/api/data_support.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_data.hpp"
#include "daemon/api/views_datasets.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {
namespace {

constexpr TextRule kNameRule{1, cluster::kDatasetNameBytesMax, false};
constexpr TextRule kDescriptionRule{0, cluster::kDescriptionBytesMax, true};

Response dataset_response(Services& services, const Request& request, const cluster::Dataset& dataset) {
  Response response = json_response(200, dataset_detail_view(services, call_of(request).actor, dataset));
  response.headers.set("ETag", etag_of(dataset.revision));
  return response;
}

Response dataset_or_problem(Services& services, const Request& request,
                            const Result<cluster::Dataset>& dataset) {
  return dataset ? dataset_response(services, request, *dataset) : problem_from(dataset.error(), request);
}

// A member whose own reader says what is wrong with it.
template <class T, class Read>
void read_member(nlohmann::json& body, Fields& fields, const char* name, T& out, Read read) {
  if (fields.is_null(name)) return;
  auto value = read(body[name]);
  if (value) {
    out = *std::move(value);
  } else {
    fields.fail(name, "format", value.error().message());
  }
}

void read_choices(nlohmann::json& body, Fields& fields, jobs::IngestRequest& out) {
  read_member(body, fields, "hints", out.hints,
              [](const nlohmann::json& json) { return ingest::parse_hints(json); });
  read_member(body, fields, "columns", out.columns,
              [](const nlohmann::json& json) { return ingest::parse_column_changes(json); });
}

Response started(const Result<jobs::Operation>& operation, const Request& request) {
  if (!operation) return problem_from(operation.error(), request);
  Response response = json_response(202, operation_view(*operation));
  response.headers.set("Location", "/api/v1/operations/" + operation->id);
  return response;
}

Task<Created> create_dataset(Services& services, Request& request, std::string request_id) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return Created{std::move(*refused), {}};
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  jobs::IngestRequest wanted;
  std::string upload_id = fields.text("upload_id", Need::required, {1, 64, false}).value_or("");
  wanted.name = fields.text("name", Need::required, kNameRule).value_or("");
  wanted.description = fields.text("description", Need::optional, kDescriptionRule).value_or("");
  read_choices(*body, fields, wanted);
  fields.finish();
  if (!errors.empty()) co_return Created{validation_problem(request, std::move(errors)), {}};
  cluster::Call call = call_of(request, std::move(request_id));
  auto operation =
      co_await services.data().start_ingest(std::move(call), std::move(upload_id), std::move(wanted));
  co_return Created{started(operation, request), {}};
}

Task<Created> create_sample(Services& services, Request& request, std::string request_id) {
  cluster::Call call = call_of(request, std::move(request_id));
  auto operation = co_await services.data().start_sample(std::move(call));
  co_return Created{started(operation, request), {}};
}

Task<Created> create_scrub(Services& services, Request& request, std::string request_id) {
  cluster::Call call = call_of(request, std::move(request_id));
  auto operation = co_await services.data().start_scrub(std::move(call));
  co_return Created{started(operation, request), {}};
}

}  // namespace

Task<Response> get_datasets(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto page = page_of(request, refused);
  if (refused) co_return std::move(*refused);
  const cluster::Actor actor = call_of(request).actor;
  cluster::DatasetFilter filter;
  const std::string_view bin = request.query_value("bin");
  if (!bin.empty() && bin != "true" && bin != "false")
    co_return problem(request, 400, "bad_query", "bin must be true or false.");
  filter.bin = bin == "true";
  filter.text = std::string(request.query_value("q").substr(0, 256));
  filter.user_id = cluster::seen_only_by(actor);
  const auto found = services.cluster().datasets(filter, page);
  View items = View::array();
  for (const auto& dataset : found.items) items.push_back(dataset_view(services, actor, dataset));
  co_return json_response(200, page_view(std::move(items), found.next_cursor));
}

Task<Response> post_datasets(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_dataset(services, request, std::move(request_id));
  });
}

Task<Response> post_datasets_sample(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_sample(services, request, std::move(request_id));
  });
}

Task<Response> post_datasets_scrub(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_scrub(services, request, std::move(request_id));
  });
}

Task<Response> get_dataset(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = seen_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  co_return dataset_response(services, request, *dataset);
}

Task<Response> patch_dataset(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  cluster::DatasetChange change;
  change.name = fields.text("name", Need::optional, kNameRule);
  change.description = fields.text("description", Need::optional, kDescriptionRule);
  change.owner_id = fields.text("owner_id", Need::optional, {1, 64, false});
  if (const auto copies = fields.integer("copies", Need::optional, 0, cluster::kCopiesMax))
    change.copies = static_cast<unsigned>(*copies);
  fields.finish();
  if (errors.empty() && !change.name && !change.description && !change.owner_id && !change.copies)
    errors.push_back({"", "required", "Nothing to change was sent."});
  if (change.owner_id) {
    const auto owner = find_user(services, *change.owner_id);
    if (!owner) fields.fail("owner_id", "unknown", "There is no such user.");
    if (owner) change.owner_id = owner->id;
  }
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  // It changes who may read the rows.
  if (change.owner_id && !freshly_authenticated(services, *request.caller))
    co_return reauth_required(request);
  cluster::Call call = call_of(request);
  auto done =
      co_await services.cluster().update_dataset(std::move(call), dataset->id, std::move(change), revision);
  if (!done) co_return problem_from(done.error(), request);
  // Handed over, it may be out of sight for the one who did.
  if (!cluster::may_see(call_of(request).actor, *done)) co_return no_content();
  co_return dataset_response(services, request, *done);
}

Task<Response> delete_dataset(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done = co_await services.data().bin(std::move(call), dataset->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

Task<Response> post_dataset_restore(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done = co_await services.data().restore(std::move(call), dataset->id);
  co_return dataset_or_problem(services, request, done);
}

Task<Response> post_dataset_destroy(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done = co_await services.data().destroy(std::move(call), dataset->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

Task<Response> put_dataset_schema(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  // Nothing is overwritten, so If-Match is not needed; but if it was sent it counts.
  if (request.headers.has("If-Match")) {
    const auto revision = if_match(request, refused);
    if (refused) co_return std::move(*refused);
    if (revision && *revision != dataset->revision)
      co_return problem(request, 412, "stale", "The data set was changed meanwhile: read it again.");
  }
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  jobs::IngestRequest wanted;
  read_choices(*body, fields, wanted);
  fields.finish();
  if (errors.empty() && !body->contains("columns") && !body->contains("hints"))
    errors.push_back({"", "required", "Nothing to change was sent."});
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  cluster::Call call = call_of(request);
  auto operation = co_await services.data().start_version(std::move(call), dataset->id, std::move(wanted));
  co_return started(operation, request);
}

Task<Response> put_dataset_grant(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto user = find_user(services, request.param("user_id"));
  if (!user) co_return not_found(request);
  cluster::Call call = call_of(request);
  auto done = co_await services.cluster().grant_dataset(std::move(call), dataset->id, user->id);
  co_return dataset_or_problem(services, request, done);
}

Task<Response> delete_dataset_grant(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto dataset = managed_dataset(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto user = find_user(services, request.param("user_id"));
  if (!user) co_return not_found(request);
  cluster::Call call = call_of(request);
  auto done = co_await services.cluster().ungrant_dataset(std::move(call), dataset->id, user->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

}  // namespace samovar::api
