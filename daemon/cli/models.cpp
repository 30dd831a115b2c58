// models: what was trained or imported, how good it is, which version serves.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/evaluation.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kModels = {{"NAME", "/name"},
                                     {"KIND", "/kind"},
                                     {"LATEST", "/version"},
                                     {"SERVING", "/serving"},
                                     {"QUALITY", "/quality"},
                                     {"OWNER", "/owner"},
                                     {"CREATED", "/created_at", Shape::time},
                                     {"FOR YOU", "/may_use", Shape::yes, true},
                                     {"MAY EXPORT", "/may_export", Shape::yes, true},
                                     {"DESCRIPTION", "/description", Shape::text, true}};

const std::vector<Column> kModel = {{"Name", "/name"},
                                    {"Description", "/description"},
                                    {"Kind", "/kind"},
                                    {"Owner", "/owner"},
                                    {"Shared with", "/shared", Shape::list},
                                    {"Created", "/created_at", Shape::time},
                                    {"Latest version", "/version"},
                                    {"Serving", "/serving"},
                                    {"You may use it", "/may_use", Shape::yes},
                                    {"You may export it", "/may_export", Shape::yes}};

const std::vector<Column> kVersions = {{"VERSION", "/version"},
                                       {"STAGE", "/stage", Shape::text, false, true},
                                       {"QUALITY", "/quality"},
                                       {"DATA", "/dataset"},
                                       {"SIZE", "/stored_bytes", Shape::bytes},
                                       {"CREATED", "/created_at", Shape::time},
                                       {"BY", "/created_by"},
                                       {"PROTECTED", "/protected", Shape::yes, true},
                                       {"JOB", "/job_id", Shape::text, true}};

const std::vector<Column> kVersion = {{"Version", "/version"},
                                      {"Stage", "/stage", Shape::text, false, true},
                                      {"Quality", "/quality"},
                                      {"Target", "/signature/target"},
                                      {"Inputs", "/inputs", Shape::list},
                                      {"Created", "/created_at", Shape::time},
                                      {"By", "/created_by"},
                                      {"Job", "/job_id"},
                                      {"Data set", "/dataset"},
                                      {"Version of it", "/dataset_version"},
                                      {"Hash of the data", "/dataset_hash"},
                                      {"Made by samovar", "/code_version"},
                                      {"Size", "/stored_bytes", Shape::bytes},
                                      {"Protected", "/protected", Shape::yes}};

// The resource with what a person reads instead of objects; JSON is shown without it.
json readable(json resource) {
  const std::string quality = headline_text(resource.value("headline", json()));
  if (!quality.empty()) resource["quality"] = quality;
  json names = json::array();
  for (const json& user : resource.value("granted", json::array()))
    names.push_back(user.value("username", user.value("user_id", "")));
  resource["shared"] = std::move(names);
  const json signature = resource.value("signature", json::object());
  json inputs = json::array();
  if (signature.is_object()) {
    for (const json& input : signature.value("inputs", json::array()))
      inputs.push_back(input.value("name", ""));
  }
  if (signature.is_object() && signature.value("target", json()).is_object())
    resource["signature"]["target"] = signature["target"].value("name", "");
  resource["inputs"] = std::move(inputs);
  return resource;
}

json readable_items(const json& items) {
  json out = json::array();
  for (const json& item : items) out.push_back(readable(item));
  return out;
}

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json all, app.get_list("/models"));
  if (app.json_like()) return print_json(app, all);
  return show_list(app, {{"items", readable_items(all["items"])}}, kModels, "/name");
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  if (ref.version != 0) {
    SAMOVAR_TRY(json version, get_version(app, ref));
    return show_record(app, app.json_like() ? version : readable(std::move(version)), kVersion);
  }
  SAMOVAR_TRY(json model, get_model(app, ref));
  if (app.json_like()) return print_json(app, model);
  SAMOVAR_CHECK(show_record(app, readable(model), kModel));
  if (app.output() == Output::csv || !model.contains("versions")) return {};
  app.io().out("\n" + table_text(app, readable_items(model["versions"]), kVersions));
  return {};
}

Result<void> evaluation(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  if (ref.version == 0) {
    SAMOVAR_TRY(json version, get_version(app, ref));
    ref.version = version.value("version", 0U);
  }
  return print_evaluation(app, ref, 20, invocation.has("coefficients"));
}

