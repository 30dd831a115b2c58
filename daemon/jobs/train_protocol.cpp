#include "daemon/jobs/train_protocol.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "daemon/ingest/worker_protocol.hpp"
#include "security/wire.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::jobs {
namespace {

using security::SecretBytes;
using security::WireReader;
using security::WireWriter;

constexpr std::size_t kTextBytesMax = 4u << 20;  // a schema or a signature of many columns
constexpr std::size_t kShortBytesMax = 4096;
constexpr std::size_t kIdBytesMax = 64;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kWordBytesMax = 32;
constexpr std::size_t kKeyBytesMax = 64;
constexpr std::uint32_t kThreadsMax = 1024;
// Numbers of what is no checkpoint lie above all steps.
constexpr std::uint64_t kOthers = std::uint64_t{1} << 63;

Error broken(std::string_view what) {
  return {Errc::corrupt, fmt::format("a message of the training worker is not in order: {}", what)};
}

std::string text(WireReader& in, std::size_t bytes_max) { return std::string(as_text(in.sized(bytes_max))); }
void put(WireWriter& out, std::string_view value) { out.sized(as_bytes(value)); }
void put(WireWriter& out, double value) { out.number(std::bit_cast<std::uint64_t>(value)); }
double real(WireReader& in) { return std::bit_cast<double>(in.number<std::uint64_t>()); }
SecretBytes key(WireReader& in) { return SecretBytes::copy_of(in.sized(kKeyBytesMax)); }

template <class T>
Result<T> finished(const WireReader& in, bool good, T message, std::string_view what) {
  if (!good || !in.at_end()) return broken(what);
  return message;
}

bool fits(InputKind kind, std::uint32_t number) {
  if (kind == InputKind::shard) return number < ingest::kWorkerShardsMax;
  return kind >= InputKind::shard && kind <= InputKind::upload && number == 0;
}

bool fits(OutputKind kind, std::uint64_t number) {
  if (kind == OutputKind::checkpoint) return number > 0 && number < kStepsMax;
  return kind >= OutputKind::checkpoint && kind <= OutputKind::result && number == 0;
}

void put_saved(WireWriter& out, const SavedFile& file) {
  out.number(static_cast<std::uint8_t>(file.kind));
  out.number(file.number);
  out.number(file.plain_bytes);
  out.number(file.stored_bytes);
  out.raw(file.hash);
}

SavedFile get_saved(WireReader& in, bool& good) {
  SavedFile file;
  file.kind = static_cast<OutputKind>(in.number<std::uint8_t>());
  file.number = in.number<std::uint64_t>();
  file.plain_bytes = in.number<std::uint64_t>();
  file.stored_bytes = in.number<std::uint64_t>();
  file.hash = in.array<security::Hash256>();
  if (!fits(file.kind, file.number)) good = false;
  return file;
}

void put(WireWriter& out, const std::vector<std::uint32_t>& numbers) {
  out.number(static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint32_t number : numbers) out.number(number);
}
std::vector<std::uint32_t> numbers(WireReader& in, std::size_t count_max, bool& good) {
  std::vector<std::uint32_t> out;
  const auto count = in.number<std::uint32_t>();
  if (count > count_max) good = false;
  for (std::uint32_t i = 0; i < count && good && in.ok(); ++i) out.push_back(in.number<std::uint32_t>());
  return out;
}
void put_turns(WireWriter& out, const std::vector<std::vector<std::uint32_t>>& turns) {
  out.number(static_cast<std::uint32_t>(turns.size()));
  for (const auto& blocks : turns) put(out, blocks);
}
bool rises(const std::vector<std::uint32_t>& numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] <= numbers[i - 1]) return false;
  return true;
}

// The first are those of the worker, and none is without.
std::vector<std::vector<std::uint32_t>> get_turns(WireReader& in, const std::vector<std::uint32_t>& blocks,
                                                  bool& good) {
  std::vector<std::vector<std::uint32_t>> turns;
  const auto count = in.number<std::uint32_t>();
  if (count > kTurnsMax) good = false;
  for (std::uint32_t i = 0; i < count && good && in.ok(); ++i) {
    turns.push_back(numbers(in, kBlockNumbersMax, good));
    good = good && !turns.back().empty() && rises(turns.back());
  }
  good = good && (turns.empty() || turns.front() == blocks);
  return turns;
}

}  // namespace

std::string output_name(OutputKind kind, std::uint64_t number) {
  switch (kind) {
    case OutputKind::checkpoint:
      return fmt::format("checkpoint-{}", number);
    case OutputKind::model:
      return "model";
    case OutputKind::evaluation:
      return "evaluation";
    case OutputKind::result:
      return "result";
  }
  return "result";
}

