// nodes: the machines of the cluster.
#include "daemon/cli/nodes.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {

using nlohmann::json;

const std::vector<Column>& node_columns() {
  static const std::vector<Column> kColumns = {
      {"NAME", "/name"},
      {"STATE", "/state", Shape::text, false, true},
      {"VOICE", "/voice"},
      {"LEADER", "/leader", Shape::yes},
      {"CPU", "/sample/cpu", Shape::percent},
      {"MEMORY", "/sample/mem_used_bytes", Shape::bytes},
      {"OF", "/sample/mem_total_bytes", Shape::bytes, true},
      {"POWER", "/sample/watts", Shape::watts},
      {"TEMP", "/sample/temp_max_c", Shape::celsius},
      {"UPTIME", "/uptime_s", Shape::duration},
      {"RTT", "/rtt_ms", Shape::ms, true},
      {"DISK FREE", "/disk/free", Shape::bytes, true},
      {"IN", "/sample/net_rx_bps", Shape::rate, true},
      {"OUT", "/sample/net_tx_bps", Shape::rate, true},
      {"HEARD", "/heard_at", Shape::time, true},
      {"MODEL", "/model", Shape::text, true},
      {"VERSION", "/version", Shape::text, true},
      {"ARCH", "/arch", Shape::text, true},
      {"ADDRESSES", "/addresses", Shape::list, true},
      {"DASHBOARD", "/url", Shape::text, true},
      {"ID", "/id", Shape::text, true},
  };
  return kColumns;
}

std::string node_name(const json& node) {
  for (const char* key : {"name", "id"}) {
    if (node.is_object() && node.contains(key) && node[key].is_string() && !node[key].empty())
      return printable(node[key].get_ref<const std::string&>());
  }
  return "?";
}

std::string node_path(const json& node) { return "/nodes/" + url_encode(node.value("id", "")); }

Result<json> find_node(App& app, std::string_view wanted) {
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  json* found = nullptr;
  for (json& node : nodes["items"]) {
    const bool match = wanted.empty() || node.value("id", "") == wanted || node.value("name", "") == wanted;
    if (match && found != nullptr) {
      return app.usage(wanted.empty() ? "there are several nodes: say which, by name or id"
                                      : fmt::format("several nodes are called \"{}\": use the id", wanted));
    }
    if (match) found = &node;
  }
  if (found == nullptr)
    return Error{Errc::not_found, fmt::format("no node \"{}\"; \"samovar nodes list\" shows them", wanted)};
  return std::move(*found);
}

namespace {

const std::vector<Column> kNode = {
    {"Name", "/name"},
    {"Id", "/id"},
    {"State", "/state", Shape::text, false, true},
    {"Voice", "/voice"},
    {"Leader", "/leader", Shape::yes},
    {"Answering now", "/self", Shape::yes},
    {"Last heard", "/heard_at", Shape::time},
    {"Round trip", "/rtt_ms", Shape::ms},
    {"Dashboard", "/url"},
    {"Host name", "/hostname"},
    {"Model", "/model"},
    {"Version", "/version"},
    {"Architecture", "/arch"},
    {"Cores", "/cores"},
    {"Memory", "/memory_bytes", Shape::bytes},
    {"Disk", "/disk_bytes", Shape::bytes},
    {"Disk free", "/disk/free", Shape::bytes},
    {"Addresses", "/addresses", Shape::list},
    {"Started", "/started_at", Shape::time},
    {"Uptime", "/uptime_s", Shape::duration},
    {"Sandbox", "/sandbox", Shape::text, false, true},
    {"Training", "/compute"},
    {"Power sensor", "/sensors/power"},
    {"Power note", "/sensors/power_note"},
    {"Processor", "/sample/cpu", Shape::percent},
    {"Load", "/sample/load1"},
    {"Memory used", "/sample/mem_used_bytes", Shape::bytes},
    {"Disk used", "/sample/disk_used_bytes", Shape::bytes},
    {"Power", "/sample/watts", Shape::watts},
    {"Power is estimated", "/sample/watts_estimated", Shape::yes},
    {"Hottest", "/sample/temp_max_c", Shape::celsius},
    {"Hottest sensor", "/sample/temp_max_name"},
    {"Network in", "/sample/net_rx_bps", Shape::rate},
    {"Network out", "/sample/net_tx_bps", Shape::rate},
};

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  return show_list(app, nodes, node_columns());
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json found, find_node(app, invocation.argument(0)));
  SAMOVAR_TRY(json node, app.get(node_path(found)));
  return show_record(app, node, kNode);
}

Result<void> act(App& app, const Invocation& invocation, const char* verb, std::string_view said) {
  SAMOVAR_TRY(json node, find_node(app, invocation.argument(0)));
  SAMOVAR_TRY(json answer, app.post(node_path(node) + verb, json::object()));
  if (app.json_like() && !answer.is_null()) return print_json(app, answer);
  app.note(fmt::format(fmt::runtime(said), node_name(node)));
  return {};
}

