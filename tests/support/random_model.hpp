// Models with weights out of the air on pipelines that were fitted: for files, scorers and exports.
#pragma once
#include <cstdint>

#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::tests {

// `share` of the weights are not 0. Contribution means are random too.
trainer::GlmModel random_model(const trainer::FeaturePipeline& pipeline, trainer::Family family,
                               trainer::Link link, std::uint64_t seed, double share = 1);

}  // namespace samovar::tests
