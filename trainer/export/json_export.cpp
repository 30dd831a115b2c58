// A model as JSON, complete: it comes back by import_model as the same bytes.
#include <array>
#include <cmath>

#include "base/json.hpp"
#include "trainer/export/exports.hpp"
#include "trainer/export/number_text.hpp"
#include "trainer/models/model_json.hpp"
#include "trainer/models/row_scores.hpp"
#include "trainer/models/scorer.hpp"
#include "trainer/models/strict_json.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr unsigned kVersion = 1;
constexpr std::size_t kBytesMax = std::size_t{128} << 20;
constexpr std::size_t kWeightsStoredMax = std::size_t{1} << 22;
constexpr double kSameScore = 1e-6;

constexpr std::array<std::string_view, 8> kMembers = {"samovar_model", "name",  "version",      "model",
                                                      "pipeline",      "about", "test_vectors", "weights"};

void append_weights(std::string& out, const std::vector<float>& weights) {
  std::size_t stored = 0;
  for (const float weight : weights) stored += stays(weight) ? 1 : 0;
  const bool sparse = 2 * stored < weights.size() && may_be_sparse(weights.size(), stored);
  out += "{\"count\":" + std::to_string(weights.size());
  if (sparse) {
    out += ",\"places\":[";
    bool first = true;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!stays(weights[i])) continue;
      if (!std::exchange(first, false)) out += ',';
      out += std::to_string(i);
    }
    out += "]";
  }
  out += ",\"values\":[";
  bool first = true;
  for (const float weight : weights) {
    if (sparse && !stays(weight)) continue;
    if (!std::exchange(first, false)) out += ',';
    append_number(out, weight);
  }
  out += "]}";
}

Result<std::vector<float>> take_weights(const Json& json, std::size_t expected) {
  const Error wrong{Errc::invalid, "\"weights\" does not hold what the model needs"};
  const bool sparse = json.is_object() && json.contains("places");
  constexpr std::array<std::string_view, 3> kSparse = {"count", "places", "values"};
  SAMOVAR_CHECK(require_members(json,
                                sparse ? std::span<const std::string_view>(kSparse)
                                       : std::array<std::string_view, 2>{"count", "values"},
                                "\"weights\""));
  SAMOVAR_TRY(const std::uint64_t count, whole_number(json, "count", kModelWeightsMax));
  const Json& values = json["values"];
  if (count != expected || !values.is_array()) return wrong;
  if (sparse ? !may_be_sparse(count, values.size()) : values.size() != count) return wrong;
  if (sparse && (!json["places"].is_array() || json["places"].size() != values.size())) return wrong;
  std::vector<float> weights(count);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t at = i;
    if (sparse) {
      const Json& place = json["places"][i];
      if (!place.is_number_unsigned()) return wrong;
      at = place.get<std::uint64_t>();
      if (at < next || at >= count) return wrong;
      next = at + 1;
    }
    if (!values[i].is_number()) return wrong;
    const double value = values[i].get<double>();
    weights[at] = static_cast<float>(value);
    if (!std::isfinite(weights[at])) return wrong;
  }
  return weights;
}

Result<ModelParts> take_parts(const Json& json) {
  SAMOVAR_CHECK(require_members(json, kMembers, "the file"));
  if (json["samovar_model"] != kVersion)
    return Error{Errc::unsupported, "the file is of a version that this software does not read"};
  SAMOVAR_TRY(const std::string name, short_text(json, "name", 256));
  SAMOVAR_TRY(const std::uint64_t version, whole_number(json, "version", 0xffffffff));
  static_cast<void>(name),
      static_cast<void>(version);  // for readers; an import has a name and number of its own
  if (!json["about"].is_object()) return Error{Errc::invalid, "\"about\" must be a JSON object"};
  ModelParts parts;
  SAMOVAR_TRY(parts.pipeline, FeaturePipeline::from_json(json["pipeline"]));
  SAMOVAR_TRY(parts.glm, glm_from_json(json["model"], *parts.pipeline));
  SAMOVAR_TRY(parts.glm.weights, take_weights(json["weights"], parts.glm.width * parts.glm.outputs()));
  SAMOVAR_CHECK(check_finite(parts.glm));
  SAMOVAR_TRY(parts.vectors, test_vectors_from_json(json["test_vectors"], parts.glm.outputs()));
  parts.about = json["about"];
  return parts;
}

}  // namespace

Result<std::string> write_json_export(const ModelParts& parts, const TestVectors& vectors, ExportName name) {
  std::size_t stored = 0;
  for (const float weight : parts.glm.weights) stored += stays(weight) ? 1 : 0;
  if (stored > kWeightsStoredMax)
    return Error{Errc::unsupported,
                 "the model has " + std::to_string(stored) +
                     " weights, more than a JSON export holds; train with fewer hash bits"};
  const Json head = {{"samovar_model", kVersion},
                     {"name", name.model},
                     {"version", name.version},
                     {"model", glm_to_json(parts.glm)},
                     {"pipeline", parts.pipeline->to_json()},
                     {"about", parts.about},
                     {"test_vectors", to_json(vectors)}};
  std::string out = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  out.pop_back();  // the weights go where the object ends, written as floats
  out += ",\"weights\":";
  append_weights(out, parts.glm.weights);
  out += "}\n";
  if (out.size() > kBytesMax) return Error{Errc::unsupported, "the model is too large for a JSON export"};
  return out;
}

Result<Bytes> import_model(std::string_view json) {
  JsonLimits limits;
  limits.bytes = kBytesMax;
  limits.values = 3 * kWeightsStoredMax;
  const auto refuse = [](const Error& error) {
    return Error{error.code() == Errc::unsupported ? Errc::unsupported : Errc::invalid,
                 "this is no model that can be imported: " + error.message()};
  };
  auto parsed = parse_strict_json(json, limits);
  if (!parsed) return refuse(parsed.error());
  auto parts = take_parts(*parsed);
  if (!parts) return refuse(parts.error());
  EncodedBatch batch;
  std::vector<InputWarning> warnings;
  if (const auto encoded = parts->pipeline->encode(parts->vectors.rows, batch, warnings); !encoded)
    return refuse(encoded.error());
  const auto scores = row_scores(parts->glm, batch);
  if (!scores) return refuse(scores.error());
  if (const auto same = compare_scores(parts->vectors, *scores, kSameScore); !same)
    return refuse(Error{Errc::invalid, "its test rows score otherwise here than where it comes from"});
  return encode_model(parts->glm, *parts->pipeline, parts->about, parts->vectors);
}

}  // namespace samovar::trainer
