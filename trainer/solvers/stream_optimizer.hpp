// What streaming solvers have in common: the optimiser of a problem, means of losses, what is told of the
// others.
//
// Threading: values.
#pragma once
#include <limits>

#include "kernels/kernels.hpp"
#include "trainer/solvers/stream.hpp"

namespace samovar::trainer {

class Together;

kernels::Optimizer optimizer_of(const Problem& problem, const StreamOptions& options);

struct StreamMean {
  double sum = 0;
  double weight = 0;
  double value() const { return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN(); }
  void add(double loss, double by) {
    sum += loss;
    weight += by;
  }
};

// Of the exchange with the other workers.
void add_together_figures(const Together& together, const Council& council, StepReport& report);

}  // namespace samovar::trainer
