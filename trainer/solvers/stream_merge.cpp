#include "trainer/solvers/stream_merge.hpp"

#include <algorithm>
#include <cmath>

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

Result<std::size_t> best_fit(RowSource& rows, const std::vector<EncodedBatch>& valid, const Problem& problem,
                             const std::vector<MergedFit>& fits) {
  if (fits.size() < 2) return std::size_t{0};
  std::vector<const Fit*> each;
  for (const MergedFit& one : fits) each.push_back(&one.fit);
  SAMOVAR_TRY(const auto losses, losses_of(rows, valid, problem, each));
  if (!(losses.back() > 0)) return std::size_t{0};
  return static_cast<std::size_t>(std::min_element(losses.begin(), losses.end() - 1) - losses.begin());
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

Bytes write_merged(MeanOfAll all, const Problem& problem, const std::vector<double>& base,
                   const StreamOptions& options) {
  const std::size_t inputs = all.weights.size();
  StateWriter out((3 * inputs + problem.outputs) * sizeof(float) + 1024);
  out.put(all.members);
  out.put(all.rows);
  out.put(all.steps);
  out.put(all.weights);
  out.put(all.few);
  out.put(all.merged);
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
  Fit mean, merged, centre;
  mean.passes = like.passes;
  mean.notes = like.notes;
  out.workers = in.get<std::uint64_t>();
  mean.rows = in.get<std::uint64_t>();
  mean.steps = in.get<std::uint64_t>();
  merged = centre = mean;
  in.get(mean.weights);
  in.get(mean.intercepts);
  in.get(merged.weights);
  merged.intercepts = mean.intercepts;
  const bool has_centre = in.get<std::uint8_t>() != 0;
  if (has_centre) {
    in.get(centre.weights);
    in.get(centre.intercepts);
  }
  const bool has_merged = !merged.weights.empty();
  out.fits.push_back({"mean", "the mean of theirs", std::move(mean)});
  if (has_merged)
    out.fits.push_back({"merged", "what they learned, put together weight by weight", std::move(merged)});
  if (has_centre) out.fits.push_back({"centre", "their centre", std::move(centre)});
  for (const MergedFit& one : out.fits) {
    if (one.fit.weights.size() != problem.outputs * problem.width ||
        one.fit.intercepts.size() != problem.outputs)
      return Error{Errc::corrupt, "the model that the lead sent is damaged"};
  }
  if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "the model that the lead sent is damaged"};
  return out;
}

}  // namespace samovar::trainer
