// What samovard and samovar-worker say to each other, as bytes: a frame is
//   u32 length of the body (little-endian) ‖ u8 type ‖ body
// and may carry one descriptor (worker_channel.hpp).
//
//   worker                          samovard
//   ready            ──────────▶    the sandbox is closed; only now keys are sent
//                    ◀──────────    job (descriptor: the sealed upload)
//   want_file n      ──────────▶
//                    ◀──────────    file (descriptor)           … for each shard and object
//   progress         ──────────▶
//   found | report | failed ───▶    the end
//
// The worker parses outside input, so what it says is not trusted: every length is checked, nothing may be
// left over, and numbers are within bounds or the whole message is refused.
//
// Threading: values.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/column_change.hpp"
#include "security/hash.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::ingest {

inline constexpr int kWorkerDescriptor = 3;  // where the worker finds its end of the socket pair
inline constexpr std::size_t kFrameHeadBytes = 5;
inline constexpr std::size_t kFrameBytesMax = 32u << 20;
inline constexpr std::uint32_t kWorkerShardsMax = 2048;

enum class MessageType : std::uint8_t {
  ready = 1,
  job = 2,
  want_file = 3,
  file = 4,
  progress = 5,
  found = 6,
  report = 7,
  failed = 8,
  // Training and scoring: daemon/jobs/train_protocol.hpp.
  train = 9,
  score = 10,
  want_input = 11,
  input = 12,
  want_output = 13,
  output = 14,
  saved = 15,
  kept = 16,
  step = 17,
  metric = 18,
  log = 19,
  trained = 20,
  scored = 21,
  stop = 22,
  // Training together with workers of other nodes.
  peer_send = 23,
  peer_sent = 24,
  peer_message = 25,
  peer_taken = 26,
  membership = 27,
  finished = 28,
  shards = 29,
  device = 30,
};

enum class WorkerMode : std::uint8_t {
  inspect = 1,
  ingest = 2,
  trial = 3,  // tests: make the system call that `file_name` names, which the sandbox must refuse
};

struct WorkerReady {
  bool own_network = false;  // in a network namespace of its own, which has no interface
  // Of one that was started with a device's plug-in: its name, and of which generation it is
  // (kernels::Table).
  std::string device;  // empty: none
  std::uint32_t generation = 0;
  std::string trouble;  // then why; a part of a sentence
};
inline constexpr std::size_t kDeviceNameBytesMax = 300;
inline constexpr std::size_t kDeviceTroubleBytesMax = 1000;

struct WorkerJob {
  WorkerMode mode = WorkerMode::inspect;
  std::string file_name;
  std::string hints_json;             // detect.hpp
  std::vector<ColumnChange> changes;  // ingest
  std::string schema_json;            // ingest: the columns, one by one; empty: as found
  std::string dataset_id;             // ingest: of the sealed files' ids
  std::uint32_t version = 1;
  std::uint64_t seed = 1;
  std::uint64_t raw_bytes = 0;
  std::uint32_t threads = 1;
  std::uint64_t memory_bytes_max = 0;
  std::string failpoints;            // tests: those of samovard, for the worker as well
  security::SecretBytes source_key;  // opens the upload
  security::SecretBytes data_key;    // ingest: seals the version
};

enum class FileKind : std::uint8_t { shard = 1, profile = 2, bad_rows = 3 };
// "0", "1", …, "profile", "bad-rows": its name below the version, nothing of it comes from a user.
std::string file_name_of(FileKind kind, std::uint32_t number);

struct WantFile {
  FileKind kind = FileKind::shard;
  std::uint32_t number = 0;  // 0 for objects
};

struct FileAnswer {
  std::string error;  // empty: the descriptor comes with it
};

struct WorkerProgress {
  std::uint64_t raw_bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
};

struct WorkerFound {
  std::string detection_json;
};

struct StoredFile {
  FileKind kind = FileKind::shard;
  std::uint32_t number = 0;
  std::uint64_t rows = 0;
  std::uint32_t blocks = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;
  security::Hash256 hash{};
};

struct WorkerReport {
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;
  std::string schema_json;
  std::string options_json;
  std::vector<std::string> notes;
  std::vector<StoredFile> files;
};

struct WorkerFailed {
  Errc code = Errc::internal;
  std::string message;
};

Bytes encode(const WorkerReady& message);
Bytes encode(const WorkerJob& message);  // holds keys: wipe it
Bytes encode(const WantFile& message);
Bytes encode(const FileAnswer& message);
Bytes encode(const WorkerProgress& message);
Bytes encode(const WorkerFound& message);
Bytes encode(const WorkerReport& message);
Bytes encode(const WorkerFailed& message);

// Errc::corrupt for anything encode would not write.
Result<WorkerReady> decode_ready(ByteView body);
Result<WorkerJob> decode_job(ByteView body);
Result<WantFile> decode_want_file(ByteView body);
Result<FileAnswer> decode_file_answer(ByteView body);
Result<WorkerProgress> decode_progress(ByteView body);
Result<WorkerFound> decode_found(ByteView body);
Result<WorkerReport> decode_report(ByteView body);
Result<WorkerFailed> decode_failed(ByteView body);

struct FrameHead {
  std::uint32_t body_bytes = 0;
  MessageType type = MessageType::ready;
};
std::array<std::uint8_t, kFrameHeadBytes> encode_head(const FrameHead& head);
Result<FrameHead> decode_head(ByteView bytes);  // kFrameHeadBytes of them

}  // namespace samovar::ingest
