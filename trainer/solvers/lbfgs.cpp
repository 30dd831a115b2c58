#include "trainer/solvers/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"
#include "trainer/solvers/objective.hpp"

namespace samovar::trainer {

namespace {

constexpr std::size_t kHistory = 10;
constexpr int kHalvingsMax = 40;
// So many times in a row the loss has to fall less than the tolerance before it is taken for the end.
constexpr unsigned kStillMax = 3;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double out = 0;
  kernels::cpu().dot_f64(nullptr, a.data(), b.data(), a.size(), &out);
  return out;
}
void add(double factor, const Vector& x, Vector& y) {
  kernels::cpu().axpy_f64(nullptr, factor, x.data(), x.size(), y.data());
}

class Lbfgs {
 public:
  Lbfgs(RowSource& rows, const Problem& problem, const Survey& survey, const LbfgsOptions& options,
        StepHooks& hooks)
      : rows_(rows), problem_(problem), options_(options), hooks_(hooks), objective_(rows, problem, survey) {}

  Result<LbfgsFit> run(StateReader* from) {
    if (from != nullptr) {
      SAMOVAR_CHECK(load(*from));
    } else {
      x_ = objective_.start();
      best_x_ = x_;
      SAMOVAR_CHECK(begin_path());
    }
    for (;;) {
      SAMOVAR_CHECK(solve_one());
      if (options_.path == 0) {
        best_x_ = x_;
        break;
      }
      SAMOVAR_TRY(const bool more, end_point());
      if (!more) break;
    }
    return result();
  }

 private:
  double l1_of(std::size_t i) const { return objective_.is_intercept(i) ? 0 : l1() / objective_.scale(i); }
  double l1() const { return shape_l1_ * lambda_; }
  double l2() const { return shape_l2_ * lambda_; }

  // ---- the path of penalties ----
  Result<void> begin_path() {
    lambda_ = 1;
    shape_l1_ = problem_.l1;
    shape_l2_ = problem_.l2;
    if (options_.path != 0) {
      // Nothing said: the lasso, as glmnet does.
      if (shape_l1_ == 0 && shape_l2_ == 0) shape_l1_ = 1;
      objective_.set_l2(0);
      Vector gradient;
      SAMOVAR_TRY(const double loss, objective_.evaluate(x_, gradient));
      static_cast<void>(loss);
      double most = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (!objective_.is_intercept(i)) most = std::max(most, std::abs(gradient[i]) * objective_.scale(i));
      }
      most = std::max(most, 1e-9);
      // Where everything is 0 under L1; under L2 alone, where little is left.
      first_lambda_ = shape_l1_ > 0 ? most / shape_l1_ : 10 * most / shape_l2_;
      lambda_ = first_lambda_;
    }
    objective_.set_l2(l2());
    return {};
  }

  // False when the path is over.
  Result<bool> end_point() {
    PathPoint point;
    point.lambda = lambda_;
    point.l1 = l1();
    point.l2 = l2();
    point.train_loss = plain_ / objective_.total_weight();
    Vector weights;
    Vector intercepts;
    objective_.weights_of(x_, weights, intercepts);
    point.nonzero = static_cast<std::uint64_t>(
        std::count_if(weights.begin(), weights.end(), [](double w) { return w != 0; }));
    SAMOVAR_TRY(point.valid_loss, mean_loss(rows_, RowRole::valid, problem_, weights, intercepts));
    if (!std::isfinite(point.valid_loss))
      return Error{Errc::invalid, path_.empty() ? "a path of penalties needs rows for validation"
                                                : "the path of penalties diverged at " +
                                                      std::to_string(lambda_) + ": set an l2 beside it"};
    if (path_.empty() || point.valid_loss < path_[best_].valid_loss) {
      best_ = path_.size();
      best_x_ = x_;
    }
    path_.push_back(point);
    // Past the bottom for good: what follows would only be slower and worse.
    const bool worse = path_.size() >= best_ + 10;
    if (path_.size() >= options_.path || worse) return false;
    const double share =
        static_cast<double>(path_.size()) / static_cast<double>(std::max(options_.path - 1, 1u));
    lambda_ = first_lambda_ * std::pow(1e-4, share);
    objective_.set_l2(l2());
    restart();
    return true;
  }

  void restart() {
    history_.clear();
    iteration_ = 0;
    still_ = 0;
    started_ = ended_ = false;
  }

  // ---- one penalty ----
  Result<void> solve_one() {
    if (!started_) {
      keep_bounds(x_);
      SAMOVAR_TRY(f_, evaluate(x_, g_));
      plain_ = objective_.plain_loss();
      started_ = true;
    }
    while (!ended_ && iteration_ < options_.iterations) {
      SAMOVAR_TRY(const bool moved, iterate());
      ++iteration_;
      ++step_;
      rows_done_ += rows_.rows();
      ended_ = !moved || still_ >= kStillMax;
      SAMOVAR_CHECK(report());
    }
    converged_ = ended_;
    return {};
  }

