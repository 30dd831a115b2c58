#include <string>

#include "daemon/cli/command.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {
namespace {

Table build() {
  Table table;
  table.global_flags = {
      {"output", 'o', "FORMAT", "How to print: a table, a wider one, JSON, JSON lines or CSV",
       "table|wide|json|jsonl|csv", Complete::words},
      {"json",
       0,
       "FIELDS",
       "Same as --output json; --json=id,name keeps only these fields",
       {},
       Complete::none,
       true},
      {"server", 's', "URL", "Which box to talk to, such as https://192.168.1.20:8443"},
      {"context",
       0,
       "NAME",
       "Which known box to talk to, by the name given at login",
       {},
       Complete::contexts},
      {"token-file",
       0,
       "FILE",
       "Use the API token in this file instead of the login session",
       {},
       Complete::file},
      {"fingerprint", 0, "SHA256", "Trust the box only if its certificate has this fingerprint"},
      {"timeout", 0, "SECONDS", "Give up on an answer after this long (default 30)"},
      {"yes", 'y', {}, "Agree beforehand to what would be asked"},
      {"no-input", 0, {}, "Never ask; fail where an answer would be needed"},
      {"dry-run", 0, {}, "Show the request that would change something, and do not send it"},
      {"quiet", 'q', {}, "Print no notes; of lists only the ids"},
      {"no-color", 0, {}, "Do not use colours"},
      {"verbose", 'v', {}, "Say on stderr what is asked from the box"},
      {"help", 'h', {}, "Show help for the command"},
  };
  add_setup(table);
  add_status(table);
  add_session(table);
  add_context(table);
  add_join(table);
  add_doctor(table);
  add_nodes(table);
  add_peers(table);
  add_power(table);
  add_data_upload(table);
  add_data(table);
  add_train(table);
  add_jobs(table);
  add_models(table);
  add_predict(table);
  add_scorings(table);
  add_operations(table);
  add_users(table);
  add_tokens(table);
  add_sessions(table);
  add_audit(table);
  add_raw_api(table);
  add_about(table);
  return table;
}

}  // namespace

const Table& table() {
  static const Table kBuilt = build();
  return kBuilt;
}

const Command* Table::find(std::string_view noun, std::string_view name) const noexcept {
  for (const Command& command : commands) {
    if (command.noun == noun && command.name == name) return &command;
  }
  return nullptr;
}

const Noun* Table::find_noun(std::string_view name) const noexcept {
  for (const Noun& noun : nouns) {
    if (noun.name == name) return &noun;
  }
  return nullptr;
}

std::string synopsis(const Command& command) {
  std::string text = "samovar ";
  if (!command.noun.empty()) text += std::string(command.noun) + " ";
  text += command.name;
  for (const Argument& argument : command.arguments) {
    const std::string name = std::string(argument.name) + (argument.many ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + " [flags]";
}

}  // namespace samovar::cli
