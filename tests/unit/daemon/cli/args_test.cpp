#include "daemon/cli/args.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace samovar::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::vector<std::string>& words) {
  auto parsed = parse(table(), words);
  return parsed ? "accepted" : parsed.error().message();
}

TEST(Args, NounVerbArgumentsAndFlagsInAnyOrder) {
  auto parsed = parse(table(), {"--output", "json", "users", "add", "mara", "--role=analyst", "-q"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->command->noun, "users");
  EXPECT_EQ(parsed->command->name, "add");
  EXPECT_THAT(parsed->arguments, ElementsAre("mara"));
  EXPECT_EQ(parsed->flag("role"), "analyst");
  EXPECT_EQ(parsed->flag("output"), "json");
  EXPECT_TRUE(parsed->has("quiet"));
}

TEST(Args, ShortFlagsJoinAndTakeValues) {
  auto parsed = parse(table(), {"status", "-wqn5"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->has("watch"));
  EXPECT_TRUE(parsed->has("quiet"));
  EXPECT_EQ(parsed->flag("interval"), "5");
}

TEST(Args, JsonTakesItsValueOnlyWithEquals) {
  auto parsed = parse(table(), {"nodes", "show", "--json", "board"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->arguments, ElementsAre("board"));
  parsed = parse(table(), {"nodes", "show", "--json=id,name"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->flag("json"), "id,name");
}

TEST(Args, TwoDashesEndTheFlags) {
  auto parsed = parse(table(), {"users", "show", "--", "--odd"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->arguments, ElementsAre("--odd"));
}

TEST(Args, RepeatedFlagsAreAllKept) {
  auto parsed = parse(table(), {"api", "GET", "/nodes", "-f", "a=1", "--field", "b=2"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->all("field"), ElementsAre("a=1", "b=2"));
}

TEST(Args, MistypedWordsGetASuggestion) {
  EXPECT_THAT(refusal({"user", "list"}), HasSubstr("did you mean \"users\"?"));
  EXPECT_THAT(refusal({"users", "lits"}), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(refusal({"nodes", "list", "--outptu", "json"}), HasSubstr("did you mean \"--output\"?"));
  EXPECT_THAT(refusal({"nodes", "list", "-o", "jsno"}), HasSubstr("did you mean \"json\"?"));
}

TEST(Args, RefusesWhatDoesNotFitTheTable) {
  EXPECT_THAT(refusal({"users"}), HasSubstr("needs a command"));
  EXPECT_THAT(refusal({"users", "add"}), HasSubstr("NAME is missing"));
  EXPECT_THAT(refusal({"users", "add", "a", "b"}), HasSubstr("one word too many"));
  EXPECT_THAT(refusal({"login", "--username"}), HasSubstr("needs a value"));
  EXPECT_THAT(refusal({"login", "--yes=no"}), HasSubstr("takes no value"));
  EXPECT_THAT(refusal({"status", "-X"}), HasSubstr("unknown flag -X"));
}

TEST(Args, HelpNeedsNoArguments) {
  auto parsed = parse(table(), {"users", "add", "--help"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->help);
  EXPECT_EQ(parsed->help_topic, "users add");
}

TEST(Args, NumbersAreWholeAndWithinBounds) {
  auto parsed = parse(table(), {"audit", "list", "--limit", "12"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(number_flag(*parsed, "limit", 50, 0, 100).value(), 12);
  EXPECT_EQ(number_flag(*parsed, "timeout", 30, 1, 3600).value(), 30);
  EXPECT_FALSE(number_flag(*parsed, "limit", 50, 0, 11));
  parsed = parse(table(), {"audit", "list", "--limit", "12x"});
  EXPECT_FALSE(number_flag(*parsed, "limit", 50, 0, 100));
}

TEST(CommandTable, EveryCommandHasWhatItsTextsNeed) {
  std::set<std::string> seen;
  for (const Command& command : table().commands) {
    const std::string name = std::string(command.noun) + " " + std::string(command.name);
    EXPECT_TRUE(seen.insert(name).second) << name << " is in the table twice";
    EXPECT_NE(command.handler, nullptr) << name;
    if (command.hidden) continue;
    EXPECT_FALSE(command.summary.empty()) << name;
    EXPECT_FALSE(command.examples.empty()) << name;
    EXPECT_NE(command.summary.back(), '.') << name << ": the texts add the full stop";
    if (!command.noun.empty()) {
      EXPECT_NE(table().find_noun(command.noun), nullptr) << name;
    }
  }
}

TEST(CommandTable, NoFlagHidesAnother) {
  for (const Command& command : table().commands) {
    std::set<std::string> names;
    std::set<char> letters;
    std::vector<Flag> all = table().global_flags;
    all.insert(all.end(), command.flags.begin(), command.flags.end());
    for (const Flag& flag : all) {
      EXPECT_TRUE(names.insert(std::string(flag.name)).second) << command.name << " --" << flag.name;
      if (flag.letter != 0) {
        EXPECT_TRUE(letters.insert(flag.letter).second) << command.name << " -" << flag.letter;
      }
    }
  }
}

TEST(CommandTable, ExamplesAreCommandsThatParse) {
  for (const Command& command : table().commands) {
    for (const Example& example : command.examples) {
      std::vector<std::string> words;
      std::string word;
      bool quoted = false;
      for (const char c : std::string(example.command) + " ") {
        if (c == '\'') {
          quoted = !quoted;
        } else if (c == ' ' && !quoted) {
          if (!word.empty()) words.push_back(word);
          word.clear();
        } else {
          word.push_back(c);
        }
      }
      // Redirections are the shell's; an example for the shell itself is not ours to parse.
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "<" || words[i] == ">" || words[i] == ">>") words.resize(i);
      }
      if (words.empty() || words[0] != "samovar") continue;
      words.erase(words.begin());
      auto parsed = parse(table(), words);
      ASSERT_TRUE(parsed) << example.command << ": " << parsed.error().message();
      EXPECT_EQ(parsed->command, &command) << example.command;
    }
  }
}

}  // namespace
}  // namespace samovar::cli
