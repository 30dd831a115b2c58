// The worker's side of training and scoring: asks samovard for files, seals into them, says how far it is,
// and hears when it is to stop.
//
// Threading: one thread. Ownership: borrows the channel.
#pragma once
#include <cstdint>
#include <memory>

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
  // Returns when samovard has committed it.
  Result<void> keep(const jobs::SavedFile& file);

  template <class Message>
  Result<void> say(ingest::MessageType type, const Message& message) {
    return channel_.send(type, encode(message));
  }
  // samovard asked for it, or is gone. Looks at most every 20 ms.
  bool stop_asked();

 private:
  Result<ingest::Frame> answer(ingest::MessageType type);

  ingest::WorkerChannel& channel_;
  bool stop_ = false;
  MonoTime looked_{};
};

}  // namespace samovar::worker
