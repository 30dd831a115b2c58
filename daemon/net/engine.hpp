// The mesh's half on the net thread: listens, calls, judges certificates, keeps one link per member.
//
// A link has two lanes; a lane has connections, as a rule one. Two appear when both ends call at once, or
// when one end lost a connection the other still believes in: then messages are taken from both, sent on the
// preferred one, and the end that made the other retires it. So nothing is lost by sorting them out.
//
// Threading: the net thread, but for the constructor, listen() and post().
// Ownership: borrows the Hub, which outlives it.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/metrics.hpp"
#include "daemon/net/connection.hpp"
#include "daemon/net/hub.hpp"
#include "daemon/net/mesh.hpp"

namespace samovar::net {

class Engine final : public ConnectionOwner {
 public:
  Engine(Hub& hub, MeshOptions options, std::string self, security::Certificate ca, TlsContext tls);
  ~Engine() override;

  boost::asio::io_context& context() { return context_; }
  Result<std::vector<std::uint16_t>> listen();
  void start();
  void stop();

  void carry_out();  // what the loop ordered
  void hint(const std::string& node_id, const std::string& address);

 private:
  struct LaneState {
    explicit LaneState(boost::asio::io_context& context) : timer(context) {}
    std::deque<Bytes> queue;
    std::vector<ConnectionPtr> live;
    std::vector<ConnectionPtr> dialling;
    std::vector<std::string> candidates;  // of this round of calls
    std::size_t next_candidate = 0;
    bool wanted = false;  // somebody had something to say: keep trying
    MonoTime round_at{};
    Duration backoff{};
    boost::asio::steady_timer timer;  // the next call, or the next round
    Error worst{Errc::io, ""};        // the most telling failure of this round
  };
  struct Sample {
    MonoTime at{};
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  struct Link {
    Link(boost::asio::io_context& context, Member member);
    LaneState& of(Lane lane) { return lane == Lane::control ? control : bulk; }

    std::string id;
    PeerSharePtr share;
    std::vector<std::string> addresses;
    std::vector<std::string> hints;
    std::string working;  // where it was last reached
    std::optional<BootId> boot;
    LaneState control;
    LaneState bulk;
    ConnectionPtr challenger;  // greeted, while an older connection proves that it lives
    boost::asio::steady_timer challenge;
    LinkState state;
    std::deque<Sample> samples;
    metrics::Gauge& up_gauge;
    metrics::Gauge& rtt_gauge;
    metrics::Counter& sent_counter;
    metrics::Counter& received_counter;
    metrics::Counter& lost_counter;
  };
  // Shared: a timer's wait holds on weakly, a removed link ends its waits.
  using LinkPtr = std::shared_ptr<Link>;

  // ConnectionOwner
  Result<std::string> judge(const Connection& connection, const security::Certificate& leaf,
                            const std::string& dialled) override;
  Hello our_hello(Lane lane) override;
  void greeted(const ConnectionPtr& connection) override;
  bool next_message(Connection& connection, Bytes& message) override;
  void received(const ConnectionPtr& connection, Bytes message) override;
  void moved(Connection& connection, std::size_t sent, std::size_t received) override;
  void measured(Connection& connection, Duration round_trip) override;
  void closed(const ConnectionPtr& connection, const Error& why) override;

  // engine.cpp
  void accept_next(boost::asio::ip::tcp::acceptor& acceptor);
  void admit(boost::asio::ip::tcp::socket socket);
  LinkPtr find(const std::string& node_id) const;
  ConnectionPtr make_connection();
  void adopt(const LinkPtr& link, const ConnectionPtr& connection);
  void challenge(const LinkPtr& link, const ConnectionPtr& connection);
  void end_challenge(const LinkPtr& link, bool clone);
  void report_clone(const std::string& node_id, const std::string& address);
  void cut(const LinkPtr& link, const Error& why);

  // engine_lanes.cpp
  void queue_all(std::span<Outgoing> all);
  void set_members(std::vector<Member> members);
  void kick(const LinkPtr& link, Lane lane);
  void start_round(const LinkPtr& link, Lane lane);
  void dial_next(const LinkPtr& link, Lane lane);
  void dial_failed(const LinkPtr& link, Lane lane, const Error& why);
  void round_failed(const LinkPtr& link, Lane lane);
  void retry_in(const LinkPtr& link, Lane lane, Duration delay);
  void retry_now(const LinkPtr& link);
  void stop_dialling(LaneState& lane, bool greeting_too);
  void live_ended(const LinkPtr& link, Lane lane, const ConnectionPtr& connection, const Error& why);
  void drop_queue(const LinkPtr& link, Lane lane);
  void lost(const LinkPtr& link, Lane lane);
  std::vector<std::string> candidates(const Link& link) const;
  Connection* preferred(const LaneState& lane) const;
  bool better(const Connection& a, const Connection& b) const;
  Duration jitter(Duration span) const;

  // engine_state.cpp
  void tick();
  void tick_lane(LaneState& lane, MonoTime now);
  void sample(Link& link, MonoTime now);
  void publish(Link& link, bool news);
  void set_up(Link& link, bool up);

  // Constant after listen().
  Hub& hub_;
  const MeshOptions options_;
  const std::string self_;
  const security::Certificate ca_;
  const TlsContext tls_;
  ConnectionLimits limits_;
  BootId boot_{};
  std::uint16_t port_ = 0;
  DialOptions dial_options_;

  // Net thread.
  boost::asio::io_context context_{1};
  std::vector<boost::asio::ip::tcp::acceptor> acceptors_;
  std::map<std::string, LinkPtr> links_;
  std::list<ConnectionPtr> half_open_;  // accepted and not greeted yet, oldest first
  std::map<std::string, MonoTime> clones_told_;
  boost::asio::steady_timer ticker_;
  bool stopped_ = false;
};

}  // namespace samovar::net
