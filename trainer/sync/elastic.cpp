#include "trainer/sync/elastic.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/clock.hpp"

namespace samovar::trainer {

namespace {

using std::chrono::milliseconds;

enum Kind : std::uint8_t {
  kPush = Council::kFirstKind,
  kPull,
  kPass,
  kFinish,
  kAskState,
  kState,
  kDone,
  kOver,
};

// Floats of one message.
constexpr std::size_t kPieceFloats = 1'000'000;
constexpr std::size_t kHeadBytes = 64;
// What exchanges may take of the time that steps do.
constexpr double kWorkShare = 0.03;
// An answer that has not come after so many rounds will not come: the other was in another epoch.
constexpr std::uint32_t kRoundsLate = 20;
constexpr std::uint32_t kTauMax = 1'000'000;

// Of this thread: what a busy neighbour does not change.
double work_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}
double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

Error damaged() { return {Errc::corrupt, "parameters that another worker sent are damaged"}; }

}  // namespace

double elastic_alpha(double beta, std::size_t members, double rows, double all) {
  if (members < 2) return 0;
  const double share = all > 0 ? rows / all : 1 / static_cast<double>(members);
  return std::min(0.5, beta * share);
}

std::uint32_t choose_tau(double work, double step_work, double network, double step) {
  if (!(step > 0) || !(step_work > 0)) return 1;
  const double tau = std::ceil(std::max(work / (kWorkShare * step_work), network / step));
  return static_cast<std::uint32_t>(std::clamp(tau, 1.0, static_cast<double>(kTauMax)));
}

Elastic::Elastic(Council& council, const StrategySpec& strategy, std::size_t cell)
    : council_(council), strategy_(strategy), cell_(cell) {
  figures_.tau = strategy.tau != 0 ? strategy.tau : 4;
}

std::pair<std::size_t, std::size_t> Elastic::slice_of(std::size_t place) const {
  const std::size_t cells = x_.size() / cell_;
  const std::size_t members = council_.membership().members.size();
  return {cells * place / members * cell_, cells * (place + 1) / members * cell_};
}

void Elastic::new_epoch() {
  const Membership& now = council_.membership();
  epoch_ = now.epoch;
  const double parts = parts_of(now);
  if (rescale_ && parts != parts_before_) rescale_(parts_before_, parts);
  parts_before_ = parts;
  const auto place = std::lower_bound(now.members.begin(), now.members.end(), now.self) - now.members.begin();
  std::tie(low_, high_) = slice_of(static_cast<std::size_t>(place));
  centre_.resize(high_ - low_);
  x_.copy_to(low_, centre_);
  met_.clear();
  open_ = 0;
  rows_of_round_.clear();
  changed_ = true;
}

Result<void> Elastic::listen(milliseconds wait) {
  SAMOVAR_TRY(const bool changed, council_.listen(wait));
  if (changed && council_.membership().epoch != epoch_) new_epoch();
  return {};
}

