// What an evaluation says, for people: how good the model is beside a trivial one, and what it goes by.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"

namespace samovar::cli {

class App;

// {"metric":"auc","value":0.74,"low":0.72,"high":0.76,…} → "AUC 0.7400 (0.7200 – 0.7600)"
std::string headline_text(const nlohmann::json& headline);

struct EvaluationParts {
  std::size_t inputs = 8;     // the most important ones; 0: none
  bool coefficients = false;  // all that were kept
};
std::string evaluation_text(App& app, const nlohmann::json& evaluation, const std::string& title,
                            const EvaluationParts& parts);

}  // namespace samovar::cli
