#include "daemon/jobs/crew.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samovar::jobs {
namespace {

constexpr Duration kGoodTime = std::chrono::minutes(1);  // of work after which deaths are forgotten
constexpr unsigned kDoublingsMax = 6;

}  // namespace

Crew::Crew(BlockMap map, CrewRules rules, std::string home, const Plan& plan, std::uint64_t epoch)
    : map_(std::move(map)),
      rules_(rules),
      home_(std::move(home)),
      next_number_(std::max(1u, plan.next_number)),
      epoch_(epoch) {}

std::string Crew::name(const std::string& node) const {
  const auto found = names_.find(node);
  return found == names_.end() ? node : found->second;
}

bool Crew::is_active(const Worker& worker) const {
  return worker.state == State::preparing || worker.state == State::ready || worker.state == State::working;
}

const Crew::Worker* Crew::find(std::uint32_t number) const {
  const auto found = workers_.find(number);
  return found == workers_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Crew::working() const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, worker] : workers_)
    if (worker.state == State::working) numbers.push_back(number);
  return numbers;
}

std::uint32_t Crew::lead() const {
  const auto numbers = working();
  return numbers.empty() ? 0 : numbers.front();
}

bool Crew::finished() const {
  bool done = false;
  for (const auto& [number, worker] : workers_) {
    if (worker.state == State::working) return false;
    done = done || worker.state == State::done;
  }
  return begun_ && done;
}

Plan Crew::plan() const {
  Plan plan;
  plan.parts = map_.parts;
  plan.next_number = next_number_;
  for (const auto& [number, worker] : workers_)
    if (worker.state == State::working) plan.workers.push_back({number, worker.node, worker.blocks});
  return plan;
}

std::vector<Assignment> Crew::turns() const {
  return rules_.rotate ? rotate_blocks(map_, current(), *rules_.rotate) : std::vector<Assignment>();
}

Assignment Crew::current() const {
  Assignment now;
  for (const auto& [number, worker] : workers_)
    if (worker.state == State::working) now[worker.node] = worker.blocks;
  return now;
}

bool Crew::orphans() const {
  std::size_t owned = 0;
  for (const auto& [number, worker] : workers_)
    if (worker.state == State::working) owned += worker.blocks.size();
  return owned < map_.blocks();
}

// ---- events ----

void Crew::ready(std::uint32_t number, std::uint64_t turn, MonoTime now) {
  const auto found = workers_.find(number);
  if (found == workers_.end() || !is_active(found->second)) return;
  found->second.heard = now;
  found->second.ready_turn = std::max(found->second.ready_turn, turn);
  if (found->second.state == State::preparing) found->second.state = State::ready;
}

void Crew::heard(std::uint32_t number, MonoTime now) {
  const auto found = workers_.find(number);
  if (found != workers_.end()) found->second.heard = now;
}

void Crew::ended(std::uint32_t number, bool good, std::string error, MonoTime now) {
  const auto found = workers_.find(number);
  if (found == workers_.end() || !is_active(found->second)) return;
  if (good) {
    found->second.state = State::done;
    return;
  }
  lose(found->second, std::move(error), now);
}

void Crew::no_room(std::uint32_t number, std::string error, MonoTime now) {
  const auto found = workers_.find(number);
  if (found == workers_.end() || !is_active(found->second)) return;
  const std::string text = error;
  lose(found->second, std::move(error), now);
  std::erase_if(notes_,
                [&](const Note& one) { return one.kind == "lost" && one.node == found->second.node; });
  const auto rest = std::count_if(workers_.begin(), workers_.end(),
                                  [this](const auto& one) { return is_active(one.second); });
  notes_.push_back(
      {"left", found->second.node,
       fmt::format("Node {} is left out, going on with {}: {}.", name(found->second.node), rest, text)});
}

