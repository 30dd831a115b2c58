#include "trainer/solvers/stream_merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainer/sync/council.hpp"

namespace samovar::trainer {

double weight_of(const EncodedBatch& batch) {
  if (batch.weight.empty()) return batch.rows;
  double sum = 0;
  for (const float weight : batch.weight) sum += weight;
  return sum;
}

namespace {

// The sum of the losses of each model over the validation rows of all workers, and last the rows' weight.
Result<std::vector<double>> losses_of(RowSource& rows, const std::vector<EncodedBatch>& valid,
                                      const Problem& problem, const std::vector<const Fit*>& fits) {
  const kernels::Table& table = kernels::cpu();
  std::vector<float> scores, residuals;
  std::vector<double> losses(fits.size() + 1);
  const std::size_t outputs = problem.outputs;
  for (const EncodedBatch& batch : valid) {
    const kernels::Rows view = kernel_rows(batch);
    const kernels::Labels labels = kernel_labels(batch);
    for (std::size_t which = 0; which < fits.size(); ++which) {
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
    losses.back() += weight_of(batch);
  }
  SAMOVAR_CHECK(rows.sum(losses));
  return losses;
}

}  // namespace

Result<bool> centre_is_better(RowSource& rows, const std::vector<EncodedBatch>& valid, const Problem& problem,
                              const Fit& mean, const Fit& centre) {
  SAMOVAR_TRY(const auto losses, losses_of(rows, valid, problem, {&mean, &centre}));
  return losses[2] > 0 && losses[1] < losses[0];
}

Result<BestFit> best_of_workers(RowSource& rows, const std::vector<EncodedBatch>& valid,
                                const Problem& problem, const Fit& own) {
  const auto part = [&]() -> Result<Bytes> {
    StateWriter out;
    out.put(own.weights);
    out.put(own.intercepts);
    out.put(own.rows);
    out.put(own.steps);
    return out.take();
  };
  SAMOVAR_TRY(const std::vector<Bytes> parts, rows.council()->collect("models", part));
  std::vector<Fit> fits;
  std::vector<const Fit*> each;
  std::uint64_t all_rows = 0, all_steps = 0;
  for (const Bytes& bytes : parts) {
    StateReader in(bytes);
    Fit fit;
    fit.passes = own.passes;
    fit.notes = own.notes;
    in.get(fit.weights);
    in.get(fit.intercepts);
    all_rows += in.get<std::uint64_t>();
    all_steps += in.get<std::uint64_t>();
    if (in.failed() || in.left() != 0 || fit.weights.size() != own.weights.size() ||
        fit.intercepts.size() != own.intercepts.size())
      return Error{Errc::corrupt, "the model that another worker sent is damaged"};
    fits.push_back(std::move(fit));
  }
  for (const Fit& fit : fits) each.push_back(&fit);
  SAMOVAR_TRY(const auto losses, losses_of(rows, valid, problem, each));
  const auto best = std::min_element(losses.begin(), losses.end() - 1) - losses.begin();
  BestFit out{fits.size(), std::move(fits[static_cast<std::size_t>(best)])};
  out.fit.rows = all_rows;
  out.fit.steps = all_steps;
  return out;
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
  MeanOfAll all{parts.size(), rows, steps, std::move(weights), std::move(intercepts), has_centre, {}};
  all.centre = std::move(centres);
  return write_merged(std::move(all), problem, base, options);
}

Bytes write_merged(MeanOfAll all, const Problem& problem, const std::vector<double>& base,
                   const StreamOptions& options) {
  const std::size_t inputs = all.weights.size();
  StateWriter out((2 * inputs + problem.outputs) * sizeof(float) + 1024);
  out.put(all.members);
  out.put(all.rows);
  out.put(all.steps);
  out.put(all.weights);
  out.put(all.few);
  out.put(static_cast<std::uint8_t>(all.has_centre));
  if (!all.has_centre) return out.take();
  for (std::size_t i = 0; i < inputs; ++i) {
    const float own = all.centre[i] * static_cast<float>(options.target_scale);
    all.weights[i] = std::isfinite(own) ? own : all.weights[i];
  }
  for (std::size_t o = 0; o < problem.outputs; ++o) {
    const double own = (base[o] + static_cast<double>(all.centre[inputs + o])) * options.target_scale +
                       options.target_center;
    all.few[o] = std::isfinite(own) ? own : all.few[o];
  }
  out.put(all.weights);
  out.put(all.few);
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
