#include "daemon/jobs/job_message.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "security/wire.hpp"

namespace samovar::jobs {
namespace {

using security::WireReader;
using security::WireWriter;

constexpr std::size_t kIdBytesMax = 64;
constexpr std::size_t kErrorBytesMax = 4096;
constexpr std::size_t kPartBytesMax = 64 * 1024;  // of a step, metric or log
constexpr std::uint32_t kPartsMax = 64;

Error broken(std::string_view what) {
  return {Errc::corrupt, fmt::format("a message about a job is not in order: {}", what)};
}

std::string text(WireReader& in, std::size_t bytes_max) { return std::string(as_text(in.sized(bytes_max))); }
void put(WireWriter& out, std::string_view value) { out.sized(as_bytes(value)); }
void put(WireWriter& out, double value) { out.number(std::bit_cast<std::uint64_t>(value)); }
double real(WireReader& in) { return std::bit_cast<double>(in.number<std::uint64_t>()); }
void put(WireWriter& out, bool value) { out.number(static_cast<std::uint8_t>(value ? 1 : 0)); }
bool flag(WireReader& in, bool& good) {
  const auto value = in.number<std::uint8_t>();
  if (value > 1) good = false;
  return value == 1;
}

void begin(WireWriter& out, JobMessageKind kind) { out.number(static_cast<std::uint8_t>(kind)); }
bool begins(WireReader& in, JobMessageKind kind) {
  return in.number<std::uint8_t>() == static_cast<std::uint8_t>(kind);
}

void put(WireWriter& out, const WorkerRef& worker) {
  put(out, worker.job_id);
  out.number(worker.run);
  out.number(worker.number);
}
WorkerRef worker_of(WireReader& in, bool& good) {
  WorkerRef worker;
  worker.job_id = text(in, kIdBytesMax);
  worker.run = in.number<std::uint64_t>();
  worker.number = in.number<std::uint32_t>();
  if (worker.job_id.empty() || worker.run == 0 || worker.number == 0) good = false;
  return worker;
}

void put(WireWriter& out, const std::vector<std::uint32_t>& numbers) {
  out.number(static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint32_t number : numbers) out.number(number);
}
std::vector<std::uint32_t> numbers_of(WireReader& in, bool& good) {
  const auto count = in.number<std::uint32_t>();
  std::vector<std::uint32_t> numbers;
  if (count > kJobBlocksMax) {
    good = false;
    return numbers;
  }
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) numbers.push_back(in.number<std::uint32_t>());
  return numbers;
}

bool shards_of(WireReader& in, std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>& out) {
  const auto count = in.number<std::uint32_t>();
  bool good = count <= kJobShardsMax;
  for (std::uint32_t i = 0; i < count && good && in.ok(); ++i) {
    const auto shard = in.number<std::uint32_t>();
    good = shard < kJobShardsMax;
    out.emplace_back(shard, numbers_of(in, good));
  }
  return good;
}

template <class T>
Result<T> finished(const WireReader& in, bool good, T message, std::string_view what) {
  if (!good || !in.at_end()) return broken(what);
  return message;
}

}  // namespace

Result<JobMessageKind> kind_of(ByteView message) {
  if (message.empty() || message[0] < static_cast<std::uint8_t>(JobMessageKind::prepare) ||
      message[0] > static_cast<std::uint8_t>(JobMessageKind::history))
    return broken("its kind");
  return static_cast<JobMessageKind>(message[0]);
}

Bytes encode(const JobPrepare& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::prepare);
  put(out, message.worker);
  out.number(message.turn);
  put(out, message.shards);
  put(out, message.checkpoint);
  return body;
}

Result<JobPrepare> decode_job_prepare(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::prepare);
  JobPrepare message;
  message.worker = worker_of(in, good);
  message.turn = in.number<std::uint64_t>();
  message.shards = numbers_of(in, good);
  message.checkpoint = flag(in, good);
  return finished(in, good, std::move(message), "prepare");
}

