#include "trainer/models/scorer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/encoding.hpp"
#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/support/random_model.hpp"
#include "tests/unit/trainer/features/fitted.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/models/row_scores.hpp"

namespace samovar::trainer {
namespace {

using tests::random_model;

struct Opened {
  tests::MemoryTable table = tests::random_table(900, 5);
  GlmModel model;
  std::unique_ptr<Scorer> scorer;
};

std::unique_ptr<Opened> open_model(const std::string& target, Family family, Link link) {
  auto out = std::make_unique<Opened>();
  JobSpec spec = spec_for(target);
  spec.features.hash_bits = 12;
  spec.features.interactions = {{"real", "whole"}, {"few", "flag"}};
  const Fitted fitted = fit(out->table, spec);
  out->model = random_model(*fitted.pipeline, family, link, 7);
  const auto bytes = encode_model(out->model, *fitted.pipeline);
  EXPECT_TRUE(bytes) << bytes.error().message();
  auto scorer = Scorer::open(*bytes);
  EXPECT_TRUE(scorer) << scorer.error().message();
  out->scorer = *std::move(scorer);
  return out;
}

// Both ways of scoring, and a data set against the same rows sent one by one.
void expect_both_ways(const Opened& opened, tests::MemoryTable& table) {
  std::vector<InputWarning> warnings;
  const auto rows = opened.scorer->score(table.raw(), {}, warnings);
  ASSERT_TRUE(rows) << rows.error().message();
  const std::size_t outputs = opened.model.outputs();
  std::size_t row = 0;
  std::vector<float> scores;
  for_each_batch(table, opened.scorer->pipeline(), [&](const EncodedBatch& batch) {
    opened.scorer->score(batch, scores);
    ASSERT_EQ(scores.size(), batch.rows * outputs);
    for (std::uint32_t i = 0; i < batch.rows; ++i, ++row) {
      const Prediction& one = (*rows)[row];
      for (std::size_t k = 0; k < outputs; ++k) {
        const double want = outputs == 1 ? one.value : one.probabilities[k];
        ASSERT_NEAR(scores[i * outputs + k], want, 2e-5 * std::max(1.0, std::abs(want))) << row;
      }
    }
  });
  EXPECT_EQ(row, table.all_rows());
}

TEST(Scorer, ADataSetScoresAsItsRows) {
  const std::tuple<const char*, Family, Link> kinds[] = {
      {"yes", Family::binomial, Link::logit},       {"yes", Family::binomial, Link::probit},
      {"yes", Family::binomial, Link::cloglog},     {"class", Family::multinomial, Link::logit},
      {"number", Family::gaussian, Link::identity}, {"count", Family::poisson, Link::log},
      {"count", Family::tweedie, Link::log}};
  for (const auto& [target, family, link] : kinds) {
    SCOPED_TRACE(to_string(link));
    const auto opened = open_model(target, family, link);
    // Hundreds of standard deviations in the pairs would leave only 0 and 1 to compare.
    for (RawValue& pairs : opened->table.column(11)) pairs = std::monostate{};
    expect_both_ways(*opened, opened->table);
  }
}

TEST(Scorer, TwoClassesHaveALabelByTheThreshold) {
  const auto opened = open_model("yes", Family::binomial, Link::logit);
  std::vector<InputWarning> warnings;
  const auto rows = opened->scorer->score(opened->table.raw(0, 50), {}, warnings);
  ASSERT_TRUE(rows);
  for (const Prediction& one : *rows) {
    ASSERT_EQ(one.probabilities.size(), 2u);
    EXPECT_DOUBLE_EQ(one.probabilities[0] + one.probabilities[1], 1);
    EXPECT_EQ(one.label, opened->scorer->classes()[one.value >= 0.5 ? 1 : 0]);
  }
}

TEST(Scorer, ReasonsAddUpToThePredictor) {
  for (const char* target : {"yes", "class"}) {
    const bool classes = std::string_view(target) == "class";
    const auto opened = open_model(target, classes ? Family::multinomial : Family::binomial, Link::logit);
    const RawTable raw = opened->table.raw(0, 40);
    EncodedBatch batch;
    std::vector<InputWarning> warnings;
    ASSERT_TRUE(opened->scorer->pipeline().encode(raw, batch, warnings));
    const std::vector<double> predictors = row_predictors(opened->model, batch);
    const auto rows = opened->scorer->score(raw, {true, 1000}, warnings);
    ASSERT_TRUE(rows);
    const GlmModel& model = opened->model;
    const std::size_t outputs = model.outputs();
    const std::size_t places = model.contribution_means.size() / outputs;
    for (std::uint32_t row = 0; row < 40; ++row) {
      std::vector<double> beyond;  // of each output, beyond intercept and means
      for (std::size_t k = 0; k < outputs; ++k) {
        const float* means = model.contribution_means.data() + k * places;
        beyond.push_back(predictors[row * outputs + k] - model.intercepts[k] -
                         std::accumulate(means, means + places, 0.0));
      }
      double want = beyond[0];
      if (classes) {
        const auto& chances = (*rows)[row].probabilities;
        const auto top = std::max_element(chances.begin(), chances.end()) - chances.begin();
        want = beyond[static_cast<std::size_t>(top)] -
               std::accumulate(beyond.begin(), beyond.end(), 0.0) / static_cast<double>(outputs);
      }
      double sum = 0, last = std::numeric_limits<double>::infinity();
      for (const Reason& reason : (*rows)[row].reasons) {
        sum += reason.contribution;
        EXPECT_LE(std::abs(reason.contribution), last);
        last = std::abs(reason.contribution);
      }
      EXPECT_NEAR(sum, want, 1e-9 * std::max(1.0, std::abs(want)));
    }
  }
}

TEST(Scorer, AReasonHasItsInputAndValue) {
  const auto opened = open_model("yes", Family::binomial, Link::logit);
  RawTable raw;
  raw.rows = 1;
  raw.columns["few"] = {std::string("level 2")};
  raw.columns["real"] = {1e9};
  std::vector<InputWarning> warnings;
  const auto rows = opened->scorer->score(raw, {true, 3}, warnings);
  ASSERT_TRUE(rows);
  ASSERT_EQ((*rows)[0].reasons.size(), 3u);
  EXPECT_EQ((*rows)[0].reasons[0].input, "real");
  EXPECT_EQ((*rows)[0].reasons[0].value, "1000000000");
  // Every other column is told to be missing, once.
  const auto missing = std::count_if(warnings.begin(), warnings.end(),
                                     [](const InputWarning& one) { return one.code == "missing_column"; });
  EXPECT_EQ(static_cast<std::size_t>(missing), opened->scorer->pipeline().inputs().columns.size() - 2);
}

TEST(Scorer, NeverAnswersNaN) {
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        1e308,
                        -1e308,
                        1e-320};
  const std::tuple<const char*, Family, Link> kinds[] = {{"yes", Family::binomial, Link::cloglog},
                                                         {"class", Family::multinomial, Link::logit},
                                                         {"number", Family::gaussian, Link::identity},
                                                         {"number", Family::gamma, Link::inverse},
                                                         {"count", Family::poisson, Link::log}};
  for (const auto& [target, family, link] : kinds) {
    const auto opened = open_model(target, family, link);
    for (const double value : odd) {
      RawTable raw;
      raw.rows = 1;
      for (const ColumnSpec& column : opened->scorer->pipeline().inputs().columns)
        raw.columns[column.name] = {value};
      std::vector<InputWarning> warnings;
      const auto rows = opened->scorer->score(raw, {true}, warnings);
      ASSERT_TRUE(rows) << rows.error().message();
      EXPECT_TRUE(std::isfinite((*rows)[0].value));
      for (const double chance : (*rows)[0].probabilities) EXPECT_TRUE(std::isfinite(chance));
      for (const Reason& reason : (*rows)[0].reasons) EXPECT_TRUE(std::isfinite(reason.contribution));
    }
  }
}

TEST(Scorer, RefusesAModelThatWouldScoreOtherwise) {
  const auto opened = open_model("yes", Family::binomial, Link::logit);
  auto vectors = make_test_vectors(opened->model, opened->scorer->pipeline());
  ASSERT_TRUE(vectors);
  vectors->scores[4] += 0.001;
  const auto bytes =
      encode_model(opened->model, opened->scorer->pipeline(), nlohmann::json::object(), *vectors);
  ASSERT_TRUE(bytes);
  const auto scorer = Scorer::open(*bytes);
  ASSERT_FALSE(scorer);
  EXPECT_EQ(scorer.error().code(), Errc::unsupported);
}

TEST(Scorer, DescribesTheModel) {
  const auto opened = open_model("class", Family::multinomial, Link::logit);
  const nlohmann::json json = opened->scorer->describe();
  EXPECT_EQ(json["family"], "multinomial");
  EXPECT_EQ(json["classes"].size(), 3u);
  ASSERT_EQ(json["coefficients"].size(), 50u);
  EXPECT_GE(std::abs(json["coefficients"][0]["estimate"].get<double>()),
            std::abs(json["coefficients"][49]["estimate"].get<double>()));
}

}  // namespace
}  // namespace samovar::trainer
