// models: which version serves, who may use it, taking it out and in.
#include <fmt/format.h>

#include <fstream>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/data_support.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

Result<json> act(App& app, const char* method, std::string path, const json& body = json()) {
  Call call;
  call.method = method;
  call.path = std::move(path);
  call.creates = call.method == "POST";
  if (call.method == "PATCH") call.headers.emplace_back("If-Match", "*");
  if (!body.is_null()) call.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  return json::parse(reply.body, nullptr, false);
}

Result<void> said(App& app, const json& resource, const std::string& sentence) {
  if (app.json_like() && resource.is_object()) return print_json(app, resource);
  app.note(sentence);
  return {};
}

Result<void> promote(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, version_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(json model, act(app, "POST", version_path(ref) + ":promote"));
  return said(app, model,
              fmt::format("{} serves now; back with: samovar models rollback {}", text_of(ref), ref.name));
}

Result<void> rollback(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(json model, act(app, "POST", model_path({ref.name, 0}) + ":rollback"));
  return said(app, model, fmt::format("{}@{} serves again.", ref.name, cell_text(model, {"", "/serving"})));
}

Result<void> retire(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(json model, act(app, "POST", model_path({ref.name, 0}) + ":retire"));
  return said(app, model, fmt::format("No version of {} serves now.", ref.name));
}

Result<void> describe(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(json model,
              act(app, "PATCH", model_path(ref), json{{"description", std::string(invocation.argument(1))}}));
  return said(app, model, fmt::format("{} is described now.", ref.name));
}

Result<void> change_protection(App& app, const Invocation& invocation, bool on) {
  SAMOVAR_TRY(ModelRef ref, version_ref(app, invocation.argument(0)));
  SAMOVAR_TRY(json version, act(app, "PATCH", version_path(ref), json{{"protected", on}}));
  return said(app, version, fmt::format("{} {} be deleted now.", text_of(ref), on ? "cannot" : "can"));
}
Result<void> protect(App& app, const Invocation& invocation) {
  return change_protection(app, invocation, true);
}
Result<void> unprotect(App& app, const Invocation& invocation) {
  return change_protection(app, invocation, false);
}

Result<void> remove(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, version_ref(app, invocation.argument(0)));
  SAMOVAR_CHECK(app.confirm(fmt::format("Deleting the model version {}", text_of(ref)), text_of(ref)));
  auto done = act(app, "DELETE", version_path(ref));
  if (!done) return std::move(done).error();
  app.note(fmt::format("Deleted {}; its key is destroyed.", text_of(ref)));
  return {};
}

Result<void> share(App& app, const Invocation& invocation, const char* method, const char* sentence) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  const std::string user(invocation.argument(1));
  SAMOVAR_TRY(std::string id, user_id_of(app, user));
  auto done = act(app, method, model_path(ref) + "/grants/" + url_encode(id));
  if (!done) return std::move(done).error();
  app.note(fmt::format(fmt::runtime(sentence), user, ref.name));
  return {};
}
Result<void> grant(App& app, const Invocation& invocation) {
  return share(app, invocation, "PUT", "{} may use {} now.");
}
Result<void> ungrant(App& app, const Invocation& invocation) {
  return share(app, invocation, "DELETE", "{} may no longer use {}.");
}

Result<void> export_model(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  const std::string format(invocation.flag("format", "onnx"));
  std::string reason(invocation.flag("reason"));
  if (reason.empty()) {
    if (!app.may_ask() || !app.io().in_is_terminal())
      return app.usage("say why it leaves the box, for the audit log: --reason TEXT");
    SAMOVAR_TRY(reason, app.io().ask("Why does it leave the box (kept in the audit log)? "));
  }
  if (ref.version == 0) {
    SAMOVAR_TRY(json version, get_version(app, ref));
    ref.version = version.value("version", 0U);
  }
  std::string file(invocation.flag("out"));
  if (file.empty()) file = fmt::format("{}-{}.{}", ref.name, ref.version, format);
  Call call;
  call.method = "POST";
  call.path = version_path(ref) + ":export";
  call.creates = true;
  call.body =
      json{{"format", format}, {"reason", reason}}.dump(-1, ' ', false, json::error_handler_t::replace);
  return save_stream(app, std::move(call), file);
}

