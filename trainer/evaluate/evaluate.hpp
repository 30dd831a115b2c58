// One pass over all rows with a trained model: figures for training, validation and test rows, curves,
// subgroups, importance. The JSON of docs/formats/model.md "Evaluation".
//
// Threading: one thread; the reader has its own.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/solvers/row_source.hpp"

namespace samovar::trainer {

struct EvaluateOptions {
  std::uint64_t seed = 1;
  std::size_t sample_bytes = 4u << 20;
  bool explain = true;  // subgroups and importance too
  // Called now and then with the share that is done; false: stop.
  std::function<bool(double)> progress;
};

// Fills model.contribution_means on the way. Everything but curve, path, coefficients and notes.
// Errc::conflict when asked to stop.
Result<nlohmann::json> evaluate_model(RowSource& rows, GlmModel& model, const EvaluateOptions& options);

}  // namespace samovar::trainer
