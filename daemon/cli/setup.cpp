// init and unlock: what a box needs before anybody can log in.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::string_view kUnlockChoice =
    "\nHow shall the box unlock its data after a restart?\n"
    "  1  passphrase  Somebody enters it after each restart. A thief who takes the box reads nothing.\n"
    "  2  key_file    By itself, from a key file on its own disk. RISK: whoever takes the box or its disk\n"
    "                 can read everything on it. Choose it only where the box is locked away.\n";

Result<std::string> ask_or_flag(App& app, std::string_view flag, std::string_view question,
                                std::string otherwise) {
  if (app.invocation().has(flag)) return std::string(app.invocation().flag(flag));
  SAMOVAR_TRY(std::string answer,
              app.io().ask(otherwise.empty() ? fmt::format("{}: ", question)
                                             : fmt::format("{} [{}]: ", question, otherwise)));
  return answer.empty() ? std::move(otherwise) : std::move(answer);
}

std::string local_time_zone() {
  auto name = read_file("/etc/timezone");
  if (!name || name->empty()) return "UTC";
  while (!name->empty() && name->back() == '\n') name->pop_back();
  return *name;
}

Result<json> ask_unlock(App& app) {
  std::string mode(app.invocation().flag("unlock"));
  if (mode.empty()) {
    app.io().err(kUnlockChoice);
    SAMOVAR_TRY(std::string answer, app.io().ask("1 or 2 [1]: "));
    mode = answer == "2" || answer == "key_file"                       ? "key_file"
           : answer.empty() || answer == "1" || answer == "passphrase" ? "passphrase"
                                                                       : "";
    if (mode.empty()) return app.usage("answer 1 or 2; nothing was changed");
  }
  if (mode == "key_file") {
    app.warn("with a key file, whoever takes the box can read its data");
    return json{{"mode", mode}};
  }
  app.note("The passphrase cannot be recovered: keep a copy in a safe.");
  SAMOVAR_TRY(std::string passphrase, app.secret("", "Passphrase to unlock the box", true));
  return json{{"mode", mode}, {"passphrase", passphrase}};
}

Result<json> ask_setup(App& app, const json& setup) {
  if (app.io().in_is_terminal()) {
    app.note(fmt::format("Setting up {} ({}).", app.server(),
                         printable(setup.value("/node/hostname"_json_pointer, "a box"))));
  }
  json body;
  SAMOVAR_TRY(std::string code, app.secret("", "Setup code from the box's console or journal"));
  body["code"] = code;
  if (!app.invocation().has("dry-run")) {
    auto checked = app.ask_anonymously("POST", "/setup:check", json{{"code", code}});
    if (!checked) return checked;
  }
  SAMOVAR_TRY(body["box_name"], ask_or_flag(app, "box-name", "Name of the box",
                                            setup.value("/node/hostname"_json_pointer, "samovar")));
  SAMOVAR_TRY(body["time_zone"], ask_or_flag(app, "time-zone", "Time zone", local_time_zone()));
  SAMOVAR_TRY(std::string admin, ask_or_flag(app, "admin", "User name of the first administrator", "admin"));
  SAMOVAR_TRY(std::string display, ask_or_flag(app, "display-name", "Full name", admin));
  SAMOVAR_TRY(std::string password, app.secret("", "Password, at least 12 characters", true));
  body["admin"] = {{"username", admin}, {"display_name", display}, {"password", password}};
  wipe(password);
  SAMOVAR_TRY(body["unlock"], ask_unlock(app));
  return body;
}

Result<void> init(App& app, const Invocation&) {
  SAMOVAR_TRY(json setup, app.ask_anonymously("GET", "/setup", json()));
  const std::string phase = setup.value("phase", "");
  if (phase != "new") {
    app.note(fmt::format("{} is set up already ({}).", app.server(), printable(phase)));
    return Error{
        Errc::conflict,
        "the box is set up already: log in with \"samovar login\", or \"samovar unlock\" if it is locked"};
  }
  json body;
  if (!app.may_ask()) {
    SAMOVAR_TRY(std::string text, app.io().read_all());
    body = json::parse(text, nullptr, false);
    wipe(text);
    if (!body.is_object()) {
      return app.usage(
          "--no-input reads a JSON object from stdin: "
          "{\"code\",\"box_name\",\"time_zone\",\"admin\":{\"username\","
          "\"display_name\",\"password\"},\"unlock\":{\"mode\",\"passphrase\"}}");
    }
  } else {
    SAMOVAR_TRY(body, ask_setup(app, setup));
  }
  const std::string admin = body.value("/admin/username"_json_pointer, "admin");
  SAMOVAR_TRY(json made, app.ask_anonymously("POST", "/setup", body));
  if (app.json_like()) return print_json(app, made);
  app.note(fmt::format("Done: \"{}\" is ready. Next: samovar login -u {}",
                       printable(made.value("/cluster/name"_json_pointer, "")), printable(admin)));
  return {};
}

Result<void> unlock(App& app, const Invocation&) {
  SAMOVAR_TRY(json setup, app.ask_anonymously("GET", "/setup", json()));
  const std::string phase = setup.value("phase", "");
  if (phase == "ready" || phase == "starting") {
    app.note("The box is not locked.");
    return {};
  }
  SAMOVAR_TRY(std::string passphrase, app.secret("passphrase-stdin", "Passphrase of the box"));
  auto done = app.ask_anonymously("POST", "/unlock", json{{"passphrase", passphrase}});
  wipe(passphrase);
  if (!done) return std::move(done).error();
  app.note("Unlocked.");
  return {};
}

}  // namespace

void add_setup(Table& table) {
  table.commands.push_back(
      {"",
       "init",
       "Set up a new box with the code on its console",
       "Names the box, makes the first administrator and chooses how the box unlocks after a restart. The "
       "code is printed "
       "on the box's console and in its journal at first start. Nothing secret is taken from the command "
       "line: with "
       "--no-input the whole request is read as JSON from stdin.",
       {},
       {{"box-name", 0, "NAME", "Name of the box"},
        {"time-zone", 0, "ZONE", "Time zone, such as Europe/Berlin"},
        {"admin", 0, "NAME", "User name of the first administrator"},
        {"display-name", 0, "TEXT", "The administrator's full name"},
        {"unlock", 0, "MODE", "How it unlocks after a restart", "passphrase|key_file", Complete::words}},
       {{"samovar init", "set up the box on this machine"},
        {"samovar init --server https://192.168.1.20:8443", "set up a box over the network"},
        {"samovar init --no-input --yes < setup.json", "from a script"}},
       &init});
  table.commands.push_back({"",
                            "unlock",
                            "Enter the passphrase of a box that was restarted",
                            "",
                            {},
                            {{"passphrase-stdin", 0, {}, "Read the passphrase from the first line of stdin"}},
                            {{"samovar unlock", "asks for the passphrase"}},
                            &unlock});
}

}  // namespace samovar::cli
