// users: the accounts of the box.
#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::string_view kRoles = "admin|analyst|viewer|auditor|service";

const std::vector<Column> kUsers = {{"USER", "/username"},
                                    {"NAME", "/display_name"},
                                    {"ROLE", "/role"},
                                    {"DISABLED", "/disabled", Shape::yes},
                                    {"LOCKED UNTIL", "/locked_until", Shape::time},
                                    {"LAST LOGIN", "/last_login_at", Shape::time},
                                    {"CREATED", "/created_at", Shape::time, true},
                                    {"ID", "/id", Shape::text, true}};
const std::vector<Column> kUser = {{"User", "/username"},
                                   {"Name", "/display_name"},
                                   {"Role", "/role"},
                                   {"Disabled", "/disabled", Shape::yes},
                                   {"Locked until", "/locked_until", Shape::time},
                                   {"Created", "/created_at", Shape::time},
                                   {"Last login", "/last_login_at", Shape::time},
                                   {"Id", "/id"}};

// By user name or id. The API knows ids only; a person knows names.
Result<json> find_user(App& app, std::string_view wanted) {
  SAMOVAR_TRY(json users, app.get_list("/users"));
  for (json& user : users["items"]) {
    if (user.value("username", "") == wanted || user.value("id", "") == wanted) return std::move(user);
  }
  return Error{Errc::not_found, fmt::format("no user \"{}\"; \"samovar users list\" shows them", wanted)};
}

std::string path_of(const json& user) { return "/users/" + url_encode(user.value("id", "")); }

Result<void> list(App& app, const Invocation&) {
  SAMOVAR_TRY(json users, app.get_list("/users"));
  return show_list(app, users, kUsers, "/username");
}

Result<void> show(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json found, find_user(app, invocation.argument(0)));
  SAMOVAR_TRY(json user, app.get(path_of(found)));
  return show_record(app, user, kUser);
}

Result<void> add(App& app, const Invocation& invocation) {
  const std::string name(invocation.argument(0));
  const std::string role(invocation.flag("role"));
  if (role.empty()) return app.usage(fmt::format("say which role: --role {}", kRoles));
  json body = {{"username", name},
               {"display_name", std::string(invocation.flag("display-name", name))},
               {"role", role}};
  SAMOVAR_TRY(
      std::string password,
      app.secret("password-stdin", fmt::format("Password for {}, at least 12 characters", name), true));
  body["password"] = password;
  wipe(password);
  auto user = app.post("/users", body);
  wipe(body["password"].get_ref<std::string&>());
  if (!user) return std::move(user).error();
  if (app.json_like()) return print_json(app, *user);
  if (app.quiet()) app.io().out(user->value("id", "") + "\n");
  app.note(fmt::format("Made {} with the role {}.", name, role));
  return {};
}

// If-Match is the revision that was read, so that two administrators do not overwrite each other.
Result<json> patch(App& app, std::string_view wanted, const json& change) {
  SAMOVAR_TRY(json found, find_user(app, wanted));
  Call read;
  read.path = path_of(found);
  SAMOVAR_TRY(HttpReply current, app.call(std::move(read)));
  std::string etag(current.header("etag"));
  if (etag.empty()) etag = found.value("etag", "");
  Call call;
  call.method = "PATCH";
  call.path = path_of(found);
  call.body = change.dump(-1, ' ', false, json::error_handler_t::replace);
  call.headers.emplace_back("If-Match", etag);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  json user = json::parse(reply.body, nullptr, false);
  if (!user.is_object()) return found;
  return user;
}

Result<void> change(App& app, const Invocation& invocation, const json& what, std::string_view done) {
  SAMOVAR_TRY(json user, patch(app, invocation.argument(0), what));
  if (app.json_like()) return print_json(app, user);
  app.note(fmt::format("{} {}.", invocation.argument(0), done));
  return {};
}

Result<void> set_role(App& app, const Invocation& invocation) {
  const std::string role(invocation.argument(1));
  return change(app, invocation, json{{"role", role}}, fmt::format("now has the role {}", role));
}

Result<void> disable(App& app, const Invocation& invocation) {
  return change(app, invocation, json{{"disabled", true}}, "is disabled and logged out everywhere");
}

Result<void> enable(App& app, const Invocation& invocation) {
  return change(app, invocation, json{{"disabled", false}}, "may log in again");
}

Result<void> unlock(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json user, find_user(app, invocation.argument(0)));
  SAMOVAR_TRY(json answer, app.post(path_of(user) + ":unlock", json::object()));
  if (app.json_like() && !answer.is_null()) return print_json(app, answer);
  app.note(fmt::format("The lock-out of {} is lifted.", invocation.argument(0)));
  return {};
}

Result<void> allow_joins(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json user, find_user(app, invocation.argument(0)));
  json body;
  SAMOVAR_TRY(body["password"], app.secret("password-stdin", "Your password"));
  SAMOVAR_TRY(json answer, app.post(path_of(user) + ":allow-joins", body));
  if (app.json_like()) return print_json(app, answer);
  app.note(fmt::format("{} can add nodes now.", invocation.argument(0)));
  return {};
}

