#include "daemon/state_dir.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "security/init.hpp"
#include "security/keyring.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar::daemon {
namespace {

struct Folder {
  samovar::test::TempDir dir;
  std::string path = dir / "state";
  std::unique_ptr<StateDir> open() { return StateDir::open(real_disk(), path).value(); }
  void put(const std::string& name, std::string_view text = "x") {
    ASSERT_TRUE(real_disk().write_file(path + "/" + name, as_bytes(text)));
  }
};

TEST(StateDir, IsMadePrivateAndLocked) {
  Folder t;
  auto state = t.open();
  struct stat info {};
  ASSERT_EQ(stat(t.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  auto second = StateDir::open(real_disk(), t.path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::conflict);
  EXPECT_NE(second.error().message().find("another samovard already runs"), std::string::npos);
  state.reset();
  EXPECT_TRUE(StateDir::open(real_disk(), t.path));
}

TEST(StateDir, TellsTheFourStatesApart) {
  Folder t;
  auto state = t.open();
  EXPECT_EQ(state->look().value(), StateDir::Found::fresh);
  ASSERT_TRUE(real_disk().make_dir(state->raft()));
  auto missing = state->look();
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("Put the keyring back"), std::string::npos);
  t.put("keyring.new");
  EXPECT_EQ(state->look().value(), StateDir::Found::interrupted);
  t.put("keyring");
  EXPECT_EQ(state->look().value(), StateDir::Found::set_up);
}

TEST(StateDir, SetsAnInterruptedSetUpAsideWithoutLosingIt) {
  Folder t;
  auto state = t.open();
  ASSERT_TRUE(real_disk().make_dir(state->raft()));
  t.put("raft/segment");
  t.put("keyring.new");
  t.put("key");
  ASSERT_TRUE(state->set_aside_interrupted(t.path + "/key"));
  EXPECT_EQ(state->look().value(), StateDir::Found::fresh);
  for (const char* name : {"raft/segment", "keyring.new", "key"})
    EXPECT_TRUE(real_disk().exists(t.path + "/interrupted-1/" + name)) << name;
  t.put("keyring.new");
  ASSERT_TRUE(state->set_aside_interrupted(t.path + "/key"));
  EXPECT_TRUE(real_disk().exists(t.path + "/interrupted-2/keyring.new"));
}

TEST(StateDir, AKeyFileElsewhereMovesOnlyWhenItIsOurs) {
  ASSERT_TRUE(security::init({false, false}));
  Folder t;
  auto state = t.open();
  const std::string elsewhere = t.dir / "usb-key";
  const auto made = security::Keyring::create_with_key_file("clu_1").value();
  const auto other = security::Keyring::create_with_key_file("clu_2").value();
  ASSERT_TRUE(real_disk().write_file(state->keyring_new(), made.keyring.encode()));
  ASSERT_TRUE(real_disk().write_file(elsewhere, other.key_file.view()));
  ASSERT_TRUE(state->set_aside_interrupted(elsewhere));
  EXPECT_TRUE(real_disk().exists(elsewhere));
  ASSERT_TRUE(real_disk().write_file(state->keyring_new(), other.keyring.encode()));
  ASSERT_TRUE(state->set_aside_interrupted(elsewhere));
  EXPECT_FALSE(real_disk().exists(elsewhere));
  EXPECT_TRUE(real_disk().exists(elsewhere + ".interrupted"));
}

TEST(StateDir, AFactoryResetLeavesANewNodeAndFinishesWhenItWasCut) {
  Folder t;
  auto state = t.open();
  for (const char* folder : {"identity", "raft", "data/versions", "member"})
    ASSERT_TRUE(real_disk().make_dir(t.path + "/" + folder));
  for (const char* name : {"identity/node.key", "keyring", "key", "raft/segment", "data/versions/a", "clock"})
    t.put(name);
  ASSERT_EQ(chmod((t.path + "/key").c_str(), 0400), 0);
  ASSERT_TRUE(state->wipe(t.path + "/key"));
  EXPECT_EQ(real_disk().list(t.path).value(), (std::vector<std::string>{"clock", "lock"}));
  EXPECT_EQ(state->look().value(), StateDir::Found::fresh);
  t.put("wiping");
  t.put("keyring");
  EXPECT_EQ(state->look().value(), StateDir::Found::wiping);
  ASSERT_TRUE(state->wipe(t.path + "/key"));
  EXPECT_EQ(state->look().value(), StateDir::Found::fresh);
}

TEST(StateDir, AKeyFileElsewhereGoesOnlyWhenItIsThisBoxes) {
  ASSERT_TRUE(security::init({false, false}));
  Folder t;
  auto state = t.open();
  const auto own = security::Keyring::create_with_key_file("clu_a").value();
  const auto other = security::Keyring::create_with_key_file("clu_b").value();
  const std::string own_key = t.dir / "own.key";
  const std::string other_key = t.dir / "other.key";
  ASSERT_TRUE(real_disk().write_file(own_key, own.key_file.view()));
  ASSERT_TRUE(real_disk().write_file(other_key, other.key_file.view()));
  ASSERT_TRUE(real_disk().write_file(state->keyring(), own.keyring.encode()));
  ASSERT_TRUE(state->wipe(other_key));
  EXPECT_TRUE(real_disk().exists(other_key));
  ASSERT_TRUE(real_disk().write_file(state->keyring(), own.keyring.encode()));
  ASSERT_TRUE(state->wipe(own_key));
  EXPECT_FALSE(real_disk().exists(own_key));
}

}  // namespace
}  // namespace samovar::daemon
