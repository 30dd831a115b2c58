// Handing on the right to add nodes, and losing it.
#include <gtest/gtest.h>

#include "daemon/api/ca_wraps.hpp"
#include "security/certificates.hpp"
#include "security/password_wrap.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

// Ada founded the box and can add nodes; mara is an administrator, too.
struct Two {
  Box box;
  As ada = box.log_in(box.admin);
  cluster::User mara = box.add_user("mara", cluster::Role::admin);
  security::SecretBytes key;

  Two() {
    cluster::Call call;
    call.actor = cluster::Actor::system();
    const auto ca = security::PrivateKey::generate().value();
    key = ca.to_der();
    const std::string id = box.node.state->info()->id;
    const auto certificate = security::make_cluster_ca(ca, id).value();
    const auto wrap = security::wrap_secret_with_password(key, as_bytes(std::string_view(kPassword)),
                                                          ca_wrap_aad(id, box.admin.id), security::kTestCost)
                          .value();
    auto put = box.run(box.node.state->put_setting(
        call, std::string(kCaSetting), make_ca_document(certificate.to_pem(), box.admin.id, wrap), {}));
    if (!put) ADD_FAILURE() << put.error().message();
  }
  As come_in(const std::string& name, const std::string& password = kPassword) {
    const Reply reply = box.post("/api/v1/session",
                                 {{"username", name}, {"password", password}, {"transport", "bearer"}}, {});
    EXPECT_EQ(reply.status, 200) << reply.response.body;
    As as;
    as.bearer = reply.body.value("session_token", "");
    return as;
  }
  std::string of_mara(const std::string& what) { return "/api/v1/users/" + mara.id + what; }
  json node_key() { return box.get(of_mara(""), ada).body["node_key"]; }
  Reply allow(const As& by, const std::string& password = kPassword) {
    return box.post(of_mara(":allow-joins"), {{"password", password}}, by);
  }
  Reply approve(const As& by, const std::string& password = kPassword) {
    box.members.ca_key = {};
    return box.post("/api/v1/peers/k7q2m4xp:approve", {{"password", password}}, by);
  }
  bool opened() { return box.members.ca_key.equal(key); }
  Reply patch_mara(const json& change, const As& by) {
    As with = by;
    with.headers["If-Match"] = "*";
    return box.send(Method::patch, of_mara(""), change, with);
  }
};

TEST(CaHolders, TheRightIsGivenWithAPasswordAndWorks) {
  Two t;
  EXPECT_EQ(t.node_key(), "none");
  EXPECT_EQ(t.allow(t.ada).code(), "no_own_key");
  const As mara = t.come_in("mara");
  EXPECT_EQ(t.node_key(), "ready");
  EXPECT_EQ(t.approve(mara).code(), "no_ca_key");
  EXPECT_EQ(t.allow(t.ada, kOtherPassword).code(), "wrong_password");
  EXPECT_EQ(t.allow(mara).code(), "no_ca_key");
  const Reply given = t.allow(t.ada);
  ASSERT_EQ(given.status, 200) << given.response.body;
  EXPECT_EQ(given.body["node_key"], "held");
  ASSERT_EQ(t.approve(mara).status, 202);
  EXPECT_TRUE(t.opened());
  ASSERT_EQ(t.approve(t.ada).status, 202);
  EXPECT_TRUE(t.opened());
  EXPECT_EQ(t.box.audit_count("user.allow_joins"), 1u);
}

TEST(CaHolders, ItOutlivesTheFounderAndAChangeOfPassword) {
  Two t;
  As mara = t.come_in("mara");
  ASSERT_EQ(t.allow(t.ada).status, 200);
  ASSERT_EQ(t.box
                .post("/api/v1/session:password",
                      {{"current_password", kPassword}, {"new_password", kOtherPassword}}, mara)
                .status,
            204);
  ASSERT_EQ(t.box.send(Method::del, "/api/v1/users/" + t.box.admin.id, nullptr, mara).status, 204);
  mara = t.come_in("mara", kOtherPassword);
  ASSERT_EQ(t.approve(mara, kOtherPassword).status, 202);
  EXPECT_TRUE(t.opened());
}

TEST(CaHolders, WhoIsAdministratorNoMoreLosesItForGood) {
  Two t;
  t.come_in("mara");
  ASSERT_EQ(t.allow(t.ada).status, 200);
  ASSERT_EQ(t.patch_mara({{"role", "analyst"}}, t.ada).status, 200);
  EXPECT_EQ(t.node_key(), nullptr);
  EXPECT_EQ(t.allow(t.ada).code(), "not_an_admin");
  ASSERT_EQ(t.patch_mara({{"role", "admin"}}, t.ada).status, 200);
  EXPECT_EQ(t.node_key(), "none");
  const As mara = t.come_in("mara");
  EXPECT_EQ(t.approve(mara).code(), "no_ca_key");
  EXPECT_EQ(t.box.node.state->setting(kCaSetting).json.find("\"box\""), std::string::npos);
}

TEST(CaHolders, ItCanBeTakenBackButNotFromTheLast) {
  Two t;
  const As mara = t.come_in("mara");
  ASSERT_EQ(t.allow(t.ada).status, 200);
  EXPECT_EQ(t.box.post(t.of_mara(":forbid-joins"), nullptr, t.ada).body["node_key"], "ready");
  EXPECT_EQ(t.approve(mara).code(), "no_ca_key");
  EXPECT_EQ(t.box.audit_count("user.forbid_joins"), 1u);
  const std::string ada = "/api/v1/users/" + t.box.admin.id;
  EXPECT_EQ(t.box.post(ada + ":forbid-joins", nullptr, mara).code(), "last_key_holder");
  EXPECT_EQ(t.box.send(Method::del, ada, nullptr, mara).code(), "last_key_holder");
  As with = mara;
  with.headers["If-Match"] = "*";
  EXPECT_EQ(t.box.send(Method::patch, ada, {{"role", "viewer"}}, with).code(), "last_key_holder");
  EXPECT_EQ(t.box.send(Method::patch, ada, {{"disabled", true}}, with).status, 200);
}

TEST(CaHolders, APasswordSetByAnotherAdministratorOpensNothing) {
  Two t;
  t.come_in("mara");
  ASSERT_EQ(t.allow(t.ada).status, 200);
  ASSERT_EQ(t.box.post(t.of_mara(":set-password"), {{"password", kOtherPassword}}, t.ada).status, 204);
  const As mara = t.come_in("mara", kOtherPassword);
  EXPECT_EQ(t.approve(mara, kOtherPassword).code(), "no_ca_key");
  EXPECT_EQ(t.node_key(), "ready");
  ASSERT_EQ(t.allow(t.ada).status, 200);
  ASSERT_EQ(t.approve(mara, kOtherPassword).status, 202);
  EXPECT_TRUE(t.opened());
}

TEST(CaHolders, OthersGetNoKey) {
  Two t;
  t.box.add_user("vera", cluster::Role::viewer);
  t.come_in("vera");
  EXPECT_EQ(t.box.node.state->setting(kCaSetting).json.find("\"public\""), std::string::npos);
}

}  // namespace
}  // namespace samovar::api::test
