// App's calls of the API: trust on first use, problems into errors, asking the password again.
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/trust.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

std::string random_key() {
  unsigned char bytes[16] = {};
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string url_of(const std::string& server, const Call& call) {
  std::string url = server + (call.path.starts_with("//") ? call.path.substr(1) : "/api/v1" + call.path);
  char separator = call.path.find('?') == std::string::npos ? '?' : '&';
  for (const auto& entry : call.query) {
    url += fmt::format("{}{}={}", separator, url_encode(entry.first), url_encode(entry.second));
    separator = '&';
  }
  return url;
}

bool is_safe(const std::string& method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

// Fields that are never shown, not even in a dry run.
void mask_secrets(json& value) {
  if (!value.is_structured()) return;
  for (auto entry = value.begin(); entry != value.end(); ++entry) {
    const std::string key = value.is_object() ? entry.key() : std::string();
    const bool secret = key.find("password") != std::string::npos || key == "passphrase" || key == "code" ||
                        key == "setup_code" || key == "words";
    if (secret && entry->is_string()) {
      *entry = "********";
    } else {
      mask_secrets(*entry);
    }
  }
}

// What the person can do about it, where the server's own words do not say.
std::string remedy(int status, std::string_view code, bool logged_in) {
  if (code == "not_set_up") return "; set the box up first: samovar init";
  if (code == "locked") return "; unlock it: samovar unlock";
  if (status == 401 && code != "wrong_credentials") {
    return logged_in ? "; the session is over: samovar login" : "; log in first: samovar login";
  }
  if (code == "reauth_required") return "; log in with your password: samovar login";
  return {};
}

}  // namespace

Error App::dry_run(const Call& call) {
  json body = json::parse(call.body, nullptr, false);
  mask_secrets(body);
  json document = {{"method", call.method}, {"path", url_of("", call)}};
  if (!body.is_discarded()) document["body"] = body;
  io_.out(document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  note("dry run: nothing was sent");
  return stop(Exit::ok);
}

Error App::changed_certificate(const std::string& shown) const {
  return Error{
      Errc::denied,
      fmt::format("THE CERTIFICATE OF {0} HAS CHANGED\n"
                  "  expected {1}\n  shown    {2}\n"
                  "Nothing was sent. Somebody may be between you and the box, or the box was reset.\n"
                  "Compare the fingerprint on the box's console (\"journalctl -u samovard\"); if it is the "
                  "one shown, run:\n"
                  "  samovar login --server {0} --fingerprint {2}",
                  server_, config_.contexts.at(context_name_).pin.leaf_sha256, shown)};
}

Result<void> App::ensure_trust() {
  if (trusted_) return {};
  std::string wanted;
  if (invocation_.has("fingerprint")) {
    auto normal = normalize_fingerprint(invocation_.flag("fingerprint"));
    if (!normal) return usage(normal.error().message());
    wanted = *normal;
  }
  const auto known = config_.contexts.find(context_name_);
  if (wanted.empty() && known != config_.contexts.end() && !known->second.pin.leaf_sha256.empty()) {
    trusted_ = true;
    return {};
  }
  HttpRequest probe;
  probe.url = server_ + "/api/v1/setup";
  probe.timeout_s = timeout_s_;
  SAMOVAR_TRY(HttpReply seen, http_.send(probe));
  const std::string& shown = seen.leaf_sha256;
  if (shown.empty()) return Error{Errc::io, fmt::format("{} showed no certificate", server_)};
  if (!wanted.empty() && wanted != shown) {
    return Error{
        Errc::denied,
        fmt::format("{} shows another certificate than --fingerprint says\n  expected {}\n  shown    {}\n"
                    "Nothing was sent. Compare it with the one on the box's console.",
                    server_, wanted, shown)};
  }
  if (wanted.empty() && !invocation_.has("yes")) {
    io_.err(fmt::format("First contact with {}. The box shows the certificate with SHA-256\n  {}\n", server_,
                        shown));
    if (!may_ask() || !io_.in_is_terminal()) {
      return usage(
          "the box is not known yet: compare the fingerprint with its console and add --fingerprint, or "
          "trust it with --yes");
    }
    SAMOVAR_TRY(std::string answer, io_.ask("Is it the one on the box's console? [y/N] "));
    if (answer != "y" && answer != "Y" && answer != "yes") return usage("not trusted; nothing was sent");
  }
  Context& box = context();
  box.server = server_;
  box.pin = Pin{shown, {}};
  // The web root comes over the connection just pinned; kept only if the shown leaf really chains to it.
  HttpRequest fetch;
  fetch.url = server_ + "/ca.crt";
  fetch.timeout_s = timeout_s_;
  fetch.pin = box.pin;
  SAMOVAR_TRY(HttpReply root, http_.send(fetch));
  if (root.status == 200 && pem_fingerprint(root.body)) {
    fetch.pin = Pin{{}, root.body};
    SAMOVAR_TRY(HttpReply proof, http_.send(fetch));
    if (!proof.untrusted) box.pin.root_pem = root.body;
  }
  trusted_ = true;
  return save();
}

Result<HttpReply> App::send_once(const Call& call) {
  HttpRequest request;
  request.method = call.method;
  request.url = url_of(server_, call);
  request.headers = call.headers;
  request.body = call.body;
  request.timeout_s = timeout_s_;
  request.on_data = call.on_data;
  request.read_body = call.read_body;
  request.read_bytes = call.read_bytes;
  request.go_on = call.go_on;
  request.pin = context().pin;
  request.headers.emplace_back("Accept", "application/json");
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  if (!call.anonymous && !token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  if (invocation_.has("verbose")) note(fmt::format("> {} {}", request.method, request.url));
  auto reply = http_.send(request);
  wipe(request.body);
  if (!reply) return reply;
  if (invocation_.has("verbose")) note(fmt::format("< {}", reply->status));
  if (reply->untrusted) return changed_certificate(reply->leaf_sha256);
  if (reply->leaf_sha256 != context().pin.leaf_sha256 && !reply->leaf_sha256.empty()) {
    // Renewed under the pinned root: from now on this is the leaf.
    context().pin.leaf_sha256 = reply->leaf_sha256;
    SAMOVAR_CHECK(save());
  }
  return reply;
}

Result<HttpReply> App::check_reply(const Call& call, HttpReply reply) {
  if (reply.status / 100 == 2 || reply.status == 304) return reply;
  const json document = json::parse(reply.body, nullptr, false);
  problem_status_ = reply.status;
  if (!document.is_object() || !document.contains("code")) {
    return Error{Errc::internal, fmt::format("{} {} answered {}: is {} a Samovar box?", call.method,
                                             call.path, reply.status, server_)};
  }
  problem_ = document.dump(-1, ' ', false, json::error_handler_t::replace);
  problem_code_ = document["code"].is_string() ? document["code"].get<std::string>() : "";
  const auto text = [&](const json& from, const char* key) {
    return from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : std::string();
  };
  std::string message = text(document, "detail");
  if (message.empty()) message = text(document, "title");
  if (document.contains("errors") && document["errors"].is_array()) {
    for (const json& error : document["errors"]) {
      if (!error.is_object()) continue;
      // A single fault is the whole detail: then only where it lies is missing.
      if (text(error, "detail") == message)
        message += fmt::format(" ({})", text(error, "pointer"));
      else
        message += fmt::format("\n  {}: {}", text(error, "pointer"), text(error, "detail"));
    }
  }
  message += remedy(reply.status, problem_code_, logged_in());
  if (reply.status == 429 && !reply.header("retry-after").empty()) {
    message += fmt::format("; try again in {} s", reply.header("retry-after"));
  }
  const Errc code = reply.status == 404 ? Errc::not_found : Errc::denied;
  return Error{code, std::move(message)};
}

Result<void> App::reauthenticate() {
  note("This needs your password once more.");
  SAMOVAR_TRY(std::string password,
              secret("", fmt::format("Password of {}",
                                     context().username.empty() ? "your account" : context().username)));
  Call again;
  again.method = "POST";
  again.path = "/session:reauth";
  again.body = json{{"password", password}}.dump(-1, ' ', false, json::error_handler_t::replace);
  wipe(password);
  auto reply = send_once(again);
  wipe(again.body);
  if (!reply) return std::move(reply).error();
  auto checked = check_reply(again, *std::move(reply));
  if (!checked) return std::move(checked).error();
  return {};
}

Result<HttpReply> App::call(Call call) {
  if (invocation_.has("dry-run") && !is_safe(call.method) && call.path != "/session:reauth")
    return dry_run(call);
  if (call.creates) call.headers.emplace_back("Idempotency-Key", random_key());
  SAMOVAR_CHECK(ensure_trust());
  problem_.clear();
  problem_code_.clear();
  problem_status_ = 0;
  auto reply = send_once(call);
  if (reply && reply->status == 403 && !call.read_body && !token_.empty() && !token_from_file_ && may_ask() &&
      io_.in_is_terminal()) {
    const json document = json::parse(reply->body, nullptr, false);
    if (document.is_object() && document.value("code", "") == "reauth_required") {
      SAMOVAR_CHECK(reauthenticate());
      // A refused request was never begun, so the same key may be used again.
      reply = send_once(call);
    }
  }
  wipe(call.body);
  if (!reply) return reply;
  return check_reply(call, *std::move(reply));
}

Result<json> App::get(std::string path, Query query) {
  Call what;
  what.path = std::move(path);
  what.query = std::move(query);
  SAMOVAR_TRY(HttpReply reply, call(std::move(what)));
  json value = json::parse(reply.body, nullptr, false);
  if (value.is_discarded())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  return value;
}

Result<json> App::get_list(const std::string& path, const Query& query, long limit) {
  json all = {{"items", json::array()}, {"next_cursor", nullptr}};
  std::string cursor;
  do {
    Query page = query;
    const long left = limit == 0 ? 200 : limit - static_cast<long>(all["items"].size());
    page.emplace_back("limit", std::to_string(std::min(left, 200L)));
    if (!cursor.empty()) page.emplace_back("cursor", cursor);
    SAMOVAR_TRY(json answer, get(path, page));
    if (!answer.is_object() || !answer.contains("items") || !answer["items"].is_array()) {
      return Error{Errc::corrupt, "the box's answer is no list: is the CLI as new as the box?"};
    }
    for (json& item : answer["items"]) all["items"].push_back(std::move(item));
    cursor = answer.contains("next_cursor") && answer["next_cursor"].is_string()
                 ? answer["next_cursor"].get<std::string>()
                 : "";
    if (!cursor.empty() && answer["items"].empty()) break;
  } while (!cursor.empty() && (limit == 0 || static_cast<long>(all["items"].size()) < limit));
  if (!cursor.empty()) all["next_cursor"] = cursor;
  return all;
}

Result<json> App::ask_anonymously(std::string method, std::string path, const json& body) {
  Call what;
  what.method = std::move(method);
  what.path = std::move(path);
  what.anonymous = true;
  if (!body.is_null()) what.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  SAMOVAR_TRY(HttpReply reply, call(std::move(what)));
  if (reply.body.empty()) return json();
  json value = json::parse(reply.body, nullptr, false);
  if (value.is_discarded())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  return value;
}

Result<json> App::post(std::string path, const json& body) {
  Call what;
  what.method = "POST";
  what.path = std::move(path);
  what.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  what.creates = true;
  SAMOVAR_TRY(HttpReply reply, call(std::move(what)));
  if (reply.body.empty()) return json();
  json value = json::parse(reply.body, nullptr, false);
  if (value.is_discarded())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  return value;
}

}  // namespace samovar::cli
