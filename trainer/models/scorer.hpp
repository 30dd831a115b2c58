// A model in use: opened once from its file, then asked for predictions.
//
// Threading: a scorer may be asked from many threads.
// Format:    docs/formats/model.md
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

struct Reason {
  std::string input;
  std::string value;        // as it was understood
  double contribution = 0;  // to the linear predictor, against the average row of training
};

// One row's answer. For classes: probabilities in the order of classes(), the label is the most likely one
// (or by the model's threshold when there are two); for numbers: value alone.
struct Prediction {
  double value = 0;  // expected value, or the probability of the positive class when there are two
  std::string label;
  std::vector<double> probabilities;
  std::vector<Reason> reasons;  // largest first; when asked for
};

struct ScoreOptions {
  bool reasons = false;
  std::size_t reasons_max = 10;
};

class Scorer {
 public:
  // Errc::corrupt for what is no model file, Errc::unsupported for one of a later version or one whose test
  // vectors this software scores otherwise than the one that trained it.
  static Result<std::unique_ptr<Scorer>> open(ByteView model_file);
  virtual ~Scorer() = default;

  virtual const FeaturePipeline& pipeline() const = 0;
  virtual const std::vector<std::string>& classes() const = 0;
  // Never NaN: a row that cannot be answered is Errc::invalid with a sentence.
  virtual Result<std::vector<Prediction>> score(const RawTable& rows, const ScoreOptions& options,
                                                std::vector<InputWarning>& warnings) const = 0;
  // The fast way for whole data sets: one value per row and class (or one when there are two or none).
  virtual void score(const EncodedBatch& batch, std::vector<float>& out) const = 0;
  virtual nlohmann::json describe() const = 0;  // family, link, classes, intercept, largest coefficients
};

// ---- exports, each with test vectors inside or beside it and checked against Scorer before it is given ----
struct Export {
  std::string file_name;
  std::string media_type;
  Bytes bytes;
};
enum class ExportKind : std::uint8_t { onnx, c, json };
// Errc::internal when its own self-test differs from the box's scores: it is not given then.
Result<Export> export_model(ByteView model_file, ExportKind kind, std::string_view model_name,
                            std::uint32_t version);
// A JSON export back to a model file. Errc::invalid with a sentence.
Result<Bytes> import_model(std::string_view json);

}  // namespace samovar::trainer
