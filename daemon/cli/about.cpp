// completion, version, help; hidden: __complete, __man, __reference, from which packages and docs are made.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/texts.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

Result<void> version(App& app, const Invocation&) {
  if (app.json_like()) return print_json(app, json{{"version", SAMOVAR_VERSION}, {"api", "v1"}});
  app.io().out("samovar " SAMOVAR_VERSION "\n");
  return {};
}

Result<void> help(App& app, const Invocation& invocation) {
  std::string topic;
  for (const std::string& word : invocation.arguments) topic += (topic.empty() ? "" : " ") + word;
  auto text = help_text(table(), topic);
  if (!text) return app.usage(text.error().message());
  app.io().out(*text);
  return {};
}

Result<void> completion(App& app, const Invocation& invocation) {
  auto script = completion_script(invocation.argument(0));
  if (!script) return app.usage(script.error().message());
  app.io().out(*script);
  return {};
}

struct Source {
  Complete kind;
  const char* path;
  const char* word;
  const char* hint;
};

constexpr Source kSources[] = {{Complete::nodes, "/nodes", "/name", "/model"},
                               {Complete::peers, "/peers", "/short_id", "/hostname"},
                               {Complete::users, "/users", "/username", "/role"},
                               {Complete::tokens, "/tokens", "/id", "/name"},
                               {Complete::sessions, "/sessions", "/id", "/address"},
                               {Complete::datasets, "/datasets", "/name", "/id"},
                               {Complete::uploads, "/uploads", "/id", "/file_name"},
                               {Complete::operations, "/operations", "/id", "/title"},
                               {Complete::jobs, "/jobs", "/id", "/name"},
                               {Complete::models, "/models", "/name", "/kind"},
                               {Complete::scorings, "/scorings", "/id", "/model"}};

Result<void> complete(App& app, const Invocation& invocation) {
  const Candidates found = candidates(table(), invocation.arguments);
  std::string out;
  for (const auto& word : found.words) out += word.first + "\t" + word.second + "\n";
  if (found.dynamic == Complete::file) out += ":file\n";
  if (found.dynamic == Complete::contexts) {
    for (const auto& entry : app.config().contexts) out += entry.first + "\t" + entry.second.server + "\n";
  }
  for (const Source& source : kSources) {
    // Asking a stranger or asking for a password in the middle of a completion would be wrong.
    if (source.kind != found.dynamic || !app.logged_in() || app.context().pin.leaf_sha256.empty()) continue;
    auto list = app.get(source.path, {{"limit", "200"}});
    if (!list || !list->is_object() || !list->contains("items")) continue;
    for (const json& item : (*list)["items"]) {
      out += cell_text(item, {"", source.word}) + "\t" + cell_text(item, {"", source.hint}) + "\n";
    }
  }
  app.io().out(out);
  return {};
}

Result<void> man(App& app, const Invocation& invocation) {
  if (invocation.arguments.empty()) {
    for (const std::string& page : man_pages(table())) app.io().out(page + "\n");
    return {};
  }
  SAMOVAR_TRY(std::string page, man_page(table(), invocation.argument(0)));
  app.io().out(page);
  return {};
}

Result<void> reference(App& app, const Invocation&) {
  app.io().out(reference_markdown(table()));
  return {};
}

}  // namespace

void add_about(Table& table) {
  auto& rows = table.commands;
  rows.push_back({"",
                  "completion",
                  "Print a completion script for your shell",
                  "The package installs them already.",
                  {{"SHELL", "Which shell", true, false, Complete::words, "bash|zsh|fish"}},
                  {},
                  {{"source <(samovar completion bash)", "for this shell"},
                   {"samovar completion fish > ~/.config/fish/completions/samovar.fish", ""}},
                  &completion});
  rows.push_back({"", "version", "Print the version", "", {}, {}, {{"samovar version", ""}}, &version});
  rows.push_back({"",
                  "help",
                  "Show help for a command",
                  "",
                  {{"COMMAND", "Noun, command, or both", false, true, Complete::commands}},
                  {},
                  {{"samovar help", ""}, {"samovar help users add", ""}},
                  &help});
  rows.push_back({"", "__complete", "", "", {{"WORD", "", false, true}}, {}, {}, &complete, true});
  rows.push_back({"", "__man", "", "", {{"PAGE", "", false}}, {}, {}, &man, true});
  rows.push_back({"", "__reference", "", "", {}, {}, {}, &reference, true});
}

}  // namespace samovar::cli
