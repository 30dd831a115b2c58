// join: on a new machine, into a cluster that invited it with five words, typed or carried over in a file.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/config.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr long kPollMs = 500;

// What "samovar peers invite --file" wrote on another machine. The digest in it is not optional: whoever
// could swap the stick could else bring the words of a cluster of their own.
Result<json> read_invitation(const std::string& path) {
  SAMOVAR_TRY(std::string text, read_file(path));
  json file = json::parse(text, nullptr, false);
  wipe(text);
  const auto is_text = [&](const char* key) { return file.contains(key) && file[key].is_string(); };
  if (!file.is_object() || !is_text("words") || !is_text("ca_digest"))
    return Error{Errc::invalid,
                 fmt::format("{} is not an invitation: make one on a member with \"samovar peers invite "
                             "--file PATH\"",
                             path)};
  return json{{"words", std::move(file["words"])}, {"ca_digest", std::move(file["ca_digest"])}};
}

Result<json> read_request(App& app, const Invocation& invocation) {
  json body = json::object();
  if (invocation.has("file")) {
    SAMOVAR_TRY(body, read_invitation(std::string(invocation.flag("file"))));
    SAMOVAR_TRY(body["setup_code"],
                app.secret("setup-code-stdin", "Setup code from this machine's console or journal"));
    return body;
  }
  if (app.may_ask()) {
    SAMOVAR_TRY(body["setup_code"], app.secret("", "Setup code from this machine's console or journal"));
    SAMOVAR_TRY(body["words"], app.io().ask("The five words of \"samovar peers invite\": "));
    return body;
  }
  SAMOVAR_TRY(std::string text, app.io().read_all());
  body = json::parse(text, nullptr, false);
  wipe(text);
  if (!body.is_object())
    return app.usage("--no-input reads a JSON object from stdin: {\"setup_code\",\"words\"}");
  return body;
}

Result<void> join(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json setup, app.ask_anonymously("GET", "/setup", json()));
  if (setup.value("phase", "") != "new") {
    return Error{
        Errc::conflict,
        fmt::format("{} belongs to a cluster already: only a new machine can join one", app.server())};
  }
  SAMOVAR_TRY(json body, read_request(app, invocation));
  if (invocation.has("ca-digest")) body["ca_digest"] = std::string(invocation.flag("ca-digest"));
  SAMOVAR_TRY(json answer, app.ask_anonymously("POST", "/setup:join", body));
  if (invocation.has("no-wait")) {
    if (app.json_like() && !answer.is_null()) return print_json(app, answer);
    app.note("Joining; \"samovar status\" shows how far it is.");
    return {};
  }
  SAMOVAR_TRY(long seconds, number_flag(invocation, "wait", 120, 1, 3600));
  for (long waited_ms = 0; waited_ms < seconds * 1000; waited_ms += kPollMs) {
    SAMOVAR_TRY(setup, app.ask_anonymously("GET", "/setup", json()));
    const std::string phase = setup.value("phase", "");
    if (phase == "ready") {
      if (app.json_like()) return print_json(app, setup);
      app.note("This machine is a member now. Log in as on every other node: samovar login");
      return {};
    }
    if (!app.io().pause_ms(kPollMs)) return app.stop(Exit::interrupted);
  }
  return Error{
      Errc::timeout,
      fmt::format("not a member after {} s: is \"samovar peers invite\" on the cluster's side still good, "
                  "and what does \"samovar doctor\" say here?",
                  seconds)};
}

}  // namespace

void add_join(Table& table) {
  table.commands.push_back(
      {"",
       "join",
       "Join this new machine to a cluster, with five words from there",
       "For machines without a screen. An administrator of the cluster makes the words with \"samovar peers "
       "invite\"; the set-up code is on this machine's console and in its journal. With --no-input both are "
       "read as "
       "JSON from stdin. --file takes the words from a file that was carried over on a stick. With a screen "
       "it is simpler: approve the machine there with \"samovar peers "
       "approve\".",
       {},
       {{"ca-digest", 0, "DIGEST",
         "Join only the cluster whose CA has the digest that \"samovar peers invite\" showed"},
        {"file",
         0,
         "PATH",
         "The file of \"samovar peers invite --file\", instead of typing the words",
         {},
         Complete::file},
        {"setup-code-stdin", 0, {}, "With --file: read the set-up code from the first line of stdin"},
        {"no-wait", 0, {}, "Do not wait until it is a member"},
        {"wait", 0, "SECONDS", "Wait at most so long (default 120)"}},
       {{"samovar join", "asks for the code and the words"},
        {"samovar join --file /media/stick/invitation", "words from a stick; asks for the code"},
        {"samovar join --no-input < join.json", "from a script"}},
       &join});
}

}  // namespace samovar::cli
