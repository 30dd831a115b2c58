// tokens: keys for programs.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/suggest.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kTokens = {{"NAME", "/name"},
                                     {"USER", "/username"},
                                     {"SCOPES", "/scopes", Shape::list},
                                     {"EXPIRES", "/expires_at", Shape::time},
                                     {"LAST USED", "/last_used_at", Shape::time},
                                     {"ID", "/id"},
                                     {"FROM", "/cidr", Shape::text, true},
                                     {"CREATED", "/created_at", Shape::time, true}};

Result<void> create(App& app, const Invocation& invocation) {
  auto days = number_flag(invocation, "days", 90, 1, 365);
  if (!days) return app.usage(days.error().message());
  json body = {
      {"name", std::string(invocation.argument(0))}, {"scopes", json::array()}, {"expires_days", *days}};
  for (const std::string& scopes : invocation.all("scope")) {
    for (const std::string_view scope : split_words(scopes, ','))
      body["scopes"].push_back(std::string(scope));
  }
  if (body["scopes"].empty()) body["scopes"].push_back("read");
  if (invocation.has("cidr")) body["cidr"] = std::string(invocation.flag("cidr"));
  SAMOVAR_TRY(json made, app.post("/tokens", body));
  std::string secret = made.value("token", "");
  if (invocation.has("out")) {
    const std::string path(invocation.flag("out"));
    auto written = write_private_file(path, secret + "\n");
    if (!written) {
      return std::move(written).error().within(
          fmt::format("the token {} was made but not kept; revoke it", made.value("id", "")));
    }
    wipe(secret);
    made.erase("token");
    app.note(fmt::format("The token is in {}, readable by you only.", path));
  }
  if (app.json_like()) return print_json(app, made);
  if (!secret.empty()) {
    app.note("Shown once, keep it safe:");
    app.io().out(secret + "\n");
  }
  app.note(fmt::format("{} expires {} UTC; revoke it with: samovar tokens revoke {}",
                       cell_text(made, {"", "/name"}), cell_text(made, {"", "/expires_at", Shape::time}),
                       cell_text(made, {"", "/id"})));
  return {};
}

Query all_or_own(const Invocation& invocation) {
  return invocation.has("all") ? Query{{"all", "true"}} : Query{};
}

Result<void> list(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json tokens, app.get_list("/tokens", all_or_own(invocation)));
  return show_list(app, tokens, kTokens);
}

Result<void> revoke(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  SAMOVAR_CHECK(app.confirm(fmt::format("Revoking the token {}", id), id));
  Call call;
  call.method = "DELETE";
  call.path = "/tokens/" + url_encode(id);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  app.note(fmt::format("Revoked {}.", id));
  return {};
}

}  // namespace

void add_tokens(Table& table) {
  table.nouns.push_back({"tokens", "Keys for programs that use the API"});
  table.commands.push_back(
      {"tokens",
       "create",
       "Make a token for a program",
       "The token is printed once on stdout, or written to a file only you can read. It can do no more than "
       "you can.",
       {{"NAME", "What the token is for"}},
       {{"scope", 0, "SCOPE",
         "What it may do, repeated or with commas: read, write, predict, metrics (default read)"},
        {"days", 0, "DAYS", "How long it lives, 1 to 365 (default 90)"},
        {"cidr", 0, "NETWORK", "From where it may be used, such as 192.168.1.0/24"},
        {"out", 0, "FILE", "Write the token to this file instead of stdout", {}, Complete::file}},
       {{"samovar tokens create grafana --scope metrics --out grafana.token", ""},
        {"samovar tokens create etl --scope read,write --days 30 --cidr 192.168.1.7/32", ""}},
       &create});
  table.commands.push_back({"tokens",
                            "list",
                            "List your tokens",
                            "",
                            {},
                            {{"all", 'a', {}, "Those of all users (administrators)"}},
                            {{"samovar tokens list", ""}},
                            &list});
  table.commands.push_back({"tokens",
                            "revoke",
                            "Make a token useless at once",
                            "",
                            {{"ID", "Id of the token", true, false, Complete::tokens}},
                            {},
                            {{"samovar tokens revoke tok_01JCD --yes", ""}},
                            &revoke});
}

}  // namespace samovar::cli
