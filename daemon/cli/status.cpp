// status and top: the box at a glance, once or live.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/cli/app.hpp"
#include "daemon/cli/nodes.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kPhase = {{"Phase", "/phase", Shape::text, false, true},
                                    {"Version", "/version"},
                                    {"Host name", "/node/hostname"},
                                    {"Model", "/node/model"},
                                    {"Node", "/node/id"}};

const std::vector<Column> kAlerts = {{"SEVERITY", "/severity", Shape::text, false, true},
                                     {"ALERT", "/title"},
                                     {"WHAT TO DO", "/remedy"},
                                     {"SINCE", "/since", Shape::time, true}};

std::string status_text(App& app, const json& cluster, const json& alerts) {
  const std::string state = cell_text(cluster, {"", "/health/state"});
  const std::string_view paint = app.color() ? state_color(state) : std::string_view();
  std::string out = fmt::format("{}  {}{}{}  {}\n\n", cell_text(cluster, {"", "/name"}), paint, state,
                                paint.empty() ? "" : "\x1b[0m", cell_text(cluster, {"", "/health/summary"}));
  const bool estimated = cluster.value("/power/estimated"_json_pointer, false);
  out += fmt::format("Nodes:    {} of {} up\n", cell_text(cluster, {"", "/nodes/up"}),
                     cell_text(cluster, {"", "/nodes/total"}));
  out += fmt::format("Power:    {}{}, {} Wh today\n", cell_text(cluster, {"", "/power/watts", Shape::watts}),
                     estimated ? " (estimated)" : "", cell_text(cluster, {"", "/power/energy_today_wh"}));
  out +=
      fmt::format("Storage:  {} free of {}\n", cell_text(cluster, {"", "/storage/free_bytes", Shape::bytes}),
                  cell_text(cluster, {"", "/storage/total_bytes", Shape::bytes}));
  out += fmt::format("Version:  {}\n", cell_text(cluster, {"", "/version"}));
  if (!alerts["items"].empty()) out += "\n" + table_text(app, alerts["items"], kAlerts);
  return out;
}

// Draws again in place, so that nothing flickers: home, each line cleared to its end, the rest below.
void redraw(App& app, const std::string& text) {
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K";
    out.push_back(c);
  }
  app.io().out(out + "\x1b[J");
}

using Frame = Result<void> (*)(App&, std::string&);

Result<void> watch(App& app, const Invocation& invocation, Frame frame) {
  auto interval = number_flag(invocation, "interval", 2, 1, 3600);
  if (!interval) return app.usage(interval.error().message());
  const bool draw = app.io().out_is_terminal() && !app.json_like();
  if (draw) app.io().out("\x1b[?25l\x1b[2J");
  for (;;) {
    std::string text;
    auto made = frame(app, text);
    if (made && draw) redraw(app, text);
    if (made && !draw) app.io().out(text);
    const bool go_on = made && app.io().pause_ms(*interval * 1000);
    if (go_on) continue;
    if (draw) app.io().out("\x1b[?25h\n");
    if (!made) return made;
    return app.stop(Exit::interrupted);
  }
}

Result<void> status_frame(App& app, std::string& text) {
  SAMOVAR_TRY(json cluster, app.get("/cluster"));
  if (app.json_like()) {
    text = cluster.dump(app.invocation().has("watch") ? -1 : 2, ' ', false, json::error_handler_t::replace) +
           "\n";
    return {};
  }
  SAMOVAR_TRY(json alerts, app.get_list("/alerts"));
  text = status_text(app, cluster, alerts);
  return {};
}

Result<void> top_frame(App& app, std::string& text) {
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  if (app.json_like()) {
    for (const json& node : nodes["items"])
      text += node.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    return {};
  }
  text = table_text(app, nodes["items"], node_columns());
  return {};
}

Result<void> status(App& app, const Invocation& invocation) {
  Call call;
  call.path = "/setup";
  call.anonymous = true;
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json setup = json::parse(reply.body, nullptr, false);
  if (!setup.is_object())
    return Error{Errc::corrupt, fmt::format("{} does not answer as a box does", app.server())};
  const std::string phase = setup.value("phase", "");
  if (phase != "ready") {
    SAMOVAR_CHECK(show_record(app, setup, kPhase));
    if (phase == "new") app.note("Set it up: samovar init");
    if (phase == "locked") app.note("Unlock it: samovar unlock");
    return {};
  }
  if (!app.logged_in() && !app.json_like()) {
    SAMOVAR_CHECK(show_record(app, setup, kPhase));
    return Error{Errc::denied, "log in to see more: samovar login"};
  }
  if (invocation.has("watch")) return watch(app, invocation, &status_frame);
  if (app.json_like()) {
    SAMOVAR_TRY(json cluster, app.get("/cluster"));
    return print_json(app, cluster);
  }
  std::string text;
  SAMOVAR_CHECK(status_frame(app, text));
  app.io().out(text);
  return {};
}

Result<void> top(App& app, const Invocation& invocation) {
  if (app.io().out_is_terminal() || invocation.has("interval")) return watch(app, invocation, &top_frame);
  // Into a pipe or file: one picture, as `top -b -n 1` gives.
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  return show_list(app, nodes, node_columns());
}

}  // namespace

void add_status(Table& table) {
  const Flag interval{"interval", 'n', "SECONDS", "Time between two pictures (default 2)"};
  table.commands.push_back(
      {"",
       "status",
       "Show health, power, storage and alerts",
       "Without a login only the phase of the box is shown: new, locked, starting or ready.",
       {},
       {{"watch", 'w', {}, "Keep showing it until Ctrl-C"}, interval},
       {{"samovar status", ""},
        {"samovar status --watch", "live"},
        {"samovar status --json", "for a script"}},
       &status});
  table.commands.push_back(
      {"",
       "top",
       "Watch the nodes' load, heat and power live",
       "Ctrl-C ends it. Without a terminal the table is printed once.",
       {},
       {interval},
       {{"samovar top", ""},
        {"samovar top -o jsonl -n 10 >> load.jsonl", "record a line per node each 10 s"}},
       &top});
}

}  // namespace samovar::cli
