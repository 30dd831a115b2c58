// What to think about before a model is believed: columns that give the target away, rows that are in
// training and test alike, owners whose rows a random split tears apart.
//
// Threading: one thread.
#pragma once
#include <string>
#include <vector>

#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

struct AdviceOptions {
  std::uint32_t rows_max = 100'000;  // whole blocks, spread over the data set
};

// A sentence each. Reads a sample of the rows.
Result<std::vector<std::string>> advise(BlockSource& source, const Schema& schema, const JobSpec& spec,
                                        const FeaturePipeline& pipeline, const Splitter& splitter,
                                        const AdviceOptions& options = {});

}  // namespace samovar::trainer
