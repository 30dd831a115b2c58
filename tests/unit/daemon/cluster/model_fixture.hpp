// Bodies of commands on jobs and models, and a box with a data set and three users.
#pragma once
#include <string>
#include <vector>

#include "daemon/cluster/audit.hpp"
#include "daemon/cluster/rows_models.hpp"
#include "tests/unit/daemon/cluster/dataset_fixture.hpp"

namespace samovar::cluster::testing {

inline Fields job_body(const std::string& id, const std::string& name = "readmission",
                       const std::string& owner = "usr_boris") {
  Fields body;
  body.set("id", id).set("kind", "glm").set("name", name).set("owner_id", owner);
  body.set("dataset_id", "dst_1").set("dataset_version", std::int64_t{1});
  body.set("spec", to_bytes("{\"kind\":\"glm\",\"target\":\"age\"}")).set("wrapped_key", Bytes(72, 5));
  return body;
}

inline Fields job_end(const std::string& id, const std::string& state, const std::string& error = {}) {
  Fields body;
  body.set("id", id).set("state", state).set("error", error).set("summary", to_bytes("{}"));
  return body;
}

// An imported version when `job` is empty.
inline Fields model_body(const std::string& name, const std::string& job,
                         const std::string& owner = "usr_boris") {
  Fields body;
  body.set("name", name).set("description", to_bytes("for the ward")).set("kind", job.empty() ? "glm" : "");
  body.set("summary", to_bytes("{\"seconds\":2}")).set("created_by", owner).set("job_id", job);
  body.set("dataset_id", job.empty() ? "" : "dst_1");
  body.set("dataset_version", std::int64_t{job.empty() ? 0 : 1}).set("dataset_hash", std::string(64, 'd'));
  body.set("code_version", "0.4.0").set("spec", to_bytes("{\"kind\":\"glm\"}"));
  body.set("signature", to_bytes("{\"inputs\":[]}")).set("headline", to_bytes("{\"auc\":0.74}"));
  body.set("stored_bytes", std::int64_t{4096}).set("hash", hash_of(3)).set("wrapped_key", Bytes(72, 5));
  body.set("evaluation_name", "evaluation").set("evaluation_hash", hash_of(4));
  return body;
}

class ModelFixture : public MachineFixture {
 protected:
  ModelFixture() {
    init();
    must(apply("user.create", user_body("usr_boris", "boris", "analyst")));
    must(apply("user.create", user_body("usr_vera", "vera", "viewer")));
    must(apply("user.create", user_body("usr_ada", "ada", "analyst")));
    must(apply("dataset.commit", manifest_body("dst_1", "Ward 6", {}, "usr_admin")));
  }
  Refusal why(const Result<Fields>& reply) { return reply ? Refusal::none : refusal_of(reply.error()); }
  Errc code(const Result<Fields>& reply) { return reply ? Errc::internal : reply.error().code(); }
  Fields id(const std::string& text) { return Fields().set("id", text); }
  Fields named(const std::string& model, std::int64_t version) {
    return Fields().set("name", model).set("version", version);
  }
  // A job, and the version it makes.
  void train(const std::string& job, const std::string& name = "readmission") {
    must(apply("job.begin", job_body(job, name)));
    must(apply("model.commit", model_body(name, job)));
  }
  std::vector<AuditEntry> audit(const std::string& action) {
    AuditQuery query;
    query.action = action;
    return query_audit(db(), query).items;
  }
};

}  // namespace samovar::cluster::testing
