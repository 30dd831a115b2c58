// jobs: trainings that wait, run or have ended.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/job_follow.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kJobs = {{"ID", "/id"},
                                   {"MODEL", "/name"},
                                   {"KIND", "/kind"},
                                   {"STATE", "/state", Shape::text, false, true},
                                   {"DONE", "/share", Shape::percent},
                                   {"DATA", "/dataset"},
                                   {"TARGET", "/target"},
                                   {"TIME", "/seconds", Shape::duration},
                                   {"OWNER", "/owner"},
                                   {"CREATED", "/created_at", Shape::time},
                                   {"STEP", "/step", Shape::text, true},
                                   {"ROWS", "/rows", Shape::count, true},
                                   {"METRIC", "/metric", Shape::text, true},
                                   {"BEST", "/best", Shape::text, true},
                                   {"WH", "/watt_hours", Shape::text, true},
                                   {"VERSION", "/model_version", Shape::text, true},
                                   {"PROTECTED", "/protected", Shape::yes, true},
                                   {"ERROR", "/error", Shape::text, true},
                                   {"PRIORITY", "/priority", Shape::text, true}};

const std::vector<Column> kJob = {{"Id", "/id"},
                                  {"Model", "/name"},
                                  {"Kind", "/kind"},
                                  {"State", "/state", Shape::text, false, true},
                                  {"Done", "/share", Shape::percent},
                                  {"Step", "/step"},
                                  {"Pass", "/pass"},
                                  {"Rows", "/rows", Shape::count},
                                  {"Rows per second", "/rows_per_second", Shape::count},
                                  {"Time", "/seconds", Shape::duration},
                                  {"Time left", "/seconds_left", Shape::duration},
                                  {"Time to target", "/summary/seconds_to_target", Shape::duration},
                                  {"Energy, Wh", "/watt_hours"},
                                  {"Give or take, Wh", "/watt_hours_error"},
                                  {"Energy is estimated", "/energy_estimated", Shape::yes},
                                  {"All nodes drew", "/box_watts", Shape::watts},
                                  {"At most", "/power/watts", Shape::watts},
                                  {"May draw now", "/power/granted_watts", Shape::watts},
                                  {"Deadline", "/power/deadline", Shape::time},
                                  {"Will be late", "/power/late", Shape::yes},
                                  {"Was in time", "/summary/in_time", Shape::yes},
                                  {"Metric", "/metric"},
                                  {"Best", "/best"},
                                  {"Place in the queue", "/queue_position"},
                                  {"Priority", "/priority"},
                                  {"Looked after by", "/home"},
                                  {"Computes on", "/device_text"},
                                  {"Waits", "/waiting_for"},
                                  {"Attempt", "/attempt"},
                                  {"Checkpoint at step", "/checkpoint_step", Shape::count},
                                  {"Data set", "/dataset"},
                                  {"Version of it", "/dataset_version"},
                                  {"Target", "/target"},
                                  {"Owner", "/owner"},
                                  {"Created", "/created_at", Shape::time},
                                  {"Started", "/started_at", Shape::time},
                                  {"Ended", "/ended_at", Shape::time},
                                  {"Made version", "/model_version"},
                                  {"Protected", "/protected", Shape::yes},
                                  {"Error", "/error"}};

// As they come: newest first. By priority: the most urgent first, and of those whoever waits at the front.
Result<void> sort_jobs(App& app, json& all, std::string_view by) {
  if (by == "created") return {};
  if (by != "priority") return app.usage(fmt::format("--sort is created or priority, not \"{}\"", by));
  const auto items = all.find("items");
  if (items == all.end() || !items->is_array()) return {};
  auto& jobs = items->get_ref<json::array_t&>();
  std::stable_sort(jobs.begin(), jobs.end(), [](const json& a, const json& b) {
    const int first = a.value("priority", 0);
    const int second = b.value("priority", 0);
    return first != second ? first > second : a.value("queue_position", 0) < b.value("queue_position", 0);
  });
  return {};
}

