// context: the boxes this account knows. Purely local; no box is asked.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

Result<void> list(App& app, const Invocation&) {
  json all = {{"items", json::array()}, {"next_cursor", nullptr}};
  for (const auto& entry : app.config().contexts) {
    all["items"].push_back({{"name", entry.first},
                            {"server", entry.second.server},
                            {"username", entry.second.username},
                            {"fingerprint", entry.second.pin.leaf_sha256},
                            {"current", entry.first == app.config().current}});
  }
  return show_list(app, all,
                   {{"NAME", "/name"},
                    {"SERVER", "/server"},
                    {"USER", "/username"},
                    {"CURRENT", "/current", Shape::yes},
                    {"FINGERPRINT", "/fingerprint", Shape::text, true}},
                   "/name");
}

Result<std::string> known(App& app, const Invocation& invocation) {
  const std::string name(invocation.argument(0));
  if (app.config().contexts.count(name) == 0) {
    return Error{Errc::not_found,
                 fmt::format("no context \"{}\"; \"samovar context list\" shows them", name)};
  }
  return name;
}

Result<void> use(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(app.config().current, known(app, invocation));
  SAMOVAR_CHECK(app.save());
  app.note(fmt::format("Commands now talk to {}.", app.config().current));
  return {};
}

Result<void> remove(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(std::string name, known(app, invocation));
  SAMOVAR_CHECK(remove_session(app.env().config_dir, name));
  app.config().contexts.erase(name);
  if (app.config().current == name) app.config().current.clear();
  SAMOVAR_CHECK(app.save());
  app.note(fmt::format("Forgot {}: its fingerprint and session.", name));
  return {};
}

}  // namespace

void add_context(Table& table) {
  const Argument name{"NAME", "Name of a known box", true, false, Complete::contexts};
  table.nouns.push_back({"context", "The boxes this account knows"});
  table.commands.push_back(
      {"context", "list", "List the known boxes", "", {}, {}, {{"samovar context list", ""}}, &list});
  table.commands.push_back({"context",
                            "use",
                            "Choose the box that commands talk to",
                            "",
                            {name},
                            {},
                            {{"samovar context use lab", ""}},
                            &use});
  table.commands.push_back({"context",
                            "remove",
                            "Forget a box: its fingerprint and session",
                            "",
                            {name},
                            {},
                            {{"samovar context remove lab", ""}},
                            &remove});
}

}  // namespace samovar::cli
