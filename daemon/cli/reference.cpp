// docs/reference/cli.md from the command table. A test compares the committed file with this.
#include <fmt/format.h>

#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

// A bar would end the cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string flag_table(const std::vector<Flag>& flags) {
  std::string out = "| Flag | Meaning |\n|---|---|\n";
  for (const Flag& flag : flags) {
    std::string label = flag_label(flag);
    label.erase(0, label.find_first_not_of(' '));
    out += fmt::format("| `{}` | {} |\n", cell(label), cell(flag_text(flag)));
  }
  return out;
}

std::string command_text(const Command& command) {
  std::string out = fmt::format("### `{}`\n\n{}.", synopsis(command).substr(0, synopsis(command).size() - 8),
                                command.summary);
  if (!command.description.empty()) out += fmt::format(" {}", command.description);
  out += "\n\n";
  if (!command.arguments.empty()) {
    out += "| Argument | Meaning |\n|---|---|\n";
    for (const Argument& argument : command.arguments) {
      out += fmt::format("| `{}` | {}{} |\n", argument.name, cell(argument.text),
                         argument.words.empty() ? "" : ": " + cell(argument.words));
    }
    out += "\n";
  }
  if (!command.flags.empty()) out += flag_table(command.flags) + "\n";
  if (!command.examples.empty()) {
    out += "```sh\n";
    for (const Example& example : command.examples) {
      out += std::string(example.command) +
             (example.what.empty() ? "" : fmt::format("   # {}", example.what)) + "\n";
    }
    out += "```\n\n";
  }
  return out;
}

std::string row_table(std::string_view title, std::string_view first,
                      const std::vector<std::pair<std::string_view, std::string_view>>& rows) {
  std::string out = fmt::format("## {}\n\n| {} | Meaning |\n|---|---|\n", title, first);
  for (const auto& row : rows) out += fmt::format("| `{}` | {} |\n", row.first, cell(row.second));
  return out + "\n";
}

}  // namespace

std::string reference_markdown(const Table& table) {
  std::string out =
      "# The command line: `samovar`\n\n"
      "<!-- Generated from the command table by `samovar __reference`; do not edit. -->\n\n"
      "`samovar` talks to a box over its public HTTPS interface. Data goes to stdout, everything said to a "
      "person to stderr.\n"
      "With `--json` the output is the resource of the interface unchanged, and errors are problem documents "
      "(RFC 9457) on stderr.\n"
      "Secrets are never taken from the command line: they are asked for without echo, or read from "
      "stdin.\n\n"
      "On first contact the SHA-256 fingerprint of the box's certificate is shown and, once agreed to, "
      "pinned with the box's web\n"
      "root. A renewed certificate under that root is accepted; any other is refused before anything is "
      "sent.\n\n"
      "## Commands\n\n";
  for (const Command& command : table.commands) {
    if (command.noun.empty() && !command.hidden) out += command_text(command);
  }
  for (const Noun& noun : table.nouns) {
    out += fmt::format("## `samovar {}`\n\n{}.\n\n", noun.name, noun.summary);
    for (const Command& command : table.commands) {
      if (command.noun == noun.name && !command.hidden) out += command_text(command);
    }
  }
  out += "## Flags of all commands\n\n" + flag_table(table.global_flags) + "\n";
  out += row_table("Exit codes", "Code", exit_rows()) +
         row_table("Environment", "Variable", environment_rows()) + row_table("Files", "File", file_rows());
  out.pop_back();
  return out;
}

}  // namespace samovar::cli
