#include "daemon/jobs/train_runner.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>

#include "base/failpoint.hpp"
#include "daemon/jobs/worker_process.hpp"

namespace samovar::jobs {
namespace {

using ingest::Descriptor;
using ingest::Frame;
using ingest::MessageType;

constexpr std::chrono::milliseconds kListenStep{50};
constexpr std::chrono::seconds kReadyMax{30};
constexpr std::chrono::seconds kDeviceReadyMax{90};  // a driver begins, and loads what it runs
constexpr std::chrono::minutes kSilenceMax{10};
constexpr std::chrono::minutes kUnreadMax{5};  // of what it is told; its socket holds a good deal by itself
constexpr std::chrono::seconds kStopMax{60};   // a last checkpoint may be large

Error broken(std::string_view what) {
  return {Errc::internal, "the worker gave an answer that cannot be right (" + std::string(what) +
                              ") and was ended. Try again; if it happens twice, report it"};
}

Error death(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    switch (WTERMSIG(wait_status)) {
      case SIGSYS:
        return {
            Errc::internal,
            "the worker tried something its sandbox forbids and was stopped. The last checkpoint is kept; "
            "report this"};
      case SIGKILL:
        return {Errc::unavailable,
                "the worker was killed, most likely because memory ran out. The last checkpoint is kept: try "
                "again when less is running, or choose fewer hash bits or inputs"};
      default:
        return {Errc::internal,
                "the worker crashed. The last checkpoint is kept: try again, and report it if it "
                "happens twice"};
    }
  }
  return {
      Errc::internal,
      "the worker ended without a word. The last checkpoint is kept: try again, and look into the journal of "
      "samovard if it happens twice"};
}

Error unread() {
  return {Errc::timeout,
          "the worker did not read what it was told any more and was ended. The last checkpoint is kept: try "
          "again when less is running on its node"};
}

Result<Descriptor> open_to_read(const std::string& path, const char* what) {
  // Not through Disk: the descriptor itself goes to another process.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return Error{Errc::io,
                 std::string(what) + " cannot be opened: " + std::generic_category().message(errno)};
  return file;
}

Result<Descriptor> create(const std::string& path) {
  // What a cut attempt left under this name is nobody's.
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return Error{Errc::io, "a file cannot be replaced: " + std::generic_category().message(errno)};
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file)
    return Error{errno == ENOSPC || errno == EDQUOT ? Errc::no_space : Errc::io,
                 "a file cannot be made: " + std::generic_category().message(errno)};
  return file;
}

}  // namespace

bool WorkerLine::send(MessageType type, Bytes body, Descriptor descriptor) {
  MutexLock lock(mutex_);
  return channel_ != nullptr && channel_->offer(type, std::move(body), std::move(descriptor)).has_value();
}

void WorkerLine::post(MessageType type, Bytes body) {
  MutexLock lock(mutex_);
  posted_.emplace_back(type, std::move(body));
}

void WorkerLine::attach(ingest::WorkerChannel* channel) {
  MutexLock lock(mutex_);
  channel_ = channel;
}

std::deque<std::pair<MessageType, Bytes>> WorkerLine::take() {
  MutexLock lock(mutex_);
  return std::exchange(posted_, {});
}

