// Uploads: tus 1.0.0 for browsers and the CLI, one PUT for curl, and JSON about both.
//
// An upload belongs to its user, not to a session; what an answer gives as Upload-Offset is on the disk.
#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/response_format.hpp"
#include "daemon/api/text.hpp"
#include "daemon/api/tus.hpp"
#include "daemon/api/views_data.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {
namespace {

Response with_version(Response response) {
  response.headers.set("Tus-Resumable", std::string(kTusVersion));
  return response;
}

// Everything but OPTIONS names the version it speaks.
std::optional<Response> check_version(const Request& request) {
  const std::string_view version = request.headers.get("Tus-Resumable");
  if (version == kTusVersion) return std::nullopt;
  Response response = problem(request, 412, "tus_version",
                              version.empty() ? "Send 'Tus-Resumable: 1.0.0' with each request of an upload."
                                              : "Uploads speak tus 1.0.0 only.");
  response.headers.set("Tus-Version", std::string(kTusVersion));
  return with_version(std::move(response));
}

Response too_large(const Request& request, std::string_view detail) {
  return problem(request, 413, "too_large", detail);
}

// What the service says of an upload, in tus' words.
Response upload_problem(const Error& error, const Request& request) {
  switch (error.code()) {
    case Errc::conflict:
      return problem(request, 409, "upload_offset", error.message());
    case Errc::busy:
      return problem(request, 423, "upload_busy", error.message());
    case Errc::timeout:
      return problem(request, 408, "body_too_slow", error.message());
    case Errc::unavailable:
      return problem(request, 410, "upload_expired", error.message());
    case Errc::io:  // the client left: nobody reads this
      return problem(request, 400, "client_left", error.message());
    default:
      return problem_from(error, request);
  }
}

void put_state(Response& response, const jobs::Upload& upload) {
  response.headers.set("Upload-Offset", std::to_string(upload.offset));
  response.headers.set("Upload-Expires", http_date(upload.expires_at));
  if (upload.complete() && !upload.sha256.empty()) response.headers.set("Samovar-SHA256", upload.sha256);
}

// The caller's own upload that still lives; else the refusal.
std::optional<jobs::Upload> find_upload(Services& services, const Request& request,
                                        std::optional<Response>& refused) {
  const auto found = services.data().upload(call_of(request).actor, request.param("id"));
  if (!found) {
    refused = found.error().code() == Errc::not_found
                  ? problem(request, 404, "not_found", found.error().message())
                  : upload_problem(found.error(), request);
    return std::nullopt;
  }
  if (found->expires_at <= services.now()) {
    refused = problem(request, 410, "upload_expired",
                      "This upload was left unfinished for too long and is gone: begin it again.");
    return std::nullopt;
  }
  return *found;
}

// The body's pieces, never more than were announced: a chunked body has no length of its own.
jobs::DataService::NextPiece bounded(std::shared_ptr<BodyReader> body, std::uint64_t room,
                                     std::shared_ptr<bool> over) {
  return [body, over, left = std::make_shared<std::uint64_t>(room)]() -> Task<Result<Bytes>> {
    Result<Bytes> piece = co_await body->read();
    if (!piece) co_return piece;
    if (piece->size() > *left) {
      *over = true;
      co_return Error{Errc::invalid, "The body goes past the length of the upload."};
    }
    *left -= piece->size();
    co_return piece;
  };
}

struct Appended {
  std::optional<jobs::Upload> upload;
  std::optional<Response> refused;
};

Task<Appended> append_body(Services& services, Request& request, const jobs::Upload& upload,
                           std::uint64_t offset) {
  Appended out;
  const auto over = std::make_shared<bool>(false);
  jobs::DataService::NextPiece next = bounded(request.stream, upload.length - offset, over);
  cluster::Call call = call_of(request);
  std::string id = upload.id;
  auto done = co_await services.data().append(std::move(call), std::move(id), offset, std::move(next));
  if (done) {
    out.upload = *std::move(done);
  } else if (*over) {
    out.refused = too_large(request, done.error().message());
  } else {
    out.refused = upload_problem(done.error(), request);
  }
  co_return out;
}

std::optional<jobs::NewUpload> read_creation(const Request& request, std::optional<Response>& refused) {
  jobs::NewUpload made;
  if (request.headers.has("Upload-Defer-Length")) {
    refused = problem(request, 400, "bad_upload", "Upload-Defer-Length is not offered: send Upload-Length.");
    return std::nullopt;
  }
  const auto length = parse_tus_number(trim(request.headers.get("Upload-Length")));
  if (!length) {
    refused = problem(request, 400, "bad_upload", "Upload-Length must be the number of bytes of the file.");
    return std::nullopt;
  }
  if (*length > kUploadBytesMax) {
    refused = too_large(request, fmt::format("A file may have {} bytes.", kUploadBytesMax));
    return std::nullopt;
  }
  const auto metadata = parse_tus_metadata(request.headers.get("Upload-Metadata"));
  if (!metadata) {
    refused = problem(request, 400, "bad_upload", metadata.error().message());
    return std::nullopt;
  }
  made.length = *length;
  made.file_name = "upload";
  for (const auto& [key, value] : *metadata) {
    if (key == "filename" || (key == "name" && made.file_name == "upload")) made.file_name = value;
  }
  if (!is_file_name(made.file_name)) {
    refused = problem(request, 400, "bad_upload",
                      "The file name must be 1 to 255 bytes of UTF-8: give another one in Upload-Metadata.");
    return std::nullopt;
  }
  return made;
}

Response creation_problem(const Error& error, const Request& request) {
  if (error.code() == Errc::busy) return problem(request, 413, "quota", error.message());
  return problem_from(error, request);
}

}  // namespace

