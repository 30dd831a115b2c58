// The members' network: TLS 1.3 both ways between every pair that has something to say.
//
// A peer is who its certificate says: issued by the cluster's CA, its node id a member's right now (set_peers
// decides in the handshake, and cuts open connections of those who are members no more). Two connections per
// pair, one per lane. Connections are made when there is something to send and kept; who does not answer is
// noticed within 5 s while anything waits for it. Half-open handshakes are bounded in number and time.
//
// Threading: loop only from outside; sockets and ciphers run on one thread of their own ("net").
// Ownership: borrows the Loop and the identity, which outlive it.
// Format:    docs/formats/mesh.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/transport.hpp"
#include "security/certificates.hpp"
#include "security/identity.hpp"

namespace samovar::net {

inline constexpr std::uint16_t kMeshPort = 7443;

struct MeshOptions {
  std::vector<std::string> listen;  // address:port; port 0 for any free one
  std::size_t control_bytes_max = 4u << 20;
  std::size_t bulk_bytes_max = 2u << 20;
  std::size_t queue_bytes_max = 32u << 20;  // waiting per peer and lane, then Errc::busy
  unsigned half_open_max = 64;
  Duration handshake_max = std::chrono::seconds(5);
  Duration silence_max = std::chrono::seconds(4);  // while something waits for an answer
  std::size_t unread_bytes_max = 4u << 20;  // per connection, waiting for the loop; then it is not read
  Duration retry_min = std::chrono::milliseconds(100);
  Duration retry_max = std::chrono::seconds(5);
};

struct Peer {
  std::string node_id;
  std::vector<std::string> addresses;  // "10.0.0.7:7443", best first; more are learnt with hint()
};

// One direction of a link as the meter sees it, control and bulk together.
struct LinkRates {
  double send_bytes_per_second = 0;  // over the last 10 s
  double receive_bytes_per_second = 0;
  std::uint64_t sent_bytes = 0;  // since the start
  std::uint64_t received_bytes = 0;
};

struct LinkState {
  std::string node_id;
  bool up = false;
  std::string address;           // of the other end, when up
  std::string trouble;           // a sentence, when the last try failed: refused, timed out, certificate, …
  std::optional<double> rtt_ms;  // smoothed, from the lane's own pings
  std::optional<MonoTime> heard;        // last sign of life
  std::optional<MonoTime> since;        // up or down since
  std::string version;                  // of the program there, once it has been up
  std::optional<Duration> clock_ahead;  // of the other end's wall clock, when it last connected
  LinkRates rates;
};

class Mesh final : public Transport {
 public:
  // Errors are for the console: address in use, no such address, a certificate that is not this node's.
  static Result<std::unique_ptr<Mesh>> open(Loop& loop, MeshOptions options,
                                            const security::NodeIdentity& identity, security::Certificate own,
                                            security::Certificate ca);
  ~Mesh() override;

  // Transport
  const std::string& self() const override;
  Result<void> send(const std::string& to, Bytes message, Lane lane = Lane::control) override;
  void on_message(OnMessage handler) override;
  void on_lost(OnLost handler) override;

  // The members, without us. Replaces; who is not named any more is cut at once.
  void set_peers(std::vector<Peer> peers);
  // Discovery saw a member there. Tried after the known ones, remembered while it works.
  void hint(const std::string& node_id, const std::string& address);
  std::vector<LinkState> links() const;
  bool up(const std::string& node_id) const;
  void on_link(std::function<void(const LinkState&)> listener);  // up, down; on the loop
  // A second machine with a member's identity, or with ours, was refused: a cloned disk. At most once a
  // minute for each address.
  void on_clone(std::function<void(const std::string& node_id, const std::string& address)> listener);
  std::vector<std::uint16_t> ports() const;  // that we listen on, in order of the options

 private:
  struct Impl;
  explicit Mesh(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::net
