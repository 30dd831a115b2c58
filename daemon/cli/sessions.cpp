// sessions: who is logged in where.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kSessions = {{"USER", "/user/username"},
                                       {"KIND", "/kind"},
                                       {"ADDRESS", "/address"},
                                       {"SINCE", "/created_at", Shape::time},
                                       {"LAST SEEN", "/last_seen_at", Shape::time},
                                       {"ID", "/id"},
                                       {"PROGRAM", "/user_agent", Shape::text, true},
                                       {"EXPIRES", "/expires_at", Shape::time, true}};

Result<void> list(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json sessions,
              app.get_list("/sessions", invocation.has("all") ? Query{{"all", "true"}} : Query{}));
  return show_list(app, sessions, kSessions);
}

Result<void> revoke(App& app, const Invocation& invocation) {
  Call call;
  call.method = "DELETE";
  call.path = "/sessions/" + url_encode(invocation.argument(0));
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  app.note("That session is over.");
  return {};
}

}  // namespace

void add_sessions(Table& table) {
  table.nouns.push_back({"sessions", "Who is logged in where"});
  table.commands.push_back({"sessions",
                            "list",
                            "List your sessions",
                            "",
                            {},
                            {{"all", 'a', {}, "Those of all users (administrators)"}},
                            {{"samovar sessions list", ""}, {"samovar sessions list --all -o wide", ""}},
                            &list});
  table.commands.push_back({"sessions",
                            "revoke",
                            "End a session",
                            "",
                            {{"ID", "Id of the session", true, false, Complete::sessions}},
                            {},
                            {{"samovar sessions revoke ses_01JCD", ""}},
                            &revoke});
}

}  // namespace samovar::cli