Task<Response> options_uploads(Services&, Request&) {
  Response response;
  response.status = 204;
  response.headers.set("Tus-Version", std::string(kTusVersion));
  response.headers.set("Tus-Extension", std::string(kTusExtensions));
  response.headers.set("Tus-Max-Size", std::to_string(kUploadBytesMax));
  co_return with_version(std::move(response));
}

Task<Response> post_uploads(Services& services, Request& request) {
  if (auto refused = check_version(request)) co_return std::move(*refused);
  std::optional<Response> refused;
  auto wanted = read_creation(request, refused);
  if (refused) co_return with_version(std::move(*refused));
  cluster::Call call = call_of(request);
  auto made = co_await services.data().create_upload(std::move(call), std::move(*wanted));
  if (!made) co_return with_version(creation_problem(made.error(), request));
  Response response;
  response.status = 201;
  response.headers.set("Location", "/api/v1/uploads/" + made->id);
  put_state(response, *made);
  co_return with_version(std::move(response));
}

Task<Response> head_upload(Services& services, Request& request) {
  if (auto refused = check_version(request)) co_return std::move(*refused);
  std::optional<Response> refused;
  const auto upload = find_upload(services, request, refused);
  if (refused) co_return with_version(std::move(*refused));
  Response response;
  put_state(response, *upload);
  response.headers.set("Upload-Length", std::to_string(upload->length));
  response.headers.set("Upload-Metadata", format_tus_metadata({{"filename", upload->file_name}}));
  response.headers.set("Cache-Control", "no-store");
  co_return with_version(std::move(response));
}

Task<Response> patch_upload(Services& services, Request& request) {
  if (auto refused = check_version(request)) co_return std::move(*refused);
  if (!is_tus_content(request.headers.get("Content-Type")))
    co_return with_version(problem(request, 415, "wrong_content",
                                   "Send the bytes as 'Content-Type: application/offset+octet-stream'."));
  const auto offset = parse_tus_number(trim(request.headers.get("Upload-Offset")));
  if (!offset)
    co_return with_version(problem(request, 400, "bad_upload",
                                   "Upload-Offset must be the place in the file where the bytes begin."));
  std::optional<Response> refused;
  const auto upload = find_upload(services, request, refused);
  if (refused) co_return with_version(std::move(*refused));
  // Said before a byte is read: with "Expect: 100-continue" the client then sends none.
  if (*offset != upload->offset)
    co_return with_version(problem(
        request, 409, "upload_offset",
        fmt::format("The upload stands at {}, not at {}: go on from there.", upload->offset, *offset)));
  if (request.stream->content_length().value_or(0) > upload->length - *offset)
    co_return with_version(too_large(request, "The body goes past the length of the upload."));
  Appended done = co_await append_body(services, request, *upload, *offset);
  if (done.refused) co_return with_version(std::move(*done.refused));
  Response response;
  response.status = 204;
  put_state(response, *done.upload);
  co_return with_version(std::move(response));
}

