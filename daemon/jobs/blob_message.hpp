// What nodes say to each other about sealed files. Decoders check everything they are given.
//
// Threading: values. Format: docs/formats/blob.md
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::jobs {

inline constexpr std::size_t kBlobPieceBytesMax = 1 << 20;
inline constexpr std::size_t kBlobSourcesMax = 16;
inline constexpr std::size_t kBlobChecksMax = 1024;

// A piece of a file. Topic::blob_read, on the bulk lane.
struct BlobRead {
  std::string key;  // store::BlobKey
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  // 1 to kBlobPieceBytesMax
};
struct BlobPiece {
  std::uint64_t total = 0;  // bytes of the file
  Bytes bytes;              // fewer than asked for only at its end
};

// "Get this file from one of these, keep it durably." Answered within seconds, also when it takes longer:
// who asks asks again until it is done, and it goes on all the same. Topic::blob_fetch.
struct BlobFetch {
  std::string key;
  std::uint64_t bytes = 0;
  Bytes hash;                          // 32 bytes; empty: not known
  std::vector<std::string> from;       // node ids, best first
  std::uint64_t bytes_per_second = 0;  // at most; 0: as fast as it goes
};
struct BlobFetched {
  bool done = false;          // durable, with this hash
  std::uint64_t arrived = 0;  // bytes so far; of a file that was there already none
};

// "Which of these do you have?" Topic::blob_check.
struct BlobCheck {
  bool read = false;  // not only look for them: read them, and mend what is damaged
  struct File {
    std::string key;
    std::uint64_t bytes = 0;
    friend bool operator==(const File&, const File&) = default;
  };
  std::vector<File> files;
};
struct BlobChecked {
  std::vector<bool> there;  // in the order of the question
};

Bytes encode(const BlobRead& message);
Bytes encode(const BlobPiece& message);
Bytes encode(const BlobFetch& message);
Bytes encode(const BlobFetched& message);
Bytes encode(const BlobCheck& message);
Bytes encode(const BlobChecked& message);
Result<BlobRead> decode_blob_read(ByteView bytes);
Result<BlobPiece> decode_blob_piece(ByteView bytes);
Result<BlobFetch> decode_blob_fetch(ByteView bytes);
Result<BlobFetched> decode_blob_fetched(ByteView bytes);
Result<BlobCheck> decode_blob_check(ByteView bytes);
Result<BlobChecked> decode_blob_checked(ByteView bytes);

}  // namespace samovar::jobs
