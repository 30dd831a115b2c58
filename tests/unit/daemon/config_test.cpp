#include "daemon/config.hpp"

#include <gtest/gtest.h>

#include "daemon/flags.hpp"

namespace samovar::daemon {
namespace {

Result<Config> parse(std::string_view text) { return parse_config(text, "samovar.toml", Config{}); }

std::string refusal(std::string_view text) {
  auto parsed = parse(text);
  if (!parsed) return parsed.error().message();
  auto valid = validate(*parsed);
  return valid ? "" : valid.error().message();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Config, EmptyFileMeansValidDefaults) {
  const auto config = parse("");
  ASSERT_TRUE(config);
  EXPECT_TRUE(validate(*config));
  EXPECT_EQ(config->state_dir, "/var/lib/samovar");
  EXPECT_EQ(config->key_path(), "/var/lib/samovar/key");
}

TEST(Config, TakesEveryKindOfValue) {
  const auto config = parse(
      "# comment\nstate_dir = \"/srv/s\"\nlisten = [\"127.0.0.1:0\", \"[::1]:9\"]\n"
      "disk_reserve_mib = 128\nkey_file = '/media/key'\nhost_names = [\"box.lan\"]\n");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_TRUE(validate(*config));
  EXPECT_EQ(config->listen, (std::vector<std::string>{"127.0.0.1:0", "[::1]:9"}));
  EXPECT_EQ(config->disk_reserve_mib, 128u);
  EXPECT_EQ(config->key_path(), "/media/key");
}

TEST(Config, AnUnknownKeyNamesItsLineAndTheClosestKey) {
  const std::string message = refusal("log_level = \"info\"\n\nlisen = [\"127.0.0.1:1\"]\n");
  EXPECT_TRUE(has(message, "samovar.toml line 3")) << message;
  EXPECT_TRUE(has(message, "\"lisen\"")) << message;
  EXPECT_TRUE(has(message, "did you mean \"listen\"")) << message;
}

TEST(Config, WrongTypesAndSyntaxNameTheirLine) {
  EXPECT_TRUE(has(refusal("listen = 1\n"), "line 1: listen must be a list of text"));
  EXPECT_TRUE(has(refusal("listen = [1]\n"), "line 1: a text in quotes or a ']' is expected in the list"));
  EXPECT_TRUE(has(refusal("\nlog_level = 3\n"), "line 2: log_level must be a text"));
  EXPECT_TRUE(has(refusal("disk_reserve_mib = \"x\"\n"), "must be a number"));
  EXPECT_TRUE(has(refusal("disk_reserve_mib = 99999999999\n"), "out of range"));
  EXPECT_TRUE(has(refusal("state_dir = \"x\nlisten=1"), "line 1"));
  EXPECT_FALSE(refusal("[section]\nlisten = []\n").empty());
  EXPECT_FALSE(refusal("log_level = \"info\"\nlog_level = \"info\"\n").empty());
}

TEST(Config, TheNameForPeopleIsOneWord) {
  EXPECT_EQ(refusal("mdns_name = \"kettle-2\"\n"), "");
  EXPECT_EQ(refusal("mdns_name = \"\"\n"), "") << "switched off";
  for (const char* wrong : {"kettle.local", "-kettle", "kettle-", "two words", "käse"})
    EXPECT_TRUE(has(refusal(std::string("mdns_name = \"") + wrong + "\"\n"), "is not one word")) << wrong;
}

TEST(Config, SectionsAreRefusedWithTheirLine) {
  EXPECT_TRUE(
      has(refusal("log_level = \"info\"\n\n[mesh]\nport = 1\n"), "line 4: this file has no [sections]"));
  EXPECT_TRUE(has(refusal("[:.b]\nc = 1\n"), "line 1: the name of a section"));
}

TEST(Config, EscapedControlCharactersAreRefused) {
  EXPECT_TRUE(has(refusal("listen = [\"127.0.0.1\\u0000.example:1\"]\n"), "without control characters"));
  EXPECT_TRUE(has(refusal("\nstate_dir = \"/srv\\u0000/s\"\n"), "line 2: state_dir"));
  EXPECT_TRUE(has(refusal("key_file = \"/media\\n/key\"\n"), "without control characters"));
}

TEST(Config, TheWholeIsValidated) {
  EXPECT_TRUE(has(refusal("state_dir = \"relative\""), "absolute"));
  EXPECT_TRUE(has(refusal("key_file = \"relative\""), "absolute"));
  EXPECT_TRUE(has(refusal("listen = []"), "at least one"));
  EXPECT_TRUE(has(refusal("listen = [\"localhost:1\"]"), "not an IP address"));
  EXPECT_TRUE(has(refusal("log_format = \"xml\""), "log_format must be"));
  EXPECT_TRUE(has(refusal("disk_reserve_mib = 0"), "1 to"));
  EXPECT_TRUE(has(refusal("host_names = [\"a b\"]"), "not a host name"));
}

TEST(Config, ListenAddresses) {
  EXPECT_EQ(parse_listen("0.0.0.0:8443")->port, 8443);
  EXPECT_EQ(parse_listen("[::1]:0")->host, "::1");
  for (const char* bad : {"", "8443", "1.2.3.4", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536", "1.2.3.4:-1",
                          "::1:80", "[1.2.3.4]:80", "[::1:80", "host:80"})
    EXPECT_FALSE(parse_listen(bad)) << bad;
}

TEST(Config, TheReferenceNamesEveryKeyWithItsDefault) {
  const std::string page = config_reference();
  for (const char* key :
       {"state_dir", "listen", "host_names", "key_file", "log_format", "log_level", "disk_reserve_mib"})
    EXPECT_TRUE(has(page, std::string("## `") + key + "`")) << key;
  EXPECT_TRUE(has(page, "Default: `64`"));
}

Result<CommandLine> line(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "samovard");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Flags, WinOverTheFile) {
  const auto parsed =
      line({"--config", "/dev/null", "--state-dir", "/tmp/x", "--listen", "127.0.0.1:1,127.0.0.2:2"});
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->act, Act::serve);
  EXPECT_EQ(parsed->config.state_dir, "/tmp/x");
  EXPECT_EQ(parsed->config.listen.size(), 2u);
}

