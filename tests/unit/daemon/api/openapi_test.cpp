// openapi.json and the route table say the same: paths, methods, rights, and references that resolve.
#include <gtest/gtest.h>

#include <set>

#include "base/json.hpp"
#include "daemon/api/auth.hpp"
#include "daemon/api/handlers.hpp"
#include "tests/unit/daemon/api/box.hpp"
#include "tests/unit/daemon/api/dataset_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

json access_of(const Route& route) {
  json roles = json::array();
  if (!route.access.needs_user()) {
    roles.push_back("anonymous");
  } else {
    for (const Role role : kAllRoles)
      if (route.access.allows(role)) roles.push_back(to_string(role));
  }
  std::string tokens(route.access.scope());
  if (tokens.empty()) tokens = is_unsafe(route.method) ? "write" : "read";
  if (!route.access.needs_user()) tokens = "never";
  json phases = json::array({"ready"});
  if (route.access.is_open_when_new()) phases = json::array({"new", "ready"});
  if (route.access.every_phase())
    phases = json::array({"new", "locked", "starting", "joining", "ready", "removed"});
  return {{"roles", roles}, {"tokens", tokens}, {"reauth", route.access.needs_reauth()}, {"phases", phases}};
}

std::string method_name(Method method) {
  std::string name(to_string(method));
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

void sort_roles(json& access) {
  auto roles = access["roles"].get<std::set<std::string>>();
  access["roles"] = roles;
}

void check_references(const json& document, const json& value) {
  if (value.is_object()) {
    if (value.contains("$ref")) {
      const std::string reference = value["$ref"];
      ASSERT_EQ(reference.rfind("#/", 0), 0u) << reference;
      EXPECT_TRUE(document.contains(json::json_pointer(reference.substr(1)))) << reference;
    }
    for (const auto& [key, child] : value.items()) check_references(document, child);
  } else if (value.is_array()) {
    for (const auto& child : value) check_references(document, child);
  }
}

TEST(OpenApi, PathsMethodsAndAccessAreThoseOfTheRouteTable) {
  Box box;
  const json document = json::parse(openapi_document());
  std::set<std::pair<std::string, std::string>> described;
  for (const auto& [path, operations] : document["paths"].items())
    for (const auto& [method, operation] : operations.items()) described.emplace(method, path);
  std::set<std::pair<std::string, std::string>> served;
  for (const Route& route : box.router->routes()) {
    const std::string method = method_name(route.method);
    const std::string path(route.pattern);
    served.emplace(method, path);
    if (described.count({method, path}) == 0) continue;
    json stated = document["paths"][path][method]["x-samovar-access"];
    json real = access_of(route);
    sort_roles(stated);
    sort_roles(real);
    EXPECT_EQ(stated, real) << method << " " << path;
    const bool has_body = document["paths"][path][method].contains("requestBody");
    EXPECT_EQ(has_body, route.body != Body::none) << method << " " << path;
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, ReferencesResolveAndOperationIdsAreUnique) {
  const json document = json::parse(openapi_document());
  EXPECT_EQ(document["openapi"], "3.1.0");
  check_references(document, document);
  std::set<std::string> ids;
  for (const auto& [path, operations] : document["paths"].items())
    for (const auto& [method, operation] : operations.items())
      EXPECT_TRUE(ids.insert(operation["operationId"]).second) << operation["operationId"];
}

TEST(OpenApi, IsServedToAnyone) {
  Box box;
  const Reply reply = box.get("/openapi.json", {});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["info"]["title"], "Samovar");
}

// Examples are what their schemas describe: the same names, none missing.
TEST(OpenApi, ExamplesHaveTheShapeOfTheirSchemas) {
  const json document = json::parse(openapi_document());
  unsigned seen = 0;
  for (const auto& [name, schema] : document["components"]["schemas"].items()) {
    if (!schema.contains("example")) continue;
    ++seen;
    for (const auto& [member, value] : schema["example"].items())
      EXPECT_TRUE(schema["properties"].contains(member)) << name << " has " << member;
    if (!schema.contains("required")) continue;
    for (const auto& member : schema["required"])
      EXPECT_TRUE(schema["example"].contains(member)) << name << " lacks " << member;
  }
  EXPECT_GE(seen, 10u);
}

// Answers have the fields their schemas require, and no others.
void expect_shape(const json& document, const std::string& schema, const json& value) {
  const json& shape = document["components"]["schemas"][schema];
  for (const auto& name : shape["required"]) EXPECT_TRUE(value.contains(name)) << schema << " lacks " << name;
  for (const auto& [name, child] : value.items())
    EXPECT_TRUE(shape["properties"].contains(name)) << schema << " has " << name;
}

TEST(OpenApi, AnswersHaveTheShapeOfTheirSchemas) {
  Box box;
  const json document = json::parse(openapi_document());
  box.node.latest.t = box.clock.wall();
  const As as = box.log_in(box.admin);
  box.token_of(box.admin, {"read"});
  expect_shape(document, "SetupState", box.get("/api/v1/setup", {}).body);
  expect_shape(document, "Session", box.get("/api/v1/session", as).body);
  expect_shape(document, "Cluster", box.get("/api/v1/cluster", as).body);
  const json nodes = box.get("/api/v1/nodes", as).body;
  expect_shape(document, "NodeList", nodes);
  expect_shape(document, "Node", nodes["items"][0]);
  expect_shape(document, "Sample", nodes["items"][0]["sample"]);
  expect_shape(document, "History", box.get("/api/v1/metrics/history?metric=cpu&range=5m", as).body);
  expect_shape(document, "User", box.get("/api/v1/users", as).body["items"][0]);
  expect_shape(document, "Token", box.get("/api/v1/tokens", as).body["items"][0]);
  expect_shape(document, "SessionInfo", box.get("/api/v1/sessions", as).body["items"][0]);
  expect_shape(document, "AuditEntry", box.get("/api/v1/audit", as).body["items"][0]);
  expect_shape(document, "AuditVerdict", box.post("/api/v1/audit:verify", nullptr, as).body);
  expect_shape(document, "GeneralSettings", box.get("/api/v1/settings/general", as).body);
  expect_shape(document, "PowerSettings", box.get("/api/v1/settings/power", as).body);
  expect_shape(document, "Power", box.get("/api/v1/power", as).body);
  expect_shape(document, "TlsSettings", box.get("/api/v1/settings/tls", as).body);
  const std::string dataset = add_dataset(box, "Ward", box.admin).id;
  const std::string path = "/api/v1/datasets/" + dataset;
  const json datasets = box.get("/api/v1/datasets", as).body;
  expect_shape(document, "DatasetList", datasets);
  expect_shape(document, "Dataset", datasets["items"][0]);
  expect_shape(document, "DatasetDetail", box.get(path, as).body);
  expect_shape(document, "DatasetSchema", box.get(path + "/schema", as).body);
  expect_shape(document, "Preview", box.get(path + "/preview", as).body);
  expect_shape(document, "Profile", box.get(path + "/profile", as).body);
  const json shards = box.get(path + "/shards", as).body;
  expect_shape(document, "ShardMap", shards);
  expect_shape(document, "Shard", shards["items"][0]);
  const json formats = box.get("/api/v1/formats", as).body;
  expect_shape(document, "FormatList", formats);
  expect_shape(document, "Format", formats["items"][0]);
  expect_shape(document, "Operation", box.post("/api/v1/datasets:sample", nullptr, as).body);
  expect_shape(document, "OperationList", box.get("/api/v1/operations", as).body);
  expect_shape(document, "Problem", box.get("/api/v1/users/usr_none", as).body);
}

TEST(OpenApi, AnswersAboutOtherNodesHaveTheShapeOfTheirSchemas) {
  Box box;
  const json document = json::parse(openapi_document());
  const As as = box.log_in(box.admin);
  PeerEntry peer;
  peer.id = "k7q2m4xp";
  peer.join.emplace();
  box.members.peer_rows = {peer};
  box.members.link_rows.resize(1);
  box.members.doctor_report.checks.resize(1);
  box.members.doctor_report.interfaces.resize(1);
  box.members.doctor_report.links.resize(1);
  box.members.doctor_report.neighbours = {peer};
  const json peers = box.get("/api/v1/peers", as).body;
  expect_shape(document, "PeerList", peers);
  expect_shape(document, "Peer", peers["items"][0]);
  expect_shape(document, "Join", peers["items"][0]["join"]);
  const json links = box.get("/api/v1/links", as).body;
  expect_shape(document, "LinkList", links);
  expect_shape(document, "Link", links["links"][0]);
  const json doctor = box.get("/api/v1/doctor", as).body;
  expect_shape(document, "Doctor", doctor);
  expect_shape(document, "Check", doctor["checks"][0]);
  expect_shape(document, "Interface", doctor["interfaces"][0]);
  expect_shape(document, "CheckList", box.post("/api/v1/doctor:probe", {{"address", "10.0.0.9"}}, as).body);
  box.node.current = Phase::fresh;
  const json setup = box.get("/api/v1/setup", {}).body;
  expect_shape(document, "SetupState", setup);
  expect_shape(document, "GuestState", setup["join"]);
}

TEST(OpenApi, AnswersAboutModelsHaveTheShapeOfTheirSchemas) {
  Box box;
  const json document = json::parse(openapi_document());
  const As as = box.log_in(box.admin);
  const json spec = {{"name", "m"}, {"dataset", add_dataset(box, "Ward", box.admin).id}, {"target", "age"}};
  expect_shape(document, "AlgorithmList", box.get("/api/v1/algorithms", as).body);
  expect_shape(document, "Algorithm", box.get("/api/v1/algorithms", as).body["items"][0]);
  expect_shape(document, "JobCheck", box.post("/api/v1/jobs:check", spec, as).body);
  expect_shape(document, "JobEstimate", box.post("/api/v1/jobs:estimate", spec, as).body);
  const json job = box.post("/api/v1/jobs", spec, as).body;
  const std::string id = job["id"];
  expect_shape(document, "Job", job);
  expect_shape(document, "JobList", box.get("/api/v1/jobs", as).body);
  expect_shape(document, "JobMetrics", box.get("/api/v1/jobs/" + id + "/metrics", as).body);
  const json log = box.get("/api/v1/jobs/" + id + "/logs", as).body;
  expect_shape(document, "JobLog", log);
  expect_shape(document, "JobLogLine", log["items"][0]);
  ASSERT_TRUE(box.run(box.models.finish(id)));
  expect_shape(document, "ModelList", box.get("/api/v1/models", as).body);
  expect_shape(document, "Model", box.get("/api/v1/models", as).body["items"][0]);
  const json model = box.get("/api/v1/models/m", as).body;
  expect_shape(document, "ModelDetail", model);
  expect_shape(document, "ModelVersion", model["versions"][0]);
  expect_shape(document, "ModelVersion", box.get("/api/v1/models/m/versions/1", as).body);
  expect_shape(document, "ModelComparison", box.get("/api/v1/models:compare?a=m@1&b=m", as).body);
  const json rows = {{"rows", {{{"ward", 7}}}}, {"reasons", true}};
  const json answer = box.post("/api/v1/models/m:predict", rows, as).body;
  expect_shape(document, "PredictAnswer", answer);
  expect_shape(document, "Prediction", answer["predictions"][0]);
  expect_shape(document, "InputWarning", answer["warnings"][0]);
  const json scoring = {{"model", "m"}, {"upload_id", "upl_1"}};
  expect_shape(document, "Scoring", box.post("/api/v1/scorings", scoring, as).body);
  expect_shape(document, "ScoringList", box.get("/api/v1/scorings", as).body);
  expect_shape(document, "OipServer", box.get("/v2", as).body);
  expect_shape(document, "OipModel", box.get("/v2/models/m", as).body);
  expect_shape(document, "OipError", box.get("/v2/models/none", as).body);
  const json tensor = {{"name", "x"}, {"shape", {1}}, {"datatype", "FP64"}, {"data", {1.5}}};
  const json infer = box.post("/v2/models/m/infer", {{"inputs", {tensor}}}, as).body;
  expect_shape(document, "OipResponse", infer);
  expect_shape(document, "OipTensor", infer["outputs"][0]);
}

}  // namespace
}  // namespace samovar::api::test