Bytes encode(const JobEpoch& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::epoch);
  put(out, message.worker);
  out.number(message.epoch);
  out.number(message.parts);
  put(out, message.joining);
  out.number(static_cast<std::uint32_t>(message.members.size()));
  for (const auto& [number, node] : message.members) {
    out.number(number);
    put(out, node);
  }
  put(out, message.blocks);
  out.number(static_cast<std::uint32_t>(message.block_rows.size()));
  for (const auto& rows : message.block_rows) put(out, rows);
  if (message.turns.empty()) return body;
  out.number(static_cast<std::uint32_t>(message.turns.size()));
  for (const auto& blocks : message.turns) put(out, blocks);
  return body;
}

Result<JobEpoch> decode_job_epoch(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::epoch);
  JobEpoch message;
  message.worker = worker_of(in, good);
  message.epoch = in.number<std::uint64_t>();
  message.parts = in.number<std::uint32_t>();
  message.joining = flag(in, good);
  const auto members = in.number<std::uint32_t>();
  if (members > kJobMembersMax) return broken("epoch");
  bool named = false;
  for (std::uint32_t i = 0; i < members && in.ok(); ++i) {
    const auto number = in.number<std::uint32_t>();
    if (!message.members.empty() && number <= message.members.back().first) good = false;
    named = named || number == message.worker.number;
    message.members.emplace_back(number, text(in, kIdBytesMax));
  }
  message.blocks = numbers_of(in, good);
  const auto shards = in.number<std::uint32_t>();
  if (shards > kJobShardsMax) return broken("epoch");
  for (std::uint32_t i = 0; i < shards && good && in.ok(); ++i)
    message.block_rows.push_back(numbers_of(in, good));
  const bool more = good && in.ok() && !in.at_end();
  const auto turns = more ? in.number<std::uint32_t>() : 0;
  if (turns > kTurnsMax || (more && turns == 0)) return broken("epoch");
  for (std::uint32_t i = 0; i < turns && good && in.ok(); ++i) message.turns.push_back(numbers_of(in, good));
  good = good && named && message.epoch > 0 && message.parts > 0 && message.parts <= kPartsMax;
  return finished(in, good, std::move(message), "epoch");
}

Bytes encode(const JobStop& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::stop);
  put(out, message.worker);
  put(out, message.save);
  return body;
}

Result<JobStop> decode_job_stop(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::stop);
  JobStop message;
  message.worker = worker_of(in, good);
  message.save = flag(in, good);
  return finished(in, good, std::move(message), "stop");
}

Bytes encode(const JobNews& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::news);
  put(out, message.worker);
  out.number(static_cast<std::uint8_t>(message.what));
  switch (message.what) {
    case JobNews::What::ready:
      out.number(message.turn);
      out.number(static_cast<std::uint32_t>(message.shards.size()));
      for (const auto& [shard, rows] : message.shards) {
        out.number(shard);
        put(out, rows);
      }
      break;
    case JobNews::What::alive:
      put(out, message.watts);
      put(out, message.watts_estimated);
      put(out, message.joules);
      out.number(message.bytes_sent);
      out.number(message.bytes_received);
      break;
    case JobNews::What::energy:
      put(out, message.joules_error);
      put(out, message.busy_seconds);
      put(out, message.duty_seconds);
      break;
    case JobNews::What::step:
      out.sized(encode(message.step));
      break;
    case JobNews::What::metric:
      out.sized(encode(message.metric));
      break;
    case JobNews::What::log:
      out.sized(encode(message.log));
      break;
    case JobNews::What::device:
      out.sized(encode(message.device));
      break;
    case JobNews::What::ended:
      put(out, message.good);
      out.number(static_cast<std::uint8_t>(message.code));
      put(out, message.error.substr(0, kErrorBytesMax));
      break;
  }
  return body;
}

