#include "daemon/api/static_files.hpp"

#include <algorithm>

#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

// "gzip", "gzip;q=0.5" or "*", but not "gzip;q=0" (RFC 9110 §12.5.3).
bool accepts_gzip(std::string_view field) {
  bool accepted = false;
  for_each_item(field, [&](std::string_view item) {
    const std::size_t semicolon = item.find(';');
    const std::string_view coding = trim(item.substr(0, semicolon));
    if (!equal_no_case(coding, "gzip") && coding != "*") return;
    const std::string_view weight =
        semicolon == std::string_view::npos ? std::string_view() : trim(item.substr(semicolon + 1));
    const bool refused = weight.size() > 2 && equal_no_case(weight.substr(0, 2), "q=") &&
                         weight.substr(2).find_first_not_of("0.") == std::string_view::npos;
    if (!refused) accepted = true;
  });
  return accepted;
}

bool matches_etag(std::string_view field, std::string_view etag) {
  bool matched = false;
  for_each_item(field, [&](std::string_view item) {
    if (item.substr(0, 2) == "W/") item.remove_prefix(2);  // If-None-Match compares weakly
    if (item == etag || item == "*") matched = true;
  });
  return matched;
}

}  // namespace

StaticFiles::StaticFiles(std::vector<StaticFile> files) : files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(),
            [](const StaticFile& a, const StaticFile& b) { return a.path < b.path; });
}

StaticFiles StaticFiles::embedded() { return StaticFiles(embedded_files()); }

const StaticFile* StaticFiles::find(std::string_view path) const {
  const auto found =
      std::lower_bound(files_.begin(), files_.end(), path,
                       [](const StaticFile& file, std::string_view key) { return file.path < key; });
  return found != files_.end() && found->path == path ? &*found : nullptr;
}

Response StaticFiles::serve(const Request& request) const {
  const StaticFile* file = find(request.path);
  if (file == nullptr && request.path.find('.') == std::string::npos) file = find("/index.html");
  Response response;
  if (file == nullptr) {
    response.status = 404;
    return response;
  }
  response.headers.set("Content-Type", std::string(file->content_type));
  // Weak, as the plain and the gzip form share it.
  response.headers.set("ETag", "W/" + std::string(file->etag));
  response.headers.set("Vary", "Accept-Encoding");
  // Pages are asked for again each time (a 304 is cheap), so that an update shows at once.
  response.headers.set("Cache-Control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (matches_etag(request.headers.get("If-None-Match"), file->etag)) {
    response.status = 304;
    return response;
  }
  const bool gzip = !file->gzip.empty() && accepts_gzip(request.headers.get("Accept-Encoding"));
  if (gzip) response.headers.set("Content-Encoding", "gzip");
  response.body = std::string(as_text(gzip ? file->gzip : file->plain));
  return response;
}

}  // namespace samovar::api
