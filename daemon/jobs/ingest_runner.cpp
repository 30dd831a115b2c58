#include "daemon/jobs/ingest_runner.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>

#include "base/failpoint.hpp"
#include "base/json.hpp"
#include "daemon/jobs/worker_process.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::jobs {
namespace {

using namespace ingest;  // NOLINT: this file speaks the worker's language

constexpr std::chrono::milliseconds kListenStep{100};
constexpr std::chrono::seconds kReadyMax{30};

Error broken(std::string_view what) {
  return {Errc::invalid, "the reader of this file gave an answer that cannot be right (" + std::string(what) +
                             "). Nothing was kept: save the file as plain CSV in UTF-8 and upload it again"};
}

// What ends the wait for the worker besides its own messages.
struct Patience {
  const std::atomic<bool>* cancelled = nullptr;
  Duration silence_max{};
  const char* too_slow = "";
};

// The next message, or why there is none. A worker that is gone is asked how it died.
Result<Frame> listen(WorkerProcess& worker, const Patience& patience) {
  const MonoTime begin = real_clock().mono();
  for (;;) {
    if (patience.cancelled != nullptr && patience.cancelled->load(std::memory_order_relaxed))
      return Error{Errc::conflict, "cancelled"};
    auto frame = worker.channel().receive(kListenStep);
    if (!frame && frame.error().code() == Errc::io) return worker_death(worker.finish());
    if (!frame) return broken(frame.error().message());
    if (*frame) return **std::move(frame);
    if (real_clock().mono() - begin > patience.silence_max) return Error{Errc::timeout, patience.too_slow};
  }
}

// A worker that cannot be told anything is dying: its own last words, or how it died, say more.
Result<void> tell(WorkerProcess& worker, MessageType type, Bytes body, int descriptor) {
  auto sent = worker.channel().send(type, std::move(body), descriptor);
  if (sent || sent.error().code() != Errc::io) return sent;
  return worker_death(worker.finish());
}

Error said(const Frame& frame) {
  auto failed = decode_failed(frame.body);
  if (!failed) return broken("its last words");
  return {failed->code, failed->message};
}

// Started, closed in its sandbox, and told what to do.
Result<std::unique_ptr<WorkerProcess>> begin(const WorkerOptions& options, const std::string& upload_path,
                                             const WorkerJob& job) {
  Descriptor upload;
  if (!upload_path.empty()) {
    // Not through Disk: the descriptor itself goes to another process.
    upload = Descriptor(::open(upload_path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!upload)
      return Error{Errc::io, "the upload cannot be opened: " + std::generic_category().message(errno)};
  }
  SAMOVAR_TRY(auto worker, WorkerProcess::start(options.program, 0, options.dial));
  SAMOVAR_TRY(const Frame ready, listen(*worker, {nullptr, kReadyMax, "the ingest worker does not start"}));
  if (ready.type == MessageType::failed) return said(ready);
  if (ready.type != MessageType::ready || !decode_ready(ready.body)) return broken("its first message");
  SAMOVAR_CHECK(tell(*worker, MessageType::job, encode(job), upload.get()));
  return worker;
}

// The files of one ingest, opened on demand, each once.
class Files {
 public:
  explicit Files(std::string dir) : dir_(std::move(dir)) {}

  Result<Descriptor> open(const WantFile& want) {
    const std::string name = file_name_of(want.kind, want.number);
    if (opened_.count(name) != 0) return broken("a file asked for twice");
    const std::string path = dir_ + "/" + name;
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file)
      return Error{errno == ENOSPC || errno == EDQUOT ? Errc::no_space : Errc::io,
                   "a file for the data set cannot be made: " + std::generic_category().message(errno)};
    opened_.emplace(name, true);
    return file;
  }

  Result<void> check(const WorkerReport& report) {
    std::uint64_t rows = 0;
    std::uint32_t shards = 0;
    bool profile = false;
    for (const auto& file : report.files) {
      const std::string name = file_name_of(file.kind, file.number);
      if (opened_.erase(name) != 1) return broken("a file that was not asked for");
      struct stat info {};
      if (::stat((dir_ + "/" + name).c_str(), &info) != 0 ||
          static_cast<std::uint64_t>(info.st_size) != file.stored_bytes)
        return broken("the size of a file");
      if (file.kind == FileKind::profile) profile = true;
      if (file.kind != FileKind::shard) continue;
      if (file.number != shards++) return broken("the numbers of its shards");
      if (file.rows > report.rows - rows) return broken("the rows of its shards");
      rows += file.rows;
    }
    if (!opened_.empty()) return broken("a file it left open");
    if (rows != report.rows || !profile || shards == 0) return broken("its report");
    return {};
  }

 private:
  std::string dir_;
  std::map<std::string, bool> opened_;
};

Result<void> check_texts(const WorkerReport& report) {
  if (auto schema = trainer::decode_schema(report.schema_json); !schema) return broken("its columns");
  const auto options = nlohmann::json::parse(report.options_json, nullptr, false);
  if (options.is_discarded() || !options.is_object()) return broken("its options");
  return {};
}

}  // namespace

