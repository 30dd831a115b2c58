// Finds the records of a staging file after a restart: which are whole, which tail is torn.
//
// Only what may be torn is opened; the rest was synced, and its tags are checked when it is read.
#pragma once
#include <cstdint>
#include <optional>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/store/staging_format.hpp"
#include "security/hash.hpp"

namespace samovar::store::staging {

struct Found {
  std::uint64_t plain_bytes = 0;
  std::uint64_t file_bytes = 0;  // end of the last whole record: what is behind is torn
  std::uint64_t time_us = 0;     // of the last record
  std::optional<security::Hash256> sha256;
};

// From record header to record header, without opening any, while they fit together. `end` is the size of
// the file; `from` and `plain` are where to begin.
struct Hop {
  RecordHeader header;
  std::uint64_t at = 0;  // in the file
};
class RecordChain {
 public:
  RecordChain(File& file, std::uint64_t from, std::uint64_t plain, std::uint64_t end)
      : file_(file), at_(from), plain_(plain), end_(end) {}
  // Nothing at the end of the chain.
  Result<std::optional<Hop>> next();
  std::uint64_t at() const noexcept { return at_; }
  std::uint64_t plain() const noexcept { return plain_; }

 private:
  File& file_;
  std::uint64_t at_;
  std::uint64_t plain_;
  std::uint64_t end_;
  bool ended_ = false;  // an end record was seen
};

// Errc::corrupt when something is missing of what a later record says was synced before it.
Result<Found> find_records(File& file, const Head& head, const security::SecretBytes& key);

}  // namespace samovar::store::staging
