#include "trainer/sync/sliced.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "trainer/sync/pull_loops.hpp"
#include "trainer/sync/sliced_message.hpp"

namespace samovar::trainer {

namespace {

// Small enough that a piece stays in the cache, and a message in the allocator's lists; fewer than 65,536
// cells, so that codecs can name one with two bytes.
constexpr std::size_t kPieceFloats = 32'768;
// An answer that has not come after so many rounds will not come: the other was in another epoch.
constexpr std::uint32_t kRoundsLate = 20;

double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

}  // namespace

Sliced::Sliced(Council& council, const StrategySpec& strategy, CellKind cell, std::unique_ptr<SliceRule> rule,
               std::unique_ptr<Codec> codec)
    : Together(council, strategy, cell),
      rule_(std::move(rule)),
      codec_(std::move(codec)),
      whole_(make_fp32()) {}

void Sliced::epoch_began() {
  const Membership& now = council_.membership();
  const std::size_t cells = x_.size() / cell_.floats;
  const std::size_t members = now.members.size();
  const std::size_t most = kPieceFloats / cell_.floats * cell_.floats;
  pieces_.clear();
  // Others may have begun before this member had: what they told in this epoch they do not tell again.
  std::vector<Held> heard;
  if (std::exchange(held_epoch_, now.epoch) == now.epoch) heard = std::move(held_);
  held_.clear();
  for (std::size_t place = 0; place < members; ++place) {
    const std::size_t low = cells * place / members * cell_.floats;
    const std::size_t high = cells * (place + 1) / members * cell_.floats;
    const bool own = now.members[place] == now.self;
    if (own) std::tie(low_, high_) = std::pair(low, high);
    for (std::size_t first = low; first < high; first += most) {
      const std::size_t count = std::min(most, high - first);
      pieces_.push_back({first, count, now.members[place], false, false, 0, 0, seen_of(now.self), 0});
      if (own) held_.push_back({first, count, 0, {}, {}, {}});
    }
  }
  if (heard.size() == held_.size()) held_ = std::move(heard);
  // Each member begins with the slice after its own, so that not all talk to the same owner.
  order_.clear();
  const auto after =
      std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.first >= high_; });
  const auto begin = static_cast<std::size_t>(after - pieces_.begin());
  for (std::size_t i = 0; i < pieces_.size(); ++i) order_.push_back((begin + i) % pieces_.size());
  room_.resize(high_ - low_);
  x_.copy_to(low_, room_);
  rule_->begin(room_, members, cell_);
  if (!codec_->whole()) known_.resize(x_.size());
  if (!codec_->whole() && rule_->anew()) {
    given_.assign(x_.size(), 0);
    left_.assign(codec_->exact() ? 0 : x_.size(), 0);
  }
  if (rule_->tau() != 0) figures_.tau = rule_->tau();
  next_ = 0;
  clock_ = settled_ = 0;
  later_.clear();
  rows_of_round_.clear();
  steps_in_round_ = 0;
}

Sliced::Held* Sliced::held_at(std::size_t first) {
  const auto found = std::lower_bound(held_.begin(), held_.end(), first,
                                      [](const Held& held, std::size_t at) { return held.first < at; });
  return found == held_.end() || found->first != first ? nullptr : &*found;
}

Sliced::Piece* Sliced::piece_at(std::size_t first) {
  const auto found = std::lower_bound(pieces_.begin(), pieces_.end(), first,
                                      [](const Piece& piece, std::size_t at) { return piece.first < at; });
  return found == pieces_.end() || found->first != first ? nullptr : &*found;
}

std::size_t Sliced::open_pieces() const {
  return static_cast<std::size_t>(
      std::count_if(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.open; }));
}

double Sliced::all_rows_with(std::uint32_t member, double rows) {
  rows_of_round_[member] = rows;
  double all = 0;
  for (const auto& [each, did] : rows_of_round_) all += did;
  // Those not heard yet in this epoch count as the average of the others.
  return all * static_cast<double>(council_.membership().members.size()) /
         static_cast<double>(rows_of_round_.size());
}

// What a codec draws depends on the message, not on which came first.
SeededOrder Sliced::luck_of(std::size_t first, std::uint32_t to) const {
  const std::uint64_t message = SeededOrder::derive(first, (std::uint64_t{to} << 32) + place());
  return SeededOrder(SeededOrder::derive(steps_, message));
}

void Sliced::keep_squares(std::span<float> cells) const {
  if (!cell_.squares || (codec_->exact() && rule_->keeps_squares())) return;
  for (std::size_t i = cell_.squares_at; i < cells.size(); i += cell_.floats)
    cells[i] = std::max(cells[i], 0.0f);
}

void Sliced::take_off(std::size_t first, std::span<const float> off) {
  x_.each_run(first, off.size(), [&](float* x, std::size_t count, std::size_t at) {
    take_from(x, off.data() + at, count);
    keep_squares({x, count});
  });
}