security::SealedFileId output_place(std::string_view owner, OutputKind kind, std::uint64_t number) {
  if (kind != OutputKind::checkpoint) number = kOthers | static_cast<std::uint64_t>(kind);
  return {std::string(owner), number, 1};
}

Bytes encode(const TrainJob& message) {
  Bytes body;
  // Reserved, so that growing leaves no copies of the keys behind.
  std::size_t size = 1024 + message.spec_json.size() + message.schema_json.size() + message.failpoints.size();
  size += 4 * (message.members.size() + message.blocks.size());
  for (const auto& rows : message.block_rows) size += 4 + 4 * rows.size();
  for (const auto& blocks : message.turns) size += 4 + 4 * blocks.size();
  body.reserve(size);
  WireWriter out(body);
  put(out, message.job_id);
  put(out, message.store_id);
  put(out, message.spec_json);
  put(out, message.schema_json);
  put(out, message.dataset_id);
  out.number(message.dataset_version);
  out.number(message.shards);
  out.number(message.checkpoint_step);
  out.number(message.threads);
  out.number(message.memory_bytes);
  out.number(message.checkpoint_ms);
  out.number(message.checkpoint_steps);
  out.number(message.member);
  out.number(static_cast<std::uint8_t>(message.joining ? 1 : 0));
  out.number(message.epoch);
  put(out, message.members);
  put(out, message.blocks);
  out.number(message.parts);
  out.number(static_cast<std::uint32_t>(message.block_rows.size()));
  for (const auto& rows : message.block_rows) put(out, rows);
  put_turns(out, message.turns);
  put(out, message.failpoints);
  out.sized(message.data_key.view());
  out.sized(message.job_key.view());
  out.sized(message.model_key.view());
  return body;
}

Result<TrainJob> decode_train_job(ByteView body) {
  WireReader in(body);
  TrainJob job;
  job.job_id = text(in, kIdBytesMax);
  job.store_id = text(in, kIdBytesMax);
  job.spec_json = text(in, kTextBytesMax);
  job.schema_json = text(in, kTextBytesMax);
  job.dataset_id = text(in, kIdBytesMax);
  job.dataset_version = in.number<std::uint32_t>();
  job.shards = in.number<std::uint32_t>();
  job.checkpoint_step = in.number<std::uint64_t>();
  job.threads = in.number<std::uint32_t>();
  job.memory_bytes = in.number<std::uint64_t>();
  job.checkpoint_ms = in.number<std::uint32_t>();
  job.checkpoint_steps = in.number<std::uint64_t>();
  bool listed = true;
  job.member = in.number<std::uint32_t>();
  const auto joining = in.number<std::uint8_t>();
  job.joining = joining != 0;
  job.epoch = in.number<std::uint64_t>();
  job.members = numbers(in, kMembersMax, listed);
  job.blocks = numbers(in, kBlockNumbersMax, listed);
  job.parts = in.number<std::uint32_t>();
  const auto shards = in.number<std::uint32_t>();
  if (shards > ingest::kWorkerShardsMax) return broken("train");
  for (std::uint32_t i = 0; i < shards && in.ok() && listed; ++i)
    job.block_rows.push_back(numbers(in, kBlockNumbersMax, listed));
  job.turns = get_turns(in, job.blocks, listed);
  job.failpoints = text(in, kShortBytesMax);
  job.data_key = key(in);
  job.job_key = key(in);
  job.model_key = key(in);
  listed = listed && joining <= 1 && rises(job.members) && rises(job.blocks) && job.parts > 0 &&
           (job.block_rows.empty() || job.block_rows.size() == job.shards);
  const bool good = listed && job.threads > 0 && job.threads <= kThreadsMax &&
                    job.shards <= ingest::kWorkerShardsMax && job.checkpoint_step < kStepsMax;
  return finished(in, good, std::move(job), "train");
}

Bytes encode(const ScoreJob& message) {
  Bytes body;
  std::size_t size = 1024 + message.schema_json.size() + message.file_name.size() + message.failpoints.size();
  for (const auto& name : message.keep) size += 4 + name.size();
  body.reserve(size);
  WireWriter out(body);
  put(out, message.scoring_id);
  put(out, message.store_id);
  put(out, message.dataset_id);
  out.number(message.dataset_version);
  out.number(message.shards);
  put(out, message.schema_json);
  put(out, message.file_name);
  out.number(message.raw_bytes);
  out.number(static_cast<std::uint8_t>(message.keep_all ? 1 : 0));
  out.number(static_cast<std::uint32_t>(message.keep.size()));
  for (const auto& name : message.keep) put(out, name);
  out.number(message.threads);
  put(out, message.failpoints);
  out.sized(message.data_key.view());
  out.sized(message.model_key.view());
  out.sized(message.result_key.view());
  return body;
}

