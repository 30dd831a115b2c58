
#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/api/views.hpp"
#include "security/password.hpp"
#include "security/short_id.hpp"

namespace samovar::api {
namespace {

Response wait_response(const Request& request, Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  return to_response(
      {429,
       "too_many_attempts",
       {},
       "Too many wrong attempts: wait " + std::to_string(seconds.count()) + " s and try again.",
       {},
       seconds},
      request);
}

bool from_this_machine(const Request& request) {
  return request.remote_address.starts_with("127.") || request.remote_address == "::1" ||
         request.remote_address.starts_with("::ffff:127.");
}

// The code proves that whoever types it stands before this node: over the network nobody gets it.
View guest_view(Services& services, const Request& request) {
  const GuestView guest = services.members().guest();
  const bool shown = from_this_machine(request) && !guest.code.empty();
  return {{"state", guest.state},
          {"code", shown ? View(guest.code) : View(nullptr)},
          {"cluster_name", guest.cluster_name.empty() ? View(nullptr) : View(guest.cluster_name)},
          {"short_id", security::short_form(services.node.facts().id)}};
}

Response already_set_up(const Request& request) {
  return problem(request, 409, "already_set_up", "This box is set up already: log in instead.");
}

// Nothing when the code is right.
std::optional<Response> check_code(Services& services, const Request& request, const std::string& code) {
  const MonoTime now = services.loop.clock().mono();
  if (const Duration wait = services.setup_backoff.wait(now); wait > Duration::zero())
    return wait_response(request, wait);
  if (services.node.setup_code_matches(code)) return std::nullopt;
  services.setup_backoff.failed(now);
  return problem(request, 403, "wrong_setup_code",
                 "The set-up code is not the one on the box's console. It is also in its journal: journalctl "
                 "-u samovard.");
}

void read_admin(nlohmann::json& object, SetupRequest& out, std::vector<FieldError>& errors) {
  Fields fields(object, "/admin", errors);
  const auto username = fields.text("username", Need::required, {1, 32, false});
  if (username && !is_username(*username))
    fields.fail("username", "format",
                "Use a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit.");
  out.username = username.value_or("");
  out.display_name = fields.text("display_name", Need::optional, {0, 128, false}).value_or("");
  if (auto password = fields.secret("password", Need::required)) {
    if (auto good =
            security::check_password_policy(as_text(password->view()), out.username, out.display_name);
        !good)
      fields.fail("password", "weak", good.error().message());
    out.password = std::move(*password);
  }
  fields.finish();
}

void read_unlock(nlohmann::json& object, SetupRequest& out, std::vector<FieldError>& errors) {
  Fields fields(object, "/unlock", errors);
  const auto mode = fields.text("mode", Need::required);
  if (mode && *mode != "passphrase" && *mode != "key_file")
    fields.fail("mode", "format", "mode must be passphrase or key_file.");
  out.key_file = mode && *mode == "key_file";
  if (out.key_file) {
    if (!fields.is_null("passphrase"))
      fields.fail("passphrase", "unknown", "In mode key_file there is no passphrase.");
  } else if (auto passphrase =
                 fields.secret("passphrase", mode == "passphrase" ? Need::required : Need::optional)) {
    if (auto good = security::check_passphrase_policy(as_text(passphrase->view()), out.box_name); !good)
      fields.fail("passphrase", "weak", good.error().message());
    out.passphrase = std::move(*passphrase);
  }
  fields.finish();
}

SetupRequest read_setup(nlohmann::json& body, std::string& code, std::vector<FieldError>& errors) {
  SetupRequest out;
  Fields fields(body, "", errors);
  code = fields.text("code", Need::required).value_or("");
  out.box_name = fields.text("box_name", Need::required, {1, 64, false}).value_or("");
  const auto zone = fields.text("time_zone", Need::required, {1, 64, false});
  if (zone && !zone_known(*zone))
    fields.fail("time_zone", "format", "Not a known time zone; write e.g. Europe/Berlin or UTC.");
  out.time_zone = zone.value_or("");
  if (auto* admin = fields.object("admin", Need::required)) read_admin(*admin, out, errors);
  if (auto* unlock = fields.object("unlock", Need::required)) read_unlock(*unlock, out, errors);
  fields.finish();
  return out;
}

}  // namespace

Task<Response> get_setup(Services& services, Request& request) {
  const NodeFacts& facts = services.node.facts();
  View body = {{"phase", to_string(services.node.phase())},
               {"version", SAMOVAR_VERSION},
               {"node", {{"id", facts.id}, {"hostname", facts.hostname}, {"model", facts.model}}},
               {"api", "v1"},
               {"fingerprint", services.node.web_certificate().fingerprint}};
  if (services.node.phase() == Phase::fresh) body["join"] = guest_view(services, request);
  if (services.node.phase() == Phase::ready) {
    const auto general = nlohmann::json::parse(services.cluster().setting("general").json, nullptr, false);
    if (general.is_object() && general.contains("login_banner") && general["login_banner"].is_string() &&
        !general["login_banner"].get_ref<const std::string&>().empty())
      body["login_banner"] = general["login_banner"];
  }
  co_return json_response(200, body);
}

Task<Response> post_setup(Services& services, Request& request) {
  if (services.node.phase() != Phase::fresh) co_return already_set_up(request);
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  std::string code;
  SetupRequest setup = read_setup(*body, code, errors);
  // The code first: whoever does not know it learns nothing about what would be valid.
  if (auto wrong = check_code(services, request, code)) co_return std::move(*wrong);
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto done = co_await services.node.set_up(std::move(setup), request.remote_address);
  if (!done) co_return problem_from(done.error(), request);
  services.setup_backoff.succeeded();
  const View answer = {{"cluster", {{"id", done->id}, {"name", done->name}}}};
  co_return json_response(201, answer);
}

Task<Response> post_setup_join(Services& services, Request& request) {
  if (services.node.phase() != Phase::fresh) co_return already_set_up(request);
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto code = fields.text("setup_code", Need::required);
  const auto words = fields.text("words", Need::required, {1, 128, false});
  const auto digest = fields.text("ca_digest", Need::optional, {0, 64, false});
  fields.finish();
  if (auto wrong = check_code(services, request, code.value_or(""))) co_return std::move(*wrong);
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto expected = co_await services.members().expect_words(*words, digest.value_or(""));
  if (!expected && expected.error().code() == Errc::invalid)
    co_return validation_problem(request, {{"/words", "format", expected.error().message() + "."}});
  if (!expected) co_return problem_from(expected.error(), request);
  co_return json_response(202, guest_view(services, request));
}

Task<Response> post_setup_check(Services& services, Request& request) {
  if (services.node.phase() != Phase::fresh) co_return already_set_up(request);
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto code = fields.text("code", Need::required);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  if (auto wrong = check_code(services, request, *code)) co_return std::move(*wrong);
  co_return no_content();
}

Task<Response> post_unlock(Services& services, Request& request) {
  if (services.node.phase() == Phase::fresh)
    co_return problem(request, 409, "not_set_up", "This box is not set up yet.");
  if (services.node.phase() != Phase::locked)
    co_return problem(request, 409, "not_locked", "This box is not locked.");
  const MonoTime now = services.loop.clock().mono();
  if (const Duration wait = services.unlock_backoff.wait(now); wait > Duration::zero())
    co_return wait_response(request, wait);
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  auto passphrase = fields.secret("passphrase", Need::required);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto done = co_await services.node.unlock(std::move(*passphrase), request.remote_address);
  if (done) {
    services.unlock_backoff.succeeded();
    co_return no_content();
  }
  if (done.error().code() == Errc::denied) {
    services.unlock_backoff.failed(services.loop.clock().mono());
    co_return problem(request, 403, "wrong_passphrase", "The passphrase is wrong.");
  }
  co_return problem_from(done.error(), request);
}

}  // namespace samovar::api
