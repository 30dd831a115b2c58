// How much each input matters: the spread of what it adds to the predictor, and how much worse the model gets
// when its values are dealt out anew among the rows (Breiman 2001), on a bounded sample.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm.hpp"
#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

class Importance {
 public:
  // Keeps at most so many bytes of rows.
  Importance(const GlmModel& model, const FeaturePipeline& pipeline, std::size_t bytes_max);

  bool full() const noexcept { return full_; }
  // Takes rows of a batch, those with `counts` set, until it is full.
  void add(const EncodedBatch& batch, const std::vector<std::uint8_t>& counts);
  void put(StateWriter& out) const;
  // Until it is full.
  void merge(StateReader& in);
  // [{"input","standardised","permutation"}…], the most important first.
  nlohmann::json to_json(std::uint64_t seed) const;

 private:
  // What the places of an input add to each output of each row.
  std::vector<float> contributions(std::size_t input) const;
  double loss(const std::vector<float>& predictors) const;
  bool within_model(const EncodedBatch& batch) const;

  const GlmModel& model_;
  const std::size_t bytes_max_;
  std::vector<std::string> names_;
  std::vector<std::size_t> dense_input_;   // by dense place
  std::vector<std::size_t> slot_input_;    // by slot place
  std::vector<std::size_t> ragged_input_;  // by column of inputs()
  EncodedBatch sample_;
  bool full_ = false;
};

}  // namespace samovar::trainer
