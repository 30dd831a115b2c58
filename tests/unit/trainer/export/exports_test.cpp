#include "trainer/export/exports.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/trainer/features/fitted.hpp"
#include "trainer/export/c_tables.hpp"
#include "trainer/export/onnx_run.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::trainer {
namespace {

using Categories = FeatureOptions::Categories;
using Numbers = FeatureOptions::Numbers;
using tests::random_model;

struct Case {
  const char* target;
  Family family;
  Link link;
  Categories categories = Categories::onehot;
  Numbers numbers = Numbers::standardise;
  bool ragged = false;  // texts and pairs
  double share = 1;     // of weights that are not 0
};

const Case kPlain[] = {
    {"yes", Family::binomial, Link::logit},
    {"yes", Family::binomial, Link::probit},
    {"yes", Family::binomial, Link::cloglog},
    {"class", Family::multinomial, Link::logit},
    {"number", Family::gaussian, Link::identity},
    {"number", Family::gamma, Link::inverse, Categories::onehot, Numbers::plain},
    {"count", Family::poisson, Link::log},
    {"yes", Family::binomial, Link::logit, Categories::onehot, Numbers::standardise, false, 0.3},
};
const Case kHashed[] = {
    {"yes", Family::binomial, Link::logit, Categories::hash, Numbers::hash},
    {"class", Family::multinomial, Link::logit, Categories::hash, Numbers::standardise, true, 0.3},
    {"number", Family::gaussian, Link::identity, Categories::automatic, Numbers::standardise, true},
    {"count", Family::negative_binomial, Link::log, Categories::automatic, Numbers::hash, true},
};

Bytes model_of(const Case& one) {
  tests::MemoryTable table = tests::random_table(800, 11);
  JobSpec spec = spec_for(one.target);
  spec.ignore = {"yes", "class", "number", "count"};
  std::erase(spec.ignore, one.target);
  if (!one.ragged) spec.ignore.insert(spec.ignore.end(), {"prose", "pairs"});
  spec.features.categories = one.categories;
  spec.features.numbers = one.numbers;
  spec.features.hash_bits = 10;
  spec.features.levels_max = 60;
  spec.features.interactions = {{"real", "whole"}, {"few", "many"}, {"few", "real"}};
  if (one.family == Family::poisson) {
    spec.exposure = "number";
    for (RawValue& value : table.column(2)) value = 0.1 + std::abs(std::get<double>(value));
    spec.offset = "yes";
    spec.ignore = {"class", "prose", "pairs"};
  }
  const Fitted fitted = fit(table, spec);
  const auto bytes =
      encode_model(random_model(*fitted.pipeline, one.family, one.link, 13, one.share), *fitted.pipeline);
  EXPECT_TRUE(bytes) << bytes.error().message();
  // Scores that all end at 0 and 1 would agree whatever was computed.
  const auto parts = decode_model(*bytes);
  EXPECT_TRUE(parts) << parts.error().message();
  const std::set<double> different(parts->vectors.scores.begin(), parts->vectors.scores.end());
  EXPECT_GT(different.size(), parts->vectors.scores.size() / 3);
  return *bytes;
}

std::vector<Case> all_cases() {
  std::vector<Case> out(std::begin(kPlain), std::end(kPlain));
  out.insert(out.end(), std::begin(kHashed), std::end(kHashed));
  return out;
}

std::string name_of(const Case& one) {
  return std::string(one.target) + " " + std::string(to_string(one.family)) + " " +
         std::string(to_string(one.link));
}

Export export_of(const Bytes& model, ExportKind kind, std::string_view name = "my model") {
  auto made = export_model(model, kind, name, 3);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *std::move(made) : Export{};
}

TEST(Exports, JsonComesBackAsTheSameBytes) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(name_of(one));
    const Bytes model = model_of(one);
    const Export made = export_of(model, ExportKind::json);
    const auto again = import_model(as_text(made.bytes));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(*again, model);
    EXPECT_EQ(made.file_name, "my_model.json");
  }
}

