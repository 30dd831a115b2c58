// What the other members say of themselves, and when they were last heard.
//
// Nobody watches: the leader alone asks, briefly, every 30 s, for those who place copies. Somebody watches
// (an open event stream, a request for the nodes), or no leader is known: every node asks all others every 2
// s, in full.
//
// Threading: loop only. Ownership: borrows the loop and the exchange.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/task.hpp"
#include "daemon/api/members.hpp"
#include "daemon/api/node_report.hpp"
#include "daemon/net/exchange.hpp"

namespace samovar::daemon {

struct ReportsHooks {
  std::function<std::vector<std::string>()> others;  // members but this one and the removed
  std::function<bool()> leads;
  std::function<bool()> watched;
  // What the log's leader knows for sure; nothing on the others.
  std::function<std::optional<bool>(const std::string& node_id)> heard;
  std::function<bool(const std::string& node_id)> linked;  // a connection is up
  std::function<bool()> calm;  // there is a leader: who is not known to be away is presumed there
  std::function<void(const std::string& node_id)> sampled;  // a full report came
  std::function<void(const std::string& node_id)> turned;   // reachable, or not any more
};

// How far our clock is ahead of the one that most agree with: the middle one, the earlier of two. `others`
// are the others' minus ours; nothing without any, and ours counts only when it is sure.
std::optional<Duration> ahead_of_most(std::vector<Duration> others, bool own_sure);

class Reports {
 public:
  static constexpr std::chrono::seconds kTick{2};
  static constexpr std::chrono::seconds kIdle{30};
  static constexpr std::chrono::seconds kFresh{4};        // no need to ask again
  static constexpr std::chrono::seconds kWatchedFor{10};  // after a request
  static constexpr std::chrono::milliseconds kAnswerMax{1500};

  Reports(Loop& loop, net::Exchange& exchange, ReportsHooks hooks);
  ~Reports();
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  void start();
  void stop();

  Task<void> refresh();
  const api::NodeReport* find(std::string_view node_id) const;
  bool reachable(const std::string& node_id) const;
  std::optional<WallTime> heard_at(const std::string& node_id) const;
  // Its clock against ours, as of its last report; half a round trip is allowed for.
  std::optional<std::chrono::milliseconds> clock_ahead(const std::string& node_id) const;

 private:
  struct Entry {
    std::optional<api::NodeReport> report;
    std::optional<MonoTime> answered;
    std::optional<MonoTime> failed;
    std::optional<WallTime> heard;
    std::optional<MonoTime> full_at;
    std::chrono::milliseconds ahead{0};
    bool asking = false;
    bool was_reachable = false;
  };

  void tick();
  void look_for_turns();
  Task<void> ask(std::string node_id, bool brief);
  void take(Entry& entry, api::NodeReport report);

  Loop& loop_;
  net::Exchange& exchange_;
  const ReportsHooks hooks_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::optional<MonoTime> asked_idle_;
  std::optional<MonoTime> wanted_;  // by a request
  Loop::Id timer_ = 0;
  bool running_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with questions under way
};

}  // namespace samovar::daemon
