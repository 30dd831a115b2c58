#include "trainer/models/model_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "trainer/models/model_json.hpp"
#include "trainer/models/strict_json.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "weights are written as they lie in memory");

constexpr std::uint32_t kMagic = 0x4d56'4d53;  // "SMVM"
constexpr std::uint16_t kVersion = 1;
enum class Form : std::uint16_t { dense = 0, sparse = 1 };

struct Head {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t form = 0;
  std::uint64_t json_bytes = 0;
  std::uint64_t weights = 0;  // in memory
  std::uint64_t stored = 0;   // in the file
};
static_assert(sizeof(Head) == 32);
constexpr std::size_t kSumBytes = 4;

constexpr std::array<std::string_view, 4> kMembers = {"model", "pipeline", "about", "test_vectors"};

template <class T>
void append(Bytes& out, const T* values, std::size_t count) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(values);
  out.insert(out.end(), from, from + count * sizeof(T));
}

void append_weights(Bytes& out, const std::vector<float>& weights, Form form) {
  if (form == Form::dense) return append(out, weights.data(), weights.size());
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    if (!stays(weights[i])) continue;
    append(out, &i, 1);
    append(out, &weights[i], 1);
  }
}

Error damaged(std::string_view what) {
  return Error{Errc::corrupt, "the model file is damaged: " + std::string(what)};
}

// The lengths of the head were checked against those of `bytes`.
Result<std::vector<float>> take_weights(const Head& head, ByteView bytes) {
  std::vector<float> weights(head.weights);
  if (static_cast<Form>(head.form) == Form::dense) {
    std::memcpy(weights.data(), bytes.data(), bytes.size());
    return weights;
  }
  std::uint64_t next = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(8)) {
    std::uint32_t at = 0;
    std::memcpy(&at, bytes.data(), sizeof at);
    if (at < next || at >= head.weights) return damaged("its weights are out of order");
    std::memcpy(&weights[at], bytes.data() + 4, sizeof(float));
    next = std::uint64_t{at} + 1;
  }
  return weights;
}

Result<Head> take_head(ByteView bytes) {
  Head head;
  if (bytes.size() < sizeof head + kSumBytes) return damaged("it is too short");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic) return Error{Errc::corrupt, "this is no model file"};
  if (head.version != kVersion)
    return Error{Errc::unsupported, "the model file has version " + std::to_string(head.version) +
                                        ", and this software reads version " + std::to_string(kVersion)};
  std::uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kSumBytes, sizeof sum);
  if (crc32(bytes.first(bytes.size() - kSumBytes)) != sum) return damaged("its checksum differs");
  if (head.form > 1 || head.json_bytes > kModelJsonBytesMax || head.weights > kModelWeightsMax)
    return damaged("its head holds what none may");
  const bool dense = static_cast<Form>(head.form) == Form::dense;
  if (dense ? head.stored != head.weights : !may_be_sparse(head.weights, head.stored))
    return damaged("its head does not fit together");
  const std::uint64_t body = head.json_bytes + head.stored * (dense ? 4 : 8);
  if (body != bytes.size() - sizeof head - kSumBytes) return damaged("its length is another than it says");
  return head;
}

Result<ModelParts> take_parts(const Head& head, ByteView bytes) {
  JsonLimits limits;
  limits.bytes = kModelJsonBytesMax;
  SAMOVAR_TRY(const Json json,
              parse_strict_json(as_text(bytes.subspan(sizeof head, head.json_bytes)), limits));
  SAMOVAR_CHECK(require_members(json, kMembers, "the model file"));
  if (!json["about"].is_object()) return Error{Errc::invalid, "\"about\" must be a JSON object"};
  ModelParts parts;
  SAMOVAR_TRY(parts.pipeline, FeaturePipeline::from_json(json["pipeline"]));
  SAMOVAR_TRY(parts.glm, glm_from_json(json["model"], *parts.pipeline));
  if (head.weights != parts.glm.width * parts.glm.outputs())
    return Error{Errc::invalid, "it has another number of weights than its pipeline"};
  const std::size_t at = sizeof head + head.json_bytes;
  SAMOVAR_TRY(parts.glm.weights, take_weights(head, bytes.subspan(at, bytes.size() - at - kSumBytes)));
  SAMOVAR_CHECK(check_finite(parts.glm));
  SAMOVAR_TRY(parts.vectors, test_vectors_from_json(json["test_vectors"], parts.glm.outputs()));
  parts.about = json["about"];
  return parts;
}

}  // namespace

bool stays(float weight) noexcept { return std::bit_cast<std::uint32_t>(weight) != 0; }

bool may_be_sparse(std::uint64_t weights, std::uint64_t stored) noexcept {
  return stored <= weights && weights <= 64 * stored + kSparseFreeWeights;
}

Result<Bytes> encode_model(const GlmModel& model, const FeaturePipeline& pipeline, const Json& about) {
  SAMOVAR_ASSERT(model.width == pipeline.weights());
  SAMOVAR_ASSERT(model.weights.size() == model.width * model.outputs());
  SAMOVAR_ASSERT(model.intercepts.size() == model.outputs());
  SAMOVAR_ASSERT(about.is_object());
  if (model.weights.size() > kModelWeightsMax)
    return Error{Errc::invalid, "the model has more weights than a model file holds: use fewer hash bits"};
  SAMOVAR_CHECK(check_finite(model));
  SAMOVAR_TRY(const TestVectors vectors, make_test_vectors(model, pipeline));
  return encode_model(model, pipeline, about, vectors);
}

Result<Bytes> encode_model(const GlmModel& model, const FeaturePipeline& pipeline, const Json& about,
                           const TestVectors& vectors) {
  const Json json = {{"model", glm_to_json(model)},
                     {"pipeline", pipeline.to_json()},
                     {"about", about},
                     {"test_vectors", to_json(vectors)}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kModelJsonBytesMax)
    return Error{Errc::invalid, "the levels of the inputs take more room than a model file has: hash them"};
  const auto stored =
      static_cast<std::uint64_t>(std::count_if(model.weights.begin(), model.weights.end(), stays));
  const bool sparse = 2 * stored < model.weights.size() && may_be_sparse(model.weights.size(), stored);
  Head head;
  head.form = static_cast<std::uint16_t>(sparse ? Form::sparse : Form::dense);
  head.json_bytes = text.size();
  head.weights = model.weights.size();
  head.stored = sparse ? stored : head.weights;
  Bytes out;
  out.reserve(sizeof head + text.size() + head.stored * (sparse ? 8 : 4) + kSumBytes);
  append(out, &head, 1);
  append(out, text.data(), text.size());
  append_weights(out, model.weights, static_cast<Form>(head.form));
  const std::uint32_t sum = crc32(out);
  append(out, &sum, 1);
  return out;
}

Result<ModelParts> decode_model(ByteView bytes) {
  SAMOVAR_TRY(const Head head, take_head(bytes));
  auto parts = take_parts(head, bytes);
  // Whoever wrote the file checked it: what does not fit in it now is damage, not a wish.
  if (!parts && parts.error().code() == Errc::invalid) return damaged(parts.error().message());
  return parts;
}

}  // namespace samovar::trainer