// The text is compiled by the machine's own compiler, warnings are errors, and the program runs its test
// rows.
TEST(Exports, TheCFileCompilesAndAgrees) {
  const test::TempDir dir;
  std::string command = "set -e; cd '" + dir.path() + "'";
  int number = 0;
  for (const Case& one : all_cases()) {
    const std::string name = "m" + std::to_string(number++);
    const Export made = export_of(model_of(one), ExportKind::c, name);
    std::ofstream(dir / made.file_name) << as_text(made.bytes);
    command += "; cc -std=c99 -pedantic -Wall -Wextra -Wshadow -Werror -DSAMOVAR_SELFTEST " + name +
               ".c -o " + name + " -lm; ./" + name;
  }
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

// Two of them in one program, called from a third file.
TEST(Exports, TheCFileIsPartOfAProgram) {
  const test::TempDir dir;
  for (const char* name : {"first", "second model"}) {
    const Export made = export_of(model_of(kPlain[0]), ExportKind::c, name);
    std::ofstream(dir / made.file_name) << as_text(made.bytes);
  }
  std::ofstream(dir / "main.c") << R"(#define SAMOVAR_HEADER
#include "first.c"
#include "second_model.c"
int main(void) {
  samovar_value row[first_INPUTS] = {{SAMOVAR_MISSING, 0, 0}};
  double a[first_OUTPUTS], b[second_model_OUTPUTS];
  row[first_input("real")].kind = SAMOVAR_NUMBER;
  row[first_input("real")].number = 2.5;
  if (first_input("no such thing") != -1) return 2;
  first_predict(row, a);
  second_model_predict(row, b);
  return a[0] == b[0] && a[0] > 0 && a[0] < 1 && first_classes[1][0] != 0 ? 0 : 1;
}
)";
  const std::string command =
      "cd '" + dir.path() +
      "' && cc -std=c99 -Wall -Wextra -Werror main.c first.c second_model.c -o all -lm && ./all";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Exports, OnnxAgreesOnTheTestRows) {
  for (const Case& one : kPlain) {
    SCOPED_TRACE(name_of(one));
    const Export made = export_of(model_of(one), ExportKind::onnx);
    EXPECT_EQ(made.file_name, "my_model.onnx");
    EXPECT_GT(made.bytes.size(), 1000u);
  }
}

TEST(Exports, OnnxSaysWhyItCannotHash) {
  for (const Case& one : kHashed) {
    SCOPED_TRACE(name_of(one));
    const auto made = export_model(model_of(one), ExportKind::onnx, "x", 1);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Errc::unsupported);
    EXPECT_NE(made.error().message().find("ONNX"), std::string::npos);
  }
}

// The self-tests can fail: one digit of one weight, in the text and in the graph.
TEST(Exports, AWrongWeightIsCaught) {
  const Bytes model = model_of(kPlain[4]);
  const auto parts = decode_model(model);
  ASSERT_TRUE(parts);
  const auto vectors = make_test_vectors(parts->glm, *parts->pipeline);
  ASSERT_TRUE(vectors);

  std::string text = *write_c_export(*parts, *vectors, {"m", 1});
  auto run = run_c_export(text);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_TRUE(compare_scores(*vectors, run->scores, 1e-9));
  const std::size_t weight = text.find(".", text.find("samovar_weights[]")) + 1;
  text[weight] = text[weight] == '1' ? '2' : '1';
  run = run_c_export(text);
  ASSERT_TRUE(run);
  EXPECT_FALSE(compare_scores(*vectors, run->scores, 1e-9));

  Bytes graph = *write_onnx_export(*parts, *vectors, {"m", 1});
  auto answer = run_onnx(graph, vectors->rows);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_TRUE(compare_scores(*vectors, answer->scores, 1e-6));
  // The upper byte of the first weight that Gather or MatMul takes.
  const float first = parts->glm.weights[0];
  std::string bytes(as_text(graph));
  const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&first), 4));
  ASSERT_NE(at, std::string::npos);
  graph[at + 2] ^= 0x40;
  answer = run_onnx(graph, vectors->rows);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(compare_scores(*vectors, answer->scores, 1e-6));
}

