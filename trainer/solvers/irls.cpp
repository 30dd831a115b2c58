#include "trainer/solvers/irls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainer/solvers/distributions.hpp"
#include "trainer/solvers/normal_matrix.hpp"

namespace samovar::trainer {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
// An effect this large that is less certain than itself: the likelihood has no top there.
constexpr double kRunaway = 8;
// What a step may still change, in squared standard errors.
constexpr double kLeftMin = 1e-16;

class Irls {
 public:
  Irls(RowSource& rows, const Problem& problem, const Survey& survey, const IrlsOptions& options,
       StepHooks& hooks)
      : rows_(rows),
        problem_(problem),
        survey_(survey),
        options_(options),
        hooks_(hooks),
        width_(problem.width),
        dense_(rows.pipeline().dense_width()),
        estimate_theta_(options.estimate_theta && problem.family == Family::negative_binomial),
        matrix_(width_, dense_) {
    centers_.assign(width_, 0);
    for (std::size_t i = 0; i < dense_; ++i) centers_[i] = survey.sums[i] / survey.weight;
    beta_.assign(width_ + 1, 0);
    beta_[width_] = starting_intercepts(problem, survey)[0];
    delta_.assign(width_ + 1, 0);
    if (estimate_theta_) {
      const double mean = survey.target_mean;
      problem_.theta =
          std::clamp(mean * mean / std::max(survey.target_variance - mean, 1e-3 * mean), 0.01, 1e5);
    }
  }

  Result<Fit> run(StateReader* from) {
    if (from != nullptr) {
      SAMOVAR_CHECK(load(*from));
    }
    while (!ended_ && step_ < options_.iterations) SAMOVAR_CHECK(iterate());
    return result();
  }

 private:
  // What one pass adds up at some coefficients.
  struct Sums {
    double deviance = 0;
    double pearson = 0;
    double theta_score = 0;
    double theta_information = 0;
    std::vector<double> gram;      // lower triangle, the intercept last
    std::vector<double> gradient;  // of the loss, the intercept last, with the numbers' means taken off
  };

  Result<void> pass(const std::vector<double>& beta, Sums& sums) {
    const kernels::Table& table = kernels::cpu();
    const kernels::Glm glm = problem_.glm();
    double bias = beta[width_];
    for (std::size_t i = 0; i < dense_; ++i) bias -= beta[i] * centers_[i];
    sums.gram.assign((width_ + 1) * (width_ + 1), 0);
    sums.gradient.assign(width_ + 1, 0);
    sums.deviance = sums.pearson = sums.theta_score = sums.theta_information = 0;
    scratch_.resize(kernels::gram_scratch(dense_));
    SAMOVAR_CHECK(rows_.each(RowRole::train, [&](const EncodedBatch& batch) -> Result<bool> {
      const kernels::Rows view = kernel_rows(batch);
      const kernels::Labels labels = kernel_labels(batch);
      const std::size_t n = batch.rows;
      margins_.resize(n);
      residuals_.resize(n);
      curvatures_.resize(n);
      means_.resize(n);
      table.margins_f64(nullptr, view, beta.data(), bias, labels.offset, margins_.data(), 1);
      table.residuals_f64(nullptr, glm, margins_.data(), labels.target, labels.weight, n, residuals_.data(),
                          nullptr);
      table.curvatures_f64(nullptr, glm, margins_.data(), labels.weight, n, curvatures_.data());
      table.means_f64(nullptr, glm, margins_.data(), n, means_.data());
      table.deviance_f64(nullptr, glm, means_.data(), labels.target, labels.weight, n, &sums.deviance);
      table.gradient_f64(nullptr, view, residuals_.data(), 1, sums.gradient.data(), &sums.gradient[width_]);
      table.gram_f64(nullptr, view, curvatures_.data(), width_, sums.gram.data(), scratch_.data());
      for (std::size_t i = 0; i < n; ++i) {
        if (curvatures_[i] > 0) sums.pearson += residuals_[i] * residuals_[i] / curvatures_[i];
      }
      if (estimate_theta_) add_theta(batch, sums);
      return true;
    }));
    if (rows_.council() != nullptr) SAMOVAR_CHECK(add_up(sums));
    for (std::size_t i = 0; i < dense_; ++i) sums.gradient[i] -= centers_[i] * sums.gradient[width_];
    return {};
  }

