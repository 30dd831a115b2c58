// A whole box without sockets: the real routes, guard and handlers over a real cluster in a temporary
// folder. Time is the test's: advance() instead of sleeping.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/asio_loop.hpp"
#include "base/json.hpp"
#include "base/pool.hpp"
#include "base/rng.hpp"
#include "daemon/api/auth.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/router.hpp"
#include "daemon/api/services.hpp"
#include "daemon/floor_clock.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/daemon/api/fake_data.hpp"
#include "tests/unit/daemon/api/fake_members.hpp"
#include "tests/unit/daemon/api/fake_models.hpp"

namespace samovar::api::test {

inline const std::string kPassword = "copper kettle steams";
inline const std::string kOtherPassword = "birch smoke and honey";

// Real time plus what the test added.
class ShiftedClock : public Clock {
 public:
  WallTime wall() const override {
    return real_clock().wall() + std::chrono::duration_cast<std::chrono::microseconds>(shift);
  }
  MonoTime mono() const override { return real_clock().mono() + shift; }
  Duration shift{};
};

class FakeNode : public NodeControl {
 public:
  Phase phase() const override { return current; }
  const NodeFacts& facts() const override { return node_facts; }
  const WebCertificate& web_certificate() const override { return web; }
  std::vector<std::string> addresses() const override { return {"192.168.7.2"}; }
  cluster::Cluster* cluster() override { return current == Phase::ready ? state.get() : nullptr; }
  const SessionKeys* keys() const override { return &session_keys; }
  jobs::DataService* data() override { return current == Phase::ready ? fake_data : nullptr; }
  jobs::ModelService* models() override { return current == Phase::ready ? fake_models : nullptr; }
  Members& members() override { return *fake_members; }
  bool setup_code_matches(std::string_view typed) const override { return typed == "K7Q2-M4XP"; }
  Task<Result<cluster::ClusterInfo>> set_up(SetupRequest request, std::string address) override;
  Task<Result<void>> unlock(security::SecretBytes passphrase, std::string address) override;
  const power::Sample& sample() const override { return latest; }
  const power::Sensors& sensors() const override { return sensor_facts; }
  const power::History& history() const override { return past; }
  DiskSpace disk_space() const override { return {1000, 400}; }
  std::vector<Alert> alerts() const override { return {}; }

  Phase current = Phase::ready;
  NodeFacts node_facts;
  WebCertificate web;
  SessionKeys session_keys;
  std::unique_ptr<cluster::Cluster> state;
  FakeData* fake_data = nullptr;  // the box's
  FakeModels* fake_models = nullptr;
  FakeMembers* fake_members = nullptr;
  power::Sample latest;
  power::Sensors sensor_facts;
  power::History past;
  std::optional<SetupRequest> seen_setup;
};

// What a request is sent with.
struct As {
  std::string cookie;  // the session's secret
  std::string csrf;
  std::string bearer;
  std::string address = "192.168.7.9";
  std::map<std::string, std::string> headers;
  bool chunked = false;  // a streamed body does not tell its length
};

struct Reply {
  int status = 0;
  Response response;
  nlohmann::json body;  // null when it is none
  std::string code() const { return body.is_object() ? body.value("code", "") : ""; }
  std::string header(std::string_view name) const { return std::string(response.headers.get(name)); }
};

// Keeps what a stream was sent.
class RecordingSink : public EventSink {
 public:
  bool send(std::string_view text) override {
    if (full) return false;
    sent += text;
    return true;
  }
  void close() override {
    closed = true;
    if (closed_callback) std::exchange(closed_callback, {})();
  }
  void on_closed(std::function<void()> callback) override { closed_callback = std::move(callback); }
  std::string sent;
  bool closed = false;
  bool full = false;
  std::function<void()> closed_callback;
};

class Box {
 public:
  Box();
  ~Box();

  // Through router, guard and handler. `target` may have a query. A text body goes to a route that reads a
  // stream as it is, in pieces of 5 bytes.
  Reply send(Method method, const std::string& target, const nlohmann::json& body, const As& as);
  Reply get(const std::string& target, const As& as) { return send(Method::get, target, nullptr, as); }
  Reply post(const std::string& target, const nlohmann::json& body, const As& as) {
    return send(Method::post, target, body, as);
  }

  // A user with kPassword, made by the node itself.
  cluster::User add_user(const std::string& name, cluster::Role role);
  // A session whose password was given just now.
  As log_in(const cluster::User& user, cluster::SessionKind kind = cluster::SessionKind::cookie);
  As log_in_as(cluster::Role role);  // a fresh user of that role
  std::string token_of(const cluster::User& user, std::vector<std::string> scopes,
                       std::optional<std::string> cidr = {},
                       std::chrono::hours life = std::chrono::hours(24));
  std::uint64_t audit_count(const std::string& action);
  void advance(Duration by) { clock.shift += by; }
  // Until what requests left running (a session's last use) is applied: commands keep their order.
  void settle();

  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    bool waiting = false;
    spawn<T>(std::move(task), [&](T value) {
      result.emplace(std::move(value));
      if (waiting) loop.stop();  // a stop before the run would end the next one
    });
    waiting = true;
    if (!result) loop.run();
    return std::move(*result);
  }

  samovar::test::TempDir dir;
  AsioLoop loop;
  ShiftedClock clock;
  daemon::LoopWithClock timed{loop, clock};
  Pool cpu{"cpu", 0, 1};
  std::unique_ptr<security::HashGate> gate;
  EventHub events{timed, system_rng()};
  FakeNode node;
  FakeData data{clock};
  FakeModels models{clock};
  FakeMembers members;
  std::unique_ptr<Services> services;
  std::unique_ptr<Router> router;
  Guard guard;
  cluster::User admin;
  unsigned users_made = 0;
};

}  // namespace samovar::api::test