std::string short_text(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>()
                     : value.is_null() ? "–"
                                       : value.dump(-1, ' ', false, json::error_handler_t::replace);
  return truncate(printable(text), 40);
}

// The test metrics of one side, wherever the answer has them.
json metrics_of(const json& side) {
  for (const char* pointer : {"/metrics/test", "/evaluation/metrics/test", "/metrics", "/headline"}) {
    const json::json_pointer at(pointer);
    if (side.contains(at) && side[at].is_object()) return side[at];
  }
  return json::object();
}

Result<void> compare(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef a, version_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(ModelRef b, version_ref(app, invocation.argument(1)));
  SAMOVAR_TRY(json answer, app.get("/models:compare", {{"a", text_of(a)}, {"b", text_of(b)}}));
  if (app.json_like()) return print_json(app, answer);
  const json left = metrics_of(answer.value("a", json::object()));
  const json right = metrics_of(answer.value("b", json::object()));
  json items = json::array();
  for (const auto& entry : left.items()) {
    const auto number = [](const json& metric) {
      return metric.is_object() ? metric.value("value", json()) : metric;
    };
    const json mine = number(entry.value());
    const json other = number(right.value(entry.key(), json()));
    json item = {{"path", entry.key()}};
    if (mine.is_number()) item["a"] = fmt::format("{:.4f}", mine.get<double>());
    if (other.is_number()) item["b"] = fmt::format("{:.4f}", other.get<double>());
    if (mine.is_number() && other.is_number())
      item["change"] = fmt::format("{:+.4f}", other.get<double>() - mine.get<double>());
    items.push_back(std::move(item));
  }
  const std::string title_a = text_of(a);
  const std::string title_b = text_of(b);
  std::string out = table_text(
      app, items, {{"ON TEST ROWS", "/path"}, {title_a, "/a"}, {title_b, "/b"}, {"CHANGE", "/change"}});
  json differences = json::array();
  for (const json& one : answer.value("differences", json::array()))
    differences.push_back({{"path", one.value("path", "")},
                           {"a", short_text(one.value("a", json()))},
                           {"b", short_text(one.value("b", json()))}});
  if (!differences.empty())
    out += "\n" + table_text(app, differences, {{"DIFFERENCE", "/path"}, {title_a, "/a"}, {title_b, "/b"}});
  app.io().out(out);
  return {};
}

}  // namespace

void add_models_change(Table& table);  // models_change.cpp

void add_models(Table& table) {
  const Argument model{"MODEL", "Name, or NAME@VERSION", true, false, Complete::models};
  auto& rows = table.commands;
  table.nouns.push_back({"models", "Models: quality, versions, serving, export"});
  rows.push_back({"models",
                  "list",
                  "List models",
                  "Your own and those shared with you; administrators and auditors see all.",
                  {},
                  {},
                  {{"samovar models list", ""}},
                  &list});
  rows.push_back(
      {"models",
       "show",
       "Show a model with its versions, or one version",
       "A version's record tells where it comes from: job, data set and its hash, program.",
       {model},
       {},
       {{"samovar models show readmission", ""}, {"samovar models show readmission@3", "one version"}},
       &show});
  rows.push_back(
      {"models",
       "evaluation",
       "Show how good a version is, on rows it was not trained on",
       "Each metric with its interval and beside that of a model that knows no inputs. Without a version: "
       "the "
       "one that serves, else the latest.",
       {model},
       {{"coefficients", 0, {}, "Also the coefficients, with standard errors where they are known"}},
       {{"samovar models evaluation readmission", ""},
        {"samovar models evaluation readmission@3 --coefficients", ""},
        {"samovar models evaluation readmission --json", "with curves, calibration and subgroups"}},
       &evaluation});
  rows.push_back({"models",
                  "compare",
                  "Compare two versions: quality and how they were made",
                  "",
                  {{"A", "NAME@VERSION", true, false, Complete::models},
                   {"B", "NAME@VERSION", true, false, Complete::models}},
                  {},
                  {{"samovar models compare readmission@1 readmission@2", ""}},
                  &compare});
  add_models_change(table);
}

}  // namespace samovar::cli
