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

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/models/test_vectors.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kModelWeightsMax = std::size_t{1} << 30;  // places × outputs
inline constexpr std::size_t kModelJsonBytesMax = std::size_t{256} << 20;

// A weight that is not +0 is stored. A few bytes must not become gigabytes of zeros in memory, so the sparse
// form is for so many weights and those it has, 64 for each.
inline constexpr std::uint64_t kSparseFreeWeights = std::uint64_t{1} << 24;
bool stays(float weight) noexcept;
bool may_be_sparse(std::uint64_t weights, std::uint64_t stored) noexcept;

struct ModelParts {
  GlmModel glm;
  std::unique_ptr<FeaturePipeline> pipeline;
  nlohmann::json
      about;  // an object: target, rows of training, … whatever helps a reader; not used for scoring
  TestVectors vectors;  // with the scores of the day it was trained
};

// The model fits the pipeline (asserted): as many weights and intercepts as there are places and outputs.
// Errc::invalid when a number of it is not finite: such a model answers nothing.
Result<Bytes> encode_model(const GlmModel& model, const FeaturePipeline& pipeline,
                           const nlohmann::json& about = nlohmann::json::object());
// With vectors that are known already: an import keeps those it came with.
Result<Bytes> encode_model(const GlmModel& model, const FeaturePipeline& pipeline,
                           const nlohmann::json& about, const TestVectors& vectors);
// Errc::corrupt for what is no model file, Errc::unsupported for one of a later version.
Result<ModelParts> decode_model(ByteView bytes);

}  // namespace samovar::trainer
