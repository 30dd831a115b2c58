#include "trainer/models/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/json.hpp"
#include "kernels/kernels.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/models/reasons.hpp"
#include "trainer/models/row_scores.hpp"
#include "trainer/solvers/row_source.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kCoefficientsShown = 50;
// Other processors and libraries round otherwise in the last digits, and only there.
constexpr double kSameScore = 1e-6;

kernels::Glm link_of(const GlmModel& model) {
  kernels::Glm glm;
  switch (model.link) {
    case Link::identity:
      glm.link = kernels::Link::identity;
      break;
    case Link::logit:
      glm.link = kernels::Link::logit;
      break;
    case Link::log:
      glm.link = kernels::Link::log;
      break;
    case Link::inverse:
      glm.link = kernels::Link::inverse;
      break;
    case Link::probit:
      glm.link = kernels::Link::probit;
      break;
    case Link::cloglog:
      glm.link = kernels::Link::cloglog;
      break;
  }
  return glm;
}

class GlmScorer final : public Scorer {
 public:
  explicit GlmScorer(ModelParts parts) : parts_(std::move(parts)), reasons_(parts_.glm, *parts_.pipeline) {}

  const FeaturePipeline& pipeline() const override { return *parts_.pipeline; }
  const std::vector<std::string>& classes() const override { return parts_.pipeline->classes(); }

  Result<std::vector<Prediction>> score(const RawTable& rows, const ScoreOptions& options,
                                        std::vector<InputWarning>& warnings) const override {
    EncodedBatch batch;
    SAMOVAR_CHECK(parts_.pipeline->encode(rows, batch, warnings));
    SAMOVAR_TRY(const std::vector<double> scores, row_scores(parts_.glm, batch));
    const std::size_t outputs = parts_.glm.outputs();
    std::vector<Prediction> out;
    out.reserve(batch.rows);
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      std::size_t about = 0;
      Prediction one = prediction(scores.data() + row * outputs, about);
      if (options.reasons) one.reasons = reasons_.of(batch, row, about, rows, options.reasons_max);
      out.push_back(std::move(one));
    }
    return out;
  }

  void score(const EncodedBatch& batch, std::vector<float>& out) const override {
    const GlmModel& model = parts_.glm;
    const std::size_t outputs = model.outputs();
    const kernels::Table& cpu = kernels::cpu();
    const kernels::Rows rows = kernel_rows(batch);
    out.resize(batch.rows * outputs);
    for (std::size_t k = 0; k < outputs; ++k) {
      cpu.margins(nullptr, rows, model.weights.data() + k * model.width,
                  static_cast<float>(model.intercepts[k]),
                  batch.offset.empty() ? nullptr : batch.offset.data(), out.data() + k, outputs);
    }
    if (model.family == Family::multinomial)
      cpu.softmax(nullptr, out.data(), batch.rows, outputs);
    else
      cpu.means(nullptr, link_of(model), out.data(), out.size(), out.data());
    // A float ends earlier than a double: what runs over is held at its edge.
    constexpr float kMost = std::numeric_limits<float>::max();
    for (float& score : out) score = score == score ? std::clamp(score, -kMost, kMost) : 0;
  }

  Json describe() const override {
    const GlmModel& model = parts_.glm;
    Json json = {{"kind", "glm"},
                 {"family", to_string(model.family)},
                 {"link", to_string(model.link)},
                 {"classes", classes()},
                 {"intercepts", model.intercepts},
                 {"weights", model.weights.size()},
                 {"coefficients", largest()},
                 {"about", parts_.about}};
    if (model.family == Family::binomial) json["threshold"] = model.threshold;
    if (model.family == Family::negative_binomial) json["theta"] = model.theta;
    if (model.family == Family::tweedie) json["power"] = model.power;
    return json;
  }

 private:
  // `about`: the output its reasons are told of.
  Prediction prediction(const double* scores, std::size_t& about) const {
    const GlmModel& model = parts_.glm;
    Prediction one;
    if (model.classes == 0) {
      one.value = scores[0];
      return one;
    }
    if (model.family == Family::binomial) {
      one.value = scores[0];
      one.probabilities = {1 - scores[0], scores[0]};
      one.label = classes()[scores[0] >= model.threshold ? 1 : 0];
      return one;
    }
    one.probabilities.assign(scores, scores + model.outputs());
    about = static_cast<std::size_t>(std::max_element(scores, scores + model.outputs()) - scores);
    one.value = scores[about];
    one.label = classes()[about];
    return one;
  }

  Json largest() const {
    const GlmModel& model = parts_.glm;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < model.weights.size(); ++i) {
      if (model.weights[i] != 0) order.push_back(i);
    }
    const std::size_t shown = std::min(order.size(), kCoefficientsShown);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const float left = std::abs(model.weights[a]);
                        const float right = std::abs(model.weights[b]);
                        return left != right ? left > right : a < b;
                      });
    Json list = Json::array();
    for (std::size_t i = 0; i < shown; ++i) {
      const WeightName name = parts_.pipeline->weight_name(order[i] % model.width);
      Json one = {{"input", name.input},
                  {"level", name.level},
                  {"missing", name.missing},
                  {"estimate", model.weights[order[i]]}};
      if (model.outputs() > 1) one["class"] = classes()[order[i] / model.width];
      list.push_back(std::move(one));
    }
    return list;
  }

  // Constant after construction.
  const ModelParts parts_;
  const Reasons reasons_;
};

}  // namespace

Result<std::unique_ptr<Scorer>> Scorer::open(ByteView model_file) {
  SAMOVAR_TRY(ModelParts parts, decode_model(model_file));
  EncodedBatch batch;
  std::vector<InputWarning> warnings;
  SAMOVAR_CHECK(parts.pipeline->encode(parts.vectors.rows, batch, warnings));
  SAMOVAR_TRY(const std::vector<double> scores, row_scores(parts.glm, batch));
  if (const auto same = compare_scores(parts.vectors, scores, kSameScore); !same)
    return Error{Errc::unsupported,
                 "this software scores the model's test rows otherwise than the one that trained it (" +
                     same.error().message() + "); train it anew"};
  return std::unique_ptr<Scorer>(std::make_unique<GlmScorer>(std::move(parts)));
}

}  // namespace samovar::trainer
