#include "trainer/solvers/objective.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace samovar::trainer {

namespace {

// The curvature of the loss at the mean: what a unit of a column's sum of squares counts.
double curvature_at_mean(const Problem& problem, const Survey& survey, double intercept, std::size_t output) {
  if (problem.family == Family::multinomial) {
    const double share = survey.shares[output];
    return std::max(share * (1 - share), 1e-6);
  }
  double curvature = 0;
  kernels::cpu().curvatures_f64(nullptr, problem.glm(), &intercept, nullptr, 1, &curvature);
  return std::isfinite(curvature) ? std::max(curvature, 1e-6) : 1;
}

}  // namespace

Objective::Objective(RowSource& rows, const Problem& problem, const Survey& survey)
    : rows_(rows), problem_(problem), l2_(problem.l2), total_weight_(survey.weight) {
  const std::size_t width = problem.width;
  SAMOVAR_ASSERT(survey.sums.size() == width);
  centers_.assign(width, 0);
  const std::size_t dense = rows.pipeline().dense_width();
  for (std::size_t i = 0; i < dense; ++i) centers_[i] = survey.sums[i] / survey.weight;
  const std::vector<double> intercepts = starting_intercepts(problem, survey);
  scales_.resize(unknowns());
  start_.assign(unknowns(), 0);
  for (std::size_t o = 0; o < problem.outputs; ++o) {
    const double curvature = curvature_at_mean(problem, survey, intercepts[o], o);
    const std::size_t at = o * (width + 1);
    scales_[at] = std::sqrt(curvature * survey.weight);
    start_[at] = intercepts[o] * scales_[at];
    for (std::size_t i = 0; i < width; ++i) {
      const double squares = survey.squares[i] - centers_[i] * survey.sums[i];
      scales_[at + 1 + i] = std::sqrt(std::max(curvature * squares + problem.l2, 1e-6));
    }
  }
}

void Objective::weights_of(const std::vector<double>& unknowns, std::vector<double>& weights,
                           std::vector<double>& intercepts) const {
  const std::size_t width = problem_.width;
  weights.resize(problem_.outputs * width);
  intercepts.resize(problem_.outputs);
  for (std::size_t o = 0; o < problem_.outputs; ++o) {
    const std::size_t at = o * (width + 1);
    double shift = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double weight = unknowns[at + 1 + i] / scales_[at + 1 + i];
      weights[o * width + i] = weight;
      shift += weight * centers_[i];
    }
    intercepts[o] = unknowns[at] / scales_[at] - shift;
  }
}

Result<double> Objective::evaluate(const std::vector<double>& unknowns, std::vector<double>& gradient) {
  const kernels::Table& table = kernels::cpu();
  const std::size_t width = problem_.width;
  const std::size_t outputs = problem_.outputs;
  weights_of(unknowns, weights_, intercepts_);
  slopes_.assign(outputs * width, 0);
  std::vector<double> sums(outputs, 0);
  double loss = 0;
  SAMOVAR_CHECK(rows_.each(RowRole::train, [&](const EncodedBatch& batch) -> Result<bool> {
    const kernels::Rows view = kernel_rows(batch);
    const kernels::Labels labels = kernel_labels(batch);
    margins_.resize(batch.rows * outputs);
    for (std::size_t o = 0; o < outputs; ++o)
      table.margins_f64(nullptr, view, weights_.data() + o * width, intercepts_[o],
                        outputs == 1 ? labels.offset : nullptr, margins_.data() + o, outputs);
    const double* residuals = margins_.data();
    if (outputs == 1) {
      residuals_.resize(batch.rows);
      table.residuals_f64(nullptr, problem_.glm(), margins_.data(), labels.target, labels.weight, batch.rows,
                          residuals_.data(), &loss);
      residuals = residuals_.data();
    } else {
      table.softmax_residuals_f64(nullptr, margins_.data(), labels.target, labels.weight, batch.rows, outputs,
                                  &loss);
    }
    for (std::size_t o = 0; o < outputs; ++o)
      table.gradient_f64(nullptr, view, residuals + o, outputs, slopes_.data() + o * width, &sums[o]);
    return true;
  }));
  if (rows_.council() != nullptr) {
    std::vector<double> all = slopes_;
    all.insert(all.end(), sums.begin(), sums.end());
    all.push_back(loss);
    SAMOVAR_CHECK(rows_.sum(all));
    std::copy_n(all.begin(), slopes_.size(), slopes_.begin());
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(slopes_.size()), sums.size(), sums.begin());
    loss = all.back();
  }
  plain_loss_ = loss;
  gradient.resize(unknowns.size());
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t at = o * (width + 1);
    gradient[at] = sums[o] / scales_[at];
    for (std::size_t i = 0; i < width; ++i) {
      const double weight = weights_[o * width + i];
      loss += 0.5 * l2_ * weight * weight;
      gradient[at + 1 + i] =
          (slopes_[o * width + i] - centers_[i] * sums[o] + l2_ * weight) / scales_[at + 1 + i];
    }
  }
  return loss;
}

}  // namespace samovar::trainer
