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
constexpr double kRoundsLeast = 6;
// What a pull of beta / p changes in so few exchanges is nothing beside what is made of all models at the
// end.
constexpr double kRoundsOfUse = 3;
// What a float of an exchange costs, about: until the first one has been measured.
constexpr double kFloatSeconds = 1e-9;
// When the lead deals what is left, by the share of all rows that are done.
constexpr double kDealsAt[] = {0.5, 0.75, 0.9};
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

std::uint32_t choose_tau(const TauQuestion& q) {
  if (!(q.step > 0) || !(q.step_work > 0)) return 1;
  const double steps = q.steps > 0 ? q.steps : kTauMax;
  const double by_work = std::min(q.work / (kWorkShare * q.step_work), steps / kRoundsLeast);
  const double by_network = q.network / q.step;
  if (by_network * kRoundsOfUse > steps) return kTauMax;
  return static_cast<std::uint32_t>(
      std::clamp(std::ceil(std::max(by_work, by_network)), 1.0, static_cast<double>(kTauMax)));
}

std::map<std::uint32_t, std::uint64_t> deal_rows(std::map<std::uint32_t, RowsOf> members,
                                                 std::uint64_t left) {
  std::map<std::uint32_t, std::uint64_t> out;
  for (const auto& [member, rows] : members) {
    if (rows.done <= rows.before) return {};
  }
  while (!members.empty()) {
    double all = 0;
    for (const auto& [member, rows] : members) all += static_cast<double>(rows.done - rows.before);
    const auto share = [&, now = left](const RowsOf& rows) {
      const double part = static_cast<double>(now) * static_cast<double>(rows.done - rows.before) / all;
      return rows.done + static_cast<std::uint64_t>(std::ceil(part));
    };
    // What is too much for one is dealt to the others.
    const std::size_t before = members.size();
    for (auto at = members.begin(); at != members.end();) {
      const RowsOf& rows = at->second;
      if (rows.most == 0 || share(rows) <= rows.most) {
        ++at;
        continue;
      }
      out[at->first] = std::max(rows.done, rows.most);
      left -= std::min(left, out[at->first] - rows.done);
      at = members.erase(at);
    }
    if (members.size() != before) continue;
    for (const auto& [member, rows] : members) out[member] = share(rows);
    break;
  }
  return out;
}

Together::Together(Council& council, const StrategySpec& strategy, CellKind cell)
    : council_(council), strategy_(strategy), cell_(cell), mean_(council, {kMeanPart, kMeanWhole}) {
  figures_.tau = strategy.tau != 0 ? strategy.tau : 4;
}

void Together::new_epoch() {
  const Membership& now = council_.membership();
  epoch_ = now.epoch;
  if (rescale_ && parts() != parts_before_) rescale_(parts_before_, parts());
  parts_before_ = parts();
  resting_.clear();
  seen_before_ = seen_;
  share_.reset();
  deals_ = 0;
  meeting_.begin();
  decided_.reset();
  saved_.clear();
  if (in_step()) set_tau_in_step();
  epoch_began();
  changed_ = true;
}

Result<void> Together::listen(milliseconds wait) {
  // Bringing messages here is work, too, whatever hear() counts of it.
  const double counted = work_seconds_;
  const double before = thread_work_seconds();
  SAMOVAR_TRY(const bool changed, council_.listen(wait));
  work_seconds_ = counted + thread_work_seconds() - before;
  if (changed && council_.membership().epoch != epoch_) new_epoch();
  return early_.empty() ? Result<void>{} : hear_early();
}

Result<void> Together::wait_for(const std::function<bool()>& done) {
  const double began = seconds_now();
  const double waited = council_.seconds_waited();
  const std::uint64_t epoch = epoch_;
  while (!done() && epoch_ == epoch) SAMOVAR_CHECK(listen(milliseconds(50)));
  // What the council counts already is not counted twice.
  figures_.wait_seconds += seconds_now() - began - (council_.seconds_waited() - waited);
  return {};
}

