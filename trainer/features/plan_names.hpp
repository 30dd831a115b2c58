// What the weights of a pipeline stand for.
//
// Threading: pure.
#pragma once
#include <vector>

#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

WeightName name_of(const PipelinePlan& plan, std::size_t weight);
WeightScale scale_of(const PipelinePlan& plan, std::size_t weight);
std::vector<WeightGroup> groups_of(const PipelinePlan& plan);
// "a × b"
std::string pair_input(const PipelinePlan& plan, const InteractionPlan& pair);
// The level at a place of an input that has some; "other" and missing included.
WeightName level_name(const InputPlan& input, std::size_t place);

}  // namespace samovar::trainer
