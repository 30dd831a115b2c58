#include "daemon/jobs/scheduler.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace samovar::jobs {
namespace {

using nlohmann::json;

constexpr std::uint32_t kPartsMax = 64;
constexpr std::uint32_t kBlocksMax = 1u << 22;
constexpr std::size_t kWorkersMax = 1024;
// A worker may have so much more than its share before a block goes to somebody who must fetch it.
constexpr double kSlack = 1.05;
constexpr std::size_t kSwapWorkMax = 10'000'000;

bool holds(const PlanShard& shard, std::string_view node) {
  return std::find(shard.holders.begin(), shard.holders.end(), node) != shard.holders.end();
}

// Loads as shares of what each is to have: 1 is just that.
class Dealer {
 public:
  Dealer(const BlockMap& map, const std::vector<PlanNode>& nodes) : map_(map) {
    double speeds = 0;
    std::uint64_t rows = 0;
    for (const PlanNode& node : nodes) speeds += node.speed;
    for (const PlanShard& shard : map.shards) rows += shard.rows;
    for (const PlanNode& node : nodes)
      members_.push_back(
          {node.id, std::max(1e-9, static_cast<double>(rows) * node.speed / std::max(speeds, 1e-9)), 0});
    owner_.assign(map.blocks(), kNobody);
    for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard)
      shard_.insert(shard_.end(), std::size_t{map.shards[shard].blocks} * map.parts, shard);
    shard_.resize(owner_.size());
    for (const PlanShard& shard : map.shards)
      weights_.push_back(static_cast<double>(shard.rows) /
                         std::max<double>(1, static_cast<double>(shard.blocks) * map.parts));
  }

  // What each has already, as far as its share goes; those with too much give their last ones away.
  void keep(const Assignment& now) {
    for (std::size_t who = 0; who < members_.size(); ++who) {
      const auto found = now.find(members_[who].id);
      if (found == now.end()) continue;
      for (const std::uint32_t block : found->second) {
        if (block >= owner_.size() || owner_[block] != kNobody) continue;
        if (load_with(who, block) <= 1 + half(who, block)) give(block, who);
      }
    }
  }

  // Shards that few hold come first: others have a choice left.
  void deal() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t block = 0; block < owner_.size(); ++block)
      if (owner_[block] == kNobody) order.push_back(block);
    std::stable_sort(order.begin(), order.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return choices(a) < choices(b); });
    std::vector<std::uint32_t> left;
    for (const std::uint32_t block : order) {
      const std::size_t who = best(block, true);
      if (who != kNobody && load_with(who, block) <= std::max(kSlack, 1 + half(who, block))) {
        give(block, who);
      } else {
        left.push_back(block);
      }
    }
    for (const std::uint32_t block : left)
      if (!swap_in(block, left.size())) give(block, best(block, false));
  }

  Assignment result() const {
    Assignment out;
    for (const Member& member : members_) out[member.id];
    for (std::uint32_t block = 0; block < owner_.size(); ++block)
      if (owner_[block] != kNobody) out[members_[owner_[block]].id].push_back(block);
    return out;
  }

 private:
  // All who hold it have their share: one of them hands another block on to somebody who holds that one.
  bool swap_in(std::uint32_t block, std::size_t left) {
    if (left * owner_.size() > kSwapWorkMax) return false;
    for (std::size_t who = 0; who < members_.size(); ++who) {
      if (!reads(who, block)) continue;
      for (std::uint32_t other = 0; other < owner_.size(); ++other) {
        if (owner_[other] != who) continue;
        for (std::size_t taker = 0; taker < members_.size(); ++taker) {
          if (taker == who || !reads(taker, other) ||
              load_with(taker, other) > std::max(kSlack, 1 + half(taker, other)))
            continue;
          members_[who].rows -= weight(other);
          give(other, taker);
          give(block, who);
          return true;
        }
      }
    }
    return false;
  }

  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  struct Member {
    std::string id;
    double share = 1;  // rows it is to have
    double rows = 0;
    std::set<std::uint32_t> shards = {};  // that it reads anyway
  };

  double weight(std::uint32_t block) const { return weights_[shard_[block]]; }
  double half(std::size_t who, std::uint32_t block) const { return weight(block) / members_[who].share / 2; }
  double load_with(std::size_t who, std::uint32_t block) const {
    return (members_[who].rows + weight(block)) / members_[who].share;
  }
  bool reads(std::size_t who, std::uint32_t block) const {
    const std::uint32_t shard = shard_[block];
    return holds(map_.shards[shard], members_[who].id);
  }
  std::size_t choices(std::uint32_t block) const {
    std::size_t count = 0;
    for (std::size_t who = 0; who < members_.size(); ++who) count += reads(who, block) ? 1 : 0;
    return count;
  }
  // The least loaded one; among equals one that has this shard already.
  std::size_t best(std::uint32_t block, bool local) const {
    const std::uint32_t shard = shard_[block];
    std::size_t found = kNobody;
    for (std::size_t who = 0; who < members_.size(); ++who) {
      if (local && !reads(who, block)) continue;
      if (found == kNobody) {
        found = who;
        continue;
      }
      const double ours = load_with(who, block) - (members_[who].shards.contains(shard) ? 1e-6 : 0);
      const double theirs = load_with(found, block) - (members_[found].shards.contains(shard) ? 1e-6 : 0);
      if (ours < theirs) found = who;
    }
    return found;
  }
  void give(std::uint32_t block, std::size_t who) {
    if (who == kNobody) return;
    owner_[block] = who;
    members_[who].rows += weight(block);
    members_[who].shards.insert(shard_[block]);
  }

  const BlockMap& map_;
  std::vector<Member> members_;
  std::vector<std::size_t> owner_;    // by block
  std::vector<std::uint32_t> shard_;  // by block
  std::vector<double> weights_;       // rows of a block, by shard
};

}  // namespace

