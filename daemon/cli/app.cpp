#include "daemon/cli/app.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/json.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/trust.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {
constexpr std::string_view kDefaultServer = "https://127.0.0.1:8443";

// "https://box:8443" → "box:8443"
std::string context_for(const std::string& server) { return server.substr(server.find("://") + 3); }
}  // namespace

App::App(const Invocation& invocation, Io& io, HttpClient& http, Env env)
    : invocation_(invocation), io_(io), http_(http), env_(std::move(env)) {}

Result<void> App::start() {
  auto timeout = number_flag(invocation_, "timeout", 30, 1, 3600);
  if (!timeout) return usage(timeout.error().message());
  timeout_s_ = *timeout;
  SAMOVAR_CHECK(choose_output());
  SAMOVAR_TRY(config_, load_config(env_.config_dir));
  SAMOVAR_CHECK(choose_server());
  return choose_credentials();
}

Result<void> App::choose_output() {
  const std::string_view format = invocation_.flag("output", "table");
  if (format == "wide") output_ = Output::wide;
  if (format == "json") output_ = Output::json;
  if (format == "jsonl") output_ = Output::jsonl;
  if (format == "csv") output_ = Output::csv;
  if (invocation_.has("json") && output_ != Output::jsonl) output_ = Output::json;
  color_ = io_.out_is_terminal() && !env_.no_color && !invocation_.has("no-color");
  return {};
}

Result<void> App::choose_server() {
  const std::string given(invocation_.flag("server", env_.server));
  std::string name(invocation_.flag("context", env_.context));
  if (!given.empty()) {
    auto server = normalize_server(given);
    if (!server) return usage(server.error().message());
    server_ = *server;
    // A box already known under a name keeps its pin and session when it is meant by address.
    for (const auto& entry : config_.contexts) {
      if (name.empty() && entry.second.server == server_) name = entry.first;
    }
    if (name.empty()) name = context_for(server_);
  }
  if (name.empty()) name = config_.current;
  const auto known = config_.contexts.find(name);
  if (server_.empty() && known != config_.contexts.end()) server_ = known->second.server;
  if (server_.empty() && !name.empty()) {
    std::string names;
    for (const auto& entry : config_.contexts) names += (names.empty() ? "" : ", ") + entry.first;
    return usage(fmt::format(
        "no context \"{}\"; known: {}; \"samovar login --context {} --server https://HOST\" makes it", name,
        names.empty() ? "none" : names, name));
  }
  if (server_.empty()) {
    server_ = kDefaultServer;
    name = context_for(server_);
  }
  context_name_ = name;
  const auto entry = config_.contexts.find(name);
  if (entry != config_.contexts.end() && entry->second.server != server_) {
    // The name now means another box: what was pinned for the old one says nothing about it.
    entry->second = Context{};
  }
  return {};
}

Result<void> App::choose_credentials() {
  const std::string file(invocation_.flag("token-file", env_.token_file));
  if (file.empty()) {
    SAMOVAR_TRY(token_, load_session(env_.config_dir, context_name_));
    return {};
  }
  SAMOVAR_TRY(token_, read_file(file));
  while (!token_.empty() && (token_.back() == '\n' || token_.back() == '\r' || token_.back() == ' '))
    token_.pop_back();
  if (token_.empty()) return Error{Errc::invalid, fmt::format("{} holds no token", file)};
  token_from_file_ = true;
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0 && (info.st_mode & 0077) != 0) {
    warn(fmt::format("{} can be read by others: chmod 600 {}", file, file));
  }
  return {};
}

void App::note(std::string_view text) {
  if (!quiet()) io_.err(std::string(text) + "\n");
}

void App::warn(std::string_view text) { io_.err(fmt::format("samovar: warning: {}\n", text)); }

Error App::usage(std::string message) {
  exit_ = Exit::usage;
  return Error{Errc::invalid, std::move(message)};
}

Error App::stop(Exit code) {
  exit_ = code;
  return Error{Errc::internal, ""};
}

Result<void> App::confirm(std::string_view what, std::string_view name) {
  if (invocation_.has("yes") || invocation_.has("dry-run")) return {};
  if (!may_ask() || !io_.in_is_terminal()) {
    return usage(fmt::format("{} cannot be undone: add --yes to do it without being asked", what));
  }
  SAMOVAR_TRY(std::string answer,
              io_.ask(fmt::format("{} cannot be undone.\nType \"{}\" to go on: ", what, name)));
  if (answer != name) return usage("the name does not match; nothing was changed");
  return {};
}

Result<std::string> App::secret(std::string_view flag, std::string_view question, bool twice) {
  if (!flag.empty() && invocation_.has(flag)) {
    SAMOVAR_TRY(std::string line, io_.read_line());
    if (line.empty()) return usage(fmt::format("--{}: the first line of stdin is empty", flag));
    return line;
  }
  if (!may_ask()) {
    return usage(flag.empty() ? fmt::format("{} is needed, but --no-input forbids asking", question)
                              : fmt::format("--no-input: give the secret on stdin with --{}", flag));
  }
  auto first = io_.ask_secret(fmt::format("{}: ", question));
  if (!first && first.error().code() == Errc::unsupported && !flag.empty()) {
    return usage(fmt::format("there is no terminal to ask on: give the secret on stdin with --{}", flag));
  }
  if (!first || !twice) return first;
  SAMOVAR_TRY(std::string second, io_.ask_secret(fmt::format("{} again: ", question)));
  const bool same = *first == second;
  wipe(second);
  if (!same) {
    wipe(*first);
    return Error{Errc::invalid, "the two entries differ; nothing was changed"};
  }
  return first;
}

Exit App::exit_code(const Error& error) const {
  if (exit_) return *exit_;
  if (problem_status_ != 0) return exit_for_status(problem_status_, problem_code_);
  return exit_for_error(error.code());
}

void App::report(const Error& error) {
  if (error.message().empty()) return;
  if (json_like() || invocation_.has("json")) {
    if (!problem_.empty()) {
      io_.err(problem_ + "\n");
      return;
    }
    const std::string code = exit_ == Exit::usage ? "usage" : std::string(to_string(error.code()));
    const json document = {{"type", "urn:samovar:problem:" + code},
                           {"title", code},
                           {"code", code},
                           {"detail", error.message()}};
    io_.err(document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
    return;
  }
  io_.err(fmt::format("samovar: {}\n", printable(error.message(), true)));
}

}  // namespace samovar::cli
