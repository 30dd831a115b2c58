#include "daemon/ingest/profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/json.hpp"
#include "daemon/ingest/block_stats.hpp"
#include "tests/support/ingest_run.hpp"

namespace samovar::ingest {
namespace {

using nlohmann::json;
using trainer::ColumnType;

json profile_of(const std::string& text, const trainer::Schema& schema) {
  test::TextSource source(text);
  test::KeepingSink sink;
  auto report = run_ingest(source, test::plan_of(schema, text.size()), sink, {});
  if (!report) return json(report.error().message());
  return json::parse(report->profile_json);
}

TEST(Profile, TellsASmallTableExactly) {
  const json profile =
      profile_of("n,x,c,b,t\n1,0.5,red,yes,alpha\n2,1.5,red,no,be\n3,,blue,yes,NA\n4,2.5,red,yes,gamma ray\n",
                 test::schema_of({{"n", ColumnType::integer},
                                  {"x", ColumnType::real},
                                  {"c", ColumnType::category},
                                  {"b", ColumnType::boolean},
                                  {"t", ColumnType::text}}));
  ASSERT_TRUE(profile.is_object()) << profile;
  EXPECT_EQ(profile["rows"], 4);
  EXPECT_EQ(profile["sampled_rows"], 4);
  const json& n = profile["columns"][0];
  EXPECT_EQ(n["min"], 1);
  EXPECT_EQ(n["max"], 4);
  EXPECT_EQ(n["mean"], 2.5);
  EXPECT_NEAR(n["sd"].get<double>(), std::sqrt(5.0 / 3), 1e-12);
  EXPECT_EQ(n["quantiles"]["0.5"], 2.5);
  EXPECT_EQ(n["distinct"], 4);
  EXPECT_EQ(n["distinct_exact"], true);
  EXPECT_EQ(n["histogram"]["counts"], json({1, 1, 1, 1}));
  const json& x = profile["columns"][1];
  EXPECT_EQ(x["missing"], 1);
  EXPECT_EQ(x["mean"], 1.5);
  const json& c = profile["columns"][2];
  EXPECT_EQ(c["levels"], json({{{"value", "red"}, {"count", 3}}, {{"value", "blue"}, {"count", 1}}}));
  EXPECT_EQ(c["distinct"], 2);
  EXPECT_EQ(c["other"], 0);
  const json& b = profile["columns"][3];
  EXPECT_EQ(b["levels"], json({{{"value", "true"}, {"count", 3}}, {{"value", "false"}, {"count", 1}}}));
  const json& t = profile["columns"][4];
  EXPECT_EQ(t["length"]["min"], 2);
  EXPECT_EQ(t["length"]["max"], 9);
  EXPECT_EQ(t["missing"], 1);
  ASSERT_EQ(profile["head"].size(), 4u);
  EXPECT_EQ(profile["head"][2], json({"3", nullptr, "blue", "yes", nullptr}));
}

// A block leaves out what a block before has told: numbers that rise and fall through the file, that are far
// from the first ones, that are missing.
TEST(Profile, CountsNumbersThatComeAndGo) {
  std::string text = "up,down,far,wide\n";
  constexpr int kRows = 300'000;
  for (int i = 0; i < kRows; ++i) {
    const int far = i % 10 + (i < kRows / 2 ? 0 : 500'000);
    text += std::to_string(i / 100) + "," + (i % 3 == 0 ? "" : std::to_string(-i / 100)) + "," +
            std::to_string(far) + "," + std::to_string(i % 20'000 * 10) + "\n";
  }
  const json profile = profile_of(text, test::schema_of({{"up", ColumnType::integer},
                                                         {"down", ColumnType::integer},
                                                         {"far", ColumnType::integer},
                                                         {"wide", ColumnType::integer}}));
  ASSERT_TRUE(profile.is_object()) << profile;
  const json& columns = profile["columns"];
  for (const int exact : {0, 1}) {
    EXPECT_EQ(columns[exact]["distinct"], kRows / 100) << exact;
    EXPECT_EQ(columns[exact]["distinct_exact"], true) << exact;
  }
  EXPECT_EQ(columns[2]["distinct"], 20);
  EXPECT_NEAR(columns[3]["distinct"].get<double>(), 20'000, 0.06 * 20'000);
}

// Numbers whose quantiles, distinct counts and correlations are known.
struct Large {
  std::string text = "id,u,v,w,k\n";
  trainer::Schema schema = test::schema_of({{"id", ColumnType::integer},
                                            {"u", ColumnType::real},
                                            {"v", ColumnType::real},
                                            {"w", ColumnType::integer},
                                            {"k", ColumnType::category}});
  static constexpr int kRows = 120'000;
  Large() {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < kRows; ++i) {
      const double u = unit(random);
      const double v = u + unit(random);
      text += std::to_string(i * 1000) + "," + std::to_string(u) + "," +
              (i % 10 == 0 ? "" : std::to_string(v)) + "," +
              std::to_string(static_cast<int>(10 * unit(random))) + ",k" +
              std::to_string(static_cast<int>(300 * u * u)) + "\n";
    }
  }
};

TEST(Profile, EstimatesALargeTable) {
  const Large large;
  json profile = profile_of(large.text, large.schema);
  ASSERT_TRUE(profile.is_object()) << profile;
  EXPECT_EQ(profile["rows"], Large::kRows);
  EXPECT_LT(profile["sampled_rows"], Large::kRows);
  const json& id = profile["columns"][0];
  EXPECT_EQ(id["distinct_exact"], false);
  EXPECT_NEAR(id["distinct"].get<double>(), Large::kRows, 0.06 * Large::kRows);
  EXPECT_EQ(id["max"], (Large::kRows - 1) * 1000);
  EXPECT_NEAR(id["mean"].get<double>(), (Large::kRows - 1) * 500.0, 1e-3);
  const json& u = profile["columns"][1];
  for (const auto& [name, value] : u["quantiles"].items())
    EXPECT_NEAR(value.get<double>(), std::stod(name), 0.02) << name;
  EXPECT_NEAR(u["sd"].get<double>(), std::sqrt(1.0 / 12), 0.002);
  double total = 0;
  for (const json& count : u["histogram"]["counts"]) total += count.get<double>();
  EXPECT_NEAR(total, Large::kRows, 100);
  EXPECT_EQ(profile["columns"][2]["missing"], Large::kRows / 10);
  EXPECT_EQ(profile["columns"][3]["distinct"], 10);
  EXPECT_EQ(profile["columns"][3]["distinct_exact"], true);
  const json& k = profile["columns"][4];
  EXPECT_EQ(k["levels"].size(), 50u);
  EXPECT_EQ(k["levels"][0]["value"], "k0");
  EXPECT_NEAR(k["levels"][0]["count"].get<double>(), Large::kRows / std::sqrt(300.0), Large::kRows * 0.01);

  ASSERT_TRUE(correlate(profile, "u"));
  EXPECT_FALSE(profile.contains("moments"));
  EXPECT_EQ(profile["target"], "u");
  EXPECT_EQ(profile["columns"][1]["correlation"], 1.0);
  EXPECT_NEAR(profile["columns"][2]["correlation"].get<double>(), std::sqrt(0.5), 0.02);
  EXPECT_NEAR(profile["columns"][3]["correlation"].get<double>(), 0, 0.03);
  // The 63 most common of some 300 levels tell where in its lower part u lies.
  EXPECT_GT(profile["columns"][4]["correlation"].get<double>(), 0.5);
  EXPECT_LT(profile["columns"][4]["correlation"].get<double>(), 1);
}

TEST(Profile, CorrelatesCategories) {
  std::mt19937_64 random(5);
  std::string text = "colour,n,shade,luck\n";
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t colour = random() % 3;
    const std::uint64_t other = random() % 4 == 0 ? random() % 3 : colour;
    text += "c" + std::to_string(colour) + "," + std::to_string(colour == 0 ? 5 : 1) + ",s" +
            std::to_string(other) + ",l" + std::to_string(random() % 20) + "\n";
  }
  const json whole = profile_of(text, test::schema_of({{"colour", ColumnType::category},
                                                       {"n", ColumnType::integer},
                                                       {"shade", ColumnType::category},
                                                       {"luck", ColumnType::category}}));
  const auto with = [&](const char* target) {
    json profile = whole;
    EXPECT_TRUE(correlate(profile, target));
    std::vector<double> out;
    for (const json& column : profile["columns"]) out.push_back(column["correlation"].get<double>());
    return out;
  };
  const std::vector<double> colour = with("colour");
  EXPECT_EQ(colour[0], 1);
  EXPECT_NEAR(colour[1], 1, 1e-9);   // one value a level
  EXPECT_NEAR(colour[2], .75, .03);  // the same in three quarters of the rows, and by chance in a twelfth
  EXPECT_NEAR(colour[3], 0, .07);
  const std::vector<double> number = with("n");
  EXPECT_NEAR(number[0], 1, 1e-9);
  EXPECT_NEAR(number[2], .75, .03);
  EXPECT_NEAR(number[3], 0, .07);
  EXPECT_EQ(with("shade")[0], colour[2]);
}

TEST(Profile, CorrelatesOnlyWithColumnsThatAreThere) {
  json profile = profile_of("a,b\n1,2\n2,4\n3,6\n4,8\n",
                            test::schema_of({{"a", ColumnType::integer}, {"b", ColumnType::integer}}));
  json other = profile;
  EXPECT_FALSE(correlate(other, "c"));
  ASSERT_TRUE(correlate(profile, "b"));
  EXPECT_NEAR(profile["columns"][0]["correlation"].get<double>(), 1, 1e-9);
}

TEST(Profile, HidesSmallCells) {
  std::string text = "n,c\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + (i < 5 ? ",rare\n" : ",common\n");
  json profile = profile_of(text, test::schema_of({{"n", ColumnType::integer}, {"c", ColumnType::category}}));
  ASSERT_TRUE(profile.is_object());
  suppress_small_cells(profile);
  EXPECT_FALSE(profile.contains("head"));
  const json& n = profile["columns"][0];
  EXPECT_NEAR(n["min"].get<double>(), 0.99, 1e-9);
  EXPECT_NEAR(n["max"].get<double>(), 98.01, 1e-9);
  for (const json& count : n["histogram"]["counts"]) EXPECT_TRUE(count == 0 || count >= 10);
  EXPECT_NE(n["histogram"]["edges"][0], 0);
  EXPECT_EQ(profile.dump().find("rare"), std::string::npos);
  EXPECT_EQ(profile["columns"][1]["levels"].size(), 1u);
}

TEST(Profile, TellsNoValueOfSensitiveColumns) {
  trainer::Schema schema = test::schema_of(
      {{"born", ColumnType::integer}, {"name", ColumnType::category}, {"ward", ColumnType::category}});
  std::string text = "born,name,ward\n";
  for (int i = 0; i < 50; ++i) text += "1961,Ottokar,north\n";
  json profile = profile_of(text, schema);
  profile.erase("head");
  ASSERT_NE(profile.dump().find("Ottokar"), std::string::npos);
  schema.columns[0].sensitive = true;
  schema.columns[1].sensitive = true;
  mask_sensitive(profile, schema);
  EXPECT_EQ(profile.dump().find("Ottokar"), std::string::npos);
  EXPECT_FALSE(profile["columns"][0].contains("min"));
  EXPECT_EQ(profile["columns"][0]["masked"], true);
  EXPECT_EQ(profile["columns"][2]["levels"][0]["value"], "north");
}

TEST(Profile, ViewsSurviveWhatIsNoProfile) {
  for (
      const char* text :
      {"null", "[]", "{}", R"({"columns":3})", R"({"columns":[1,{"levels":[2],"histogram":{"counts":1}}]})",
       R"({"columns":[{"name":"a"}],"moments":{"columns":[0,9,9],"correlations":[1,"x"]}})",
       R"({"columns":[{"name":"a"}],"moments":{"associations":{"categories":[9,0,"x"],"numbers":[7],"ratios":[1],"v":[1,"y",1]}}})",
       R"({"columns":[{"name":"a"}],"moments":{"associations":[1]}})"}) {
    json profile = json::parse(text);
    suppress_small_cells(profile);
    mask_sensitive(profile, {{{"a", ColumnType::text, true}, {"b", ColumnType::text, true}}});
    ignore(correlate(profile, "a"), "only that it returns");
  }
}

TEST(DistinctCounters, HashesWithoutABitCountOnce) {
  // Their zeros go on to the end, which once made a shift by more than a word has.
  DistinctCounters counters(2);
  for (int time = 0; time < 3; ++time) {
    counters.add(0, 0);
    counters.add(1, 0);
    counters.add(1, std::uint64_t{1} << 52);
  }
  EXPECT_EQ(counters.estimate(0), 1u);
  EXPECT_EQ(counters.estimate(1), 2u);
}

}  // namespace
}  // namespace samovar::ingest