Result<JobNews> decode_job_news(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::news);
  JobNews message;
  message.worker = worker_of(in, good);
  message.what = static_cast<JobNews::What>(in.number<std::uint8_t>());
  switch (message.what) {
    case JobNews::What::ready:
      message.turn = in.number<std::uint64_t>();
      good = shards_of(in, message.shards) && good;
      break;
    case JobNews::What::alive:
      message.watts = real(in);
      message.watts_estimated = flag(in, good);
      message.joules = real(in);
      message.bytes_sent = in.number<std::uint64_t>();
      message.bytes_received = in.number<std::uint64_t>();
      good = good && std::isfinite(message.watts) && std::isfinite(message.joules) && message.joules >= 0;
      break;
    case JobNews::What::energy:
      for (double* value : {&message.joules_error, &message.busy_seconds, &message.duty_seconds}) {
        *value = real(in);
        good = good && std::isfinite(*value) && *value >= 0;
      }
      break;
    case JobNews::What::step: {
      SAMOVAR_TRY(message.step, decode_step(in.sized(kPartBytesMax)));
      break;
    }
    case JobNews::What::metric: {
      SAMOVAR_TRY(message.metric, decode_metric(in.sized(kPartBytesMax)));
      break;
    }
    case JobNews::What::log: {
      SAMOVAR_TRY(message.log, decode_log(in.sized(kPartBytesMax)));
      break;
    }
    case JobNews::What::device: {
      SAMOVAR_TRY(message.device, decode_device(in.sized(kPartBytesMax)));
      break;
    }
    case JobNews::What::ended: {
      message.good = flag(in, good);
      const auto code = in.number<std::uint8_t>();
      good = good && code <= static_cast<std::uint8_t>(Errc::internal);
      message.code = static_cast<Errc>(code);
      message.error = text(in, kErrorBytesMax);
      break;
    }
    default:
      good = false;
  }
  return finished(in, good, std::move(message), "news");
}

Bytes encode(const JobPiece& message) {
  Bytes body;
  body.reserve(message.bytes.size() + 256);
  WireWriter out(body);
  begin(out, JobMessageKind::piece);
  put(out, message.job_id);
  out.number(message.run);
  out.number(message.from);
  out.number(message.to);
  out.number(message.epoch);
  out.number(message.message);
  out.number(message.total);
  out.number(message.offset);
  out.sized(message.bytes);
  return body;
}

Result<JobPiece> decode_job_piece(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::piece);
  JobPiece message;
  message.job_id = text(in, kIdBytesMax);
  message.run = in.number<std::uint64_t>();
  message.from = in.number<std::uint32_t>();
  message.to = in.number<std::uint32_t>();
  message.epoch = in.number<std::uint64_t>();
  message.message = in.number<std::uint64_t>();
  message.total = in.number<std::uint32_t>();
  message.offset = in.number<std::uint32_t>();
  message.bytes = to_bytes(in.sized(kJobPieceBytesMax));
  good = good && !message.job_id.empty() && message.from != message.to &&
         message.total <= kPeerBodyBytesMax && message.offset <= message.total &&
         message.bytes.size() <= message.total - message.offset &&
         (!message.bytes.empty() || message.total == 0);
  return finished(in, good, std::move(message), "piece");
}

Bytes encode(const JobLive& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::live);
  put(out, message.job_id);
  put(out, message.json);
  return body;
}

Result<JobLive> decode_job_live(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::live);
  JobLive message;
  message.job_id = text(in, kIdBytesMax);
  message.json = text(in, kLiveBytesMax);
  good = good && !message.job_id.empty();
  return finished(in, good, std::move(message), "live");
}

Bytes encode(const JobHistoryAsk& message) {
  Bytes body;
  WireWriter out(body);
  begin(out, JobMessageKind::history);
  put(out, message.job_id);
  return body;
}

Result<JobHistoryAsk> decode_job_history_ask(ByteView body) {
  WireReader in(body);
  bool good = begins(in, JobMessageKind::history);
  JobHistoryAsk message;
  message.job_id = text(in, kIdBytesMax);
  good = good && !message.job_id.empty();
  return finished(in, good, std::move(message), "history");
}

}  // namespace samovar::jobs
