// data: what data sets there are and what is in them.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/nodes.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/operations.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kSchema = {
    {"COLUMN", "/name"}, {"TYPE", "/type"}, {"SENSITIVE", "/sensitive", Shape::yes}};

const std::vector<Column> kShards = {
    {"SHARD", "/number", Shape::count},  {"ROWS", "/rows", Shape::count},
    {"BLOCKS", "/blocks", Shape::count}, {"SIZE", "/stored_bytes", Shape::bytes},
    {"NODES", "/where", Shape::list},    {"DAMAGED", "/damaged", Shape::yes},
    {"HASH", "/hash", Shape::text, true}};

const std::vector<Column> kProfile = {{"COLUMN", "/name"},
                                      {"TYPE", "/type"},
                                      {"MISSING", "/missing", Shape::count},
                                      {"DISTINCT", "/distinct", Shape::count},
                                      {"MIN", "/min"},
                                      {"MEDIAN", "/quantiles/0.5"},
                                      {"MEAN", "/mean"},
                                      {"MAX", "/max"},
                                      {"SD", "/sd", Shape::text, true},
                                      {"MOST FREQUENT", "/top"},
                                      {"WITH TARGET", "/correlation"}};

const std::vector<Column> kFormats = {{"FORMAT", "/name"},
                                      {"FILES", "/extensions", Shape::list},
                                      {"READ", "/supported", Shape::yes},
                                      {"NOTES", "/notes"}};

Query version_query(const Invocation& invocation) {
  return invocation.has("version") ? Query{{"version", std::string(invocation.flag("version"))}} : Query{};
}

Result<void> list(App& app, const Invocation& invocation) {
  Query query;
  if (invocation.has("bin")) query.emplace_back("bin", "true");
  if (invocation.has("search")) query.emplace_back("q", std::string(invocation.flag("search")));
  SAMOVAR_TRY(json all, app.get_list("/datasets", query));
  return show_list(app, all, kDatasets);
}

Result<void> show(App& app, const Invocation& invocation) {
  auto found = find_dataset(app, invocation.argument(0));
  if (!found && found.error().code() == Errc::not_found)
    found = find_dataset(app, invocation.argument(0), Where::bin);
  if (!found) return std::move(found).error();
  SAMOVAR_TRY(json one, app.get(dataset_path(*found)));
  return show_record(app, one, kDatasetRecord);
}

// Without changes: the columns. With them: a new version, made from the kept file.
Result<void> schema(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  SAMOVAR_TRY(json changes, read_columns(app, invocation));
  SAMOVAR_TRY(json hints, read_hints(app, invocation));
  if (changes.empty() && hints.empty()) {
    SAMOVAR_TRY(json answer, app.get(dataset_path(dataset) + "/schema", version_query(invocation)));
    if (app.json_like()) return print_json(app, answer);
    return show_list(app, {{"items", answer["columns"]}}, kSchema, "/name");
  }
  json body = {{"columns", changes}};
  if (!hints.empty()) body["hints"] = hints;
  Call call;
  call.method = "PUT";
  call.path = dataset_path(dataset) + "/schema";
  call.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  call.headers.emplace_back("If-Match", "*");
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  json operation = json::parse(reply.body, nullptr, false);
  if (!operation.is_object())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  if (invocation.has("no-wait")) {
    if (app.json_like()) return print_json(app, operation);
    app.io().out(operation.value("id", "") + "\n");
    return {};
  }
  auto done = wait_operation(app, operation.value("id", ""));
  if (!done) return std::move(done).error();
  SAMOVAR_TRY(json now, app.get(dataset_path(dataset)));
  if (app.json_like()) return print_json(app, now);
  app.note(fmt::format("{} is at version {} now.", cell_text(now, {"", "/name"}),
                       cell_text(now, {"", "/version"})));
  return show_list(app, {{"items", now["schema"]["columns"]}}, kSchema, "/name");
}

