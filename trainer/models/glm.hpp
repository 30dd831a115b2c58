// A generalized linear model: its numbers, and the maths of its families and links.
//
// The linear predictor of a row is intercept + offset + Σ weight × value; the inverse link makes the expected
// value of it. A multinomial model has one set of weights per class and the softmax of them all.
//
// Threading: values and pure functions.
// Format:    docs/formats/model.md
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/features/encoded_batch.hpp"

namespace samovar::trainer {

enum class Family : std::uint8_t {
  gaussian,
  binomial,
  multinomial,
  poisson,
  gamma,
  negative_binomial,
  tweedie,
};
enum class Link : std::uint8_t { identity, logit, log, inverse, probit, cloglog };

std::string_view to_string(Family family) noexcept;
std::string_view to_string(Link link) noexcept;
std::optional<Family> parse_family(std::string_view text) noexcept;
std::optional<Link> parse_link(std::string_view text) noexcept;
// The one that is taken when nobody says otherwise; gamma takes log, which has no forbidden values.
Link usual_link(Family family) noexcept;
bool link_fits(Family family, Link link) noexcept;

// What is known about one coefficient when the design was small enough for it.
struct GlmInference {
  double estimate = 0;
  double standard_error = 0;  // NaN is written as null: the coefficient follows from others and was left out
  double statistic = 0;       // z, or t where the dispersion was estimated
  double p = 1;
  double low = 0;  // 95 % interval
  double high = 0;
};

struct GlmModel {
  Family family = Family::binomial;
  Link link = Link::logit;
  std::uint32_t classes = 0;       // 0: a number, 2: binomial, more: multinomial
  std::size_t width = 0;           // weights of one output, as FeaturePipeline::weights() says
  std::vector<float> weights;      // outputs() × width
  std::vector<double> intercepts;  // one per output
  double dispersion = 1;
  double theta = 0;        // negative binomial: variance μ + μ²/theta
  double power = 0;        // tweedie: variance φ μ^power, between 1 and 2
  double threshold = 0.5;  // two classes: probability from which on the label is the second

  // Mean over the training rows of what each place of a row adds to the predictor, for reasons: outputs() ×
  // (dense_width + slot_width + 1); the last one is all that is ragged together.
  std::vector<float> contribution_means;

  // Empty, or per output the intercept first, then the weights: outputs() × (1 + width).
  std::vector<GlmInference> inference;

  std::size_t outputs() const noexcept { return family == Family::multinomial ? classes : 1; }
};

// The expected value at a linear predictor, always within the family's range.
double inverse_link(Link link, double eta) noexcept;
double link_value(Link link, double mu) noexcept;
double inverse_link_slope(Link link, double eta) noexcept;  // dμ/dη

// The linear predictors of a batch without its offsets: rows × outputs, a row after the other.
void linear_predictors(const GlmModel& model, const EncodedBatch& batch, std::vector<float>& out);
// From those, in place, to expected values or probabilities. Adds the batch's offsets when it has them.
// rows × outputs; two classes: the probability of the second.
void expected_values(const GlmModel& model, const EncodedBatch& batch, std::vector<float>& predictors);

}  // namespace samovar::trainer
