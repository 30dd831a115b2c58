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

Result<bool> centre_is_better(RowSource& rows, const std::vector<EncodedBatch>& valid, const Problem& problem,
                              const Fit& mean, const Fit& centre) {
  const kernels::Table& table = kernels::cpu();
  std::vector<float> scores, residuals;
  std::vector<double> losses(3);
  const std::size_t outputs = problem.outputs;
  for (const EncodedBatch& batch : valid) {
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
  }
  SAMOVAR_CHECK(rows.sum(losses));
  return losses[2] > 0 && losses[1] < losses[0];
}

Result<Bytes> merge_fits(const std::vector<Bytes>& parts, const Problem& problem,
                         const std::vector<double>& base, const StreamOptions& options) {
  const kernels::Table& table = kernels::cpu();
  const std::size_t inputs = problem.outputs * problem.width;
  std::vector<float> theirs, slice;
  std::vector<float> weights(inputs);
  std::vector<double> their_intercepts, intercepts(problem.outputs);
  std::vector<float> centres(inputs + problem.outputs, std::numeric_limits<float>::quiet_NaN());
  std::uint64_t rows = 0, steps = 0;
  bool has_centre = false;
  double total = 0;
  // The rows come before the weights are added: each part is read twice.
  for (const bool adding : {false, true}) {
    for (const Bytes& part : parts) {
      StateReader in(part);
      in.get(theirs);
      in.get(their_intercepts);
      const auto did = in.get<std::uint64_t>();
      const auto made = in.get<std::uint64_t>();
      const auto first = in.get<std::uint64_t>();
      in.get(slice);
      if (in.failed() || in.left() != 0 || theirs.size() != inputs ||
          their_intercepts.size() != problem.outputs || first > centres.size() ||
          slice.size() > centres.size() - first)
        return Error{Errc::corrupt, "the model that another worker sent is damaged"};
      if (!adding) {
        rows += did;
        steps += made;
        total += static_cast<double>(did);
        continue;
      }
      const double share =
          total > 0 ? static_cast<double>(did) / total : 1 / static_cast<double>(parts.size());
      table.axpy(nullptr, static_cast<float>(share), theirs.data(), inputs, weights.data());
      for (std::size_t o = 0; o < problem.outputs; ++o) intercepts[o] += share * their_intercepts[o];
      std::copy(slice.begin(), slice.end(), centres.begin() + static_cast<std::ptrdiff_t>(first));
      has_centre = has_centre || !slice.empty();
    }
  }
  StateWriter out((2 * inputs + problem.outputs) * sizeof(float) + 1024);
  out.put(std::uint64_t{parts.size()});
  out.put(rows);
  out.put(steps);
  out.put(weights);
  out.put(intercepts);
  out.put(static_cast<std::uint8_t>(has_centre));
  if (!has_centre) return out.take();
  for (std::size_t i = 0; i < inputs; ++i) {
    const float own = centres[i] * static_cast<float>(options.target_scale);
    weights[i] = std::isfinite(own) ? own : weights[i];
  }
  for (std::size_t o = 0; o < problem.outputs; ++o) {
    const double own =
        (base[o] + static_cast<double>(centres[inputs + o])) * options.target_scale + options.target_center;
    intercepts[o] = std::isfinite(own) ? own : intercepts[o];
  }
  out.put(weights);
  out.put(intercepts);
  return out.take();
}

Result<Merged> read_merged(ByteView bytes, const Problem& problem, const Fit& like) {
  StateReader in(bytes);
  Merged out;
  out.mean.passes = out.centre.passes = like.passes;
  out.mean.notes = out.centre.notes = like.notes;
  out.workers = in.get<std::uint64_t>();
  out.mean.rows = in.get<std::uint64_t>();
  out.mean.steps = in.get<std::uint64_t>();
  in.get(out.mean.weights);
  in.get(out.mean.intercepts);
  out.has_centre = in.get<std::uint8_t>() != 0;
  if (out.has_centre) {
    out.centre.rows = out.mean.rows;
    out.centre.steps = out.mean.steps;
    in.get(out.centre.weights);
    in.get(out.centre.intercepts);
  }
  for (const Fit* fit : {&out.mean, &out.centre}) {
    if (fit == &out.centre && !out.has_centre) break;
    if (fit->weights.size() != problem.outputs * problem.width || fit->intercepts.size() != problem.outputs)
      return Error{Errc::corrupt, "the model that the lead sent is damaged"};
  }
  if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "the model that the lead sent is damaged"};
  return out;
}

}  // namespace samovar::trainer
