// The parameters of a generalized linear model: what a job may say, what is taken when it says nothing.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/models/glm.hpp"
#include "trainer/spec.hpp"

namespace samovar::trainer {

inline constexpr unsigned kBatchRowsMost = 256;

enum class SolverKind : std::uint8_t { automatic, irls, lbfgs, adagrad, ftrl, sgd, adam };
std::string_view to_string(SolverKind solver) noexcept;

struct Bound {
  std::optional<double> low, high;
};

// The penalty is that of a sum over rows: Σ loss + l1 Σ|w| + l2/2 Σ w². An l2 of 1 is scikit-learn's C = 1.
struct GlmParameters {
  std::optional<Family> family;  // none: from the target's type
  std::optional<Link> link;      // none: the family's usual one
  SolverKind solver = SolverKind::automatic;
  std::optional<double> l1, l2;         // none: 0 where that is safe, else what suits the solver
  std::optional<unsigned> passes;       // streaming solvers: over the rows; others: iterations at most
  std::optional<unsigned> batch_rows;   // streaming solvers: rows of one update
  std::optional<double> learning_rate;  // streaming solvers
  bool balanced = false;                // classes weigh the same, whatever their shares
  std::map<std::string, Bound> bounds;  // by column: of all its coefficients
  unsigned lambda_path = 0;             // so many penalties from strong to weak; 0: the one given
  bool early_stop = true;               // streaming solvers: on the rows for validation
  double tolerance = 1e-8;              // others: relative change of the loss
  std::optional<double> theta;          // negative binomial; none: estimated
  double power = 1.5;                   // tweedie
};

// All faults at once, their pointers begin with `at` ("/parameters").
GlmParameters parse_glm_parameters(const nlohmann::json& json, std::string_view at,
                                   std::vector<SpecFault>& faults);
// Everything spelled out, null for what is chosen later.
nlohmann::json to_json(const GlmParameters& parameters);
// JSON Schema (2020-12) with title, description, default and x-advanced.
nlohmann::json glm_parameters_schema();

}  // namespace samovar::trainer
