#include "tests/unit/daemon/cluster/machine_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

using std::chrono::seconds;

class LoginTest : public MachineFixture {
 protected:
  void fail(std::int64_t when, std::uint8_t device = 0) {
    Fields body;
    body.set("username", "Anna");
    if (device != 0) body.set("device_hash", hash_of(device));
    must(apply("session.login_failed", body, when));
  }
  Duration delay(std::int64_t when, std::uint8_t device = 0) {
    const Bytes hash = device == 0 ? Bytes() : hash_of(device);
    return login_delay(find_login_counter(db(), *find_user(db(), "usr_admin"), hash), at(when));
  }
};

TEST_F(LoginTest, DelayDoublesFromTheThirdFailure) {
  init();
  fail(0);
  fail(0);
  EXPECT_EQ(delay(0), seconds(0));
  fail(0);
  EXPECT_EQ(delay(0), seconds(2));
  EXPECT_EQ(delay(1), seconds(1));
  EXPECT_EQ(delay(2), seconds(0));
  fail(2);
  EXPECT_EQ(delay(2), seconds(4));
}

TEST_F(LoginTest, TenFailuresLockForHalfAnHour) {
  init();
  for (int i = 0; i < 10; ++i) fail(i);
  EXPECT_EQ(delay(9), std::chrono::minutes(30));
  const auto refused = apply("session.login", login_body("usr_admin", "ses_1", 1), 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
  // More failures do not prolong it.
  fail(100);
  EXPECT_EQ(delay(9 + 1800), seconds(0));
  must(apply("session.login", login_body("usr_admin", "ses_1", 1), 9 + 1800));
  EXPECT_EQ(find_user(db(), "usr_admin")->failed_logins, 0u);
}

TEST_F(LoginTest, ALockThatRanOutBeginsANewCount) {
  init();
  for (int i = 0; i < 10; ++i) fail(0);
  fail(1801);
  EXPECT_EQ(find_user(db(), "usr_admin")->failed_logins, 1u);
  EXPECT_EQ(delay(1801), seconds(0));
}

TEST_F(LoginTest, KnownDeviceIsCountedApart) {
  init();
  must(apply("session.login", login_body("usr_admin", "ses_1", 1, 5)));
  for (int i = 0; i < 10; ++i) fail(1);  // a stranger
  EXPECT_GT(delay(2), seconds(0));
  EXPECT_EQ(delay(2, 5), seconds(0));
  must(apply("session.login", login_body("usr_admin", "ses_2", 2, 5), 2));
  // The owner coming in does not set the stranger free.
  EXPECT_GT(delay(2), seconds(0));
  for (int i = 0; i < 10; ++i) fail(3, 5);
  EXPECT_EQ(delay(3, 5), std::chrono::minutes(30));
  must(apply("user.unlock", Fields().set("id", "usr_admin"), 4));
  EXPECT_EQ(delay(4), seconds(0));
  EXPECT_EQ(delay(4, 5), seconds(0));
}

TEST_F(LoginTest, UnknownDeviceCountsForTheAccount) {
  init();
  for (int i = 0; i < 3; ++i) fail(0, 77);
  EXPECT_EQ(delay(0), seconds(2));
}

TEST_F(LoginTest, UnknownNamesAreRecordedWithoutTheName) {
  init();
  must(apply("session.login_failed", Fields().set("username", "hunter2 is my password")));
  EXPECT_EQ(count("SELECT count(*) FROM audit WHERE result = 'denied'"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM audit WHERE details LIKE '%hunter2%' OR object LIKE '%hunter2%'"), 0);
}

TEST_F(LoginTest, SessionRemembersTheLoginBefore) {
  init();
  must(apply("session.login", login_body("usr_admin", "ses_1", 1), 5));
  EXPECT_FALSE(find_session(db(), "ses_1")->previous_login_at);
  must(apply("session.login", login_body("usr_admin", "ses_2", 2), 9));
  EXPECT_EQ(find_session(db(), "ses_2")->previous_login_at, at(5));
  EXPECT_EQ(find_session(db(), "ses_2")->previous_login_address, "192.0.2.9");
}

TEST_F(LoginTest, SessionsRunOutAndAreBounded) {
  init();
  must(apply("session.login", login_body("usr_admin", "ses_old", 200), 0));
  must(apply("session.touch", Fields().set("session_id", "ses_old"), 61));
  EXPECT_EQ(find_session(db(), "ses_old")->last_seen_at, at(61));
  must(apply("session.touch", Fields().set("session_id", "ses_old"), 90));
  EXPECT_EQ(find_session(db(), "ses_old")->last_seen_at, at(61));  // coarse
  EXPECT_FALSE(apply("session.touch", Fields().set("session_id", "ses_old"), 43'200));
  must(apply("user.unlock", Fields().set("id", "usr_admin"), 43'201));  // any command forgets it
  EXPECT_EQ(count("SELECT count(*) FROM sessions"), 0);
  for (int i = 0; i < 70; ++i) {
    Fields body = login_body("usr_admin", "ses_" + std::to_string(100 + i), 0);
    Bytes hash(32, 1);
    hash[0] = static_cast<std::uint8_t>(i);
    body.set("secret_hash", hash);
    must(apply("session.login", body, 43'300 + i));
  }
  EXPECT_EQ(count("SELECT count(*) FROM sessions"), 64);
  EXPECT_FALSE(find_session(db(), "ses_100"));
  EXPECT_TRUE(find_session(db(), "ses_169"));
}

TEST_F(LoginTest, TokensAreCheckedAndRunOut) {
  init();
  must(apply("token.create", token_body("usr_admin", "tok_1", "abcdefgh", at(100))));
  EXPECT_FALSE(apply("token.create", token_body("usr_admin", "tok_2", "abcdefgh", at(100))));
  EXPECT_FALSE(apply("token.create", token_body("usr_admin", "tok_2", "bbbbbbbb", at(-1))));
  EXPECT_FALSE(apply("token.create", token_body("usr_admin", "tok_2", "bbbbbbbb", at(86400ll * 400))));
  Fields scopes = token_body("usr_admin", "tok_2", "bbbbbbbb", at(100));
  scopes.set("scopes", std::vector<std::string>{"root"});
  EXPECT_FALSE(apply("token.create", scopes));
  must(apply("token.touch", Fields().set("id", "tok_1"), 10));
  EXPECT_EQ(find_token(db(), "tok_1")->last_used_at, at(10));
  must(apply("user.unlock", Fields().set("id", "usr_admin"), 100 + 86400 * 30));
  EXPECT_FALSE(find_token(db(), "tok_1"));
}

}  // namespace
}  // namespace samovar::cluster::testing
