// Birth, death, joining and leaving of simulated nodes.
#include "tests/sim/cluster_world.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "daemon/cluster/patience.hpp"
#include "security/init.hpp"
#include "security/secret_bytes.hpp"
#include "tests/sim/cluster_node.hpp"
#include "tests/sim/sim_log_host.hpp"

namespace samovar::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kClusterId = "clu_1";

cluster::NodeRecord record(const std::string& id) {
  cluster::NodeRecord node;
  node.id = id;
  node.name = node.hostname = id;
  node.model = "simulated";
  node.version = "0.2.0";
  node.arch = "amd64";
  node.sign_public = Bytes(32, static_cast<std::uint8_t>(id.back()));
  node.addresses = {"10.0.0.1:7443"};
  node.disk_bytes = std::uint64_t{1} << 30;
  return node;
}

cluster::Call call(std::string request_id = {}) {
  cluster::Actor actor;
  actor.user_id = "usr_admin";
  actor.username = "anna";
  actor.role = cluster::Role::admin;
  actor.auth = cluster::AuthKind::session;
  actor.address = "192.0.2.7";
  return {std::move(actor), std::move(request_id)};
}

}  // namespace

ClusterWorld::ClusterWorld(std::uint64_t seed, Plant plant, bool talk)
    : seed_(seed),
      plant_(plant),
      talk_(talk),
      scheduler_(seed),
      rng_(seed * 2654435761u + 17),
      network_(scheduler_, SimNetworkOptions{}) {
  ignore(security::init(), "without locked memory keys may be swapped out: none of these are");
  verdict_.seed = seed;
  wanted_nodes_ = 3 + static_cast<unsigned>(rng_.below(5));
}

ClusterWorld::~ClusterWorld() {
  for (auto& node : nodes_)
    if (node->powered()) crash(*node);
}

void ClusterWorld::in(Duration delay, std::function<void()> act) {
  agenda_.emplace(scheduler_.clock().mono() + delay, std::move(act));
}

void ClusterWorld::pass(Duration time) {
  const MonoTime end = scheduler_.clock().mono() + time;
  while (!agenda_.empty() && agenda_.begin()->first <= end) {
    auto next = agenda_.extract(agenda_.begin());
    const MonoTime now = scheduler_.clock().mono();
    if (next.key() > now) scheduler_.run_for(next.key() - now);
    next.mapped()();
  }
  const MonoTime now = scheduler_.clock().mono();
  if (end > now) scheduler_.run_for(end - now);
}

void ClusterWorld::say(const std::string& what) {
  if (!talk_) return;
  const double at = std::chrono::duration<double>(scheduler_.clock().mono()).count();
  std::fprintf(stderr, "%8.3f  %s\n", at, what.c_str());
}

void ClusterWorld::wrong(const std::string& what) {
  say("WRONG: " + what);
  verdict_.violations.push_back(what);
}

ClusterWorld::Node& ClusterWorld::make_node() {
  nodes_.push_back(std::make_unique<Node>(fmt::format("nod_{}", ++names_), rng_.next()));
  return *nodes_.back();
}

bool ClusterWorld::together(const std::string& a, const std::string& b) const {
  return side_.empty() || side_.contains(a) == side_.contains(b);
}

void ClusterWorld::start(Node& node, bool bootstrap, bool join) {
  ++node.life;
  SimLoopOptions late;
  late.timer_late_max = milliseconds(5);
  node.loop = std::make_unique<SimLoop>(scheduler_, late);
  node.loop->post([this, &node, bootstrap, join] { bring_up(node, bootstrap, join); });
}

void ClusterWorld::on(Node& node, std::function<void()> act) {
  node.loop->post([&node, life = node.life, act = std::move(act)] {
    if (node.life == life && node.lives()) act();
  });
}

