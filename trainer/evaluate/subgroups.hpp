// The same figures apart for each level of the categories with few levels: a model that is good on average
// may be bad for some.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trainer/data/reader.hpp"
#include "trainer/evaluate/metrics.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

class Subgroups {
 public:
  Subgroups(const GlmModel& model, const FeaturePipeline& pipeline, const Schema& schema);

  // For the rows of a batch whose `counts` is set. `expected` has outputs() values for every row.
  void add(const Batch& batch, const std::vector<std::uint8_t>& counts, const EncodedBatch& rows,
           const std::vector<float>& expected);
  void put(StateWriter& out) const;
  void merge(StateReader& in);
  nlohmann::json to_json();

 private:
  static constexpr std::size_t kLevelsMax = 12;
  struct Input {
    std::string name;
    std::size_t column = 0;
    bool boolean = false;
    bool many = false;  // more levels than are told apart
    std::map<std::string, Metrics, std::less<>> levels;
  };
  void add(Input& input, const Batch& batch, const std::vector<std::uint8_t>& counts,
           const EncodedBatch& rows, const std::vector<float>& expected);

  const GlmModel& model_;
  std::vector<Input> inputs_;
  std::vector<std::uint32_t> codes_;
  std::vector<float> numbers_;
};

}  // namespace samovar::trainer
