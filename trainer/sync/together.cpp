#include "trainer/sync/together.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/clock.hpp"

namespace samovar::trainer {

namespace {

using std::chrono::milliseconds;

// Floats of one message of a state.
constexpr std::size_t kStateFloats = 500'000;
// What exchanges may take of the time that steps do.
constexpr double kWorkShare = 0.03;
constexpr std::uint32_t kTauMax = 1'000'000;
// A job has at least so many exchanges: with fewer the members learn too little of each other.
constexpr double kRoundsLeast = 8;
// How often members tell how far they are.
constexpr double kSeenTold = 100;

double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

Error damaged() { return {Errc::corrupt, "parameters that another worker sent are damaged"}; }

}  // namespace

double thread_work_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::uint32_t choose_tau(double work, double step_work, double network, double step) {
  if (!(step > 0) || !(step_work > 0)) return 1;
  const double tau = std::ceil(std::max(work / (kWorkShare * step_work), network / step));
  return static_cast<std::uint32_t>(std::clamp(tau, 1.0, static_cast<double>(kTauMax)));
}

Together::Together(Council& council, const StrategySpec& strategy, CellKind cell)
    : council_(council), strategy_(strategy), cell_(cell) {
  figures_.tau = strategy.tau != 0 ? strategy.tau : 4;
}

void Together::new_epoch() {
  const Membership& now = council_.membership();
  epoch_ = now.epoch;
  if (rescale_ && parts() != parts_before_) rescale_(parts_before_, parts());
  parts_before_ = parts();
  resting_.clear();
  epoch_began();
  changed_ = true;
}

Result<void> Together::listen(milliseconds wait) {
  SAMOVAR_TRY(const bool changed, council_.listen(wait));
  if (changed && council_.membership().epoch != epoch_) new_epoch();
  return {};
}

Result<void> Together::wait_for(const std::function<bool()>& done) {
  const double began = seconds_now();
  const std::uint64_t epoch = epoch_;
  while (!done() && epoch_ == epoch) SAMOVAR_CHECK(listen(milliseconds(50)));
  figures_.wait_seconds += seconds_now() - began;
  return {};
}

Result<void> Together::begin(FlatVector x, std::uint64_t rows_before, bool resumed, bool joining) {
  x_ = x;
  parts_before_ = parts();
  council_.set_hear([this](std::uint32_t from, std::uint64_t, Bytes& body) { return hear(from, body); });
  new_epoch();
  SAMOVAR_TRY(const Bytes told,
              council_.agree(
                  "start",
                  [&]() -> Result<Bytes> {
                    StateWriter out;
                    out.put(static_cast<std::uint8_t>(resumed));
                    out.put(rows_before);
                    return out.take();
                  },
                  [](const std::vector<Bytes>& parts) -> Result<Bytes> { return parts.front(); }));
  StateReader in(told);
  const bool go_on = in.get<std::uint8_t>() != 0;
  rows_before_ = in.get<std::uint64_t>();
  if (in.failed()) return damaged();
  if (council_.membership().epoch != 0) new_epoch();
  if ((!go_on && !joining) || council_.membership().leads()) return {};
  // The lead's vector, piece by piece; asked for again when the lead or the pieces are others.
  std::uint64_t asked = 0;
  state_left_ = x_.size();
  while (state_left_ != 0 && !state_over_ && !council_.membership().leads()) {
    if (asked != council_.membership().epoch) {
      asked = council_.membership().epoch;
      state_left_ = x_.size();
      const std::uint8_t ask[] = {kAskState};
      SAMOVAR_CHECK(council_.send(council_.membership().lead(), ask));
    }
    SAMOVAR_CHECK(listen(milliseconds(50)));
  }
  new_epoch();
  return {};
}

Result<void> Together::send_state(std::uint32_t to) {
  for (std::size_t first = 0; first < x_.size(); first += kStateFloats) {
    StateWriter out;
    out.put(std::uint8_t{kState});
    out.put(std::uint64_t{first});
    out.put(rows_before_);
    out.put(std::uint64_t{seen_.size()});
    for (const auto& [member, rows] : seen_) {
      out.put(member);
      out.put(rows);
    }
    std::vector<float> piece(std::min(kStateFloats, x_.size() - first));
    x_.copy_to(first, piece);
    out.put(piece);
    SAMOVAR_CHECK(council_.send(to, out.take()));
  }
  return {};
}

Result<void> Together::hear_state(StateReader& in) {
  const auto first = in.get<std::uint64_t>();
  const auto before = in.get<std::uint64_t>();
  const auto members = in.get<std::uint64_t>();
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < members && !in.failed(); ++i) {
    const auto member = in.get<std::uint32_t>();
    seen[member] = in.get<std::uint64_t>();
  }
  std::vector<float> piece;
  in.get(piece);
  if (in.failed() || in.left() != 0 || first > x_.size() || piece.size() > x_.size() - first)
    return damaged();
  if (state_left_ == 0) return {};
  rows_before_ = before;
  for (const auto& [member, rows] : seen) note_seen(member, rows);
  x_.copy_from(first, piece);
  state_left_ -= std::min(state_left_, piece.size());
  return {};
}

