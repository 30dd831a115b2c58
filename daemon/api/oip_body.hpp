// Bodies of the Open Inference Protocol, version 2 (github.com/kserve/open-inference-protocol,
// specification/protocol/inference_rest.md): tensors into columns, predictions into tensors.
//
// One tensor per column, of shape [n] or [n,1], its data flat or nested. null is a missing value: an
// extension, since the protocol has no word for it.
//
// Threading: values.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::api {

struct OipRequest {
  std::optional<std::string> id;
  bool explain = false;              // parameters.explain, or the output "reasons" was asked for
  std::vector<std::string> outputs;  // empty: all
  trainer::RawTable rows;
};

// Errc::invalid with a sentence that names the tensor.
Result<OipRequest> parse_oip_request(std::string_view text);

struct OipAnswer {
  std::string model;
  std::uint32_t version = 0;
  std::vector<std::string> classes;
  std::vector<trainer::Prediction> predictions;
  std::vector<trainer::InputWarning> warnings;
};
// Errc::invalid when an output was asked for that this model has not.
Result<nlohmann::ordered_json> oip_response(const OipRequest& request, const OipAnswer& answer);

// "FP64" for real, …: how a column of a data set is best sent.
std::string_view oip_datatype(std::string_view column_type);

}  // namespace samovar::api
