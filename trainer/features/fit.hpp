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

// The same by several workers: each what its own blocks say, and the plan that follows from all parts.
Result<Bytes> fit_part(BlockSource& source, const Schema& schema, const JobSpec& spec,
                       const Splitter& splitter);
Result<PipelinePlan> fit_merged(const std::vector<Bytes>& parts, const Schema& schema, const JobSpec& spec,
                                std::vector<std::string>& notes);

}  // namespace samovar::trainer