void ClusterWorld::bring_up(Node& node, bool bootstrap, bool join) {
  const auto give_up = [this, &node](const Error& why) {
    // A disk that failed while it was being read: it is tried again.
    say(fmt::format("{} does not start: {}", node.id, why.message()));
    node.back_at = scheduler_.clock().mono() + seconds(2);
    in({}, [this, &node, life = node.life] {
      if (node.life == life) crash(node);
    });
  };
  node.gate = std::make_unique<Gate>(network_.attach(node.id, *node.loop));
  node.exchange = std::make_unique<net::Exchange>(*node.loop, *node.gate);
  cluster::ClusterOptions options;
  options.dir = "/raft";
  options.cluster_id = kClusterId;
  options.node_id = node.id;
  options.bootstrap = bootstrap;
  options.join = join;
  options.links.exchange = node.exchange.get();
  options.links.up = [this, &node](const std::string& other) {
    for (const auto& one : nodes_)
      if (one->id == other) return one->lives() && together(node.id, other);
    return false;
  };
  options.log.heartbeat_ms = static_cast<unsigned>(cluster::kHeartbeat.count());
  options.log.snapshot_threshold = 48;
  options.log.snapshot_trailing = 12;
  options.log.free_bytes = [] { return std::uint64_t{1} << 40; };
  options.log.ack_before_commit_for_tests = plant_ == Plant::ack_before_commit && !bootstrap;
  auto host = std::make_unique<SimLogHost>(*node.loop, node.disk, node.rng.fork(), SimLogTimes{});
  auto opened = cluster::Cluster::open_on(std::move(host), *node.loop, node.rng, std::move(options),
                                          security::SecretBytes::copy_of(Bytes(32, 7)));
  if (!opened) return give_up(opened.error());
  node.cluster = *std::move(opened);
  node.steward = std::make_unique<cluster::Steward>(*node.loop, *node.cluster);
  jobs::ReplicasOptions replicas;
  replicas.root = "/data";
  replicas.node_id = node.id;
  replicas.space = {.reserve_bytes = 0, .full_share = 1.0, .ballast_bytes = 0};
  replicas.piece_bytes = 4 * 1024;
  replicas.repair_bytes_per_second = replicas.repair_bytes_per_second_busy = 0;
  replicas.grace = seconds(20);
  replicas.sweep_every = seconds(20);
  replicas.unused_kept = seconds(20);
  replicas.unnamed_kept = seconds(60);
  auto world = jobs::world_of(*node.cluster, [this, &node] { return storage_nodes(node); });
  // Stands for the record of the operation that makes it.
  world.in_making = [this](const std::string& id) { return making_.contains(id); };
  if (plant_ == Plant::forget_shard) {
    world.files = [files = world.files] {
      auto all = files();
      std::erase_if(all, [](const cluster::StoredFile& file) { return file.key.ends_with("/1"); });
      return all;
    };
  }
  auto copies = jobs::Replicas::open(*node.loop, node.rng, node.exchange.get(), node.disk, io_,
                                     std::move(world), std::move(replicas));
  if (!copies) return give_up(copies.error());
  node.replicas = *std::move(copies);
  node.replicas->start();
  node.cluster->on_change([&node](const cluster::Change&) {
    if (node.replicas) node.replicas->changed();
  });
  scheduler_.note(node.id + " starts");
  say(node.id + " starts");
}

