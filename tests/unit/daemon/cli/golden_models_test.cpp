// Jobs, models and predictions as scripts and people get them, byte for byte; see golden_test.cpp.
#include <gtest/gtest.h>

#include "fake_box.hpp"

#include "base/json.hpp"

namespace samovar::cli {
namespace {

constexpr const char* kJobs = R"({"items":[
 {"id":"job_2","kind":"glm","name":"readmission","owner_id":"usr_2","owner":"mara","dataset_id":"dst_1","dataset":"Ward 3","dataset_version":2,
  "target":"readmitted_30d","spec":{"kind":"glm","seed":1},"state":"running","step":"training","share":0.426,"rows":1200000,"pass":3,
  "rows_per_second":812345.6,"seconds":75.2,"seconds_left":101.4,"watt_hours":0.0123456789,"energy_estimated":true,"metric":"valid_loss",
  "best":0.412345678,"queue_position":0,"priority":10,"summary":{"seconds_to_target":61.5},"error":null,"attempt":1,"model":null,"model_version":null,"protected":false,"checkpoint_step":300,
  "created_at":"2026-11-16T05:59:00Z","started_at":"2026-11-16T06:00:00Z","ended_at":null,"revision":9},
 {"id":"job_1","kind":"glm","name":"stay","owner_id":"usr_2","owner":"mara","dataset_id":"dst_1","dataset":"Ward 3","dataset_version":1,
  "target":"length_of_stay","spec":{"kind":"glm","seed":1},"state":"failed","step":"preparing","share":0.01,"rows":0,"pass":0,"rows_per_second":0,
  "seconds":0.4,"seconds_left":null,"watt_hours":0,"energy_estimated":true,"metric":"","best":null,"queue_position":0,"priority":0,
  "error":"All values of bmi are missing.","attempt":2,"model":null,"model_version":null,"protected":true,"checkpoint_step":0,
  "created_at":"2026-11-15T05:00:00Z","started_at":"2026-11-15T05:00:01Z","ended_at":"2026-11-15T05:00:02Z","revision":4}],"next_cursor":null})";

constexpr const char* kModel =
    R"({"name":"readmission","description":"Who comes back","kind":"glm","owner_id":"usr_2","owner":"mara",
 "version":2,"serving":1,"granted":[{"user_id":"usr_3","username":"eve"}],"created_at":"2026-11-10T00:00:00Z","may_use":true,"may_export":false,
 "revision":5,"headline":{"task":"binary","metric":"auc","on":"test","value":0.741,"low":0.72,"high":0.76,"auc":0.741,"log_loss":0.41,"accuracy":0.8,"f1":0.3},"versions":[
 {"version":2,"stage":"candidate","protected":false,"created_at":"2026-11-16T06:00:00Z","created_by":"mara","job_id":"job_2","dataset_id":"dst_1",
  "dataset":"Ward 3","dataset_version":2,"dataset_hash":"ab12","code_version":"0.1.0","headline":{"auc":0.751},"stored_bytes":20480,"spec":{"kind":"glm"},
  "signature":{"target":"readmitted_30d","inputs":[{"name":"age","type":"integer"},{"name":"ward","type":"category","levels":["A"]}]}},
 {"version":1,"stage":"production","protected":true,"created_at":"2026-11-10T00:00:00Z","created_by":"mara","job_id":null,"dataset_id":null,
  "dataset":null,"dataset_version":null,"dataset_hash":"","code_version":"0.1.0","headline":{"task":"binary","metric":"auc","on":"test","rows":{"test":4000},"value":0.741,"low":0.72,"high":0.76,"auc":0.741,"log_loss":0.41},"stored_bytes":10240,"spec":{},
  "signature":{"target":"readmitted_30d","inputs":[]}}]})";

constexpr const char* kEvaluation =
    R"({"task":"binary","rows":{"train":14000,"valid":2000,"test":4000},
 "metrics":{"test":{"log_loss":{"value":0.4123,"low":0.40,"high":0.43},"auc":{"value":0.7411,"low":0.722,"high":0.760},"rmse":{"value":1234.5}},
            "valid":{"auc":{"value":0.745}},"train":{"auc":{"value":0.75}}},
 "baseline":{"auc":0.5,"log_loss":0.4512},"importance":[{"input":"sex","standardised":0.01,"permutation":0.0001},
 {"input":"prior_admissions_12m","standardised":0.6,"permutation":0.031}],"intercept":-2.35,"intercept_inference":{"estimate":-2.3,"se":0.1,"z":-23,"p":0},
 "coefficients":[{"input":"age","level":"","estimate":0.02,"se":0.001,"z":20,"p":0},{"input":"ward","level":"A","estimate":-0.1}],
 "leakage":[],"notes":["3 rows have no target and were left out."]})";

