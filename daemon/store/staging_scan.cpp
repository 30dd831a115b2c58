#include "daemon/store/staging_scan.hpp"

#include <algorithm>
#include <vector>

namespace samovar::store::staging {
namespace {

// Behind a torn place, how far to look for a record that proves it was none. More than is ever unsynced.
constexpr std::uint64_t kLookBytes = std::uint64_t{64} << 20;

Result<bool> verifies(File& file, const Hop& hop, const security::SecretBytes& key, MutableBytes plain) {
  Bytes record(hop.header.stored());
  SAMOVAR_TRY(const std::size_t got, file.read_at(hop.at, record));
  return got == record.size() && open_record(key, hop.header, record, plain.first(hop.header.length));
}

// Is there a whole record behind `from` that was written when more than `plain` bytes were durable? Then what
// does not fit at `plain` is no torn tail but damage, and cutting it off would lose acknowledged bytes.
Result<bool> proves_damage(File& file, std::uint64_t from, std::uint64_t end, std::uint64_t plain,
                           const security::SecretBytes& key) {
  constexpr std::size_t kWindow = 1 << 20;
  end = std::min(end, from + kLookBytes);
  if (end <= from) return false;
  Bytes window(static_cast<std::size_t>(std::min<std::uint64_t>(kWindow + kRecordHeaderBytes, end - from)));
  Bytes content(kRecordPlainMax);
  for (std::uint64_t at = from; at < end; at += kWindow) {
    SAMOVAR_TRY(const std::size_t got, file.read_at(at, window));
    const ByteView bytes = ByteView(window).first(got);
    // Headers that begin in this window; those on its border are whole in it, too.
    for (std::size_t i = 0; i + kRecordHeaderBytes <= bytes.size(); ++i) {
      const auto header = decode_record_header(bytes.subspan(i));
      if (!header || header->synced <= plain) continue;
      const Hop hop{*header, at + i};
      SAMOVAR_TRY(const bool good, verifies(file, hop, key, content));
      if (good) return true;
    }
  }
  return false;
}

}  // namespace

Result<std::optional<Hop>> RecordChain::next() {
  std::array<std::uint8_t, kRecordHeaderBytes> bytes{};
  if (ended_ || end_ - at_ < kRecordHeaderBytes) return std::optional<Hop>();
  SAMOVAR_TRY(const std::size_t got, file_.read_at(at_, bytes));
  const auto header = decode_record_header(ByteView(bytes).first(got));
  if (!header || header->offset != plain_ || header->stored() > end_ - at_) return std::optional<Hop>();
  const Hop hop{*header, at_};
  at_ += header->stored();
  if (header->type == RecordType::data) plain_ += header->length;
  ended_ = header->type == RecordType::end;
  return std::optional<Hop>(hop);
}

Result<Found> find_records(File& file, const Head& head, const security::SecretBytes& key) {
  SAMOVAR_TRY(const std::uint64_t end, file.size());
  RecordChain chain(file, head.bytes(), 0, end);
  // A header that fits its place was written by us, even when its content is torn, so its word on what was
  // durable before it counts: records from `doubtful` on are not known to be.
  std::vector<Hop> hops;
  std::size_t doubtful = 0;
  Found found;
  found.file_bytes = head.bytes();
  while (true) {
    SAMOVAR_TRY(const std::optional<Hop> hop, chain.next());
    if (!hop) break;
    for (; doubtful < hops.size(); ++doubtful) {
      const Hop& earlier = hops[doubtful];
      if (earlier.header.offset + earlier.header.length > hop->header.synced) break;
      found.plain_bytes = earlier.header.offset + earlier.header.length;
      found.file_bytes = earlier.at + earlier.header.stored();
      found.time_us = earlier.header.time_us;
    }
    if (doubtful >= 4096) {  // the rest is what may be unsynced at one time: little
      hops.erase(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(doubtful));
      doubtful = 0;
    }
    hops.push_back(*hop);
  }
  hops.erase(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(doubtful));
  Bytes plain(kRecordPlainMax);
  bool torn = chain.at() != end;
  for (const Hop& hop : hops) {
    SAMOVAR_TRY(const bool good, verifies(file, hop, key, plain));
    torn = torn || !good;
    if (!good) break;
    found.file_bytes = hop.at + hop.header.stored();
    found.time_us = hop.header.time_us;
    if (hop.header.type == RecordType::data) found.plain_bytes = hop.header.offset + hop.header.length;
    if (hop.header.type == RecordType::end) std::copy_n(plain.begin(), 32, found.sha256.emplace().begin());
  }
  security::wipe(MutableBytes(plain));
  if (found.sha256 && torn) return damaged("something follows its end");
  if (torn) {
    SAMOVAR_TRY(const bool damage, proves_damage(file, found.file_bytes, end, found.plain_bytes, key));
    if (damage) return damaged("a record is missing at byte " + std::to_string(found.plain_bytes));
  }
  return found;
}

}  // namespace samovar::store::staging