  // The loss with the L1 part; the gradient is that of the smooth part.
  Result<double> evaluate(const Vector& x, Vector& gradient) {
    SAMOVAR_TRY(double loss, objective_.evaluate(x, gradient));
    if (l1() > 0) {
      for (std::size_t i = 0; i < x.size(); ++i) loss += l1_of(i) * std::abs(x[i]);
    }
    return loss;
  }

  // The steepest way down that the penalty and the bounds leave open, negated.
  void open_gradient(Vector& out) const {
    out = g_;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double l1 = l1_of(i);
      if (l1 > 0) {
        if (x_[i] != 0) {
          out[i] += x_[i] > 0 ? l1 : -l1;
        } else {
          out[i] = std::max(out[i] - l1, 0.0) + std::min(out[i] + l1, 0.0);
        }
      }
      if (problem_.bounded() && !objective_.is_intercept(i)) {
        const auto [low, high] = bounds_of(i);
        if ((x_[i] <= low && out[i] > 0) || (x_[i] >= high && out[i] < 0)) out[i] = 0;
      }
    }
  }
  std::pair<double, double> bounds_of(std::size_t i) const {
    const std::size_t weight = i % (problem_.width + 1) - 1;
    return {problem_.low[weight] * objective_.scale(i), problem_.high[weight] * objective_.scale(i)};
  }
  void keep_bounds(Vector& x) const {
    if (!problem_.bounded()) return;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (objective_.is_intercept(i)) continue;
      const auto [low, high] = bounds_of(i);
      x[i] = std::clamp(x[i], low, high);
    }
  }

  // Two loops over the history (Nocedal and Wright, Algorithm 7.4).
  void direction(const Vector& gradient, Vector& out) const {
    out = gradient;
    std::vector<double> alphas(history_.size());
    for (std::size_t k = history_.size(); k-- > 0;) {
      const Pair& pair = history_[k];
      alphas[k] = pair.rho * dot(pair.s, out);
      add(-alphas[k], pair.y, out);
    }
    if (!history_.empty()) {
      const Pair& last = history_.back();
      const double gamma = 1 / (last.rho * dot(last.y, last.y));
      for (double& value : out) value *= gamma;
    }
    for (std::size_t k = 0; k < history_.size(); ++k) {
      const Pair& pair = history_[k];
      add(alphas[k] - pair.rho * dot(pair.y, out), pair.s, out);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = -out[i];
      // Only where the gradient agrees, or is held by nothing.
      if ((l1() > 0 || problem_.bounded()) && out[i] * gradient[i] >= 0) out[i] = 0;
    }
  }

  // False when there is nowhere to go.
  Result<bool> iterate() {
    Vector open;
    open_gradient(open);
    const double norm = dot(open, open);
    if (!std::isfinite(norm) || !std::isfinite(f_))
      return Error{Errc::invalid,
                   "training diverged: the loss has no end. Look for extreme values among the inputs, or set "
                   "an l2"};
    // The curvature is about 1, so this is about what can still be won.
    if (norm <= 2e-3 * options_.tolerance * std::max(std::abs(f_), 1e-3)) return false;
    Vector d;
    direction(open, d);
    double slope = dot(d, open);
    if (!(slope < 0)) {
      history_.clear();
      d = open;
      for (double& value : d) value = -value;
      slope = -norm;
    }
    double step = history_.empty() ? std::min(1.0, 1 / std::sqrt(norm) * first_step_) : 1;
    Vector next;
    Vector gradient;
    for (int halving = 0; halving < kHalvingsMax; ++halving, step *= 0.5) {
      next = x_;
      add(step, d, next);
      if (l1() > 0) {
        for (std::size_t i = 0; i < next.size(); ++i) {
          const double side = x_[i] != 0 ? x_[i] : -open[i];
          if (l1_of(i) > 0 && next[i] * side < 0) next[i] = 0;
        }
      }
      keep_bounds(next);
      double gain = 0;
      for (std::size_t i = 0; i < next.size(); ++i) gain += open[i] * (next[i] - x_[i]);
      SAMOVAR_TRY(const double f, evaluate(next, gradient));
      if (std::isfinite(f) && f <= f_ + 1e-4 * std::min(gain, 0.0)) {
        accept(next, gradient, f);
        return true;
      }
    }
    // No step is short enough: at the end of what doubles can tell, or led astray by the history.
    if (history_.empty()) return false;
    history_.clear();
    return true;
  }

  void accept(Vector& next, Vector& gradient, double f) {
    Pair pair;
    pair.s = next;
    add(-1, x_, pair.s);
    pair.y = gradient;
    add(-1, g_, pair.y);
    const double sy = dot(pair.s, pair.y);
    if (sy > 1e-10 * dot(pair.y, pair.y)) {
      pair.rho = 1 / sy;
      if (history_.size() == kHistory) history_.erase(history_.begin());
      history_.push_back(std::move(pair));
    }
    const double fall = (f_ - f) / std::max(std::abs(f), 1e-3);
    still_ = fall < options_.tolerance ? still_ + 1 : 0;
    x_ = std::move(next);
    g_ = std::move(gradient);
    f_ = f;
    plain_ = objective_.plain_loss();
  }

  Result<void> report() {
    StepReport report;
    report.step = step_;
    report.rows = rows_done_;
    report.pass = static_cast<std::uint32_t>(step_);
    report.train_loss = plain_ / objective_.total_weight();
    // The end is not known; most problems need some dozens of iterations.
    const double one = 1 - std::exp(-static_cast<double>(iteration_) / 25);
    const double points = std::max(1.0, static_cast<double>(options_.path));
    report.share = (static_cast<double>(path_.size()) + one) / points;
    report.curve = true;
    return hooks_.stepped(report, [&](StateWriter& out) { save(out); });
  }

  void save(StateWriter& out) const {
    out.put(x_);
    out.put(g_);
    out.put(best_x_);
    out.put(std::uint64_t{history_.size()});
    for (const Pair& pair : history_) {
      out.put(pair.s);
      out.put(pair.y);
      out.put(pair.rho);
    }
    for (const double number : {f_, plain_, lambda_, first_lambda_, shape_l1_, shape_l2_}) out.put(number);
    for (const std::uint64_t number :
         {std::uint64_t{iteration_}, std::uint64_t{still_}, step_, rows_done_, std::uint64_t{best_}})
      out.put(number);
    out.put(std::uint8_t{started_});
    out.put(std::uint8_t{ended_});
    out.put(path_);
  }
  Result<void> load(StateReader& in) {
    in.get(x_);
    in.get(g_);
    in.get(best_x_);
    const auto pairs = in.get<std::uint64_t>();
    bool fits = pairs <= kHistory;
    for (std::uint64_t k = 0; fits && k < pairs; ++k) {
      Pair pair;
      in.get(pair.s);
      in.get(pair.y);
      pair.rho = in.get<double>();
      fits = pair.s.size() == objective_.unknowns() && pair.y.size() == pair.s.size();
      history_.push_back(std::move(pair));
    }
    for (double* number : {&f_, &plain_, &lambda_, &first_lambda_, &shape_l1_, &shape_l2_})
      *number = in.get<double>();
    iteration_ = static_cast<unsigned>(in.get<std::uint64_t>());
    still_ = static_cast<unsigned>(in.get<std::uint64_t>());
    step_ = in.get<std::uint64_t>();
    rows_done_ = in.get<std::uint64_t>();
    best_ = in.get<std::uint64_t>();
    started_ = in.get<std::uint8_t>() != 0;
    ended_ = in.get<std::uint8_t>() != 0;
    in.get(path_);
    SAMOVAR_CHECK(in.done());
    fits = fits && x_.size() == objective_.unknowns() && best_x_.size() == x_.size() &&
           g_.size() == x_.size() && best_ <= path_.size();
    if (!fits) return Error{Errc::conflict, "the checkpoint is of another model: start the job anew"};
    objective_.set_l2(l2());
    return {};
  }

  LbfgsFit result() {
    LbfgsFit out;
    Vector weights;
    objective_.weights_of(best_x_, weights, out.fit.intercepts);
    out.fit.weights.assign(weights.begin(), weights.end());
    out.fit.converged = converged_;
    out.fit.steps = step_;
    out.fit.rows = rows_done_;
    out.fit.passes = static_cast<std::uint32_t>(step_);
    out.path = path_;
    out.l1 = path_.empty() ? l1() : path_[best_].l1;
    out.l2 = path_.empty() ? l2() : path_[best_].l2;
    if (!converged_)
      out.fit.notes.push_back("The solver stopped after " + std::to_string(options_.iterations) +
                              " iterations before the loss had settled: more passes may help.");
    return out;
  }

  struct Pair {
    Vector s, y;
    double rho = 0;
  };

  // Constant after construction.
  RowSource& rows_;
  const Problem& problem_;
  const LbfgsOptions& options_;
  StepHooks& hooks_;
  double first_step_ = 1;

  // The state.
  Objective objective_;
  Vector x_, g_, best_x_;
  std::vector<Pair> history_;
  double f_ = 0;
  double plain_ = 0;
  double lambda_ = 1;
  double first_lambda_ = 1;
  double shape_l1_ = 0;
  double shape_l2_ = 0;
  unsigned iteration_ = 0;
  unsigned still_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t rows_done_ = 0;
  std::size_t best_ = 0;
  bool started_ = false;
  bool ended_ = false;
  bool converged_ = true;
  std::vector<PathPoint> path_;
};

}  // namespace

Result<LbfgsFit> solve_by_lbfgs(RowSource& rows, const Problem& problem, const Survey& survey,
                                const LbfgsOptions& options, StepHooks& hooks, StateReader* from) {
  return Lbfgs(rows, problem, survey, options, hooks).run(from);
}

}  // namespace samovar::trainer