// One worker, from its start to its last message.
class Talk {
 public:
  Talk(Disk& disk, const WorkerSignals& signals, std::shared_ptr<WorkerLine> line = nullptr)
      : disk_(disk), signals_(signals), line_(std::move(line)) {}
  ~Talk() {
    if (line_) line_->attach(nullptr);
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  // Until its sandbox is closed.
  Result<ingest::WorkerReady> start(const WorkerOptions& options, std::uint64_t memory_mib,
                                    const std::string& plugin = {}) {
    SAMOVAR_TRY(worker_, WorkerProcess::start(options.program, memory_mib, options.dial, plugin));
    SAMOVAR_TRY(const Frame ready,
                next(plugin.empty() ? kReadyMax : kDeviceReadyMax, "the worker does not start"));
    if (ready.type == MessageType::failed) return said(ready);
    if (ready.type != MessageType::ready) return broken("its first message");
    auto decoded = ingest::decode_ready(ready.body);
    if (!decoded) return broken("its first message");
    return *std::move(decoded);
  }
  // Its peers are heard from here on: it knows of them.
  Result<void> begin(MessageType type, Bytes job) {
    SAMOVAR_CHECK(tell(type, std::move(job)));
    if (line_) line_->attach(&worker_->channel());
    return {};
  }

  // The next message, or why there is none.
  Result<Frame> next() {
    return next(kSilenceMax,
                "the worker stopped making progress and was ended. The last checkpoint is kept: try again");
  }

  // A worker that cannot be told anything is dying: how it died says more. One that only does not read is
  // looked at by next().
  Result<void> tell(MessageType type, Bytes body, Descriptor descriptor = {}) {
    auto sent = worker_->channel().offer(type, std::move(body), std::move(descriptor));
    if (sent || sent.error().code() == Errc::busy) return {};
    if (sent.error().code() != Errc::io) return sent;
    return died();
  }

  Result<void> give(MessageType type, Result<Descriptor> file) {
    if (file) return tell(type, encode(Reply{}), *std::move(file));
    return refuse(type, file.error());
  }

  Result<void> refuse(MessageType type, const Error& why) {
    return tell(type, encode(Reply{why.message().substr(0, 4000), why.code()}));
  }

  // As large as it says, with the bytes it says, and durable.
  Result<void> check(const std::string& path, const SavedFile& saved) {
    {
      SAMOVAR_TRY(const auto file, disk_.open(path, OpenMode::write));
      SAMOVAR_TRY(const std::uint64_t size, file->size());
      if (size != saved.stored_bytes) return broken("the size of a file");
      SAMOVAR_CHECK(file->sync());
    }
    SAMOVAR_TRY(const security::Hash256 hash, security::hash_stored_file(disk_, path));
    if (hash != saved.hash) return broken("the content of a file");
    return disk_.sync_dir(path.substr(0, path.rfind('/')));
  }

  // How it ended, if it did so without a word.
  std::optional<int> wait_status() const noexcept { return wait_status_; }
  bool stop_asked() const noexcept { return signals_.kill.load() || signals_.stop.load(); }

  static Error said(const Frame& frame) {
    auto failed = ingest::decode_failed(frame.body);
    if (!failed) return broken("its last words");
    return {failed->code, failed->message};
  }

 private:
  Error died() {
    wait_status_ = worker_->finish();
    return death(*wait_status_);
  }

  Result<Frame> next(Duration silence_max, const char* too_slow) {
    const MonoTime begin = real_clock().mono();
    for (;;) {
      const MonoTime now = real_clock().mono();
      if (signals_.kill.load(std::memory_order_relaxed)) return Error{Errc::conflict, "stopped"};
      if (signals_.stop.load(std::memory_order_relaxed)) {
        if (!stop_told_) {
          stop_told_ = now;
          ignore(tell(MessageType::stop, {}), "one that is dying stops as well");
        }
        if (now - *stop_told_ > kStopMax) return Error{Errc::conflict, "stopped"};
      }
      if (line_)
        for (auto& [type, body] : line_->take()) SAMOVAR_CHECK(tell(type, std::move(body)));
      if (!worker_->channel().check_read(kUnreadMax)) return unread();
      auto frame = worker_->channel().receive(kListenStep);
      if (!frame && frame.error().code() == Errc::io) return died();
      if (!frame) return broken(frame.error().message());
      if (*frame) return **std::move(frame);
      if (now - begin > silence_max) return Error{Errc::timeout, too_slow};
    }
  }

  Disk& disk_;
  const WorkerSignals& signals_;
  const std::shared_ptr<WorkerLine> line_;
  std::unique_ptr<WorkerProcess> worker_;
  std::optional<MonoTime> stop_told_;
  std::optional<int> wait_status_;
};

namespace {

// What a device is to blame for when its worker is gone. Memory that ran out is everybody's.
std::string trouble_of(std::optional<int> wait_status, const Error& error) {
  if (error.code() == Errc::timeout) return "the GPU or its driver does not answer any more";
  if (!wait_status) return "";
  if (WIFSIGNALED(*wait_status)) {
    if (WTERMSIG(*wait_status) == SIGKILL) return "";
    if (WTERMSIG(*wait_status) == SIGSYS)
      return "the GPU's driver asked the system for something that the sandbox refuses (the kernel's log, "
             "type=1326, has the number of the call)";
    return "the GPU's driver crashed";
  }
  return "the GPU's driver ended the worker";
}

}  // namespace

std::vector<std::string> checkpoint_names(std::uint64_t step) {
  const std::string name = output_name(OutputKind::checkpoint, step);
  return {name, name + "-b"};
}

namespace {

class TrainRun {
 public:
  TrainRun(Disk& disk, TrainTask task, const WorkerSignals& signals, const TrainHooks& hooks)
      : disk_(disk),
        task_(std::move(task)),
        signals_(signals),
        hooks_(hooks),
        kept_(task_.checkpoint_path),
        kept_step_(task_.checkpoint_path.empty() ? 0 : task_.job.checkpoint_step) {}