  // Over all workers.
  Result<void> add_up(Sums& sums) {
    std::vector<double> all = sums.gram;
    all.insert(all.end(), sums.gradient.begin(), sums.gradient.end());
    double* const single[] = {&sums.deviance, &sums.pearson, &sums.theta_score, &sums.theta_information};
    for (const double* number : single) all.push_back(*number);
    SAMOVAR_CHECK(rows_.sum(all));
    auto at = all.begin();
    for (std::vector<double>* part : {&sums.gram, &sums.gradient}) {
      std::copy_n(at, part->size(), part->begin());
      at += static_cast<std::ptrdiff_t>(part->size());
    }
    for (double* number : single) *number = *at++;
    return {};
  }

  // Score and information of theta (MASS, theta.ml).
  void add_theta(const EncodedBatch& batch, Sums& sums) const {
    const double theta = problem_.theta;
    const double at_theta = digamma(theta);
    const double slope_at_theta = trigamma(theta);
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      const double weight = batch.weight.empty() ? 1 : static_cast<double>(batch.weight[row]);
      const double y = static_cast<double>(batch.target[row]);
      const double mu = means_[row];
      sums.theta_score += weight * (digamma(y + theta) - at_theta + std::log(theta) + 1 -
                                    std::log(theta + mu) - (y + theta) / (mu + theta));
      sums.theta_information += weight * (slope_at_theta - trigamma(y + theta) - 1 / theta +
                                          2 / (mu + theta) - (y + theta) / ((mu + theta) * (mu + theta)));
    }
  }

  double penalty(const std::vector<double>& beta) const {
    double sum = 0;
    for (std::size_t i = 0; i < width_; ++i) sum += beta[i] * beta[i];
    return problem_.l2 * sum;
  }

  Result<void> iterate() {
    std::vector<double> trial = beta_;
    for (std::size_t i = 0; i <= width_; ++i) trial[i] += scale_ * delta_[i];
    SAMOVAR_CHECK(pass(trial, sums_));
    ++step_;
    const double loss = sums_.deviance + penalty(trial);
    const bool worse = have_ && !estimate_theta_ && !(loss <= loss_ + 1e-10 * (std::abs(loss_) + 0.1));
    if (!std::isfinite(loss) && (!have_ || scale_ < 1e-9))
      return Error{
          Errc::invalid,
          "training diverged: the deviance has no end. Look for extreme values among the inputs, or set "
          "an l2"};
    if (worse || !std::isfinite(loss)) {
      scale_ /= 2;
      // Nothing along this way is better: it is at the top already, as far as numbers can tell.
      ended_ = scale_ < 1e-8;
      if (ended_) fresh_ = false;
      return report(loss_);
    }
    const double change = std::abs(loss - loss_) / (std::abs(loss) + 0.1);
    beta_ = std::move(trial);
    loss_ = loss;
    fresh_ = true;
    double theta_change = 0;
    if (estimate_theta_) theta_change = move_theta();
    const bool settled = have_ && change < options_.tolerance && theta_change < 1e-6;
    have_ = true;
    const double left_before = left_;
    SAMOVAR_CHECK(next_direction());
    // Links that are not canonical come closer by a factor only: go on until what is left is far below the
    // standard errors, or no longer shrinks.
    ended_ = ended_ || (settled && (left_ < kLeftMin || left_ > 0.5 * left_before));
    return report(loss);
  }

  double move_theta() {
    const double before = problem_.theta;
    double step = sums_.theta_information > 0 ? sums_.theta_score / sums_.theta_information : before * 0.5;
    problem_.theta = std::clamp(before + step, before / 3, std::min(before * 3, 1e7));
    return std::abs(problem_.theta - before) / before;
  }

