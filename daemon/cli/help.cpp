// Help for a terminal: examples first, for most people look for one to change.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/cli/suggest.hpp"
#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// "  name   text", the text wrapped at 90 columns and hanging below itself.
std::string rows_text(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  const std::string hang(width + 5, ' ');
  std::string out;
  for (const auto& row : rows) {
    std::string line = fmt::format("  {:<{}}  ", row.first, width + 1);
    for (const std::string_view word : split_words(row.second, ' ')) {
      if (line.size() + word.size() > 90 && line.size() > hang.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
        line = hang;
      }
      line += std::string(word) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string wrapped(std::string_view text) {
  std::string out;
  std::string line;
  for (const std::string_view word : split_words(text, ' ')) {
    if (line.size() + word.size() > 90) {
      line.pop_back();
      out += line + "\n";
      line.clear();
    }
    line += std::string(word) + " ";
  }
  if (!line.empty()) line.pop_back();
  return out + line + "\n";
}

std::string examples_text(const std::vector<Example>& examples) {
  std::string out;
  for (const Example& example : examples) {
    out += example.what.empty() ? fmt::format("  {}\n", example.command)
                                : fmt::format("  {}  # {}\n", example.command, example.what);
  }
  return out;
}

std::string flags_text(const std::vector<Flag>& flags) {
  Rows rows;
  for (const Flag& flag : flags) rows.emplace_back(flag_label(flag), flag_text(flag));
  return rows_text(rows);
}

std::string command_help(const Command& command) {
  std::string out = fmt::format("{}.\n\n", command.summary);
  if (!command.examples.empty()) out += "Examples:\n" + examples_text(command.examples) + "\n";
  out += fmt::format("Usage:\n  {}\n", synopsis(command));
  if (!command.description.empty()) out += "\n" + wrapped(command.description);
  if (!command.arguments.empty()) {
    Rows rows;
    for (const Argument& argument : command.arguments) {
      rows.emplace_back(std::string(argument.name),
                        argument.words.empty() ? std::string(argument.text)
                                               : fmt::format("{}: {}", argument.text, argument.words));
    }
    out += "\nArguments:\n" + rows_text(rows);
  }
  if (!command.flags.empty()) out += "\nFlags:\n" + flags_text(command.flags);
  return out + "\nFlags of all commands: samovar --help\n";
}

std::string noun_help(const Table& table, const Noun& noun) {
  std::string examples;
  Rows rows;
  for (const Command& command : table.commands) {
    if (command.noun != noun.name || command.hidden) continue;
    rows.emplace_back(std::string(command.name), std::string(command.summary));
    if (!command.examples.empty()) examples += examples_text({command.examples.front()});
  }
  return fmt::format("{}.\n\nExamples:\n{}\nCommands:\n{}\nMore: samovar {} COMMAND --help\n", noun.summary,
                     examples, rows_text(rows), noun.name);
}

std::string program_help(const Table& table) {
  Rows verbs;
  Rows nouns;
  for (const Command& command : table.commands) {
    if (command.noun.empty() && !command.hidden)
      verbs.emplace_back(std::string(command.name), std::string(command.summary));
  }
  for (const Noun& noun : table.nouns) {
    std::string names;
    for (const Command& command : table.commands) {
      if (command.noun == noun.name && !command.hidden)
        names += (names.empty() ? "" : ", ") + std::string(command.name);
    }
    nouns.emplace_back(std::string(noun.name), fmt::format("{}: {}", noun.summary, names));
  }
  return "Samovar, a cloud in a box: the command line.\n\nExamples:\n"
         "  samovar init          # set up the box on this machine\n"
         "  samovar login         # log in to it\n"
         "  samovar status        # see how it is\n"
         "  samovar users --help  # what can be done with users\n"
         "\nUsage:\n  samovar COMMAND [flags]\n  samovar NOUN COMMAND [flags]\n\nCommands:\n" +
         rows_text(verbs) + "\nNouns:\n" + rows_text(nouns) + "\nFlags of all commands:\n" +
         flags_text(table.global_flags) + "\nMore: samovar COMMAND --help, man samovar\n";
}

}  // namespace

std::string flag_label(const Flag& flag) {
  std::string label = flag.letter != 0 ? fmt::format("-{}, ", flag.letter) : "    ";
  label += fmt::format("--{}", flag.name);
  if (flag.value.empty()) return label;
  return label + (flag.value_optional ? fmt::format("[={}]", flag.value) : fmt::format(" {}", flag.value));
}

std::string flag_text(const Flag& flag) {
  return flag.words.empty() ? std::string(flag.text) : fmt::format("{}: {}", flag.text, flag.words);
}

Result<std::string> help_text(const Table& table, std::string_view topic) {
  if (topic.empty()) return program_help(table);
  const std::size_t space = topic.find(' ');
  const std::string_view first = topic.substr(0, space);
  const Noun* noun = table.find_noun(first);
  if (noun != nullptr && space == std::string_view::npos) return noun_help(table, *noun);
  const std::string_view name = space == std::string_view::npos ? first : topic.substr(space + 1);
  const Command* command = table.find(noun != nullptr ? first : std::string_view(), name);
  if (command != nullptr && !command->hidden) return command_help(*command);
  std::vector<std::string_view> known;
  for (const Noun& other : table.nouns) known.push_back(other.name);
  for (const Command& other : table.commands) {
    if (!other.hidden) known.push_back(other.name);
  }
  return Error{Errc::invalid, fmt::format("no help on \"{}\"{}", topic, did_you_mean(name, known))};
}

const std::vector<std::pair<std::string_view, std::string_view>>& environment_rows() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kRows = {
      {"SAMOVAR_SERVER", "The box to talk to, when --server is not given."},
      {"SAMOVAR_CONTEXT", "The known box to talk to, when --context is not given."},
      {"SAMOVAR_TOKEN_FILE", "File with an API token, when --token-file is not given."},
      {"XDG_CONFIG_HOME", "Where the configuration lies; ~/.config when unset."},
      {"NO_COLOR", "When set and not empty, no colours are used."},
  };
  return kRows;
}

const std::vector<std::pair<std::string_view, std::string_view>>& file_rows() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kRows = {
      {"~/.config/samovar/config.toml",
       "The known boxes: server, user name, pinned certificate fingerprint and web root. Mode 0600."},
      {"~/.config/samovar/sessions/", "One session token per box, mode 0600. Deleted by samovar logout."},
      {"~/.config/samovar/uploads/", "Which unfinished upload belongs to which file, mode 0600."},
  };
  return kRows;
}

const std::vector<std::pair<std::string_view, std::string_view>>& exit_rows() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kRows = {
      {"0", "Done."},
      {"1", "Failed."},
      {"2", "The command line is wrong, or an answer was needed and could not be asked for."},
      {"3", "Not found."},
      {"4", "Not logged in, not allowed, or the box's certificate is not trusted."},
      {"5", "Conflict: the state does not permit it (also: not set up yet, locked)."},
      {"6", "Invalid input."},
      {"7", "The box cannot be reached or did not answer in time."},
      {"8", "What was waited for failed or was cancelled."},
      {"9", "Partly done."},
      {"130", "Interrupted by Ctrl-C."},
  };
  return kRows;
}

}  // namespace samovar::cli
