// What a model wants to be asked with, for forms and programs.
//
// Threading: pure.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "trainer/features/plan.hpp"

namespace samovar::trainer {

nlohmann::json signature_of(const PipelinePlan& plan);

}  // namespace samovar::trainer
