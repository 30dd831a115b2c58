// Runs an ONNX file of ours on rows: the bytes are read back, so what is checked is what is given away.
// Only the operators that write_onnx_export uses.
//
// Threading: pure functions.
#pragma once
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

// The outputs "score" and "linear_predictor", a row after the other.
struct OnnxAnswer {
  std::vector<double> scores;
  std::vector<double> predictors;
};
// Errc::internal "export_mismatch: …" when it cannot be run.
Result<OnnxAnswer> run_onnx(ByteView bytes, const RawTable& rows);

}  // namespace samovar::trainer
