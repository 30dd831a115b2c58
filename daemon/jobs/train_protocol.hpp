// What samovard and samovar-worker say to each other when a model is trained or used on whole data sets. The
// frames are those of daemon/ingest/worker_protocol.hpp.
//
//   worker                            samovard
//   ready              ──────────▶    the sandbox is closed; only now keys are sent
//                      ◀──────────    train | score
//   want_input         ──────────▶
//                      ◀──────────    input (descriptor, to read)      … shards, checkpoint, model, upload
//   want_output        ──────────▶
//                      ◀──────────    output (descriptor, new and empty)
//   saved              ──────────▶    sealed and synced
//                      ◀──────────    kept                             … it is committed, or why not
//   step, metric, log,
//   device             ──────────▶
//                      ◀──────────    stop                             at any time: a last checkpoint, then
//                      the end
//   trained | scored | finished | failed ───▶    the end
//
// and, when workers of other nodes train with it:
//
//                      ◀──────────    membership                       who takes part, and on which blocks
//                      ◀──────────    shards                           … of those for later passes these are
//                      here
//   peer_send          ──────────▶    (descriptor: a body of more than kPeerInlineBytesMax)
//                      ◀──────────    peer_sent                        so many of them went, or are lost
//                      ◀──────────    peer_message                     (descriptor likewise)
//   peer_taken         ──────────▶    so many of them were read: at most kPeerUnreadMax wait in the worker
//
// The worker reads what came from outside, so what it says is not trusted: every length is checked, nothing
// may be left over, and numbers are within bounds or the whole message is refused.
//
// Threading: values.
// Format:    docs/formats/worker-messages.md
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/sealed_file.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {

enum class OutputKind : std::uint8_t { checkpoint = 1, model = 2, evaluation = 3, result = 4 };
enum class InputKind : std::uint8_t { shard = 1, checkpoint = 2, model = 3, upload = 4 };

// "checkpoint-120", "model", …: its name below the job, nothing of it comes from a user.
std::string output_name(OutputKind kind, std::uint64_t number);
// Where it belongs: what is sealed for one place does not open in another. `owner` is the id of the job, the
// model's files or the scoring; `number` is the step of a checkpoint and 0 for all else.
security::SealedFileId output_place(std::string_view owner, OutputKind kind, std::uint64_t number);

struct TrainJob {
  std::string job_id;    // of the checkpoints' places
  std::string store_id;  // "mdl_…", of the model's and the evaluation's
  std::string spec_json;
  std::string schema_json;
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  std::uint32_t shards = 0;
  std::uint64_t checkpoint_step = 0;  // 0: from nothing
  std::uint32_t threads = 1;
  std::uint64_t memory_bytes = 0;  // beside the weights; 0: as the trainer thinks fit
  std::uint32_t checkpoint_ms = 30'000;
  std::uint64_t checkpoint_steps = 0;  // tests: after so many updates instead
  // Among workers of other nodes: its number, from 1 on; 0: alone.
  std::uint32_t member = 0;
  bool joining = false;  // the others are at work already
  std::uint64_t epoch = 0;
  std::vector<std::uint32_t> members;                  // ascending, itself included
  std::vector<std::uint32_t> blocks;                   // its own
  std::vector<std::vector<std::uint32_t>> turns;       // where they go round: by pass, the first are `blocks`
  std::uint32_t parts = 1;                             // into which each block of a shard is cut
  std::vector<std::vector<std::uint32_t>> block_rows;  // of all shards; none: it asks for all and looks
  std::string failpoints;
  security::SecretBytes data_key;   // opens the shards
  security::SecretBytes job_key;    // seals checkpoints
  security::SecretBytes model_key;  // seals the model and its evaluation
};

struct ScoreJob {
  std::string scoring_id;  // of the result's place
  std::string store_id;    // of the model's
  // A data set, or an upload when dataset_id is empty.
  std::string dataset_id;
  std::uint32_t dataset_version = 1;
  std::uint32_t shards = 0;
  std::string schema_json;
  std::string file_name;
  std::uint64_t raw_bytes = 0;
  bool keep_all = true;  // all columns that are not sensitive; else `keep`
  std::vector<std::string> keep;
  std::uint32_t threads = 1;
  std::string failpoints;
  security::SecretBytes data_key;  // opens the shards or the upload
  security::SecretBytes model_key;
  security::SecretBytes result_key;
};

struct WantInput {
  InputKind kind = InputKind::shard;
  std::uint32_t number = 0;  // of a shard, else 0
};

struct WantOutput {
  OutputKind kind = OutputKind::checkpoint;
  std::uint64_t number = 0;  // the step of a checkpoint, else 0
};

// Of input, output and kept.
struct Reply {
  std::string error;  // empty: yes
  Errc code = Errc::no_space;
};

struct SavedFile {
  OutputKind kind = OutputKind::checkpoint;
  std::uint64_t number = 0;
  std::uint64_t plain_bytes = 0;
  std::uint64_t stored_bytes = 0;
  security::Hash256 hash{};
};

struct StepMessage {
  std::string step;
  double share = 0;  // 0 to 1
  std::uint64_t rows = 0;
  std::uint32_t pass = 0;
};

struct MetricMessage {
  std::uint64_t step = 0;
  std::uint64_t rows = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> values;
};

struct LogMessage {
  std::string level;  // info, warn, error
  std::string text;
};

// Where it computes from now on.
struct DeviceMessage {
  std::string name;     // of a table: "cuda Orin", "cpu neon"; empty: nowhere any more
  std::string trouble;  // why not, or no longer, on the device that it was given; a part of a sentence
};

struct TrainedMessage {
  std::string headline_json;
  std::string signature_json;
  std::string summary_json;
  SavedFile model;
  SavedFile evaluation;
  bool elsewhere = false;  // not sent: another worker of the job delivers, and all above is empty
};

struct ScoreWarning {
  std::string code;
  std::string input;
  std::string detail;
};

struct ScoredMessage {
  std::uint64_t rows = 0;
  std::vector<ScoreWarning> warnings;
  SavedFile result;
};

// Of peer_send and peer_message. The body is here, or in the descriptor that comes with it.
struct PeerFrame {
  std::uint32_t peer = 0;   // to whom, or from whom
  std::uint64_t epoch = 0;  // of the sender
  std::uint32_t bytes = 0;  // of the body
  Bytes body;               // empty: in the descriptor, unless bytes is 0
};

// Of peer_sent and peer_taken.
struct PeerCredit {
  std::uint32_t count = 0;
};

struct MembershipMessage {
  std::uint64_t epoch = 0;
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> blocks;
  std::vector<std::vector<std::uint32_t>> turns = {};
};

// These came meanwhile, for turns to come: the worker may ask for them.
struct ShardsMessage {
  std::vector<std::uint32_t> shards;
};

Bytes encode(const TrainJob& message);  // holds keys: wipe it
Bytes encode(const ScoreJob& message);  // likewise
Bytes encode(const WantInput& message);
Bytes encode(const WantOutput& message);
Bytes encode(const Reply& message);
Bytes encode(const SavedFile& message);
Bytes encode(const StepMessage& message);
Bytes encode(const MetricMessage& message);
Bytes encode(const LogMessage& message);
Bytes encode(const DeviceMessage& message);
Bytes encode(const TrainedMessage& message);
Bytes encode(const ScoredMessage& message);
Bytes encode(const PeerFrame& message);
Bytes encode(const PeerCredit& message);
Bytes encode(const MembershipMessage& message);
Bytes encode(const ShardsMessage& message);

// Errc::corrupt for anything encode would not write.
Result<TrainJob> decode_train_job(ByteView body);
Result<ScoreJob> decode_score_job(ByteView body);
Result<WantInput> decode_want_input(ByteView body);
Result<WantOutput> decode_want_output(ByteView body);
Result<Reply> decode_reply(ByteView body);
Result<SavedFile> decode_saved(ByteView body);
Result<StepMessage> decode_step(ByteView body);
Result<MetricMessage> decode_metric(ByteView body);
Result<LogMessage> decode_log(ByteView body);
Result<DeviceMessage> decode_device(ByteView body);
Result<TrainedMessage> decode_trained(ByteView body);
Result<ScoredMessage> decode_scored(ByteView body);
Result<PeerFrame> decode_peer_frame(ByteView body);
Result<PeerCredit> decode_peer_credit(ByteView body);
Result<MembershipMessage> decode_membership(ByteView body);
Result<ShardsMessage> decode_shards(ByteView body);

inline constexpr std::size_t kMetricValuesMax = 64;
inline constexpr std::size_t kScoreWarningsMax = 100;
inline constexpr std::size_t kLogTextBytesMax = 2000;
inline constexpr std::size_t kPeerInlineBytesMax = 4096;
inline constexpr std::size_t kPeerMessageMax = 4u << 20;  // trainer/sync/peer_group.hpp
inline constexpr std::uint32_t kPeerUnreadMax = 16;       // messages that wait in a worker
inline constexpr std::uint32_t kPeerUnsentMax = 32;       // messages of a worker on their way
inline constexpr std::size_t kMembersMax = 1024;
inline constexpr std::size_t kTurnsMax = 16;
inline constexpr std::size_t kBlockNumbersMax = 1u << 20;
inline constexpr std::uint64_t kStepsMax = std::uint64_t{1} << 60;

}  // namespace samovar::jobs
