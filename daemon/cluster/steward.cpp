#include "daemon/cluster/steward.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "daemon/cluster/cluster.hpp"

namespace samovar::cluster {
namespace {

using raft::LogMember;
using raft::Voice;
using Kind = StewardAction::Kind;

constexpr Duration kFailureKept = std::chrono::seconds(10);

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// How many of the living could still go, when so many vote and so many of them are there.
std::ptrdiff_t spare(std::size_t voters, std::size_t living) {
  return static_cast<std::ptrdiff_t>(living) - static_cast<std::ptrdiff_t>(voters / 2 + 1);
}

class Council {
 public:
  explicit Council(const StewardView& view) : view_(view) {
    for (const LogMember& member : view.members) {
      const bool wanted = contains(view.active, member.node_id);
      if (member.voice == Voice::voter) {
        voters_.push_back(&member);
        if (!wanted) leaving_.push_back(&member);
        if (wanted && (member.heard || member.node_id == view.self)) living_.push_back(&member);
        if (wanted && !member.heard && member.node_id != view.self) dead_.push_back(&member);
      } else if (wanted && member.heard && !contains(view.not_promotable, member.node_id)) {
        standbys_.push_back(&member);
      }
    }
    wanted_ = voters_wanted(living_.size() + standbys_.size());
  }

  StewardAction decide() const {
    if (auto step = leave_the_lead(); step.kind != Kind::none) return step;
    if (auto step = remove_strangers(); step.kind != Kind::none) return step;
    if (auto step = add_missing(); step.kind != Kind::none) return step;
    // First the new one, then the old one goes: there is no moment with fewer voters than before.
    if (living_.size() < wanted_ && !standbys_.empty() && (voters_.size() < kVotersMax || dead_.empty()))
      return {Kind::promote, best(standbys_)->node_id, "more nodes that vote survive more losses"};
    return take_votes();
  }

 private:
  // Who is removed or drained does not lead.
  StewardAction leave_the_lead() const {
    if (contains(view_.active, view_.self)) return {};
    if (!living_.empty()) return {Kind::hand_over, best(living_)->node_id, "this node is leaving"};
    if (!standbys_.empty())
      return {Kind::promote, best(standbys_)->node_id, "this node is leaving and nobody else votes"};
    return {};
  }

  StewardAction remove_strangers() const {
    for (const LogMember& member : view_.members) {
      if (member.node_id == view_.self || contains(view_.active, member.node_id) ||
          contains(view_.draining, member.node_id))
        continue;
      return {Kind::remove, member.node_id, "it is no member of the cluster any more"};
    }
    return {};
  }

  StewardAction add_missing() const {
    for (const auto* ids : {&view_.active, &view_.draining})
      for (const std::string& id : *ids)
        if (std::none_of(view_.members.begin(), view_.members.end(),
                         [&](const LogMember& member) { return member.node_id == id; }))
          return {Kind::add, id, "a new member"};
    return {};
  }

  StewardAction take_votes() const {
    for (const LogMember* member : leaving_)
      if (member->node_id != view_.self && manage_without(*member))
        return {Kind::demote, member->node_id, "it is being drained"};
    if (!dead_.empty()) {
      if (voters_.size() > voters_wanted(living_.size() + standbys_.size() + dead_.size()))
        return {Kind::demote, worst(dead_)->node_id, "it is silent, and others vote in its place"};
      // A majority decides about the others, never a minority about itself.
      for (std::size_t less = 1; less <= dead_.size() && spare(voters_.size(), living_.size()) >= 0; ++less)
        if (spare(voters_.size() - less, living_.size()) > spare(voters_.size(), living_.size()))
          return {Kind::demote, worst(dead_)->node_id,
                  "it is silent, and the others survive more without it"};
      // Room for one that is there.
      if (living_.size() < wanted_ && !standbys_.empty())
        return {Kind::demote, worst(dead_)->node_id, "it is silent, and another one can vote"};
      return {};
    }
    if (living_.size() > wanted_) {
      std::vector<const LogMember*> others;
      for (const LogMember* member : living_)
        if (member->node_id != view_.self) others.push_back(member);
      if (!others.empty())
        return {Kind::demote, worst(others)->node_id, "an even number of votes survives no more losses"};
    }
    return {};
  }

  // Those that stay may be dead: then the ones that are being drained are all there is to agree on anything.
  bool manage_without(const LogMember& one) const {
    if (living_.empty()) return false;
    const auto there = std::count_if(voters_.begin(), voters_.end(), [&](const LogMember* member) {
      const bool heard = member->heard && !contains(view_.not_promotable, member->node_id);
      return member != &one && (member->node_id == view_.self || heard);
    });
    return spare(voters_.size() - 1, static_cast<std::size_t>(there)) >= 0;
  }

