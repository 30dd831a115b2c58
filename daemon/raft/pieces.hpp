// Messages too long for one message of the wire: cut into pieces, put together again.
//
// A snapshot goes with acknowledgements, a few pieces ahead of the receiver, so that neither side nor the
// wire between them holds much of it at once; one at a time. An entry that is a little too long goes without.
// Pieces come in order or the transfer is given up: the log sends what it wants to have there again.
//
// Threading: loop only. Times are the log's milliseconds.
// Format:    docs/formats/raft-wire.md
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "daemon/raft/wire.hpp"

namespace samovar::raft {

inline constexpr std::size_t kPieceBytes = 256 * 1024;
inline constexpr std::size_t kPiecesAhead = 4;
inline constexpr std::size_t kAssembledBytesMax = 128 * 1024 * 1024;
inline constexpr std::size_t kUnacknowledgedBytesMax = 4 * 1024 * 1024;
inline constexpr std::uint64_t kPieceSilenceMs = 5000;

using SendBytes = std::function<void(const std::string& node_id, Bytes message)>;

// All at once, without waiting for anybody.
void send_in_pieces(const SendBytes& send, const std::string& to, std::uint64_t transfer, ByteView message);

class PieceSender {
 public:
  explicit PieceSender(SendBytes send) : send_(std::move(send)) {}

  bool busy() const { return static_cast<bool>(done_); }
  const std::string& to() const { return to_; }
  // Not while busy. `body` must stay where it is until `done`, which runs inside on_ack, poll or cancel.
  void start(std::string to, std::uint64_t transfer, Bytes head, ByteView body, std::uint64_t now,
             std::function<void(bool arrived)> done);
  void on_ack(const std::string& from, const PieceAck& ack, std::uint64_t now);
  void poll(std::uint64_t now);
  void cancel();

 private:
  void pump();
  void finish(bool arrived);

  SendBytes send_;
  std::string to_;
  std::uint64_t transfer_ = 0;
  Bytes head_;
  ByteView body_;
  std::size_t sent_ = 0;
  std::size_t acknowledged_ = 0;
  std::uint64_t heard_ = 0;
  std::function<void(bool)> done_;
};

class PieceCollector {
 public:
  explicit PieceCollector(SendBytes send) : send_(std::move(send)) {}

  // The whole message, when this was its last piece.
  std::optional<Bytes> add(const std::string& from, const PieceMessage& piece, std::uint64_t now);
  void poll(std::uint64_t now);
  bool waiting() const { return !short_.empty() || long_.has_value(); }

 private:
  struct Assembly {
    std::string from;
    std::uint64_t transfer = 0;
    std::uint64_t total = 0;
    Bytes have;
    std::uint64_t heard = 0;
  };
  static bool extend(Assembly& assembly, const PieceMessage& piece, std::uint64_t now);

  SendBytes send_;
  std::optional<Assembly> long_;           // a snapshot: one from anybody
  std::map<std::string, Assembly> short_;  // one per sender
};

}  // namespace samovar::raft
