// A fitted pipeline as JSON. What is read comes from a model file or an import: every member is checked, and
// a plan that was read can be used.
//
// Threading: pure.
// Format:    docs/formats/model.md
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "trainer/features/plan.hpp"

namespace samovar::trainer {

nlohmann::json plan_to_json(const PipelinePlan& plan);
// Errc::invalid, naming what is wrong, for anything plan_to_json would not write. Laid out.
Result<PipelinePlan> plan_from_json(const nlohmann::json& json);

}  // namespace samovar::trainer
