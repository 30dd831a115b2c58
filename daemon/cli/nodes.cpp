// nodes: the machines of the cluster.
#include "daemon/cli/nodes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {

using nlohmann::json;

const std::vector<Column>& node_columns() {
  static const std::vector<Column> kColumns = {
      {"NAME", "/name"},
      {"STATE", "/state", Shape::text, false, true},
      {"ROLE", "/role"},
      {"CPU", "/sample/cpu", Shape::percent},
      {"MEMORY", "/sample/mem_used_bytes", Shape::bytes},
      {"OF", "/sample/mem_total_bytes", Shape::bytes},
      {"POWER", "/sample/watts", Shape::watts},
      {"TEMP", "/sample/temp_max_c", Shape::celsius},
      {"UPTIME", "/uptime_s", Shape::duration},
      {"MODEL", "/model", Shape::text, true},
      {"VERSION", "/version", Shape::text, true},
      {"ARCH", "/arch", Shape::text, true},
      {"ADDRESSES", "/addresses", Shape::list, true},
      {"ID", "/id", Shape::text, true},
  };
  return kColumns;
}

namespace {

const std::vector<Column> kNode = {
    {"Name", "/name"},
    {"Id", "/id"},
    {"State", "/state", Shape::text, false, true},
    {"Role", "/role"},
    {"Host name", "/hostname"},
    {"Model", "/model"},
    {"Version", "/version"},
    {"Architecture", "/arch"},
    {"Cores", "/cores"},
    {"Memory", "/memory_bytes", Shape::bytes},
    {"Disk", "/disk_bytes", Shape::bytes},
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
  const std::string wanted(invocation.argument(0));
  SAMOVAR_TRY(json nodes, app.get_list("/nodes"));
  const json* found = nullptr;
  for (const json& node : nodes["items"]) {
    const bool match = wanted.empty() || node.value("id", "") == wanted || node.value("name", "") == wanted;
    if (match && found != nullptr) {
      return app.usage(wanted.empty() ? "there are several nodes: say which, by name or id"
                                      : fmt::format("several nodes are called \"{}\": use the id", wanted));
    }
    if (match) found = &node;
  }
  if (found == nullptr)
    return Error{Errc::not_found, fmt::format("no node \"{}\"; \"samovar nodes list\" shows them", wanted)};
  SAMOVAR_TRY(json node, app.get("/nodes/" + url_encode(found->value("id", ""))));
  return show_record(app, node, kNode);
}

}  // namespace

void add_nodes(Table& table) {
  table.nouns.push_back({"nodes", "The machines of the cluster"});
  table.commands.push_back({"nodes",
                            "list",
                            "List the nodes with their load",
                            "",
                            {},
                            {},
                            {{"samovar nodes list", ""}, {"samovar nodes list -o csv", "for a spreadsheet"}},
                            &list});
  table.commands.push_back(
      {"nodes",
       "show",
       "Show one node",
       "",
       {{"NODE", "Name or id; not needed when there is one", false, false, Complete::nodes}},
       {},
       {{"samovar nodes show", "the only node"}, {"samovar nodes show board-1 --json", ""}},
       &show});
}

}  // namespace samovar::cli
