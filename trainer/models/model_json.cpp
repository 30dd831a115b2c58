#include "trainer/models/model_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "trainer/models/strict_json.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 12> kMembers = {"kind",
                                                       "family",
                                                       "link",
                                                       "classes",
                                                       "width",
                                                       "intercepts",
                                                       "dispersion",
                                                       "theta",
                                                       "power",
                                                       "threshold",
                                                       "contribution_means",
                                                       "inference"};

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json inference_to_json(const std::vector<GlmInference>& all) {
  if (all.empty()) return nullptr;
  Json list = Json::array();
  for (const GlmInference& one : all) {
    list.push_back(Json::array({number_or_null(one.estimate), number_or_null(one.standard_error),
                                number_or_null(one.statistic), number_or_null(one.p), number_or_null(one.low),
                                number_or_null(one.high)}));
  }
  return list;
}

// Null is how NaN is written.
bool take_number(const Json& json, double& into) {
  if (json.is_null()) {
    into = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (!json.is_number()) return false;
  into = json.get<double>();
  return true;
}

Result<std::vector<GlmInference>> inference_from_json(const Json& json, std::size_t expected) {
  std::vector<GlmInference> out;
  if (json.is_null()) return out;
  const Error wrong{Errc::invalid, "\"inference\" must be null, or six numbers for each coefficient"};
  if (!json.is_array() || json.size() != expected) return wrong;
  out.resize(expected);
  for (std::size_t i = 0; i < expected; ++i) {
    const Json& row = json[i];
    GlmInference& one = out[i];
    if (!row.is_array() || row.size() != 6) return wrong;
    const std::array<double*, 6> fields = {
        &one.estimate, &one.standard_error, &one.statistic, &one.p, &one.low, &one.high};
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (!take_number(row[f], *fields[f])) return wrong;
    }
  }
  return out;
}

template <class Real>
Result<std::vector<Real>> numbers(const Json& json, std::string_view member) {
  const Json& list = json.at(std::string(member));
  std::vector<Real> out;
  if (!list.is_array())
    return Error{Errc::invalid, "\"" + std::string(member) + "\" must be a list of numbers"};
  out.reserve(list.size());
  for (const Json& value : list) {
    const Real number =
        value.is_number() ? static_cast<Real>(value.get<double>()) : std::numeric_limits<Real>::infinity();
    if (!std::isfinite(number))
      return Error{Errc::invalid, "\"" + std::string(member) + "\" must be a list of numbers"};
    out.push_back(number);
  }
  return out;
}

Result<void> check_fit(const GlmModel& model, const FeaturePipeline& pipeline) {
  const auto refuse = [](const char* why) { return Error{Errc::invalid, why}; };
  if (!link_fits(model.family, model.link)) return refuse("the link does not belong to the family");
  const bool classes_fit = model.family == Family::multinomial ? model.classes >= 2
                           : model.family == Family::binomial  ? model.classes == 2
                                                               : model.classes == 0;
  if (!classes_fit || model.classes != pipeline.classes().size())
    return refuse("the number of classes is not that of the family and the pipeline");
  if (model.width != pipeline.weights()) return refuse("\"width\" is not what the pipeline makes");
  if (model.intercepts.size() != model.outputs()) return refuse("there is one intercept for each output");
  const std::size_t places = pipeline.dense_width() + pipeline.slot_width() + 1;
  if (!model.contribution_means.empty() && model.contribution_means.size() != model.outputs() * places)
    return refuse("\"contribution_means\" has not one number for each output and place");
  if (model.threshold < 0 || model.threshold > 1) return refuse("\"threshold\" must lie between 0 and 1");
  return {};
}

}  // namespace

Json glm_to_json(const GlmModel& model) {
  return {{"kind", "glm"},
          {"family", to_string(model.family)},
          {"link", to_string(model.link)},
          {"classes", model.classes},
          {"width", model.width},
          {"intercepts", model.intercepts},
          {"dispersion", number_or_null(model.dispersion)},
          {"theta", model.theta},
          {"power", model.power},
          {"threshold", model.threshold},
          {"contribution_means", model.contribution_means},
          {"inference", inference_to_json(model.inference)}};
}

Result<GlmModel> glm_from_json(const Json& json, const FeaturePipeline& pipeline) {
  SAMOVAR_CHECK(require_members(json, kMembers, "the model"));
  if (json["kind"] != "glm") return Error{Errc::invalid, "this kind of model is not known here"};
  GlmModel model;
  SAMOVAR_TRY(const std::string family_name, short_text(json, "family", 32));
  SAMOVAR_TRY(const std::string link_name, short_text(json, "link", 32));
  const auto family = parse_family(family_name);
  const auto link = parse_link(link_name);
  if (!family || !link) return Error{Errc::invalid, "the family or the link is not known here"};
  model.family = *family;
  model.link = *link;
  SAMOVAR_TRY(const std::uint64_t classes, whole_number(json, "classes", kClassesMax));
  model.classes = static_cast<std::uint32_t>(classes);
  SAMOVAR_TRY(model.width, whole_number(json, "width", kWeightsMax));
  SAMOVAR_TRY(model.intercepts, numbers<double>(json, "intercepts"));
  if (!take_number(json["dispersion"], model.dispersion))
    return Error{Errc::invalid, "\"dispersion\" must be a number or null"};
  SAMOVAR_TRY(model.theta, finite_number(json, "theta"));
  SAMOVAR_TRY(model.power, finite_number(json, "power"));
  SAMOVAR_TRY(model.threshold, finite_number(json, "threshold"));
  SAMOVAR_TRY(model.contribution_means, numbers<float>(json, "contribution_means"));
  SAMOVAR_CHECK(check_fit(model, pipeline));
  SAMOVAR_TRY(model.inference, inference_from_json(json["inference"], model.outputs() * (1 + model.width)));
  return model;
}

Result<void> check_finite(const GlmModel& model) {
  const auto finite = [](auto value) { return std::isfinite(value); };
  if (!std::all_of(model.weights.begin(), model.weights.end(), finite) ||
      !std::all_of(model.intercepts.begin(), model.intercepts.end(), finite))
    return Error{Errc::invalid,
                 "a coefficient is not finite: the training ran away; shrink more (l2) or learn slower"};
  if (!std::all_of(model.contribution_means.begin(), model.contribution_means.end(), finite) ||
      !finite(model.theta) || !finite(model.power) || !finite(model.threshold))
    return Error{Errc::invalid, "a number of the model is not finite"};
  return {};
}

}  // namespace samovar::trainer