// The plug is pulled: no last word, and what was not synced is in doubt.
void ClusterWorld::crash(Node& node) {
  ++node.life;
  if (node.gate) node.gate->shut();
  node.disk.cut_power_at(1);
  if (node.replicas) node.replicas->stop();
  node.steward.reset();
  // Whoever waits for an answer hears that there is none, while what it would look at is still there.
  if (node.exchange)
    for (const auto& other : nodes_) node.exchange->lost(other->id);
  // In this order: work of the copies may wait for the state, and is told when that goes.
  node.cluster.reset();
  node.replicas.reset();
  node.exchange.reset();
  node.gate.reset();
  node.loop.reset();
  node.disk.crash();
  scheduler_.note(node.id + " stops");
  say(node.id + " stops");
  // A process that ends takes its connections with it, and the others notice; a plug that is pulled tells
  // nobody.
  if (!storm_ || !rng_.chance(500'000)) return;
  for (const auto& other : nodes_) {
    if (!other->lives() || !together(node.id, other->id)) continue;
    in(milliseconds(rng_.below(40)), [this, which = other.get(), life = other->life, id = node.id] {
      if (which->life == life && which->lives())
        on(*which, [which, id] { which->cluster->log().link_changed(id, false); });
    });
  }
}

std::vector<cluster::StorageNode> ClusterWorld::storage_nodes(const Node& self) {
  std::vector<cluster::StorageNode> all;
  for (const cluster::NodeRecord& known : self.cluster->nodes()) {
    if (known.state == cluster::NodeState::removed) continue;
    cluster::StorageNode one;
    one.id = known.id;
    one.capacity_bytes = known.disk_bytes;
    one.free_bytes = known.disk_bytes / 2;
    one.draining = known.state == cluster::NodeState::draining;
    one.reachable = false;
    for (const auto& node : nodes_)
      if (node->id == known.id) one.reachable = node->lives() && together(self.id, known.id);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<ClusterWorld::Node*> ClusterWorld::living() {
  std::vector<Node*> out;
  for (const auto& node : nodes_)
    if (node->lives() && node->member && !node->removed && node->cluster->info()) out.push_back(node.get());
  return out;
}

ClusterWorld::Node* ClusterWorld::any_member() {
  const auto all = living();
  return all.empty() ? nullptr : all[static_cast<std::size_t>(rng_.below(all.size()))];
}

ClusterWorld::Node* ClusterWorld::leader() {
  for (Node* node : living())
    if (node->cluster->status().leader) return node;
  return nullptr;
}

bool ClusterWorld::found() {
  Node& first = make_node();
  start(first, true, false);
  if (!scheduler_.run_until([&] { return first.lives(); }, seconds(30))) return false;
  first.member = true;
  bool done = false;
  const auto begin = [this, &first, &done]() -> Task<void> {
    cluster::NewCluster fresh{kClusterId, "Ward 6",          "Europe/Vienna",
                              "anna",     "Anna Andreyevna", "$argon2id$hash"};
    cluster::Call who = call();
    auto info = co_await first.cluster->initialise(std::move(who), std::move(fresh));
    if (!info) {
      say("not founded: " + info.error().message());
      co_return;
    }
    cluster::Call again = call();
    cluster::NodeRecord self = record(first.id);
    auto put = co_await first.cluster->put_node(std::move(again), std::move(self));
    if (!put) say("not founded: " + put.error().message());
    done = put.has_value();
  };
  on(first, [&begin] { spawn(begin()); });
  if (!scheduler_.run_until([&] { return done; }, seconds(30))) return false;
  if (const auto admin = first.cluster->user_by_name("anna")) owner_ = admin->id;
  return true;
}

void ClusterWorld::admit() {
  std::size_t members = 0;
  for (const auto& node : nodes_)
    if (!node->removed) ++members;
  Node* by = any_member();
  const MonoTime now = scheduler_.clock().mono();
  if (members >= wanted_nodes_ || by == nullptr || now < admitted_at_ + seconds(3)) return;
  admitted_at_ = now;
  ++verdict_.joins;
  // Whether it is let in or not, it waits for a leader's log: with an unknown outcome it may be in.
  Node& fresh = make_node();
  fresh.member = true;
  start(fresh, false, true);
  on(*by, [this, by, &fresh] { spawn(admit_through(*by, fresh)); });
}

Task<void> ClusterWorld::admit_through(Node& by, Node& fresh) {
  cluster::Call who = call(fresh.id + "-admitted");
  cluster::NodeRecord row = record(fresh.id);
  auto admitted = co_await by.cluster->admit_node(std::move(who), std::move(row));
  say(fmt::format("{} is let in{}", fresh.id, admitted ? "" : ", perhaps: " + admitted.error().message()));
}

void ClusterWorld::remove_one() {
  Node* by = leader();
  if (by == nullptr) return;
  const auto all = living();
  if (all.size() < 4) return;
  Node* victim = all[static_cast<std::size_t>(rng_.below(all.size()))];
  if (victim == by || victim->removing) return;
  // As an administrator would: not when it makes anything unsafe.
  const auto preview = cluster::preview_drain(by->cluster->stored_files(), storage_nodes(*by), victim->id);
  if (preview.last_copies > 0) return;
  victim->removing = true;
  on(*by, [this, by, id = victim->id] { spawn(remove_through(*by, id)); });
}

Task<void> ClusterWorld::remove_through(Node& by, std::string id) {
  Node* victim = nullptr;
  for (const auto& node : nodes_)
    if (node->id == id) victim = node.get();
  cluster::Call who = call(fmt::format("{}-removed-{}", id, ++victim->removals));
  auto removed = co_await by.cluster->remove_node(std::move(who), id);
  if (!removed) {
    say(fmt::format("{} is not out, perhaps: {}", id, removed.error().message()));
    // Refused, for it holds something alone: asked again when it is drained. Else perhaps it is out, perhaps
    // not: it stays and may find out.
    if (cluster::refusal_of(removed.error()) == cluster::Refusal::last_copies) victim->removing = false;
    co_return;
  }
  ++verdict_.removals;
  say(id + " is out");
  victim->removed = true;
  in(milliseconds(rng_.below(4000)), [this, victim] {
    if (victim->powered()) crash(*victim);
  });
}

// For whoever looks into a seed.
void ClusterWorld::tell() {
  for (const auto& node : nodes_) {
    if (!node->lives()) {
      say(node->id + ": not there");
      continue;
    }
    const auto status = node->cluster->status();
    std::string members;
    for (const auto& member : node->cluster->log_members())
      members += fmt::format(" {}{}@{}", member.node_id, member.voice == raft::Voice::voter ? "" : "?",
                             member.match_index);
    say(fmt::format("{}: term {} last {} applied {} leader \"{}\"{} log:{}, {} files", node->id, status.term,
                    status.last_index, status.applied_index, status.leader_id, status.leader ? " ready" : "",
                    members, node->replicas->blobs().list()->size()));
  }
}

Verdict ClusterWorld::run() {
  if (!found()) {
    wrong("no cluster could be founded");
    return verdict_;
  }
  people();
  fate();
  look_after();
  pass(seconds(20 + rng_.below(30)));
  mend_everything();
  bool calm = false;
  for (int i = 0; i < 600 && !calm; ++i) {
    pass(seconds(1));
    calm = settled();
  }
  if (!calm) {
    wrong("it does not come to rest after everything was mended");
    tell();
  }
  check_members();
  check_states();
  check_writes();
  check_files();
  verdict_.trace = scheduler_.trace_hash();
  verdict_.seconds = std::chrono::duration<double>(scheduler_.clock().mono()).count();
  return verdict_;
}

}  // namespace samovar::test