void Crew::lose(Worker& worker, std::string error, MonoTime now) {
  const bool worked = worker.state == State::working;
  worker.state = State::lost;
  worker.error = error;
  if (!error.empty()) last_error_ = std::move(error);
  Deaths& deaths = deaths_[worker.node];
  if (worked && now - worker.since > kGoodTime) deaths.count = 0;
  ++deaths.count;
  deaths.last = now;
  pending_.reset();
  if (!worked) return;
  left_ = true;
  const std::size_t rest = working().size();
  notes_.push_back({"lost", worker.node,
                    rest == 0 ? fmt::format("Node {} lost, nobody is left.", name(worker.node))
                              : fmt::format("Node {} lost, going on with {}.", name(worker.node), rest)});
}

// Who is given up on may still be at work, and only we cannot hear it: it is told to end.
void Crew::look_for_silence(MonoTime now, Orders& orders) {
  for (auto& [number, worker] : workers_) {
    if (!is_active(worker)) continue;
    const Duration silent = now - worker.heard;
    const bool cut = !up_.contains(worker.node);
    if (silent > rules_.silence_max || (cut && silent > rules_.silence_cut))
      lose(worker, fmt::format("node {} does not answer any more", name(worker.node)), now);
    else if (worker.state == State::preparing && now - worker.since > rules_.prepare_max)
      lose(worker, fmt::format("node {} could not bring its part of the data in time", name(worker.node)),
           now);
    if (worker.state == State::lost) orders.kill.push_back(number);
  }
}

// ---- orders ----

Crew::Worker& Crew::hire(const std::string& node, MonoTime now) {
  Worker& worker = workers_[next_number_];
  worker.number = next_number_++;
  worker.node = node;
  worker.heard = worker.since = now;
  return worker;
}

void Crew::order_shards(Worker& worker, const std::vector<std::uint32_t>& blocks, Orders& orders,
                        MonoTime now) {
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t shard : shards_of(map_, blocks))
    if (worker.shards.insert(shard).second) missing.push_back(shard);
  if (missing.empty() && worker.turn > 0) return;
  worker.turn = ++turn_;
  if (worker.state != State::working) {
    worker.state = State::preparing;
    worker.heard = now;
  }
  orders.prepare.push_back({worker.number, worker.turn, std::move(missing)});
}

// Up, without a worker, and not just after a death.
std::vector<std::string> Crew::newcomers(MonoTime now) const {
  std::vector<std::string> found;
  std::size_t active = 0;
  std::set<std::string> busy;
  for (const auto& [number, worker] : workers_) {
    if (!is_active(worker)) continue;
    ++active;
    busy.insert(worker.node);
  }
  const auto room = [&] { return rules_.nodes_max == 0 || active + found.size() < rules_.nodes_max; };
  for (const std::string& node : up_) {
    if (busy.contains(node) || !room() || active + found.size() >= map_.blocks()) continue;
    const auto deaths = deaths_.find(node);
    if (deaths != deaths_.end() && deaths->second.count > 0) {
      const unsigned doublings = std::min(deaths->second.count - 1, kDoublingsMax);
      const Duration wait =
          rules_.on_lost == CrewRules::Lost::replace && deaths->second.count <= 3
              ? Duration::zero()
              : std::min<Duration>(rules_.rejoin_max, rules_.rejoin_first * (1u << doublings));
      if (now - deaths->second.last < wait) continue;
    }
    found.push_back(node);
  }
  return found;
}

