#include "trainer/sync/slice_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/kernels.hpp"

namespace samovar::trainer {

namespace {

// Weights of one message: some hundred of them are on their way at a time, and none holds up the others for
// long.
constexpr std::size_t kPieceFloats = 65'536;

Error damaged() { return {Errc::corrupt, "the model that another worker sent is damaged"}; }

void put_floats(StateWriter& out, std::span<const float> floats) {
  out.put(std::uint64_t{floats.size()});
  out.put_raw({reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()});
}

}  // namespace

std::pair<std::size_t, std::size_t> SliceMean::slice(std::size_t place) const {
  // As the centre's are, as far as there are weights.
  const std::size_t cells = own_.weights.size() + own_.few.size();
  const std::size_t low = cells * place / members_.size();
  const std::size_t high = cells * (place + 1) / members_.size();
  return {std::min(low, own_.weights.size()), std::min(high, own_.weights.size())};
}

Result<void> SliceMean::begin(const MeanPart& own, std::uint32_t attempt) {
  const Membership& now = council_.membership();
  own_ = own;
  attempt_ = attempt;
  epoch_ = now.epoch;
  self_ = now.self;
  members_ = now.members;
  begun_ = true;
  closed_ = none_ = false;
  said_.clear();
  parts_.clear();
  made_.clear();
  centre_heard_ = own.centre.size();
  all_ = MeanOfAll{};
  all_.members = members_.size();
  all_.weights.resize(own.weights.size());
  if (!own.pairs.empty()) all_.merged.resize(own.weights.size());
  floats_left_ = all_.weights.size() + all_.merged.size();
  all_.centre.assign(own.weights.size() + own.few.size(), std::numeric_limits<float>::quiet_NaN());
  if (own.centre_first > all_.centre.size() || own.centre.size() > all_.centre.size() - own.centre_first)
    return damaged();
  std::copy(own.centre.begin(), own.centre.end(),
            all_.centre.begin() + static_cast<std::ptrdiff_t>(own.centre_first));
  said_[self_] = {own.rows, own.steps, own.few, own.centre.size()};
  // Each begins with the slice after its own, so that not all talk to the same owner.
  const auto self = std::lower_bound(members_.begin(), members_.end(), self_) - members_.begin();
  for (std::size_t i = 1; i < members_.size(); ++i)
    SAMOVAR_CHECK(tell_part((static_cast<std::size_t>(self) + i) % members_.size()));
  for (std::size_t at = 0; at < own.centre.size(); at += kPieceFloats)
    SAMOVAR_CHECK(tell_whole(
        own.centre_first + at,
        std::span(own.centre).subspan(at, std::min(kPieceFloats, own.centre.size() - at)), kCentre));
  // What came before is of this attempt, or of a later one.
  for (Waiting& one : std::exchange(early_, {})) SAMOVAR_CHECK(hear(one.from, one.kind, one.body));
  const auto [low, high] = slice(static_cast<std::size_t>(self));
  for (std::size_t first = low; first < high; first += kPieceFloats) SAMOVAR_CHECK(make(first));
  return {};
}

Result<void> SliceMean::tell_part(std::size_t place) {
  const auto [low, high] = slice(place);
  // Who has no weights to look after hears the rest all the same.
  for (std::size_t first = low; first < high || first == low; first += kPieceFloats) {
    const std::size_t each = floats_each();
    const std::span<const float> from = own_.pairs.empty() ? own_.weights : own_.pairs;
    const auto floats = from.subspan(first * each, std::min(kPieceFloats, high - first) * each);
    StateWriter out(floats.size_bytes() + 256);
    out.put(kinds_.part);
    out.put(attempt_);
    out.put(epoch_);
    out.put(std::uint64_t{first});
    out.put(own_.rows);
    out.put(own_.steps);
    out.put(own_.few);
    out.put(std::uint64_t{own_.centre.size()});
    put_floats(out, floats);
    SAMOVAR_CHECK(council_.give(members_[place], out.take()));
  }
  return {};
}

Result<void> SliceMean::tell_whole(std::size_t first, std::span<const float> floats, What what) {
  StateWriter out(floats.size_bytes() + 64);
  out.put(kinds_.whole);
  out.put(attempt_);
  out.put(epoch_);
  out.put(std::uint64_t{first});
  out.put(what);
  put_floats(out, floats);
  const Bytes body = out.take();
  for (const std::uint32_t member : members_) {
    if (member != self_) SAMOVAR_CHECK(council_.send(member, body));
  }
  return {};
}

SliceMean::Head SliceMean::Head::of(StateReader& in) {
  static_cast<void>(in.get<std::uint8_t>());  // the kind
  Head head;
  head.attempt = in.get<std::uint32_t>();
  head.epoch = in.get<std::uint64_t>();
  head.first = in.get<std::uint64_t>();
  return head;
}

Result<void> SliceMean::tell_none(Council& council, Kinds kinds, std::uint32_t to, const Head& head) {
  StateWriter out;
  out.put(kinds.whole);
  out.put(head.attempt);
  out.put(head.epoch);
  out.put(head.first);
  out.put(kNone);
  return council.give(to, out.take());
}

Result<void> SliceMean::tell_none(Council& council, Kinds kinds, std::uint32_t to, ByteView part) {
  StateReader in(part);
  const Head head = Head::of(in);
  return in.failed() ? Result<void>(damaged()) : tell_none(council, kinds, to, head);
}

Result<void> SliceMean::hear(std::uint32_t from, std::uint8_t kind, Bytes& body) {
  StateReader in(body);
  const Head head = Head::of(in);
  const auto what = kind == kinds_.whole ? in.get<std::uint8_t>() : std::uint8_t{kMean};
  if (in.failed() || what > kMerged) return damaged();
  const bool same = begun_ && head.attempt == attempt_ && head.epoch == epoch_;
  if (what == kNone) {
    none_ = none_ || (same && !closed_);
    return {};
  }
  if (!same) {
    const bool here = begun_ && head.attempt == attempt_;
    if (!begun_ || head.attempt > attempt_ || (here && head.epoch > epoch_ && !closed_)) {
      early_.push_back({from, kind, std::move(body)});
      return {};
    }
    const bool waits = kind == kinds_.part && (head.attempt < attempt_ || head.epoch > epoch_);
    return waits ? tell_none(council_, kinds_, from, head) : Result<void>{};
  }
  if (!std::binary_search(members_.begin(), members_.end(), from)) return {};
  return kind == kinds_.part ? hear_part(from, head, in) : hear_whole(head, what, in);
}

Result<void> SliceMean::hear_part(std::uint32_t from, const Head& head, StateReader& in) {
  Said said;
  said.rows = in.get<std::uint64_t>();
  said.steps = in.get<std::uint64_t>();
  in.get(said.few);
  said.centre_floats = in.get<std::uint64_t>();
  std::vector<float> floats;
  in.get(floats);
  if (in.failed() || in.left() != 0 || said.few.size() != own_.few.size() ||
      said.centre_floats > all_.centre.size())
    return damaged();
  said_[from] = std::move(said);
  const auto self = std::lower_bound(members_.begin(), members_.end(), self_) - members_.begin();
  const auto [low, high] = slice(static_cast<std::size_t>(self));
  if (low == high) return {};
  if (head.first < low || head.first >= high || (head.first - low) % kPieceFloats != 0 ||
      floats.size() != std::min(kPieceFloats, high - head.first) * floats_each())
    return damaged();
  parts_[head.first][from] = std::move(floats);
  return make(head.first);
}

double SliceMean::share_of(std::uint32_t member) const {
  double all = 0;
  for (const auto& [each, said] : said_) all += static_cast<double>(said.rows);
  return all > 0 ? static_cast<double>(said_.at(member).rows) / all
                 : 1 / static_cast<double>(members_.size());
}

Result<void> SliceMean::make(std::size_t first) {
  auto& parts = parts_[first];
  if (parts.size() + 1 != members_.size() || made_.contains(first)) return {};
  const auto self = std::lower_bound(members_.begin(), members_.end(), self_) - members_.begin();
  const std::size_t count = std::min(kPieceFloats, slice(static_cast<std::size_t>(self)).second - first);
  float* const out = all_.weights.data() + first;
  // One without rows has learned nothing, unless nobody has any.
  std::vector<const float*> learned, all;
  for (const std::uint32_t member : members_) {
    const float* theirs = part_of(member, first);
    all.push_back(theirs);
    if (said_.at(member).rows != 0) learned.push_back(theirs);
    if (!own_.pairs.empty()) {
      room_.resize(count);
      own_.merge->own(theirs, count, room_.data());
      theirs = room_.data();
    }
    kernels::cpu().axpy(nullptr, static_cast<float>(share_of(member)), theirs, count, out);
  }
  made_.insert(first);
  floats_left_ -= count;
  if (!own_.pairs.empty()) {
    float* const merged = all_.merged.data() + first;
    own_.merge->merge(learned.empty() ? all : learned, count, merged);
    floats_left_ -= count;
    SAMOVAR_CHECK(tell_whole(first, std::span<const float>(merged, count), kMerged));
  }
  for (auto& [member, floats] : parts) floats = {};
  return tell_whole(first, std::span<const float>(out, count), kMean);
}

const float* SliceMean::part_of(std::uint32_t member, std::size_t first) const {
  if (member != self_) return parts_.at(first).at(member).data();
  return (own_.pairs.empty() ? own_.weights : own_.pairs).data() + first * floats_each();
}

Result<void> SliceMean::hear_whole(const Head& head, std::uint8_t what, StateReader& in) {
  const bool centre = what == kCentre;
  std::vector<float> floats;
  in.get(floats);
  std::vector<float>& to = centre ? all_.centre : what == kMerged ? all_.merged : all_.weights;
  if (in.failed() || in.left() != 0 || head.first > to.size() || floats.size() > to.size() - head.first)
    return damaged();
  std::copy(floats.begin(), floats.end(), to.begin() + static_cast<std::ptrdiff_t>(head.first));
  if (centre) centre_heard_ += floats.size();
  if (!centre) floats_left_ -= std::min(floats_left_, floats.size());
  return {};
}

bool SliceMean::whole() const {
  if (!begun_ || floats_left_ != 0 || said_.size() != members_.size()) return false;
  std::uint64_t centre = 0;
  for (const auto& [member, said] : said_) centre += said.centre_floats;
  return centre_heard_ >= centre;
}

Result<void> SliceMean::close() {
  closed_ = true;
  for (Waiting& one : std::exchange(early_, {})) SAMOVAR_CHECK(hear(one.from, one.kind, one.body));
  return {};
}

MeanOfAll SliceMean::take() {
  all_.few.assign(own_.few.size(), 0);
  std::uint64_t centre = 0;
  for (const auto& [member, said] : said_) {
    all_.rows += said.rows;
    all_.steps += said.steps;
    centre += said.centre_floats;
    const double share = share_of(member);
    for (std::size_t i = 0; i < all_.few.size(); ++i) all_.few[i] += share * said.few[i];
  }
  all_.has_centre = centre != 0;
  return std::move(all_);
}

}  // namespace samovar::trainer