Result<bool> Together::begin(FlatVector x, Start start) {
  x_ = x;
  parts_before_ = parts();
  council_.set_hear(
      [this](std::uint32_t from, std::uint64_t epoch, Bytes& body) { return hear(from, epoch, body); });
  new_epoch();
  SAMOVAR_TRY(const Bytes told, council_.agree(
                                    "start",
                                    [&]() -> Result<Bytes> {
                                      StateWriter out;
                                      out.put(static_cast<std::uint8_t>(start.resumed));
                                      out.put(start.rows_before);
                                      out.put(static_cast<std::uint8_t>(start.exact && start.exact()));
                                      return out.take();
                                    },
                                    [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
                                      // The lead's; its last byte says of all what they said of themselves,
                                      // in this epoch.
                                      Bytes all = parts.front();
                                      for (const Bytes& part : parts)
                                        all.back() = part.empty() ? std::uint8_t{0}
                                                                  : std::min(all.back(), part.back());
                                      StateWriter out;
                                      out.put_raw(all);
                                      out.put(council_.membership().epoch);
                                      return out.take();
                                    }));
  StateReader in(told);
  const bool go_on = in.get<std::uint8_t>() != 0;
  rows_before_ = in.get<std::uint64_t>();
  const bool all_exact = in.get<std::uint8_t>() != 0;
  const auto agreed_in = in.get<std::uint64_t>();
  if (in.failed() || in.left() != 0) return damaged();
  // What all said of themselves holds for the members that there were: with others nobody has a state that
  // fits, and all have to know so.
  const auto fits = [&] {
    return all_exact && agreed_in == council_.membership().epoch && start.exact && start.exact();
  };
  bool exact = fits();
  const bool takes = !exact && (go_on || start.joining) && !council_.membership().leads();
  if (takes) SAMOVAR_CHECK(take_state_ ? take_lead_state() : ask_state());
  // In step nobody moves before all have what the lead began with.
  if (go_on && in_step()) {
    const auto nothing = []() -> Result<Bytes> { return Bytes(); };
    const auto none = [](const std::vector<Bytes>&) -> Result<Bytes> { return Bytes(); };
    SAMOVAR_CHECK(council_.agree("begun", nothing, none));
  }
  new_epoch();
  exact = exact && fits();
  if (!take_state_ || !takes || council_.membership().leads()) rows_agreed_ = rows_done();
  if (exact && !start.state.empty()) {
    StateReader state(start.state);
    steps_ = state.get<std::uint64_t>();
    if (council_.membership().leads()) meeting_.load(council_.membership().members, state);
    load_own(state);
    while (state.left() != 0 && !state.failed()) {
      const auto pass = state.get<std::uint32_t>();
      const auto loss = state.get<double>();
      passes_told_of_.push_back({pass, loss, state.get<double>()});
    }
    SAMOVAR_CHECK(state.done());
  }
  ready_ = true;
  SAMOVAR_CHECK(hear_early());
  return exact;
}