  // The furthest in the log; equals by name, so that the choice is the same each time.
  static const LogMember* best(const std::vector<const LogMember*>& members) {
    return *std::min_element(members.begin(), members.end(), [](const LogMember* a, const LogMember* b) {
      return a->match_index != b->match_index ? a->match_index > b->match_index : a->node_id < b->node_id;
    });
  }
  static const LogMember* worst(const std::vector<const LogMember*>& members) {
    return *std::max_element(members.begin(), members.end(), [](const LogMember* a, const LogMember* b) {
      return a->match_index != b->match_index ? a->match_index > b->match_index : a->node_id < b->node_id;
    });
  }

  const StewardView& view_;
  std::vector<const LogMember*> voters_;    // all
  std::vector<const LogMember*> living_;    // voters that are there and stay
  std::vector<const LogMember*> dead_;      // voters that are silent, and would stay
  std::vector<const LogMember*> leaving_;   // voters that must not vote
  std::vector<const LogMember*> standbys_;  // that could vote
  std::size_t wanted_ = 0;
};

}  // namespace

std::string_view to_string(StewardAction::Kind kind) noexcept {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::add:
      return "add";
    case Kind::promote:
      return "promote";
    case Kind::demote:
      return "demote";
    case Kind::remove:
      return "remove";
    case Kind::hand_over:
      return "hand over";
  }
  return "";
}

std::size_t voters_wanted(std::size_t candidates) {
  if (candidates <= 2) return candidates;
  return std::min(kVotersMax, candidates % 2 == 0 ? candidates - 1 : candidates);
}

StewardAction next_action(const StewardView& view) { return Council(view).decide(); }

Steward::Steward(Loop& loop, Cluster& cluster, StewardOptions options)
    : loop_(loop), cluster_(cluster), options_(options) {
  timer_ = loop_.after(options_.every, [this] { turn(); });
}

Steward::~Steward() { stop(); }

void Steward::stop() {
  if (stopped_) return;
  stopped_ = true;
  *alive_ = false;
  loop_.cancel(timer_);
}

void Steward::poke() {
  if (stopped_ || busy_) return;
  loop_.cancel(timer_);
  timer_ = loop_.after(Duration::zero(), [this] { turn(); });
}

void Steward::turn() {
  if (stopped_) return;
  timer_ = loop_.after(options_.every, [this] { turn(); });
  if (!cluster_.status().leader) {
    // Who is silent is known to the leader only, and another one may have heard them.
    silent_since_.clear();
    failed_at_.clear();
    return;
  }
  if (busy_) return;
  const StewardAction action = next_action(view());
  if (action.kind != Kind::none) start(action);
}

StewardView Steward::view() {
  const MonoTime now = loop_.clock().mono();
  StewardView out;
  out.self = cluster_.status().leader_id;
  for (const NodeRecord& node : cluster_.nodes()) {
    if (node.state == NodeState::active) out.active.push_back(node.id);
    if (node.state == NodeState::draining) out.draining.push_back(node.id);
  }
  out.members = cluster_.log_members();
  for (LogMember& member : out.members) {
    if (member.heard) silent_since_.erase(member.node_id);
    const MonoTime since = member.heard ? now : silent_since_.emplace(member.node_id, now).first->second;
    const auto failed = failed_at_.find(member.node_id);
    const bool failed_lately = failed != failed_at_.end() && now - failed->second < kFailureKept;
    if (!member.heard || failed_lately) out.not_promotable.push_back(member.node_id);
    member.heard = member.heard || now - since < options_.grace;
  }
  return out;
}

void Steward::start(const StewardAction& action) {
  busy_ = true;
  SAMOVAR_LOG(info, cluster, "who takes part in the log changes",
              kv("act", std::string(to_string(action.kind))), kv("node", action.node_id),
              kv("why", action.why));
  auto done = [this, action, alive = alive_](Result<void> result) {
    if (*alive) finished(action, result);
  };
  raft::ConsensusLog& log = cluster_.log();
  switch (action.kind) {
    case Kind::none:
      break;
    case Kind::add:
      return log.add_member(action.node_id, std::move(done));
    case Kind::promote:
      return log.set_voice(action.node_id, Voice::voter, std::move(done));
    case Kind::demote:
      return log.set_voice(action.node_id, Voice::standby, std::move(done));
    case Kind::remove:
      return log.remove_member(action.node_id, std::move(done));
    case Kind::hand_over:
      return log.hand_over(action.node_id, std::move(done));
  }
  busy_ = false;
}

void Steward::finished(const StewardAction& action, const Result<void>& result) {
  busy_ = false;
  if (result) {
    last_failure_.clear();
    failed_at_.erase(action.node_id);
    poke();  // there may be more to do
    return;
  }
  // The next turn tries again, or something else; the same failure is said once.
  failed_at_[action.node_id] = loop_.clock().mono();
  if (result.error().message() != last_failure_)
    SAMOVAR_LOG(warn, cluster, "a change of the log's members did not work", kv("node", action.node_id),
                kv("why", result.error().message()));
  last_failure_ = result.error().message();
}

}  // namespace samovar::cluster
