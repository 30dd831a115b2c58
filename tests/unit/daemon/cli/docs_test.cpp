// The committed man pages, completions and reference are what the command table makes.
// To renew them: docs/generate-cli.sh PATH-TO-SAMOVAR
#include <gtest/gtest.h>

#include "daemon/cli/config.hpp"
#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

std::string committed(const std::string& path) {
  auto text = read_file(std::string(SAMOVAR_SOURCE_DIR "/docs/") + path);
  return text ? *text : "docs/" + path + " is missing";
}

TEST(GeneratedDocs, ReferenceIsCurrent) {
  EXPECT_EQ(committed("reference/cli.md"), reference_markdown(table()));
}

TEST(GeneratedDocs, ManPagesAreCurrent) {
  for (const std::string& page : man_pages(table()))
    EXPECT_EQ(committed("man/" + page + ".1"), man_page(table(), page).value());
  EXPECT_FALSE(man_page(table(), "samovar-nonsense"));
}

TEST(GeneratedDocs, CompletionsAreCurrent) {
  EXPECT_EQ(committed("completions/samovar"), completion_script("bash").value());
  EXPECT_EQ(committed("completions/_samovar"), completion_script("zsh").value());
  EXPECT_EQ(committed("completions/samovar.fish"), completion_script("fish").value());
  EXPECT_FALSE(completion_script("csh"));
}

TEST(GeneratedDocs, EveryCommandIsInTheReferenceAndInItsManPage) {
  const std::string reference = reference_markdown(table());
  for (const Command& command : table().commands) {
    if (command.hidden) continue;
    EXPECT_NE(reference.find("### `samovar " + (command.noun.empty() ? "" : std::string(command.noun) + " ") +
                             std::string(command.name)),
              std::string::npos)
        << command.name;
    EXPECT_TRUE(help_text(
        table(), (command.noun.empty() ? "" : std::string(command.noun) + " ") + std::string(command.name)));
  }
}

}  // namespace
}  // namespace samovar::cli
