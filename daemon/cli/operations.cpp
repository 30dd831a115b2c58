// operations: work that the box does by itself, such as reading an upload.
#include "daemon/cli/operations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr long kAskMs = 500;
constexpr unsigned kFailuresMax = 12;

const std::vector<Column> kOperations = {{"ID", "/id"},
                                         {"KIND", "/kind"},
                                         {"TITLE", "/title"},
                                         {"STATE", "/state", Shape::text, false, true},
                                         {"STEP", "/step"},
                                         {"DONE", "/done_bytes", Shape::bytes},
                                         {"OF", "/total_bytes", Shape::bytes},
                                         {"ROWS", "/rows"},
                                         {"BEGUN", "/created_at", Shape::time},
                                         {"BAD ROWS", "/bad_rows", Shape::text, true},
                                         {"ENDED", "/ended_at", Shape::time, true},
                                         {"DATA SET", "/dataset_id", Shape::text, true},
                                         {"ERROR", "/error", Shape::text, true}};

const std::vector<Column> kOperation = {{"Id", "/id"},
                                        {"Kind", "/kind"},
                                        {"Title", "/title"},
                                        {"State", "/state", Shape::text, false, true},
                                        {"Step", "/step"},
                                        {"Done", "/done_bytes", Shape::bytes},
                                        {"Of", "/total_bytes", Shape::bytes},
                                        {"Rows", "/rows"},
                                        {"Bad rows", "/bad_rows"},
                                        {"Place in the queue", "/queue_position"},
                                        {"Data set", "/dataset_id"},
                                        {"Version", "/version"},
                                        {"Begun", "/created_at", Shape::time},
                                        {"Ended", "/ended_at", Shape::time},
                                        {"Error", "/error"}};

std::string path_of(const std::string& id) { return "/operations/" + url_encode(id); }

bool ended(const json& operation) {
  const std::string state = operation.value("state", "");
  return state == "done" || state == "failed" || state == "cancelled";
}

Error left_running(const std::string& id) {
  return Error{Errc::io,
               fmt::format("interrupted; the box goes on with it. Wait for it with: samovar operations "
                           "wait {}, or end it with: samovar operations cancel {}",
                           id, id)};
}

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json all, app.get_list("/operations"));
  return show_list(app, all, kOperations);
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json one, app.get(path_of(std::string(invocation.argument(0)))));
  return show_record(app, one, kOperation);
}

Result<void> cancel(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  Call call;
  call.method = "POST";
  call.path = path_of(id) + ":cancel";
  call.creates = true;
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json answer = json::parse(reply.body, nullptr, false);
  if (app.json_like() && answer.is_object()) return print_json(app, answer);
  app.note(fmt::format("Cancelled {}.", id));
  return {};
}

Result<void> wait(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json last, wait_operation(app, std::string(invocation.argument(0))));
  return show_record(app, last, kOperation);
}

}  // namespace

std::string operation_sentence(const json& operation) {
  const std::string state = operation.value("state", "");
  if (state == "queued" && operation.value("queue_position", 0U) > 0)
    return fmt::format("waiting, {} before it", operation.value("queue_position", 0U));
  if (state == "queued") return "waiting";
  return operation.value("step", "");
}

Result<json> wait_operation(App& app, const std::string& id) {
  unsigned failures = 0;
  json last;
  {
    Progress progress(app, "reading", id);
    for (;;) {
      auto asked = app.get(path_of(id));
      if (!asked) {
        // The box may be restarting: work that was accepted goes on afterwards.
        const bool away =
            app.problem_status() == 0 || app.problem_status() == 503 || app.problem_status() == 423;
        if (!away || ++failures > kFailuresMax) return std::move(asked).error();
        if (!app.io().pause_ms(std::min(10'000L, kAskMs << failures))) return left_running(id);
        continue;
      }
      failures = 0;
      last = *std::move(asked);
      progress.update(last.value("done_bytes", std::uint64_t{0}), last.value("total_bytes", std::uint64_t{0}),
                      operation_sentence(last));
      if (ended(last)) break;
      if (!app.io().pause_ms(kAskMs)) return left_running(id);
    }
    progress.flush();
  }
  const std::string state = last.value("state", "");
  if (state == "done") return last;
  if (app.json_like()) {
    SAMOVAR_CHECK(print_json(app, last));
    return app.stop(Exit::awaited_failed);
  }
  const std::string why =
      last.contains("error") && last["error"].is_string() ? last["error"].get<std::string>() : "";
  app.fails_with(Exit::awaited_failed);
  return Error{Errc::internal, state == "cancelled" ? "it was cancelled; nothing was made"
                               : why.empty()        ? "it failed"
                                                    : why};
}

void add_operations(Table& table) {
  const Argument id{"ID", "Id of the operation", true, false, Complete::operations};
  const Flag progress{"progress",     0, "HOW", "How to show progress on stderr", "auto|bar|lines|json|none",
                      Complete::words};
  table.nouns.push_back({"operations", "Work that the box does by itself"});
  table.commands.push_back({"operations",
                            "list",
                            "List what is being done and what was done",
                            "Yours; an administrator sees those of all users.",
                            {},
                            {},
                            {{"samovar operations list", ""}},
                            &list});
  table.commands.push_back({"operations",
                            "show",
                            "Show one operation",
                            "",
                            {id},
                            {},
                            {{"samovar operations show op_01JCD", ""}},
                            &show});
  table.commands.push_back(
      {"operations",
       "wait",
       "Wait until an operation has ended",
       "Exit code 0 when it is done, 8 when it failed or was cancelled. Ctrl-C leaves it running.",
       {id},
       {progress},
       {{"samovar operations wait op_01JCD", ""}},
       &wait});
  table.commands.push_back({"operations",
                            "cancel",
                            "End an operation; nothing is left of it",
                            "",
                            {id},
                            {},
                            {{"samovar operations cancel op_01JCD", ""}},
                            &cancel});
}

}  // namespace samovar::cli
