#include "trainer/sync/council.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace samovar::trainer {

namespace {

using std::chrono::milliseconds;

enum Kind : std::uint8_t { kPart = 1, kResult = 2, kAsk = 3, kNotYet = 4 };

constexpr milliseconds kWait{50};
constexpr std::size_t kPieceBytes = 1u << 20;
// More than any statistics of columns or model that fits a board.
constexpr std::size_t kWholeBytesMax = std::size_t{2} << 30;
constexpr std::size_t kAboutBytesMax = 200;

// A result or an error as bytes.
Bytes as_outcome(const Result<Bytes>& outcome) {
  StateWriter out(outcome ? outcome->size() + 64 : 64);
  out.put(static_cast<std::uint8_t>(outcome.has_value() ? 1 : 0));
  if (outcome) {
    out.put(*outcome);
  } else {
    out.put(static_cast<std::uint8_t>(outcome.error().code()));
    out.put(std::string_view(outcome.error().message()));
  }
  return out.take();
}

Result<Bytes> from_outcome(ByteView bytes) {
  StateReader in(bytes);
  if (in.get<std::uint8_t>() != 0) {
    Bytes value;
    in.get(value);
    if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "what another worker sent is damaged"};
    return value;
  }
  const auto code = in.get<std::uint8_t>();
  const std::string message = in.text();
  if (in.failed() || code > static_cast<std::uint8_t>(Errc::internal))
    return Error{Errc::corrupt, "what another worker sent is damaged"};
  return Error{static_cast<Errc>(code), message};
}

double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

}  // namespace

Result<void> Council::send(std::uint32_t to, ByteView body) {
  bytes_sent_ += body.size();
  const double before = group_.seconds_blocked();
  auto sent = group_.send(to, body);
  note_blocked(before);
  return sent;
}

// While a result is made all of the wait is counted, this one too.
void Council::note_blocked(double before) {
  if (!agreeing_) waited_ += group_.seconds_blocked() - before;
}

Result<void> Council::give(std::uint32_t to, Bytes body) {
  bytes_sent_ += body.size();
  const double before = group_.seconds_blocked();
  auto sent = group_.give(to, std::move(body));
  note_blocked(before);
  return sent;
}

Result<void> Council::tell(std::uint32_t to, std::uint8_t kind, std::string_view about, ByteView bytes) {
  const std::size_t pieces = std::max<std::size_t>(1, (bytes.size() + kPieceBytes - 1) / kPieceBytes);
  for (std::size_t i = 0; i < pieces; ++i) {
    const ByteView piece =
        bytes.subspan(i * kPieceBytes, std::min(kPieceBytes, bytes.size() - i * kPieceBytes));
    StateWriter out(piece.size() + about.size() + 64);
    out.put(kind);
    out.put(members_.epoch);
    out.put(about);
    out.put(static_cast<std::uint8_t>(i == 0));
    out.put(static_cast<std::uint8_t>(i + 1 == pieces));
    Bytes body = out.take();
    body.insert(body.end(), piece.begin(), piece.end());
    SAMOVAR_CHECK(give(to, std::move(body)));
  }
  return {};
}

Result<void> Council::tell_all(std::string_view about) {
  const Bytes& result = kept_[std::string(about)];
  for (const std::uint32_t member : members_.members) {
    if (member != members_.self) SAMOVAR_CHECK(tell(member, kResult, about, result));
  }
  return {};
}

Result<void> Council::take(PeerMessage& message) {
  bytes_received_ += message.body.size();
  if (message.body.empty()) return {};
  if (message.body[0] >= kFirstKind) {
    if (hear_) return hear_(message.from, message.epoch, message.body);
    unheard_.push_back(std::move(message));
    return {};
  }
  StateReader in(message.body);
  const auto kind = in.get<std::uint8_t>();
  const auto epoch = in.get<std::uint64_t>();
  const std::string about = in.text();
  const bool first = in.get<std::uint8_t>() != 0;
  const bool last = in.get<std::uint8_t>() != 0;
  const ByteView bytes = in.rest();
  // A member of the same job and the same program: damage is a fault of one of us, and no reason to go on.
  if (in.failed() || kind < kPart || kind > kNotYet || about.size() > kAboutBytesMax)
    return Error{Errc::corrupt, "what another worker sent is damaged"};
  Bytes& whole = pieces_[{message.from, about + static_cast<char>(kind)}];
  if (first) whole.clear();
  if (whole.size() + bytes.size() > kWholeBytesMax)
    return Error{Errc::corrupt, "another worker sent more than there can be"};
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  if (!last) return {};
  Bytes done = std::move(whole);
  pieces_.erase({message.from, about + static_cast<char>(kind)});
  return take_whole(message.from, kind, epoch, about, std::move(done));
}

Result<void> Council::take_whole(std::uint32_t from, std::uint8_t kind, std::uint64_t epoch,
                                 const std::string& about, Bytes bytes) {
  const auto known = kept_.find(about);
  switch (kind) {
    case kPart:
    case kAsk:
      if (known != kept_.end()) return tell(from, kResult, about, known->second);
      if (kind == kAsk) return tell(from, kNotYet, about, {});
      parts_[about][from] = {epoch, std::move(bytes)};
      return {};
    case kResult:
      if (known == kept_.end()) kept_[about] = std::move(bytes);
      return {};
    default:
      not_yet_[about] = true;
      return {};
  }
}

