// The owner of a slice: takes the members' pieces, and answers them.
#include <algorithm>
#include <cstring>

#include "trainer/sync/pull_loops.hpp"
#include "trainer/sync/sliced.hpp"
#include "trainer/sync/sliced_message.hpp"

namespace samovar::trainer {

Result<void> Sliced::hear_push(std::uint32_t from, StateReader& in, Bytes& body) {
  const bool whole = in.get<std::uint8_t>() != 0;
  const auto epoch = in.get<std::uint64_t>();
  const auto first = in.get<std::uint64_t>();
  const auto round = in.get<std::uint32_t>();
  const auto clock = in.get<std::uint32_t>();
  const auto rows = in.get<std::uint64_t>();
  const auto seen = in.get<std::uint64_t>();
  if (in.failed() || body.size() < kSlicedHeadBytes) return damaged_slice();
  if (!council_.membership().has(from)) return {};
  note_seen(from, seen);
  if (epoch != council_.membership().epoch) return {};
  if (in_step() && clock > settled_ && at_work(council_.membership().self)) {
    later_.emplace_back(from, std::move(body));
    return {};
  }
  Held* const held = held_at(first);
  if (held == nullptr) return damaged_slice();
  const std::size_t bytes = held->count * sizeof(float);
  if (whole ? body.size() != kSlicedHeadBytes + bytes : codec_->whole()) return damaged_slice();
  if (!codec_->whole()) {
    Guest& guest = held->guests[from];
    if (guest.known.empty() && !whole) return damaged_slice();
    guest.known.resize(held->count);
    if (whole) {
      std::memcpy(guest.known.data(), body.data() + kSlicedHeadBytes, bytes);
    } else {
      const ByteView coded = ByteView(body).subspan(kSlicedHeadBytes);
      if (rule_->anew()) {
        off_.assign(held->count, 0);
        SAMOVAR_CHECK(codec_->decode(coded, off_, guest.known, cell_));
        guest.known = off_;
      } else {
        SAMOVAR_CHECK(codec_->decode(coded, guest.known, guest.known, cell_));
        keep_squares(guest.known);
      }
      body.resize(kSlicedHeadBytes + bytes);
      std::memcpy(body.data() + kSlicedHeadBytes, guest.known.data(), bytes);
    }
  }
  return take_part(*held, from, round, static_cast<double>(rows), whole, std::move(body));
}

// The member's piece stands in the body; the answer goes the same way.
Result<void> Sliced::take_part(Held& held, std::uint32_t member, std::uint32_t round, double rows, bool whole,
                               Bytes body) {
  const double all = all_rows_with(member, rows);
  if (rule_->rounds_ahead() != SliceRule::kAnyAhead) {
    SliceRule::Given one{member, rows, all, floats_of(body)};
    rule_->take(held.first - low_, one);
    ++held.rounds_of[member];
    held.waiting[member] = {std::move(body), rows, whole};
    return release(held);
  }
  if (rule_->waits() && round >= held.round) {
    held.waiting[member] = {std::move(body), rows, whole};
    return close_if_full(held);
  }
  SliceRule::Given one{member, rows, all, floats_of(body)};
  if (rule_->waits()) {
    rule_->late(held.first - low_, one);
  } else {
    rule_->meet(held.first - low_, one);
  }
  return answer(held, member, rule_->waits() ? held.round : round, whole, std::move(body));
}

Result<void> Sliced::close_if_full(Held& held) {
  if (held.waiting.empty()) return {};
  std::size_t active = 0;
  std::size_t given = 0;
  double all = 0;
  for (const std::uint32_t member : council_.membership().members) {
    const auto found = held.waiting.find(member);
    if (found != held.waiting.end()) {
      ++given;
      ++active;
      all += found->second.rows;
    } else if (at_work(member)) {
      ++active;
    }
  }
  if (static_cast<double>(given) < rule_->quorum() * static_cast<double>(active)) return {};
  std::map<std::uint32_t, Waiting> waiting = std::move(held.waiting);
  held.waiting.clear();
  std::vector<SliceRule::Given> parts;
  for (auto& [member, part] : waiting) parts.push_back({member, part.rows, all, floats_of(part.body)});
  rule_->close(held.first - low_, parts);
  ++held.round;
  if (rule_->anew() && !codec_->whole()) return answer_alike(held, waiting);
  for (auto& [member, part] : waiting)
    SAMOVAR_CHECK(answer(held, member, held.round, part.whole, std::move(part.body)));
  return {};
}

// Answers those that are not too far ahead of the slowest.
Result<void> Sliced::release(Held& held) {
  std::uint32_t slowest = SliceRule::kAnyAhead;
  for (const std::uint32_t member : council_.membership().members) {
    if (at_work(member) || held.waiting.contains(member)) slowest = std::min(slowest, held.rounds_of[member]);
  }
  for (auto at = held.waiting.begin(); at != held.waiting.end();) {
    const std::uint32_t member = at->first;
    const std::uint32_t round = held.rounds_of[member];
    if (round - slowest > rule_->rounds_ahead()) {
      ++at;
      continue;
    }
    Waiting part = std::move(at->second);
    at = held.waiting.erase(at);
    SliceRule::Given one{member, part.rows, all_rows_with(member, part.rows), floats_of(part.body)};
    rule_->give(held.first - low_, one);
    SAMOVAR_CHECK(answer(held, member, round, part.whole, std::move(part.body)));
  }
  return {};
}

Result<void> Sliced::fewer_at_work() {
  if (!rule_->waits()) return {};
  const bool ahead = rule_->rounds_ahead() != SliceRule::kAnyAhead;
  for (Held& held : held_) SAMOVAR_CHECK(ahead ? release(held) : close_if_full(held));
  return {};
}

Result<void> Sliced::answer(Held& held, std::uint32_t member, std::uint32_t round, bool whole, Bytes body) {
  const Membership& now = council_.membership();
  const std::span<float> off = floats_of(body);
  if (member == now.self) {
    if (rule_->sets()) {
      x_.copy_from(held.first, off);
    } else {
      take_off(held.first, off);
    }
    Piece& piece = *piece_at(held.first);
    piece.open = false;
    piece.round = round;
    return {};
  }
  Bytes head = answer_head(held, round, !whole ? kCoded : rule_->sets() ? kToSet : kFloats);
  Guest* const guest = codec_->whole() ? nullptr : &held.guests[member];
  if (whole) {
    if (guest != nullptr) follow_answer(guest->known, off, rule_->sets());
    std::memcpy(body.data(), head.data(), kSlicedHeadBytes);
    return council_.give(member, std::move(body));
  }
  // What the owner knows of the member's piece is not quite what the member has: it takes off the difference.
  if (rule_->sets()) {
    for (std::size_t i = 0; i < off.size(); ++i) off[i] = guest->known[i] - off[i];
  }
  off_.assign(off.size(), 0);
  SeededOrder luck = luck_of(held.first, member_place(member) + 1);
  codec_->encode(off, off_, guest->known, cell_, luck, head);
  follow_answer(guest->known, off_, false);
  if (!codec_->exact()) {
    take_from(off.data(), off_.data(), off.size());
    rule_->left_out(held.first - low_, member, off);
  }
  return council_.give(member, std::move(head));
}

Bytes Sliced::answer_head(const Held& held, std::uint32_t round, Payload payload) const {
  const Membership& now = council_.membership();
  StateWriter out(kSlicedHeadBytes);
  out.put(std::uint8_t{kPull});
  out.put(payload);
  out.put(now.epoch);
  out.put(std::uint64_t{held.first});
  out.put(round);
  out.put(now.self);
  out.put(seen_of(now.self));
  Bytes head = out.take();
  head.resize(kSlicedHeadBytes);
  return head;
}

// Of rules with anew(): one message for all, and the owner takes what it says like the others. So members
// stay alike to the bit, whatever the codec.
Result<void> Sliced::answer_alike(Held& held, std::map<std::uint32_t, Waiting>& waiting) {
  const std::uint32_t self = council_.membership().self;
  bool coded = waiting.size() > waiting.count(self);
  for (const auto& [member, part] : waiting) coded = coded && (member == self || !part.whole);
  // The rule left the same in all of them.
  const std::span<const float> all = floats_of(waiting.begin()->second.body);
  const std::span<float> given = std::span(given_).subspan(held.first, held.count);
  Bytes body = answer_head(held, held.round, coded ? kCoded : kToSet);
  if (coded) {
    room_.assign(all.begin(), all.end());
    encode_anew(held.first, given, 1, body);
  } else {
    std::copy(all.begin(), all.end(), given.begin());
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(all.data());
    body.insert(body.end(), bytes, bytes + all.size_bytes());
  }
  for (const auto& [member, part] : waiting) {
    if (member != self) {
      SAMOVAR_CHECK(council_.send(member, body));
      continue;
    }
    x_.copy_from(held.first, given);
    Piece& piece = *piece_at(held.first);
    piece.open = false;
    piece.round = held.round;
  }
  return {};
}

}  // namespace samovar::trainer
