// Feature pipelines as models that are imported have them: what is taken can be used.
#include <cmath>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "trainer/features/pipeline.hpp"

using namespace samovar;
using namespace samovar::trainer;

namespace {

void require(bool fact) {
  if (!fact) __builtin_trap();
}

RawTable odd_rows(const FeaturePipeline& pipeline) {
  RawTable rows;
  rows.rows = 4;
  for (const ColumnSpec& column : pipeline.inputs().columns)
    rows.columns[column.name] = {RawValue(), std::string("3:1.5 9:2"), 1e300, std::int64_t{-7}};
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = nlohmann::json::parse(as_text({data, size}), nullptr, false);
  if (json.is_discarded()) return 0;
  const auto pipeline = FeaturePipeline::from_json(json);
  if (!pipeline) return 0;
  require((*pipeline)->to_json() == json);
  static_cast<void>((*pipeline)->signature());
  const std::size_t weights = (*pipeline)->weights();
  for (const std::size_t weight : {std::size_t{0}, weights / 2, weights - 1}) {
    if (weight < weights) static_cast<void>((*pipeline)->weight_name(weight));
  }
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  require((*pipeline)->encode(odd_rows(**pipeline), out, warnings).has_value());
  for (const float value : out.dense) require(std::isfinite(value));
  for (const std::uint32_t slot : out.slots) require(slot == kNoSlot || slot < weights);
  for (const std::uint32_t slot : out.ragged_slots) require(slot < weights);
  for (const float value : out.ragged_values) require(std::isfinite(value));
  return 0;
}
