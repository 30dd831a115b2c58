// scorings: predictions for whole data sets or files, made inside the box.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/suggest.hpp"
#include "daemon/cli/uploader.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr long kAskMs = 500;
constexpr unsigned kFailuresMax = 12;

const std::vector<Column> kScorings = {{"ID", "/id"},
                                       {"MODEL", "/model"},
                                       {"VERSION", "/version"},
                                       {"STATE", "/state", Shape::text, false, true},
                                       {"ROWS", "/rows", Shape::count},
                                       {"OF", "/rows_total", Shape::count},
                                       {"RESULT", "/result_bytes", Shape::bytes},
                                       {"CREATED", "/created_at", Shape::time},
                                       {"ENDED", "/ended_at", Shape::time, true},
                                       {"DATA SET", "/dataset_id", Shape::text, true},
                                       {"UPLOAD", "/upload_id", Shape::text, true},
                                       {"ERROR", "/error", Shape::text, true}};

const std::vector<Column> kScoring = {{"Id", "/id"},
                                      {"Model", "/model"},
                                      {"Version", "/version"},
                                      {"State", "/state", Shape::text, false, true},
                                      {"Rows", "/rows", Shape::count},
                                      {"Of", "/rows_total", Shape::count},
                                      {"Result", "/result_bytes", Shape::bytes},
                                      {"Data set", "/dataset_id"},
                                      {"Upload", "/upload_id"},
                                      {"Created", "/created_at", Shape::time},
                                      {"Ended", "/ended_at", Shape::time},
                                      {"Error", "/error"}};

std::string path_of(std::string_view id) { return "/scorings/" + url_encode(id); }

void tell_warnings(App& app, const json& scoring) {
  for (const json& warning : scoring.value("warnings", json::array()))
    app.warn(printable(warning.is_string() ? warning.get<std::string>()
                                           : warning.value("detail", warning.value("code", ""))));
}

Error left_running(const std::string& id) {
  return Error{
      Errc::io,
      fmt::format("interrupted; the box goes on with it. Wait for it with: samovar scorings wait {}, "
                  "or end it with: samovar scorings delete {}",
                  id, id)};
}

Result<json> wait_scoring(App& app, const std::string& id) {
  json last;
  unsigned failures = 0;
  {
    Progress progress(app, "scoring", id, Measure::rows);
    for (;;) {
      auto asked = app.get(path_of(id));
      if (!asked) {
        const bool away =
            app.problem_status() == 0 || app.problem_status() == 503 || app.problem_status() == 423;
        if (!away || ++failures > kFailuresMax) return asked;
        if (!app.io().pause_ms(std::min(10'000L, kAskMs << failures))) return left_running(id);
        continue;
      }
      failures = 0;
      last = *std::move(asked);
      const std::string state = last.value("state", "");
      progress.update(last.value("rows", std::uint64_t{0}), last.value("rows_total", std::uint64_t{0}),
                      state == "queued" ? "waiting" : "");
      if (state == "done" || state == "failed" || state == "cancelled") break;
      if (!app.io().pause_ms(kAskMs)) return left_running(id);
    }
    progress.flush();
  }
  if (last.value("state", "") == "done") return last;
  if (app.json_like()) {
    SAMOVAR_CHECK(print_json(app, last));
    return app.stop(Exit::awaited_failed);
  }
  app.fails_with(Exit::awaited_failed);
  const json why = last.value("error", json());
  return Error{Errc::internal,
               why.is_string() && !why.empty() ? why.get<std::string>() : "the scoring was ended"};
}

Result<void> save(App& app, const std::string& id, const std::string& file) {
  Call call;
  call.path = path_of(id) + "/result";
  return save_stream(app, std::move(call), file);
}

Result<void> start(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  if (invocation.has("data") == invocation.has("file"))
    return app.usage("say what to score: --data DATASET, or --file FILE");
  json body = {{"model", ref.name}};
  if (ref.version != 0) body["version"] = ref.version;
  for (const std::string& names : invocation.all("keep")) {
    for (const std::string_view name : split_words(names, ',')) body["keep"].push_back(std::string(name));
  }
  if (invocation.has("data")) {
    SAMOVAR_TRY(json dataset, find_dataset(app, invocation.flag("data")));
    body["dataset_id"] = dataset.value("id", "");
    auto version = number_flag(invocation, "data-version", 0, 1, 1'000'000'000);
    if (!version) return app.usage(version.error().message());
    if (*version > 0) body["dataset_version"] = *version;
  } else {
    Uploader uploader(app, Resume::if_known);
    SAMOVAR_TRY(json upload, uploader.send(std::string(invocation.flag("file"))));
    body["upload_id"] = upload.value("id", "");
    uploader.forget();
  }
  SAMOVAR_TRY(json scoring, app.post("/scorings", body));
  const std::string id = scoring.value("id", "");
  if (!invocation.has("wait") && !invocation.has("out")) {
    if (app.json_like()) return print_json(app, scoring);
    app.io().out(id + "\n");
    return {};
  }
  SAMOVAR_TRY(json done, wait_scoring(app, id));
  tell_warnings(app, done);
  if (invocation.has("out")) return save(app, id, std::string(invocation.flag("out")));
  return show_record(app, done, kScoring);
}

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json all, app.get_list("/scorings"));
  return show_list(app, all, kScorings);
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json scoring, app.get(path_of(invocation.argument(0))));
  SAMOVAR_CHECK(show_record(app, scoring, kScoring));
  if (!app.json_like()) tell_warnings(app, scoring);
  return {};
}

Result<void> wait(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json scoring, wait_scoring(app, std::string(invocation.argument(0))));
  return show_record(app, scoring, kScoring);
}

