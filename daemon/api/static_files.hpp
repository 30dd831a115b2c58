// The web UI: an in-memory table of files built into the program.
//
// Threading: constant after construction, so any thread may ask. Ownership: entries point at static
// data (or, in tests, at data that outlives the table).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

struct StaticFile {
  std::string_view path;  // "/index.html", "/assets/app-3f2a9c1d.js"
  std::string_view content_type;
  std::string_view etag;  // quoted hash of the content
  ByteView plain;
  ByteView gzip;           // empty when it would not be smaller
  bool immutable = false;  // the name carries a hash of the content
};

class StaticFiles {
 public:
  StaticFiles() = default;  // serves nothing
  explicit StaticFiles(std::vector<StaticFile> files);
  // The files found in webui/dist when the program was built, or one page that says they were not.
  static StaticFiles embedded();

  // GET and HEAD. A path without a dot that names no file is one of the single-page app's own
  // addresses and gets index.html. Nothing found: status 404 with an empty body, for the server to word.
  Response serve(const Request& request) const;

 private:
  const StaticFile* find(std::string_view path) const;
  std::vector<StaticFile> files_;  // sorted by path
};

// Generated at build time.
std::vector<StaticFile> embedded_files();

}  // namespace samovar::api