Result<void> list(App& app, const Invocation& invocation) {
  auto limit = number_flag(invocation, "limit", 50, 0, 100'000);
  if (!limit) return app.usage(limit.error().message());
  Query query;
  if (invocation.has("state")) query.emplace_back("state", std::string(invocation.flag("state")));
  SAMOVAR_TRY(json all, app.get_list("/jobs", query, *limit));
  if (invocation.has("sort")) SAMOVAR_CHECK(sort_jobs(app, all, invocation.flag("sort")));
  return show_list(app, all, kJobs);
}

// Rates and energies have more digits than anybody reads.
json rounded(json job) {
  for (const char* key : {"watt_hours", "watt_hours_error", "best"}) {
    if (job.contains(key) && job[key].is_number()) job[key] = fmt::format("{:.6g}", job[key].get<double>());
  }
  if (job.contains("rows_per_second") && job["rows_per_second"].is_number())
    job["rows_per_second"] = static_cast<std::int64_t>(job["rows_per_second"].get<double>());
  return job;
}

// Of a training over several nodes.
const std::vector<Column> kWorkers = {{"WORKER", "/number"},
                                      {"NODE", "/node"},
                                      {"STATE", "/state", Shape::text, false, true},
                                      {"LEAD", "/lead", Shape::yes},
                                      {"ROWS", "/rows", Shape::count},
                                      {"ROWS/S", "/samples_per_second", Shape::count},
                                      {"LOSS", "/loss"},
                                      {"SENT", "/bytes_sent", Shape::bytes},
                                      {"WAITED, S", "/wait_seconds"},
                                      {"WATTS", "/watts", Shape::watts},
                                      {"JOULES", "/joules"},
                                      {"GIVE OR TAKE", "/joules_error"}};

json rounded_workers(json workers) {
  for (json& worker : workers) {
    for (const char* key : {"loss", "wait_seconds", "joules", "joules_error"})
      if (worker.contains(key) && worker[key].is_number())
        worker[key] = fmt::format("{:.4g}", worker[key].get<double>());
    const auto rate = worker.find("samples_per_second");
    if (rate != worker.end() && rate->is_number()) *rate = static_cast<std::int64_t>(rate->get<double>());
  }
  return workers;
}

// "cuda Orin", or by node where there are several; and why not on a GPU, where one was to be had.
std::string device_text(const json& devices) {
  std::string text;
  for (const json& one : devices) {
    if (!text.empty()) text += "; ";
    if (devices.size() > 1) text += cell_text(one, {"", "/node"}) + ": ";
    text += one.value("device", json()).is_string() ? cell_text(one, {"", "/device"}) : "not known yet";
    if (one.value("note", json()).is_string()) text += " (" + cell_text(one, {"", "/note"}) + ")";
  }
  return text;
}

// What a job asked for of the power, and came of it: only where there is something to say.
std::vector<Column> columns_of(const json& job) {
  std::vector<Column> columns = kJob;
  std::erase_if(columns, [&job](const Column& column) {
    const bool about_power = column.pointer.starts_with("/power/") || column.pointer == "/box_watts" ||
                             column.pointer == "/watt_hours_error" || column.pointer == "/summary/in_time";
    if (!about_power && column.pointer != "/device_text") return false;
    const json::json_pointer pointer{std::string(column.pointer)};
    return !job.contains(pointer) || job[pointer].is_null();
  });
  return columns;
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json job, app.get(job_path(invocation.argument(0))));
  const json workers = job.value("workers", json::array());
  const json events = job.value("events", json::array());
  const json devices = job.value("devices", json::array());
  if (!app.json_like() && !devices.empty()) job["device_text"] = device_text(devices);
  const std::vector<Column> columns = columns_of(job);
  SAMOVAR_CHECK(show_record(app, app.json_like() ? job : rounded(std::move(job)), columns));
  if (app.json_like() || app.quiet() || app.output() == Output::csv) return {};
  if (!workers.empty()) {
    app.io().out("\n");
    SAMOVAR_CHECK(show_list(app, json{{"items", rounded_workers(workers)}}, kWorkers));
  }
  std::string text;
  for (const json& event : events)
    text +=
        fmt::format("{}  {}\n", cell_text(event, {"", "/at", Shape::time}), cell_text(event, {"", "/text"}));
  if (!text.empty()) app.io().out("\n" + text);
  return {};
}

Result<void> act(App& app, const Invocation& invocation, const char* verb, const char* said) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "POST";
  call.path = fmt::format("{}:{}", job_path(id), verb);
  call.creates = true;
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json job = json::parse(reply.body, nullptr, false);
  if (app.json_like() && job.is_object()) return print_json(app, job);
  app.note(fmt::format(fmt::runtime(said), id));
  return {};
}

Result<void> pause(App& app, const Invocation& invocation) {
  return act(app, invocation, "pause",
             "{0} stops at its next checkpoint; go on with: samovar jobs resume {0}");
}
Result<void> resume(App& app, const Invocation& invocation) {
  return act(app, invocation, "resume", "{} goes on.");
}
Result<void> cancel(App& app, const Invocation& invocation) {
  return act(app, invocation, "cancel", "Cancelled {0}. Its last checkpoint is kept: samovar jobs retry {0}");
}
Result<void> retry(App& app, const Invocation& invocation) {
  return act(app, invocation, "retry", "{0} is in the queue again; wait for it with: samovar jobs wait {0}");
}

Result<void> wait(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json job, wait_job(app, std::string(invocation.argument(0))));
  if (app.json_like()) return print_json(app, job);
  if (app.quiet() || !job.contains("model_version") || !job["model_version"].is_number()) return {};
  return print_evaluation(app, {job.value("name", ""), job["model_version"].get<std::uint32_t>()}, 8, false);
}

Result<void> change_protection(App& app, const Invocation& invocation, bool on) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "PATCH";
  call.path = job_path(id);
  call.body = json{{"protected", on}}.dump();
  call.headers.emplace_back("If-Match", "*");
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json job = json::parse(reply.body, nullptr, false);
  if (app.json_like() && job.is_object()) return print_json(app, job);
  app.note(on ? fmt::format("{} cannot be deleted now.", id) : fmt::format("{} can be deleted now.", id));
  return {};
}

