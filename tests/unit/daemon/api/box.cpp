#include "tests/unit/daemon/api/box.hpp"

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "daemon/api/routes.hpp"
#include "security/init.hpp"
#include "security/password.hpp"
#include "security/token.hpp"

namespace samovar::api::test {

using security::SecretBytes;

namespace {

Bytes bytes_of(const std::array<std::uint8_t, 32>& hash) { return {hash.begin(), hash.end()}; }

std::string cheap_hash(const FakeNode& node, const std::string& password) {
  return security::hash_password(as_bytes(password), node.session_keys.pepper, security::kTestCost).value();
}

void split_target(const std::string& target, Request& request) {
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark == std::string::npos) return;
  std::string rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string item = rest.substr(0, end);
    const auto equals = item.find('=');
    request.query.emplace_back(item.substr(0, equals),
                               equals == std::string::npos ? "" : item.substr(equals + 1));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
}

}  // namespace

namespace {

class TextBody : public BodyReader {
 public:
  TextBody(std::string text, bool tells_length) : text_(std::move(text)), tells_length_(tells_length) {
    length_ = text_.size();
  }
  Task<Result<Bytes>> read() override {
    const std::string piece = text_.substr(0, 5);
    text_.erase(0, piece.size());
    co_return to_bytes(std::string_view(piece));
  }
  std::optional<std::uint64_t> content_length() const override {
    return tells_length_ ? std::optional(length_) : std::nullopt;
  }

 private:
  std::string text_;
  bool tells_length_;
  std::uint64_t length_ = 0;
};

}  // namespace

Task<Result<cluster::ClusterInfo>> FakeNode::set_up(SetupRequest request, std::string) {
  cluster::ClusterInfo info;
  info.id = "clu_test";
  info.name = request.box_name;
  seen_setup = std::move(request);
  co_return info;
}

Task<Result<void>> FakeNode::unlock(SecretBytes passphrase, std::string) {
  if (as_text(passphrase.view()) != "seven quiet birches stand") co_return Error{Errc::denied, "wrong"};
  current = Phase::ready;
  co_return Result<void>{};
}

Box::Box() {
  EXPECT_TRUE(security::init({false, false}));
  security::HashGateOptions gate_options;
  gate_options.password_cost = security::kTestCost;
  gate = std::make_unique<security::HashGate>(cpu, timed, gate_options);
  node.node_facts.id = "node1";
  node.node_facts.hostname = "kettle";
  node.web.fingerprint = "AB:CD";
  node.session_keys = {SecretBytes::random(32), SecretBytes::random(32)};
  cluster::ClusterOptions options;
  options.dir = dir / "raft";
  options.cluster_id = new_id("clu", clock, system_rng());
  options.node_id = "node1";
  options.bootstrap = true;
  options.log.free_bytes_min = 0;
  auto opened = cluster::Cluster::open(timed, system_rng(), options, SecretBytes::random(32));
  if (!opened) ADD_FAILURE() << opened.error().message();
  node.state = std::move(opened).value();
  cluster::NewCluster fresh;
  fresh.id = options.cluster_id;
  fresh.name = "Kettle";
  fresh.time_zone = "UTC";
  fresh.admin_username = "ada";
  fresh.admin_display_name = "Ada";
  fresh.admin_password_hash = cheap_hash(node, kPassword);
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto made = run(node.state->initialise(call, fresh));
  if (!made) ADD_FAILURE() << made.error().message();
  admin = node.state->user_by_name("ada").value();
  node.fake_data = &data;
  data.state = node.state.get();
  node.fake_models = &models;
  node.fake_members = &members;
  models.state = node.state.get();
  services.reset(new Services{timed, system_rng(), node, *gate, events});
  router = std::make_unique<Router>(Router::create(make_routes(*services)).value());
  guard = make_guard(*services);
}

Box::~Box() {
  run([](Box& box) -> Task<bool> {
    co_await box.node.state->close();
    co_return true;
  }(*this));
  node.state.reset();
}