Result<ScoreJob> decode_score_job(ByteView body) {
  WireReader in(body);
  ScoreJob job;
  job.scoring_id = text(in, kIdBytesMax);
  job.store_id = text(in, kIdBytesMax);
  job.dataset_id = text(in, kIdBytesMax);
  job.dataset_version = in.number<std::uint32_t>();
  job.shards = in.number<std::uint32_t>();
  job.schema_json = text(in, kTextBytesMax);
  job.file_name = text(in, kShortBytesMax);
  job.raw_bytes = in.number<std::uint64_t>();
  const auto keep_all = in.number<std::uint8_t>();
  job.keep_all = keep_all == 1;
  const auto keep = in.number<std::uint32_t>();
  if (keep > trainer::kColumnsMax) return broken("score");
  for (std::uint32_t i = 0; i < keep && in.ok(); ++i) job.keep.push_back(text(in, kNameBytesMax));
  job.threads = in.number<std::uint32_t>();
  job.failpoints = text(in, kShortBytesMax);
  job.data_key = key(in);
  job.model_key = key(in);
  job.result_key = key(in);
  const bool good = keep_all <= 1 && job.threads > 0 && job.threads <= kThreadsMax &&
                    job.shards <= ingest::kWorkerShardsMax;
  return finished(in, good, std::move(job), "score");
}

Bytes encode(const WantInput& message) {
  Bytes body;
  WireWriter out(body);
  out.number(static_cast<std::uint8_t>(message.kind));
  out.number(message.number);
  return body;
}

Result<WantInput> decode_want_input(ByteView body) {
  WireReader in(body);
  WantInput message;
  message.kind = static_cast<InputKind>(in.number<std::uint8_t>());
  message.number = in.number<std::uint32_t>();
  return finished(in, fits(message.kind, message.number), message, "want_input");
}

Bytes encode(const WantOutput& message) {
  Bytes body;
  WireWriter out(body);
  out.number(static_cast<std::uint8_t>(message.kind));
  out.number(message.number);
  return body;
}

Result<WantOutput> decode_want_output(ByteView body) {
  WireReader in(body);
  WantOutput message;
  message.kind = static_cast<OutputKind>(in.number<std::uint8_t>());
  message.number = in.number<std::uint64_t>();
  return finished(in, fits(message.kind, message.number), message, "want_output");
}

Bytes encode(const Reply& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.error);
  out.number(static_cast<std::uint8_t>(message.code));
  return body;
}

Result<Reply> decode_reply(ByteView body) {
  WireReader in(body);
  Reply message;
  message.error = text(in, kShortBytesMax);
  message.code = static_cast<Errc>(in.number<std::uint8_t>());
  return finished(in, message.code <= Errc::internal, std::move(message), "reply");
}

Bytes encode(const SavedFile& message) {
  Bytes body;
  WireWriter out(body);
  put_saved(out, message);
  return body;
}

Result<SavedFile> decode_saved(ByteView body) {
  WireReader in(body);
  bool good = true;
  const SavedFile message = get_saved(in, good);
  return finished(in, good, message, "saved");
}

Bytes encode(const StepMessage& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.step);
  put(out, message.share);
  out.number(message.rows);
  out.number(message.pass);
  return body;
}

Result<StepMessage> decode_step(ByteView body) {
  WireReader in(body);
  StepMessage message;
  message.step = text(in, kWordBytesMax);
  message.share = real(in);
  message.rows = in.number<std::uint64_t>();
  message.pass = in.number<std::uint32_t>();
  const bool good = message.share >= 0 && message.share <= 1;
  return finished(in, good, std::move(message), "step");
}

Bytes encode(const MetricMessage& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.step);
  out.number(message.rows);
  put(out, message.seconds);
  out.number(static_cast<std::uint32_t>(message.values.size()));
  for (const auto& [name, value] : message.values) {
    put(out, name);
    put(out, value);
  }
  return body;
}

Result<MetricMessage> decode_metric(ByteView body) {
  WireReader in(body);
  MetricMessage message;
  message.step = in.number<std::uint64_t>();
  message.rows = in.number<std::uint64_t>();
  message.seconds = real(in);
  const auto values = in.number<std::uint32_t>();
  if (values > kMetricValuesMax) return broken("metric");
  bool good = std::isfinite(message.seconds) && message.seconds >= 0;
  for (std::uint32_t i = 0; i < values && in.ok(); ++i) {
    std::string name = text(in, kWordBytesMax);
    if (name.empty()) good = false;
    message.values.emplace_back(std::move(name), real(in));
  }
  return finished(in, good, std::move(message), "metric");
}

Bytes encode(const LogMessage& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.level);
  put(out, message.text);
  return body;
}

Result<LogMessage> decode_log(ByteView body) {
  WireReader in(body);
  LogMessage message;
  message.level = text(in, kWordBytesMax);
  message.text = text(in, kLogTextBytesMax);
  const bool good = message.level == "info" || message.level == "warn" || message.level == "error";
  return finished(in, good, std::move(message), "log");
}

