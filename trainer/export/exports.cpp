#include "trainer/export/exports.hpp"

#include <algorithm>

#include "trainer/export/c_tables.hpp"
#include "trainer/export/onnx_run.hpp"
#include "trainer/models/row_scores.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::trainer {

namespace {

// Only the order of a sum and the rounding of exp differ; an ONNX file answers in floats.
constexpr double kSameDouble = 1e-9;
constexpr double kSameFloat = 1e-6;

// The linear predictors of the test rows, as the model has them.
Result<TestVectors> predictors_of(const ModelParts& parts, const TestVectors& vectors) {
  EncodedBatch batch;
  std::vector<InputWarning> warnings;
  SAMOVAR_CHECK(parts.pipeline->encode(vectors.rows, batch, warnings));
  return TestVectors{vectors.rows, row_predictors(parts.glm, batch)};
}

Result<std::string> checked_c(const ModelParts& parts, const TestVectors& vectors, ExportName name) {
  SAMOVAR_TRY(std::string text, write_c_export(parts, vectors, name));
  SAMOVAR_TRY(const CSelfTest test, run_c_export(text));
  SAMOVAR_CHECK(compare_scores(vectors, test.expected, 0));
  SAMOVAR_CHECK(compare_scores(vectors, test.scores, kSameDouble));
  SAMOVAR_TRY(const TestVectors predictors, predictors_of(parts, vectors));
  SAMOVAR_CHECK(compare_scores(predictors, test.predictors, kSameDouble));
  return text;
}

Result<Bytes> checked_onnx(const ModelParts& parts, const TestVectors& vectors, ExportName name) {
  SAMOVAR_TRY(Bytes bytes, write_onnx_export(parts, vectors, name));
  SAMOVAR_TRY(const OnnxAnswer answer, run_onnx(bytes, vectors.rows));
  SAMOVAR_CHECK(compare_scores(vectors, answer.scores, kSameFloat));
  SAMOVAR_TRY(const TestVectors predictors, predictors_of(parts, vectors));
  SAMOVAR_CHECK(compare_scores(predictors, answer.predictors, kSameDouble));
  return bytes;
}

// Nothing may be lost on the way there and back, not only for the test rows.
Result<std::string> checked_json(const ModelParts& parts, ExportName name) {
  SAMOVAR_TRY(std::string text, write_json_export(parts, parts.vectors, name));
  const auto again = import_model(text);
  if (!again) return Error{Errc::internal, "export_mismatch: " + again.error().message()};
  SAMOVAR_TRY(const Bytes before, encode_model(parts.glm, *parts.pipeline, parts.about, parts.vectors));
  if (*again != before)
    return Error{Errc::internal, "export_mismatch: the model would come back as another one"};
  return text;
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, 64)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (out.empty() && !letter) out = "model_";
    out += letter || digit ? c : '_';
  }
  return out.empty() ? "model" : out;
}

ExportColumns export_columns(const PipelinePlan& plan) {
  ExportColumns out;
  const auto place = [&](const std::string& name) {
    const auto found = std::find(out.names.begin(), out.names.end(), name);
    if (found != out.names.end()) return static_cast<std::uint32_t>(found - out.names.begin());
    out.names.push_back(name);
    return static_cast<std::uint32_t>(out.names.size() - 1);
  };
  for (const InputPlan& input : plan.inputs) out.of_input.push_back(place(input.name));
  if (!plan.offset.empty()) out.offset = place(plan.offset);
  if (!plan.exposure.empty()) out.exposure = place(plan.exposure);
  return out;
}

Result<Export> export_model(ByteView model_file, ExportKind kind, std::string_view model_name,
                            std::uint32_t version) {
  SAMOVAR_TRY(const ModelParts parts, decode_model(model_file));
  SAMOVAR_TRY(const TestVectors vectors, make_test_vectors(parts.glm, *parts.pipeline));
  const ExportName name{model_name, version};
  const std::string stem = identifier(model_name);
  switch (kind) {
    case ExportKind::onnx: {
      SAMOVAR_TRY(Bytes bytes, checked_onnx(parts, vectors, name));
      return Export{stem + ".onnx", "application/octet-stream", std::move(bytes)};
    }
    case ExportKind::c: {
      SAMOVAR_TRY(const std::string text, checked_c(parts, vectors, name));
      return Export{stem + ".c", "text/x-c; charset=utf-8", to_bytes(text)};
    }
    case ExportKind::json: {
      SAMOVAR_TRY(const std::string text, checked_json(parts, name));
      return Export{stem + ".json", "application/json", to_bytes(text)};
    }
  }
  return Error{Errc::invalid, "a model is exported as onnx, c or json"};
}

}  // namespace samovar::trainer
