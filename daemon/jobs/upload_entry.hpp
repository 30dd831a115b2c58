// One upload, as uploads.hpp keeps it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/jobs/data_service.hpp"
#include "daemon/store/staging.hpp"
#include "security/secret_bytes.hpp"
#include "security/sha256.hpp"

namespace samovar::jobs {

struct UploadEntry {
  // Loop only.
  Upload view;
  security::SecretBytes key;
  std::string path;
  bool writing = false;   // a request appends, or its end is being made
  bool removing = false;  // its file is on its way out
  bool stop_hashing = false;
  unsigned holds = 0;
  std::uint64_t used = 0;  // when its file was last used, for closing the idlest

  // The io pool's while `writing`, else the loop's.
  std::unique_ptr<store::StagingFile> file;  // closed when idle
  security::Sha256 hash;                     // of the first `hashed` bytes
  std::uint64_t hashed = 0;
  std::unique_ptr<store::StagingReader> follower;  // reads what the hash has still to see
};

// What the file's head keeps of an upload, sealed with the bytes: nothing a user typed is outside.
Bytes encode_about(const Upload& upload);
// Errc::corrupt when they are not such words.
Result<Upload> decode_about(ByteView bytes);

// From the file as it was found. The file stays closed.
Result<std::shared_ptr<UploadEntry>> load_entry(Disk& disk, const std::string& path,
                                                const security::SecretBytes& wrap_key, Duration lifetime);

}  // namespace samovar::jobs
