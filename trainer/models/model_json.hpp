// What a model is, but for its weights, as JSON: part of the model file and of the JSON export.
//
// Threading: pure functions.
// Format:    docs/formats/model.md
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::trainer {

nlohmann::json glm_to_json(const GlmModel& model);
// The weights are left empty: the caller fills width × outputs() of them. Errc::invalid for anything
// glm_to_json would not write, and for what does not fit the pipeline.
Result<GlmModel> glm_from_json(const nlohmann::json& json, const FeaturePipeline& pipeline);

// Errc::invalid, saying which, when a number that scoring depends on is not finite.
Result<void> check_finite(const GlmModel& model);

}  // namespace samovar::trainer