Result<void> Elastic::begin(FlatVector x, std::uint64_t rows_before, bool resumed, bool joining) {
  x_ = x;
  parts_before_ = parts();
  council_.set_hear([this](std::uint32_t from, std::uint64_t, ByteView body) { return hear(from, body); });
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

Result<void> Elastic::send_state(std::uint32_t to) {
  for (std::size_t first = 0; first < x_.size(); first += kPieceFloats) {
    StateWriter out;
    out.put(std::uint8_t{kState});
    out.put(std::uint64_t{first});
    out.put(parts());
    out.put(rows_before_);
    out.put(std::uint64_t{seen_.size()});
    for (const auto& [member, rows] : seen_) {
      out.put(member);
      out.put(rows);
    }
    std::vector<float> piece(std::min(kPieceFloats, x_.size() - first));
    x_.copy_to(first, piece);
    out.put(piece);
    SAMOVAR_CHECK(council_.send(to, out.take()));
  }
  return {};
}

Result<void> Elastic::hear_state(StateReader& in) {
  const auto first = in.get<std::uint64_t>();
  in.get<double>();
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
  for (const auto& [member, rows] : seen) seen_[member] = std::max(seen_[member], rows);
  x_.each_run(first, piece.size(), [&](float* to, std::size_t count, std::size_t at) {
    std::memcpy(to, piece.data() + at, count * sizeof(float));
  });
  state_left_ -= std::min(state_left_, piece.size());
  return {};
}

double Elastic::alpha_of(std::uint32_t member, std::uint64_t rows) {
  rows_of_round_[member] = rows;
  double all = 0;
  for (const auto& [each, did] : rows_of_round_) all += static_cast<double>(did);
  // Those not heard yet in this epoch count as the average of the others.
  const std::size_t members = council_.membership().members.size();
  all *= static_cast<double>(members) / static_cast<double>(rows_of_round_.size());
  return elastic_alpha(strategy_.beta, members, static_cast<double>(rows), all);
}

Result<void> Elastic::exchange() {
  const double before = work_now();
  const Membership& now = council_.membership();
  const auto alpha = static_cast<float>(alpha_of(now.self, rows_in_round_));
  for (std::size_t place = 0; place < now.members.size(); ++place) {
    const auto [low, high] = slice_of(place);
    if (now.members[place] == now.self) {
      x_.each_run(low, high - low, [&](float* x, std::size_t count, std::size_t at) {
        float* const centre = centre_.data() + at;
        for (std::size_t i = 0; i < count; ++i) {
          const float d = alpha * (x[i] - centre[i]);
          centre[i] += d;
          x[i] -= d;
        }
      });
      continue;
    }
    for (std::size_t first = low; first < high; first += kPieceFloats) {
      piece_.resize(std::min(kPieceFloats, high - first));
      x_.copy_to(first, piece_);
      StateWriter out(piece_.size() * sizeof(float) + kHeadBytes);
      out.put(std::uint8_t{kPush});
      out.put(now.epoch);
      out.put(std::uint64_t{first});
      out.put(rows_in_round_);
      out.put(seen_of(now.self));
      out.put(piece_);
      SAMOVAR_CHECK(council_.send(now.members[place], out.take()));
      ++open_;
    }
  }
  rows_in_round_ = 0;
  steps_in_round_ = 0;
  ++figures_.rounds;
  sent_at_ = seconds_now();
  work_seconds_ += work_now() - before;
  return {};
}

Result<void> Elastic::hear_push(std::uint32_t from, StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  const auto first = in.get<std::uint64_t>();
  const auto rows = in.get<std::uint64_t>();
  const auto seen = in.get<std::uint64_t>();
  std::vector<float>& theirs = piece_;
  in.get(theirs);
  if (in.failed() || in.left() != 0) return damaged();
  seen_[from] = std::max(seen_[from], seen);
  if (epoch != council_.membership().epoch) return {};
  if (first < low_ || first > high_ || theirs.size() > high_ - first) return damaged();
  float* centre = centre_.data() + (first - low_);
  auto& met = met_[first];
  if (met.insert(from).second) {
    // The first word of this member in this epoch: the centre is the mean of those heard, its owner counted.
    const auto weight = 1 / static_cast<float>(met.size() + 1);
    for (std::size_t i = 0; i < theirs.size(); ++i) centre[i] += weight * (theirs[i] - centre[i]);
  }
  const auto alpha = static_cast<float>(alpha_of(from, rows));
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const float d = alpha * (theirs[i] - centre[i]);
    centre[i] += d;
    theirs[i] = d;
  }
  StateWriter out(theirs.size() * sizeof(float) + kHeadBytes);
  out.put(std::uint8_t{kPull});
  out.put(epoch);
  out.put(first);
  out.put(council_.membership().self);
  out.put(seen_of(council_.membership().self));
  out.put(theirs);
  return council_.send(from, out.take());
}

Result<void> Elastic::hear_pull(StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  const auto first = in.get<std::uint64_t>();
  const auto member = in.get<std::uint32_t>();
  const auto seen = in.get<std::uint64_t>();
  std::vector<float>& d = piece_;
  in.get(d);
  if (in.failed() || in.left() != 0 || first > x_.size() || d.size() > x_.size() - first) return damaged();
  seen_[member] = std::max(seen_[member], seen);
  if (epoch != council_.membership().epoch) return {};
  x_.each_run(first, d.size(), [&](float* x, std::size_t count, std::size_t at) {
    const float* const by = d.data() + at;
    for (std::size_t i = 0; i < count; ++i) x[i] -= by[i];
  });
  if (open_ != 0 && --open_ == 0) {
    figures_.round_seconds = seconds_now() - sent_at_;
    figures_.behind = steps_in_round_;
  }
  return {};
}

