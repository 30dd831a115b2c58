// peers: machines that are not members: seen, added by address, approved with a code, blocked.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/config.hpp"
#include "daemon/cli/nodes.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

const std::vector<Column> kPeers = {{"ID", "/short_id"},
                                    {"HOST", "/hostname"},
                                    {"MODEL", "/model"},
                                    {"ADDRESS", "/address"},
                                    {"STATE", "/state", Shape::text, false, true},
                                    {"DETAIL", "/detail"},
                                    {"VERSION", "/version", Shape::text, true},
                                    {"INTERFACE", "/interface", Shape::text, true},
                                    {"MULTICAST", "/multicast", Shape::yes, true},
                                    {"FIRST SEEN", "/first_seen", Shape::time, true},
                                    {"LAST SEEN", "/last_seen", Shape::time, true},
                                    {"NODE ID", "/id", Shape::text, true}};

// What the other box says of itself: not proved before the code is.
const std::vector<Column> kClaims = {{"Host name", "/node/hostname"},
                                     {"Model", "/node/model"},
                                     {"Architecture", "/node/arch"},
                                     {"Memory", "/node/memory_bytes", Shape::bytes},
                                     {"Disk", "/node/disk_bytes", Shape::bytes},
                                     {"Clock differs by (s)", "/node/clock_skew_s"}};

std::string text_of(const json& from, const char* key) {
  return from.is_object() && from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : "";
}

std::string path_of(const std::string& id) { return "/peers/" + url_encode(id); }

// Ids are read from a screen: case, dashes and spaces do not matter.
std::string plain_id(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    out.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return out;
}

bool is_meant(const json& peer, std::string_view word) {
  return text_of(peer, "id") == word || text_of(peer, "hostname") == word ||
         text_of(peer, "address") == word || plain_id(text_of(peer, "short_id")) == plain_id(word);
}

Result<json> find_peer(App& app, std::string_view word) {
  SAMOVAR_TRY(json peers, app.get("/peers"));
  if (!peers.is_object() || !peers.contains("items") || !peers["items"].is_array())
    return Error{Errc::corrupt, "the box's answer is no list: is the CLI as new as the box?"};
  json* found = nullptr;
  for (json& peer : peers["items"]) {
    if (!is_meant(peer, word)) continue;
    if (found != nullptr) return app.usage(fmt::format("several machines match \"{}\": use the id", word));
    found = &peer;
  }
  if (found == nullptr) {
    return Error{
        Errc::not_found,
        fmt::format("nobody \"{}\" is seen here; \"samovar peers list\" shows who is, \"samovar peers add "
                    "ADDRESS\" asks at an address, \"samovar doctor\" says what is in the way",
                    word)};
  }
  return std::move(*found);
}

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json peers, app.get("/peers"));
  if (!peers.is_object() || !peers.contains("items") || !peers["items"].is_array())
    return Error{Errc::corrupt, "the box's answer is no list: is the CLI as new as the box?"};
  const bool none = peers["items"].empty();
  SAMOVAR_CHECK(show_list(app, peers, kPeers));
  if (app.json_like()) return {};
  if (none) {
    app.note(
        "No other machine is heard. Plug one into this switch; if it stays silent: samovar peers add "
        "ADDRESS, "
        "samovar doctor");
  }
  if (peers.contains("blocked") && peers["blocked"].is_array() && !peers["blocked"].empty())
    app.note(fmt::format("Blocked: {}", cell_text(peers, {"", "/blocked", Shape::list})));
  return {};
}

Result<void> add(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json peer, app.post("/peers:add", json{{"address", std::string(invocation.argument(0))}}));
  if (app.json_like()) return print_json(app, peer);
  SAMOVAR_CHECK(show_list(app, json{{"items", json::array({peer})}}, kPeers));
  if (text_of(peer, "state") == "waiting")
    app.note(fmt::format("Next: samovar peers approve {}", printable(text_of(peer, "short_id"))));
  return {};
}

Result<void> joined(App& app, const json& node) {
  if (app.json_like()) return print_json(app, node);
  if (app.quiet()) app.io().out(text_of(node, "id") + "\n");
  app.note(
      fmt::format("{} is a member now. \"samovar nodes list\" shows it; it receives its copies by itself.",
                  node_name(node)));
  return {};
}

