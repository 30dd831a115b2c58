#include "daemon/cli/config.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <sstream>

#include "base/toml.hpp"
#include "daemon/cli/http_client.hpp"

namespace samovar::cli {
namespace {

constexpr std::string_view kHeader =
    "# Written by samovar. Which boxes this account knows and how it recognises them.\n"
    "# Deleting a [context] makes the next command ask for the fingerprint again.\n\n";

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

// Context names contain what a host name may contain and more; in a file name only the harmless stay.
std::string session_path(const std::string& dir, const std::string& context) {
  return dir + "/sessions/" + url_encode(context);
}

Error no_directory() {
  return Error{Errc::invalid, "no place for the configuration: set HOME or XDG_CONFIG_HOME"};
}

}  // namespace

Result<Config> parse_config(std::string_view text) {
  auto parsed = parse_toml(text);
  if (const auto* fault = std::get_if<TomlFault>(&parsed))
    return Error{Errc::invalid, fmt::format("config.toml, line {}: {}", fault->line, fault->text)};
  Config config;
  for (TomlEntry& entry : std::get<std::vector<TomlEntry>>(parsed)) {
    auto* value = std::get_if<std::string>(&entry.value);
    if (value == nullptr)
      return Error{Errc::invalid,
                   fmt::format("config.toml, line {}: {} is a text in quotes", entry.line, entry.name)};
    if (entry.section.empty() && entry.name == "current") config.current = std::move(*value);
    if (entry.section.size() != 2 || entry.section[0] != "context") continue;
    Context& context = config.contexts[entry.section[1]];
    if (entry.name == "server") context.server = std::move(*value);
    if (entry.name == "username") context.username = std::move(*value);
    if (entry.name == "fingerprint") context.pin.leaf_sha256 = std::move(*value);
    if (entry.name == "web_root") context.pin.root_pem = std::move(*value);
  }
  for (auto& [name, context] : config.contexts) {
    SAMOVAR_TRY(context.server, normalize_server(context.server));
  }
  return config;
}

std::string format_config(const Config& config) {
  std::string out(kHeader);
  if (!config.current.empty()) out += fmt::format("current = {}\n\n", quote(config.current));
  for (const auto& entry : config.contexts) {
    const Context& context = entry.second;
    out += fmt::format("[context.{}]\nserver = {}\n", quote(entry.first), quote(context.server));
    if (!context.username.empty()) out += fmt::format("username = {}\n", quote(context.username));
    if (!context.pin.leaf_sha256.empty())
      out += fmt::format("fingerprint = {}\n", quote(context.pin.leaf_sha256));
    if (!context.pin.root_pem.empty()) out += fmt::format("web_root = {}\n", quote(context.pin.root_pem));
    out += "\n";
  }
  return out;
}

Result<Config> load_config(const std::string& dir) {
  if (dir.empty()) return Config{};
  auto text = read_file(dir + "/config.toml");
  if (!text && text.error().code() == Errc::not_found) return Config{};
  if (!text) return std::move(text).error();
  auto config = parse_config(*text);
  if (!config) return std::move(config).error().within(dir);
  return config;
}

Result<void> save_config(const std::string& dir, const Config& config) {
  if (dir.empty()) return no_directory();
  return write_private_file(dir + "/config.toml", format_config(config));
}

Result<std::string> load_session(const std::string& dir, const std::string& context) {
  if (dir.empty()) return std::string();
  auto text = read_file(session_path(dir, context));
  if (!text && text.error().code() == Errc::not_found) return std::string();
  if (!text) return std::move(text).error();
  std::string token = *std::move(text);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  return token;
}

Result<void> save_session(const std::string& dir, const std::string& context, const std::string& token) {
  if (dir.empty()) return no_directory();
  return write_private_file(session_path(dir, context), token + "\n");
}

Result<void> remove_session(const std::string& dir, const std::string& context) {
  const std::string path = session_path(dir, context);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Error{Errc::io, fmt::format("cannot delete {}: {}", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace samovar::cli
