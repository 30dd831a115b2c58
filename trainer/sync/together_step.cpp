// Strategies whose members go in step: their meetings, and how all of them are saved as one.
#include <algorithm>
#include <cmath>

#include "trainer/sync/together.hpp"

namespace samovar::trainer {

namespace {

constexpr std::size_t kSavedBytes = 2u << 20;
constexpr std::size_t kSavedBytesMax = std::size_t{8} << 30;
// An exchange of so many floats costs about what a row does.
constexpr double kFloatsPerRow = 32;
constexpr double kTauLeast = 4;
// A job has at least so many rounds: with fewer the members learn too little of each other.
constexpr double kRoundsLeast = 16;

Error damaged() { return {Errc::corrupt, "what another worker sent is damaged"}; }

}  // namespace

// From sizes, not from clocks: the next run is to have the same.
void Together::set_tau_in_step() {
  if (strategy_.tau != 0 || rows_of_step_ == 0) return;
  const auto rows = static_cast<double>(rows_of_step_);
  const double least = static_cast<double>(x_.size()) / (kFloatsPerRow * rows);
  const double most = static_cast<double>(rows_to_do_) / rows / kRoundsLeast;
  figures_.tau =
      static_cast<std::uint32_t>(std::clamp(std::ceil(std::max(kTauLeast, least)), 1.0, std::max(1.0, most)));
}

std::size_t Together::place() const {
  const auto& members = council_.membership().members;
  return static_cast<std::size_t>(
      std::lower_bound(members.begin(), members.end(), council_.membership().self) - members.begin());
}

Result<void> Together::hear_early() {
  if (!ready_) return {};
  std::vector<PeerMessage> now = std::exchange(early_, {});
  for (PeerMessage& message : now) SAMOVAR_CHECK(hear(message.from, message.epoch, message.body));
  return {};
}

Result<void> Together::meet() {
  const Membership& now = council_.membership();
  Meeting::Word word{seen_of(now.self), now.leads() && save_due_ && save_due_(), more_, mark_,
                     std::exchange(passes_told_of_, {})};
  decided_.reset();
  if (now.leads()) {
    meeting_.say(now.self, std::move(word));
    SAMOVAR_CHECK(decide());
  } else {
    StateWriter out;
    out.put(std::uint8_t{kMeet});
    out.put(now.epoch);
    Meeting::put(word, out);
    SAMOVAR_CHECK(council_.give(now.lead(), out.take()));
  }
  SAMOVAR_CHECK(wait_for([&] { return decided_.has_value(); }));
  // The members are others: the next round of theirs decides.
  if (!decided_) return {};
  rows_agreed_ = decided_->rows;
  save_now_ = decided_->save;
  finish_ = finish_ || decided_->finish;
  more_of_all_ = decided_->more;
  same_ = decided_->same;
  return {};
}

Result<void> Together::hear_meet(std::uint32_t from, StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  auto word = Meeting::word_of(in);
  if (!word || in.left() != 0) return damaged();
  if (epoch != epoch_ || !council_.membership().has(from)) return {};
  note_seen(from, word->rows);
  meeting_.say(from, *std::move(word));
  return decide();
}

Result<void> Together::decide() {
  const Membership& now = council_.membership();
  // One that has ended, because it knew of more rows than the others when the members changed, has no word.
  std::vector<std::uint32_t> at_work;
  for (const std::uint32_t member : now.members) {
    if (!done_.contains(member)) at_work.push_back(member);
  }
  auto decision = meeting_.decide(at_work, worse_by_);
  if (!decision) return {};
  decision->rows = rows_before_;
  for (const auto& [member, rows] : seen_) decision->rows += rows;
  StateWriter out;
  out.put(std::uint8_t{kMet});
  out.put(now.epoch);
  out.put(decision->rows);
  out.put(static_cast<std::uint8_t>(decision->save));
  out.put(static_cast<std::uint8_t>(decision->finish));
  out.put(static_cast<std::uint8_t>(decision->more));
  out.put(static_cast<std::uint8_t>(decision->same));
  saved_.clear();
  decided_ = decision;
  return tell_all(out.take());
}

Result<void> Together::hear_met(StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  Meeting::Decision decision;
  decision.rows = in.get<std::uint64_t>();
  decision.save = in.get<std::uint8_t>() != 0;
  decision.finish = in.get<std::uint8_t>() != 0;
  decision.more = in.get<std::uint8_t>() != 0;
  decision.same = in.get<std::uint8_t>() != 0;
  if (in.failed() || in.left() != 0) return damaged();
  if (epoch == epoch_) decided_ = decision;
  return {};
}

// ---- the lead's whole state, for solvers of which all have the same ----

Result<void> Together::take_lead_state() {
  std::uint64_t asked = 0;
  lead_state_.reset();
  while (!lead_state_ && !state_over_ && !council_.membership().leads()) {
    if (asked != council_.membership().epoch) {
      asked = council_.membership().epoch;
      const std::uint8_t ask[] = {kAskWhole};
      SAMOVAR_CHECK(council_.send(council_.membership().lead(), ask));
    }
    SAMOVAR_CHECK(listen(std::chrono::milliseconds(50)));
  }
  if (!lead_state_) return {};
  return take_state_(*std::exchange(lead_state_, std::nullopt));
}

Result<void> Together::send_whole(std::uint32_t to) {
  const Bytes all = give_state_ ? give_state_() : Bytes();
  for (std::size_t at = 0;; at += kSavedBytes) {
    const bool last = all.size() - at <= kSavedBytes;
    StateWriter out;
    out.put(std::uint8_t{kWhole});
    out.put(static_cast<std::uint8_t>(at == 0));
    out.put(static_cast<std::uint8_t>(last));
    out.put(rows_agreed_);
    out.put_raw(ByteView(all).subspan(at, last ? all.size() - at : kSavedBytes));
    SAMOVAR_CHECK(council_.give(to, out.take()));
    if (last) return {};
  }
}

Result<void> Together::hear_whole(std::uint32_t from, StateReader& in) {
  // One that leads no longer is behind, or lost.
  if (from != council_.membership().lead()) return {};
  const bool first = in.get<std::uint8_t>() != 0;
  const bool last = in.get<std::uint8_t>() != 0;
  rows_agreed_ = in.get<std::uint64_t>();
  if (in.failed() || !take_state_) return damaged();
  if (first) coming_state_.clear();
  const ByteView piece = in.rest();
  if (coming_state_.size() + piece.size() > kSavedBytesMax) return damaged();
  coming_state_.insert(coming_state_.end(), piece.begin(), piece.end());
  if (last) lead_state_ = std::exchange(coming_state_, {});
  return {};
}

Bytes Together::save() const {
  StateWriter out;
  out.put(steps_);
  if (council_.membership().leads()) meeting_.save(council_.membership().members, out);
  save_own(out);
  // Those that have ended since the last meeting.
  for (const Meeting::Pass& pass : passes_told_of_) {
    out.put(pass.pass);
    out.put(pass.loss);
    out.put(pass.weight);
  }
  return out.take();
}

Result<std::vector<Bytes>> Together::gather(Bytes own) {
  const Membership& now = council_.membership();
  if (!now.leads()) {
    for (std::size_t at = 0;; at += kSavedBytes) {
      const bool last = own.size() - at <= kSavedBytes;
      StateWriter out;
      out.put(std::uint8_t{kSaved});
      out.put(now.epoch);
      out.put(static_cast<std::uint8_t>(at == 0));
      out.put(static_cast<std::uint8_t>(last));
      Bytes body = out.take();
      const auto from = own.begin() + static_cast<std::ptrdiff_t>(at);
      body.insert(body.end(), from, last ? own.end() : from + kSavedBytes);
      SAMOVAR_CHECK(council_.give(now.lead(), std::move(body)));
      if (last) return std::vector<Bytes>();
    }
  }
  const std::uint64_t epoch = now.epoch;
  saved_[now.self] = {std::move(own), true};
  const auto has = [&](std::uint32_t member) {
    const auto found = saved_.find(member);
    return found != saved_.end() && found->second.whole;
  };
  const auto all = [&] { return std::all_of(now.members.begin(), now.members.end(), has); };
  // One that has ended sends nothing any more.
  const auto ended = [&] {
    return std::any_of(now.members.begin(), now.members.end(),
                       [&](std::uint32_t member) { return done_.contains(member) && !has(member); });
  };
  SAMOVAR_CHECK(wait_for([&] { return all() || ended(); }));
  std::vector<Bytes> out;
  if (epoch != epoch_ || !all()) return out;
  for (auto& [member, saved] : saved_) out.push_back(std::move(saved.bytes));
  saved_.clear();
  return out;
}

Result<void> Together::hear_saved(std::uint32_t from, StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  const bool first = in.get<std::uint8_t>() != 0;
  const bool last = in.get<std::uint8_t>() != 0;
  if (in.failed()) return damaged();
  if (epoch != epoch_) return {};
  Saved& saved = saved_[from];
  if (first) saved = {};
  const ByteView piece = in.rest();
  if (saved.bytes.size() + piece.size() > kSavedBytesMax) return damaged();
  saved.bytes.insert(saved.bytes.end(), piece.begin(), piece.end());
  saved.whole = last;
  return {};
}

}  // namespace samovar::trainer
