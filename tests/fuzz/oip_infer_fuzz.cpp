// Requests of the Open Inference Protocol: whatever the bytes, columns of one length or a sentence; and an
// answer to each that is taken.

#include "base/assert.hpp"
#include "base/bytes.hpp"
#include "base/json.hpp"
#include "daemon/api/oip_body.hpp"
#include "daemon/api/predict_body.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  using namespace samovar::api;
  const auto parsed = parse_oip_request(as_text({data, size}));
  if (!parsed) {
    SAMOVAR_ASSERT(parsed.error().code() == Errc::invalid && !parsed.error().message().empty());
    return 0;
  }
  SAMOVAR_ASSERT(parsed->rows.rows >= 1 && parsed->rows.rows <= kPredictRowsMax);
  SAMOVAR_ASSERT(!parsed->rows.columns.empty());
  for (const auto& [name, values] : parsed->rows.columns) SAMOVAR_ASSERT(values.size() == parsed->rows.rows);
  OipAnswer answer;
  answer.model = "m";
  answer.classes = {"a", "b"};
  for (std::uint32_t row = 0; row < parsed->rows.rows; ++row)
    answer.predictions.push_back({0.5, "a", {0.5, 0.5}, {}});
  for (const auto& [name, values] : parsed->rows.columns)
    answer.warnings.push_back({"extra_column", name, std::nullopt, "it is not used"});
  const auto told = oip_response(*parsed, answer);
  SAMOVAR_ASSERT(told.has_value());
  SAMOVAR_ASSERT(!told->dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).empty());
  return 0;
}
