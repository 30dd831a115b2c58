// A model as bytes: what it is in JSON, its weights in binary, and a checksum over both.
//
// The bytes come from the store, where they were sealed, or from an import, so the decoder trusts nothing:
// every length is checked before it is used, and a model that was decoded can be scored.
//
// Threading: values.
// Format:    docs/formats/model.md
#pragma once
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kModelWeightsMax = std::size_t{1} << 30;  // places × outputs
inline constexpr std::size_t kModelJsonBytesMax = std::size_t{256} << 20;

struct ModelParts {
  GlmModel glm;
  std::unique_ptr<FeaturePipeline> pipeline;
  nlohmann::json
      about;  // an object: target, rows of training, … whatever helps a reader; not used for scoring
};

// The model fits the pipeline (asserted): as many weights and intercepts as there are places and outputs.
// Errc::invalid when a number of it is not finite: such a model answers nothing.
Result<Bytes> encode_model(const GlmModel& model, const FeaturePipeline& pipeline,
                           const nlohmann::json& about = nlohmann::json::object());
// Errc::corrupt for what is no model file, Errc::unsupported for one of a later version.
Result<ModelParts> decode_model(ByteView bytes);

}  // namespace samovar::trainer
