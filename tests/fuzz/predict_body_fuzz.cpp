// Rows to be predicted, as JSON: whatever the bytes, columns of one length or a fault with a sentence.
#include "base/assert.hpp"
#include "base/bytes.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/predict_body.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  using namespace samovar::api;
  const std::string_view text = as_text({data, size});
  const auto parsed = parse_predict(text);
  if (const auto* fault = std::get_if<FieldError>(&parsed)) {
    SAMOVAR_ASSERT(!fault->detail.empty());
    return 0;
  }
  const auto& body = std::get<PredictBody>(parsed);
  SAMOVAR_ASSERT(body.rows.rows >= 1 && body.rows.rows <= kPredictRowsMax);
  SAMOVAR_ASSERT(body.rows.columns.size() <= kPredictColumnsMax);
  SAMOVAR_ASSERT(body.rows.columns.size() * body.rows.rows <= kPredictCellsMax);
  for (const auto& [name, values] : body.rows.columns) SAMOVAR_ASSERT(values.size() == body.rows.rows);
  // What is taken here is taken by the reader of all other bodies, too.
  SAMOVAR_ASSERT(parse_json(text).has_value());
  return 0;
}
