// Man pages from the command table, in roff with the man macros.
#include <fmt/format.h>

#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

// A hyphen is written \- so that it can be copied, a leading dot or quote is no request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out.push_back(c);
    }
  }
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string head(std::string_view page, std::string_view summary) {
  return fmt::format(
      ".\\\" Generated from the command table by \"samovar __man {0}\".\n.TH {1} 1 \"\" \"samovar {2}\" "
      "\"Samovar\"\n"
      ".SH NAME\n{3} \\- {4}\n",
      page, upper(page), SAMOVAR_VERSION, roff(page), roff(summary));
}

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(tag), roff(text));
}

std::string flags(const std::vector<Flag>& list) {
  std::string out;
  for (const Flag& flag : list) {
    std::string label = flag_label(flag);
    label.erase(0, label.find_first_not_of(' '));
    out += tagged(label, flag_text(flag) + ".");
  }
  return out;
}

std::string command_section(const Command& command) {
  std::string out = fmt::format(".SS {}\n{}.\n", roff(synopsis(command)), roff(command.summary));
  if (!command.description.empty()) out += ".PP\n" + roff(command.description) + "\n";
  for (const Argument& argument : command.arguments) {
    out +=
        tagged(argument.name, std::string(argument.text) +
                                  (argument.words.empty() ? "." : ": " + std::string(argument.words) + "."));
  }
  out += flags(command.flags);
  if (command.examples.empty()) return out;
  out += ".PP\nExamples:\n";
  for (const Example& example : command.examples) {
    if (!example.what.empty()) out += fmt::format(".PP\n{}:\n", roff(example.what));
    out += fmt::format(".PP\n.RS 4\n.EX\n{}\n.EE\n.RE\n", roff(example.command));
  }
  return out;
}

std::string rows(std::string_view title,
                 const std::vector<std::pair<std::string_view, std::string_view>>& list) {
  std::string out = fmt::format(".SH {}\n", title);
  for (const auto& row : list) out += tagged(row.first, row.second);
  return out;
}

std::string see_also(const Table& table, std::string_view page) {
  std::string out = ".SH SEE ALSO\n";
  for (const std::string& other : man_pages(table)) {
    if (other != page) out += fmt::format(".BR {} (1),\n", roff(other));
  }
  return out + ".BR samovard (8),\n.BR samovar.toml (5)\n";
}

std::string program_page(const Table& table) {
  std::string out = head("samovar", "command line of the Samovar cloud in a box");
  out +=
      ".SH SYNOPSIS\n.B samovar\n.I COMMAND\n[flags]\n.br\n.B samovar\n.I NOUN COMMAND\n[flags]\n.SH "
      "DESCRIPTION\n"
      ".B samovar\ntalks to a box over its public HTTPS interface: the same one the web pages use, nothing "
      "private.\n"
      "Data goes to standard output, everything said to a person to standard error.\n"
      "With \\-\\-json the output is the resource of the interface unchanged, and errors are problem "
      "documents (RFC 9457) on standard error.\n"
      "Secrets are never taken from the command line.\n.SH COMMANDS\n";
  for (const Command& command : table.commands) {
    if (command.noun.empty() && !command.hidden) out += command_section(command);
  }
  out += ".SH NOUNS\n";
  for (const Noun& noun : table.nouns) {
    out += fmt::format(".TP\n.BR samovar\\-{} (1)\n{}.\n", roff(noun.name), roff(noun.summary));
  }
  out += ".SH OPTIONS\nFlags of all commands:\n" + flags(table.global_flags);
  return out + rows("EXIT STATUS", exit_rows()) + rows("ENVIRONMENT", environment_rows()) +
         rows("FILES", file_rows()) + see_also(table, "samovar");
}

std::string noun_page(const Table& table, const Noun& noun) {
  const std::string page = "samovar-" + std::string(noun.name);
  std::string summary(noun.summary);
  summary[0] =
      static_cast<char>(summary[0] >= 'A' && summary[0] <= 'Z' ? summary[0] - 'A' + 'a' : summary[0]);
  std::string out = head(page, summary);
  out += fmt::format(".SH SYNOPSIS\n.B samovar {}\n.I COMMAND\n[flags]\n.SH COMMANDS\n", roff(noun.name));
  for (const Command& command : table.commands) {
    if (command.noun == noun.name && !command.hidden) out += command_section(command);
  }
  return out +
         ".SH OPTIONS\nThe flags of all commands, the exit status, the environment and the files are "
         "described in\n.BR samovar (1).\n" +
         see_also(table, page);
}

}  // namespace

std::vector<std::string> man_pages(const Table& table) {
  std::vector<std::string> pages = {"samovar"};
  for (const Noun& noun : table.nouns) pages.push_back("samovar-" + std::string(noun.name));
  return pages;
}

Result<std::string> man_page(const Table& table, std::string_view page) {
  if (page == "samovar") return program_page(table);
  constexpr std::string_view kPrefix = "samovar-";
  const Noun* noun = page.starts_with(kPrefix) ? table.find_noun(page.substr(kPrefix.size())) : nullptr;
  if (noun == nullptr) return Error{Errc::not_found, fmt::format("no man page \"{}\"", page)};
  return noun_page(table, *noun);
}

}  // namespace samovar::cli
