#include "tests/unit/daemon/cluster/machine_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class UsersTest : public MachineFixture {};

TEST_F(UsersTest, NothingGoesBeforeSetUp) {
  const auto reply = apply("user.create", user_body("usr_2", "boris"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::unavailable);
}

TEST_F(UsersTest, SetUpHappensOnce) {
  init();
  const auto again = apply("cluster.init", init_body());
  ASSERT_FALSE(again);
  EXPECT_EQ(refusal_of(again.error()), Refusal::already_done);
  const auto user = find_user_by_name(db(), "anna");
  ASSERT_TRUE(user);
  EXPECT_EQ(user->role, Role::admin);
}

TEST_F(UsersTest, NamesAreUniqueInAnyCase) {
  init();
  must(apply("user.create", user_body("usr_2", "Boris")));
  EXPECT_TRUE(find_user_by_name(db(), "boris"));
  const auto again = apply("user.create", user_body("usr_3", "bORIS"));
  ASSERT_FALSE(again);
  EXPECT_EQ(refusal_of(again.error()), Refusal::name_taken);
}

TEST_F(UsersTest, BadFieldsAreRefusedByName) {
  init();
  for (const char* name : {"", "with space", "semi;colon", "quote'", "ümlaut"}) {
    const auto reply = apply("user.create", user_body("usr_2", name));
    ASSERT_FALSE(reply) << name;
    EXPECT_EQ(reply.error().code(), Errc::invalid);
    EXPECT_NE(reply.error().message().find("username"), std::string::npos);
  }
  EXPECT_FALSE(apply("user.create", user_body("usr_2", "boris", "king")));
  EXPECT_FALSE(apply("user.create", user_body("usr_2", std::string(65, 'a'))));
  Fields control = user_body("usr_2", "boris");
  control.set("display_name", "line\nbreak");
  EXPECT_FALSE(apply("user.create", control));
  Fields no_utf8 = user_body("usr_2", "boris");
  no_utf8.set("display_name", "\xff\xfe");
  EXPECT_FALSE(apply("user.create", no_utf8));
  EXPECT_EQ(count("SELECT count(*) FROM users"), 1);
}

TEST_F(UsersTest, StaleRevisionIsRefused) {
  init();
  must(apply("user.create", user_body("usr_2", "boris")));
  Fields change;
  change.set("id", "usr_2").set("display_name", "Boris").set("if_revision", std::int64_t{1});
  must(apply("user.update", change));
  const auto stale = apply("user.update", change);
  ASSERT_FALSE(stale);
  EXPECT_EQ(refusal_of(stale.error()), Refusal::stale_revision);
  EXPECT_EQ(find_user(db(), "usr_2")->revision, 2u);
}

TEST_F(UsersTest, LastAdminStays) {
  init();
  must(apply("user.create", user_body("usr_2", "boris", "admin")));
  auto as_boris = admin_actor();
  as_boris.user_id = "usr_2";
  const auto by_boris = [&](std::string type, Fields body) {
    return apply(make_command(std::move(type), std::move(body), at(1), {}, as_boris));
  };
  // With two of them, one may go.
  must(by_boris("user.update", Fields().set("id", "usr_admin").set("disabled", true)));
  // Now boris is the last active one, whoever asks.
  for (const Fields& change : {Fields().set("id", "usr_2").set("role", "viewer"),
                               Fields().set("id", "usr_2").set("disabled", true)}) {
    const auto reply = apply("user.update", change);
    ASSERT_FALSE(reply);
    EXPECT_EQ(refusal_of(reply.error()), Refusal::last_admin);
  }
  const auto deleted = apply("user.delete", Fields().set("id", "usr_2"));
  ASSERT_FALSE(deleted);
  EXPECT_EQ(refusal_of(deleted.error()), Refusal::last_admin);
  // A disabled administrator is not the last active one.
  must(by_boris("user.delete", Fields().set("id", "usr_admin")));
}

TEST_F(UsersTest, NobodyChangesTheirOwnRole) {
  init();
  must(apply("user.create", user_body("usr_2", "boris", "admin")));
  for (const Fields& change : {Fields().set("id", "usr_admin").set("role", "viewer"),
                               Fields().set("id", "usr_admin").set("disabled", true)}) {
    const auto reply = apply("user.update", change);
    ASSERT_FALSE(reply);
    EXPECT_EQ(refusal_of(reply.error()), Refusal::own_account);
  }
  EXPECT_EQ(refusal_of(apply("user.delete", Fields().set("id", "usr_admin")).error()), Refusal::own_account);
  must(apply("user.update", Fields().set("id", "usr_admin").set("display_name", "Anna")));
}

TEST_F(UsersTest, DeletingTakesEverythingOfTheUser) {
  init();
  must(apply("user.create", user_body("usr_2", "boris")));
  must(apply("session.login", login_body("usr_2", "ses_1", 1, 5)));
  must(apply("token.create", token_body("usr_2", "tok_1", "abcdefgh", at(86400))));
  must(apply("user.delete", Fields().set("id", "usr_2"), 1));
  for (const char* table : {"sessions", "tokens", "devices"})
    EXPECT_EQ(count("SELECT count(*) FROM " + std::string(table)), 0) << table;
  EXPECT_FALSE(find_user(db(), "usr_2"));
}

TEST_F(UsersTest, RoleDisablingAndPasswordEndSessions) {
  init();
  must(apply("user.create", user_body("usr_2", "boris")));
  must(apply("session.login", login_body("usr_2", "ses_1", 1)));
  must(apply("user.update", Fields().set("id", "usr_2").set("role", "analyst")));
  EXPECT_FALSE(find_session(db(), "ses_1"));
  must(apply("session.login", login_body("usr_2", "ses_2", 2)));
  must(apply("session.login", login_body("usr_2", "ses_3", 3)));
  Fields password;
  password.set("id", "usr_2").set("password_hash", "$new").set("keep_session_id", "ses_3");
  must(apply("user.set_password", password));
  EXPECT_FALSE(find_session(db(), "ses_2"));
  EXPECT_TRUE(find_session(db(), "ses_3"));
  must(apply("user.update", Fields().set("id", "usr_2").set("disabled", true)));
  EXPECT_FALSE(find_session(db(), "ses_3"));
  const auto login = apply("session.login", login_body("usr_2", "ses_4", 4));
  ASSERT_FALSE(login);
  EXPECT_EQ(login.error().code(), Errc::denied);
}

}  // namespace
}  // namespace samovar::cluster::testing