Result<void> preview(App& app, const Invocation& invocation) {
  auto limit = number_flag(invocation, "limit", 20, 1, 100);
  if (!limit) return app.usage(limit.error().message());
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  SAMOVAR_TRY(json answer, app.get(dataset_path(dataset) + "/preview", version_query(invocation)));
  if (app.json_like()) return print_json(app, answer);
  // Rows as objects of "0", "1", …: names of columns may be anything, a pointer may not.
  json items = json::array();
  std::vector<std::string> titles;
  std::vector<std::string> pointers;
  const json& columns = answer["columns"];
  for (std::size_t i = 0; i < columns.size(); ++i) {
    titles.push_back(printable(columns[i].value("name", "")));
    pointers.push_back("/" + std::to_string(i));
  }
  std::vector<Column> shown;
  for (std::size_t i = 0; i < titles.size(); ++i) shown.push_back({titles[i], pointers[i]});
  for (const json& row : answer["rows"]) {
    if (static_cast<long>(items.size()) == *limit) break;
    json item = json::object();
    for (std::size_t i = 0; i < row.size(); ++i) item[std::to_string(i)] = row[i];
    items.push_back(std::move(item));
  }
  if (app.output() == Output::csv) {
    std::string out;
    for (std::size_t i = 0; i < titles.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(titles[i]);
    out += "\r\n";
    for (const json& item : items) {
      for (std::size_t i = 0; i < titles.size(); ++i) {
        const json cell = item.value(std::to_string(i), json());
        out += (i == 0 ? "" : ",") + csv_cell(cell.is_string() ? cell.get<std::string>() : std::string());
      }
      out += "\r\n";
    }
    app.io().out(out);
    return {};
  }
  app.io().out(table_text(app, items, shown));
  return {};
}

Result<void> profile(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  Query query = version_query(invocation);
  if (invocation.has("target")) query.emplace_back("target", std::string(invocation.flag("target")));
  SAMOVAR_TRY(json answer, app.get(dataset_path(dataset) + "/profile", query));
  if (app.json_like()) return print_json(app, answer);
  json items = answer.value("columns", json::array());
  for (json& column : items) {
    if (column.contains("levels") && column["levels"].is_array() && !column["levels"].empty()) {
      std::string top;
      for (std::size_t i = 0; i < std::min<std::size_t>(3, column["levels"].size()); ++i)
        top += (i == 0 ? "" : ", ") + cell_text(column["levels"][i], {"", "/value"});
      column["top"] = top;
    }
    for (const char* number : {"min", "max", "mean", "sd", "correlation"}) {
      if (column.contains(number) && column[number].is_number_float())
        column[number] = fmt::format("{:.6g}", column[number].get<double>());
    }
    if (column.contains("quantiles") && column["quantiles"].is_object() &&
        column["quantiles"].value("0.5", json()).is_number())
      column["quantiles"]["0.5"] = fmt::format("{:.6g}", column["quantiles"]["0.5"].get<double>());
  }
  app.note(fmt::format("{} rows, {} bad rows", cell_text(answer, {"", "/rows", Shape::count}),
                       cell_text(answer, {"", "/bad_rows", Shape::count})));
  std::vector<Column> columns = kProfile;
  if (!invocation.has("target")) columns.pop_back();
  return show_list(app, {{"items", items}}, columns, "/name");
}

Result<void> shards(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  SAMOVAR_TRY(json answer, app.get(dataset_path(dataset) + "/shards"));
  if (app.json_like()) return print_json(app, answer);
  for (json& shard : answer["items"]) {
    shard["where"] = json::array();
    for (const json& node : shard["nodes"]) {
      const bool away = node.value("state", "") == "unreachable";
      shard["where"].push_back(node_name(node) + (away ? " (unreachable)" : ""));
    }
  }
  SAMOVAR_CHECK(show_list(app, answer, kShards, "/number"));
  if (answer.contains("copies_now")) {
    app.note(fmt::format("Copies of each within reach: {}, wanted: {}. Nodes that may fail: {}.",
                         cell_text(answer, {"", "/copies_now"}), cell_text(answer, {"", "/copies_wanted"}),
                         cell_text(answer, {"", "/may_lose"})));
  } else {
    app.note(fmt::format("Copies of each: {}. Nodes that may fail: {}.", cell_text(answer, {"", "/copies"}),
                         cell_text(answer, {"", "/tolerates"})));
  }
  return {};
}

Result<void> download(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  Call call;
  call.path = dataset_path(dataset) + "/download";
  call.query = version_query(invocation);
  return save_stream(app, std::move(call), std::string(invocation.flag("out")));
}

Result<void> bad_rows(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  Call call;
  call.path = dataset_path(dataset) + "/bad-rows";
  call.query = version_query(invocation);
  return save_stream(app, std::move(call), std::string(invocation.flag("out")));
}

Result<void> formats(App& app, const Invocation&) {
  SAMOVAR_TRY(json all, app.get("/formats"));
  return show_list(app, all, kFormats);
}

}  // namespace

