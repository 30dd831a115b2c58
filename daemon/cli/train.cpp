// train: from a data set and a target to a job.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/job_follow.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/suggest.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::size_t kModelNameBytesMax = 64;

const std::vector<Column> kEstimate = {{"Time", "/seconds", Shape::duration},
                                       {"Energy", "/energy"},
                                       {"Memory", "/memory_bytes", Shape::bytes},
                                       {"Basis", "/basis"},
                                       {"All nodes draw", "/watts", Shape::watts},
                                       {"Ends", "/ends_at", Shape::time},
                                       {"Deadline", "/deadline_text"}};

// Names between commas; a comma in a name is written "\,".
void add_columns(json& list, std::string_view text) {
  std::string name;
  const auto put = [&] {
    if (!name.empty()) list.push_back(name);
    name.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      name.push_back(text[++i]);
    } else if (text[i] == ',') {
      put();
    } else {
      name.push_back(text[i]);
    }
  }
  put();
}

// "Hospital readmissions" and "readmitted_30d" → "hospital-readmissions-readmitted_30d"
std::string model_name(const std::string& dataset, const std::string& target) {
  std::string name;
  for (const char c : dataset + "-" + target) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (c >= 'A' && c <= 'Z') {
      name.push_back(static_cast<char>(c + 32));
    } else if (letter) {
      name.push_back(c);
    } else if (!name.empty() && name.back() != '-') {
      name.push_back('-');
    }
  }
  if (name.size() > kModelNameBytesMax) name.erase(kModelNameBytesMax);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  while (!name.empty() && (name.front() == '-' || name.front() == '.' || name.front() == '_'))
    name.erase(0, 1);
  return name.empty() ? "model" : name;
}

// A number, true, null, [1,2] as JSON; anything else is text.
json value_of(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

// "l2=0.1" is a parameter; "features.hash_bits=20" and "split.valid=0.2" belong elsewhere in the spec.
Result<void> put_setting(App& app, json& spec, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return app.usage(fmt::format("--set is NAME=VALUE, not \"{}\"", text));
  std::string name = text.substr(0, equals);
  std::string part = "parameters";
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos) {
    part = name.substr(0, dot);
    name.erase(0, dot + 1);
    if ((part != "features" && part != "split" && part != "parameters") || name.empty())
      return app.usage(fmt::format("--set {}: before a dot stands features, split or parameters", text));
  }
  spec[part][name] = value_of(text.substr(equals + 1));
  return {};
}

// "group:patient_id"
Result<void> put_split(App& app, const Invocation& invocation, json& spec) {
  if (invocation.has("split")) {
    const std::string_view text = invocation.flag("split");
    const std::size_t colon = text.find(':');
    const std::string kind(text.substr(0, colon));
    const std::vector<std::string_view> kinds = {"random", "group", "time", "folds"};
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      return app.usage(
          fmt::format("--split is random, group:COLUMN, time:COLUMN or folds:COLUMN, not \"{}\"{}", text,
                      did_you_mean(kind, kinds)));
    if (colon == std::string_view::npos && (kind == "group" || kind == "time"))
      return app.usage(fmt::format("--split {0} needs a column: --split {0}:COLUMN", kind));
    spec["split"]["kind"] = kind;
    if (colon != std::string_view::npos) spec["split"]["column"] = std::string(text.substr(colon + 1));
  }
  for (const char* flag : {"valid", "test", "folds"}) {
    if (!invocation.has(flag)) continue;
    const json value = value_of(std::string(invocation.flag(flag)));
    if (!value.is_number())
      return app.usage(fmt::format("--{} is a number, not \"{}\"", flag, invocation.flag(flag)));
    spec["split"][flag] = value;
  }
  return {};
}

Result<void> put_power(App& app, const Invocation& invocation, json& spec) {
  if (invocation.has("watts")) {
    const json watts = value_of(std::string(invocation.flag("watts")));
    if (!watts.is_number())
      return app.usage(fmt::format("--watts is a number, not \"{}\"", invocation.flag("watts")));
    spec["power"]["watts"] = watts;
  }
  if (invocation.has("finish-by")) spec["power"]["finish_by"] = std::string(invocation.flag("finish-by"));
  if (invocation.has("gentle")) spec["power"]["mode"] = "gentle";
  return {};
}

// "2026-11-18 06:00, can be kept", or what would do.
std::string deadline_text(const json& estimate) {
  if (!estimate.contains("deadline") || !estimate["deadline"].is_string()) return "";
  const std::string text = cell_text(estimate, {"", "/deadline", Shape::time});
  if (estimate.value("in_time", json()) == true) return text + ", can be kept";
  const json needed = estimate.value("needed_watts", json());
  return text + (needed.is_number()
                     ? fmt::format(", cannot be kept: it takes about {:.0f} W", needed.get<double>())
                     : ", cannot be kept, not even at full speed");
}

