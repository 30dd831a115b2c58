#include "trainer/models/glm_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace samovar::trainer {

namespace {

constexpr std::size_t kIrlsWidthMax = 600;
constexpr std::size_t kLbfgsUnknownsMax = 200'000;
// Multiplications a solver may take in all: some minutes.
constexpr double kIrlsWorkMax = 2e12;
constexpr double kLbfgsWorkMax = 1e12;

Result<Family> family_of(const GlmParameters& parameters, const JobSpec& spec,
                         const FeaturePipeline& pipeline) {
  const std::size_t classes = pipeline.classes().size();
  if (!parameters.family) {
    if (classes == 2) return Family::binomial;
    if (classes > 2) return Family::multinomial;
    return spec.exposure.empty() ? Family::gaussian : Family::poisson;
  }
  const Family family = *parameters.family;
  if (family == Family::binomial && classes != 2)
    return Error{Errc::invalid, "the family binomial needs a target with two classes; \"" + spec.target +
                                    "\" has " + std::to_string(classes)};
  // Two classes are a case of several.
  if (family == Family::multinomial && classes < 2)
    return Error{Errc::invalid, "the family multinomial needs a target with classes"};
  return family == Family::multinomial && classes == 2 ? Family::binomial : family;
}

SolverKind solver_of(const GlmParameters& parameters, const Problem& problem, const FeaturePipeline& pipeline,
                     double rows) {
  const double places = static_cast<double>(pipeline.dense_width() + pipeline.slot_width()) + 1;
  const bool irls_can = problem.outputs == 1 && parameters.l1.value_or(0) == 0 && !problem.bounded() &&
                        parameters.lambda_path == 0;
  if (irls_can && problem.width <= kIrlsWidthMax && rows * places * places * 10 <= kIrlsWorkMax)
    return SolverKind::irls;
  const std::size_t unknowns = problem.outputs * (problem.width + 1);
  const double work = rows * places * static_cast<double>(problem.outputs) * 200;
  const bool needs_it = parameters.lambda_path != 0;
  if (unknowns <= kLbfgsUnknownsMax && (work <= kLbfgsWorkMax || needs_it)) return SolverKind::lbfgs;
  return problem.bounded() ? SolverKind::adagrad : SolverKind::ftrl;
}

Result<void> set_bounds(const GlmParameters& parameters, const FeaturePipeline& pipeline, Problem& problem) {
  if (parameters.bounds.empty()) return {};
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  problem.low.assign(problem.width, -kEnd);
  problem.high.assign(problem.width, kEnd);
  for (const auto& [column, bound] : parameters.bounds) {
    bool found = false;
    // Some levels of a hashed input have weights of their own, the others have not: bounds would hold for a
    // few.
    for (std::size_t i = 0; i < pipeline.plan().hash_first; ++i) {
      const WeightName name = pipeline.weight_name(i);
      if (name.input != column || name.missing) continue;
      found = true;
      // Said in the units of the data.
      const double scale = pipeline.weight_scale(i).scale;
      if (bound.low) problem.low[i] = *bound.low / scale;
      if (bound.high) problem.high[i] = *bound.high / scale;
    }
    if (!found)
      return Error{Errc::invalid,
                   "\"" + column + "\" has bounds but no coefficient of its own: it is no input, or hashed"};
  }
  return {};
}

// Hashed designs have more places than the rows can tell apart: the rarer a place, the less it may say. With
// few rows less is needed to be heard.
double hashed_l1(double rows) { return std::clamp(4 * std::sqrt(rows / 1e6), 0.2, 4.0); }
double hashed_l2(double rows) { return std::clamp(10 * std::sqrt(rows / 1e6), 1.0, 10.0); }

}  // namespace

bool streams(SolverKind solver) noexcept {
  return solver == SolverKind::adagrad || solver == SolverKind::ftrl || solver == SolverKind::sgd ||
         solver == SolverKind::adam;
}

