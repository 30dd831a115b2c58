#include "trainer/models/glm_report.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::trainer {

namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

// The places of the weights that are told, in their order: all of them, or those with the largest effects.
std::vector<std::size_t> told_weights(const GlmModel& model) {
  std::vector<std::size_t> told;
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    if (model.weights[i] != 0 || model.weights.size() <= kCoefficientsMax) told.push_back(i);
  }
  if (told.size() <= kCoefficientsMax) return told;
  std::nth_element(told.begin(), told.begin() + kCoefficientsMax, told.end(),
                   [&](std::size_t a, std::size_t b) {
                     const float left = std::abs(model.weights[a]);
                     const float right = std::abs(model.weights[b]);
                     return left != right ? left > right : a < b;
                   });
  told.resize(kCoefficientsMax);
  std::sort(told.begin(), told.end());
  return told;
}

void add_inference(const GlmInference& known, json& line) {
  line["estimate"] = number(known.estimate);
  line["se"] = number(known.standard_error);
  line["z"] = number(known.statistic);
  line["p"] = number(known.p);
  line["low"] = number(known.low);
  line["high"] = number(known.high);
}

}  // namespace

void add_coefficients(const GlmModel& model, const FeaturePipeline& pipeline, json& evaluation) {
  json lines = json::array();
  for (const std::size_t at : told_weights(model)) {
    const std::size_t output = at / model.width;
    const std::size_t weight = at % model.width;
    const WeightName name = pipeline.weight_name(weight);
    json line = {
        {"input", name.input},
        {"level", name.missing         ? json("missing")
                  : name.level.empty() ? json(nullptr)
                                       : json(name.level)},
        {"estimate", number(static_cast<double>(model.weights[at]) * pipeline.weight_scale(weight).scale)}};
    if (model.outputs() > 1) line["class"] = pipeline.classes()[output];
    if (!model.inference.empty())
      add_inference(model.inference[output * (model.width + 1) + 1 + weight], line);
    lines.push_back(std::move(line));
  }
  evaluation["coefficients"] = std::move(lines);
  json intercepts = json::array();
  for (std::size_t output = 0; output < model.outputs(); ++output) {
    double intercept = model.intercepts[output];
    for (std::size_t i = 0; i < pipeline.dense_width(); ++i) {
      const WeightScale scale = pipeline.weight_scale(i);
      intercept -= static_cast<double>(model.weights[output * model.width + i]) * scale.scale * scale.center;
    }
    intercepts.push_back(number(intercept));
  }
  evaluation["intercept"] = model.outputs() == 1 ? intercepts[0] : intercepts;
  if (!model.inference.empty() && model.outputs() == 1) {
    json line = json::object();
    add_inference(model.inference[0], line);
    evaluation["intercept_inference"] = std::move(line);
  }
}

json headline(const json& evaluation) {
  const std::string task = evaluation.value("task", "number");
  const std::string shown = evaluation.value("shown", "test");
  const char* name = task == "binary"    ? "auc"
                     : task == "classes" ? "accuracy"
                     : task == "count"   ? "deviance"
                                         : "rmse";
  json out = {{"task", task}, {"metric", name}, {"on", shown}, {"rows", evaluation["rows"]}};
  const json& metrics = evaluation["metrics"][shown];
  if (metrics.contains(name)) {
    out["value"] = metrics[name]["value"];
    out["low"] = metrics[name]["low"];
    out["high"] = metrics[name]["high"];
  }
  for (const char* other : {"log_loss", "accuracy", "auc", "f1", "rmse", "mae", "r2", "deviance"}) {
    if (metrics.contains(other)) out[other] = metrics[other]["value"];
  }
  return out;
}

}  // namespace samovar::trainer
