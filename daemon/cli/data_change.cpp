// data: keeping data sets: bin, sharing, the sample, checking the disk.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/operations.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

std::string name_of(const json& dataset) { return cell_text(dataset, {"", "/name"}); }

Result<HttpReply> act(App& app, const char* method, std::string path) {
  Call call;
  call.method = method;
  call.path = std::move(path);
  call.creates = call.method == "POST";
  return app.call(std::move(call));
}

Result<void> remove(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  auto done = act(app, "DELETE", dataset_path(dataset));
  if (!done) return std::move(done).error();
  app.note(fmt::format("{} is in the bin for 30 days; bring it back with: samovar data restore {}",
                       name_of(dataset), dataset.value("id", "")));
  return {};
}

Result<void> restore(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0), Where::bin));
  SAMOVAR_TRY(HttpReply reply, act(app, "POST", dataset_path(dataset) + ":restore"));
  const json now = json::parse(reply.body, nullptr, false);
  if (app.json_like() && now.is_object()) return print_json(app, now);
  app.note(fmt::format("{} is back.", name_of(dataset)));
  return {};
}

Result<void> destroy(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0), Where::bin));
  SAMOVAR_CHECK(
      app.confirm(fmt::format("Destroying the data set {}", name_of(dataset)), dataset.value("name", "")));
  auto done = act(app, "POST", dataset_path(dataset) + ":destroy");
  if (!done) return std::move(done).error();
  app.note(
      fmt::format("Destroyed {}: its keys are gone. The certificate is in the audit log: samovar audit list "
                  "--action dataset.destroyed",
                  name_of(dataset)));
  return {};
}

Result<void> share(App& app, const Invocation& invocation, const char* method, const char* said) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  const std::string user(invocation.argument(1));
  SAMOVAR_TRY(std::string id, user_id_of(app, user));
  auto done = act(app, method, dataset_path(dataset) + "/grants/" + url_encode(id));
  if (!done) return std::move(done).error();
  app.note(fmt::format(fmt::runtime(said), user, name_of(dataset)));
  return {};
}

Result<void> grant(App& app, const Invocation& invocation) {
  return share(app, invocation, "PUT", "{} may use {} now.");
}

Result<void> ungrant(App& app, const Invocation& invocation) {
  return share(app, invocation, "DELETE", "{} may no longer use {}.");
}

Result<void> set_copies(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json dataset, find_dataset(app, invocation.argument(0)));
  const std::string word(invocation.argument(1));
  if (word.size() != 1 || word[0] < '0' || word[0] > '7')
    return app.usage("say how many copies: 1 to 7, or 0 for what the cluster chooses");
  Call call;
  call.method = "PATCH";
  call.path = dataset_path(dataset);
  call.headers.emplace_back("If-Match", "*");
  call.body = json{{"copies", word[0] - '0'}}.dump();
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json now = json::parse(reply.body, nullptr, false);
  if (app.json_like() && now.is_object()) return print_json(app, now);
  app.note(fmt::format(
      "Copies are made or given up in the background; \"samovar data shards {}\" shows where they lie.",
      dataset.value("id", "")));
  return {};
}

Result<void> start_and_wait(App& app, const Invocation& invocation, const char* path) {
  SAMOVAR_TRY(HttpReply reply, act(app, "POST", path));
  const json operation = json::parse(reply.body, nullptr, false);
  if (!operation.is_object())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  if (invocation.has("no-wait")) {
    if (app.json_like()) return print_json(app, operation);
    app.io().out(operation.value("id", "") + "\n");
    return {};
  }
  SAMOVAR_TRY(json done, wait_operation(app, operation.value("id", "")));
  const std::string dataset = done.contains("dataset_id") && done["dataset_id"].is_string()
                                  ? done["dataset_id"].get<std::string>()
                                  : std::string();
  if (dataset.empty()) {
    if (app.json_like()) return print_json(app, done);
    app.note("Done.");
    return {};
  }
  SAMOVAR_TRY(json made, app.get("/datasets/" + url_encode(dataset)));
  return show_record(app, made, kDatasetRecord);
}

Result<void> sample(App& app, const Invocation& invocation) {
  return start_and_wait(app, invocation, "/datasets:sample");
}

Result<void> scrub(App& app, const Invocation& invocation) {
  return start_and_wait(app, invocation, "/datasets:scrub");
}

}  // namespace

void add_data_change(Table& table) {
  const Argument name{"DATASET", "Name or id", true, false, Complete::datasets};
  const Argument binned{"DATASET", "Name or id; \"samovar data list --bin\" shows them"};
  const Argument user{"USER", "Name or id of the user", true, false, Complete::users};
  const Flag no_wait{"no-wait", 0, {}, "Print the operation's id and leave it to the box"};
  auto& rows = table.commands;
  rows.push_back({"data",
                  "delete",
                  "Put a data set into the bin",
                  "It can be restored for 30 days; then its keys are destroyed.",
                  {name},
                  {},
                  {{"samovar data delete Readmissions", ""}},
                  &remove});
  rows.push_back({"data",
                  "restore",
                  "Take a data set out of the bin",
                  "",
                  {binned},
                  {},
                  {{"samovar data restore Readmissions", ""}},
                  &restore});
  rows.push_back(
      {"data",
       "destroy",
       "Destroy a data set in the bin now",
       "For administrators. Its keys are destroyed, so that no copy of its files can be read again.",
       {binned},
       {},
       {{"samovar data destroy Readmissions", ""}},
       &destroy});
  rows.push_back({"data",
                  "set-copies",
                  "Choose on how many nodes a data set lies",
                  "More copies outlive more lost nodes and take more room. 0 leaves it to the cluster.",
                  {name, {"COPIES", "1 to 7, or 0"}},
                  {},
                  {{"samovar data set-copies Readmissions 3", ""}},
                  &set_copies});
  rows.push_back({"data",
                  "grant",
                  "Let a user read and train on a data set",
                  "",
                  {name, user},
                  {},
                  {{"samovar data grant Readmissions mara", ""}},
                  &grant});
  rows.push_back({"data",
                  "ungrant",
                  "Take that right back",
                  "",
                  {name, user},
                  {},
                  {{"samovar data ungrant Readmissions mara", ""}},
                  &ungrant});
  rows.push_back({"data",
                  "sample",
                  "Make a data set to try things with",
                  "A believable hospital readmission table that the box makes itself.",
                  {},
                  {no_wait, kProgressFlag},
                  {{"samovar data sample", ""}},
                  &sample});
  rows.push_back({"data",
                  "scrub",
                  "Check every stored byte against its hash",
                  "For administrators. The box also does this by itself each week.",
                  {},
                  {no_wait, kProgressFlag},
                  {{"samovar data scrub", ""}},
                  &scrub});
}

}  // namespace samovar::cli
