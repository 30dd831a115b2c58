// What an evaluation says about the model itself: the table of coefficients, and the few figures for lists.
//
// Threading: pure.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kCoefficientsMax = 2000;

// Adds "coefficients" (in the units of the data, the largest effects when there are too many) and
// "intercept".
void add_coefficients(const GlmModel& model, const FeaturePipeline& pipeline, nlohmann::json& evaluation);
// {"task","metric","value","low","high","rows",…} of an evaluation.
nlohmann::json headline(const nlohmann::json& evaluation);

}  // namespace samovar::trainer