  Result<TrainedMessage> run(const WorkerOptions& options) {
    task_.job.failpoints = options.failpoints;
    dial_ = options.dial;
    if (!task_.no_device.empty()) do_without(task_.no_device, "this node trains on the CPU");
    SAMOVAR_CHECK(start(options));
    if (hooks_.begin) SAMOVAR_CHECK(hooks_.begin(task_.job));
    auto trained = work();
    if (trained || !on_device_ || talk_->stop_asked()) return trained;
    if (trouble_.empty()) trouble_ = trouble_of(talk_->wait_status(), trained.error());
    if (trouble_.empty()) return trained;
    // Among others this one cannot begin again by itself: they know where it was.
    if (task_.job.member > 0) {
      do_without(trouble_, "the next worker of this node trains on the CPU");
      return trained;
    }
    do_without(trouble_, kept_step_ > 0 ? "goes on from the checkpoint at step " +
                                              std::to_string(kept_step_) + " on the CPU"
                                        : "begins anew on the CPU");
    task_.checkpoint_path = kept_;
    task_.job.checkpoint_step = kept_step_;
    rows_.reset();
    SAMOVAR_CHECK(start_on_cpu(options));
    return work();
  }

 private:
  // Until a worker's sandbox is closed, with a device or without.
  Result<void> start(const WorkerOptions& options) {
    if (task_.plugin.empty()) return start_on_cpu(options);
    talk_.emplace(disk_, signals_, task_.line);
    auto ready = talk_->start(options, task_.memory_mib, task_.plugin);
    if (ready && !ready->device.empty()) {
      on_device_ = true;
      return {};
    }
    if (talk_->stop_asked()) return Error{Errc::conflict, "stopped"};
    std::string why = ready ? ready->trouble : trouble_of(talk_->wait_status(), ready.error());
    if (why.empty()) why = ready ? "the GPU does not answer" : ready.error().message();
    do_without(why, "this node trains on the CPU");
    // Another process: of a driver that began and failed threads may be left, and this sandbox is the wider
    // one.
    return start_on_cpu(options);
  }

  Result<void> start_on_cpu(const WorkerOptions& options) {
    on_device_ = false;
    trouble_.clear();
    talk_.emplace(disk_, signals_, task_.line);
    SAMOVAR_CHECK(talk_->start(options, task_.memory_mib));
    return {};
  }

  void do_without(const std::string& why, const std::string& then) {
    std::string text = why + ": " + then + ".";
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    hooks_.log(LogMessage{"warn", text.substr(0, kLogTextBytesMax)});
    if (hooks_.device) hooks_.device(DeviceMessage{"", why.substr(0, ingest::kDeviceTroubleBytesMax)});
  }

  Result<TrainedMessage> work() {
    SAMOVAR_CHECK(talk_->begin(MessageType::train, encode(task_.job)));
    if (hooks_.begun) hooks_.begun();
    SAMOVAR_FAILPOINT_ERROR("jobs.train.begun");
    for (;;) {
      SAMOVAR_TRY(Frame frame, talk_->next());
      if (frame.type == MessageType::failed) return Talk::said(frame);
      if (frame.type == MessageType::trained) return finish(frame);
      if (frame.type == MessageType::finished && task_.job.member > 0) {
        TrainedMessage elsewhere;
        elsewhere.elsewhere = true;
        return elsewhere;
      }
      SAMOVAR_CHECK(hear(frame));
    }
  }