// "; 2 tries are left", where the problem document says so.
std::string tries_left(const App& app) {
  const json problem = json::parse(app.problem(), nullptr, false);
  if (!problem.is_object() || !problem.contains("tries_left") || !problem["tries_left"].is_number())
    return {};
  const auto left = problem["tries_left"].get<long>();
  return left == 1 ? "; 1 try is left" : fmt::format("; {} tries are left", left);
}

std::string digits_of(std::string_view typed) {
  std::string digits;
  std::copy_if(typed.begin(), typed.end(), std::back_inserter(digits),
               [](char c) { return c != ' ' && c != '-'; });
  return digits;
}

Result<json> send_code(App& app, const std::string& id, std::string_view typed) {
  auto node = app.post(path_of(id) + ":confirm", json{{"code", digits_of(typed)}});
  if (node || app.problem_code() != "wrong_code") return node;
  return Error{Errc::denied, fmt::format("that is not the code on its screen{}", tries_left(app))};
}

Result<void> confirm(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json peer, find_peer(app, invocation.argument(0)));
  SAMOVAR_TRY(json node, send_code(app, text_of(peer, "id"), invocation.argument(1)));
  return joined(app, node);
}

// Until the code is right, the tries are used up, or nothing is typed.
Result<void> ask_codes(App& app, const std::string& id) {
  for (;;) {
    auto typed = app.io().ask("The six digits on its screen (nothing: give up): ");
    if (!typed || digits_of(*typed).empty()) {
      auto cancelled = app.post(path_of(id) + ":cancel", json::object());
      if (cancelled) app.note("Given up; the machine is still waiting.");
      if (!typed) return std::move(typed).error();
      return app.stop(Exit::failure);
    }
    auto node = send_code(app, id, *typed);
    if (node) return joined(app, *node);
    const json problem = json::parse(app.problem(), nullptr, false);
    const bool again =
        app.problem_code() == "wrong_code" && problem.is_object() && problem.value("tries_left", 0) > 0;
    if (!again) return std::move(node).error();
    app.warn(node.error().message());
  }
}

Result<void> approve(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json peer, find_peer(app, invocation.argument(0)));
  const std::string id = text_of(peer, "id");
  const bool talk = !invocation.has("no-wait");
  if (talk && (!app.may_ask() || !app.io().in_is_terminal()) && !invocation.has("dry-run")) {
    return app.usage(
        "the code is on the other machine's screen, and there is no terminal to type it on: use --no-wait, "
        "then "
        "samovar peers confirm");
  }
  SAMOVAR_TRY(std::string password,
              app.secret("password-stdin", "Your password, which opens the cluster's CA"));
  json body = {{"password", password}};
  wipe(password);
  auto join = app.post(path_of(id) + ":approve", body);
  wipe(body["password"].get_ref<std::string&>());
  if (!join) return std::move(join).error();
  const std::string short_id = printable(text_of(peer, "short_id"));
  if (!talk) {
    if (app.json_like()) return print_json(app, *join);
    app.note(fmt::format("{0} shows a code now. Next: samovar peers confirm {0} CODE", short_id));
    return {};
  }
  app.io().err(fmt::format("{} says of itself (the code proves it):\n", short_id));
  for (const Column& column : kClaims) {
    app.io().err(fmt::format("  {:<21} {}\n", std::string(column.title) + ":", cell_text(*join, column)));
  }
  app.io().err(fmt::format(
      "Its screen, and \"samovar status\" there, shows six digits and the name \"{}\". Another name means "
      "another cluster: then give up.\n",
      cell_text(*join, {"", "/cluster_name"})));
  return ask_codes(app, id);
}

Result<void> act(App& app, const std::string& id, const char* verb, std::string_view said) {
  SAMOVAR_TRY(json answer, app.post(path_of(id) + verb, json::object()));
  if (app.json_like() && !answer.is_null()) return print_json(app, answer);
  app.note(said);
  return {};
}

Result<void> block(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json peer, find_peer(app, invocation.argument(0)));
  const std::string name = printable(text_of(peer, "short_id"));
  return act(app, text_of(peer, "id"), ":block",
             fmt::format("{0} is not offered any more; undo it with: samovar peers unblock {0}", name));
}

Result<void> unblock(App& app, const Invocation& invocation) {
  // A blocked machine may be silent: then only the list of ids knows it.
  const std::string word(invocation.argument(0));
  auto peer = find_peer(app, word);
  const std::string id = peer ? text_of(*peer, "id") : word;
  return act(app, id, ":unblock", fmt::format("{} may be approved again.", printable(word)));
}