Task<Response> delete_upload(Services& services, Request& request) {
  // Also for those who speak JSON only; a wrong version is refused all the same.
  if (request.headers.has("Tus-Resumable")) {
    if (auto refused = check_version(request)) co_return std::move(*refused);
  }
  cluster::Call call = call_of(request);
  std::string id(request.param("id"));
  auto done = co_await services.data().delete_upload(std::move(call), std::move(id));
  if (!done && done.error().code() == Errc::not_found) co_return with_version(not_found(request));
  if (!done) co_return with_version(upload_problem(done.error(), request));
  co_return with_version(no_content());
}

Task<Response> get_uploads(Services& services, Request& request) {
  View items = View::array();
  for (const auto& upload : services.data().uploads(call_of(request).actor))
    items.push_back(upload_view(upload));
  co_return json_response(200, page_view(std::move(items), {}));
}

Task<Response> get_upload(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto upload = find_upload(services, request, refused);
  if (refused) co_return std::move(*refused);
  co_return json_response(200, upload_view(*upload));
}

// One request for the whole file: `curl -T`. What comes to nothing leaves nothing, as curl cannot resume it.
Task<Response> put_upload(Services& services, Request& request) {
  jobs::NewUpload wanted;
  wanted.file_name = std::string(request.param("id"));
  if (!is_file_name(wanted.file_name))
    co_return problem(request, 400, "bad_upload", "The file name must be 1 to 255 bytes of UTF-8.");
  const auto length = request.stream->content_length();
  if (!length)
    co_return problem(request, 411, "length_required",
                      "The room for the file is taken beforehand, so its length must be known: send a file "
                      "and not a pipe, or use samovar data upload.");
  if (*length > kUploadBytesMax)
    co_return too_large(request, fmt::format("A file may have {} bytes.", kUploadBytesMax));
  wanted.length = *length;
  const std::string dataset(request.query_value("dataset"));
  cluster::Call call = call_of(request);
  auto made = co_await services.data().create_upload(std::move(call), std::move(wanted));
  if (!made) co_return creation_problem(made.error(), request);
  Appended done = co_await append_body(services, request, *made, 0);
  if (!done.refused && !done.upload->complete())
    done.refused =
        problem(request, 400, "body_too_short", "The body ended before its length: send it again.");
  if (done.refused) {
    cluster::Call undo = call_of(request);
    std::string id = made->id;
    ignore(co_await services.data().delete_upload(std::move(undo), std::move(id)), "it expires by itself");
    co_return std::move(*done.refused);
  }
  if (dataset.empty()) {
    Response response = json_response(201, upload_view(*done.upload));
    response.headers.set("Location", "/api/v1/uploads/" + made->id);
    co_return response;
  }
  jobs::IngestRequest ingest;
  ingest.name = dataset;
  cluster::Call start = call_of(request);
  std::string id = made->id;
  auto operation = co_await services.data().start_ingest(std::move(start), std::move(id), std::move(ingest));
  if (!operation) co_return problem_from(operation.error(), request);
  View body = {{"upload", upload_view(*done.upload)}, {"operation", operation_view(*operation)}};
  Response response = json_response(202, body);
  response.headers.set("Location", "/api/v1/operations/" + operation->id);
  co_return response;
}

Task<Response> post_upload_inspect(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto upload = find_upload(services, request, refused);
  if (refused) co_return std::move(*refused);
  ingest::ParseHints hints;
  if (!request.body.empty()) {
    auto body = take_object(request, refused);
    if (refused) co_return std::move(*refused);
    auto parsed = ingest::parse_hints(*body);
    if (!parsed) co_return problem_from(parsed.error(), request);
    hints = *std::move(parsed);
  }
  if (!upload->complete())
    co_return problem(
        request, 409, "upload_unfinished",
        fmt::format("{} of {} bytes are here: finish the upload first.", upload->offset, upload->length));
  cluster::Call call = call_of(request);
  std::string id = upload->id;
  auto found = co_await services.data().inspect(std::move(call), std::move(id), std::move(hints));
  // Errc::invalid is a file that is no table: the sentence is for the person who sent it.
  if (!found && found.error().code() == Errc::invalid)
    co_return problem(request, 422, "bad_data", found.error().message());
  if (!found) co_return problem_from(found.error(), request);
  co_return json_response(200, View(ingest::to_json(*found)));
}

}  // namespace samovar::api
