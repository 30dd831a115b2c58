// What the tests of the store share: keys, patterns, a folder on a simulated disk.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "base/bytes.hpp"
#include "base/sim/sim_disk.hpp"
#include "daemon/store/staging.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::store {

inline security::SecretBytes test_key(std::uint8_t first) {
  security::SecretBytes key(32);
  for (std::size_t i = 0; i < key.size(); ++i) key.mutable_view()[i] = static_cast<std::uint8_t>(first + i);
  return key;
}

inline Bytes pattern(std::size_t size, std::uint64_t from = 0) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t at = from + i;
    out[i] = static_cast<std::uint8_t>(at * 7 + at / 997);
  }
  return out;
}

inline const std::string kUploadId = "upl_01J8Z3K4M5N6P7Q8R9S0T1V2W3";

inline StagingHead test_head() { return {kUploadId, to_bytes(std::string_view("owner, name and length"))}; }

inline Result<Bytes> read_staging(Disk& disk, const std::string& path, const security::SecretBytes& key,
                                  std::size_t piece = 100'003) {
  SAMOVAR_TRY(auto file, disk.open(path, OpenMode::read));
  SAMOVAR_TRY(const auto reader, StagingReader::open(std::move(file), key));
  Bytes out;
  Bytes part(piece);
  while (true) {
    SAMOVAR_TRY(const std::size_t got, reader->read(part));
    if (got == 0) return out;
    out.insert(out.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
  }
}

}  // namespace samovar::store
