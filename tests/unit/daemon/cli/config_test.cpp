#include "daemon/cli/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using ::testing::HasSubstr;

int mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 0777) : -1;
}

TEST(Config, ComesBackAsItWasWritten) {
  Config config;
  config.current = "lab \"odd\" name";
  config.contexts[config.current] = {
      "https://box.local:8443", "mara", {"AB:CD", "-----BEGIN\nline\\two\n-----END\n"}};
  config.contexts["10.0.0.1:8443"] = {"https://10.0.0.1:8443", "", {}};
  auto again = parse_config(format_config(config));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->current, config.current);
  ASSERT_EQ(again->contexts.size(), 2U);
  EXPECT_EQ(again->contexts[config.current].username, "mara");
  EXPECT_EQ(again->contexts[config.current].pin.leaf_sha256, "AB:CD");
  EXPECT_EQ(again->contexts[config.current].pin.root_pem, config.contexts[config.current].pin.root_pem);
}

TEST(Config, NamesTheLineOfABrokenFile) {
  auto broken = parse_config("current = \"a\"\n[context.x\n");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message(), HasSubstr("line 2"));
  EXPECT_FALSE(parse_config("current = 5\n"));
  EXPECT_FALSE(parse_config("[context.x]\nserver = \"http://plain\"\n"));
}

TEST(Config, AMissingFileIsEmpty) {
  auto config = load_config("/nonexistent/samovar");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->contexts.empty());
}

TEST(Config, FilesAreForTheOwnerOnly) {
  Bench bench;
  EXPECT_EQ(mode_of(bench.env.config_dir), 0700);
  EXPECT_EQ(mode_of(bench.env.config_dir + "/config.toml"), 0600);
  EXPECT_EQ(mode_of(bench.env.config_dir + "/sessions/127.0.0.1%3A8443"), 0600);
  EXPECT_EQ(load_session(bench.env.config_dir, "127.0.0.1:8443").value(), "session-secret");
  EXPECT_TRUE(remove_session(bench.env.config_dir, "127.0.0.1:8443"));
  EXPECT_EQ(load_session(bench.env.config_dir, "127.0.0.1:8443").value(), "");
}

TEST(Config, AContextNameIsNoPath) {
  Bench bench;
  ASSERT_TRUE(save_session(bench.env.config_dir, "../../evil", "t"));
  EXPECT_FALSE(std::filesystem::exists(bench.home.parent_path() / "evil"));
  EXPECT_EQ(load_session(bench.env.config_dir, "../../evil").value(), "t");
}

}  // namespace
}  // namespace samovar::cli
