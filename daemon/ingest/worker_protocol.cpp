#include "daemon/ingest/worker_protocol.hpp"

#include <fmt/format.h>

#include "security/wire.hpp"

namespace samovar::ingest {
namespace {

using security::SecretBytes;
using security::WireReader;
using security::WireWriter;

constexpr std::size_t kTextBytesMax = kFrameBytesMax;
constexpr std::size_t kShortBytesMax = 4096;
constexpr std::size_t kKeyBytesMax = 64;
constexpr std::size_t kNotesMax = 1000;
constexpr std::uint32_t kThreadsMax = 1024;

Error broken(std::string_view what) {
  return {Errc::corrupt, fmt::format("the message of the ingest worker is not in order: {}", what)};
}

std::string text(WireReader& in, std::size_t bytes_max) { return std::string(as_text(in.sized(bytes_max))); }

void put_flag(WireWriter& out, bool flag) { out.number(static_cast<std::uint8_t>(flag ? 1 : 0)); }

// Anything but 0 and 1 is refused, so that each message has one form.
bool flag(WireReader& in, bool& good) {
  const auto value = in.number<std::uint8_t>();
  if (value > 1) good = false;
  return value == 1;
}

bool known(FileKind kind) { return kind >= FileKind::shard && kind <= FileKind::bad_rows; }
bool fits(FileKind kind, std::uint32_t number) {
  return known(kind) && (kind == FileKind::shard ? number < kWorkerShardsMax : number == 0);
}

void put_change(WireWriter& out, const ColumnChange& change) {
  out.sized(as_bytes(change.column));
  put_flag(out, change.rename.has_value());
  if (change.rename) out.sized(as_bytes(*change.rename));
  out.number(static_cast<std::uint8_t>(change.type ? 1 + static_cast<unsigned>(*change.type) : 0));
  out.number(static_cast<std::uint8_t>(change.sensitive ? (*change.sensitive ? 2 : 1) : 0));
}

ColumnChange get_change(WireReader& in, bool& good) {
  ColumnChange change;
  change.column = text(in, kShortBytesMax);
  if (flag(in, good)) change.rename = text(in, kShortBytesMax);
  const auto type = in.number<std::uint8_t>();
  if (type > 1 + static_cast<unsigned>(trainer::ColumnType::sparse)) good = false;
  if (type != 0) change.type = static_cast<trainer::ColumnType>(type - 1);
  const auto sensitive = in.number<std::uint8_t>();
  if (sensitive > 2) good = false;
  if (sensitive != 0) change.sensitive = sensitive == 2;
  return change;
}

template <class T>
Result<T> finished(const WireReader& in, bool good, T message, std::string_view what) {
  if (!good || !in.at_end()) return broken(what);
  return message;
}

}  // namespace

std::string file_name_of(FileKind kind, std::uint32_t number) {
  if (kind == FileKind::profile) return "profile";
  if (kind == FileKind::bad_rows) return "bad-rows";
  return std::to_string(number);
}

Bytes encode(const WorkerReady& message) {
  Bytes body;
  WireWriter out(body);
  put_flag(out, message.own_network);
  out.sized(as_bytes(message.device));
  out.number(message.generation);
  out.sized(as_bytes(message.trouble));
  return body;
}

Result<WorkerReady> decode_ready(ByteView body) {
  WireReader in(body);
  bool good = true;
  WorkerReady message;
  message.own_network = flag(in, good);
  message.device = text(in, kDeviceNameBytesMax);
  message.generation = in.number<std::uint32_t>();
  message.trouble = text(in, kDeviceTroubleBytesMax);
  return finished(in, good, message, "ready");
}

Bytes encode(const WorkerJob& message) {
  Bytes body;
  // Reserved, so that growing leaves no copies of the keys behind.
  std::size_t size = 1024 + message.file_name.size() + message.hints_json.size() + message.schema_json.size();
  for (const auto& change : message.changes)
    size += 16 + change.column.size() + (change.rename ? change.rename->size() : 0);
  body.reserve(size);
  WireWriter out(body);
  out.number(static_cast<std::uint8_t>(message.mode));
  out.sized(as_bytes(message.file_name));
  out.sized(as_bytes(message.hints_json));
  out.number(static_cast<std::uint32_t>(message.changes.size()));
  for (const auto& change : message.changes) put_change(out, change);
  out.sized(as_bytes(message.schema_json));
  out.sized(as_bytes(message.dataset_id));
  out.number(message.version);
  out.number(message.seed);
  out.number(message.raw_bytes);
  out.number(message.threads);
  out.number(message.memory_bytes_max);
  out.sized(as_bytes(message.failpoints));
  out.sized(message.source_key.view());
  out.sized(message.data_key.view());
  return body;
}

Result<WorkerJob> decode_job(ByteView body) {
  WireReader in(body);
  bool good = true;
  WorkerJob job;
  job.mode = static_cast<WorkerMode>(in.number<std::uint8_t>());
  if (job.mode < WorkerMode::inspect || job.mode > WorkerMode::trial) good = false;
  job.file_name = text(in, kShortBytesMax);
  job.hints_json = text(in, kTextBytesMax);
  const auto changes = in.number<std::uint32_t>();
  if (changes > trainer::kColumnsMax) return broken("job");
  for (std::uint32_t i = 0; i < changes && in.ok(); ++i) job.changes.push_back(get_change(in, good));
  job.schema_json = text(in, kTextBytesMax);
  job.dataset_id = text(in, 64);
  job.version = in.number<std::uint32_t>();
  job.seed = in.number<std::uint64_t>();
  job.raw_bytes = in.number<std::uint64_t>();
  job.threads = in.number<std::uint32_t>();
  if (job.threads == 0 || job.threads > kThreadsMax) good = false;
  job.memory_bytes_max = in.number<std::uint64_t>();
  job.failpoints = text(in, kShortBytesMax);
  job.source_key = SecretBytes::copy_of(in.sized(kKeyBytesMax));
  job.data_key = SecretBytes::copy_of(in.sized(kKeyBytesMax));
  return finished(in, good, std::move(job), "job");
}

Bytes encode(const WantFile& message) {
  Bytes body;
  WireWriter out(body);
  out.number(static_cast<std::uint8_t>(message.kind));
  out.number(message.number);
  return body;
}

Result<WantFile> decode_want_file(ByteView body) {
  WireReader in(body);
  WantFile message;
  message.kind = static_cast<FileKind>(in.number<std::uint8_t>());
  message.number = in.number<std::uint32_t>();
  return finished(in, fits(message.kind, message.number), message, "want_file");
}

Bytes encode(const FileAnswer& message) {
  Bytes body;
  WireWriter out(body);
  out.sized(as_bytes(message.error));
  return body;
}

Result<FileAnswer> decode_file_answer(ByteView body) {
  WireReader in(body);
  FileAnswer message{text(in, kShortBytesMax)};
  return finished(in, true, std::move(message), "file");
}

Bytes encode(const WorkerProgress& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.raw_bytes);
  out.number(message.rows);
  out.number(message.bad_rows);
  return body;
}

