// The CLI's own file: which boxes it knows, how it recognises them, which one is meant by default.
//
// Files: <config dir>/config.toml and <config dir>/sessions/<context>, both 0600 in 0700 folders;
// replaced by rename, so a crash leaves the old one. Session tokens are apart from config.toml,
// so that the latter can be copied or shown without giving access away.
#pragma once
#include <map>
#include <string>

#include "base/result.hpp"
#include "daemon/cli/http_client.hpp"

namespace samovar::cli {

struct Context {
  std::string server;    // "https://127.0.0.1:8443"
  std::string username;  // of the last login
  Pin pin;
};

struct Config {
  std::string current;                      // name of the default context; may be empty
  std::map<std::string, Context> contexts;  // by name, "127.0.0.1:8443" unless named by --context
};

// Errc::invalid names the line of a broken file; a missing file is an empty Config.
Result<Config> load_config(const std::string& dir);
Result<void> save_config(const std::string& dir, const Config& config);

// Pure halves of the above.
Result<Config> parse_config(std::string_view text);
std::string format_config(const Config& config);

// Empty when there is none.
Result<std::string> load_session(const std::string& dir, const std::string& context);
Result<void> save_session(const std::string& dir, const std::string& context, const std::string& token);
Result<void> remove_session(const std::string& dir, const std::string& context);

// A whole small file; Errc::not_found when it is not there.
Result<std::string> read_file(const std::string& path);
// 0600, durable, all or nothing.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace samovar::cli
