// login, logout, whoami.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kWhoami = {{"User", "/user/username"},
                                     {"Name", "/user/display_name"},
                                     {"Role", "/user/role"},
                                     {"Kind", "/kind"},
                                     {"Session", "/id"},
                                     {"Since", "/created_at", Shape::time},
                                     {"Until", "/expires_at", Shape::time},
                                     {"Password fresh until", "/reauth_until", Shape::time},
                                     {"Last login", "/last_login/at", Shape::time},
                                     {"From", "/last_login/address"}};

Result<void> login(App& app, const Invocation& invocation) {
  // First the trust, then the secret: nobody types a password for a box that is then refused.
  SAMOVAR_CHECK(app.ensure_trust());
  std::string username(invocation.flag("username", app.context().username));
  if (username.empty()) {
    if (!app.may_ask()) return app.usage("--no-input: say who logs in with --username");
    SAMOVAR_TRY(username, app.io().ask("User name: "));
  }
  SAMOVAR_TRY(std::string password, app.secret("password-stdin", fmt::format("Password of {}", username)));
  json body = {{"username", username}, {"password", password}, {"transport", "bearer"}};
  wipe(password);
  Call call;
  call.method = "POST";
  call.path = "/session";
  call.anonymous = true;
  call.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  wipe(body["password"].get_ref<std::string&>());
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  json session = json::parse(reply.body, nullptr, false);
  if (!session.is_object() || !session.contains("session_token") || !session["session_token"].is_string()) {
    return Error{Errc::corrupt, "the box gave no session token: is the CLI as new as the box?"};
  }
  SAMOVAR_CHECK(
      save_session(app.env().config_dir, app.context_name(), session["session_token"].get<std::string>()));
  app.context().server = app.server();
  app.context().username = username;
  app.config().current = app.context_name();
  SAMOVAR_CHECK(app.save());
  session.erase("session_token");
  if (app.json_like()) return print_json(app, session);
  app.note(fmt::format("Logged in to {} as {} ({}).", app.server(), printable(username),
                       printable(session.value("/user/role"_json_pointer, "?"))));
  const std::string last = cell_text(session, {"", "/last_login/at", Shape::time});
  if (session.contains("last_login") && session["last_login"].is_object()) {
    app.note(
        fmt::format("Last login: {} UTC from {}.", last, cell_text(session, {"", "/last_login/address"})));
  }
  return {};
}

Result<void> logout(App& app, const Invocation&) {
  if (!app.logged_in()) {
    app.note("You are not logged in.");
    return {};
  }
  Call call;
  call.method = "DELETE";
  call.path = "/session";
  auto ended = app.call(std::move(call));
  if (app.invocation().has("dry-run")) return std::move(ended).error();
  // The local token goes in any case: staying logged in here because the box is away helps nobody.
  SAMOVAR_CHECK(remove_session(app.env().config_dir, app.context_name()));
  if (!ended && app.exit_code(ended.error()) != Exit::denied) {
    app.warn("the token was deleted here, but the box could not be told; its session ends by itself");
    return std::move(ended).error();
  }
  app.note(fmt::format("Logged out of {}.", app.server()));
  return {};
}

Result<void> whoami(App& app, const Invocation&) {
  SAMOVAR_TRY(json session, app.get("/session"));
  return show_record(app, session, kWhoami);
}

}  // namespace

void add_session(Table& table) {
  table.commands.push_back({"",
                            "login",
                            "Log in to a box",
                            "On first contact the certificate's SHA-256 fingerprint is shown and, once you "
                            "agree, pinned together with the box's "
                            "web root. A renewed certificate under that root is accepted later; any other "
                            "one is refused. The session token is "
                            "kept in a file only you can read.",
                            {},
                            {{"username", 'u', "NAME", "Who logs in"},
                             {"password-stdin", 0, {}, "Read the password from the first line of stdin"}},
                            {{"samovar login", "log in to the box on this machine"},
                             {"samovar login --server https://box.local:8443 --context lab -u mara",
                              "a box on the network, under a name"},
                             {"samovar login -u mara --password-stdin < password.txt", "from a script"}},
                            &login});
  table.commands.push_back(
      {"", "logout", "End the session here and on the box", "", {}, {}, {{"samovar logout", ""}}, &logout});
  table.commands.push_back({"",
                            "whoami",
                            "Show who is logged in",
                            "",
                            {},
                            {},
                            {{"samovar whoami", ""}, {"samovar whoami --json=user", "only the account"}},
                            &whoami});
}

}  // namespace samovar::cli
