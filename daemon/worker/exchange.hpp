// The worker's side of training and scoring: asks samovard for files, seals into them, says how far it is,
// hears when it is to stop, and, when workers of other nodes train with it, what they say.
//
// Threading: one thread. Ownership: borrows the channel.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::worker {

class Exchange {
 public:
  explicit Exchange(ingest::WorkerChannel& channel) : channel_(channel) {}

  Result<ingest::Descriptor> input(jobs::InputKind kind, std::uint32_t number);
  Result<std::unique_ptr<File>> output(jobs::OutputKind kind, std::uint64_t number);
  // All of it in a sealed file of this kind; returns when it is synced.
  Result<jobs::SavedFile> seal(const security::SecretBytes& key, std::string_view owner,
                               jobs::OutputKind kind, std::uint64_t number, ByteView plain);
  // The same of bytes that come piece by piece.
  using Pieces = std::function<Result<void>(const std::function<Result<void>(ByteView)>& take)>;
  Result<jobs::SavedFile> seal(const security::SecretBytes& key, std::string_view owner,
                               jobs::OutputKind kind, std::uint64_t number, const Pieces& pieces);
  // Returns when samovard has committed it.
  Result<void> keep(const jobs::SavedFile& file);

  template <class Message>
  Result<void> say(ingest::MessageType type, const Message& message) {
    return channel_.send(type, encode(message));
  }
  // samovard asked for it, or is gone. Looks at most every 20 ms.
  bool stop_asked();

  // ---- other workers: peer_link.hpp ----
  Result<void> say(ingest::MessageType type, Bytes body, int descriptor) {
    return channel_.send(type, std::move(body), descriptor);
  }
  // Takes what came, and if nothing did waits so long for it. Errc::io: samovard is gone.
  Result<void> listen(Duration wait);
  bool stopped() const noexcept { return stop_; }
  std::deque<ingest::Frame>& messages() noexcept { return messages_; }
  std::optional<jobs::MembershipMessage> take_membership() {
    return std::exchange(membership_, std::nullopt);
  }
  // Shards for passes to come that may be asked for now.
  std::vector<std::uint32_t> take_shards() { return std::exchange(shards_, {}); }
  std::uint32_t take_sent() noexcept { return std::exchange(sent_, 0); }

 private:
  Result<ingest::Frame> answer(ingest::MessageType type);
  // What may come at any time; Errc::corrupt when it may not.
  Result<void> take(ingest::Frame frame);

  ingest::WorkerChannel& channel_;
  bool stop_ = false;
  MonoTime looked_{};
  std::deque<ingest::Frame> messages_;  // peer_message, at most kPeerUnreadMax by samovard's count
  std::optional<jobs::MembershipMessage> membership_;  // the latest
  std::vector<std::uint32_t> shards_;
  std::uint32_t sent_ = 0;
};

}  // namespace samovar::worker