TEST(Exports, NamesOfPeopleCannotEndACommentOrAText) {
  tests::MemoryTable table({{{"y", ColumnType::boolean},
                             {"*/ int x; /* \\", ColumnType::real},
                             {"quote\"?\?/\n", ColumnType::category}}});
  for (int i = 0; i < 200; ++i)
    table.add({i % 3 == 0, i * 0.5,
               std::string(i % 2 == 0 ? "\"; samovar_weights[] = {" : "\\077\"'\n\r\t%s?\?)")});
  const Fitted fitted = fit(table, spec_for("y"));
  const auto model =
      encode_model(random_model(*fitted.pipeline, Family::binomial, Link::logit, 1), *fitted.pipeline);
  ASSERT_TRUE(model);
  for (const ExportKind kind : {ExportKind::c, ExportKind::onnx, ExportKind::json})
    export_of(*model, kind, "*/ evil \" name \n#error");
  const test::TempDir dir;
  const Export made = export_of(*model, ExportKind::c, "*/ evil\n#error");
  std::ofstream(dir / "evil.c") << as_text(made.bytes);
  const std::string command =
      "cd '" + dir.path() +
      "' && cc -std=c99 -Wall -Wextra -Werror -DSAMOVAR_SELFTEST evil.c -o evil -lm && ./evil";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Import, RefusesWhatItWouldNotWrite) {
  const std::string good(as_text(export_of(model_of(kPlain[0]), ExportKind::json).bytes));
  using Json = nlohmann::json;
  const std::pair<const char*, void (*)(Json&)> harms[] = {
      {"member", [](Json& json) { json["more"] = 1; }},
      {"version", [](Json& json) { json["samovar_model"] = 2; }},
      {"no weights", [](Json& json) { json.erase("weights"); }},
      {"one weight less", [](Json& json) { json["weights"]["values"].erase(0); }},
      {"count", [](Json& json) { json["weights"]["count"] = 1u << 30; }},
      {"huge weight", [](Json& json) { json["weights"]["values"][0] = 1e300; }},
      {"text weight", [](Json& json) { json["weights"]["values"][0] = "1"; }},
      {"another weight", [](Json& json) { json["weights"]["values"][0] = 0.5; }},
      {"family", [](Json& json) { json["model"]["family"] = "normal"; }},
      {"link", [](Json& json) { json["model"]["link"] = "log"; }},
      {"width", [](Json& json) { json["model"]["width"] = 3; }},
      {"classes", [](Json& json) { json["model"]["classes"] = 3; }},
      {"threshold", [](Json& json) { json["model"]["threshold"] = 7; }},
      {"intercepts",
       [](Json& json) {
         json["model"]["intercepts"] = {1, 2};
       }},
      {"means", [](Json& json) { json["model"]["contribution_means"] = {1}; }},
      {"pipeline", [](Json& json) { json["pipeline"] = Json::array(); }},
      {"vectors", [](Json& json) { json["test_vectors"]["rows"].erase(0); }},
      {"score", [](Json& json) { json["test_vectors"]["scores"][0][0] = 0.123; }},
      {"about", [](Json& json) { json["about"] = 1; }},
  };
  ASSERT_TRUE(import_model(good));
  for (const auto& [what, harm] : harms) {
    Json json = Json::parse(good);
    harm(json);
    const auto imported = import_model(json.dump());
    EXPECT_FALSE(imported) << what;
    if (!imported) {
      EXPECT_TRUE(imported.error().code() == Errc::invalid || imported.error().code() == Errc::unsupported)
          << what;
    }
  }
  EXPECT_FALSE(import_model(""));
  EXPECT_FALSE(import_model(good.substr(0, good.size() / 2)));
  EXPECT_FALSE(import_model("{\"samovar_model\":1," + good.substr(1)));  // twice
  EXPECT_FALSE(import_model(std::string(100, '[')));
}

}  // namespace
}  // namespace samovar::trainer