  // Where the worker says it computes. Of one without a device that is told and no more.
  void take_device(const DeviceMessage& message) {
    if (message.name.empty() && on_device_) {
      trouble_ = message.trouble;  // an error follows
      return;
    }
    if (on_device_ && !message.trouble.empty())
      hooks_.log(LogMessage{"warn", "This node trains on the CPU: " + message.trouble + "."});
    else if (on_device_)
      hooks_.log(LogMessage{"info", "Computes on " + message.name + "."});
    if (hooks_.device) hooks_.device(message);
  }

  Result<void> hear(Frame& frame) {
    switch (frame.type) {
      case MessageType::step: {
        SAMOVAR_TRY(const StepMessage message, decode_step(frame.body));
        if (dial_ && rows_ && message.rows > *rows_) dial_->rows.fetch_add(message.rows - *rows_);
        rows_ = message.rows;
        hooks_.step(message);
        return {};
      }
      case MessageType::metric: {
        SAMOVAR_TRY(const MetricMessage message, decode_metric(frame.body));
        hooks_.metric(message);
        return {};
      }
      case MessageType::log: {
        SAMOVAR_TRY(const LogMessage message, decode_log(frame.body));
        hooks_.log(message);
        return {};
      }
      case MessageType::device: {
        SAMOVAR_TRY(const DeviceMessage message, decode_device(frame.body));
        take_device(message);
        return {};
      }
      case MessageType::peer_send: {
        if (!hooks_.peer) return broken("another message");
        SAMOVAR_TRY(PeerFrame message, decode_peer_frame(frame.body));
        hooks_.peer(std::move(message), std::move(frame.descriptor));
        return {};
      }
      case MessageType::peer_taken: {
        if (!hooks_.taken) return broken("another message");
        SAMOVAR_TRY(const PeerCredit credit, decode_peer_credit(frame.body));
        hooks_.taken(credit.count);
        return {};
      }
      case MessageType::want_input: {
        SAMOVAR_TRY(const WantInput want, decode_want_input(frame.body));
        return talk_->give(MessageType::input, input(want));
      }
      case MessageType::want_output: {
        SAMOVAR_TRY(const WantOutput want, decode_want_output(frame.body));
        return talk_->give(MessageType::output, output(want));
      }
      case MessageType::saved: {
        SAMOVAR_TRY(const SavedFile saved, decode_saved(frame.body));
        return keep(saved);
      }
      default:
        return broken("another message");
    }
  }

  Result<Descriptor> input(const WantInput& want) {
    if (want.kind == InputKind::shard && want.number < task_.shard_paths.size())
      return open_to_read(task_.shard_paths[want.number], "a part of the data set");
    if (want.kind == InputKind::checkpoint && !task_.checkpoint_path.empty())
      return open_to_read(task_.checkpoint_path, "the checkpoint");
    return broken("a file that is not there");
  }

  // Never the one that is committed: until the next is, it is all there is.
  std::string path_of(OutputKind kind, std::uint64_t number) const {
    if (kind != OutputKind::checkpoint) return task_.model_dir + "/" + output_name(kind, number);
    std::string path;
    for (const auto& name : checkpoint_names(number)) {
      path = task_.job_dir + "/" + name;
      if (path != kept_) break;
    }
    return path;
  }

  Result<Descriptor> output(const WantOutput& want) {
    if (want.kind == OutputKind::result) return broken("a file that is not there");
    if (task_.check_room) SAMOVAR_CHECK(task_.check_room());
    if (want.kind == OutputKind::model && task_.make_model_dir) SAMOVAR_CHECK(task_.make_model_dir());
    SAMOVAR_FAILPOINT_ERROR("jobs.train.output");
    return create(path_of(want.kind, want.number));
  }