// The file is streamed: a model with hashed inputs may be long.
Result<void> import_model(App& app, const Invocation& invocation) {
  const std::string path(invocation.argument(0));
  std::string name(invocation.flag("name"));
  if (name.empty()) return app.usage("say how the model shall be called: --name NAME");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Error{Errc::not_found, fmt::format("cannot read {}", path)};
  Call call;
  call.method = "POST";
  call.path = "/models:import";
  call.query = {{"name", name}};
  call.headers.emplace_back("Content-Type", "application/json");
  call.creates = true;
  call.read_bytes = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  call.read_body = [&file](char* out, std::size_t room) {
    file.read(out, static_cast<std::streamsize>(room));
    return file.bad() ? kReadStop : static_cast<std::size_t>(file.gcount());
  };
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json version = json::parse(reply.body, nullptr, false);
  return said(app, version,
              fmt::format("{}@{} is there; let it serve with: samovar models promote {}@{}", name,
                          cell_text(version, {"", "/version"}), name, cell_text(version, {"", "/version"})));
}

}  // namespace

void add_models_change(Table& table) {
  const Argument model{"MODEL", "Name of the model", true, false, Complete::models};
  const Argument version{"MODEL@VERSION", "Which version", true, false, Complete::models};
  const Argument user{"USER", "Name or id of the user", true, false, Complete::users};
  auto& rows = table.commands;
  rows.push_back({"models",
                  "promote",
                  "Let a version serve predictions",
                  "Requests that name no version get this one from now on.",
                  {version},
                  {},
                  {{"samovar models promote readmission@2", ""}},
                  &promote});
  rows.push_back({"models",
                  "rollback",
                  "Let the version serve that served before",
                  "",
                  {model},
                  {},
                  {{"samovar models rollback readmission", ""}},
                  &rollback});
  rows.push_back({"models",
                  "retire",
                  "Let no version serve any more",
                  "Requests that name no version then get the latest; the versions stay.",
                  {model},
                  {},
                  {{"samovar models retire readmission", ""}},
                  &retire});
  rows.push_back({"models",
                  "describe",
                  "Say what a model is for",
                  "",
                  {model, {"TEXT", "The description"}},
                  {},
                  {{"samovar models describe readmission 'Who comes back within 30 days'", ""}},
                  &describe});
  rows.push_back(
      {"models",
       "export",
       "Write a version as a file for other programs",
       "ONNX, one C source file, or JSON that can be imported again. The box checks the file against its own "
       "scores before it gives it away. Needs your password anew; the reason goes into the audit log.",
       {{"MODEL", "Name, or NAME@VERSION", true, false, Complete::models}},
       {{"format", 0, "FORMAT", "What to write (default onnx)", "onnx|c|json", Complete::words},
        {"reason", 0, "TEXT", "Why it leaves the box"},
        {"out", 0, "FILE", "Where to (default NAME-VERSION.FORMAT); - for stdout", {}, Complete::file},
        kProgressFlag},
       {{"samovar models export readmission@2 --format onnx --reason 'for the tablet of ward 3'", ""}},
       &export_model});
  rows.push_back({"models",
                  "import",
                  "Make a model of a JSON export",
                  "It becomes the next version if a model of that name is there.",
                  {{"FILE", "What \"models export --format json\" wrote", true, false, Complete::file}},
                  {{"name", 'n', "NAME", "How it shall be called"}},
                  {{"samovar models import readmission-2.json --name readmission", ""}},
                  &import_model});
  rows.push_back({"models",
                  "protect",
                  "Keep a version from being deleted",
                  "",
                  {version},
                  {},
                  {{"samovar models protect readmission@2", ""}},
                  &protect});
  rows.push_back({"models",
                  "unprotect",
                  "Let a protected version be deleted again",
                  "",
                  {version},
                  {},
                  {{"samovar models unprotect readmission@2", ""}},
                  &unprotect});
  rows.push_back({"models",
                  "grant",
                  "Let a user ask a model for predictions",
                  "",
                  {model, user},
                  {},
                  {{"samovar models grant readmission mara", ""}},
                  &grant});
  rows.push_back({"models",
                  "ungrant",
                  "Take that right back",
                  "",
                  {model, user},
                  {},
                  {{"samovar models ungrant readmission mara", ""}},
                  &ungrant});
  rows.push_back({"models",
                  "delete",
                  "Delete a version that does not serve",
                  "Its key is destroyed, so that no copy of its file can be read again.",
                  {version},
                  {},
                  {{"samovar models delete readmission@1 --yes", ""}},
                  &remove});
}

}  // namespace samovar::cli