Result<void> download(App& app, const Invocation& invocation) {
  return save(app, std::string(invocation.argument(0)), std::string(invocation.flag("out")));
}

Result<void> remove(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "DELETE";
  call.path = path_of(id);
  auto done = app.call(std::move(call));
  if (!done) return std::move(done).error();
  app.note(fmt::format("Deleted {} with its result.", id));
  return {};
}

}  // namespace

void add_scorings(Table& table) {
  const Argument id{"ID", "Id of the scoring", true, false, Complete::scorings};
  const Flag out{"out", 0, "FILE", "Write the result to this file", {}, Complete::file};
  auto& rows = table.commands;
  table.nouns.push_back({"scorings", "Predictions for whole data sets or files, made inside the box"});
  rows.push_back(
      {"scorings",
       "start",
       "Let a model score a data set or a file",
       "Prints the id; with --wait or --out waits for the end. The result is a CSV file of the kept columns, "
       "the "
       "prediction and the probability of each class, and stays for 7 days. A file is uploaded as for \"data "
       "upload\", of any size; for a few rows \"samovar predict --file\" is quicker.",
       {{"MODEL", "Name, or NAME@VERSION", true, false, Complete::models}},
       {{"data", 'd', "DATASET", "Score this data set", {}, Complete::datasets},
        {"data-version", 0, "N", "An earlier version of it"},
        {"file", 'F', "FILE", "Score this file", {}, Complete::file},
        {"keep", 0, "COLUMN",
         "Copy this column into the result; repeated or with commas (default: all that are "
         "not sensitive)"},
        {"wait", 'w', {}, "Wait for the end"},
        {"out", 0, "FILE", "Wait, and write the result to this file; - for stdout", {}, Complete::file},
        kProgressFlag},
       {{"samovar scorings start readmission --data 'Ward 3' --out scores.csv", ""},
        {"samovar scorings start readmission@2 --file next-month.csv.gz --keep admission_id", ""}},
       &start});
  rows.push_back(
      {"scorings", "list", "List your scorings", "", {}, {}, {{"samovar scorings list", ""}}, &list});
  rows.push_back({"scorings",
                  "show",
                  "Show one scoring",
                  "",
                  {id},
                  {},
                  {{"samovar scorings show scr_01JCD", ""}},
                  &show});
  rows.push_back({"scorings",
                  "wait",
                  "Wait until a scoring has ended",
                  "Exit code 0 when it is done, 8 when it failed. Ctrl-C leaves it running.",
                  {id},
                  {kProgressFlag},
                  {{"samovar scorings wait scr_01JCD", ""}},
                  &wait});
  rows.push_back({"scorings",
                  "download",
                  "Write the result as CSV",
                  "",
                  {id},
                  {out, kProgressFlag},
                  {{"samovar scorings download scr_01JCD --out scores.csv", ""}},
                  &download});
  rows.push_back({"scorings",
                  "delete",
                  "Delete a scoring with its result; ends one that runs",
                  "",
                  {id},
                  {},
                  {{"samovar scorings delete scr_01JCD", ""}},
                  &remove});
}

}  // namespace samovar::cli
