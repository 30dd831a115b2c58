#include "bench/virtual_group.hpp"

#include "bench/bench.hpp"

namespace samovar::bench {

using trainer::Membership;
using trainer::PeerMessage;

class VirtualGroup::End final : public trainer::PeerGroup {
 public:
  End(VirtualGroup& group, std::uint32_t number) : group_(group), number_(number) {}

  const Membership& membership() const override { return members_; }

  Result<void> send(std::uint32_t to, ByteView body) override { return give(to, to_bytes(body)); }
  Result<void> give(std::uint32_t to, Bytes body) override {
    const std::lock_guard lock(group_.mutex_);
    if (body.size() > trainer::kPeerMessageBytesMax) return Error{Errc::invalid, "the message is too long"};
    group_.charge(*this);
    ++messages_;
    if (to >= group_.ends_.size() || group_.ends_[to]->gone_) return {};
    End& other = *group_.ends_[to];
    const double takes = static_cast<double>(body.size()) / group_.link_.bytes_per_second;
    out_free_ = std::max(out_free_, clock_) + takes;
    // It streams: the last byte is in when it left and travelled, or when those before it are through.
    other.in_free_ = std::max(out_free_ + group_.link_.latency_seconds, other.in_free_ + takes);
    other.queue_.emplace(other.in_free_, PeerMessage{number_, members_.epoch, std::move(body)});
    return {};
  }

  Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds wait) override {
    std::unique_lock lock(group_.mutex_);
    group_.charge(*this, wait.count() == 0 && !heard_);
    const double asked = clock_;
    if (wait.count() == 0 && clock_ < group_.others_least(*this) + group_.turn_seconds()) return next();
    until_ = clock_ + std::chrono::duration<double>(wait).count();
    group_.hand_over(*this, lock);
    waited_ += clock_ - asked;
    return next();
  }

  // What has come by now.
  Result<std::optional<PeerMessage>> next() {
    if (group_.stop_) return Error{Errc::conflict, "another worker failed"};
    heard_ = !queue_.empty() && queue_.begin()->first <= clock_;
    if (!heard_) return std::optional<PeerMessage>();
    PeerMessage message = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    return std::optional<PeerMessage>(std::move(message));
  }

  // When it goes on, if nobody sends it anything more.
  double wakes() const {
    if (gone_) return kNever;
    if (!queue_.empty()) return std::max(clock_, std::min(until_, queue_.begin()->first));
    return until_;
  }

 private:
  friend class VirtualGroup;
  VirtualGroup& group_;
  const std::uint32_t number_;
  Membership members_;
  // Under the group's mutex.
  std::multimap<double, PeerMessage> queue_;  // by when they arrive
  std::condition_variable ready_;
  double clock_ = 0;
  double until_ = 0;
  double waited_ = 0;
  double out_free_ = 0;
  double in_free_ = 0;
  std::uint64_t messages_ = 0;
  double stepped_ = 0;
  bool heard_ = false;  // the last look brought something
  bool turn_ = false;
  bool gone_ = false;
};

VirtualGroup::VirtualGroup(const std::vector<std::vector<std::uint32_t>>& blocks, VirtualLink link,
                           bool rotate, double step_seconds)
    : link_(link), step_seconds_(step_seconds) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) members.push_back(i);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    ends_.push_back(std::make_unique<End>(*this, i));
    ends_.back()->members_ = {1, i, members, blocks[i], {}};
    for (std::size_t turn = 0; rotate && turn < blocks.size(); ++turn)
      ends_.back()->members_.turns.push_back(blocks[(i + turn) % blocks.size()]);
  }
}

VirtualGroup::~VirtualGroup() = default;

trainer::PeerGroup& VirtualGroup::member(std::uint32_t number) { return *ends_[number]; }

void VirtualGroup::charge(End& end, bool step) {
  const double now = cpu_seconds();
  const double spent = now - turn_began_;
  turn_began_ = now;
  if (step) end.stepped_ += spent;
  end.clock_ += step && step_seconds_ > 0 ? step_seconds_ : spent;
}

void VirtualGroup::wake_next() {
  End* next = ends_.front().get();
  for (const auto& each : ends_) {
    if (each->wakes() < next->wakes()) next = each.get();
  }
  next->turn_ = true;
  next->ready_.notify_one();
}

double VirtualGroup::others_least(const End& end) const {
  double least = kNever;
  for (const auto& each : ends_) {
    if (each.get() != &end) least = std::min(least, each->wakes());
  }
  return least;
}

void VirtualGroup::hand_over(End& end, std::unique_lock<std::mutex>& lock) {
  end.turn_ = false;
  wake_next();
  end.ready_.wait(lock, [&] { return end.turn_; });
  end.clock_ = std::max(end.clock_, end.wakes());
  // Taking turns is no work of a node.
  turn_began_ = cpu_seconds();
}

void VirtualGroup::begin(std::uint32_t number) {
  std::unique_lock lock(mutex_);
  End& end = *ends_[number];
  if (++begun_ == ends_.size()) wake_next();
  end.ready_.wait(lock, [&] { return end.turn_; });
  turn_began_ = cpu_seconds();
}

void VirtualGroup::end(std::uint32_t number, bool failed) {
  const std::lock_guard lock(mutex_);
  stop_ = stop_ || failed;
  End& end = *ends_[number];
  charge(end);
  end.gone_ = true;
  end.turn_ = false;
  wake_next();
}

double VirtualGroup::seconds(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  // In the midst of a step that has its price: what it took so far is not counted beside that.
  if (step_seconds_ == 0) charge(*ends_[number]);
  return ends_[number]->clock_;
}

double VirtualGroup::waited(std::uint32_t number) const { return ends_[number]->waited_; }
double VirtualGroup::stepped(std::uint32_t number) const { return ends_[number]->stepped_; }
std::uint64_t VirtualGroup::messages_sent(std::uint32_t number) const { return ends_[number]->messages_; }

}  // namespace samovar::bench