Result<WorkerProgress> decode_progress(ByteView body) {
  WireReader in(body);
  WorkerProgress message;
  message.raw_bytes = in.number<std::uint64_t>();
  message.rows = in.number<std::uint64_t>();
  message.bad_rows = in.number<std::uint64_t>();
  return finished(in, true, message, "progress");
}

Bytes encode(const WorkerFound& message) {
  Bytes body;
  WireWriter(body).sized(as_bytes(message.detection_json));
  return body;
}

Result<WorkerFound> decode_found(ByteView body) {
  WireReader in(body);
  WorkerFound message{text(in, kTextBytesMax)};
  return finished(in, true, std::move(message), "found");
}

Bytes encode(const WorkerReport& message) {
  Bytes body;
  WireWriter out(body);
  out.number(message.rows);
  out.number(message.bad_rows);
  out.sized(as_bytes(message.schema_json));
  out.sized(as_bytes(message.options_json));
  out.number(static_cast<std::uint32_t>(message.notes.size()));
  for (const auto& note : message.notes) out.sized(as_bytes(note));
  out.number(static_cast<std::uint32_t>(message.files.size()));
  for (const auto& file : message.files) {
    out.number(static_cast<std::uint8_t>(file.kind));
    out.number(file.number);
    out.number(file.rows);
    out.number(file.blocks);
    out.number(file.plain_bytes);
    out.number(file.stored_bytes);
    out.raw(file.hash);
  }
  return body;
}

Result<WorkerReport> decode_report(ByteView body) {
  WireReader in(body);
  bool good = true;
  WorkerReport message;
  message.rows = in.number<std::uint64_t>();
  message.bad_rows = in.number<std::uint64_t>();
  message.schema_json = text(in, kTextBytesMax);
  message.options_json = text(in, kTextBytesMax);
  const auto notes = in.number<std::uint32_t>();
  if (notes > kNotesMax) return broken("report");
  for (std::uint32_t i = 0; i < notes && in.ok(); ++i) message.notes.push_back(text(in, kShortBytesMax));
  const auto files = in.number<std::uint32_t>();
  if (files > kWorkerShardsMax + 2) return broken("report");
  for (std::uint32_t i = 0; i < files && in.ok(); ++i) {
    StoredFile file;
    file.kind = static_cast<FileKind>(in.number<std::uint8_t>());
    file.number = in.number<std::uint32_t>();
    file.rows = in.number<std::uint64_t>();
    file.blocks = in.number<std::uint32_t>();
    file.plain_bytes = in.number<std::uint64_t>();
    file.stored_bytes = in.number<std::uint64_t>();
    file.hash = in.array<security::Hash256>();
    if (!fits(file.kind, file.number)) good = false;
    message.files.push_back(file);
  }
  return finished(in, good, std::move(message), "report");
}

Bytes encode(const WorkerFailed& message) {
  Bytes body;
  WireWriter out(body);
  out.number(static_cast<std::uint8_t>(message.code));
  out.sized(as_bytes(message.message));
  return body;
}

Result<WorkerFailed> decode_failed(ByteView body) {
  WireReader in(body);
  WorkerFailed message;
  message.code = static_cast<Errc>(in.number<std::uint8_t>());
  message.message = text(in, kShortBytesMax);
  return finished(in, message.code <= Errc::internal, std::move(message), "failed");
}

std::array<std::uint8_t, kFrameHeadBytes> encode_head(const FrameHead& head) {
  std::array<std::uint8_t, kFrameHeadBytes> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(head.body_bytes >> (8 * i));
  bytes[4] = static_cast<std::uint8_t>(head.type);
  return bytes;
}

Result<FrameHead> decode_head(ByteView bytes) {
  WireReader in(bytes);
  FrameHead head;
  head.body_bytes = in.number<std::uint32_t>();
  head.type = static_cast<MessageType>(in.number<std::uint8_t>());
  const bool good = head.body_bytes <= kFrameBytesMax && head.type >= MessageType::ready &&
                    head.type <= MessageType::device;
  return finished(in, good, head, "its head");
}

}  // namespace samovar::ingest