Result<void> Together::hear_pass(StateReader& in) {
  const auto pass = in.get<std::uint32_t>();
  const auto loss = in.get<double>();
  const auto weight = in.get<double>();
  if (in.failed()) return damaged();
  auto& [sum, total] = passes_[pass];
  sum += loss;
  total += weight;
  const std::size_t members = council_.membership().members.size();
  if (++passes_told_[pass] != members || worse_by_ <= 0 || !(total > 0)) return {};
  const double mean = sum / total;
  const bool worse = best_ > 0 && best_ < mean * (1 - worse_by_);
  best_ = best_ > 0 ? std::min(best_, mean) : mean;
  if (!worse || pass < 2) return {};
  finish_ = true;
  const std::uint8_t finish[] = {kFinish};
  return tell_all(finish);
}

Result<void> Together::hear(std::uint32_t from, Bytes& body) {
  // The council knows of a change before its first message is heard.
  if (council_.membership().epoch != epoch_) new_epoch();
  const double before = thread_work_seconds();
  StateReader in(body);
  const auto kind = in.get<std::uint8_t>();
  Result<void> heard;
  switch (kind) {
    case kPass:
      heard = hear_pass(in);
      break;
    case kFinish:
      finish_ = true;
      break;
    case kAskState:
      heard = send_state(from);
      break;
    case kState:
      heard = hear_state(in);
      break;
    case kOver:
      state_over_ = true;
      break;
    case kSeen:
      note_seen(from, in.get<std::uint64_t>());
      break;
    case kRest:
      if (in.get<std::uint8_t>() != 0) {
        resting_.insert(from);
        heard = fewer_at_work();
      } else {
        resting_.erase(from);
      }
      break;
    case kDone:
      note_seen(from, in.get<std::uint64_t>());
      done_.insert(from);
      heard = fewer_at_work();
      break;
    default:
      if (kind < kFirstOwn) return damaged();
      heard = hear_own(from, kind, in, body);
  }
  work_seconds_ += thread_work_seconds() - before;
  return heard;
}

double Together::steps_to_do() const {
  const auto members = static_cast<double>(council_.membership().members.size());
  return rows_per_step_ > 0 ? static_cast<double>(rows_to_do_) / rows_per_step_ / members : 0;
}

