// doctor and links: why a machine is not found or cannot join, and how the members reach each other.
#include <fmt/format.h>

#include <map>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nodes.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kChecks = {{"STATE", "/state", Shape::text, false, true},
                                     {"CHECK", "/title"},
                                     {"SEEN", "/detail"},
                                     {"ID", "/id", Shape::text, true},
                                     {"WHAT TO DO", "/remedy", Shape::text, true}};
const std::vector<Column> kInterfaces = {{"INTERFACE", "/name"},
                                         {"USED", "/used", Shape::yes},
                                         {"ADDRESSES", "/addresses", Shape::list},
                                         {"MTU", "/mtu", Shape::count},
                                         {"SENT", "/sent", Shape::count},
                                         {"HEARD", "/heard", Shape::count},
                                         {"OWN HEARD", "/heard_own", Shape::count},
                                         {"BAD", "/bad", Shape::count},
                                         {"WHY NOT", "/why_not"},
                                         {"TROUBLE", "/trouble"}};
const std::vector<Column> kLinks = {{"FROM", "/from"},
                                    {"TO", "/to"},
                                    {"UP", "/up", Shape::yes},
                                    {"ADDRESS", "/address"},
                                    {"RTT", "/rtt_ms", Shape::ms},
                                    {"SENDS", "/send_bytes_per_second", Shape::rate},
                                    {"RECEIVES", "/receive_bytes_per_second", Shape::rate},
                                    {"MEASURED", "/measured_bytes_per_second", Shape::rate},
                                    {"TROUBLE", "/trouble"},
                                    {"MEASURED AT", "/measured_at", Shape::time, true}};

bool is_list(const json& answer, const char* key) {
  return answer.is_object() && answer.contains(key) && answer[key].is_array();
}

bool fails(const json& check) { return check.is_object() && check.value("state", "") == "fail"; }

// The remedies below the table: a sentence each, too long for a column.
std::string remedies(const json& checks) {
  std::string out;
  for (const json& check : checks) {
    const std::string remedy = cell_text(check, {"", "/remedy"});
    const std::string state = check.is_object() ? check.value("state", "") : "";
    if ((state != "fail" && state != "warn") || remedy.empty() || remedy == "–") continue;
    out += fmt::format("  {}: {}\n", cell_text(check, {"", "/title"}), remedy);
  }
  return out.empty() ? out : "\nWhat to do:\n" + out;
}

Result<json> examine(App& app, const Invocation& invocation) {
  if (invocation.has("address"))
    return app.post("/doctor:probe", json{{"address", std::string(invocation.flag("address"))}});
  return app.get("/doctor");
}

Result<void> doctor(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json answer, examine(app, invocation));
  if (!is_list(answer, "checks"))
    return Error{Errc::corrupt, "the box's answer has no checks: is the CLI as new as the box?"};
  const json& checks = answer["checks"];
  bool failed = false;
  for (const json& check : checks) failed = failed || fails(check);
  if (app.json_like()) {
    SAMOVAR_CHECK(print_json(app, answer));
  } else {
    SAMOVAR_CHECK(show_list(app, json{{"items", checks}}, kChecks));
    if (app.output() == Output::table && !app.quiet()) app.io().out(remedies(checks));
    if (app.output() == Output::wide && is_list(answer, "interfaces") && !answer["interfaces"].empty())
      app.io().out("\n" + table_text(app, answer["interfaces"], kInterfaces));
  }
  if (failed) return app.stop(Exit::failure);
  return {};
}

// Links name nodes by id; people by name.
json with_names(App& app, json links) {
  auto nodes = app.get_list("/nodes");
  if (!nodes) return links;
  std::map<std::string, std::string> names;
  for (const json& node : (*nodes)["items"]) {
    if (node.is_object()) names[node.value("id", "")] = node_name(node);
  }
  for (json& link : links) {
    for (const char* end : {"from", "to"}) {
      if (!link.is_object() || !link.contains(end) || !link[end].is_string()) continue;
      const auto known = names.find(link[end].get<std::string>());
      if (known != names.end()) link[end] = known->second;
    }
  }
  return links;
}

Result<void> links(App& app, const Invocation& invocation) {
  json found;
  if (invocation.has("test")) {
    SAMOVAR_TRY(json node, find_node(app, invocation.flag("test")));
    SAMOVAR_TRY(found, app.post("/links:test", json{{"to", node.value("id", "")}}));
    if (app.json_like()) return print_json(app, found);
    found = json::array({found});
  } else {
    SAMOVAR_TRY(json answer, app.get("/links"));
    if (app.json_like()) return print_json(app, answer);
    if (!is_list(answer, "links"))
      return Error{Errc::corrupt, "the box's answer has no links: is the CLI as new as the box?"};
    found = answer["links"];
  }
  if (found.empty()) {
    app.note("There is one node: nothing to be linked with.");
    return {};
  }
  return show_list(app, json{{"items", with_names(app, std::move(found))}}, kLinks, "/to");
}

}  // namespace

void add_doctor(Table& table) {
  table.commands.push_back({"",
                            "doctor",
                            "Say why nodes do not find each other, and what to do",
                            "Looks at interfaces, multicast, ports, packet size, clocks, versions, "
                            "certificates and ids, as this node sees "
                            "them. With --address it tries to reach a machine there, step by step. On a new "
                            "machine nobody needs to log in. "
                            "The exit code is 1 when a check fails.",
                            {},
                            {{"address", 'a', "ADDRESS",
                              "Try to reach the machine at this address, such as 10.0.0.9 or 10.0.0.9:7443"}},
                            {{"samovar doctor", ""},
                             {"samovar doctor --address 10.0.0.9", "why does that one not join?"},
                             {"samovar doctor -o wide", "with each interface and what it heard"}},
                            &doctor});
  table.commands.push_back(
      {"",
       "links",
       "Show how the nodes reach each other: round trip, load, speed",
       "The load is what the links carry now. --test sends data for a few seconds and measures.",
       {},
       {{"test", 't', "NODE", "Measure the link to this node", {}, Complete::nodes}},
       {{"samovar links", ""}, {"samovar links --test board-2", ""}},
       &links});
}

}  // namespace samovar::cli