Result<GlmChoice> choose_glm(const GlmParameters& parameters, const JobSpec& spec,
                             const FeaturePipeline& pipeline, double train_rows) {
  GlmChoice choice;
  Problem& problem = choice.problem;
  SAMOVAR_TRY(problem.family, family_of(parameters, spec, pipeline));
  problem.link = parameters.link.value_or(usual_link(problem.family));
  if (!link_fits(problem.family, problem.link))
    return Error{Errc::invalid, "the link " + std::string(to_string(problem.link)) +
                                    " does not go with the family " + std::string(to_string(problem.family))};
  problem.classes = problem.family == Family::binomial || problem.family == Family::multinomial
                        ? static_cast<std::uint32_t>(pipeline.classes().size())
                        : 0;
  problem.outputs = problem.family == Family::multinomial ? problem.classes : 1;
  problem.width = pipeline.weights();
  problem.theta = parameters.theta.value_or(1);
  problem.power = parameters.power;
  SAMOVAR_CHECK(set_bounds(parameters, pipeline, problem));
  choice.solver = parameters.solver == SolverKind::automatic
                      ? solver_of(parameters, problem, pipeline, train_rows)
                      : parameters.solver;
  // Its workers step with momentum.
  if (spec.strategy.kind == "eamsgd" && streams(choice.solver) && choice.solver != SolverKind::sgd) {
    if (parameters.solver != SolverKind::automatic)
      return Error{Errc::invalid,
                   "the strategy eamsgd goes with the solver sgd: take easgd, or leave the solver "
                   "to auto"};
    choice.solver = SolverKind::sgd;
  }
  if (choice.solver == SolverKind::irls && problem.outputs > 1)
    return Error{Errc::invalid, "irls does not do several classes: take lbfgs, or leave it to auto"};
  if (choice.solver == SolverKind::irls && problem.width > 5000)
    return Error{Errc::invalid, "the design has " + std::to_string(problem.width) +
                                    " weights, too many for irls: take lbfgs, or leave it to auto"};
  if (choice.solver == SolverKind::lbfgs && problem.outputs * (problem.width + 1) > 20 * kLbfgsUnknownsMax)
    return Error{Errc::invalid, "the design has too many weights for lbfgs: take ftrl, or leave it to auto"};

  const bool stream = streams(choice.solver);
  const bool sparse = choice.solver == SolverKind::ftrl;
  problem.l1 = parameters.l1.value_or(sparse ? hashed_l1(train_rows) : 0);
  choice.l2_chosen = !parameters.l2;
  if (parameters.l2) {
    problem.l2 = *parameters.l2;
  } else if (sparse) {
    problem.l2 = hashed_l2(train_rows);
  } else if (parameters.lambda_path != 0) {
    problem.l2 = 0;
  } else if (choice.solver == SolverKind::irls) {
    problem.l2 = train_rows >= 5 * static_cast<double>(problem.width) ? 0 : 1;
  } else {
    problem.l2 = 1;
  }
  choice.passes = parameters.passes.value_or(stream ? 5 : 500);
  choice.batch_rows = parameters.batch_rows.value_or(32);
  choice.rate = parameters.learning_rate.value_or(choice.solver == SolverKind::ftrl   ? 0.1
                                                  : choice.solver == SolverKind::sgd  ? 0.002
                                                  : choice.solver == SolverKind::adam ? 0.002
                                                                                      : 0.05);
  return choice;
}

Result<void> check_target(const Problem& problem, const Survey& survey, const std::string& target) {
  const auto wrong = [&](const char* what) {
    return Error{Errc::invalid, "the target \"" + target + "\" " + what};
  };
  if (problem.classes != 0) {
    const auto there =
        std::count_if(survey.shares.begin(), survey.shares.end(), [](double s) { return s > 0; });
    if (there < 2)
      return wrong("has one class only among the rows to train on: choose another target or another split");
    return {};
  }
  if (survey.target_min == survey.target_max)
    return wrong("has the same value in every row to train on: there is nothing to learn");
  switch (problem.family) {
    case Family::poisson:
    case Family::negative_binomial:
    case Family::tweedie:
      if (survey.target_min < 0) return wrong("has values below 0: the family needs 0 or more");
      return {};
    case Family::gamma:
      if (survey.target_min <= 0)
        return wrong(
            "has values that are 0 or below: the family gamma needs amounts above 0 (tweedie allows 0)");
      return {};
    case Family::gaussian:
      if (problem.link == Link::log && survey.target_mean <= 0)
        return wrong("has a mean of 0 or below: the link log needs one above");
      return {};
    default:
      return {};
  }
}

}  // namespace samovar::trainer
