// Who a linear predictor is owed to: its parts by origin, an origin being an input column or a product of
// two. Levels, indicators and words of an input count together.
//
// Threading: Origins may be read from many threads; OriginMeans belongs to one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/features/encoded_batch.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm_model.hpp"

namespace samovar::trainer {

// Depends on the pipeline alone, so that the numbers of origins saved in a model stay true.
class Origins {
 public:
  explicit Origins(const FeaturePipeline& pipeline);

  const std::vector<std::string>& names() const noexcept { return names_; }
  // The parts of row `row`: names().size() × outputs. Offset and intercepts are not among them.
  void parts(const GlmModel& model, const EncodedBatch& batch, std::uint32_t row,
             std::span<double> out) const;

 private:
  std::uint32_t add(const std::string& name);

  std::vector<std::string> names_;
  std::vector<std::uint32_t> dense_;   // by place
  std::vector<std::uint32_t> slots_;   // by place in a row
  std::vector<std::uint32_t> ragged_;  // by column of pipeline.inputs()
  std::uint32_t ragged_one_ = 0;       // when a batch does not tell them apart
};

// GlmModel::origin_means, from training rows: the weights are final when it is made.
class OriginMeans {
 public:
  OriginMeans(const GlmModel& model, const FeaturePipeline& pipeline);
  // Rows of the batch that train; empty: all of them. Rows with weight 0 do not count.
  void add(const EncodedBatch& batch, std::span<const std::uint32_t> rows = {});
  std::vector<double> means() const;

 private:
  const GlmModel& model_;
  const Origins origins_;
  std::vector<double> sums_;
  std::vector<double> parts_;
  double weight_ = 0;
};

}  // namespace samovar::trainer