// Both ends do this: what the member has after an answer need not be told back.
void Sliced::follow_answer(std::span<float> known, std::span<const float> off, bool set) const {
  if (set) {
    std::copy(off.begin(), off.end(), known.begin());
    return;
  }
  take_from(known.data(), off.data(), off.size());
  keep_squares(known);
}

// Error feedback (Seide et al. 2014): nothing of a gradient is lost, it only comes later. What the others
// then have is in off_, and by it the next message's cells are told apart.
void Sliced::encode_anew(std::size_t first, std::span<float> like, std::uint32_t to, Bytes& out) {
  const std::span<float> left = left_.empty() ? left_ : std::span(left_).subspan(first, room_.size());
  for (std::size_t i = 0; i < left.size(); ++i) room_[i] += left[i];
  off_.assign(room_.size(), 0);
  SeededOrder luck = luck_of(first, to);
  codec_->encode(room_, off_, like, cell_, luck, out);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const float by = room_[i] - off_[i];
    left[i] = std::isfinite(by) ? by : 0;
  }
  std::copy(off_.begin(), off_.end(), like.begin());
}

// ---- the member ----

Result<void> Sliced::send_piece(Piece& piece) {
  const Membership& now = council_.membership();
  const std::uint64_t seen = seen_of(now.self);
  const std::uint64_t rows = seen - piece.rows_at;
  piece.rows_at = seen;
  piece.sent_step = steps_;
  piece.sent_at = seconds_now();
  if (piece.owner == now.self) return meet_self(piece, static_cast<double>(rows));
  const bool whole = codec_->whole() || !piece.told;
  const Codec& codec = whole ? *whole_ : *codec_;
  StateWriter out(codec.bytes_most(piece.count, cell_) + kSlicedHeadBytes);
  out.put(std::uint8_t{kPush});
  out.put(whole ? kFloats : kCoded);
  out.put(now.epoch);
  out.put(std::uint64_t{piece.first});
  out.put(piece.round);
  out.put(clock_);
  out.put(rows);
  out.put(seen);
  Bytes body = out.take();
  body.resize(kSlicedHeadBytes);
  std::span<float> known;
  if (!codec_->whole()) known = std::span(known_).subspan(piece.first, piece.count);
  if (whole) {
    SeededOrder luck = luck_of(piece.first, 0);
    x_.each_run(piece.first, piece.count, [&](const float* x, std::size_t count, std::size_t at) {
      codec.encode({x, count}, known.empty() ? known : known.subspan(at, count), {}, cell_, luck, body);
    });
  } else {
    room_.resize(piece.count);
    x_.copy_to(piece.first, room_);
    if (rule_->anew()) {
      encode_anew(piece.first, known, 0, body);
    } else {
      SeededOrder luck = luck_of(piece.first, 0);
      codec.encode(room_, known, known, cell_, luck, body);
      keep_squares(known);
    }
  }
  piece.told = true;
  piece.open = true;
  return council_.give(piece.owner, std::move(body));
}

Result<void> Sliced::meet_self(Piece& piece, double rows) {
  const std::uint32_t self = council_.membership().self;
  Held& held = *held_at(piece.first);
  if (rule_->waits()) {
    piece.open = true;
    Bytes body(kSlicedHeadBytes + piece.count * sizeof(float));
    x_.copy_to(piece.first, floats_of(body));
    return take_part(held, self, piece.round, rows, true, std::move(body));
  }
  const double all = all_rows_with(self, rows);
  const auto meet_run = [&](std::span<float> x) {
    SliceRule::Given one{self, rows, all, x};
    rule_->meet_owner(held.first - low_, one);
    keep_squares(one.x);
  };
  // A rule knows a piece by where it begins: one that lies in two runs of memory is met as a whole all the
  // same.
  const std::size_t head = x_.head.size();
  if (piece.first < head && head < piece.first + piece.count) {
    room_.resize(piece.count);
    x_.copy_to(piece.first, room_);
    meet_run(room_);
    x_.copy_from(piece.first, room_);
    return {};
  }
  x_.each_run(piece.first, piece.count, [&](float* x, std::size_t count, std::size_t) {
    meet_run({x, count});
  });
  return {};
}