void add_data_change(Table& table);  // data_change.cpp

void add_data(Table& table) {
  const Argument name{"DATASET", "Name or id", true, false, Complete::datasets};
  const Flag version{"version", 0, "N", "An earlier version (default: the latest)"};
  const Flag out{"out", 0, "FILE", "Write to this file instead of stdout", {}, Complete::file};
  const Flag no_wait{"no-wait", 0, {}, "Print the operation's id and leave it to the box"};
  auto& rows = table.commands;
  rows.push_back(
      {"data",
       "list",
       "List data sets",
       "Your own and those shared with you; an administrator sees all, without their rows.",
       {},
       {{"bin", 0, {}, "Those in the bin"}, {"search", 0, "TEXT", "Only those with this text in the name"}},
       {{"samovar data list", ""}, {"samovar data list --bin", "what can be restored"}},
       &list});
  rows.push_back(
      {"data", "show", "Show one data set", "", {name}, {}, {{"samovar data show Readmissions", ""}}, &show});
  std::vector<Flag> schema_flags = {{"set", 0, "COLUMN=TYPE", "Same as --type; may be repeated"}};
  for (const Flag& flag : column_flags()) schema_flags.push_back(flag);
  for (const Flag& flag : hint_flags()) schema_flags.push_back(flag);
  schema_flags.insert(schema_flags.end(), {version, no_wait, kProgressFlag});
  rows.push_back(
      {"data",
       "schema",
       "Show the columns, or change them",
       "A change makes a new version out of the file that was uploaded; nothing is sent again.",
       {name},
       schema_flags,
       {{"samovar data schema Readmissions", ""},
        {"samovar data schema Readmissions --set ward=category --rename los=stay_days", "a new version"}},
       &schema});
  rows.push_back({"data",
                  "preview",
                  "Show the first rows",
                  "Sensitive columns are masked.",
                  {name},
                  {{"limit", 0, "N", "How many, up to 100 (default 20)"}, version},
                  {{"samovar data preview Readmissions --limit 5", ""}},
                  &preview});
  rows.push_back(
      {"data",
       "profile",
       "Show what the columns hold",
       "Missing and distinct values, range, mean, most frequent values. Small counts are left out for "
       "those who may not read rows.",
       {name},
       {{"target", 0, "COLUMN", "Also how each column goes with this one"}, version},
       {{"samovar data profile Readmissions --target readmitted", ""}},
       &profile});
  rows.push_back({"data",
                  "shards",
                  "Show the pieces and where they lie",
                  "",
                  {name},
                  {},
                  {{"samovar data shards Readmissions", ""}},
                  &shards});
  rows.push_back(
      {"data",
       "download",
       "Write the rows as CSV",
       "Recorded in the audit log. Cells that a spreadsheet would run as a formula are disarmed with '.",
       {name},
       {out, version, kProgressFlag},
       {{"samovar data download Readmissions --out readmissions.csv", ""}},
       &download});
  rows.push_back({"data",
                  "bad-rows",
                  "Write the rows that could not be read, with line and reason, as CSV",
                  "",
                  {name},
                  {out, version, kProgressFlag},
                  {{"samovar data bad-rows Readmissions", ""}},
                  &bad_rows});
  rows.push_back({"data",
                  "formats",
                  "List what kinds of files are read",
                  "",
                  {},
                  {},
                  {{"samovar data formats", ""}},
                  &formats});
  add_data_change(table);
}

}  // namespace samovar::cli