Result<void> forbid_joins(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json user, find_user(app, invocation.argument(0)));
  SAMOVAR_TRY(json answer, app.post(path_of(user) + ":forbid-joins", json::object()));
  if (app.json_like()) return print_json(app, answer);
  app.note(fmt::format("{} can add no nodes any more.", invocation.argument(0)));
  return {};
}

Result<void> set_own_password(App& app) {
  json body;
  SAMOVAR_TRY(body["current_password"], app.secret("password-stdin", "Your password now"));
  SAMOVAR_TRY(body["new_password"],
              app.secret("password-stdin", "New password, at least 12 characters", true));
  SAMOVAR_TRY(json answer, app.post("/session:password", body));
  ignore(Result<bool>(answer.is_null()), "204 has no body");
  app.note("Your password is changed.");
  return {};
}

Result<void> set_password(App& app, const Invocation& invocation) {
  if (invocation.arguments.empty()) return set_own_password(app);
  SAMOVAR_TRY(json user, find_user(app, invocation.argument(0)));
  SAMOVAR_TRY(
      std::string password,
      app.secret("password-stdin",
                 fmt::format("New password for {}, at least 12 characters", invocation.argument(0)), true));
  const json body = {{"password", password}};
  wipe(password);
  SAMOVAR_TRY(json answer, app.post(path_of(user) + ":set-password", body));
  if (app.json_like() && !answer.is_null()) return print_json(app, answer);
  app.note(fmt::format("The password of {} is changed.", invocation.argument(0)));
  return {};
}

Result<void> remove(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json user, find_user(app, invocation.argument(0)));
  const std::string name = user.value("username", "");
  SAMOVAR_CHECK(app.confirm(fmt::format("Removing the user {}", name), name));
  Call call;
  call.method = "DELETE";
  call.path = path_of(user);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  app.note(fmt::format("Removed {}.", name));
  return {};
}

}  // namespace

void add_users(Table& table) {
  const Argument name{"USER", "User name or id", true, false, Complete::users};
  const Flag password{"password-stdin", 0, {}, "Read the password from the first line of stdin"};
  table.nouns.push_back({"users", "The accounts of the box"});
  auto& rows = table.commands;
  rows.push_back({"users",
                  "list",
                  "List the accounts",
                  "",
                  {},
                  {},
                  {{"samovar users list", ""}, {"samovar users list -o wide", "with ids"}},
                  &list});
  rows.push_back(
      {"users", "show", "Show one account", "", {name}, {}, {{"samovar users show mara", ""}}, &show});
  rows.push_back({"users",
                  "add",
                  "Make an account",
                  "The password is asked for, or read from stdin.",
                  {{"NAME", "User name"}},
                  {{"role", 'r', "ROLE", "What the account may do", kRoles, Complete::words},
                   {"display-name", 0, "TEXT", "Full name"},
                   password},
                  {{"samovar users add mara --role analyst", ""},
                   {"samovar users add bot --role service --password-stdin < secret", ""}},
                  &add});
  rows.push_back({"users",
                  "set-role",
                  "Change what an account may do",
                  "Nobody changes their own role.",
                  {name, {"ROLE", "The new role", true, false, Complete::words, kRoles}},
                  {},
                  {{"samovar users set-role mara viewer", ""}},
                  &set_role});
  rows.push_back({"users",
                  "disable",
                  "Stop an account from logging in",
                  "",
                  {name},
                  {},
                  {{"samovar users disable mara", ""}},
                  &disable});
  rows.push_back({"users",
                  "enable",
                  "Let a disabled account log in again",
                  "",
                  {name},
                  {},
                  {{"samovar users enable mara", ""}},
                  &enable});
  rows.push_back({"users",
                  "unlock",
                  "Lift the lock-out after wrong passwords",
                  "",
                  {name},
                  {},
                  {{"samovar users unlock mara", ""}},
                  &unlock});
  rows.push_back({"users",
                  "allow-joins",
                  "Let another administrator add nodes",
                  "Your own password opens the cluster's signing key; it is sealed to theirs. They must have "
                  "logged in once as an administrator.",
                  {name},
                  {password},
                  {{"samovar users allow-joins mara", ""}},
                  &allow_joins});
  rows.push_back({"users",
                  "forbid-joins",
                  "Take the right to add nodes back",
                  "",
                  {name},
                  {},
                  {{"samovar users forbid-joins mara", ""}},
                  &forbid_joins});
  rows.push_back(
      {"users",
       "set-password",
       "Set a password",
       "Without USER your own: then the present one is asked for first; with "
       "--password-stdin it is the first line and the new one the second.",
       {{"USER", "User name or id; your own account when left out", false, false, Complete::users}},
       {password},
       {{"samovar users set-password", "your own"}, {"samovar users set-password mara", "as administrator"}},
       &set_password});
  rows.push_back({"users",
                  "remove",
                  "Remove an account",
                  "What it did stays in the audit log.",
                  {name},
                  {},
                  {{"samovar users remove mara", "asks for the name"},
                   {"samovar users remove mara --yes", "from a script"}},
                  &remove});
}

}  // namespace samovar::cli