Bytes encode(const DeviceMessage& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.name);
  put(out, message.trouble);
  return body;
}

Result<DeviceMessage> decode_device(ByteView body) {
  WireReader in(body);
  DeviceMessage message;
  message.name = text(in, ingest::kDeviceNameBytesMax);
  message.trouble = text(in, ingest::kDeviceTroubleBytesMax);
  return finished(in, true, std::move(message), "device");
}

Bytes encode(const TrainedMessage& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.headline_json);
  put(out, message.signature_json);
  put(out, message.summary_json);
  put_saved(out, message.model);
  put_saved(out, message.evaluation);
  return body;
}

Result<TrainedMessage> decode_trained(ByteView body) {
  WireReader in(body);
  bool good = true;
  TrainedMessage message;
  message.headline_json = text(in, kTextBytesMax);
  message.signature_json = text(in, kTextBytesMax);
  message.summary_json = text(in, kTextBytesMax);
  message.model = get_saved(in, good);
  message.evaluation = get_saved(in, good);
  if (message.model.kind != OutputKind::model || message.evaluation.kind != OutputKind::evaluation)
    good = false;
  return finished(in, good, std::move(message), "trained");
}

Bytes encode(const ScoredMessage& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.rows);
  out.number(static_cast<std::uint32_t>(message.warnings.size()));
  for (const auto& warning : message.warnings) {
    put(out, warning.code);
    put(out, warning.input);
    put(out, warning.detail);
  }
  put_saved(out, message.result);
  return body;
}

Result<ScoredMessage> decode_scored(ByteView body) {
  WireReader in(body);
  bool good = true;
  ScoredMessage message;
  message.rows = in.number<std::uint64_t>();
  const auto warnings = in.number<std::uint32_t>();
  if (warnings > kScoreWarningsMax) return broken("scored");
  for (std::uint32_t i = 0; i < warnings && in.ok(); ++i) {
    ScoreWarning warning;
    warning.code = text(in, kWordBytesMax);
    warning.input = text(in, kNameBytesMax);
    warning.detail = text(in, kLogTextBytesMax);
    message.warnings.push_back(std::move(warning));
  }
  message.result = get_saved(in, good);
  if (message.result.kind != OutputKind::result) good = false;
  return finished(in, good, std::move(message), "scored");
}

Bytes encode(const PeerFrame& message) {
  Bytes body;
  body.reserve(32 + message.body.size());
  WireWriter out(body);
  out.number(message.peer);
  out.number(message.epoch);
  out.number(message.bytes);
  out.sized(message.body);
  return body;
}

Result<PeerFrame> decode_peer_frame(ByteView body) {
  WireReader in(body);
  PeerFrame message;
  message.peer = in.number<std::uint32_t>();
  message.epoch = in.number<std::uint64_t>();
  message.bytes = in.number<std::uint32_t>();
  message.body = to_bytes(in.sized(kPeerInlineBytesMax));
  const bool good = message.peer > 0 && message.bytes <= kPeerMessageMax &&
                    (message.body.empty() || message.body.size() == message.bytes);
  return finished(in, good, std::move(message), "peer_send");
}

Bytes encode(const PeerCredit& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.count);
  return body;
}

Result<PeerCredit> decode_peer_credit(ByteView body) {
  WireReader in(body);
  const PeerCredit message{in.number<std::uint32_t>()};
  return finished(in, message.count > 0 && message.count <= kPeerUnsentMax, message, "peer_taken");
}

Bytes encode(const MembershipMessage& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.epoch);
  put(out, message.members);
  put(out, message.blocks);
  put_turns(out, message.turns);
  return body;
}

Result<MembershipMessage> decode_membership(ByteView body) {
  WireReader in(body);
  bool good = true;
  MembershipMessage message;
  message.epoch = in.number<std::uint64_t>();
  message.members = numbers(in, kMembersMax, good);
  message.blocks = numbers(in, kBlockNumbersMax, good);
  message.turns = get_turns(in, message.blocks, good);
  good = good && message.epoch > 0 && !message.members.empty() && rises(message.members) &&
         rises(message.blocks);
  return finished(in, good, std::move(message), "membership");
}

Bytes encode(const ShardsMessage& message) {
  Bytes body;
  WireWriter out(body);
  put(out, message.shards);
  return body;
}

Result<ShardsMessage> decode_shards(ByteView body) {
  WireReader in(body);
  bool good = true;
  ShardsMessage message;
  message.shards = numbers(in, ingest::kWorkerShardsMax, good);
  good = good && rises(message.shards);
  return finished(in, good, std::move(message), "shards");
}

}  // namespace samovar::jobs