std::uint32_t BlockMap::blocks() const {
  std::uint64_t count = 0;
  for (const PlanShard& shard : shards) count += std::uint64_t{shard.blocks} * parts;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kBlocksMax));
}

std::uint32_t BlockMap::shard_of(std::uint32_t block) const {
  std::uint64_t end = 0;
  for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
    end += std::uint64_t{shards[shard].blocks} * parts;
    if (block < end) return shard;
  }
  return shards.empty() ? 0 : static_cast<std::uint32_t>(shards.size() - 1);
}

std::uint64_t BlockMap::rows_of(std::uint32_t block) const {
  if (shards.empty()) return 0;
  const PlanShard& shard = shards[shard_of(block)];
  return shard.rows / std::max<std::uint64_t>(1, std::uint64_t{shard.blocks} * parts);
}

std::uint32_t parts_for(const std::vector<PlanShard>& shards) {
  std::uint64_t blocks = 0;
  std::uint64_t rows = 0;
  for (const PlanShard& shard : shards) {
    blocks += shard.blocks;
    rows += shard.rows;
  }
  if (blocks == 0 || blocks >= kBlocksWanted) return 1;
  const std::uint64_t wanted = (kBlocksWanted + blocks - 1) / blocks;
  const std::uint64_t fit = std::max<std::uint64_t>(1, rows / blocks / kPartRowsMin);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>({wanted, fit, kPartsMax}));
}

Assignment assign_blocks(const BlockMap& map, const std::vector<PlanNode>& nodes, const Assignment& now) {
  if (nodes.empty()) return {};
  Dealer dealer(map, nodes);
  dealer.keep(now);
  dealer.deal();
  return dealer.result();
}

namespace {

// Deals turn after turn: to one that had the block least often, of those rather to one that need not fetch
// it, of those to the one with least to do.
class Rotation {
 public:
  Rotation(const BlockMap& map, const Assignment& now, Rounds how) : how_(how) {
    for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard)
      shard_.insert(shard_.end(), std::size_t{map.shards[shard].blocks} * map.parts, shard);
    shard_.resize(map.blocks());
    for (const PlanShard& shard : map.shards)
      weights_.push_back(static_cast<double>(shard.rows) /
                         std::max<double>(1, static_cast<double>(shard.blocks) * map.parts));
    for (const auto& [id, blocks] : now) {
      Member& member = members_.emplace_back();
      member.id = id;
      for (const PlanShard& shard : map.shards) member.here.push_back(holds(shard, id));
      member.had.resize(shard_.size());
      for (const std::uint32_t block : blocks) {
        if (block >= shard_.size()) continue;
        dealt_.push_back(block);
        all_ += weights_[shard_[block]];
        note(member, block);
      }
    }
    std::sort(dealt_.begin(), dealt_.end());
  }

  Assignment next() {
    Assignment out;
    for (Member& member : members_) {
      member.rows = 0;
      out[member.id];
    }
    for (const std::uint32_t block : dealt_) {
      Member& member = best(block);
      member.rows += weights_[shard_[block]];
      note(member, block);
      out[member.id].push_back(block);
    }
    return out;
  }

 private:
  struct Member {
    std::string id;
    double rows = 0;
    std::vector<bool> here;         // by shard: it holds it, or has read it before
    std::vector<std::uint8_t> had;  // by block: in how many turns
  };

  void note(Member& member, std::uint32_t block) {
    ++member.had[block];
    member.here[shard_[block]] = true;
  }
  // Whoever had it first has it here: there is one.
  Member& best(std::uint32_t block) {
    const double weight = weights_[shard_[block]];
    const double share = all_ / static_cast<double>(members_.size());
    const double most = std::max(kSlack * share, share + weight / 2);
    const auto rank = [&](const Member& member) {
      return std::tuple(member.rows + weight > most, member.had[block], !member.here[shard_[block]],
                        member.rows);
    };
    Member* found = nullptr;
    for (Member& member : members_) {
      if (how_ == Rounds::copies && !member.here[shard_[block]]) continue;
      if (found == nullptr || rank(member) < rank(*found)) found = &member;
    }
    return *found;
  }

