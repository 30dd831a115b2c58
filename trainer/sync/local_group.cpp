#include "trainer/sync/local_group.hpp"

#include "base/assert.hpp"

namespace samovar::trainer {

namespace {
using Time = std::chrono::steady_clock::time_point;
Time now() { return std::chrono::steady_clock::now(); }
}  // namespace

class LocalGroup::End final : public PeerGroup {
 public:
  End(LocalGroup& group, std::uint32_t number, std::vector<std::uint32_t> blocks)
      : group_(group), number_(number), blocks_(std::move(blocks)) {}

  const Membership& membership() const override { return seen_; }

  Result<void> send(std::uint32_t to, ByteView body) override { return give(to, to_bytes(body)); }

  Result<void> give(std::uint32_t to, Bytes body) override {
    const std::lock_guard lock(group_.mutex_);
    if (cut_) return Error{Errc::unavailable, "this worker was cut off"};
    if (body.size() > kPeerMessageBytesMax) return Error{Errc::invalid, "the message is too long"};
    bytes_ += body.size();
    ++messages_;
    const auto other = group_.ends_.find(to);
    if (other == group_.ends_.end() || other->second->cut_) return {};
    End& at = *other->second;
    at.queue_.push_back({now() + at.delay_, {number_, seen_.epoch, std::move(body)}});
    at.ready_.notify_one();
    return {};
  }

  Result<std::optional<PeerMessage>> receive(std::chrono::milliseconds wait) override {
    std::unique_lock lock(group_.mutex_);
    const Time until = now() + wait;
    for (;;) {
      if (cut_) return Error{Errc::unavailable, "this worker was cut off"};
      if (stop_) return Error{Errc::conflict, "stopped as asked"};
      if (next_.epoch != seen_.epoch) {
        seen_ = next_;
        return std::optional<PeerMessage>();
      }
      Time wake = until;
      if (!queue_.empty()) {
        if (queue_.front().first <= now()) {
          PeerMessage message = std::move(queue_.front().second);
          queue_.pop_front();
          return std::optional<PeerMessage>(std::move(message));
        }
        wake = std::min(wake, queue_.front().first);
      }
      if (now() >= until) return std::optional<PeerMessage>();
      ready_.wait_until(lock, wake);
    }
  }

 private:
  friend class LocalGroup;
  LocalGroup& group_;
  const std::uint32_t number_;
  // The member's own thread.
  Membership seen_;
  // Under the group's mutex.
  std::vector<std::uint32_t> blocks_;
  Membership next_;
  std::deque<std::pair<Time, PeerMessage>> queue_;
  std::condition_variable ready_;
  std::chrono::milliseconds delay_{0};
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0;
  bool cut_ = false;
  bool stop_ = false;
};

LocalGroup::LocalGroup(const std::vector<std::vector<std::uint32_t>>& blocks, Blocks how) : how_(how) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) ends_[i] = std::make_unique<End>(*this, i, blocks[i]);
  tell();
  for (auto& [number, end] : ends_) end->seen_ = end->next_;
}

LocalGroup::~LocalGroup() = default;

LocalGroup::End& LocalGroup::end(std::uint32_t number) const {
  const auto found = ends_.find(number);
  SAMOVAR_ASSERT(found != ends_.end());
  return *found->second;
}

void LocalGroup::tell() {
  std::vector<std::uint32_t> members;
  for (const auto& [number, end] : ends_) {
    if (!end->cut_) members.push_back(number);
  }
  for (auto& [number, end] : ends_) {
    end->next_ = {epoch_, number, members, end->blocks_, {}};
    const auto own = std::find(members.begin(), members.end(), number) - members.begin();
    const bool turns = how_ == Blocks::go_round && members.size() > 1;
    for (std::size_t turn = 0; turns && turn < members.size(); ++turn) {
      const std::uint32_t other = members[(static_cast<std::size_t>(own) + turn) % members.size()];
      end->next_.turns.push_back(ends_[other]->blocks_);
    }
    end->ready_.notify_all();
  }
}

PeerGroup& LocalGroup::member(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return end(number);
}

void LocalGroup::cut(std::uint32_t number, std::optional<std::uint32_t> heir) {
  const std::lock_guard lock(mutex_);
  End& gone = end(number);
  if (gone.cut_) return;
  gone.cut_ = true;
  if (heir) {
    End& next = end(*heir);
    next.blocks_.insert(next.blocks_.end(), gone.blocks_.begin(), gone.blocks_.end());
    std::sort(next.blocks_.begin(), next.blocks_.end());
  }
  ++epoch_;
  tell();
}

std::uint32_t LocalGroup::add(std::optional<std::uint32_t> from) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = ends_.empty() ? 0 : ends_.rbegin()->first + 1;
  std::vector<std::uint32_t> blocks;
  if (from) {
    std::vector<std::uint32_t>& theirs = end(*from).blocks_;
    const auto middle = theirs.begin() + static_cast<std::ptrdiff_t>((theirs.size() + 1) / 2);
    blocks.assign(middle, theirs.end());
    theirs.erase(middle, theirs.end());
  }
  auto& added = ends_[number] = std::make_unique<End>(*this, number, std::move(blocks));
  ++epoch_;
  tell();
  added->seen_ = added->next_;
  return number;
}

void LocalGroup::delay(std::uint32_t number, std::chrono::milliseconds by) {
  const std::lock_guard lock(mutex_);
  end(number).delay_ = by;
}

void LocalGroup::stop(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  end(number).stop_ = true;
  end(number).ready_.notify_all();
}

std::uint64_t LocalGroup::bytes_sent(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return end(number).bytes_;
}

std::uint64_t LocalGroup::messages_sent(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return end(number).messages_;
}

}  // namespace samovar::trainer