Result<json> spec_file(App& app, const std::string& file) {
  auto text = file == "-" ? app.io().read_all() : read_file(file);
  if (!text) return std::move(text).error();
  json spec = json::parse(*text, nullptr, false);
  if (!spec.is_object()) return Error{Errc::invalid, fmt::format("{} holds no JSON object", file)};
  // As "jobs show --json=spec" writes it.
  if (spec.size() == 1 && spec.contains("spec") && spec["spec"].is_object()) spec = json(spec["spec"]);
  return spec;
}

Result<json> read_spec(App& app, const Invocation& invocation, const char* kind) {
  json spec = json::object();
  if (invocation.has("spec")) {
    SAMOVAR_TRY(spec, spec_file(app, std::string(invocation.flag("spec"))));
  }
  spec["kind"] = kind;
  for (const char* flag : {"target", "weight", "offset", "exposure", "name"}) {
    if (invocation.has(flag)) spec[flag] = std::string(invocation.flag(flag));
  }
  if (!spec.contains("target")) return app.usage("say what shall be predicted: --target COLUMN");
  if (!invocation.has("data") && !spec.contains("dataset"))
    return app.usage("say from which data set to learn: --data NAME");
  std::string dataset_name;
  if (invocation.has("data")) {
    SAMOVAR_TRY(json dataset, find_dataset(app, invocation.flag("data")));
    spec["dataset"] = dataset.value("id", "");
    dataset_name = dataset.value("name", "");
  }
  auto version = number_flag(invocation, "data-version", 0, 1, 1'000'000'000);
  if (!version) return app.usage(version.error().message());
  if (*version > 0) spec["dataset_version"] = *version;
  auto seed = number_flag(invocation, "seed", 0, 0, 1L << 53);
  if (!seed) return app.usage(seed.error().message());
  if (invocation.has("seed")) spec["seed"] = *seed;
  if (invocation.has("device")) spec["device"] = std::string(invocation.flag("device"));
  if (invocation.has("priority")) spec["priority"] = priority_value(std::string(invocation.flag("priority")));
  for (const auto& [flag, key] : {std::pair("input", "inputs"), std::pair("ignore", "ignore")}) {
    for (const std::string& text : invocation.all(flag)) {
      if (!spec[key].is_array()) spec[key] = json::array();
      add_columns(spec[key], text);
    }
  }
  for (const std::string& text : invocation.all("interaction")) {
    json pair = json::array();
    add_columns(pair, text);
    if (pair.size() != 2) return app.usage(fmt::format("--interaction is COLUMN,COLUMN, not \"{}\"", text));
    spec["features"]["interactions"].push_back(pair);
  }
  SAMOVAR_CHECK(put_split(app, invocation, spec));
  SAMOVAR_CHECK(put_power(app, invocation, spec));
  for (const std::string& text : invocation.all("set")) SAMOVAR_CHECK(put_setting(app, spec, text));
  if (!spec.contains("name")) spec["name"] = model_name(dataset_name, spec.value("target", ""));
  return spec;
}

Result<void> print_estimate(App& app, const json& spec) {
  SAMOVAR_TRY(json estimate, app.post("/jobs:estimate", spec));
  if (app.json_like()) return print_json(app, estimate);
  json shown = estimate;
  if (estimate.contains("watt_hours") && estimate["watt_hours"].is_number())
    shown["energy"] = fmt::format("{:.3g} Wh", estimate["watt_hours"].get<double>());
  const std::string deadline = deadline_text(estimate);
  if (!deadline.empty()) shown["deadline_text"] = deadline;
  std::vector<Column> columns = kEstimate;
  for (const char* pointer : {"/watts", "/ends_at", "/deadline_text"}) {
    const json::json_pointer at(pointer);
    if (!shown.contains(at) || shown[at].is_null())
      std::erase_if(columns, [pointer](const Column& column) { return column.pointer == pointer; });
  }
  return show_record(app, shown, columns);
}

Error faults_of(App& app, const json& faults) {
  std::string text = "the job cannot be started:";
  for (const json& fault : faults)
    text += fmt::format("\n  {}: {}", cell_text(fault, {"", "/pointer"}), cell_text(fault, {"", "/detail"}));
  app.fails_with(Exit::invalid);
  return Error{Errc::invalid, std::move(text)};
}

// What to know before it starts: columns that tell too much, identifiers that may be groups.
Result<void> check(App& app, const json& spec, bool only) {
  SAMOVAR_TRY(json answer, app.post("/jobs:check", spec));
  const json faults = answer.value("faults", json::array());
  if (only && app.json_like()) {
    SAMOVAR_CHECK(print_json(app, answer));
    if (!faults.empty()) return app.stop(Exit::invalid);
    return {};
  }
  if (!faults.empty()) return faults_of(app, faults);
  for (const json& sentence : answer.value("advice", json::array())) {
    if (sentence.is_string()) app.note("Advice: " + printable(sentence.get<std::string>()));
  }
  if (only && app.quiet()) return {};
  if (only)
    app.io().out(answer.value("spec", json::object()).dump(2, ' ', false, json::error_handler_t::replace) +
                 "\n");
  return {};
}

Result<void> finish(App& app, const json& job) {
  const std::string id = job.value("id", "");
  app.note(fmt::format("Job {} trains {}.", id, cell_text(job, {"", "/name"})));
  SAMOVAR_TRY(json done, wait_job(app, id));
  if (app.json_like()) return print_json(app, done);
  if (app.quiet()) {
    app.io().out(id + "\n");
    return {};
  }
  const ModelRef made{done.value("name", ""),
                      done.contains("model_version") && done["model_version"].is_number()
                          ? done["model_version"].get<std::uint32_t>()
                          : 0};
  if (made.version == 0) return {};
  SAMOVAR_CHECK(print_evaluation(app, made, 8, false));
  app.note(fmt::format("\nMade {0}. Use it with: samovar predict {0} --row COLUMN=VALUE…", text_of(made)));
  return {};
}

Result<void> train_glm(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json spec, read_spec(app, invocation, "glm"));
  if (invocation.has("estimate")) return print_estimate(app, spec);
  if (invocation.has("check")) return check(app, spec, true);
  if (!app.quiet() && !app.json_like() && !invocation.has("dry-run")) SAMOVAR_CHECK(check(app, spec, false));
  SAMOVAR_TRY(json job, app.post("/jobs", spec));
  if (invocation.has("wait")) return finish(app, job);
  if (app.json_like()) return print_json(app, job);
  app.io().out(job.value("id", "") + "\n");
  app.note(fmt::format("Wait for it with: samovar jobs wait {}", job.value("id", "")));
  return {};
}

}  // namespace

