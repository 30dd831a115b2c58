// The command table's rows. One table (table.cpp) makes parsing, help, suggestions, man pages,
// completions and docs/reference/cli.md, so none of them can fall behind the program.
//
// Threading: none; the CLI is one thread.
#pragma once
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace samovar::cli {

class App;
struct Invocation;

// What the shell may offer for a value; `names` are asked from the server by the hidden __complete.
enum class Complete {
  none,
  file,
  words,
  nodes,
  peers,
  users,
  tokens,
  sessions,
  contexts,
  commands,
  datasets,
  uploads,
  operations,
  jobs,
  models,
  scorings,
};

struct Flag {
  std::string_view name;        // "output", without dashes
  char letter = 0;              // 'o', or 0
  std::string_view value;       // "FORMAT"; empty for a switch
  std::string_view text;        // one line for the help
  std::string_view words = {};  // "table|wide|json": the only values allowed, when given
  Complete complete = Complete::none;
  bool value_optional = false;  // --json and --json=id,name
};

struct Argument {
  std::string_view name;  // "NAME"
  std::string_view text;
  bool required = true;
  bool many = false;  // takes all the rest
  Complete complete = Complete::none;
  std::string_view words = {};
};

struct Example {
  std::string_view command;
  std::string_view what;
};

using Handler = Result<void> (*)(App&, const Invocation&);

struct Command {
  std::string_view noun;  // "users"; empty for a verb of the top level
  std::string_view name;  // "add"
  std::string_view summary;
  std::string_view description;
  std::vector<Argument> arguments;
  std::vector<Flag> flags;
  std::vector<Example> examples;
  Handler handler = nullptr;
  bool hidden = false;
};

struct Noun {
  std::string_view name;
  std::string_view summary;
};

struct Table {
  std::vector<Noun> nouns;
  std::vector<Command> commands;
  std::vector<Flag> global_flags;

  const Command* find(std::string_view noun, std::string_view name) const noexcept;
  const Noun* find_noun(std::string_view name) const noexcept;
};

// Built once, constant afterwards.
const Table& table();

// "samovar users add NAME [flags]"
std::string synopsis(const Command& command);

}  // namespace samovar::cli