Result<Detection> run_inspect(const WorkerOptions& options, InspectTask task) {
  task.job.mode = WorkerMode::inspect;
  SAMOVAR_TRY(const auto worker, begin(options, task.upload_path, task.job));
  SAMOVAR_TRY(const Frame frame,
              listen(*worker, {nullptr, options.inspect_max,
                               "looking into this file takes too long: is it a table at all? Save it as "
                               "plain CSV in UTF-8 and upload it again"}));
  if (frame.type == MessageType::failed) return said(frame);
  if (frame.type != MessageType::found) return broken("another message");
  SAMOVAR_TRY(const WorkerFound found, decode_found(frame.body));
  const auto json = nlohmann::json::parse(found.detection_json, nullptr, false);
  if (json.is_discarded()) return broken("what it found");
  auto detection = parse_detection(json);
  if (!detection) return broken(detection.error().message());
  return detection;
}

Result<WorkerReport> run_ingest_worker(const WorkerOptions& options, IngestTask task,
                                       const std::atomic<bool>& cancelled,
                                       const std::function<void(const WorkerProgress&)>& progress) {
  task.job.mode = WorkerMode::ingest;
  task.job.failpoints = options.failpoints;
  SAMOVAR_TRY(const auto worker, begin(options, task.upload_path, task.job));
  SAMOVAR_FAILPOINT_ERROR("jobs.ingest.begun");
  const Patience patience{&cancelled, options.silence_max,
                          "the reader of this file stopped making progress and was ended. Nothing was kept: "
                          "try again, and split the file if it happens twice"};
  Files files(task.incoming_dir);
  for (;;) {
    SAMOVAR_TRY(const Frame frame, listen(*worker, patience));
    switch (frame.type) {
      case MessageType::progress: {
        SAMOVAR_TRY(const WorkerProgress step, decode_progress(frame.body));
        progress(step);
        break;
      }
      case MessageType::want_file: {
        SAMOVAR_TRY(const WantFile want, decode_want_file(frame.body));
        if (task.check_room) SAMOVAR_CHECK(task.check_room());
        SAMOVAR_TRY(const Descriptor file, files.open(want));
        SAMOVAR_FAILPOINT_ERROR("jobs.ingest.file");
        SAMOVAR_CHECK(tell(*worker, MessageType::file, encode(FileAnswer{}), file.get()));
        break;
      }
      case MessageType::report: {
        SAMOVAR_TRY(WorkerReport report, decode_report(frame.body));
        SAMOVAR_CHECK(files.check(report));
        SAMOVAR_CHECK(check_texts(report));
        SAMOVAR_FAILPOINT_ERROR("jobs.ingest.report");
        return report;
      }
      case MessageType::failed:
        return said(frame);
      default:
        return broken("another message");
    }
  }
}

Result<void> run_trial(const WorkerOptions& options, std::string_view call) {
  WorkerJob job;
  job.mode = WorkerMode::trial;
  job.file_name = std::string(call);
  SAMOVAR_TRY(const auto worker, begin(options, "", job));
  SAMOVAR_TRY(const Frame frame, listen(*worker, {nullptr, options.inspect_max, "no answer"}));
  if (frame.type != MessageType::failed) return broken("another message");
  return said(frame);
}

}  // namespace samovar::jobs
