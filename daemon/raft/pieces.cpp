#include "daemon/raft/pieces.hpp"

#include <algorithm>

#include "daemon/raft/little_endian.hpp"

namespace samovar::raft {
namespace {

constexpr std::size_t kSendersMax = 64;

}  // namespace

void send_in_pieces(const SendBytes& send, const std::string& to, std::uint64_t transfer, ByteView message) {
  for (std::size_t at = 0; at < message.size(); at += kPieceBytes) {
    PieceMessage piece;
    piece.transfer = transfer;
    piece.total = message.size();
    piece.offset = at;
    piece.data = message.subspan(at, std::min(kPieceBytes, message.size() - at));
    send(to, encode(piece));
  }
}

void PieceSender::start(std::string to, std::uint64_t transfer, Bytes head, ByteView body, std::uint64_t now,
                        std::function<void(bool arrived)> done) {
  to_ = std::move(to);
  transfer_ = transfer;
  head_ = std::move(head);
  body_ = body;
  sent_ = 0;
  acknowledged_ = 0;
  heard_ = now;
  done_ = std::move(done);
  pump();
}

void PieceSender::pump() {
  const std::size_t total = head_.size() + body_.size();
  while (sent_ < total && sent_ - acknowledged_ < kPiecesAhead * kPieceBytes) {
    const std::size_t count = std::min(kPieceBytes, total - sent_);
    Bytes data;
    data.reserve(count);
    if (sent_ < head_.size())
      append(data, ByteView(head_).subspan(sent_, std::min(count, head_.size() - sent_)));
    if (data.size() < count) {
      const std::size_t from = sent_ + data.size() - head_.size();
      append(data, body_.subspan(from, count - data.size()));
    }
    PieceMessage piece;
    piece.transfer = transfer_;
    piece.total = total;
    piece.offset = sent_;
    piece.acknowledge = true;
    piece.data = data;
    sent_ += count;
    send_(to_, encode(piece));
  }
}

void PieceSender::on_ack(const std::string& from, const PieceAck& ack, std::uint64_t now) {
  if (!busy() || from != to_ || ack.transfer != transfer_) return;
  if (ack.received > sent_) return finish(false);
  heard_ = now;
  acknowledged_ = std::max(acknowledged_, static_cast<std::size_t>(ack.received));
  if (acknowledged_ == head_.size() + body_.size()) return finish(true);
  pump();
}

void PieceSender::poll(std::uint64_t now) {
  if (busy() && now - heard_ >= kPieceSilenceMs) finish(false);
}

void PieceSender::cancel() {
  if (busy()) finish(false);
}

void PieceSender::finish(bool arrived) {
  head_ = {};
  body_ = {};
  auto done = std::exchange(done_, nullptr);
  done(arrived);
}

bool PieceCollector::extend(Assembly& assembly, const PieceMessage& piece, std::uint64_t now) {
  if (assembly.transfer != piece.transfer || assembly.total != piece.total) return false;
  assembly.heard = now;
  if (piece.offset + piece.data.size() <= assembly.have.size()) return true;  // a repetition
  if (piece.offset != assembly.have.size()) return false;
  append(assembly.have, piece.data);
  return true;
}

std::optional<Bytes> PieceCollector::add(const std::string& from, const PieceMessage& piece,
                                         std::uint64_t now) {
  if (!piece.acknowledge) {
    if (piece.total > kUnacknowledgedBytesMax) return std::nullopt;
    if (piece.offset == 0) {
      if (short_.size() >= kSendersMax && !short_.contains(from)) return std::nullopt;
      short_[from] = Assembly{from, piece.transfer, piece.total, {}, now};
    }
    const auto found = short_.find(from);
    if (found == short_.end()) return std::nullopt;
    const bool fits = extend(found->second, piece, now);
    if (fits && found->second.have.size() < piece.total) return std::nullopt;
    Assembly whole = std::move(found->second);
    short_.erase(found);
    return fits ? std::optional<Bytes>(std::move(whole.have)) : std::nullopt;
  }
  if (piece.total > kAssembledBytesMax) return std::nullopt;
  if (piece.offset == 0 && (!long_ || long_->from != from || long_->transfer != piece.transfer)) {
    long_ = Assembly{from, piece.transfer, piece.total, {}, now};
    long_->have.reserve(static_cast<std::size_t>(piece.total));
  }
  if (!long_ || long_->from != from) return std::nullopt;
  if (!extend(*long_, piece, now)) {
    // The sender hears nothing more, gives up, and begins again.
    if (long_->transfer == piece.transfer) long_.reset();
    return std::nullopt;
  }
  PieceAck ack;
  ack.transfer = piece.transfer;
  ack.received = long_->have.size();
  send_(from, encode(ack));
  if (long_->have.size() < long_->total) return std::nullopt;
  Bytes whole = std::move(long_->have);
  long_.reset();
  return whole;
}

void PieceCollector::poll(std::uint64_t now) {
  if (long_ && now - long_->heard >= kPieceSilenceMs) long_.reset();
  std::erase_if(short_, [&](const auto& item) { return now - item.second.heard >= kPieceSilenceMs; });
}

}  // namespace samovar::raft
