#include "trainer/solvers/stream_merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace samovar::trainer {

double weight_of(const EncodedBatch& batch) {
  if (batch.weight.empty()) return batch.rows;
  double sum = 0;
  for (const float weight : batch.weight) sum += weight;
  return sum;
}

Result<bool> centre_is_better(RowSource& rows, const Problem& problem, const Fit& mean, const Fit& centre) {
  const kernels::Table& table = kernels::cpu();
  std::vector<float> scores, residuals;
  constexpr std::uint64_t kRowsEnough = 30'000;
  std::uint64_t looked_at = 0;
  std::vector<double> losses(3);
  const std::size_t outputs = problem.outputs;
  SAMOVAR_CHECK(rows.each(RowRole::valid, [&](const EncodedBatch& batch) -> Result<bool> {
    const kernels::Rows view = kernel_rows(batch);
    const kernels::Labels labels = kernel_labels(batch);
    const Fit* const fits[] = {&mean, &centre};
    for (std::size_t which = 0; which < 2; ++which) {
      const Fit& fit = *fits[which];
      scores.resize(batch.rows * outputs);
      for (std::size_t o = 0; o < outputs; ++o)
        table.margins(nullptr, view, fit.weights.data() + o * problem.width,
                      static_cast<float>(fit.intercepts[o]), outputs == 1 ? labels.offset : nullptr,
                      scores.data() + o, outputs);
      residuals.resize(batch.rows);
      if (outputs == 1) {
        table.residuals(nullptr, problem.glm(), scores.data(), labels.target, labels.weight, batch.rows,
                        residuals.data(), &losses[which]);
      } else {
        table.softmax_residuals(nullptr, scores.data(), labels.target, labels.weight, batch.rows, outputs,
                                &losses[which]);
      }
    }
    losses[2] += weight_of(batch);
    looked_at += batch.rows;
    return looked_at < kRowsEnough;
  }));
  SAMOVAR_CHECK(rows.sum(losses));
  return losses[2] > 0 && losses[1] < losses[0];
}

Result<void> merge_fits(const std::vector<Bytes>& parts, const Problem& problem,
                        const std::vector<double>& base, const StreamOptions& options, Fit& mean,
                        Fit& centre) {
  const std::size_t inputs = problem.outputs * problem.width;
  std::vector<double> weights(inputs), intercepts(problem.outputs);
  std::vector<float> centres(inputs + problem.outputs, std::numeric_limits<float>::quiet_NaN());
  double total = 0;
  mean.rows = mean.steps = 0;
  for (const Bytes& part : parts) {
    StateReader in(part);
    std::vector<float> theirs, slice;
    std::vector<double> their_intercepts;
    in.get(theirs);
    in.get(their_intercepts);
    const auto rows = in.get<std::uint64_t>();
    const auto steps = in.get<std::uint64_t>();
    const auto first = in.get<std::uint64_t>();
    in.get(slice);
    if (in.failed() || in.left() != 0 || theirs.size() != inputs ||
        their_intercepts.size() != problem.outputs || first > centres.size() ||
        slice.size() > centres.size() - first)
      return Error{Errc::corrupt, "the model that another worker sent is damaged"};
    const auto weight = static_cast<double>(rows);
    for (std::size_t i = 0; i < inputs; ++i) weights[i] += weight * static_cast<double>(theirs[i]);
    for (std::size_t o = 0; o < problem.outputs; ++o) intercepts[o] += weight * their_intercepts[o];
    std::copy(slice.begin(), slice.end(), centres.begin() + static_cast<std::ptrdiff_t>(first));
    total += weight;
    mean.rows += rows;
    mean.steps += steps;
  }
  if (!(total > 0)) return {};
  for (std::size_t i = 0; i < inputs; ++i) {
    mean.weights[i] = static_cast<float>(weights[i] / total);
    const float own = centres[i] * static_cast<float>(options.target_scale);
    centre.weights[i] = std::isfinite(own) ? own : mean.weights[i];
  }
  for (std::size_t o = 0; o < problem.outputs; ++o) {
    mean.intercepts[o] = intercepts[o] / total;
    const double own =
        (base[o] + static_cast<double>(centres[inputs + o])) * options.target_scale + options.target_center;
    centre.intercepts[o] = std::isfinite(own) ? own : mean.intercepts[o];
  }
  return {};
}

}  // namespace samovar::trainer