void add_train(Table& table) {
  table.nouns.push_back({"train", "Train a model on a data set"});
  table.commands.push_back(
      {"train",
       "glm",
       "Train a generalized linear model",
       "Linear, logistic, multinomial and count regression; the family follows from the target unless it is "
       "set. "
       "Prints the job's id; with --wait shows progress and ends with the evaluation on rows that were kept "
       "apart. "
       "Exit code 8 when the training failed or was cancelled. \"samovar api GET /algorithms\" lists what "
       "--set "
       "knows.",
       {},
       {{"data", 'd', "DATASET", "Name or id of the data set", {}, Complete::datasets},
        {"target", 't', "COLUMN", "What shall be predicted"},
        {"input", 0, "COLUMN",
         "Predict from this only; repeated or with commas (default: all that can serve)"},
        {"ignore", 0, "COLUMN", "Not from this; repeated or with commas"},
        {"weight", 0, "COLUMN", "How much each row counts"},
        {"offset", 0, "COLUMN", "Added to the linear predictor"},
        {"exposure", 0, "COLUMN", "Its logarithm is the offset: time under risk, insured years"},
        {"split", 0, "KIND[:COLUMN]",
         "Which rows are kept apart: random, group:COLUMN (all rows of a patient together), time:COLUMN (the "
         "latest), "
         "folds:COLUMN"},
        {"valid", 0, "SHARE", "Share of the rows that decides when to stop (default 0.1)"},
        {"test", 0, "SHARE", "Share of the rows kept for the evaluation (default 0.2)"},
        {"folds", 0, "N", "How many folds (default 5)"},
        {"interaction", 0, "COLUMN,COLUMN", "Also their product; may be repeated"},
        {"set", 0, "NAME=VALUE",
         "A parameter of the algorithm, such as l2=0.01, or features.hash_bits=20; may be repeated"},
        {"seed", 0, "N", "Of everything that is drawn by chance (default 1)"},
        {"priority", 0, "PRIORITY",
         "low, normal, high or -100 to 100: which of the waiting jobs begins first", "low|normal|high",
         Complete::words},
        {"watts", 0, "WATTS", "All nodes together draw no more while it trains; wins over --finish-by"},
        {"finish-by", 0, "TIME",
         "06:00 in the box's time zone, or a moment such as 2026-11-18T05:00:00Z: it takes as few watts as "
         "keep to it"},
        {"gentle", 0, {}, "About half of what the nodes can draw beyond rest"},
        {"device", 0, "DEVICE",
         "Where it computes; auto, the default, takes a node's GPU for models that gain by it",
         "auto|cpu|gpu", Complete::words},
        {"name", 'n', "MODEL",
         "Name of the model (default: of data set and target); again makes its next version"},
        {"data-version", 0, "N", "An earlier version of the data set"},
        {"spec",
         0,
         "FILE",
         "Begin with this JSON, as \"samovar jobs show ID --json=spec\" gives; - for stdin",
         {},
         Complete::file},
        {"check", 0, {}, "Only check it, show advice and the whole specification"},
        {"estimate", 0, {}, "Only say how long it will take, with how much energy and memory"},
        {"wait", 'w', {}, "Wait for the end and show the evaluation"},
        kProgressFlag},
       {{"samovar train glm --data Readmissions --target readmitted_30d --wait", ""},
        {"samovar train glm -d Claims -t claims --exposure years --set family=poisson",
         "counts per insured year"},
        {"samovar train glm -d Claims -t claims --watts 60 --finish-by 06:00", "over night, within 60 W"},
        {"samovar train glm -d Visits -t cost --split group:patient_id --set l1=0.001 --name cost", ""}},
       &train_glm});
}

}  // namespace samovar::cli