Result<void> Sliced::exchange_when_due() {
  const double before = thread_work_seconds();
  const std::uint64_t epoch = council_.membership().epoch;
  for (auto& [from, body] : std::exchange(later_, {})) {
    StateReader in(body);
    static_cast<void>(in.get<std::uint8_t>());  // the kind
    SAMOVAR_CHECK(hear_push(from, in, body));
  }
  if (rule_->waits()) {
    if (steps_in_round_ < figures_.tau) return {};
    for (const std::size_t which : order_) SAMOVAR_CHECK(send_piece(pieces_[which]));
    next_ = pieces_.size();
  } else {
    if (figures_.rounds == 0 && next_ == 0 && rule_->tau() == 0) guess_tau();
    const std::size_t due =
        steps_in_round_ >= figures_.tau ? pieces_.size() : pieces_.size() * steps_in_round_ / figures_.tau;
    for (; next_ < due; ++next_) {
      Piece& piece = pieces_[order_[next_]];
      const bool late = piece.open && steps_ - piece.sent_step >= std::uint64_t{kRoundsLate} * figures_.tau;
      // Its turn comes again in the next round. One that is lost was perhaps never heard: it is told anew.
      if (late) {
        piece.told = false;
        ++piece.round;
      }
      if (piece.open && !late) continue;
      SAMOVAR_CHECK(send_piece(piece));
    }
  }
  work_seconds_ += thread_work_seconds() - before;
  if (next_ < pieces_.size()) return {};
  ++clock_;
  if (rule_->waits()) SAMOVAR_CHECK(wait_for([&] { return open_pieces() == 0; }));
  if (council_.membership().epoch != epoch) return {};
  figures_.round_seconds = std::exchange(slowest_answer_, 0.0);
  if (rule_->tau() == 0 && !in_step()) {
    adjust_tau();
  } else {
    figures_.exchange_work += std::exchange(work_seconds_, 0.0);
    ++figures_.rounds;
  }
  next_ = 0;
  steps_in_round_ = 0;
  if (!in_step()) return {};
  SAMOVAR_CHECK(meet());
  if (council_.membership().epoch == epoch) settled_ = clock_;
  return {};
}

Result<void> Sliced::hear_pull(StateReader& in, Bytes& body) {
  const auto payload = in.get<std::uint8_t>();
  const bool whole = payload != kCoded;
  const auto epoch = in.get<std::uint64_t>();
  const auto first = in.get<std::uint64_t>();
  const auto round = in.get<std::uint32_t>();
  const auto member = in.get<std::uint32_t>();
  const auto seen = in.get<std::uint64_t>();
  if (in.failed() || body.size() < kSlicedHeadBytes) return damaged_slice();
  if (!council_.membership().has(member)) return {};
  note_seen(member, seen);
  if (epoch != council_.membership().epoch) return {};
  Piece* const piece = piece_at(first);
  if (piece == nullptr || (!whole && codec_->whole())) return damaged_slice();
  // An answer to what was told anew meanwhile is none.
  if (!piece->open || (!rule_->waits() && round != piece->round)) return {};
  if (whole && body.size() != kSlicedHeadBytes + piece->count * sizeof(float)) return damaged_slice();
  // Made anew, what comes is the piece itself, coded or not.
  const bool set = payload == kToSet || rule_->anew();
  // What both ends had before this answer.
  std::vector<float>& both = rule_->anew() ? given_ : known_;
  const auto before = both.empty() ? std::span<float>() : std::span(both).subspan(piece->first, piece->count);
  std::span<const float> off;
  if (whole) {
    off = floats_of(body);
  } else {
    off_.assign(piece->count, 0);
    SAMOVAR_CHECK(codec_->decode(ByteView(body).subspan(kSlicedHeadBytes), off_, before, cell_));
    off = off_;
  }
  if (set) {
    x_.copy_from(piece->first, off);
  } else {
    take_off(piece->first, off);
  }
  if (!before.empty()) follow_answer(before, off, set);
  piece->open = false;
  piece->round = rule_->waits() ? round : round + 1;
  slowest_answer_ = std::max(slowest_answer_, seconds_now() - piece->sent_at);
  figures_.behind = steps_ - piece->sent_step;
  return {};
}

// ---- checkpoints, in step ----

std::uint32_t Sliced::member_place(std::uint32_t member) const {
  const auto& members = council_.membership().members;
  return static_cast<std::uint32_t>(std::lower_bound(members.begin(), members.end(), member) -
                                    members.begin());
}

void Sliced::save_own(StateWriter& out) const {
  rule_->save(out);
  if (codec_->whole()) return;
  // What both ends know of each other, and what lossy messages left out.
  out.put(known_);
  if (rule_->anew()) {
    out.put(given_);
    out.put(left_);
  }
  for (const Piece& piece : pieces_) out.put(static_cast<std::uint8_t>(piece.told));
  for (const Held& held : held_) {
    for (const std::uint32_t member : council_.membership().members) {
      const auto found = held.guests.find(member);
      out.put(found == held.guests.end() ? std::vector<float>() : found->second.known);
    }
  }
}

void Sliced::load_own(StateReader& in) {
  rule_->load(in);
  if (codec_->whole()) return;
  const auto get = [&](std::vector<float>& to) {
    std::vector<float> saved;
    in.get(saved);
    if (saved.size() == to.size()) to = std::move(saved);
  };
  get(known_);
  if (rule_->anew()) {
    get(given_);
    get(left_);
  }
  for (Piece& piece : pieces_) piece.told = in.get<std::uint8_t>() != 0;
  for (Held& held : held_) {
    for (const std::uint32_t member : council_.membership().members) {
      Guest guest;
      in.get(guest.known);
      if (guest.known.size() == held.count) held.guests[member] = std::move(guest);
    }
  }
}

Result<void> Sliced::hear_own(std::uint32_t from, std::uint8_t kind, StateReader& in, Bytes& body) {
  if (kind == kPush) return hear_push(from, in, body);
  if (kind == kPull) return hear_pull(in, body);
  return damaged_slice();
}

}  // namespace samovar::trainer