constexpr const char* kCompare =
    R"({"a":{"version":1,"metrics":{"test":{"auc":{"value":0.741}}}},"b":{"version":2,"metrics":{"test":{"auc":{"value":0.751}}}},
 "differences":[{"path":"/parameters/l2","a":0.1,"b":null}]})";

constexpr const char* kAnswer = R"({"model":"readmission","version":1,"classes":["false","true"],
 "predictions":[{"value":0.25,"label":"false","probabilities":[0.75,0.25],"reasons":[{"input":"age","value":"71","contribution":-0.125}]}],
 "warnings":[{"code":"missing_column","input":"ward","row":null,"detail":"ward is missing."}]})";

constexpr const char* kScorings =
    R"({"items":[{"id":"scr_1","owner_id":"usr_2","model":"readmission","version":1,"dataset_id":"dst_1",
 "upload_id":null,"state":"done","rows":20000,"rows_total":20000,"result_bytes":1048576,"error":null,"warnings":[],
 "created_at":"2026-11-16T06:00:00Z","ended_at":"2026-11-16T06:00:02Z"}],"next_cursor":null})";

struct Case {
  const char* file;
  std::vector<std::string> words;
};

void PrintTo(const Case& chosen, std::ostream* out) { *out << chosen.file; }

class GoldenModels : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenModels, OutputIsAsPromised) {
  using nlohmann::json;
  Bench bench;
  bench.box.on("GET /api/v1/jobs?limit=50", 200, kJobs);
  bench.box.on("GET /api/v1/jobs/job_2", 200, json::parse(kJobs)["items"][0].dump());
  bench.box.on("GET /api/v1/models?limit=200", 200, json{{"items", {json::parse(kModel)}}}.dump());
  bench.box.on("GET /api/v1/models/readmission", 200, kModel);
  bench.box.on("GET /api/v1/models/readmission/versions/1/evaluation", 200, kEvaluation);
  bench.box.on("GET /api/v1/models:compare?a=readmission%401&b=readmission%402", 200, kCompare);
  bench.box.on("POST /api/v1/models/readmission:predict", 200, kAnswer);
  bench.box.on("GET /api/v1/scorings?limit=200", 200, kScorings);
  const Outcome outcome = bench.run(GetParam().words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_golden(GetParam().file, outcome.out);
}

INSTANTIATE_TEST_SUITE_P(
    Cli, GoldenModels,
    ::testing::Values(
        Case{"jobs_list.txt", {"jobs", "list"}}, Case{"jobs_list.json", {"jobs", "list", "--json"}},
        Case{"jobs_list.csv", {"jobs", "list", "-o", "csv"}},
        Case{"jobs_show.txt", {"jobs", "show", "job_2"}}, Case{"models_list.txt", {"models", "list"}},
        Case{"models_list.json", {"models", "list", "--json"}},
        Case{"models_show.txt", {"models", "show", "readmission"}},
        Case{"models_show_version.txt", {"models", "show", "readmission@2"}},
        Case{"models_show_version.json", {"models", "show", "readmission@2", "--json"}},
        Case{"models_evaluation.txt", {"models", "evaluation", "readmission", "--coefficients"}},
        Case{"models_evaluation.json", {"models", "evaluation", "readmission", "--json"}},
        Case{"models_compare.txt", {"models", "compare", "readmission@1", "readmission@2"}},
        Case{"predict.txt", {"predict", "readmission", "--row", "age=71", "--reasons"}},
        Case{"predict.json", {"predict", "readmission", "--row", "age=71", "--json"}},
        Case{"predict.csv", {"predict", "readmission", "--row", "age=71", "--reasons", "-o", "csv"}},
        Case{"scorings_list.txt", {"scorings", "list"}},
        Case{"scorings_list.json", {"scorings", "list", "--json"}}),
    [](const ::testing::TestParamInfo<Case>& chosen) {
      std::string name = chosen.param.file;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace samovar::cli
