// Where the loop and the net thread meet: messages and news in both directions, and the links as last seen.
//
// Threading: any thread; what crosses is moved. Each direction is woken once for many messages.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/mutex.hpp"
#include "base/transport.hpp"
#include "daemon/net/mesh.hpp"

namespace samovar::net {

struct Inflow;
class Connection;

// What one peer may still queue, known on both sides.
struct PeerShare {
  struct Lane {
    std::atomic<std::size_t> queued{0};
    std::atomic<bool> down{false};  // the last try failed: nothing is taken until one succeeds
  };
  std::array<Lane, 2> lanes;
  Lane& of(samovar::Lane lane) { return lanes[static_cast<std::size_t>(lane)]; }
};
using PeerSharePtr = std::shared_ptr<PeerShare>;  // shared: a removed peer's last messages still count down

// A short message costs more than its bytes.
inline std::size_t queue_cost(const Bytes& message) { return message.size() + 64; }

struct Member {
  Peer peer;
  PeerSharePtr share;
};

struct Outgoing {
  std::string to;
  Lane lane = Lane::control;
  Bytes message;
};

struct News {
  enum class Kind : std::uint8_t { message, link, lost, clone };
  Kind kind = Kind::message;
  std::string peer;
  Lane lane = Lane::control;
  Bytes message;
  std::shared_ptr<Inflow> inflow;        // counts what waits for the loop
  std::weak_ptr<Connection> connection;  // to be told when it may go on
  LinkState link;
  std::string address;  // of a clone
};

class Hub {
 public:
  // `wake_loop` and `wake_net` are called for the first of several; each then takes all.
  Hub(std::function<void()> wake_loop, std::function<void()> wake_net)
      : wake_loop_(std::move(wake_loop)), wake_net_(std::move(wake_net)) {}

  void to_loop(News news);
  std::vector<News> take_news();
  void to_net(Outgoing outgoing);
  // In order with the messages: one that is sent after this finds the members changed.
  void to_net(std::vector<Member> members);
  struct Orders {
    std::vector<Outgoing> outgoing;
    std::optional<std::vector<Member>> members;
    std::size_t members_at = 0;  // messages before the change
  };
  Orders take_orders();

  void publish(const LinkState& state);
  void forget(const std::string& node_id);
  std::vector<LinkState> links() const;
  bool up(const std::string& node_id) const;
  std::string trouble(const std::string& node_id) const;

 private:
  const std::function<void()> wake_loop_;
  const std::function<void()> wake_net_;
  mutable Mutex mutex_;
  std::vector<News> news_ SAMOVAR_GUARDED_BY(mutex_);
  bool loop_woken_ SAMOVAR_GUARDED_BY(mutex_) = false;
  Orders orders_ SAMOVAR_GUARDED_BY(mutex_);
  bool net_woken_ SAMOVAR_GUARDED_BY(mutex_) = false;
  std::map<std::string, LinkState> links_ SAMOVAR_GUARDED_BY(mutex_);
};

}  // namespace samovar::net