Result<void> Elastic::hear_pass(StateReader& in) {
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
  for (const std::uint32_t member : council_.membership().members) {
    if (member != council_.membership().self) SAMOVAR_CHECK(council_.send(member, finish));
  }
  return {};
}

Result<void> Elastic::hear(std::uint32_t from, ByteView body) {
  // The council knows of a change before its first message is heard.
  if (council_.membership().epoch != epoch_) new_epoch();
  const double before = work_now();
  StateReader in(body);
  const auto kind = in.get<std::uint8_t>();
  Result<void> heard;
  switch (kind) {
    case kPush:
      heard = hear_push(from, in);
      break;
    case kPull:
      heard = hear_pull(in);
      break;
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
    case kDone:
      seen_[from] = std::max(seen_[from], in.get<std::uint64_t>());
      done_.insert(from);
      break;
    default:
      return damaged();
  }
  work_seconds_ += work_now() - before;
  return heard;
}

Result<void> Elastic::stepped(std::uint64_t rows, double seconds, double work) {
  const std::uint32_t self = council_.membership().self;
  seen_[self] += rows;
  rows_in_round_ += rows;
  ++steps_in_round_;
  step_seconds_ = step_seconds_ == 0 ? seconds : 0.9 * step_seconds_ + 0.1 * seconds;
  step_work_ = step_work_ == 0 ? work : 0.9 * step_work_ + 0.1 * work;
  SAMOVAR_CHECK(listen(milliseconds(0)));
  if (council_.membership().members.size() < 2 || steps_in_round_ < figures_.tau) return {};
  if (open_ != 0 && steps_in_round_ < kRoundsLate * figures_.tau) return {};
  if (strategy_.tau == 0 && figures_.rounds > 1) {
    // Half the old, half the new: a single slow moment is not the network.
    const std::uint32_t fitting =
        choose_tau(work_seconds_, step_work_, figures_.round_seconds, step_seconds_);
    figures_.tau = std::max(1u, (figures_.tau + fitting + 1) / 2);
  }
  figures_.exchange_seconds += work_seconds_;
  work_seconds_ = 0;
  open_ = 0;
  return exchange();
}

void Elastic::end() {
  council_.set_hear([&council = council_](std::uint32_t from, std::uint64_t, ByteView body) -> Result<void> {
    if (body[0] != kAskState) return {};
    const std::uint8_t over[] = {kOver};
    return council.send(from, over);
  });
}

Result<void> Elastic::idle() { return listen(milliseconds(20)); }

Result<void> Elastic::tell_pass(std::uint32_t pass, double loss, double weight) {
  StateWriter out;
  out.put(std::uint8_t{kPass});
  out.put(pass);
  out.put(loss);
  out.put(weight);
  const Bytes body = out.take();
  const Membership& now = council_.membership();
  return now.leads() ? hear(now.self, body) : council_.send(now.lead(), body);
}

Result<void> Elastic::tell_done() {
  done_.insert(council_.membership().self);
  StateWriter out;
  out.put(std::uint8_t{kDone});
  out.put(seen_of(council_.membership().self));
  const Bytes body = out.take();
  for (const std::uint32_t member : council_.membership().members) {
    if (member != council_.membership().self) SAMOVAR_CHECK(council_.send(member, body));
  }
  return {};
}

bool Elastic::all_done() const {
  for (const std::uint32_t member : council_.membership().members) {
    if (member != council_.membership().self && !done_.contains(member)) return false;
  }
  return true;
}

std::uint64_t Elastic::seen_of(std::uint32_t member) const {
  const auto found = seen_.find(member);
  return found == seen_.end() ? 0 : found->second;
}

std::uint64_t Elastic::rows_done() const {
  std::uint64_t all = rows_before_;
  for (const auto& [member, rows] : seen_) all += rows;
  return all;
}

}  // namespace samovar::trainer
