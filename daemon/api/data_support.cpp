#include "daemon/api/data_support.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "daemon/api/handlers.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/cluster/dataset_rights.hpp"

namespace samovar::api {
namespace {

// The service's stream as the engine reads it.
class StreamedBody : public BodySource {
 public:
  explicit StreamedBody(std::unique_ptr<jobs::ByteStream> stream) : stream_(std::move(stream)) {}
  Task<Result<Bytes>> next() override { return stream_->next(); }

 private:
  std::unique_ptr<jobs::ByteStream> stream_;
};

}  // namespace

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

std::shared_ptr<BodySource> streamed_body(std::unique_ptr<jobs::ByteStream> stream) {
  return std::make_shared<StreamedBody>(std::move(stream));
}

std::string attachment(std::string_view name, std::string_view ending) {
  std::string plain;
  std::string encoded;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '-' || c == '_' || c == '.';
    plain += letter ? c : '_';
    if (letter) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return fmt::format("attachment; filename=\"{0}{2}\"; filename*=UTF-8''{1}{2}", plain, encoded, ending);
}

std::optional<cluster::User> find_user(Services& services, std::string_view who) {
  auto user = services.cluster().user(who);
  return user ? user : services.cluster().user_by_name(who);
}

}  // namespace samovar::api
