// Which node of a job reads which part of the data: a pure function of what is known.
//
//   local first       a block is read where a copy of its shard lies, while that node has less than its share
//   each once         every block belongs to exactly one worker
//   few blocks        are cut into parts, each of which counts as a block: a small data set has work for all
//   little moves      what a worker has it keeps when others come and go, as far as shares allow
//
// Shards that a worker lacks are named, so that they are brought before it reads them.
//
// Threading: values. The same code runs in the daemon, in unit tests and in the simulation.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace samovar::jobs {

struct PlanShard {
  std::uint64_t rows = 0;
  std::uint32_t blocks = 0;
  std::vector<std::string> holders;  // node ids
};

// The blocks of all shards, one after the other, each cut into `parts`: numbers that mean the same on every
// node for as long as the job lives.
struct BlockMap {
  std::vector<PlanShard> shards;
  std::uint32_t parts = 1;

  std::uint32_t blocks() const;
  std::uint32_t shard_of(std::uint32_t block) const;  // block < blocks()
  std::uint64_t rows_of(std::uint32_t block) const;   // about: within a shard all count alike
};
// How many parts give small data sets enough blocks to share, none of fewer than kPartRowsMin rows.
std::uint32_t parts_for(const std::vector<PlanShard>& shards);
inline constexpr std::uint32_t kBlocksWanted = 24;
inline constexpr std::uint64_t kPartRowsMin = 256;

struct PlanNode {
  std::string id;
  double speed = 1;  // shares are by speed
};

// By node id, ascending.
using Assignment = std::map<std::string, std::vector<std::uint32_t>>;

// `now`: who has what; nodes that are not among `nodes` lose theirs.
Assignment assign_blocks(const BlockMap& map, const std::vector<PlanNode>& nodes, const Assignment& now = {});
// Blocks that go round: who reads which in each pass, over and over, each block by exactly one. The first is
// `now`. A pure function of what is given: whoever knows the plan knows the turns.
//
//   copies   a block goes on to the next node that holds it: nothing is brought
//   all      … and then to those that do not: what they lack is brought while they train
//
// A turn in which somebody would have nothing to do is left out; one alone, or with no more than the first,
// is none.
enum class Rounds : std::uint8_t { copies, all };
std::vector<Assignment> rotate_blocks(const BlockMap& map, const Assignment& now, Rounds how);
inline constexpr std::size_t kRotationsMax = 16;
// The shards that these blocks lie in; with a node, only those it does not hold.
std::vector<std::uint32_t> shards_of(const BlockMap& map, const std::vector<std::uint32_t>& blocks,
                                     std::string_view not_held_by = {});

// Of all that are up, those who shall take part, at most `nodes_max` (0: all): the home node, then those who
// hold most of the data.
std::vector<std::string> choose_nodes(const BlockMap& map, const std::vector<std::string>& up,
                                      const std::string& home, unsigned nodes_max);

// A worker as the job's record has it.
struct PlannedWorker {
  std::uint32_t number = 0;  // never used twice in a job
  std::string node_id;
  std::vector<std::uint32_t> blocks;
  friend bool operator==(const PlannedWorker&, const PlannedWorker&) = default;
};
struct Plan {
  std::uint32_t parts = 1;
  std::uint32_t next_number = 1;
  std::vector<PlannedWorker> workers;  // by number
  friend bool operator==(const Plan&, const Plan&) = default;
};
std::string encode_plan(const Plan& plan);
// Errc::corrupt for what encode_plan would not write.
Result<Plan> decode_plan(std::string_view json);

}  // namespace samovar::jobs