  Result<void> next_direction() {
    matrix_.set(sums_.gram, centers_, problem_.l2);
    if (kept_.empty()) kept_ = matrix_.independent();
    if (!matrix_.factor(kept_)) {
      // Some direction has lost all its curvature on the way: that coefficient is on its way to infinity.
      lost_ = true;
      ended_ = true;
      return {};
    }
    std::vector<double> right(width_ + 1);
    for (std::size_t i = 0; i <= width_; ++i)
      right[i] = -sums_.gradient[i] - (i < width_ ? problem_.l2 * beta_[i] : 0);
    delta_ = matrix_.solve(right);
    scale_ = 1;
    left_ = 0;
    for (std::size_t i = 0; i <= width_; ++i) left_ += delta_[i] * right[i];
    const bool free = problem_.family == Family::gaussian || problem_.family == Family::gamma ||
                      problem_.family == Family::tweedie;
    if (free) left_ /= std::max(sums_.pearson / static_cast<double>(survey_.rows), 1e-300);
    return {};
  }

  Result<void> report(double loss) {
    StepReport report;
    report.step = step_;
    report.rows = step_ * survey_.rows;
    report.pass = static_cast<std::uint32_t>(step_);
    report.train_loss = 0.5 * loss / survey_.weight;
    report.share = 1 - std::exp(-static_cast<double>(step_) / 4);
    report.curve = true;
    return hooks_.stepped(report, [&](StateWriter& out) { save(out); });
  }

  void save(StateWriter& out) const {
    out.put(beta_);
    out.put(delta_);
    out.put(kept_);
    for (const double number : {scale_, loss_, left_, problem_.theta}) out.put(number);
    out.put(step_);
    for (const bool flag : {have_, ended_, lost_}) out.put(std::uint8_t{flag});
  }
  Result<void> load(StateReader& in) {
    in.get(beta_);
    in.get(delta_);
    in.get(kept_);
    for (double* number : {&scale_, &loss_, &left_, &problem_.theta}) *number = in.get<double>();
    step_ = in.get<std::uint64_t>();
    for (bool* flag : {&have_, &ended_, &lost_}) *flag = in.get<std::uint8_t>() != 0;
    SAMOVAR_CHECK(in.done());
    const bool fits = beta_.size() == width_ + 1 && delta_.size() == width_ + 1 &&
                      std::all_of(kept_.begin(), kept_.end(), [&](std::uint32_t k) { return k <= width_; });
    if (!fits) return Error{Errc::conflict, "the checkpoint is of another model: start the job anew"};
    fresh_ = false;
    return {};
  }

  Result<Fit> result() {
    Fit fit;
    fit.converged = ended_ && !lost_;
    fit.steps = step_;
    fit.rows = step_ * survey_.rows;
    fit.passes = static_cast<std::uint32_t>(step_);
    fit.theta = problem_.theta;
    fit.weights.assign(beta_.begin(), beta_.end() - 1);
    double bias = beta_[width_];
    for (std::size_t i = 0; i < dense_; ++i) bias -= beta_[i] * centers_[i];
    fit.intercepts = {bias};
    // The sums of the coefficients that were kept, not of a step that was not taken, nor of another run.
    if (!fresh_) SAMOVAR_CHECK(pass(beta_, sums_));
    matrix_.set(sums_.gram, centers_, problem_.l2);
    if (kept_.empty()) kept_ = matrix_.independent();
    const double freedom = static_cast<double>(survey_.rows) - static_cast<double>(kept_.size());
    const bool free_dispersion = problem_.family == Family::gaussian || problem_.family == Family::gamma ||
                                 problem_.family == Family::tweedie;
    if (free_dispersion && freedom > 0) fit.dispersion = sums_.pearson / freedom;
    const bool solid = matrix_.factor(kept_);
    if (problem_.l2 == 0) {
      if (solid) infer(free_dispersion ? freedom : 0, fit);
      if (!solid) fit.runaway = describe_weight(rows_.pipeline(), largest());
    }
    if (!fit.converged && !fit.runaway)
      fit.notes.push_back("The solver stopped after " + std::to_string(step_) +
                          " iterations before the deviance had settled.");
    const std::size_t left_out = width_ + 1 - kept_.size();
    if (left_out > rows_.pipeline().groups().size() && problem_.l2 == 0)
      fit.notes.push_back(std::to_string(left_out) +
                          " coefficients follow from others, or never occur in training, and are 0.");
    return fit;
  }

