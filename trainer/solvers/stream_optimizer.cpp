#include "trainer/solvers/stream_optimizer.hpp"

#include <algorithm>

#include "trainer/sync/together.hpp"

namespace samovar::trainer {

namespace {

kernels::Rule rule_of(SolverKind solver) {
  switch (solver) {
    case SolverKind::ftrl:
      return kernels::Rule::ftrl;
    case SolverKind::sgd:
      return kernels::Rule::sgd;
    case SolverKind::adam:
      return kernels::Rule::adam;
    default:
      return kernels::Rule::adagrad;
  }
}

}  // namespace

kernels::Optimizer optimizer_of(const Problem& problem, const StreamOptions& options) {
  kernels::Optimizer o;
  o.rule = rule_of(options.solver);
  o.rate = static_cast<float>(options.rate);
  // A penalty on the sum over all rows is met a little at each touch; FTRL keeps it whole.
  const double part = o.rule == kernels::Rule::ftrl ? 1 : 1 / std::max(options.train_rows, 1.0);
  o.l1 = static_cast<float>(problem.l1 * part);
  o.l2 = static_cast<float>(problem.l2 * part);
  if (o.rule == kernels::Rule::adagrad || o.rule == kernels::Rule::ftrl) o.epsilon = 1.0f;
  // EAMSGD, also of one worker.
  if (o.rule == kernels::Rule::sgd && options.strategy.kind == "eamsgd") {
    o.ahead = true;
    if (options.strategy.momentum > 0) o.momentum = static_cast<float>(options.strategy.momentum);
  }
  return o;
}

void add_together_figures(const Together& together, const Council& council, StepReport& report) {
  const Together::Figures& figures = together.figures();
  const std::pair<const char*, double> all[] = {
      {"bytes_sent", static_cast<double>(council.bytes_sent())},
      {"bytes_received", static_cast<double>(council.bytes_received())},
      {"wait_seconds", together.seconds_waited()},
      {"exchange_work_seconds", figures.exchange_work},
      {"staleness", static_cast<double>(figures.behind)},
      {"round", static_cast<double>(figures.rounds)},
      {"tau", static_cast<double>(figures.tau)},
      {"workers", static_cast<double>(council.membership().members.size())},
  };
  for (const auto& [name, value] : all) report.figures.emplace_back(name, value);
}

}  // namespace samovar::trainer