Result<bool> Council::listen(milliseconds wait) {
  bool changed = false;
  if (hear_ && !unheard_.empty()) {
    for (PeerMessage& message : std::exchange(unheard_, {}))
      SAMOVAR_CHECK(hear_(message.from, message.epoch, message.body));
  }
  for (;;) {
    SAMOVAR_TRY(auto message, group_.receive(wait));
    if (group_.membership().epoch != members_.epoch) {
      const std::uint32_t lead_before = members_.lead();
      members_ = group_.membership();
      changed = true;
      // A new lead may be behind: what the old one told before it was lost it may have told to some only.
      if (members_.lead() != lead_before && !members_.leads()) {
        for (std::size_t i = order_.size() - std::min<std::size_t>(order_.size(), 2); i < order_.size(); ++i)
          SAMOVAR_CHECK(tell(members_.lead(), kResult, order_[i], kept_[order_[i]]));
      }
    }
    if (!message) return changed;
    SAMOVAR_CHECK(take(*message));
    wait = milliseconds(0);
  }
}

bool Council::complete(const std::string& about) const {
  const auto parts = parts_.find(about);
  if (parts == parts_.end()) return false;
  for (const std::uint32_t member : members_.members) {
    const auto given = parts->second.find(member);
    if (given == parts->second.end() || given->second.epoch != members_.epoch) return false;
  }
  return true;
}

Result<Bytes> Council::agree(std::string_view what, const Part& part, const Merge& merge) {
  const std::string about = prefix_ + std::string(what);
  Bytes own;
  std::optional<std::vector<std::uint32_t>> of_blocks;
  bool asked = false;
  std::uint64_t told = 0;  // the epoch in which the part was given
  const double began = seconds_now();
  double worked = 0;
  agreeing_ = true;
  while (!kept_.contains(about)) {
    if (joining_ && !members_.leads() && !not_yet_.contains(about)) {
      if (!asked || told != members_.epoch) SAMOVAR_CHECK(tell(members_.lead(), kAsk, about, {}));
      asked = true;
      told = members_.epoch;
    } else {
      if (!of_blocks || *of_blocks != members_.blocks) {
        const double before = seconds_now();
        of_blocks = members_.blocks;
        if (before_part_) before_part_();
        own = as_outcome(part());
        worked += seconds_now() - before;
        told = 0;
        // What came while it worked may be a change of members.
        SAMOVAR_TRY(const bool changed, listen(milliseconds(0)));
        if (changed) continue;
      }
      if (told != members_.epoch) {
        told = members_.epoch;
        if (members_.leads()) {
          parts_[about][members_.self] = {members_.epoch, own};
        } else {
          SAMOVAR_CHECK(tell(members_.lead(), kPart, about, own));
        }
      }
      if (members_.leads() && complete(about)) {
        std::vector<Bytes> parts;
        Result<Bytes> result = Bytes();
        for (const std::uint32_t member : members_.members) {
          auto one = from_outcome(parts_[about][member].bytes);
          if (!one && result) result = one.error();
          if (one) parts.push_back(*std::move(one));
        }
        if (result) result = merge(parts);
        kept_[about] = as_outcome(result);
        SAMOVAR_CHECK(tell_all(about));
        break;
      }
    }
    if (kept_.contains(about)) break;
    if (waiting_) SAMOVAR_CHECK(waiting_());
    SAMOVAR_TRY(const bool changed, listen(kWait));
    static_cast<void>(changed);
  }
  waited_ += seconds_now() - began - worked;
  agreeing_ = false;
  parts_.erase(about);
  not_yet_.erase(about);
  order_.push_back(about);
  return from_outcome(kept_[about]);
}

void Council::keep(std::string_view what, const Bytes& result) {
  const std::string about = prefix_ + std::string(what);
  kept_[about] = as_outcome(result);
  order_.push_back(about);
}

Result<std::vector<Bytes>> Council::collect(std::string_view about, const Part& part) {
  const auto merge = [](const std::vector<Bytes>& parts) -> Result<Bytes> {
    StateWriter out;
    out.put(std::uint64_t{parts.size()});
    for (const Bytes& bytes : parts) out.put(bytes);
    return out.take();
  };
  SAMOVAR_TRY(const Bytes all, agree(about, part, merge));
  StateReader in(all);
  const auto count = in.get<std::uint64_t>();
  std::vector<Bytes> parts;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) in.get(parts.emplace_back());
  if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "what the lead collected is damaged"};
  return parts;
}

Result<void> Council::sum(std::vector<double>& values) {
  const auto part = [&]() -> Result<Bytes> {
    StateWriter out;
    out.put(values);
    return out.take();
  };
  const auto merge = [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
    std::vector<double> all(values.size(), 0);
    std::vector<double> one;
    for (const Bytes& bytes : parts) {
      StateReader in(bytes);
      in.get(one);
      if (in.failed() || one.size() != all.size())
        return Error{Errc::corrupt, "the workers do not add up the same numbers"};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += one[i];
    }
    StateWriter out;
    out.put(all);
    return out.take();
  };
  SAMOVAR_TRY(const Bytes result, agree("sum " + std::to_string(sums_++), part, merge));
  StateReader in(result);
  std::vector<double> all;
  in.get(all);
  if (in.failed() || all.size() != values.size())
    return Error{Errc::corrupt, "the workers do not add up the same numbers"};
  values = std::move(all);
  // Sums come by the hundred; only the last are of use to one that is behind.
  while (order_.size() > 8 && order_[order_.size() - 8].starts_with(prefix_ + "sum ")) {
    const auto old = order_.end() - 8;
    kept_.erase(*old);
    order_.erase(old);
  }
  return {};
}

}  // namespace samovar::trainer
