#include "daemon/cli/upload_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/digest.hpp"

namespace samovar::cli {

using nlohmann::json;

UploadMemory::UploadMemory(App& app, const LocalFile& file) : about_(file.path) {
  if (app.env().config_dir.empty()) return;
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", app.server(), app.context().username, file.path,
                                      file.size, file.mtime_ns);
  path_ = app.env().config_dir + "/uploads/" + sha256_hex(key).substr(0, 32);
}

std::optional<std::string> UploadMemory::recall() const {
  if (path_.empty()) return std::nullopt;
  const auto text = read_file(path_);
  if (!text) return std::nullopt;
  const json known = json::parse(*text, nullptr, false);
  if (!known.is_object() || !known.contains("upload") || !known["upload"].is_string()) return std::nullopt;
  const std::string id = known["upload"].get<std::string>();
  return id.empty() ? std::nullopt : std::optional(id);
}

Result<void> UploadMemory::remember(const std::string& upload_id) {
  if (path_.empty()) return {};
  const json known = {{"upload", upload_id}, {"file", about_}};
  return write_private_file(path_, known.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

void UploadMemory::forget() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace samovar::cli
