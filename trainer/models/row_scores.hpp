// Scores of a few rows, in double precision and in a fixed order of summation: what a program is answered and
// what exports are measured by. Whole data sets go the faster way of glm.hpp, in floats.
//
// Threading: pure functions.
#pragma once
#include <span>
#include <vector>

#include "base/result.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::trainer {

// rows × outputs(), a row after the other: intercept, dense places, slots, ragged ones, offset.
std::vector<double> row_predictors(const GlmModel& model, const EncodedBatch& batch);
// From the predictors of a row, in place: expected value, probability of the second class, or of each class.
void predictors_to_scores(const GlmModel& model, std::span<double> row);
// Both. Errc::invalid names the first row that has no finite answer.
Result<std::vector<double>> row_scores(const GlmModel& model, const EncodedBatch& batch);

}  // namespace samovar::trainer
