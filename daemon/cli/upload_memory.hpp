// Which upload in which box belongs to which file here, so that the same command goes on where an earlier one
// ended, even after the CLI itself was killed.
//
// Files: <config dir>/uploads/<fingerprint>, 0600. The fingerprint is made of the box, the account and the
// file's path, size and time: a file that changed is another file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace samovar::cli {

class App;

struct LocalFile {
  std::string path;  // absolute
  std::string name;  // its last part
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
};

class UploadMemory {
 public:
  UploadMemory(App& app, const LocalFile& file);
  std::optional<std::string> recall() const;  // the upload's id
  Result<void> remember(const std::string& upload_id);
  void forget();

 private:
  std::string path_;  // empty: there is no place to remember
  std::string about_;
};

}  // namespace samovar::cli