Result<void> protect(App& app, const Invocation& invocation) {
  return change_protection(app, invocation, true);
}
Result<void> unprotect(App& app, const Invocation& invocation) {
  return change_protection(app, invocation, false);
}

Result<void> prioritize(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "PATCH";
  call.path = job_path(id);
  call.body = json{{"priority", priority_value(std::string(invocation.argument(1)))}}.dump();
  call.headers.emplace_back("If-Match", "*");
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json job = json::parse(reply.body, nullptr, false);
  if (app.json_like() && job.is_object()) return print_json(app, job);
  const int place = job.is_object() ? job.value("queue_position", 0) : 0;
  app.note(place > 0 ? fmt::format("{} is number {} in the queue.", id, place)
                     : fmt::format("{} has another priority for when it waits again.", id));
  return {};
}

Result<void> remove(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  SAMOVAR_CHECK(app.confirm(fmt::format("Deleting the job {}", id), id));
  Call call;
  call.method = "DELETE";
  call.path = job_path(id);
  auto done = app.call(std::move(call));
  if (!done) return std::move(done).error();
  app.note(fmt::format("Deleted {}. The model it made is kept.", id));
  return {};
}

}  // namespace

void add_jobs(Table& table) {
  const Argument id{"ID", "Id of the job", true, false, Complete::jobs};
  const Flag follow{"follow", 'f', {}, "Go on until the job has ended; Ctrl-C leaves it running"};
  auto& rows = table.commands;
  const auto add = [&](std::string_view name, std::string_view summary, std::string_view description,
                       std::vector<Flag> flags, std::vector<Example> examples, Handler handler) {
    rows.push_back(
        {"jobs", name, summary, description, {id}, std::move(flags), std::move(examples), handler});
  };
  table.nouns.push_back({"jobs", "Trainings that wait, run or have ended"});
  rows.push_back({"jobs",
                  "list",
                  "List jobs, newest first",
                  "Yours and those on data shared with you; an administrator sees all.",
                  {},
                  {{"state", 0, "STATE", "Only those in this state",
                    "queued|running|paused|done|failed|cancelled", Complete::words},
                   {"sort", 0, "BY", "created (default), or priority: the most urgent first",
                    "created|priority", Complete::words},
                   {"limit", 0, "N", "How many at most; 0 for all (default 50)"}},
                  {{"samovar jobs list", ""},
                   {"samovar jobs list --state running -o wide", ""},
                   {"samovar jobs list --state queued --sort priority", "in the order they will begin"}},
                  &list});
  add("show", "Show one job", "", {}, {{"samovar jobs show job_01JCD", ""}}, &show);
  add("logs", "Show what a job has written", "", {follow},
      {{"samovar jobs logs job_01JCD -f", "as it comes"}}, &show_logs);
  add("metrics", "Show the losses and rates measured during training",
      "A line per point. With --json the answer by columns; with -o jsonl or csv a line per point for a "
      "program.",
      {follow},
      {{"samovar jobs metrics job_01JCD -f", "as they come"}, {"samovar jobs metrics job_01JCD -o csv", ""}},
      &show_metrics);
  add("pause", "Stop a job after saving a checkpoint", "", {}, {{"samovar jobs pause job_01JCD", ""}},
      &pause);
  add("resume", "Go on with a paused job", "It ends with the same bits as without the pause.", {},
      {{"samovar jobs resume job_01JCD", ""}}, &resume);
  add("cancel", "End a job; its last checkpoint is kept", "", {}, {{"samovar jobs cancel job_01JCD", ""}},
      &cancel);
  add("retry", "Start a failed or cancelled job again, from its last checkpoint", "", {},
      {{"samovar jobs retry job_01JCD", ""}}, &retry);
  add("wait", "Wait until a job has ended, and show how good its model is",
      "Exit code 0 when it is done, 8 when it failed or was cancelled. Ctrl-C leaves it running.",
      {kProgressFlag}, {{"samovar jobs wait job_01JCD", ""}}, &wait);
  add("protect", "Keep a job from being deleted", "", {}, {{"samovar jobs protect job_01JCD", ""}}, &protect);
  add("unprotect", "Let a protected job be deleted again", "", {}, {{"samovar jobs unprotect job_01JCD", ""}},
      &unprotect);
  rows.push_back(
      {"jobs",
       "priority",
       "Say how urgent a job is",
       "low, normal, high or a number from -100 to 100. Of the jobs that wait the most urgent begins "
       "first, of equal ones the oldest. One that runs is not interrupted.",
       {id, {"PRIORITY", "low, normal, high or a number", true, false, Complete::words, "low|normal|high"}},
       {},
       {{"samovar jobs priority job_01JCD high", ""}},
       &prioritize});
  add("delete", "Delete a job that has ended, with its log and checkpoints", "The model it made is kept.", {},
      {{"samovar jobs delete job_01JCD --yes", ""}}, &remove);
}

}  // namespace samovar::cli
