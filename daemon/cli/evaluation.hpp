// What an evaluation says, for people: how good the model is beside a trivial one, and what it goes by.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"

namespace samovar::cli {

class App;

// {"auc":0.74,"log_loss":0.41} → "AUC 0.740, log loss 0.410"
std::string headline_text(const nlohmann::json& headline);

struct EvaluationParts {
  std::size_t inputs = 8;     // the most important ones; 0: none
  bool coefficients = false;  // all that were kept
};
std::string evaluation_text(App& app, const nlohmann::json& evaluation, const std::string& title,
                            const EvaluationParts& parts);

}  // namespace samovar::cli
