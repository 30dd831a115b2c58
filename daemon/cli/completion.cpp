// Completions. The scripts are thin: they ask `samovar __complete` and so never fall behind the table.
#include <fmt/format.h>

#include "daemon/cli/suggest.hpp"
#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

constexpr std::string_view kBash = R"sh(# bash completion for samovar
_samovar() {
  local line words=()
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ":file" ]]; then
      compopt -o default
      return
    fi
    words+=("${line%%$'\t'*}")
  done < <(samovar __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "${words[*]}" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _samovar samovar
)sh";

constexpr std::string_view kZsh = R"sh(#compdef samovar
_samovar() {
  local line
  local -a found
  while IFS= read -r line; do
    if [[ $line == ":file" ]]; then
      _files
      return
    fi
    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done < <(samovar __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'samovar' found
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _samovar "$@"
else
  compdef _samovar samovar
fi
)sh";

constexpr std::string_view kFish = R"sh(# fish completion for samovar
function __samovar_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    for line in (samovar __complete -- $words 2>/dev/null)
        if test "$line" = ":file"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c samovar -f -a '(__samovar_complete)'
)sh";

void add_flags(Candidates& out, const std::vector<Flag>& flags) {
  for (const Flag& flag : flags)
    out.words.emplace_back("--" + std::string(flag.name), std::string(flag.text));
}

void offer(Candidates& out, Complete complete, std::string_view words) {
  for (const std::string_view word : split_words(words)) out.words.emplace_back(std::string(word), "");
  out.dynamic = complete == Complete::words ? Complete::none : complete;
}

const Flag* find_flag(const Table& table, const Command* command, std::string_view word) {
  const auto matches = [&](const Flag& flag) {
    return word == "--" + std::string(flag.name) ||
           (flag.letter != 0 && word == std::string{'-', flag.letter});
  };
  if (command != nullptr) {
    for (const Flag& flag : command->flags) {
      if (matches(flag)) return &flag;
    }
  }
  for (const Flag& flag : table.global_flags) {
    if (matches(flag)) return &flag;
  }
  return nullptr;
}

void add_commands(Candidates& out, const Table& table, std::string_view noun) {
  for (const Command& command : table.commands) {
    if (command.noun == noun && !command.hidden)
      out.words.emplace_back(std::string(command.name), std::string(command.summary));
  }
  if (!noun.empty()) return;
  for (const Noun& other : table.nouns)
    out.words.emplace_back(std::string(other.name), std::string(other.summary));
}

}  // namespace

Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return std::string(kBash);
  if (shell == "zsh") return std::string(kZsh);
  if (shell == "fish") return std::string(kFish);
  return Error{Errc::invalid, fmt::format("\"{}\" is no shell we know: bash, zsh or fish", shell)};
}

Candidates candidates(const Table& table, const std::vector<std::string>& words) {
  Candidates out;
  std::string noun;
  const Command* command = nullptr;
  const Flag* waiting = nullptr;  // the flag whose value comes next
  std::size_t given = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (word.size() > 1 && word[0] == '-') {
      const Flag* flag = find_flag(table, command, word);
      if (flag != nullptr && !flag->value.empty() && !flag->value_optional) waiting = flag;
    } else if (command != nullptr) {
      ++given;
    } else if (noun.empty() && table.find_noun(word) != nullptr) {
      noun = word;
    } else {
      command = table.find(noun, word);
      if (command == nullptr) return out;
    }
  }
  const std::string typed = words.empty() ? std::string() : words.back();
  if (waiting != nullptr) {
    offer(out, waiting->complete, waiting->words);
  } else if (typed.starts_with('-')) {
    if (command != nullptr) add_flags(out, command->flags);
    add_flags(out, table.global_flags);
  } else if (command == nullptr) {
    add_commands(out, table, noun);
  } else if (!command->arguments.empty()) {
    const Argument& last = command->arguments.back();
    if (given < command->arguments.size()) {
      offer(out, command->arguments[given].complete, command->arguments[given].words);
    } else if (last.many) {
      offer(out, last.complete, last.words);
    }
  }
  std::vector<std::pair<std::string, std::string>> fitting;
  for (auto& word : out.words) {
    if (word.first.starts_with(typed)) fitting.push_back(std::move(word));
  }
  out.words = std::move(fitting);
  return out;
}

}  // namespace samovar::cli
