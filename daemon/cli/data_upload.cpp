// data upload: a file becomes a data set; and the uploads on their own.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/operations.hpp"
#include "daemon/cli/uploader.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kUploads = {{"ID", "/id"},
                                      {"FILE", "/file_name"},
                                      {"RECEIVED", "/offset", Shape::bytes},
                                      {"OF", "/length", Shape::bytes},
                                      {"COMPLETE", "/complete", Shape::yes},
                                      {"EXPIRES", "/expires_at", Shape::time},
                                      {"SHA-256", "/sha256", Shape::text, true}};

const std::vector<Column> kFound = {{"COLUMN", "/name"},
                                    {"TYPE", "/type"},
                                    {"WHY", "/evidence"},
                                    {"REMARK", "/remark"},
                                    {"EXAMPLES", "/examples", Shape::list, true}};

std::string remark_on(const json& column) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (column.value("sensitive", false)) {
    const std::string why = column.value("sensitive_reason", "");
    add(why.empty() ? "sensitive" : "sensitive: " + why);
  }
  if (column.value("constant", false)) add("always the same");
  if (column.value("identifier", false)) add("differs in every row");
  if (column.value("missing", 0) > 0)
    add(fmt::format("{} missing in the sample", column.value("missing", 0)));
  return text;
}

// How the box understood the file, for the person to object.
std::string detection_text(App& app, const json& found) {
  json items = found.value("columns", json::array());
  for (json& column : items) {
    const std::string remark = remark_on(column);
    if (!remark.empty()) column["remark"] = remark;
  }
  const json options = found.value("options", json::object());
  std::string out = fmt::format("Understood as {}", cell_text(options, {"", "/format"}));
  if (options.value("format", "") == "csv") {
    const std::string delimiter = options.value("delimiter", "");
    out += fmt::format(", cells between {}, {} header",
                       delimiter == "\t"  ? "tabs"
                       : delimiter == " " ? "blanks"
                                          : "\"" + printable(delimiter) + "\"",
                       options.value("header", true) ? "with" : "without");
  }
  if (options.value("compression", "none") != "none")
    out += ", packed with " + cell_text(options, {"", "/compression"});
  out += fmt::format(", {}:\n", cell_text(options, {"", "/encoding"}));
  out += table_text(app, items, kFound);
  for (const json& note : found.value("notes", json::array())) {
    if (note.is_string()) out += "  " + printable(note.get<std::string>()) + "\n";
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

// "readmissions.csv.gz" → "readmissions"
std::string dataset_name(const Invocation& invocation, const std::string& file_name) {
  if (invocation.has("name")) return std::string(invocation.flag("name"));
  std::string name = file_name;
  for (int i = 0; i < 2; ++i) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0 || name.size() - dot > 9) break;
    name.erase(dot);
  }
  return name;
}

struct Plan {
  json hints;
  json columns;
  Resume resume = Resume::if_known;
};

Result<Plan> read_plan(App& app, const Invocation& invocation) {
  Plan plan;
  SAMOVAR_TRY(plan.hints, read_hints(app, invocation));
  SAMOVAR_TRY(plan.columns, read_columns(app, invocation));
  if (invocation.has("resume") && invocation.has("restart"))
    return app.usage("--resume and --restart exclude each other");
  if (invocation.has("resume")) plan.resume = Resume::only;
  if (invocation.has("restart")) plan.resume = Resume::never;
  return plan;
}

Result<json> inspect_upload(App& app, const std::string& id, const json& hints) {
  return app.post("/uploads/" + url_encode(id) + ":inspect", hints);
}

Result<json> start_ingest(App& app, const Invocation& invocation, const Plan& plan, const json& upload) {
  json body = {{"upload_id", upload.value("id", "")},
               {"name", dataset_name(invocation, upload.value("file_name", "upload"))}};
  if (invocation.has("description")) body["description"] = std::string(invocation.flag("description"));
  if (!plan.hints.empty()) body["hints"] = plan.hints;
  if (!plan.columns.empty()) body["columns"] = plan.columns;
  return app.post("/datasets", body);
}

// One file: sent, looked at, read, there. The resource that stands at the end is the result.
Result<json> upload_one(App& app, const Invocation& invocation, const Plan& plan, const std::string& path) {
  Uploader uploader(app, plan.resume);
  SAMOVAR_TRY(json upload, uploader.send(path));
  app.note(fmt::format("Sent {}, {}; SHA-256 {} here and in the box.", cell_text(upload, {"", "/file_name"}),
                       cell_text(upload, {"", "/length", Shape::bytes}), cell_text(upload, {"", "/sha256"})));
  if (invocation.has("upload-only")) {
    uploader.forget();
    return upload;
  }
  SAMOVAR_TRY(json found, inspect_upload(app, upload.value("id", ""), plan.hints));
  if (!app.json_like()) app.note(detection_text(app, found));
  SAMOVAR_TRY(json operation, start_ingest(app, invocation, plan, upload));
  uploader.forget();
  if (invocation.has("no-wait")) return operation;
  SAMOVAR_TRY(json done, wait_operation(app, operation.value("id", "")));
  return app.get("/datasets/" + url_encode(done.value("dataset_id", "")));
}

