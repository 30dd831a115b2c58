#include "daemon/cluster/model_rights.hpp"

#include <gtest/gtest.h>

#include <string>

namespace samovar::cluster {
namespace {

Actor actor(Role role, const std::string& user) {
  Actor out;
  out.user_id = user;
  out.role = role;
  out.auth = AuthKind::session;
  return out;
}

Model model() {
  Model out;
  out.owner_id = "usr_owner";
  out.granted_ids = {"usr_granted"};
  return out;
}

JobRecord job(std::uint32_t model_version) {
  JobRecord out;
  out.owner_id = "usr_owner";
  out.model_version = model_version;
  return out;
}

struct Row {
  Role role;
  const char* user;
  const char* model_rights;  // see, use, export, manage
  const char* job_rights;    // see, stop, control
};

// The tables of model_rights.hpp, cell by cell.
constexpr Row kRows[] = {
    {Role::admin, "usr_other", "s--m", "ss-"},     {Role::admin, "usr_granted", "suem", "ss-"},
    {Role::admin, "usr_owner", "suem", "ssc"},     {Role::analyst, "usr_other", "----", "---"},
    {Role::analyst, "usr_granted", "sue-", "s--"}, {Role::analyst, "usr_owner", "suem", "ssc"},
    {Role::viewer, "usr_other", "----", "---"},    {Role::viewer, "usr_granted", "su--", "s--"},
    {Role::viewer, "usr_owner", "su--", "s--"},    {Role::auditor, "usr_other", "s---", "s--"},
    {Role::auditor, "usr_granted", "s---", "s--"}, {Role::service, "usr_other", "----", "---"},
    {Role::service, "usr_granted", "su--", "---"}, {Role::service, "usr_owner", "su--", "ssc"},
};

std::string model_rights(const Actor& who) {
  const Model m = model();
  std::string out;
  out += may_see_model(who, m) ? 's' : '-';
  out += may_use_model(who, m) ? 'u' : '-';
  out += may_export_model(who, m) ? 'e' : '-';
  out += may_manage_model(who, m) ? 'm' : '-';
  return out;
}

std::string job_rights(const Actor& who, std::uint32_t model_version) {
  const JobRecord j = job(model_version);
  std::string out;
  out += may_see_job(who, j, model()) ? 's' : '-';
  out += may_stop_job(who, j) ? 's' : '-';
  out += may_control_job(who, j) ? 'c' : '-';
  return out;
}

TEST(ModelRights, AreThoseOfTheTable) {
  for (const Row& row : kRows) {
    const Actor who = actor(row.role, row.user);
    EXPECT_EQ(model_rights(who), row.model_rights) << to_string(row.role) << ' ' << row.user;
    EXPECT_EQ(job_rights(who, 1), row.job_rights) << to_string(row.role) << ' ' << row.user;
  }
  EXPECT_EQ(model_rights(Actor::system()), "suem");
  EXPECT_EQ(job_rights(Actor::system(), 0), "ssc");
  EXPECT_EQ(model_rights(Actor{}), "----");
  EXPECT_EQ(job_rights(Actor{}, 1), "---");
}

TEST(ModelRights, AGrantShowsOnlyTheJobThatMadeTheModel) {
  EXPECT_EQ(job_rights(actor(Role::viewer, "usr_granted"), 0), "---");
  EXPECT_FALSE(may_see_job(actor(Role::viewer, "usr_granted"), job(1), std::nullopt));
}

TEST(ModelRights, NobodyIsNotTheOwnerOfWhatHasNone) {
  Model ownerless = model();
  ownerless.owner_id.clear();
  EXPECT_FALSE(may_use_model(actor(Role::analyst, ""), ownerless));
}

}  // namespace
}  // namespace samovar::cluster