Reply Box::send(Method method, const std::string& target, const nlohmann::json& body, const As& as) {
  Request request;
  request.method = method;
  request.remote_address = as.address;
  request.trace_id = "trace";
  split_target(target, request);
  request.headers.set("Host", "kettle.local:8443");
  if (!body.is_null()) {
    request.body = body.is_string() ? body.get<std::string>() : body.dump();
    request.headers.set("Content-Type", "application/json");
  }
  if (!as.cookie.empty()) {
    request.headers.set("Cookie", std::string(kSessionCookie) + "=" + as.cookie);
    if (is_unsafe(method)) {
      request.headers.set("X-CSRF", as.csrf);
      request.headers.set("Sec-Fetch-Site", "same-origin");
    }
  }
  if (!as.bearer.empty()) request.headers.set("Authorization", "Bearer " + as.bearer);
  for (const auto& [name, value] : as.headers) request.headers.set(name, value);
  auto match = router->match(method, request.path);
  Reply reply;
  if (match.outcome != Router::Match::Outcome::found) {
    reply.status = match.outcome == Router::Match::Outcome::not_found ? 404 : 405;
    return reply;
  }
  request.params = std::move(match.params);
  if (match.route->body == Body::stream) {
    request.stream = std::make_shared<TextBody>(std::exchange(request.body, {}), !as.chunked);
    if (as.headers.count("Content-Type") == 0)
      request.headers.set("Content-Type", "application/offset+octet-stream");
  }
  auto refused = run(guard(*match.route, request));
  reply.response = refused ? std::move(*refused) : run(match.route->handler(request));
  reply.status = reply.response.status;
  reply.body = nlohmann::json::parse(reply.response.body, nullptr, false);
  if (reply.body.is_discarded()) reply.body = nullptr;
  return reply;
}

cluster::User Box::add_user(const std::string& name, cluster::Role role) {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  cluster::NewUser user{name, name, role, cheap_hash(node, kPassword)};
  auto made = run(node.state->create_user(call, user));
  if (!made) ADD_FAILURE() << made.error().message();
  return made.value();
}

As Box::log_in(const cluster::User& user, cluster::SessionKind kind) {
  const std::string secret = security::make_session_secret(system_rng());
  const auto hash = security::session_hash(node.session_keys.pepper, secret).value();
  cluster::NewSession fresh;
  fresh.user_id = user.id;
  fresh.kind = kind;
  fresh.secret_hash = bytes_of(hash);
  fresh.address = "192.168.7.9";
  cluster::Call call;
  call.actor.user_id = user.id;
  call.actor.username = user.username;
  call.actor.role = user.role;
  call.actor.auth = cluster::AuthKind::password;
  auto session = run(node.state->login(call, fresh));
  if (!session) ADD_FAILURE() << session.error().message();
  As as;
  if (kind == cluster::SessionKind::bearer) {
    as.bearer = secret;
  } else {
    as.cookie = secret;
    as.csrf = security::csrf_value(node.session_keys.csrf, hash);
  }
  return as;
}

As Box::log_in_as(cluster::Role role) {
  return log_in(add_user("user" + std::to_string(++users_made), role));
}

std::string Box::token_of(const cluster::User& user, std::vector<std::string> scopes,
                          std::optional<std::string> cidr, std::chrono::hours life) {
  const auto secret = security::make_token(system_rng());
  const auto parsed = security::parse_token(secret.text).value();
  cluster::NewToken token;
  token.user_id = user.id;
  token.name = "test";
  token.lookup = secret.id;
  token.secret_hash = bytes_of(security::token_hash(node.session_keys.pepper, parsed));
  token.scopes = std::move(scopes);
  token.cidr = std::move(cidr);
  token.expires_at = node.state->now() + life;
  cluster::Call call;
  call.actor.user_id = user.id;
  call.actor.username = user.username;
  call.actor.role = user.role;
  call.actor.auth = cluster::AuthKind::session;
  auto made = run(node.state->create_token(call, token));
  if (!made) ADD_FAILURE() << made.error().message();
  return secret.text;
}

void Box::settle() {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto done = run(node.state->record(call, "test.settle", "", "ok", "{}"));
  EXPECT_TRUE(done);
}

std::uint64_t Box::audit_count(const std::string& action) {
  cluster::AuditQuery query;
  query.limit = cluster::kPageMax;
  query.action = action;
  return node.state->audit(query).items.size();
}

}  // namespace samovar::api::test
