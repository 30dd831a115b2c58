// status and top: the box at a glance, once or live.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json.hpp"
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

// ", board-1 leads", when there are others that could.
std::string leader_text(const json& nodes) {
  if (!nodes.contains("items") || nodes["items"].size() < 2) return {};
  for (const json& node : nodes["items"]) {
    if (node.is_object() && node.contains("leader") && node["leader"] == true)
      return fmt::format(", {} leads", node_name(node));
  }
  return ", no leader known";
}

// Whether every file has its copies: the box warns of those that have not.
std::string copies_text(const json& alerts) {
  for (const json& alert : alerts["items"]) {
    const std::string id = alert.is_object() ? alert.value("id", "") : "";
    if (id == "data_unreachable" || id == "copies_missing")
      return fmt::format("Copies:   {}\n", cell_text(alert, {"", "/title"}));
  }
  return "Copies:   as many as wanted\n";
}

std::string status_text(App& app, const json& cluster, const json& nodes, const json& alerts) {
  const std::string state = cell_text(cluster, {"", "/health/state"});
  const std::string_view paint = app.color() ? state_color(state) : std::string_view();
  std::string out = fmt::format("{}  {}{}{}  {}\n\n", cell_text(cluster, {"", "/name"}), paint, state,
                                paint.empty() ? "" : "\x1b[0m", cell_text(cluster, {"", "/health/summary"}));
  const bool estimated = cluster.value("/power/estimated"_json_pointer, false);
  out += fmt::format("Nodes:    {} of {} up{}\n", cell_text(cluster, {"", "/nodes/up"}),
                     cell_text(cluster, {"", "/nodes/total"}), leader_text(nodes));
  out += fmt::format("Power:    {}{}, {} today\n", cell_text(cluster, {"", "/power/watts", Shape::watts}),
                     estimated ? " (estimated)" : "",
                     cell_text(cluster, {"", "/power/energy_today_wh", Shape::watt_hours}));
  out +=
      fmt::format("Storage:  {} free of {}\n", cell_text(cluster, {"", "/storage/free_bytes", Shape::bytes}),
                  cell_text(cluster, {"", "/storage/total_bytes", Shape::bytes}));
  if (nodes.contains("items") && nodes["items"].size() > 1) out += copies_text(alerts);
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
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  text = status_text(app, cluster, nodes, alerts);
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

Result<json> setup_of(App& app) {
  SAMOVAR_TRY(json setup, app.ask_anonymously("GET", "/setup", json()));
  if (!setup.is_object())
    return Error{Errc::corrupt, fmt::format("{} does not answer as a box does", app.server())};
  return setup;
}

// The box writes codes in two groups.
std::string digits_of(std::string_view code) {
  std::string digits;
  std::copy_if(code.begin(), code.end(), std::back_inserter(digits),
               [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

// A machine that belongs to nobody yet: who it is, and the code once a cluster asks for it.
std::string waiting_text(App& app, const json& setup) {
  const json& join = setup["join"];
  std::string out = fmt::format("This machine waits to be added to a cluster.\n\n  ID:  {}\n",
                                cell_text(join, {"", "/short_id"}));
  const std::string code = cell_text(join, {"", "/code"});
  if (join.value("state", "") != "code") return out;
  out += fmt::format("\n\"{}\" wants to add it. Type this code there, and only if that is your cluster:\n\n",
                     cell_text(join, {"", "/cluster_name"}));
  if (code == "–") return out + "  (shown only on this machine itself)\n";
  return out + large_digits(digits_of(code), app.io().out_is_terminal());
}

Result<void> waiting_frame(App& app, std::string& text) {
  SAMOVAR_TRY(json setup, setup_of(app));
  if (app.json_like()) {
    text = setup.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  } else if (setup.contains("join") && setup["join"].is_object()) {
    text = waiting_text(app, setup);
  } else {
    text = fmt::format("Phase: {}\n", cell_text(setup, {"", "/phase"}));
  }
  return {};
}

Result<void> status_unclaimed(App& app, const Invocation& invocation, const json& setup) {
  const std::string phase = setup.value("phase", "");
  const bool waits = phase == "new" && setup.contains("join") && setup["join"].is_object();
  if (waits && invocation.has("watch")) return watch(app, invocation, &waiting_frame);
  SAMOVAR_CHECK(show_record(app, setup, kPhase));
  if (waits && !app.json_like() && app.output() != Output::csv) app.io().out("\n" + waiting_text(app, setup));
  if (waits) {
    app.note(fmt::format("Add it to a cluster, on a member: samovar peers approve {}",
                         cell_text(setup["join"], {"", "/short_id"})));
  }
  if (phase == "new")
    app.note(waits ? "Or begin a cluster with it: samovar init" : "Set it up: samovar init");
  if (phase == "joining") app.note("It receives the cluster's state; this takes seconds.");
  if (phase == "removed") {
    app.note(
        "It was taken out of its cluster. Make it new again on its own console: samovard --factory-reset");
  }
  if (phase == "locked") app.note("Unlock it: samovar unlock");
  return {};
}

Result<void> status(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json setup, setup_of(app));
  if (setup.value("phase", "") != "ready") return status_unclaimed(app, invocation, setup);
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
  table.commands.push_back({"",
                            "status",
                            "Show health, power, storage and alerts",
                            "Without a login only the phase of the box is shown: new, joining, locked, "
                            "starting or ready. A new machine shows "
                            "its id, and the code once a cluster wants to add it.",
                            {},
                            {{"watch", 'w', {}, "Keep showing it until Ctrl-C"}, interval},
                            {{"samovar status", ""},
                             {"samovar status --watch", "live"},
                             {"samovar status --json", "for a script"}},
                            &status});
  table.commands.push_back(
      {"",
       "top",
       "Watch all nodes' load, heat and power live",
       "Ctrl-C ends it. Without a terminal the table is printed once.",
       {},
       {interval},
       {{"samovar top", ""},
        {"samovar top -o jsonl -n 10 >> load.jsonl", "record a line per node each 10 s"}},
       &top});
}

}  // namespace samovar::cli
