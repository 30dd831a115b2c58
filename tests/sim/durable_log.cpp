#include "tests/sim/durable_log.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/encoding.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kFile = "/log";
constexpr std::size_t kRecordBytes = 12;  // the number and its crc: a torn record must not count
constexpr std::size_t kNodes = 5;
constexpr std::size_t kQuorum = 3;

Bytes encode(std::uint64_t number) {
  Bytes bytes(kRecordBytes);
  std::memcpy(bytes.data(), &number, 8);
  const std::uint32_t crc = crc32(ByteView(bytes).first(8), 1);
  std::memcpy(bytes.data() + 8, &crc, 4);
  return bytes;
}

bool decode(ByteView bytes, std::uint64_t& number) {
  if (bytes.size() != kRecordBytes) return false;
  std::memcpy(&number, bytes.data(), 8);
  const Bytes expected = encode(number);
  return std::equal(bytes.begin(), bytes.end(), expected.begin());
}

}  // namespace

std::set<std::uint64_t> recover(Disk& disk, std::uint64_t* end) {
  std::set<std::uint64_t> numbers;
  const auto content = disk.read_file(kFile, 1 << 20);
  if (end != nullptr) *end = content ? content->size() / kRecordBytes * kRecordBytes : 0;
  if (!content) return numbers;
  // Writes of a lost batch may leave holes: every slot is judged by itself.
  for (std::size_t at = 0; at + kRecordBytes <= content->size(); at += kRecordBytes) {
    std::uint64_t number = 0;
    if (decode(ByteView(*content).subspan(at, kRecordBytes), number)) numbers.insert(number);
  }
  return numbers;
}

LogNode::LogNode(SimScheduler& world, SimNetwork& network, Disk& disk, const std::string& name, Ack ack)
    : loop_(world, {.timer_late_max = 1ms}), transport_(network.attach(name, loop_)), ack_(ack) {
  stored_ = recover(disk, &end_);
  auto file = disk.open(kFile, OpenMode::write);
  // What was read at boot may be a write that survived by luck: make it durable before it counts.
  if (!file || !(*file)->sync() || !disk.sync_dir("/")) return;
  file_ = *std::move(file);
  transport_->on_message([this](const std::string& from, Bytes message) { on_message(from, message); });
}

void LogNode::on_message(const std::string& from, ByteView message) {
  std::uint64_t number = 0;
  if (!decode(message, number)) return;
  if (!stored_.contains(number)) {
    if (!file_->write_at(end_, message)) return;
    end_ += kRecordBytes;
    stored_.insert(number);
  }
  if (ack_ == Ack::before_sync) acknowledge({from, number});
  waiting_.push_back({from, number});
  if (!std::exchange(sync_armed_, true)) loop_.after(3ms, [this] { sync(); });
}

void LogNode::sync() {
  sync_armed_ = false;
  if (!file_->sync()) return;
  for (const Waiting& to : std::exchange(waiting_, {})) {
    if (ack_ == Ack::after_sync) acknowledge(to);
  }
}

void LogNode::acknowledge(const Waiting& to) {
  ignore(transport_->send(to.client, encode(to.number)), "the client asks again");
}

LogClient::LogClient(SimScheduler& world, SimNetwork& network, std::vector<std::string> nodes,
                     std::uint64_t numbers)
    : world_(world),
      loop_(world),
      transport_(network.attach("client", loop_)),
      nodes_(std::move(nodes)),
      numbers_(numbers) {
  transport_->on_message([this](const std::string& from, Bytes message) {
    std::uint64_t number = 0;
    if (!decode(message, number)) return;
    auto& acks = acks_[number];
    acks.insert(from);
    if (acks.size() >= kQuorum && durable_.insert(number).second) {
      world_.note("durable " + std::to_string(number));
    }
  });
  loop_.post([this] { tick(); });
}

// Sends one new number, and again everything that is not durable yet.
void LogClient::tick() {
  if (next_ <= numbers_) ++next_;
  for (std::uint64_t number = 1; number < next_; ++number) {
    if (durable_.contains(number)) continue;
    for (const auto& node : nodes_)
      ignore(transport_->send(node, encode(number)), "sent again at the next tick");
  }
  if (!done()) loop_.after(10ms, [this] { tick(); });
}

Outcome run_durable_log(std::uint64_t seed, Ack ack) {
  SimScheduler world(seed);
  SimRng faults = world.rng().fork();
  SimNetwork network(world, {.latency_min = 100us,
                             .latency_max = 5ms,
                             .loss_per_million = 100'000,
                             .duplicate_per_million = 50'000});
  std::vector<std::string> names;
  std::vector<std::unique_ptr<SimDisk>> disks;
  std::array<std::unique_ptr<LogNode>, kNodes> nodes;
  for (std::size_t i = 0; i < kNodes; ++i) {
    names.push_back("n" + std::to_string(i));
    disks.push_back(std::make_unique<SimDisk>(world.rng().next()));
    nodes[i] = std::make_unique<LogNode>(world, network, *disks[i], names[i], ack);
  }
  LogClient client(world, network, names, 40);

  Outcome outcome;
  const auto crash = [&](std::size_t i) {
    nodes[i].reset();
    disks[i]->crash();
    ++outcome.crashes;
    world.note("crash " + names[i]);
  };
  for (int round = 0; round < 60; ++round) {
    world.run_for(Duration(faults.below(20'000'000)));  // up to 20 ms
    const auto i = static_cast<std::size_t>(faults.below(kNodes));
    if (nodes[i] && faults.chance(300'000)) {
      crash(i);
    } else if (!nodes[i]) {
      nodes[i] = std::make_unique<LogNode>(world, network, *disks[i], names[i], ack);
    }
    if (faults.chance(100'000)) network.partition({names[faults.below(kNodes)], names[faults.below(kNodes)]});
    if (faults.chance(200'000)) network.heal();
  }
  network.heal();
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (!nodes[i]) nodes[i] = std::make_unique<LogNode>(world, network, *disks[i], names[i], ack);
  }
  outcome.finished = world.run_until([&] { return client.done(); }, 60s);

  // The power goes everywhere; what was acknowledged must still be on a quorum.
  for (std::size_t i = 0; i < kNodes; ++i) crash(i);
  std::map<std::uint64_t, std::size_t> copies;
  for (const auto& disk : disks) {
    for (const std::uint64_t number : recover(*disk)) ++copies[number];
  }
  for (const std::uint64_t number : client.durable()) {
    if (copies[number] < kQuorum) outcome.lost.push_back(number);
  }
  outcome.acknowledged = client.durable().size();
  outcome.trace = world.trace_hash();
  return outcome;
}

}  // namespace samovar::test