TEST(Flags, MistakesAreErrorsWithAHint) {
  EXPECT_TRUE(has(line({"--bogus"}).error().message(), "--help"));
  EXPECT_FALSE(line({"--config", "/nonexistent/file"}));
  EXPECT_FALSE(line({"--config", "/dev/null", "--log-level", "loud"}));
  EXPECT_EQ(line({"--help"})->act, Act::print_and_exit);
  EXPECT_TRUE(has(line({"--version"})->text, "samovard "));
}

TEST(Config, ControlCharactersAreRefusedWithTheirLine) {
  const auto refused = parse(std::string_view("listen = [\"127.0.0.1:1\"]\n[\0.7", 29));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("samovar.toml line 2: a control character"), std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(parse("# Überschrift\r\n\tlog_level = \"info\"\n"));
}

TEST(Config, SeedsHaveAPortOfTheirOwnOrTheUsualOne) {
  EXPECT_EQ(parse_seed("10.0.0.7", 7446)->port, 7446);
  EXPECT_EQ(parse_seed("10.0.0.7:99", 7446)->port, 99);
  EXPECT_EQ(parse_seed("fd00::7", 7446)->host, "fd00::7");
  EXPECT_EQ(parse_seed("[fd00::7]", 7446)->port, 7446);
  EXPECT_EQ(parse_seed("[fd00::7]:99", 7446)->port, 99);
  for (const char* wrong : {"", "kettle", "10.0.0.7:", "10.0.0.7:0", "10.0.0.7:70000", "10.0.0"})
    EXPECT_FALSE(parse_seed(wrong, 7446)) << wrong;
}

TEST(Config, WhatTheMeshAndTheBeaconsNeedIsChecked) {
  EXPECT_TRUE(has(refusal("mesh_listen = []"), "mesh_listen must name at least one"));
  EXPECT_TRUE(has(refusal("mesh_listen = [\"kettle:1\"]"), "not an IP address"));
  EXPECT_TRUE(has(refusal("seeds = [\"kettle\"]"), "seeds"));
  EXPECT_TRUE(has(refusal("discovery_interfaces = [\"an-interface-with-a-long-name\"]"), "interface"));
  EXPECT_TRUE(has(refusal("discovery_port = 65536"), "0 to 65535"));
  EXPECT_EQ(refusal("discovery_port = 0\nseeds = [\"10.0.0.7\"]\nmesh_listen = [\"[::]:7443\"]"), "");
}

}  // namespace
}  // namespace samovar::daemon