  const Rounds how_;
  double all_ = 0;
  std::vector<Member> members_;
  std::vector<std::uint32_t> shard_;  // by block
  std::vector<double> weights_;       // rows of a block, by shard
  std::vector<std::uint32_t> dealt_;  // the blocks, ascending
};

}  // namespace

std::vector<Assignment> rotate_blocks(const BlockMap& map, const Assignment& now, Rounds how) {
  const std::size_t work = std::max<std::size_t>(1, std::size_t{map.blocks()} * now.size());
  const std::size_t most = std::min({now.size(), kRotationsMax, kSwapWorkMax / work});
  if (most < 2) return {};
  std::vector<Assignment> turns = {now};
  Rotation rotation(map, now, how);
  for (std::size_t turn = 1; turn < most; ++turn) {
    Assignment next = rotation.next();
    const bool idle =
        std::any_of(next.begin(), next.end(), [](const auto& one) { return one.second.empty(); });
    if (!idle && next != turns.back()) turns.push_back(std::move(next));
  }
  return turns.size() > 1 ? turns : std::vector<Assignment>();
}

std::vector<std::uint32_t> shards_of(const BlockMap& map, const std::vector<std::uint32_t>& blocks,
                                     std::string_view not_held_by) {
  std::set<std::uint32_t> found;
  for (const std::uint32_t block : blocks) {
    if (block >= map.blocks()) continue;
    const std::uint32_t shard = map.shard_of(block);
    if (not_held_by.empty() || !holds(map.shards[shard], not_held_by)) found.insert(shard);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> choose_nodes(const BlockMap& map, const std::vector<std::string>& up,
                                      const std::string& home, unsigned nodes_max) {
  struct Candidate {
    std::string id;
    std::uint64_t rows = 0;
  };
  std::vector<Candidate> candidates;
  for (const std::string& id : up) {
    Candidate& one = candidates.emplace_back();
    one.id = id;
    for (const PlanShard& shard : map.shards)
      if (holds(shard, id)) one.rows += shard.rows;
  }
  std::sort(candidates.begin(), candidates.end(), [&home](const Candidate& a, const Candidate& b) {
    if ((a.id == home) != (b.id == home)) return a.id == home;
    return a.rows != b.rows ? a.rows > b.rows : a.id < b.id;
  });
  // No worker without a block.
  std::size_t most = std::max<std::size_t>(1, map.blocks());
  if (nodes_max > 0) most = std::min<std::size_t>(most, nodes_max);
  if (candidates.size() > most) candidates.resize(most);
  std::vector<std::string> chosen;
  for (Candidate& one : candidates) chosen.push_back(std::move(one.id));
  return chosen;
}

std::string encode_plan(const Plan& plan) {
  json workers = json::array();
  for (const PlannedWorker& worker : plan.workers) {
    // Runs of numbers: [first, count].
    json runs = json::array();
    for (std::size_t i = 0; i < worker.blocks.size();) {
      std::size_t end = i + 1;
      while (end < worker.blocks.size() && worker.blocks[end] == worker.blocks[end - 1] + 1) ++end;
      runs.push_back({worker.blocks[i], end - i});
      i = end;
    }
    workers.push_back({{"number", worker.number}, {"node", worker.node_id}, {"blocks", std::move(runs)}});
  }
  return json{{"parts", plan.parts}, {"next", plan.next_number}, {"workers", std::move(workers)}}.dump();
}

Result<Plan> decode_plan(std::string_view text) {
  const auto broken = [] { return Error{Errc::corrupt, "the plan of a job is not in order"}; };
  const json all = json::parse(text, nullptr, false);
  const auto number = [](const json& value, std::uint64_t max) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= max;
  };
  if (!all.is_object() || !all.contains("parts") || !all.contains("next") || !all.contains("workers"))
    return broken();
  if (!number(all["parts"], kPartsMax) || !number(all["next"], UINT32_MAX) || !all["workers"].is_array() ||
      all["workers"].size() > kWorkersMax)
    return broken();
  Plan plan;
  plan.parts = all["parts"].get<std::uint32_t>();
  plan.next_number = all["next"].get<std::uint32_t>();
  if (plan.parts == 0) return broken();
  for (const json& one : all["workers"]) {
    if (!one.is_object() || !one.contains("number") || !one.contains("node") || !one.contains("blocks"))
      return broken();
    if (!number(one["number"], UINT32_MAX) || !one["node"].is_string() || !one["blocks"].is_array())
      return broken();
    PlannedWorker& worker = plan.workers.emplace_back();
    worker.number = one["number"].get<std::uint32_t>();
    worker.node_id = one["node"].get<std::string>();
    for (const json& run : one["blocks"]) {
      if (!run.is_array() || run.size() != 2 || !number(run[0], kBlocksMax) || !number(run[1], kBlocksMax))
        return broken();
      const auto first = run[0].get<std::uint32_t>();
      const auto count = run[1].get<std::uint32_t>();
      if (worker.blocks.size() + count > kBlocksMax) return broken();
      for (std::uint32_t i = 0; i < count; ++i) worker.blocks.push_back(first + i);
    }
  }
  return plan;
}

}  // namespace samovar::jobs
