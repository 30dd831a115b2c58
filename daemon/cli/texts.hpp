// All that is written about the program by the program itself, from the command table.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "daemon/cli/command.hpp"

namespace samovar::cli {

// `topic`: "" for the whole program, "users", "login" or "users add". Errc::invalid with a suggestion
// otherwise.
Result<std::string> help_text(const Table& table, std::string_view topic);

// "samovar", "samovar-nodes", …: one page for the program and one per noun.
std::vector<std::string> man_pages(const Table& table);
Result<std::string> man_page(const Table& table, std::string_view page);

// docs/reference/cli.md
std::string reference_markdown(const Table& table);

// bash, zsh or fish; the script asks the hidden __complete for words.
Result<std::string> completion_script(std::string_view shell);

// What can follow `words` (without the program's name), the last of which is being typed.
// Values that only the box knows are left to the caller: `dynamic` says which.
struct Candidates {
  std::vector<std::pair<std::string, std::string>> words;  // word and its summary
  Complete dynamic = Complete::none;
};
Candidates candidates(const Table& table, const std::vector<std::string>& words);

// The environment, files and exit codes, as rows of name and text: for help, man and reference alike.
const std::vector<std::pair<std::string_view, std::string_view>>& environment_rows();
const std::vector<std::pair<std::string_view, std::string_view>>& file_rows();
const std::vector<std::pair<std::string_view, std::string_view>>& exit_rows();

// "-o, --output FORMAT"
std::string flag_label(const Flag& flag);
// The text, and the words allowed.
std::string flag_text(const Flag& flag);

}  // namespace samovar::cli
