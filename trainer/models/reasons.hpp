// Why a prediction is what it is: what each input adds to the linear predictor, against the average row of
// training. Levels, indicators and words of an input count together; a product of two inputs is one of its
// own.
//
// Threading: may be read from many threads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::trainer {

class Reasons {
 public:
  // Borrows the model, which outlives it.
  Reasons(const GlmModel& model, const FeaturePipeline& pipeline);

  // Largest first, at most `most`. For several classes: what speaks for class `output`, beyond what speaks
  // for all of them alike.
  std::vector<Reason> of(const EncodedBatch& batch, std::uint32_t row, std::size_t output,
                         const RawTable& table, std::size_t most) const;

 private:
  std::uint32_t origin(const std::string& name);
  void add_parts(const EncodedBatch& batch, std::uint32_t row, std::size_t output, double share,
                 std::vector<double>& parts) const;
  std::string value(const std::string& name, const RawTable& table, std::uint32_t row) const;

  // Constant after construction.
  const GlmModel& model_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> columns_;  // of each origin: one, or two that were multiplied
  std::vector<std::uint32_t> dense_;               // the origin of each place
  std::vector<std::uint32_t> slots_;
  std::uint32_t ragged_ = 0;
};

}  // namespace samovar::trainer