void Crew::gather(MonoTime now, Orders& orders) {
  if (!gathering_since_) gathering_since_ = now;
  std::vector<std::string> team;
  std::size_t active = 0;
  bool all_ready = true;
  for (const auto& [number, worker] : workers_) {
    if (!is_active(worker)) continue;
    ++active;
    team.push_back(worker.node);
    all_ready = all_ready && worker.ready_turn == worker.turn && worker.turn > 0;
  }
  if (!pending_) {
    // Anew with whoever is there: those that are lost are replaced by others.
    const auto more = newcomers(now);
    std::vector<std::string> can = team;
    can.insert(can.end(), more.begin(), more.end());
    const unsigned most = rules_.together ? rules_.nodes_max : 1;
    const auto chosen = choose_nodes(map_, can, home_, most);
    const unsigned needed = std::max(1u, rules_.together ? rules_.nodes_min : 1u);
    if (chosen.size() < needed) {
      waiting_for_ = chosen.empty() && needed <= 1
                         ? "waits until a node can take it"
                         : fmt::format("waits for {} nodes, {} {} there", needed, chosen.size(),
                                       chosen.size() == 1 ? "is" : "are");
      return;
    }
    waiting_for_.clear();
    std::vector<PlanNode> nodes;
    for (const auto& id : chosen) nodes.push_back({id, 1});
    pending_ = assign_blocks(map_, nodes);
    for (const auto& id : chosen)
      if (std::find(team.begin(), team.end(), id) == team.end()) hire(id, now);
    for (auto& [number, worker] : workers_) {
      if (!is_active(worker)) continue;
      const auto found = pending_->find(worker.node);
      if (found == pending_->end()) {
        orders.kill.push_back(number);
        worker.state = State::done;
        continue;
      }
      order_shards(worker, found->second, orders, now);
    }
    return;
  }
  if (!all_ready || active == 0) return;
  for (auto& [number, worker] : workers_) {
    if (worker.state != State::ready) continue;
    worker.state = State::working;
    worker.since = now;
    worker.blocks = (*pending_)[worker.node];
  }
  pending_.reset();
  begun_ = true;
  ++epoch_;
  orders.announce = true;
}

void Crew::work(MonoTime now, bool trains, Orders& orders) {
  const auto rest = working();
  if (rest.empty()) {
    over_ = true;
    return;
  }
  const bool some_done = std::any_of(workers_.begin(), workers_.end(),
                                     [](const auto& one) { return one.second.state == State::done; });
  if (left_) {
    left_ = false;
    const bool too_few = rest.size() < rules_.nodes_min;
    if (rules_.together && !some_done && (too_few || rules_.on_lost == CrewRules::Lost::pause)) {
      notes_.push_back({"paused", "",
                        too_few ? fmt::format("Fewer than {} nodes are left: saving, and waiting for more.",
                                              rules_.nodes_min)
                                : std::string("Saving, and waiting for the node that was lost.")});
      over_ = true;
      return;
    }
    ++epoch_;
    orders.announce = true;
  }
  // Towards the end nothing is dealt anew: what is there is what is evaluated.
  if (some_done) return;
  if (!pending_) {
    const auto more = trains && rules_.together ? newcomers(now) : std::vector<std::string>{};
    if (!orphans() && more.empty()) return;
    for (const auto& node : more) hire(node, now);
    std::vector<PlanNode> nodes;
    for (const auto& [number, worker] : workers_)
      if (is_active(worker)) nodes.push_back({worker.node, 1});
    pending_ = assign_blocks(map_, nodes, current());
    for (auto& [number, worker] : workers_)
      if (is_active(worker)) order_shards(worker, (*pending_)[worker.node], orders, now);
  }
  // Those who were only to join may do so only while the lead trains.
  for (const auto& [number, worker] : workers_) {
    if (!is_active(worker)) continue;
    if (worker.ready_turn != worker.turn) return;
    if (worker.state == State::ready && !trains) return;
  }
  for (auto& [number, worker] : workers_) {
    if (!is_active(worker)) continue;
    if (worker.state == State::ready) {
      worker.state = State::working;
      worker.joined = true;
      worker.since = now;
      notes_.push_back(
          {"joined", worker.node,
           fmt::format("Node {} takes part, going on with {}.", name(worker.node), working().size())});
    }
    worker.blocks = (*pending_)[worker.node];
  }
  pending_.reset();
  ++epoch_;
  orders.announce = true;
}

Crew::Orders Crew::next(MonoTime now, bool trains) {
  Orders orders;
  look_for_silence(now, orders);
  if (!over_) {
    if (begun_)
      work(now, trains, orders);
    else
      gather(now, orders);
  }
  orders.over = over_;
  orders.notes = std::move(notes_);
  notes_.clear();
  return orders;
}

}  // namespace samovar::jobs
