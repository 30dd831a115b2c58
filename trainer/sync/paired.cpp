#include "trainer/sync/paired.hpp"

#include <algorithm>

namespace samovar::trainer {

namespace {

// As in sliced.cpp: a piece stays in the cache, and codecs can name a cell of it with two bytes.
constexpr std::size_t kPieceFloats = 32'768;
constexpr std::size_t kHeadBytes = 64;

Error damaged() { return {Errc::corrupt, "parameters that another worker sent are damaged"}; }

}  // namespace

Paired::Paired(Council& council, const StrategySpec& strategy, CellKind cell, std::unique_ptr<Codec> codec)
    : Together(council, strategy, cell), codec_(std::move(codec)), whole_(make_fp32()) {}

void Paired::epoch_began() {
  round_ = 0;
  steps_in_round_ = 0;
  // Whoever is new, or came back, knows nothing.
  they_know_.clear();
  we_know_.clear();
}

std::vector<std::uint32_t> Paired::drawn_order(std::uint64_t draw) const {
  std::vector<std::uint32_t> order = council_.membership().members;
  SeededOrder(SeededOrder::derive(council_.membership().epoch, draw)).shuffle(order);
  return order;
}

void Paired::keep_squares(std::span<float> cells) const {
  if (!cell_.squares || codec_->exact()) return;
  for (std::size_t i = cell_.squares_at; i < cells.size(); i += cell_.floats)
    cells[i] = std::max(cells[i], 0.0f);
}

Result<void> Paired::exchange_when_due() {
  if (steps_in_round_ < figures_.tau) return {};
  const double before = thread_work_seconds();
  steps_in_round_ = 0;
  const auto to = partner(round_++);
  if (to && *to != council_.membership().self) SAMOVAR_CHECK(send_vector(*to));
  work_seconds_ += thread_work_seconds() - before;
  adjust_tau();
  return {};
}

Result<void> Paired::send_vector(std::uint32_t to) {
  const Membership& now = council_.membership();
  Known& known = they_know_[to];
  const bool whole = codec_->whole() || !known.told;
  if (!codec_->whole()) known.floats.resize(x_.size());
  known.told = true;
  const std::size_t most = kPieceFloats / cell_.floats * cell_.floats;
  for (std::size_t first = 0; first < x_.size(); first += most) {
    const std::size_t count = std::min(most, x_.size() - first);
    StateWriter out;
    out.put(std::uint8_t{kVector});
    out.put(static_cast<std::uint8_t>(whole));
    out.put(static_cast<std::uint8_t>(first + count == x_.size()));
    out.put(now.epoch);
    out.put(std::uint64_t{first});
    out.put(seen_of(now.self));
    Bytes body = out.take();
    body.resize(kHeadBytes);
    room_.resize(count);
    x_.copy_to(first, room_);
    SeededOrder luck(SeededOrder::derive(steps_, (std::uint64_t{to} << 32) + first));
    std::span<float> theirs;
    if (!codec_->whole()) theirs = std::span(known.floats).subspan(first, count);
    (whole ? *whole_ : *codec_).encode(room_, theirs, theirs, cell_, luck, body);
    keep_squares(theirs);
    SAMOVAR_CHECK(council_.give(to, std::move(body)));
  }
  return {};
}

Result<void> Paired::hear_own(std::uint32_t from, std::uint8_t kind, StateReader& in, Bytes& body) {
  if (kind != kVector) return damaged();
  const bool whole = in.get<std::uint8_t>() != 0;
  const bool last = in.get<std::uint8_t>() != 0;
  const auto epoch = in.get<std::uint64_t>();
  const auto first = in.get<std::uint64_t>();
  const auto seen = in.get<std::uint64_t>();
  if (in.failed() || body.size() < kHeadBytes) return damaged();
  if (!council_.membership().has(from)) return {};
  note_seen(from, seen);
  if (epoch != council_.membership().epoch) return {};
  const std::size_t most = kPieceFloats / cell_.floats * cell_.floats;
  if (first >= x_.size() || first % most != 0 || (!whole && codec_->whole())) return damaged();
  const std::size_t count = std::min(most, x_.size() - first);
  if (last != (first + count == x_.size())) return damaged();
  const ByteView payload = ByteView(body).subspan(kHeadBytes);
  if (codec_->whole()) {
    room_.assign(count, 0);
    SAMOVAR_CHECK(whole_->decode(payload, room_, {}, cell_));
    take(from, first, room_, last);
    return {};
  }
  Known& known = we_know_[from];
  if (!whole && !known.told) return damaged();
  known.floats.resize(x_.size());
  known.told = known.told || last;
  const std::span<float> theirs = std::span(known.floats).subspan(first, count);
  SAMOVAR_CHECK((whole ? *whole_ : *codec_).decode(payload, theirs, theirs, cell_));
  keep_squares(theirs);
  take(from, first, theirs, last);
  return {};
}

}  // namespace samovar::trainer
