// What nodes say to each other about a training that runs on several of them (net::Topic::job).
//
//   home                                    a node with a worker
//   prepare     ask, control  ──────────▶   bring the shards, start the worker in its sandbox
//               ◀──────────  tell           news: ready
//   epoch       ask, control  ──────────▶   who works on what from now on; the first one begins the training
//               ◀──────────  tell           news: alive, step, metric, log; ended
//   stop        ask, control  ──────────▶   with a last checkpoint, or at once
//   live        tell          ──────────▶   all members: how the job stands, for their pages
//   history     ask           ◀──────────   any member: the whole curve and log
//
//   piece       ask, bulk     ◀─────────▶   between nodes with workers: a part of a worker's message
//
// No key is sent: every member has the keyring and unwraps the job's and the data's keys itself.
// Other members are trusted to be members, not to be of our version or in good order: every length is
// checked, nothing may be left over.
//
// Threading: values.
// Format:    docs/formats/job-messages.md
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::jobs {

enum class JobMessageKind : std::uint8_t {
  prepare = 1,
  epoch = 2,
  stop = 3,
  news = 4,
  piece = 5,
  live = 6,
  history = 7,
};
// Errc::corrupt for an empty one or an unknown kind.
Result<JobMessageKind> kind_of(ByteView message);

// Which worker of which attempt: a message of an earlier run is nobody's.
struct WorkerRef {
  std::string job_id;
  std::uint64_t run = 0;
  std::uint32_t number = 0;
  friend auto operator<=>(const WorkerRef&, const WorkerRef&) = default;
};

// May come again with more shards: then only those are brought, and `ready` is told again.
struct JobPrepare {
  WorkerRef worker;
  std::uint64_t turn = 0;  // told back with `ready`
  std::vector<std::uint32_t> shards;
  bool checkpoint = false;  // the run goes on from the job's
};

struct JobEpoch {
  WorkerRef worker;  // whom it is for
  std::uint64_t epoch = 0;
  std::uint32_t parts = 1;
  bool joining = false;                                        // the others are at work already
  std::vector<std::pair<std::uint32_t, std::string>> members;  // number and node, ascending
  std::vector<std::uint32_t> blocks;                           // of this worker
  std::vector<std::vector<std::uint32_t>> block_rows;          // of all shards; only with its first epoch
  // Where blocks go round: those of this worker by pass, the first ones are `blocks`.
  std::vector<std::vector<std::uint32_t>> turns = {};
};

struct JobStop {
  WorkerRef worker;
  bool save = false;  // with a last checkpoint
};

struct JobNews {
  enum class What : std::uint8_t {
    ready = 1,
    alive = 2,
    step = 3,
    metric = 4,
    log = 5,
    ended = 6,
    energy = 7,
    device = 8
  };
  WorkerRef worker;
  What what = What::alive;
  // ready: to which order, and how many rows the blocks of the shards have that it named
  std::uint64_t turn = 0;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> shards;
  StepMessage step;
  MetricMessage metric;
  LogMessage log;
  DeviceMessage device;
  // ended
  bool good = false;
  Errc code = Errc::internal;
  std::string error;
  // alive
  double watts = 0;  // below zero: not known
  bool watts_estimated = true;
  double joules = 0;  // of this worker's node above idle, since it began
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  // energy, beside `alive`; a home of an earlier version passes it over
  double joules_error = 0;  // how far off `joules` may be
  double busy_seconds = 0;  // since it began
  double duty_seconds = 0;  // of them, as far as it was let work
};

struct JobPiece {
  std::string job_id;
  std::uint64_t run = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t epoch = 0;
  std::uint64_t message = 0;  // counts up per sender and receiver
  std::uint32_t total = 0;
  std::uint32_t offset = 0;
  Bytes bytes;
};

struct JobLive {
  std::string job_id;
  std::string json;  // job_live.hpp
};

struct JobHistoryAsk {
  std::string job_id;
};

Bytes encode(const JobPrepare& message);
Bytes encode(const JobEpoch& message);
Bytes encode(const JobStop& message);
Bytes encode(const JobNews& message);
Bytes encode(const JobPiece& message);
Bytes encode(const JobLive& message);
Bytes encode(const JobHistoryAsk& message);

Result<JobPrepare> decode_job_prepare(ByteView message);
Result<JobEpoch> decode_job_epoch(ByteView message);
Result<JobStop> decode_job_stop(ByteView message);
Result<JobNews> decode_job_news(ByteView message);
Result<JobPiece> decode_job_piece(ByteView message);
Result<JobLive> decode_job_live(ByteView message);
Result<JobHistoryAsk> decode_job_history_ask(ByteView message);

inline constexpr std::size_t kJobPieceBytesMax = 1u << 20;
inline constexpr std::size_t kPeerBodyBytesMax = 4u << 20;  // trainer/sync/peer_group.hpp
inline constexpr std::size_t kJobMembersMax = 1024;
inline constexpr std::size_t kJobBlocksMax = 1u << 20;
inline constexpr std::uint32_t kJobShardsMax = 2048;
inline constexpr std::size_t kLiveBytesMax = 1u << 20;

}  // namespace samovar::jobs
