// api: any call of the API, for what has no command of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

// name=text, name:=json; a.b=text goes into an object.
Result<void> put_field(App& app, json& body, const std::string& field) {
  const std::size_t equals = field.find('=');
  if (equals == std::string::npos || equals == 0)
    return app.usage(fmt::format("--field is name=text or name:=json, not \"{}\"", field));
  const bool raw = field[equals - 1] == ':';
  std::string name = field.substr(0, raw ? equals - 1 : equals);
  json value = field.substr(equals + 1);
  if (raw) {
    value = json::parse(field.substr(equals + 1), nullptr, false);
    if (value.is_discarded()) return app.usage(fmt::format("\"{}\" is no JSON", field.substr(equals + 1)));
  }
  json* at = &body;
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
    at = &(*at)[name.substr(0, dot)];
    if (!at->is_null() && !at->is_object()) return app.usage(fmt::format("{} is set twice", field));
    name.erase(0, dot + 1);
  }
  (*at)[name] = std::move(value);
  return {};
}

Result<std::string> request_body(App& app, const Invocation& invocation) {
  const std::string input(invocation.flag("input"));
  if (input == "-") return app.io().read_all();
  if (!input.empty()) return read_file(input);
  json body;
  for (const std::string& field : invocation.all("field")) SAMOVAR_CHECK(put_field(app, body, field));
  return body.is_null() ? std::string() : body.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<void> api(App& app, const Invocation& invocation) {
  Call call;
  call.method = std::string(invocation.argument(0));
  std::transform(call.method.begin(), call.method.end(), call.method.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  std::string path(invocation.argument(1));
  if (path.starts_with("/api/v1/")) path.erase(0, 7);
  if (!path.starts_with("/")) path.insert(0, "/");
  // Only the routes under /api/v1 are the API; these few stand beside it.
  for (const char* outside : {"/healthz", "/readyz", "/metrics", "/openapi.json", "/ca.crt"}) {
    if (path == outside) path.insert(0, "/");
  }
  call.path = std::move(path);
  for (const std::string& header : invocation.all("header")) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos)
      return app.usage(fmt::format("--header is \"Name: value\", not \"{}\"", header));
    std::string value = header.substr(colon + 1);
    value.erase(0, value.find_first_not_of(' '));
    call.headers.emplace_back(header.substr(0, colon), std::move(value));
  }
  if (call.method == "GET" || call.method == "HEAD") {
    for (const std::string& field : invocation.all("field")) {
      const std::size_t equals = field.find('=');
      if (equals == std::string::npos)
        return app.usage(fmt::format("--field is name=text, not \"{}\"", field));
      call.query.emplace_back(field.substr(0, equals), field.substr(equals + 1));
    }
  } else {
    SAMOVAR_TRY(call.body, request_body(app, invocation));
    call.creates = call.method == "POST";
  }
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  if (reply.body.empty()) return {};
  const json value = json::parse(reply.body, nullptr, false);
  if (!value.is_discarded()) return print_json(app, value);
  app.io().out(reply.body);
  return {};
}

}  // namespace

void add_raw_api(Table& table) {
  table.commands.push_back(
      {"",
       "api",
       "Call the API directly",
       "Prints the answer's JSON unchanged. For GET the fields become the query, otherwise the JSON body.",
       {{"METHOD", "GET, POST, PUT, PATCH or DELETE", true, false, Complete::words,
         "GET|POST|PUT|PATCH|DELETE"},
        {"PATH", "Below /api/v1, such as /nodes; or /healthz, /readyz, /metrics, /openapi.json, /ca.crt"}},
       {{"field", 'f', "NAME=TEXT",
         "A field of the body or query; NAME:=JSON for numbers and such; may be repeated"},
        {"input", 0, "FILE", "Send this file as the body; - for stdin", {}, Complete::file},
        {"header", 'H', "NAME: VALUE", "One more header; may be repeated"}},
       {{"samovar api GET /nodes", ""},
        {"samovar api GET /metrics/history -f metric=cpu,watts -f range=1h", "with a query"},
        {"samovar api PATCH /cluster -f name=Ward-3 -H 'If-Match: \"4\"'", "with a body"}},
       &api});
}

}  // namespace samovar::cli
