#include "daemon/cli/model_support.hpp"

#include <fmt/format.h>

#include <charconv>

#include "daemon/cli/app.hpp"
#include "daemon/cli/evaluation.hpp"
#include "daemon/cli/suggest.hpp"

namespace samovar::cli {

using nlohmann::json;

Result<ModelRef> model_ref(App& app, std::string_view word) {
  const std::size_t at = word.find('@');
  ModelRef ref{std::string(word.substr(0, at)), 0};
  if (ref.name.empty()) return app.usage("a model is named NAME or NAME@VERSION");
  if (at == std::string_view::npos) return ref;
  const std::string_view number = word.substr(at + 1);
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), ref.version);
  if (problem != std::errc() || end != number.data() + number.size() || ref.version == 0)
    return app.usage(
        fmt::format("\"{}\": after the @ stands the number of a version, as in {}@1", word, ref.name));
  return ref;
}

Result<ModelRef> version_ref(App& app, std::string_view word) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, word));
  if (ref.version == 0)
    return app.usage(
        fmt::format("say which version: {}@1; \"samovar models show {}\" lists them", ref.name, ref.name));
  return ref;
}

json priority_value(const std::string& text) {
  const json number = json::parse(text, nullptr, false);
  return number.is_number_integer() ? number : json(text);
}

std::string model_path(const ModelRef& ref) { return "/models/" + url_encode(ref.name); }

std::string version_path(const ModelRef& ref) {
  return fmt::format("{}/versions/{}", model_path(ref), ref.version);
}

std::string text_of(const ModelRef& ref) {
  return ref.version == 0 ? ref.name : fmt::format("{}@{}", ref.name, ref.version);
}

Result<json> get_model(App& app, const ModelRef& ref) {
  auto model = app.get(model_path(ref));
  if (model || app.problem_status() != 404) return model;
  std::string near;
  if (auto all = app.get_list("/models")) {
    std::vector<std::string_view> names;
    for (const json& one : (*all)["items"]) names.push_back(one["name"].get_ref<const std::string&>());
    near = did_you_mean(ref.name, names);
  }
  app.fails_with(Exit::not_found);
  return Error{Errc::not_found,
               fmt::format("no model \"{}\"{}; \"samovar models list\" shows them", ref.name, near)};
}

Result<json> get_version(App& app, const ModelRef& ref) {
  SAMOVAR_TRY(json model, get_model(app, ref));
  std::uint32_t wanted = ref.version;
  if (wanted == 0 && model.contains("serving") && model["serving"].is_number())
    wanted = model["serving"].get<std::uint32_t>();
  if (wanted == 0) wanted = model.value("version", 0U);
  for (const json& version : model.value("versions", json::array())) {
    if (version.value("version", 0U) == wanted) return version;
  }
  return app.get(version_path({ref.name, wanted}));
}

Result<void> print_evaluation(App& app, const ModelRef& ref, std::size_t inputs, bool coefficients) {
  SAMOVAR_TRY(json evaluation, app.get(version_path(ref) + "/evaluation"));
  if (app.json_like()) return print_json(app, evaluation);
  app.io().out(evaluation_text(app, evaluation, text_of(ref), {inputs, coefficients}));
  return {};
}

}  // namespace samovar::cli
