#include "daemon/discovery/neighbour_table.hpp"

#include <algorithm>
#include <chrono>

namespace samovar::discovery {
namespace {

constexpr std::size_t kVerifiedMax = 4;

double seconds_between(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Where a sender is, told apart also on one machine.
std::string place_of(const Beacon& beacon, const std::string& address) {
  return address + ":" + std::to_string(beacon.join_port);
}

}  // namespace

NeighbourTable::NeighbourTable(std::string own_id, std::uint64_t own_boot, TableLimits limits)
    : own_id_(std::move(own_id)), own_boot_(own_boot), limits_(limits) {
  check_bucket_.tokens = limits_.checks_per_second;
}

bool NeighbourTable::admit_source(MonoTime now, const std::string& address) {
  auto found = sources_.find(address);
  if (found == sources_.end()) {
    if (sources_.size() >= limits_.sources_max) {
      const auto oldest =
          std::min_element(sources_.begin(), sources_.end(),
                           [](const auto& a, const auto& b) { return a.second.filled < b.second.filled; });
      sources_.erase(oldest);
    }
    Bucket bucket;
    bucket.tokens = limits_.datagrams_per_second;
    bucket.filled = now;
    found = sources_.emplace(address, bucket).first;
  }
  Bucket& bucket = found->second;
  const double rate = limits_.datagrams_per_second;
  bucket.tokens = std::min(rate, bucket.tokens + rate * seconds_between(bucket.filled, now));
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

bool NeighbourTable::admit_check(MonoTime now) {
  const double rate = limits_.checks_per_second;
  check_bucket_.tokens =
      std::min(rate, check_bucket_.tokens + rate * seconds_between(check_bucket_.filled, now));
  check_bucket_.filled = now;
  if (check_bucket_.tokens < 1) return false;
  check_bucket_.tokens -= 1;
  ++checks_;
  return true;
}

bool NeighbourTable::make_room(MonoTime now, const std::string& address) {
  if (rows_.size() < limits_.rows_max) return true;
  std::map<std::string, std::size_t> per_address;
  for (const auto& [id, row] : rows_) ++per_address[row.shown.address];
  const auto crowd = std::max_element(per_address.begin(), per_address.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  auto victim = rows_.end();
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    const bool silent = now - row->second.shown.last_seen > limits_.silent;
    const bool crowded =
        crowd->second > 1 && crowd->first != address && row->second.shown.address == crowd->first;
    if (!silent && !crowded) continue;
    if (victim == rows_.end() || row->second.shown.last_seen < victim->second.shown.last_seen) victim = row;
  }
  if (victim == rows_.end()) return false;
  rows_.erase(victim);
  return true;
}

Heard NeighbourTable::hear(MonoTime now, ByteView datagram, const Source& source) {
  last_asked_ = false;
  if (datagram.size() > kBeaconBytesMax) return Heard::bad;
  if (!admit_source(now, source.address)) return Heard::dropped;
  auto beacon = read_beacon(datagram);
  if (!beacon) return beacon.error().code() == Errc::unsupported ? Heard::later : Heard::bad;
  // Our own bytes are no use to anybody else: no need to verify them.
  if (beacon->node_id == own_id_ && beacon->boot == own_boot_) return Heard::own;
  const security::Hash256 digest = security::blake2b_256(datagram);
  auto found = rows_.find(beacon->node_id);
  const bool known_bytes = found != rows_.end() &&
                           std::find(found->second.verified.begin(), found->second.verified.end(), digest) !=
                               found->second.verified.end();
  if (!known_bytes) {
    if (!admit_check(now)) return Heard::dropped;
    if (!beacon_signature_fits(datagram)) return Heard::bad;
  }
  const bool asks = beacon->ask;
  if (found != rows_.end()) {
    Row& row = found->second;
    const Heard heard = hear_known(now, row, *std::move(beacon), source);
    if (heard == Heard::stale) return heard;
    if (!known_bytes) {
      if (row.verified.size() >= kVerifiedMax) row.verified.erase(row.verified.begin());
      row.verified.push_back(digest);
    }
    last_asked_ = asks;
    return heard;
  }
  if (!make_room(now, source.address)) return Heard::dropped;
  Row row;
  row.shown = {*std::move(beacon), source.address, source.interface, source.multicast, now, now, false, {}};
  row.shown.duplicate_id = row.shown.beacon.node_id == own_id_;  // we are here, and it is not us
  row.duplicate_until = now + limits_.duplicate_kept;
  row.verified.push_back(digest);
  rows_.emplace(row.shown.beacon.node_id, std::move(row));
  last_asked_ = asks;
  return Heard::fresh;
}

Heard NeighbourTable::hear_known(MonoTime now, Row& row, Beacon beacon, const Source& source) {
  Neighbour& shown = row.shown;
  const std::string place = place_of(beacon, source.address);
  if (beacon.boot != shown.beacon.boot) {
    // A start we knew before the one we know now, and from elsewhere: both are alive.
    const bool both_alive = beacon.boot == row.other_boot && place != place_of(shown.beacon, shown.address) &&
                            now - shown.last_seen <= limits_.silent &&
                            now - row.other_seen <= 4 * limits_.silent;
    row.other_boot = shown.beacon.boot;
    row.other_place = place_of(shown.beacon, shown.address);
    row.other_seen = shown.last_seen;
    shown.beacon = std::move(beacon);
    shown.address = source.address;
    shown.interface = source.interface;
    shown.multicast = source.multicast;
    shown.last_seen = now;
    if (both_alive) {
      shown.duplicate_id = true;
      shown.duplicate_address = row.other_place;
      row.duplicate_until = now + limits_.duplicate_kept;
    }
    return Heard::fresh;
  }
  if (beacon.sequence < shown.beacon.sequence) return Heard::stale;
  if (shown.beacon.node_id == own_id_) row.duplicate_until = now + limits_.duplicate_kept;
  const bool changed = beacon.sequence > shown.beacon.sequence;
  // One node on several interfaces: it stays where it was heard first, until it falls silent there.
  const bool same_way = source.address == shown.address && source.interface == shown.interface;
  const bool better = source.multicast && !shown.multicast;
  if (!same_way && !better && !changed && now - shown.last_seen <= limits_.silent) return Heard::same;
  shown.beacon = std::move(beacon);
  shown.address = source.address;
  shown.interface = source.interface;
  shown.multicast = shown.multicast || source.multicast;
  shown.last_seen = now;
  return changed || !same_way ? Heard::fresh : Heard::same;
}

bool NeighbourTable::answer_wanted(MonoTime now, const Source& source) {
  const auto found = sources_.find(source.address);
  if (!last_asked_ || found == sources_.end()) return false;
  last_asked_ = false;
  Bucket& bucket = found->second;
  if (bucket.answered != MonoTime{} && now - bucket.answered < std::chrono::seconds(1)) return false;
  bucket.answered = now;
  return true;
}

bool NeighbourTable::expire(MonoTime now) {
  std::erase_if(sources_,
                [&](const auto& entry) { return now - entry.second.filled > std::chrono::minutes(1); });
  bool changed = std::erase_if(rows_, [&](const auto& entry) {
                   return now - entry.second.shown.last_seen > limits_.row_kept;
                 }) > 0;
  for (auto& [id, row] : rows_) {
    if (!row.shown.duplicate_id || row.duplicate_until > now) continue;
    row.shown.duplicate_id = false;
    row.shown.duplicate_address.clear();
    changed = true;
  }
  return changed;
}

std::vector<Neighbour> NeighbourTable::list(MonoTime now) const {
  std::vector<Neighbour> out;
  for (const auto& [id, row] : rows_)
    if (now - row.shown.last_seen <= limits_.row_kept) out.push_back(row.shown);
  std::stable_sort(out.begin(), out.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.first_seen < b.first_seen; });
  return out;
}

}  // namespace samovar::discovery
