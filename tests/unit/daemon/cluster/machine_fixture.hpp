// A state machine without a log: commands applied one by one at times the test sets.
#pragma once
#include <gtest/gtest.h>
#include <sodium.h>

#include <memory>
#include <string>

#include "daemon/cluster/command.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/state_machine.hpp"

namespace samovar::cluster::testing {

inline WallTime at(std::int64_t seconds) { return WallTime(std::chrono::seconds(1'700'000'000 + seconds)); }

inline Actor admin_actor() {
  Actor actor;
  actor.user_id = "usr_admin";
  actor.username = "anna";
  actor.role = Role::admin;
  actor.auth = AuthKind::session;
  actor.address = "192.0.2.7";
  return actor;
}

inline Command make_command(std::string type, Fields body, WallTime time, std::string request_id = {},
                            Actor actor = admin_actor()) {
  Command command;
  command.type = std::move(type);
  command.body = std::move(body);
  command.time = time;
  command.request_id = std::move(request_id);
  command.actor = std::move(actor);
  return command;
}

inline Fields user_body(const std::string& id, const std::string& name, const std::string& role = "viewer") {
  Fields body;
  body.set("id", id).set("username", name).set("display_name", "Name of " + name).set("role", role);
  body.set("password_hash", "$argon2id$fake");
  return body;
}

inline Fields init_body() {
  Fields body;
  body.set("id", "clu_1").set("name", "Ward 6").set("time_zone", "Europe/Vienna");
  body.set("admin", user_body("usr_admin", "anna"));
  return body;
}

inline Bytes hash_of(std::uint8_t byte) { return Bytes(32, byte); }

inline Fields login_body(const std::string& user, const std::string& session, std::uint8_t secret,
                         std::uint8_t device = 0) {
  Fields body;
  body.set("user_id", user)
      .set("session_id", session)
      .set("kind", "cookie")
      .set("secret_hash", hash_of(secret));
  body.set("address", "192.0.2.9").set("user_agent", "test").set("lifetime_us", std::int64_t{43'200'000'000});
  if (device != 0) body.set("device_hash", hash_of(device));
  return body;
}

inline Fields token_body(const std::string& user, const std::string& id, const std::string& lookup,
                         WallTime expires) {
  Fields body;
  body.set("user_id", user).set("id", id).set("name", "backup script").set("lookup", lookup);
  body.set("secret_hash", hash_of(9))
      .set("scopes", std::vector<std::string>{"read"})
      .set("expires_us", expires);
  return body;
}

class MachineFixture : public ::testing::Test {
 protected:
  MachineFixture() {
    EXPECT_GE(sodium_init(), 0);
    auto machine = ClusterMachine::create();
    EXPECT_TRUE(machine);
    machine_ = *std::move(machine);
  }

  Result<Fields> apply(const Command& command) {
    return decode_reply(machine_->apply(++index_, encode_command(command)));
  }
  Result<Fields> apply(std::string type, Fields body, std::int64_t seconds = 0, std::string request_id = {}) {
    return apply(make_command(std::move(type), std::move(body), at(seconds), std::move(request_id)));
  }
  void init() {
    const auto reply = apply("cluster.init", init_body());
    ASSERT_TRUE(reply) << reply.error().message();
  }
  void must(const Result<Fields>& reply) { ASSERT_TRUE(reply) << reply.error().message(); }
  Db& db() { return machine_->db(); }
  std::int64_t count(std::string_view sql) {
    Query query(db(), sql);
    return query.next() ? query.number(0) : -1;
  }

  std::unique_ptr<ClusterMachine> machine_;
  std::uint64_t index_ = 1;
};

}  // namespace samovar::cluster::testing
