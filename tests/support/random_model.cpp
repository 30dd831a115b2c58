#include "tests/support/random_model.hpp"

#include "trainer/data/order.hpp"

namespace samovar::tests {

trainer::GlmModel random_model(const trainer::FeaturePipeline& pipeline, trainer::Family family,
                               trainer::Link link, std::uint64_t seed, double share) {
  trainer::SeededOrder order(seed);
  const auto uniform = [&] { return static_cast<double>(order.next() >> 11) * 0x1p-53; };
  trainer::GlmModel model;
  model.family = family;
  model.link = link;
  model.classes = static_cast<std::uint32_t>(pipeline.classes().size());
  model.width = pipeline.weights();
  model.weights.resize(model.width * model.outputs());
  for (float& weight : model.weights) {
    if (uniform() < share) weight = static_cast<float>(uniform() * 0.4 - 0.2);
  }
  for (std::size_t k = 0; k < model.outputs(); ++k) model.intercepts.push_back(uniform() * 0.2 + 0.7);
  model.contribution_means.resize(model.outputs() * (pipeline.dense_width() + pipeline.slot_width() + 1));
  for (float& mean : model.contribution_means) mean = static_cast<float>(uniform() * 0.1);
  model.dispersion = 1.25;
  model.theta = family == trainer::Family::negative_binomial ? 2.5 : 0;
  model.power = family == trainer::Family::tweedie ? 1.5 : 0;
  return model;
}

}  // namespace samovar::tests
