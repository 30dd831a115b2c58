// From what a job says, and what the data are, to what is really done: family, link, solver, penalties.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm_parameters.hpp"
#include "trainer/solvers/problem.hpp"
#include "trainer/spec.hpp"

namespace samovar::trainer {

struct GlmChoice {
  Problem problem;
  SolverKind solver = SolverKind::lbfgs;
  bool l2_chosen = false;  // by us: it may be raised when coefficients run away
  double rate = 0.1;
  unsigned passes = 5;
  unsigned batch_rows = 32;
};

// Errc::invalid with a sentence when the parameters do not fit the data.
Result<GlmChoice> choose_glm(const GlmParameters& parameters, const JobSpec& spec,
                             const FeaturePipeline& pipeline, double train_rows);
bool streams(SolverKind solver) noexcept;
// What the target may hold. Errc::invalid says which values do not fit the family.
Result<void> check_target(const Problem& problem, const Survey& survey, const std::string& target);

}  // namespace samovar::trainer