Result<void> print_result(App& app, const Invocation& invocation, const json& made) {
  if (app.json_like()) return print_json(app, made);
  if (invocation.has("upload-only")) return show_record(app, made, kUploads);
  if (invocation.has("no-wait")) {
    app.io().out(made.value("id", "") + "\n");
    return {};
  }
  if (app.quiet()) {
    app.io().out(made.value("id", "") + "\n");
    return {};
  }
  app.note(fmt::format("{} is there: {} rows, {} columns, {} bad rows.", cell_text(made, {"", "/name"}),
                       cell_text(made, {"", "/rows", Shape::count}),
                       cell_text(made, {"", "/columns", Shape::count}),
                       cell_text(made, {"", "/bad_rows", Shape::count})));
  return show_record(app, made, kDatasetRecord);
}

Result<void> upload(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(Plan plan, read_plan(app, invocation));
  const std::vector<std::string>& files = invocation.arguments;
  if (files.size() > 1 && invocation.has("name"))
    return app.usage("--name is for one file; several get their names from the files");
  if (files.size() == 1) {
    SAMOVAR_TRY(json made, upload_one(app, invocation, plan, files[0]));
    return print_result(app, invocation, made);
  }
  json all = {{"items", json::array()}, {"next_cursor", nullptr}};
  std::size_t failed = 0;
  for (const std::string& file : files) {
    auto made = upload_one(app, invocation, plan, file);
    if (made) {
      if (!app.json_like()) SAMOVAR_CHECK(print_result(app, invocation, *made));
      all["items"].push_back(*std::move(made));
      continue;
    }
    if (!app.io().pause_ms(0) || failed + 1 == files.size()) return std::move(made).error().within(file);
    ++failed;
    app.report(std::move(made).error().within(file));
  }
  if (app.json_like()) SAMOVAR_CHECK(print_json(app, all));
  if (failed == 0) return {};
  app.fails_with(Exit::partly);
  return Error{Errc::internal, fmt::format("{} of {} files failed", failed, files.size())};
}

Result<void> inspect(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json hints, read_hints(app, invocation));
  std::string id(invocation.argument(0));
  if (!id.starts_with("upl_")) {
    Uploader uploader(app, Resume::if_known);
    SAMOVAR_TRY(json sent, uploader.send(id));
    id = sent.value("id", "");
  }
  SAMOVAR_TRY(json found, inspect_upload(app, id, hints));
  if (app.json_like()) return print_json(app, found);
  app.io().out(detection_text(app, found) + "\n");
  return {};
}

Result<void> uploads(App& app, const Invocation&) {
  SAMOVAR_TRY(json all, app.get_list("/uploads"));
  return show_list(app, all, kUploads);
}

Result<void> discard(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "DELETE";
  call.path = "/uploads/" + url_encode(id);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  app.note(fmt::format("Threw {} away.", id));
  return {};
}

}  // namespace

void add_data_upload(Table& table) {
  table.nouns.push_back({"data", "Data sets: upload, look at, share, download"});
  std::vector<Flag> flags = {
      {"name", 'n', "NAME", "Name of the data set (default: the file's, without its ending)"},
      {"description", 0, "TEXT", "What it is"}};
  for (const Flag& flag : column_flags()) flags.push_back(flag);
  for (const Flag& flag : hint_flags()) flags.push_back(flag);
  flags.insert(flags.end(),
               {{"resume", 0, {}, "Only go on with an unfinished upload; fail when there is none"},
                {"restart", 0, {}, "Begin anew, even when an unfinished upload is known"},
                {"upload-only", 0, {}, "Send the file, and make no data set of it yet"},
                {"no-wait", 0, {}, "Print the operation's id as soon as the box has the file"},
                kProgressFlag});
  auto& rows = table.commands;
  rows.push_back(
      {"data",
       "upload",
       "Send files and make data sets of them",
       "What breaks is tried again; after Ctrl-C, a restart of the box or of this computer the same command "
       "goes on where it was, for 7 days. At the end the SHA-256 here and in the box are compared, and how "
       "the box understood the file is shown.",
       {{"FILE", "CSV, TSV, libsvm, ARFF or JSON lines; also packed with gzip, zstd, xz or zip", true, true,
         Complete::file}},
       flags,
       {{"samovar data upload readmissions.csv", ""},
        {"samovar data upload ward.csv.gz --name \"Ward 3\" --type ward=category --delimiter ';'", ""},
        {"samovar data upload *.csv --no-wait --progress json", "for a script"}},
       &upload});
  rows.push_back(
      {"data",
       "inspect",
       "Show how a file would be understood, and make nothing of it",
       "A file that is not in the box yet is sent first.",
       {{"FILE", "A file here, or the id of an upload", true, false, Complete::file}},
       [] {
         std::vector<Flag> some = hint_flags();
         some.push_back(kProgressFlag);
         return some;
       }(),
       {{"samovar data inspect readmissions.csv", ""}, {"samovar data inspect upl_01JCD --header no", ""}},
       &inspect});
  rows.push_back({"data",
                  "uploads",
                  "List your uploads that are no data sets yet",
                  "",
                  {},
                  {},
                  {{"samovar data uploads", ""}},
                  &uploads});
  rows.push_back({"data",
                  "discard",
                  "Throw an upload away",
                  "",
                  {{"UPLOAD", "Id of the upload", true, false, Complete::uploads}},
                  {},
                  {{"samovar data discard upl_01JCD", ""}},
                  &discard});
}

}  // namespace samovar::cli
