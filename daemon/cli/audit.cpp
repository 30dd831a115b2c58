// audit: the record of every act, and the proof that it was not changed.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kEntries = {{"SEQ", "/seq"},
                                      {"TIME (UTC)", "/time", Shape::time},
                                      {"ACTOR", "/actor"},
                                      {"ACTION", "/action"},
                                      {"OBJECT", "/object"},
                                      {"RESULT", "/result", Shape::text, false, true},
                                      {"ROLE", "/role", Shape::text, true},
                                      {"AUTH", "/auth", Shape::text, true},
                                      {"ADDRESS", "/address", Shape::text, true},
                                      {"DETAILS", "/details", Shape::text, true},
                                      {"HASH", "/hash", Shape::text, true}};

Query filters(const Invocation& invocation) {
  Query query;
  for (const char* name : {"actor", "action", "from", "to"}) {
    if (invocation.has(name)) query.emplace_back(name, std::string(invocation.flag(name)));
  }
  if (invocation.has("search")) query.emplace_back("q", std::string(invocation.flag("search")));
  return query;
}

Result<void> list(App& app, const Invocation& invocation) {
  auto limit = number_flag(invocation, "limit", 50, 0, 1000000);
  if (!limit) return app.usage(limit.error().message());
  SAMOVAR_TRY(json entries, app.get_list("/audit", filters(invocation), *limit));
  return show_list(app, entries, kEntries, "/seq");
}

Result<void> verify(App& app, const Invocation&) {
  Call call;
  call.method = "POST";
  call.path = "/audit:verify";
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json answer = json::parse(reply.body, nullptr, false);
  if (!answer.is_object())
    return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
  const bool ok = answer.value("ok", false);
  if (app.json_like()) {
    SAMOVAR_CHECK(print_json(app, answer));
  } else if (ok) {
    app.io().out(fmt::format("The chain holds: {} entries, head {}\n", cell_text(answer, {"", "/entries"}),
                             cell_text(answer, {"", "/head_hash"})));
  } else {
    app.io().out(fmt::format("THE CHAIN IS BROKEN at entry {}: {}\n",
                             cell_text(answer, {"", "/first_bad_seq"}), cell_text(answer, {"", "/message"})));
    app.note(
        "Entries from there on were changed or removed. Keep the disk as evidence and restore from a "
        "backup.");
  }
  if (!ok) return app.stop(Exit::failure);
  return {};
}

// Streams, because the log of years need not fit in memory.
Result<void> export_log(App& app, const Invocation& invocation) {
  Call call;
  call.path = "/audit/export";
  call.query = filters(invocation);
  const std::string path(invocation.flag("out"));
  if (path.empty()) {
    call.on_data = [&app](std::string_view chunk) {
      app.io().out(chunk);
      return true;
    };
    auto reply = app.call(std::move(call));
    if (!reply) return std::move(reply).error();
    return {};
  }
  const std::string part = path + ".part";
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Error{Errc::io, fmt::format("cannot write {}: {}", part, std::strerror(errno))};
  bool written = true;
  call.on_data = [fd, &written](std::string_view chunk) {
    while (written && !chunk.empty()) {
      const ssize_t n = ::write(fd, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      written = n >= 0;
      if (written) chunk.remove_prefix(static_cast<std::size_t>(n));
    }
    return written;
  };
  auto reply = app.call(std::move(call));
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  if (!reply || !written || !synced || ::rename(part.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(part.c_str());
    if (!reply && written) return std::move(reply).error();
    return Error{Errc::no_space, fmt::format("cannot write {}: {}", path, std::strerror(code))};
  }
  app.note(fmt::format("Wrote {}.", path));
  return {};
}

}  // namespace

void add_audit(Table& table) {
  const std::vector<Flag> filter_flags = {
      {"actor", 0, "USER", "Only what this user did", {}, Complete::users},
      {"action", 0, "ACTION", "Only this kind of act, such as user.create"},
      {"search", 0, "TEXT", "Only entries with this text"},
      {"from", 0, "TIME", "Not before, such as 2026-11-01T00:00:00Z"},
      {"to", 0, "TIME", "Not after"}};
  std::vector<Flag> list_flags = filter_flags;
  list_flags.push_back({"limit", 0, "N", "How many of the newest (default 50, 0 for all)"});
  std::vector<Flag> export_flags = filter_flags;
  export_flags.push_back({"out", 0, "FILE", "Write to this file instead of stdout", {}, Complete::file});
  table.nouns.push_back({"audit", "The record of every act"});
  table.commands.push_back(
      {"audit",
       "list",
       "List what was done, newest first",
       "",
       {},
       list_flags,
       {{"samovar audit list", ""}, {"samovar audit list --actor mara --limit 200 -o csv", ""}},
       &list});
  table.commands.push_back({"audit",
                            "verify",
                            "Check that no entry was changed or removed",
                            "Exit code 0 when the hash chain holds, 1 when it is broken.",
                            {},
                            {},
                            {{"samovar audit verify", ""}},
                            &verify});
  table.commands.push_back({"audit",
                            "export",
                            "Download the log as JSON lines",
                            "",
                            {},
                            export_flags,
                            {{"samovar audit export --out audit.jsonl", ""}},
                            &export_log});
}

}  // namespace samovar::cli
