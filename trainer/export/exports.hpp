// The writers of exports, one for each form, and what they share.
//
// Threading: pure functions.
// Format:    docs/formats/model.md
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/models/model_file.hpp"

namespace samovar::trainer {

struct ExportName {
  std::string_view model;
  std::uint32_t version = 0;
};

// Errc::unsupported, with a sentence, for what the form cannot express. `vectors` has the scores of today.
Result<std::string> write_c_export(const ModelParts& parts, const TestVectors& vectors, ExportName name);
Result<Bytes> write_onnx_export(const ModelParts& parts, const TestVectors& vectors, ExportName name);
Result<std::string> write_json_export(const ModelParts& parts, const TestVectors& vectors, ExportName name);

// Letters, digits and underscores, a letter first: for names in programs.
std::string identifier(std::string_view name);
// The columns an export takes, in order: those of the inputs, then offset and exposure.
struct ExportColumns {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_input;  // for each input of the plan
  std::uint32_t offset = 0xffffffff;    // none
  std::uint32_t exposure = 0xffffffff;
};
ExportColumns export_columns(const PipelinePlan& plan);

}  // namespace samovar::trainer