Result<void> invite(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(std::string password,
              app.secret("password-stdin", "Your password, which opens the cluster's CA"));
  json body = {{"password", password}};
  wipe(password);
  auto answer = app.post("/peers:invite", body);
  wipe(body["password"].get_ref<std::string&>());
  if (!answer) return std::move(answer).error();
  if (invocation.has("file")) {
    const std::string path(invocation.flag("file"));
    SAMOVAR_CHECK(write_private_file(path, answer->dump(2) + "\n"));
    app.note(fmt::format(
        "{} lets one machine in, until {} UTC: carry it there and run: samovar join --file PATH\nWhoever "
        "has the file meanwhile could use it. Delete it afterwards.",
        printable(path), cell_text(*answer, {"", "/expires_at", Shape::time})));
    return {};
  }
  if (app.json_like()) return print_json(app, *answer);
  app.io().out(cell_text(*answer, {"", "/words"}) + "\n");
  app.note(fmt::format(
      "Good for one machine, until {} UTC. On that machine: samovar join\nThe cluster's CA: {}",
      cell_text(*answer, {"", "/expires_at", Shape::time}), cell_text(*answer, {"", "/ca_digest"})));
  return {};
}

}  // namespace

void add_peers(Table& table) {
  const Argument peer{"PEER", "Id as on its screen, host name or address", true, false, Complete::peers};
  const Flag password{"password-stdin", 0, {}, "Read your password from the first line of stdin"};
  table.nouns.push_back({"peers", "Machines that could join the cluster"});
  auto& rows = table.commands;
  rows.push_back({"peers",
                  "list",
                  "List the machines that are heard and are not members",
                  "For administrators. What a machine says of itself is a hint, never a proof.",
                  {},
                  {},
                  {{"samovar peers list", ""}, {"samovar peers list -o wide", "where each was heard"}},
                  &list});
  rows.push_back({"peers",
                  "add",
                  "Ask at an address who is there",
                  "For networks that carry no multicast. Says which step failed when nobody answers.",
                  {{"ADDRESS", "Such as 10.0.0.9 or 10.0.0.9:7443"}},
                  {},
                  {{"samovar peers add 10.0.0.9", ""}},
                  &add});
  rows.push_back(
      {"peers",
       "approve",
       "Take a waiting machine into the cluster",
       "Asks for your password, shows what the machine says of itself, then asks for the six digits on its "
       "screen (\"samovar status\" there shows them, too). After three wrong codes the attempt is over.",
       {peer},
       {password, {"no-wait", 0, {}, "Only begin; the code follows with \"samovar peers confirm\""}},
       {{"samovar peers approve K7Q2", ""},
        {"samovar peers approve K7Q2 --no-wait --password-stdin < secret", "from a script"}},
       &approve});
  rows.push_back({"peers",
                  "confirm",
                  "Give the code of an approval that was begun with --no-wait",
                  "The code is no secret: it proves that both ends mean each other, and is good once.",
                  {peer, {"CODE", "The six digits on the machine's screen"}},
                  {},
                  {{"samovar peers confirm K7Q2 482917", ""}},
                  &confirm});
  rows.push_back({"peers",
                  "block",
                  "Do not offer a machine any more",
                  "",
                  {peer},
                  {},
                  {{"samovar peers block K7Q2", ""}},
                  &block});
  rows.push_back({"peers",
                  "unblock",
                  "Offer a blocked machine again",
                  "",
                  {{"PEER", "Id; \"samovar peers list\" shows the blocked ones"}},
                  {},
                  {{"samovar peers unblock K7Q2", ""}},
                  &unblock});
  rows.push_back(
      {"peers",
       "invite",
       "Make five words with which one machine without a screen can join",
       "They are printed once, good for one machine and ten minutes. On that machine: samovar join. With "
       "--file "
       "they are written to a file, with the digest of the cluster's CA, to be carried over on a stick.",
       {},
       {{"file", 0, "PATH", "Write the words to this file instead (mode 0600)", {}, Complete::file},
        password},
       {{"samovar peers invite", ""},
        {"samovar peers invite --file /media/stick/invitation", "for a machine nobody can type at"}},
       &invite});
}

}  // namespace samovar::cli
