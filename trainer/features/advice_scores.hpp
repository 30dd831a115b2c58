// How well one column alone tells the target: fitted on one half of a sample, measured on the other, so that
// a column of names does not seem to know everything.
//
// Threading: pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace samovar::trainer {

// `codes`: which value each row has; numbers are cut into quantiles first.
std::vector<std::uint32_t> quantile_codes(std::span<const float> values);

// Area under the curve of the second class, by the mean target of each code; 0.5 when there is too little.
double auc_alone(std::span<const std::uint32_t> codes, std::span<const float> target);
// Share of the variance that the mean of each code explains; 0 when there is too little.
double r2_alone(std::span<const std::uint32_t> codes, std::span<const float> target);
// The squared correlation of two numbers, over rows that have both.
double r2_linear(std::span<const float> values, std::span<const float> target);
// Share of rows whose class is the most frequent one of their code.
double accuracy_alone(std::span<const std::uint32_t> codes, std::span<const float> target);

}  // namespace samovar::trainer