// The lead's vector, piece by piece; asked for again when the lead or the pieces are others.
Result<void> Together::ask_state() {
  std::uint64_t asked = 0;
  state_left_ = x_.size();
  while (state_left_ != 0 && !state_over_ && !council_.membership().leads()) {
    if (asked != council_.membership().epoch) {
      asked = council_.membership().epoch;
      state_left_ = x_.size();
      state_has_.clear();
      const std::uint8_t ask[] = {kAskState};
      SAMOVAR_CHECK(council_.send(council_.membership().lead(), ask));
    }
    SAMOVAR_CHECK(listen(milliseconds(50)));
  }
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

Result<void> Together::hear_state(std::uint32_t from, StateReader& in) {
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
  // Of a lead that was lost since, or asked for twice: it does not stand for a piece that is still to come.
  if (state_left_ == 0 || from != council_.membership().lead() || !state_has_.insert(first).second) return {};
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

Result<void> Together::hear(std::uint32_t from, std::uint64_t epoch, Bytes& body) {
  // The council knows of a change before its first message is heard.
  if (council_.membership().epoch != epoch_) new_epoch();
  // Who waits for an answer does not ask twice: nothing may be lost because it came early.
  const bool of_a_round = body[0] >= kFirstOwn || body[0] == kMeet || body[0] == kMet;
  if (of_a_round && (!ready_ || epoch > epoch_)) {
    early_.push_back({from, epoch, std::move(body)});
    return {};
  }
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
      heard = hear_state(from, in);
      break;
    case kOver:
      state_over_ = true;
      break;
    case kSeen:
      note_seen(from, in.get<std::uint64_t>());
      rows_most_[from] = in.get<std::uint64_t>();
      break;
    case kRest:
      if (in.get<std::uint8_t>() != 0) {
        resting_.insert(from);
        heard = fewer_at_work();
      } else {
        resting_.erase(from);
      }
      break;
    case kMeet:
      heard = hear_meet(from, in);
      break;
    case kMet:
      heard = hear_met(in);
      break;
    case kAskWhole:
      heard = send_whole(from);
      break;
    case kWhole:
      heard = hear_whole(from, in);
      break;
    case kSaved:
      heard = hear_saved(from, in);
      break;
    case kShare:
      heard = hear_share(in);
      break;
    case kMeanPart:
    case kMeanWhole:
      heard = mean_.hear(from, kind, body);
      break;
    case kDone:
      note_seen(from, in.get<std::uint64_t>());
      done_.insert(from);
      heard = fewer_at_work();
      if (heard && in_step()) heard = decide();
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
    const std::uint32_t fitting =
        choose_tau({work_seconds_, step_work_, figures_.round_seconds, step_seconds_, steps_to_do()});
    // Half the old, half the new, and never none at all: a single slow moment is not the network.
    const double steps = steps_to_do() > 0 ? std::ceil(steps_to_do()) : kTauMax;
    const auto most = static_cast<std::uint32_t>(std::min<double>(steps, kTauMax));
    figures_.tau = std::max(1u, (figures_.tau + std::min(fitting, most) + 1) / 2);
  }
  figures_.exchange_work += work_seconds_;
  work_seconds_ = 0;
  ++figures_.rounds;
}

void Together::guess_tau() {
  if (strategy_.tau != 0) return;
  const double work = static_cast<double>(x_.size()) * kFloatSeconds;
  figures_.tau = std::max(figures_.tau, choose_tau({work, step_work_, 0, step_seconds_, steps_to_do()}));
}

Result<void> Together::deal_rest() {
  if (deals_ == std::size(kDealsAt) || rows_to_do_ == 0) return {};
  const std::uint64_t done = rows_done();
  if (static_cast<double>(done) < kDealsAt[deals_] * static_cast<double>(rows_to_do_)) return {};
  std::map<std::uint32_t, RowsOf> members;
  for (const std::uint32_t member : council_.membership().members) {
    if (at_work(member)) members[member] = {seen_of(member), seen_before_[member], rows_most_[member]};
  }
  const auto shares = deal_rows(std::move(members), rows_to_do_ - std::min(done, rows_to_do_));
  if (shares.empty()) return {};
  ++deals_;
  for (const auto& [member, rows] : shares) {
    if (member == council_.membership().self) {
      share_ = rows;
      continue;
    }
    StateWriter out;
    out.put(std::uint8_t{kShare});
    out.put(epoch_);
    out.put(rows);
    SAMOVAR_CHECK(council_.give(member, out.take()));
  }
  return {};
}

Result<void> Together::hear_share(StateReader& in) {
  const auto epoch = in.get<std::uint64_t>();
  const auto rows = in.get<std::uint64_t>();
  if (in.failed() || in.left() != 0) return damaged();
  if (epoch == epoch_) share_ = rows;
  return {};
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
  if (members < 2) return in_step() ? meet() : Result<void>{};
  if (in_step()) return exchange_when_due();
  if (static_cast<double>(seen - seen_told_) * members * kSeenTold >= static_cast<double>(rows_to_do_)) {
    seen_told_ = seen;
    StateWriter out;
    out.put(std::uint8_t{kSeen});
    out.put(seen);
    out.put(rows_most_[self]);
    SAMOVAR_CHECK(tell_all(out.take()));
  }
  if (resting_.contains(self)) SAMOVAR_CHECK(tell_rest(false));
  if (council_.membership().leads()) SAMOVAR_CHECK(deal_rest());
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
    if (body[0] == kMeanPart) return SliceMean::tell_none(council, {kMeanPart, kMeanWhole}, from, body);
    if (body[0] != kAskState && body[0] != kAskWhole) return {};
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
  if (!in_step() && !resting_.contains(council_.membership().self)) SAMOVAR_CHECK(tell_rest(true));
  return listen(milliseconds(20));
}

Result<void> Together::tell_pass(std::uint32_t pass, double loss, double weight) {
  if (in_step()) {
    passes_told_of_.push_back({pass, loss, weight});
    return {};
  }
  StateWriter out;
  out.put(std::uint8_t{kPass});
  out.put(pass);
  out.put(loss);
  out.put(weight);
  Bytes body = out.take();
  const Membership& now = council_.membership();
  return now.leads() ? hear(now.self, now.epoch, body) : council_.send(now.lead(), body);
}

Result<void> Together::tell_done() {
  done_.insert(council_.membership().self);
  StateWriter out;
  out.put(std::uint8_t{kDone});
  out.put(seen_of(council_.membership().self));
  SAMOVAR_CHECK(tell_all(out.take()));
  SAMOVAR_CHECK(fewer_at_work());
  return in_step() ? decide() : Result<void>{};
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
  // What is known of the others between two meetings depends on when messages come.
  if (in_step() && ready_) return rows_agreed_;
  std::uint64_t all = rows_before_;
  for (const auto& [member, rows] : seen_) all += rows;
  return all;
}

}  // namespace samovar::trainer
