// Live events for browsers and CLIs (text/event-stream): who listens, what they may hear, replay.
//
// State changes carry ids "<boot>-<seq>" and stay in a ring, so that a client that was away gets what
// it missed, or the event `reset` when that is gone. Samples carry no id and may be dropped for a slow
// reader; a state change that does not fit ends the stream, and the client comes back for it.
//
// Threading: loop only. Ownership: borrows the Loop; streams are kept until they close.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop.hpp"
#include "base/rng.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

// Who hears an event. Kept with it, for those who come back for what they missed.
struct Audience {
  Audience() = default;  // everybody
  // That user and administrators; work of the node itself, with no user, is for administrators alone.
  Audience(const std::string& user_id) : all(false), users{user_id} {}
  // These users and administrators; auditors, too.
  static Audience of_dataset(std::vector<std::string> user_ids) {
    Audience audience;
    audience.all = false;
    audience.auditors = true;
    audience.users = std::move(user_ids);
    return audience;
  }

  bool all = true;
  bool auditors = false;
  std::vector<std::string> users;
};

struct Subscription {
  std::vector<std::string> topics;  // "node", or a whole event's name; empty: all
  bool audit = false;               // may hear audit.appended
  std::string user_id;              // hears what is meant for this user alone
  bool admin = false;               // and an administrator hears that of everybody
  std::string last_event_id;
  std::function<std::string()> hello;  // the snapshot's JSON
  // Negative: the session has ended; else for how long it will live without activity.
  std::function<std::chrono::seconds()> remaining;
};

class EventHub {
 public:
  static constexpr std::size_t kRingMax = 1024;
  static constexpr std::chrono::seconds kPing{15};
  static constexpr std::chrono::seconds kExpiringSoon{120};

  EventHub(Loop& loop, Rng& rng);
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  void subscribe(std::shared_ptr<EventSink> sink, Subscription subscription);

  // `data` is one line of JSON.
  void publish_change(std::string_view event, std::string_view data, const Audience& audience = {});
  // At most twice a second per event and `key` (the node): more are dropped.
  void publish_sample(std::string_view event, std::string_view key, std::string_view data,
                      const Audience& audience = {});

  // Ends the streams whose session has ended ("bye"). Called every minute, and when sessions change.
  void recheck();
  void close_all();
  std::size_t count() const noexcept { return streams_.size(); }
  std::string last_id() const;

 private:
  struct Stream;
  struct Change {
    std::uint64_t seq;
    std::string event;
    std::string text;
    Audience audience;
  };
  void replay(Stream& stream, std::string_view last_event_id);
  void end(const std::shared_ptr<Stream>& stream, bool bye);
  void arm();
  void tick();

  Loop& loop_;
  const std::string boot_;
  std::uint64_t seq_ = 0;
  std::deque<Change> ring_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::map<std::string, MonoTime> sampled_;
  Loop::Id timer_ = 0;
  unsigned ticks_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for close callbacks that come after us
};

}  // namespace samovar::api
