// Fitting a pipeline: one read of the training rows, or part of one where nothing is to be learned.
//
// Threading: one thread.
#pragma once
#include <string>
#include <vector>

#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

// As FeaturePipeline::fit.
Result<PipelinePlan> fit_plan(BlockSource& source, const Schema& schema, const JobSpec& spec,
                              const Splitter& splitter, std::vector<std::string>& notes);

}  // namespace samovar::trainer