  // What a usual difference of the column changes in the predictor.
  double effect(std::size_t weight, double coefficient) const {
    if (weight >= dense_) return std::abs(coefficient);
    const double variance = survey_.squares[weight] / survey_.weight - centers_[weight] * centers_[weight];
    return std::abs(coefficient) * std::sqrt(std::max(variance, 0.0));
  }
  std::size_t largest() const {
    std::size_t most = 0;
    for (std::size_t i = 1; i < width_; ++i) {
      if (effect(i, beta_[i]) > effect(most, beta_[most])) most = i;
    }
    return most;
  }

  void infer(double freedom, Fit& fit) {
    const std::vector<double> covariance = matrix_.inverse();
    const std::size_t n = kept_.size();
    const double bound = freedom > 0 ? student_bound(freedom) : kNormalBound;
    const auto line = [&](double estimate, double variance) {
      GlmInference out;
      out.estimate = estimate;
      out.standard_error = std::sqrt(std::max(variance, 0.0) * fit.dispersion);
      out.statistic = out.standard_error > 0 ? estimate / out.standard_error : 0;
      out.p = freedom > 0 ? student_two_sided(out.statistic, freedom) : normal_two_sided(out.statistic);
      out.low = estimate - bound * out.standard_error;
      out.high = estimate + bound * out.standard_error;
      return out;
    };
    GlmInference none;
    none.standard_error = none.statistic = none.p = none.low = none.high = kUndefined;
    fit.inference.assign(width_ + 1, none);
    // In the units of the data: value = (x - center) · scale, and the intercept is that of x = 0.
    const FeaturePipeline& pipeline = rows_.pipeline();
    std::vector<double> shift(n, 0);
    double intercept = beta_[width_];
    double worst = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t weight = kept_[k];
      if (weight == width_) {
        shift[k] = 1;
        continue;
      }
      const WeightScale scale = pipeline.weight_scale(weight);
      shift[k] = -(centers_[weight] + scale.center * scale.scale);
      intercept += beta_[weight] * shift[k];
      fit.inference[1 + weight] =
          line(beta_[weight] * scale.scale, covariance[k * n + k] * scale.scale * scale.scale);
      const double size = effect(weight, beta_[weight]);
      const double doubt = effect(weight, std::sqrt(std::max(covariance[k * n + k], 0.0)));
      if (can_run_away() && size > kRunaway && doubt > size && doubt > worst) {
        worst = doubt;
        fit.runaway = describe_weight(pipeline, weight);
      }
    }
    double variance = 0;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) variance += shift[k] * shift[l] * covariance[k * n + l];
    }
    fit.inference[0] = line(intercept, variance);
  }
  bool can_run_away() const {
    return problem_.family == Family::binomial || problem_.family == Family::poisson ||
           problem_.family == Family::negative_binomial || problem_.family == Family::tweedie;
  }

  // Constant after construction.
  RowSource& rows_;
  Problem problem_;  // but for theta
  const Survey& survey_;
  const IrlsOptions& options_;
  StepHooks& hooks_;
  const std::size_t width_;
  const std::size_t dense_;
  const bool estimate_theta_;
  std::vector<double> centers_;

  // The state.
  std::vector<double> beta_;  // the intercept last; numbers with their means taken off
  std::vector<double> delta_;
  std::vector<std::uint32_t> kept_;
  double scale_ = 1;
  double loss_ = 0;
  double left_ = 1e300;  // of the direction at hand, in squared standard errors
  std::uint64_t step_ = 0;
  bool have_ = false;
  bool ended_ = false;
  bool lost_ = false;

  // Follows from the state.
  bool fresh_ = false;  // sums_ are those of beta_
  Sums sums_;
  NormalMatrix matrix_;
  std::vector<double> margins_, residuals_, curvatures_, means_, scratch_;
};

}  // namespace

Result<Fit> solve_by_irls(RowSource& rows, const Problem& problem, const Survey& survey,
                          const IrlsOptions& options, StepHooks& hooks, StateReader* from) {
  return Irls(rows, problem, survey, options, hooks).run(from);
}

}  // namespace samovar::trainer
