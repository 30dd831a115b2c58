#include "daemon/cli/env.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace samovar::cli {
namespace {

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string home_directory() {
  std::string home = variable("HOME");
  if (!home.empty()) return home;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr || entry->pw_dir == nullptr ? std::string() : std::string(entry->pw_dir);
}

}  // namespace

Env read_environment() {
  Env env;
  env.server = variable("SAMOVAR_SERVER");
  env.context = variable("SAMOVAR_CONTEXT");
  env.token_file = variable("SAMOVAR_TOKEN_FILE");
  const std::string base = variable("XDG_CONFIG_HOME");
  const std::string home = home_directory();
  // The XDG rules: a path that is not absolute is ignored.
  if (base.starts_with('/')) {
    env.config_dir = base + "/samovar";
  } else if (!home.empty()) {
    env.config_dir = home + "/.config/samovar";
  }
  env.no_color = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
  return env;
}

}  // namespace samovar::cli