void Together::adjust_tau() {
  if (strategy_.tau == 0 && figures_.rounds > 1) {
    std::uint32_t fitting = choose_tau(work_seconds_, step_work_, figures_.round_seconds, step_seconds_);
    const double most = steps_to_do() / kRoundsLeast;
    if (most > 0) fitting = std::min(fitting, static_cast<std::uint32_t>(std::max(1.0, most)));
    // Half the old, half the new: a single slow moment is not the network.
    figures_.tau = std::max(1u, (figures_.tau + fitting + 1) / 2);
  }
  figures_.exchange_seconds += work_seconds_;
  work_seconds_ = 0;
  ++figures_.rounds;
}

Result<void> Together::stepped(std::uint64_t rows, double seconds, double work) {
  const std::uint32_t self = council_.membership().self;
  std::uint64_t& seen = seen_[self];
  seen += rows;
  ++steps_in_round_;
  ++steps_;
  const auto follow = [&](double& mean, double now) { mean = mean == 0 ? now : 0.9 * mean + 0.1 * now; };
  follow(step_seconds_, seconds);
  follow(step_work_, work);
  follow(rows_per_step_, static_cast<double>(rows));
  SAMOVAR_CHECK(listen(milliseconds(0)));
  const auto members = static_cast<double>(council_.membership().members.size());
  if (members < 2) return {};
  if (static_cast<double>(seen - seen_told_) * members * kSeenTold >= static_cast<double>(rows_to_do_)) {
    seen_told_ = seen;
    StateWriter out;
    out.put(std::uint8_t{kSeen});
    out.put(seen);
    SAMOVAR_CHECK(tell_all(out.take()));
  }
  if (resting_.contains(self)) SAMOVAR_CHECK(tell_rest(false));
  return exchange_when_due();
}

Result<void> Together::tell_all(ByteView body) {
  for (const std::uint32_t member : council_.membership().members) {
    if (member != council_.membership().self) SAMOVAR_CHECK(council_.send(member, body));
  }
  return {};
}

void Together::end() {
  council_.set_hear([&council = council_](std::uint32_t from, std::uint64_t, Bytes& body) -> Result<void> {
    if (body[0] != kAskState) return {};
    const std::uint8_t over[] = {kOver};
    return council.send(from, over);
  });
}

Result<void> Together::tell_rest(bool resting) {
  const std::uint32_t self = council_.membership().self;
  if (resting) resting_.insert(self);
  if (!resting) resting_.erase(self);
  const std::uint8_t rest[] = {kRest, static_cast<std::uint8_t>(resting)};
  SAMOVAR_CHECK(tell_all(rest));
  return fewer_at_work();
}

Result<void> Together::idle() {
  if (!resting_.contains(council_.membership().self)) SAMOVAR_CHECK(tell_rest(true));
  return listen(milliseconds(20));
}

Result<void> Together::tell_pass(std::uint32_t pass, double loss, double weight) {
  StateWriter out;
  out.put(std::uint8_t{kPass});
  out.put(pass);
  out.put(loss);
  out.put(weight);
  Bytes body = out.take();
  const Membership& now = council_.membership();
  return now.leads() ? hear(now.self, body) : council_.send(now.lead(), body);
}

Result<void> Together::tell_done() {
  done_.insert(council_.membership().self);
  StateWriter out;
  out.put(std::uint8_t{kDone});
  out.put(seen_of(council_.membership().self));
  SAMOVAR_CHECK(tell_all(out.take()));
  return fewer_at_work();
}

bool Together::all_done() const {
  for (const std::uint32_t member : council_.membership().members) {
    if (member != council_.membership().self && !done_.contains(member)) return false;
  }
  return true;
}

std::uint64_t Together::seen_of(std::uint32_t member) const {
  const auto found = seen_.find(member);
  return found == seen_.end() ? 0 : found->second;
}

void Together::note_seen(std::uint32_t member, std::uint64_t rows) {
  std::uint64_t& known = seen_[member];
  known = std::max(known, rows);
}

std::uint64_t Together::rows_done() const {
  std::uint64_t all = rows_before_;
  for (const auto& [member, rows] : seen_) all += rows;
  return all;
}

}  // namespace samovar::trainer