  Result<void> keep(const SavedFile& saved) {
    if (saved.kind != OutputKind::checkpoint) return broken("a file that is kept at the end");
    const std::string path = path_of(saved.kind, saved.number);
    SAMOVAR_CHECK(talk_->check(path, saved));
    SAMOVAR_FAILPOINT_ERROR("jobs.train.checkpoint.synced");
    if (auto committed = hooks_.checkpoint(saved, path.substr(path.rfind('/') + 1)); !committed)
      return talk_->refuse(MessageType::kept, committed.error());
    SAMOVAR_FAILPOINT_ERROR("jobs.train.checkpoint.committed");
    if (!kept_.empty() && kept_ != path)
      ignore(disk_.remove(kept_), "the next run removes what it does not need");
    kept_ = path;
    kept_step_ = saved.number;
    return talk_->tell(MessageType::kept, encode(Reply{}));
  }

  Result<TrainedMessage> finish(const Frame& frame) {
    SAMOVAR_TRY(TrainedMessage trained, decode_trained(frame.body));
    SAMOVAR_FAILPOINT_ERROR("jobs.train.trained");
    SAMOVAR_CHECK(talk_->check(path_of(OutputKind::model, 0), trained.model));
    SAMOVAR_CHECK(talk_->check(path_of(OutputKind::evaluation, 0), trained.evaluation));
    SAMOVAR_FAILPOINT_ERROR("jobs.train.model.synced");
    return trained;
  }

  Disk& disk_;
  TrainTask task_;
  const WorkerSignals& signals_;
  const TrainHooks& hooks_;
  std::optional<Talk> talk_;     // with the worker of now
  bool on_device_ = false;       // it has one
  std::string trouble_;          // of the device, as the worker said; then it ends
  std::string kept_;             // the committed checkpoint's path
  std::uint64_t kept_step_ = 0;  // and its step
  std::shared_ptr<WorkerDial> dial_;
  std::optional<std::uint64_t> rows_;  // as last told; those before a checkpoint were not trained on now
};

}  // namespace

Result<TrainedMessage> run_train_worker(Disk& disk, const WorkerOptions& options, TrainTask task,
                                        const WorkerSignals& signals, const TrainHooks& hooks) {
  return TrainRun(disk, std::move(task), signals, hooks).run(options);
}

Result<ScoredMessage> run_score_worker(Disk& disk, const WorkerOptions& options, ScoreTask task,
                                       const WorkerSignals& signals,
                                       const std::function<void(const StepMessage&)>& step) {
  task.job.failpoints = options.failpoints;
  Talk talk(disk, signals);
  SAMOVAR_CHECK(talk.start(options, task.memory_mib));
  SAMOVAR_CHECK(talk.begin(MessageType::score, encode(task.job)));
  const std::string result = task.result_dir + "/" + output_name(OutputKind::result, 0);
  const auto input = [&task](const WantInput& want) -> Result<Descriptor> {
    if (want.kind == InputKind::shard && want.number < task.shard_paths.size())
      return open_to_read(task.shard_paths[want.number], "a part of the data set");
    if (want.kind == InputKind::upload && !task.upload_path.empty())
      return open_to_read(task.upload_path, "the upload");
    if (want.kind == InputKind::model) return open_to_read(task.model_path, "the model");
    return broken("a file that is not there");
  };
  for (;;) {
    SAMOVAR_TRY(const Frame frame, talk.next());
    switch (frame.type) {
      case MessageType::step: {
        SAMOVAR_TRY(const StepMessage message, decode_step(frame.body));
        step(message);
        break;
      }
      case MessageType::want_input: {
        SAMOVAR_TRY(const WantInput want, decode_want_input(frame.body));
        SAMOVAR_CHECK(talk.give(MessageType::input, input(want)));
        break;
      }
      case MessageType::want_output: {
        SAMOVAR_TRY(const WantOutput want, decode_want_output(frame.body));
        if (want.kind != OutputKind::result) return broken("a file that is not there");
        if (task.check_room) SAMOVAR_CHECK(task.check_room());
        SAMOVAR_CHECK(talk.give(MessageType::output, create(result)));
        break;
      }
      case MessageType::scored: {
        SAMOVAR_TRY(ScoredMessage scored, decode_scored(frame.body));
        SAMOVAR_CHECK(talk.check(result, scored.result));
        SAMOVAR_FAILPOINT_ERROR("jobs.score.scored");
        return scored;
      }
      case MessageType::failed:
        return Talk::said(frame);
      default:
        return broken("another message");
    }
  }
}

}  // namespace samovar::jobs