Result<void> drain(App& app, const Invocation& invocation) {
  return act(
      app, invocation, ":drain",
      "{0} takes no new data, and its copies move to the other nodes. \"samovar nodes remove {0}\" says "
      "what is left on it; \"samovar nodes resume {0}\" takes it back.");
}

Result<void> resume(App& app, const Invocation& invocation) {
  return act(app, invocation, ":resume", "{} holds data again.");
}

bool flag_of(const json& preview, const char* key) {
  return preview.contains(key) && preview[key].is_boolean() && preview[key].get<bool>();
}

double number_of(const json& preview, const char* key) {
  return preview.contains(key) && preview[key].is_number() ? preview[key].get<double>() : 0;
}

// What is lost by it, said before anything is asked.
void tell_preview(App& app, const json& preview) {
  const std::string sentence = cell_text(preview, {"", "/sentence"});
  app.note(sentence);
  app.note(fmt::format(
      "  Files on it: {} ({}). Last copies among them: {}. Left with fewer copies than wanted: "
      "{}.",
      cell_text(preview, {"", "/files", Shape::count}), cell_text(preview, {"", "/bytes", Shape::bytes}),
      cell_text(preview, {"", "/last_copies", Shape::count}),
      cell_text(preview, {"", "/below_wanted", Shape::count})));
}

Result<void> remove(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json node, find_node(app, invocation.argument(0)));
  const std::string name = node_name(node);
  const bool force = invocation.has("force");
  SAMOVAR_TRY(json preview, app.get(node_path(node) + ":removal"));
  tell_preview(app, preview);
  const bool loses = number_of(preview, "last_copies") > 0 || number_of(preview, "below_wanted") > 0;
  const bool stops = preview.contains("quorum_after") && !flag_of(preview, "quorum_after");
  if ((loses || stops) && !force) {
    // The box would refuse it as well: nobody types a name for nothing.
    return Error{
        Errc::conflict,
        fmt::format("removing {0} now is not safe; empty it first: samovar nodes drain {0}; or agree "
                    "to the loss with --force",
                    name)};
  }
  SAMOVAR_CHECK(app.confirm(fmt::format("Removing the node {}", name), name));
  Call call;
  call.method = "DELETE";
  call.path = node_path(node);
  if (force) {
    call.query.emplace_back("force", "1");
    // No more than what was shown: something may have come to lie only there since.
    call.query.emplace_back("losses_max", fmt::format("{:.0f}", number_of(preview, "last_copies")));
  }
  auto reply = app.call(std::move(call));
  if (!reply) return std::move(reply).error();
  app.note(
      fmt::format("{0} is no member any more; the others refuse it from now on. What lies on it stays "
                  "sealed: reset it there "
                  "with \"samovard --factory-reset\" before it joins again.",
                  name));
  return {};
}

}  // namespace

void add_nodes(Table& table) {
  const Argument node{"NODE", "Name or id", true, false, Complete::nodes};
  table.nouns.push_back({"nodes", "The machines of the cluster"});
  auto& rows = table.commands;
  rows.push_back({"nodes",
                  "list",
                  "List the nodes with their load",
                  "A node is up, unreachable, draining or removed. Voters decide together; a standby holds "
                  "data and steps in for a lost voter.",
                  {},
                  {},
                  {{"samovar nodes list", ""}, {"samovar nodes list -o csv", "for a spreadsheet"}},
                  &list});
  rows.push_back({"nodes",
                  "show",
                  "Show one node",
                  "",
                  {{"NODE", "Name or id; not needed when there is one", false, false, Complete::nodes}},
                  {},
                  {{"samovar nodes show", "the only node"}, {"samovar nodes show board-1 --json", ""}},
                  &show});
  rows.push_back({"nodes",
                  "drain",
                  "Move a node's data to the others, before it is removed",
                  "For administrators. The node stays a member and goes on answering.",
                  {node},
                  {},
                  {{"samovar nodes drain board-2", ""}},
                  &drain});
  rows.push_back({"nodes",
                  "resume",
                  "Let a drained node hold data again",
                  "For administrators.",
                  {node},
                  {},
                  {{"samovar nodes resume board-2", ""}},
                  &resume});
  rows.push_back(
      {"nodes",
       "remove",
       "Take a node out of the cluster",
       "For administrators. Says first what would be lost, and refuses while a file would have fewer copies "
       "than wanted or those that are left would be no majority, unless --force. The others close their "
       "connections to it at once.",
       {node},
       {{"force", 0, {}, "Remove it although data is lost by it, or no majority is left"}},
       {{"samovar nodes remove board-2", "asks for the name"},
        {"samovar nodes remove board-2 --yes", "from a script"},
        {"samovar nodes remove board-2 --force", "a node that burnt down with the last copy"}},
       &remove});
}

}  // namespace samovar::cli
