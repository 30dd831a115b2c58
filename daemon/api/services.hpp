// What handlers work with: the node behind an interface that daemon/node.cpp implements, and the few
// helpers that outlive one request.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "daemon/api/attempts.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/power/history.hpp"
#include "daemon/power/sample.hpp"
#include "security/hash_gate.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {
class DataService;
class ModelService;
}  // namespace samovar::jobs

namespace samovar::api {

class EventHub;
class Members;

enum class Phase : std::uint8_t {
  fresh,     // "new": not set up
  locked,    // needs the passphrase
  starting,  // opening its state
  joining,   // a member since a moment ago: the state is on its way
  ready,
  removed,  // was a member: only a factory reset makes it useful again
};
std::string_view to_string(Phase phase) noexcept;

// Constant while the program runs.
struct NodeFacts {
  std::string id;
  std::string hostname;
  std::string model;
  std::string arch;
  unsigned cores = 1;
  std::uint64_t memory_bytes = 0;
  WallTime started_at{};
  MonoTime started_mono{};
  std::string sandbox = "off";  // full, partial, off
  std::string compute;          // what trainings run on, a sentence
};

struct WebCertificate {
  std::string fingerprint;     // of the leaf, "AB:CD:…"
  std::string ca_fingerprint;  // of the web root
  std::string ca_pem;
  WallTime not_after{};
  std::vector<std::string> names;
};

struct SetupRequest {
  std::string box_name;
  std::string time_zone;
  std::string username;
  std::string display_name;
  security::SecretBytes password;
  bool key_file = false;             // unlocks by itself
  security::SecretBytes passphrase;  // empty with key_file
};

struct Alert {
  std::string id;
  std::string severity;  // info, warning, critical
  std::string title;
  std::string detail;
  std::string remedy;
  WallTime since{};
};

// Derived from the cluster master key; there only while ready.
struct SessionKeys {
  security::SecretBytes pepper;
  security::SecretBytes csrf;
};

class NodeControl {
 public:
  virtual ~NodeControl() = default;
  virtual Phase phase() const = 0;
  virtual const NodeFacts& facts() const = 0;
  virtual const WebCertificate& web_certificate() const = 0;
  virtual std::vector<std::string> addresses() const = 0;

  // Null unless ready.
  virtual cluster::Cluster* cluster() = 0;
  virtual const SessionKeys* keys() const = 0;
  virtual jobs::DataService* data() { return nullptr; }
  virtual jobs::ModelService* models() { return nullptr; }
  virtual Members& members();  // of a box that is alone, unless somebody knows better

  virtual bool setup_code_matches(std::string_view typed) const = 0;
  // Errc::conflict when it is set up already, or another set-up runs.
  virtual Task<Result<cluster::ClusterInfo>> set_up(SetupRequest request, std::string address) = 0;
  // Errc::denied: wrong passphrase; Errc::conflict: not locked.
  virtual Task<Result<void>> unlock(security::SecretBytes passphrase, std::string address) = 0;

  // t at the epoch before the first one.
  virtual const power::Sample& sample() const = 0;
  virtual const power::Sensors& sensors() const = 0;
  virtual const power::History& history() const = 0;
  virtual DiskSpace disk_space() const = 0;
  virtual std::vector<Alert> alerts() const = 0;
};

struct Services {
  Loop& loop;
  Rng& rng;
  NodeControl& node;
  security::HashGate& gate;
  EventHub& events;

  Attempts login_attempts{{30, std::chrono::minutes(1)}};  // per address
  Attempts denied_records{{30, std::chrono::minutes(1)}};  // audit entries of refusals, per user
  Backoff setup_backoff{};
  Backoff unlock_backoff{};
  std::set<std::pair<std::string, std::string>> running_keys{};  // Idempotency-Keys under way: user, key

  WallTime now() const;
  cluster::Cluster& cluster() const { return *node.cluster(); }
  jobs::DataService& data() const { return *node.data(); }
  jobs::ModelService& models() const { return *node.models(); }
  Members& members() const { return node.members(); }
};

}  // namespace samovar::api
