#include "daemon/worker/job.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/worker/sink.hpp"
#include "daemon/worker/upload_source.hpp"

namespace samovar::worker {
namespace {

using namespace ingest;  // NOLINT: this file is that vocabulary

constexpr std::chrono::milliseconds kProgressEvery{500};

Result<Detection> look_at(const WorkerJob& job, const Descriptor& upload) {
  const auto json = nlohmann::json::parse(job.hints_json, nullptr, false);
  if (json.is_discarded()) return Error{Errc::corrupt, "samovard sent hints that are no JSON"};
  SAMOVAR_TRY(const ParseHints hints, parse_hints(json));
  SAMOVAR_TRY(const auto source, UploadSource::open(upload, job.source_key));
  return detect(*source, job.file_name, hints);
}

// A new version keeps what was settled for the one before, column by column in the file's order.
Result<void> settle_columns(const WorkerJob& job, trainer::Schema& schema) {
  if (!job.schema_json.empty()) {
    SAMOVAR_TRY(trainer::Schema settled, trainer::decode_schema(job.schema_json));
    if (settled.columns.size() != schema.columns.size())
      return Error{Errc::conflict,
                   "the file is read into another number of columns than before: choose how to "
                   "read it again, and then the types"};
    schema = std::move(settled);
  }
  SAMOVAR_CHECK(apply(job.changes, schema));
  // The manifest could not hold it: better to know before an hour's work than after.
  if (trainer::encode_schema(schema).size() > cluster::kSchemaBytesMax)
    return Error{Errc::invalid,
                 "the names of all columns together are too long to keep: shorten them in the file's header"};
  return {};
}

IngestPlan plan_of(const WorkerJob& job, const Detection& detection) {
  IngestPlan plan;
  plan.options = detection.options;
  for (const auto& column : detection.columns) plan.schema.columns.push_back(column.spec);
  plan.seed = job.seed;
  plan.raw_bytes = job.raw_bytes;
  plan.threads = job.threads;
  if (job.memory_bytes_max != 0) plan.memory_bytes_max = job.memory_bytes_max;
  return plan;
}

// At most twice a second; false once samovard is gone.
class Reporter {
 public:
  explicit Reporter(WorkerChannel& channel) : channel_(channel) {}
  bool operator()(const IngestProgress& progress) {
    const MonoTime now = real_clock().mono();
    if (now - last_ < kProgressEvery) return true;
    last_ = now;
    const WorkerProgress message{progress.raw_bytes, progress.rows, progress.bad_rows};
    return channel_.send(MessageType::progress, encode(message)).has_value();
  }

 private:
  WorkerChannel& channel_;
  MonoTime last_{};
};

}  // namespace

Result<void> inspect(WorkerChannel& channel, const WorkerJob& job, const Descriptor& upload) {
  SAMOVAR_TRY(const Detection detection, look_at(job, upload));
  const WorkerFound found{to_json(detection).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  return channel.send(MessageType::found, encode(found));
}

Result<void> ingest_upload(WorkerChannel& channel, const WorkerJob& job, const Descriptor& upload) {
  SAMOVAR_TRY(const Detection detection, look_at(job, upload));
  IngestPlan plan = plan_of(job, detection);
  SAMOVAR_CHECK(settle_columns(job, plan.schema));
  SAMOVAR_TRY(const auto source, UploadSource::open(upload, job.source_key));
  FileSink sink(channel, job);
  Reporter reporter(channel);
  SAMOVAR_CHECK(channel.send(MessageType::progress, encode(WorkerProgress{})));
  SAMOVAR_TRY(const IngestReport done, run_ingest(*source, plan, sink, std::ref(reporter)));
  SAMOVAR_TRY(auto files, sink.finish(done.profile_json));
  WorkerReport report;
  report.rows = done.rows;
  report.bad_rows = done.bad_rows;
  report.schema_json = trainer::encode_schema(done.schema);
  report.options_json = to_json(plan.options).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  report.notes = detection.notes;
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.files = std::move(files);
  return channel.send(MessageType::report, encode(report));
}

}  // namespace samovar::worker
