// One run of the program: its flags, streams, box and session. Handlers get nothing else.
//
// Ownership: borrows Io, HttpClient and Invocation, which outlive it.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "daemon/cli/args.hpp"
#include "daemon/cli/config.hpp"
#include "daemon/cli/env.hpp"
#include "daemon/cli/http_client.hpp"
#include "daemon/cli/io.hpp"

namespace samovar::cli {

// The exit codes are a promise to scripts.
enum class Exit : int {
  ok = 0,
  failure = 1,
  usage = 2,
  not_found = 3,
  denied = 4,
  conflict = 5,
  invalid = 6,
  unreachable = 7,
  awaited_failed = 8,
  partly = 9,
  interrupted = 130,
};

enum class Output { table, wide, json, jsonl, csv };

using Query = std::vector<std::pair<std::string, std::string>>;

struct Call {
  std::string method = "GET";
  std::string path;  // below /api/v1, or absolute with a leading "//": "//ca.crt"
  Query query = {};
  std::string body = {};  // JSON; may hold a secret, wiped after the call
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool creates = false;    // sends an Idempotency-Key, so that a retry cannot do it twice
  bool anonymous = false;  // without session: setup, unlock, login
  std::function<bool(std::string_view)> on_data = {};
  // As in HttpRequest, for a long body; such a call is not repeated after asking for the password.
  std::function<std::size_t(char*, std::size_t)> read_body = {};
  std::uint64_t read_bytes = 0;
  std::function<bool()> go_on = {};
};

class App {
 public:
  App(const Invocation& invocation, Io& io, HttpClient& http, Env env);

  // Reads the config and decides which box and which credentials are meant.
  Result<void> start();

  Io& io() { return io_; }
  const Invocation& invocation() const { return invocation_; }
  Config& config() { return config_; }
  const Env& env() const { return env_; }
  const std::string& server() const { return server_; }
  const std::string& context_name() const { return context_name_; }
  Context& context() { return config_.contexts[context_name_]; }
  bool logged_in() const { return !token_.empty(); }
  void set_session(std::string token) { token_ = std::move(token); }

  Output output() const { return output_; }
  bool json_like() const { return output_ == Output::json || output_ == Output::jsonl; }
  bool color() const { return color_; }
  bool quiet() const { return invocation_.has("quiet"); }
  bool may_ask() const { return !invocation_.has("no-input"); }
  Result<void> save() { return save_config(env_.config_dir, config_); }

  // One call of the API. A problem document becomes an Error and is kept for --json and the exit code.
  // On reauth_required the password is asked for and the call repeated.
  Result<HttpReply> call(Call call);
  Result<nlohmann::json> get(std::string path, Query query = {});
  // All pages of a list, as {"items":[…],"next_cursor":null}; at most `limit` items, 0 for all.
  Result<nlohmann::json> get_list(const std::string& path, const Query& query = {}, long limit = 0);
  Result<nlohmann::json> post(std::string path, const nlohmann::json& body);
  // Before anybody can log in: set-up, unlocking, joining. Without a body when it is null.
  Result<nlohmann::json> ask_anonymously(std::string method, std::string path, const nlohmann::json& body);
  // Without pinning yet: asks about the fingerprint on first contact. Called by call().
  Result<void> ensure_trust();

  // Said to the person, on stderr; dropped by --quiet.
  void note(std::string_view text);
  void warn(std::string_view text);

  // A usage error found by a handler: exit code 2.
  Error usage(std::string message);
  // Ends the run with this code and no message of ours.
  Error stop(Exit code);
  // The run ends with this code if it fails; the message is the caller's.
  void fails_with(Exit code) { exit_ = code; }

  // Asks for `name` to be typed before something is lost; --yes agrees beforehand.
  Result<void> confirm(std::string_view what, std::string_view name);
  // The secret from stdin with --<flag>, else typed; `twice` for a new one.
  Result<std::string> secret(std::string_view flag, std::string_view question, bool twice = false);

  // Of the last call: its HTTP status and problem code when it was refused, else 0 and nothing.
  int problem_status() const { return problem_status_; }
  const std::string& problem_code() const { return problem_code_; }
  // The whole document, for what it holds beyond its code.
  const std::string& problem() const { return problem_; }

  Exit exit_code(const Error& error) const;
  void report(const Error& error);

 private:
  Result<HttpReply> send_once(const Call& call);
  Result<HttpReply> check_reply(const Call& call, HttpReply reply);
  Result<void> reauthenticate();
  Error changed_certificate(const std::string& shown) const;
  Result<void> choose_server();
  Result<void> choose_credentials();
  Result<void> choose_output();
  Error dry_run(const Call& call);

  const Invocation& invocation_;
  Io& io_;
  HttpClient& http_;
  Env env_;
  Config config_;
  std::string server_;
  std::string context_name_;
  std::string token_;
  bool token_from_file_ = false;
  bool trusted_ = false;
  bool color_ = false;
  long timeout_s_ = 30;
  Output output_ = Output::table;
  std::optional<Exit> exit_;
  std::string problem_;  // the last problem document, as it came
  int problem_status_ = 0;
  std::string problem_code_;
};

// HTTP status and problem code → exit code.
Exit exit_for_status(int status, std::string_view code) noexcept;
Exit exit_for_error(Errc code) noexcept;

}  // namespace samovar::cli
