#include "trainer/spec.hpp"

#include <gtest/gtest.h>

#include "trainer/spec_device.hpp"

namespace samovar::trainer {
namespace {

using Json = nlohmann::json;

Schema visits() {
  return {{{"readmitted", ColumnType::boolean},
           {"ward", ColumnType::category},
           {"age", ColumnType::integer},
           {"weight kg", ColumnType::real},
           {"admitted", ColumnType::time},
           {"notes", ColumnType::text},
           {"codes", ColumnType::sparse},
           {"a/b~c", ColumnType::real}}};
}
Json minimal() { return {{"name", "readmission"}, {"dataset", "dst_1"}, {"target", "readmitted"}}; }

// Braces alone would make an object of them.
Json pairs(const std::vector<std::pair<std::string, std::string>>& list) {
  Json out = Json::array();
  for (const auto& [a, b] : list) out.push_back(Json::array({a, b}));
  return out;
}

// "pointer code" of each fault.
std::vector<std::string> faults(const Json& json, bool with_schema = true) {
  const Schema schema = visits();
  std::vector<std::string> out;
  for (const SpecFault& fault : parse_spec(json, with_schema ? &schema : nullptr).faults) {
    EXPECT_FALSE(fault.detail.empty());
    out.push_back(fault.pointer + " " + fault.code);
  }
  return out;
}
using Faults = std::vector<std::string>;

TEST(Spec, DefaultsAreSpelledOut) {
  const Schema schema = visits();
  const ParsedSpec parsed = parse_spec(minimal(), &schema);
  EXPECT_TRUE(parsed.faults.empty());
  const Json full = to_json(parsed.spec);
  EXPECT_EQ(full["split"]["kind"], "random");
  EXPECT_EQ(full["features"]["hash_bits"], 18);
  EXPECT_EQ(full["parameters"]["family"], "auto");
  EXPECT_EQ(full["seed"], 1);
  // Nodes of an earlier version refuse names that they do not know.
  EXPECT_FALSE(full["features"].contains("frequent_levels"));
}

TEST(Spec, FullFormComesBackAsItWas) {
  Json json = minimal();
  json["inputs"] = {"ward", "age", "weight kg"};
  json["weight"] = "a/b~c";
  json["split"] = {{"kind", "time"}, {"column", "admitted"}, {"valid", 0.05}, {"test", 0.3}};
  json["features"] = {{"categories", "hash"}, {"numbers", "plain"}, {"frequent_levels", 500}};
  json["features"]["interactions"] = pairs({{"ward", "age"}});
  json["parameters"] = {{"l2", 0.5}};
  json["seed"] = 7;
  const Schema schema = visits();
  const ParsedSpec once = parse_spec(json, &schema);
  ASSERT_TRUE(once.faults.empty()) << once.faults[0].pointer << " " << once.faults[0].detail;
  const ParsedSpec twice = parse_spec(to_json(once.spec), &schema);
  ASSERT_TRUE(twice.faults.empty()) << twice.faults[0].pointer << " " << twice.faults[0].detail;
  EXPECT_EQ(to_json(twice.spec), to_json(once.spec));
  EXPECT_EQ(twice.spec.features.interactions.size(), 1u);
  EXPECT_EQ(twice.spec.features.frequent_levels, 500u);
}

TEST(Spec, AllFaultsAtOnce) {
  const Json json = {
      {"kind", "forest"}, {"name", "no spaces please"}, {"colour", 1}, {"seed", -1}, {"inputs", 5}};
  EXPECT_EQ(faults(json, false),
            (Faults{"/kind choice", "/name range", "/dataset required", "/target required", "/inputs type",
                    "/seed range", "/colour unknown"}));
  EXPECT_EQ(faults(Json::array(), false), Faults{" type"});
}

TEST(Spec, RefusesWhatIsOutOfRange) {
  const auto with = [](const char* pointer, Json value) {
    Json json = minimal();
    json[Json::json_pointer(pointer)] = std::move(value);
    return faults(json);
  };
  EXPECT_EQ(with("/features/frequent_levels", 65'537), Faults{"/features/frequent_levels range"});
  EXPECT_EQ(with("/features/frequent_levels", "many"), Faults{"/features/frequent_levels type"});
  EXPECT_EQ(with("/features/frequent_levels", "auto"), Faults{});
  EXPECT_EQ(with("/features/hash_bits", 9), Faults{"/features/hash_bits range"});
  EXPECT_EQ(with("/features/hash_bits", 18.5), Faults{"/features/hash_bits type"});
  EXPECT_EQ(with("/features/levels_max", 0), Faults{"/features/levels_max range"});
  EXPECT_EQ(with("/features/numbers", "scaled"), Faults{"/features/numbers choice"});
  EXPECT_EQ(with("/features/texts", 1), Faults{"/features/texts type"});
  EXPECT_EQ(with("/features/more", true), Faults{"/features/more unknown"});
  EXPECT_EQ(with("/features/interactions", {{"age"}}), Faults{"/features/interactions type"});
  EXPECT_EQ(with("/split/valid", 0.8), Faults{"/split range"});
  EXPECT_EQ(with("/split/test", -0.1), Faults{"/split/test range"});
  EXPECT_EQ(with("/split/kind", "group"), Faults{"/split/column required"});
  EXPECT_EQ(with("/split/column", "ward"), Faults{"/split/column conflict"});
  EXPECT_EQ(with("/target", "notes"), Faults{"/target type"});
  EXPECT_EQ(with("/weight", "ward"), Faults{"/weight type"});
  EXPECT_EQ(with("/exposure", "nothing"), Faults{"/exposure unknown"});
  EXPECT_EQ(with("/parameters/family", "cauchy").size(), 1u);
}

TEST(Spec, AColumnHasOneRole) {
  Json json = minimal();
  json["weight"] = "readmitted";
  json["inputs"] = {"age", "age", "readmitted", "gone"};
  json["ignore"] = {"age"};
  EXPECT_EQ(faults(json), (Faults{"/weight conflict", "/inputs/0 conflict", "/inputs/1 conflict",
                                  "/inputs/1 conflict", "/inputs/2 conflict", "/inputs/3 unknown"}));
}

TEST(Spec, InteractionsAreBetweenInputs) {
  Json json = minimal();
  json["inputs"] = {"age", "ward", "notes"};
  json["features"]["interactions"] =
      pairs({{"age", "age"}, {"age", "weight kg"}, {"age", "ward"}, {"ward", "age"}, {"notes", "age"}});
  EXPECT_EQ(faults(json), (Faults{"/features/interactions/0 conflict", "/features/interactions/1 conflict",
                                  "/features/interactions/3 conflict", "/features/interactions/4 type"}));
}

TEST(Spec, CategoriesNeedAFamilyOfClasses) {
  Json json = minimal();
  json["target"] = "ward";
  EXPECT_TRUE(faults(json).empty());
  json["parameters"]["family"] = "poisson";
  EXPECT_EQ(faults(json), Faults{"/parameters/family conflict"});
}

TEST(Spec, SomethingMustBeLeftToPredictFrom) {
  Json json = minimal();
  json["ignore"] = {"ward", "age", "weight kg", "admitted", "codes", "a/b~c"};
  EXPECT_TRUE(faults(json).empty());
  json["features"]["texts"] = false;
  EXPECT_EQ(faults(json), Faults{"/inputs required"});
}

TEST(Spec, PointersAreEscaped) {
  Json json = minimal();
  json["a/b~c"] = 1;
  EXPECT_EQ(faults(json), Faults{"/a~1b~0c unknown"});
}

TEST(Spec, TrainingTogetherHasDefaultsAndBounds) {
  nlohmann::json json = {{"kind", "glm"}, {"name", "a"}, {"dataset", "dst_1"}, {"target", "yes"}};
  const ParsedSpec usual = parse_spec(json, nullptr);
  ASSERT_TRUE(usual.faults.empty());
  EXPECT_EQ(usual.spec.strategy, StrategySpec{});
  const nlohmann::json full = to_json(usual.spec);
  EXPECT_EQ(full["strategy"]["kind"], "easgd");
  // What is as usual is not written: nodes of an earlier version refuse names that they do not know.
  EXPECT_FALSE(full["strategy"].contains("quorum"));
  JobSpec other = usual.spec;
  other.strategy.quorum = 0.5;
  EXPECT_FALSE(full["strategy"].contains("rotate"));
  other.strategy.rotate = Rotate::all;
  EXPECT_EQ(to_json(other)["strategy"]["rotate"], "all");
  EXPECT_EQ(parse_spec(to_json(other), nullptr).spec.strategy, other.strategy);
  EXPECT_EQ(full["on_lost_node"], "replace");
  EXPECT_TRUE(parse_spec(full, nullptr).faults.empty());
  json["strategy"] = {{"kind", "magic"}, {"beta", 7},        {"tau", -1},
                      {"sync", true},    {"codec", "morse"}, {"x", 1}};
  json["nodes"] = {{"min", 3}, {"max", 2}};
  json["on_lost_node"] = "cry";
  std::vector<std::string> pointers;
  for (const SpecFault& fault : parse_spec(json, nullptr).faults) pointers.push_back(fault.pointer);
  std::sort(pointers.begin(), pointers.end());
  EXPECT_EQ(pointers,
            (std::vector<std::string>{"/nodes/max", "/on_lost_node", "/strategy/beta", "/strategy/codec",
                                      "/strategy/kind", "/strategy/tau", "/strategy/x"}));
  // In step where there are steps to keep, and refused where there are none.
  json = {{"kind", "glm"}, {"name", "a"}, {"dataset", "dst_1"}, {"target", "yes"}};
  json["strategy"] = {{"kind", "easgd"}, {"sync", true}};
  EXPECT_TRUE(parse_spec(json, nullptr).faults.empty());
  json["strategy"]["kind"] = "gossip";
  const auto faults = parse_spec(json, nullptr).faults;
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].pointer, "/strategy/sync");
  json["strategy"] = {{"kind", "allreduce"}, {"rotate", "copies"}};
  const auto mixed = parse_spec(json, nullptr).faults;
  ASSERT_EQ(mixed.size(), 1u);
  EXPECT_EQ(mixed[0].pointer, "/strategy/rotate");
}

TEST(Spec, PowerIsWrittenOnlyWhenItWasAskedFor) {
  const Schema schema = visits();
  EXPECT_FALSE(to_json(parse_spec(minimal(), &schema).spec).contains("power"))
      << "older nodes do not know it";
  Json json = minimal();
  json["power"] = {{"watts", 60}, {"finish_by", "06:00"}};
  const Json full = to_json(parse_spec(json, &schema).spec);
  EXPECT_EQ(full["power"], (Json{{"mode", "full"}, {"watts", 60}, {"finish_by", "06:00"}}));
  EXPECT_TRUE(faults(full).empty()) << "it reads what it writes";
  json["power"] = {{"finish_by", "2026-11-18T06:00:00+01:00"}, {"mode", "gentle"}};
  EXPECT_TRUE(faults(json).empty());
  json["power"] = {{"watts", 0.2}, {"finish_by", "25:00"}, {"mode", "fast"}, {"volts", 5}};
  EXPECT_EQ(faults(json), (Faults{"/power/mode choice", "/power/watts range", "/power/finish_by range",
                                  "/power/volts unknown"}));
  EXPECT_EQ(algorithms()[0]["power"]["properties"]["mode"]["default"], "full");
}

TEST(Spec, TheDeviceIsWrittenOnlyWhenItWasAskedFor) {
  const Schema schema = visits();
  Json json = minimal();
  for (const char* same : {"", "auto"}) {
    if (*same != 0) json["device"] = same;
    EXPECT_FALSE(to_json(parse_spec(json, &schema).spec).contains("device")) << "older nodes do not know it";
  }
  json["device"] = "gpu";
  const Json full = to_json(parse_spec(json, &schema).spec);
  EXPECT_EQ(full["device"], "gpu");
  EXPECT_TRUE(faults(full).empty()) << "it reads what it writes";
  json["device"] = "tpu";
  EXPECT_EQ(faults(json), Faults{"/device choice"});
  EXPECT_EQ(algorithms()[0]["device"]["default"], "auto");
}

TEST(Spec, AGpuIsTakenForWhatGainsByItOrWhenAskedFor) {
  constexpr std::uint64_t kMany = 1'000'000;
  constexpr std::uint32_t kOrin = 87;
  JobSpec spec;
  const auto gpu = [&spec](std::uint64_t rows, std::uint32_t generation) {
    return plan_device(spec, rows, generation).gpu;
  };
  EXPECT_FALSE(gpu(kMany, kOrin)) << "the solver may be another";
  spec.parameters = {{"solver", "ftrl"}};
  EXPECT_TRUE(gpu(kMany, kOrin));
  EXPECT_TRUE(gpu(kMany, 72));
  EXPECT_FALSE(gpu(kMany, 53)) << "no faster than its processors";
  EXPECT_FALSE(gpu(500'000, kOrin)) << "too few rows";
  EXPECT_FALSE(gpu(kMany, 0)) << "there is none";
  spec.parameters = Json::object();
  spec.features.categories = FeatureOptions::Categories::hash;
  EXPECT_TRUE(gpu(kMany, kOrin)) << "so many weights are streamed";
  spec.features.hash_bits = 12;
  EXPECT_FALSE(gpu(kMany, kOrin));
  spec.parameters = {{"solver", "adagrad"}};
  spec.device = Device::cpu;
  EXPECT_FALSE(gpu(kMany, kOrin));
  spec.device = Device::gpu;
  EXPECT_TRUE(gpu(10, 53));
  EXPECT_EQ(plan_device(spec, 10, 53).why, "");
  spec.parameters = {{"solver", "lbfgs"}};
  EXPECT_FALSE(gpu(kMany, kOrin));
  EXPECT_EQ(plan_device(spec, kMany, kOrin).why, "the solver lbfgs computes on the CPU");
  spec.parameters = Json::object();
  spec.strategy.kind = "allreduce";
  EXPECT_EQ(plan_device(spec, kMany, kOrin).why, "the strategy allreduce computes on the CPU");
  spec.device = Device::automatic;
  EXPECT_EQ(plan_device(spec, kMany, kOrin).why, "") << "nobody asked";
}

TEST(Spec, EveryStrategyIsInTheSchemaWithWhenToTakeIt) {
  const nlohmann::json kind = algorithms()[0]["strategy"]["properties"]["kind"];
  ASSERT_EQ(kind["enum"].size(), kind["oneOf"].size());
  for (std::size_t i = 0; i < kind["enum"].size(); ++i) {
    EXPECT_EQ(kind["enum"][i], kind["oneOf"][i]["const"]);
    EXPECT_FALSE(kind["oneOf"][i]["description"].get<std::string>().empty());
  }
  nlohmann::json job = {{"kind", "glm"}, {"name", "a"}, {"dataset", "dst_1"}, {"target", "yes"}};
  const nlohmann::json properties = algorithms()[0]["strategy"]["properties"];
  for (const auto& [name, schema] : properties.items()) job["strategy"][name] = schema["default"];
  const ParsedSpec parsed = parse_spec(job, nullptr);
  EXPECT_TRUE(parsed.faults.empty());
  EXPECT_EQ(parsed.spec.strategy, StrategySpec{}) << "the schema's defaults are the spec's";
}

}  // namespace
}  // namespace samovar::trainer
