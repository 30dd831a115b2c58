// What a solver is to minimise, what it is told about the rows beforehand, and how it reports.
//
// Σ weight · loss + l1 Σ|w| + l2/2 Σ w² over the training rows; intercepts are free of the penalty.
//
// Threading: values; solvers run on one thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "kernels/kernels.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/models/glm_parameters.hpp"
#include "trainer/solvers/row_source.hpp"
#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

struct Problem {
  Family family = Family::binomial;
  Link link = Link::logit;
  std::uint32_t classes = 0;
  double theta = 1;
  double power = 1.5;
  std::size_t width = 0;
  std::size_t outputs = 1;
  double l1 = 0;
  double l2 = 0;
  std::vector<double> low, high;  // per weight; empty: no bounds

  kernels::Glm glm() const;
  bool bounded() const noexcept { return !low.empty(); }
};

// About the training rows, by one pass over them.
struct Survey {
  std::uint64_t rows = 0;
  double weight = 0;  // Σ weight
  double target_mean = 0;
  double target_variance = 0;
  double target_min = 0;
  double target_max = 0;
  bool target_whole = true;    // whole numbers only
  double offset_mean = 0;      // Σ weight · exp(offset) / Σ weight, for the start of a log link
  std::vector<double> shares;  // of the classes
  std::vector<double> sums;    // per weight: Σ weight · x and Σ weight · x²
  std::vector<double> squares;
};
Result<Survey> survey_rows(RowSource& rows, std::size_t width, std::uint32_t classes, bool columns);

// Mean loss over the rows of a role under these weights; NaN when there are none.
Result<double> mean_loss(RowSource& rows, RowRole role, const Problem& problem,
                         const std::vector<double>& weights, const std::vector<double>& intercepts);

// Where the intercepts start: at the mean of the target.
std::vector<double> starting_intercepts(const Problem& problem, const Survey& survey);

struct StepReport {
  std::uint64_t step = 0;  // updates so far
  std::uint64_t rows = 0;  // each pass counted
  std::uint32_t pass = 0;
  double share = 0;                  // of this solver's work
  std::optional<double> train_loss;  // per row
  std::optional<double> valid_loss;
  bool curve = false;                                   // a point for the curve that is kept with the model
  std::vector<std::pair<std::string, double>> figures;  // others of this worker, by their names
};

// What happens between two updates: progress, metrics, checkpoints, being asked to stop.
class StepHooks {
 public:
  virtual ~StepHooks() = default;
  // `save` gives the solver's state after this update; called only when a checkpoint is due. Any error ends
  // the solver.
  virtual Result<void> stepped(const StepReport& report, const std::function<void(StateWriter&)>& save) = 0;
  // For workers that go in step, who save together: whether it is time to, after that many updates …
  virtual bool save_due(std::uint64_t) { return false; }
  // … and the state of all of them.
  virtual Result<void> saved(std::uint64_t, const Bytes&) { return {}; }
  // Where it computes from now on: the name of a device, or of the CPU. `trouble`: why no longer, or not, on
  // the device it was given; a part of a sentence. Told only when one was given.
  virtual void computes_on(std::string_view, std::string_view) {}
  // Now and then during work of which there is nothing to tell: whether to go on with it.
  virtual Result<void> waiting() { return {}; }
};

struct Fit {
  std::vector<float> weights;      // outputs × width
  std::vector<double> intercepts;  // one per output
  double dispersion = 1;
  double theta = 0;
  std::vector<GlmInference> inference;  // in the units of the data
  bool converged = true;
  std::uint64_t steps = 0;
  std::uint64_t rows = 0;
  std::uint32_t passes = 0;
  std::vector<std::string> notes;
  std::optional<std::string> runaway;  // the weight whose coefficient has no end
  // Of several workers: how many, and which of their models this is: "centre", "mean", "best", "same".
  std::uint64_t workers = 1;
  std::string taken;
};

// "age", "city = Kyiv", "age is missing": as people are told.
std::string describe_weight(const FeaturePipeline& pipeline, std::size_t weight);

}  // namespace samovar::trainer
