// The body of POST /models/{name}:predict, read in one pass: rows of named values into columns.
//
//   {"rows": [{"age": 71, "ward": "A"}, …], "version": 3, "reasons": true}
//
// A row may leave columns out; what is missing is then missing for the model, too. Strict otherwise: no
// member we do not know, none twice, nothing nested in a row.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/api/problem.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::api {

inline constexpr std::uint64_t kPredictBytesMax = 8u << 20;
inline constexpr std::uint32_t kPredictRowsMax = 10'000;
inline constexpr std::size_t kPredictColumnsMax = 4096;
inline constexpr std::size_t kPredictCellsMax = 2'000'000;  // rows × columns, those left out counted

struct PredictBody {
  trainer::RawTable rows;
  std::uint32_t version = 0;  // 0: not said
  bool reasons = false;
};

// The first fault: an empty code is a body that is no JSON at all.
std::variant<PredictBody, FieldError> parse_predict(std::string_view text);

}  // namespace samovar::api
