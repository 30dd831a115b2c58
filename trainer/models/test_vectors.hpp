// Rows with known scores that travel with a model and with each of its exports: missing values, levels that
// training never saw, extremes, and ordinary rows drawn from what the columns held.
//
// Threading: pure functions.
// Format:    docs/formats/model.md
#pragma once
#include <span>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::trainer {

struct TestVectors {
  RawTable rows;
  std::vector<double> scores;  // rows × outputs()
};

// The same for the same plan.
RawTable test_rows(const PipelinePlan& plan);
Result<TestVectors> make_test_vectors(const GlmModel& model, const FeaturePipeline& pipeline);

// {"columns":[name…],"rows":[[value…]…],"scores":[[score…]…]}
nlohmann::json to_json(const TestVectors& vectors);
Result<TestVectors> test_vectors_from_json(const nlohmann::json& json, std::size_t outputs);

// Errc::internal "export_mismatch: …" naming the first row whose scores differ by more than `tolerance`, as a
// share of the score itself (or, for tiny ones, of a thousandth of the usual score).
Result<void> compare_scores(const TestVectors& expected, std::span<const double> scores, double tolerance);

}  // namespace samovar::trainer
