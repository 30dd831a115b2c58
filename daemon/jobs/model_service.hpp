// Everything about training and models that the API offers: jobs, models, predictions, batch scoring. The
// handlers see this interface; local_models.cpp and its neighbours implement it over the store, the worker
// and the replicated state.
//
// Rights: the caller's role and scope are settled by the route; who may see which job or model is settled
// here, from the actor: what they may not see is Errc::not_found, as if it were not there.
//
// Threading: loop only; tasks resume on the loop.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/model_types.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/jobs/data_service.hpp"
#include "trainer/models/scorer.hpp"
#include "trainer/spec.hpp"

namespace samovar::jobs {

enum class JobState : std::uint8_t { queued, running, paused, done, failed, cancelled };
std::string_view to_string(JobState state) noexcept;

// One worker of a job that trains on several nodes, as last heard of.
struct JobWorker {
  std::uint32_t number = 0;
  std::string node_id;
  std::string state;  // preparing, working, done, lost
  bool lead = false;
  std::uint32_t blocks = 0;
  std::uint64_t rows = 0;  // of the data set that are its own
  std::string step;
  double share = 0;
  std::uint64_t rows_done = 0;
  std::uint32_t pass = 0;
  std::optional<double> samples_per_second;
  std::optional<double> loss;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::optional<double> wait_seconds;
  std::optional<double> staleness;
  std::optional<double> watts;
  bool watts_estimated = true;
  double joules = 0;
  double joules_error = 0;
  double busy_seconds = 0;
  double duty_seconds = 0;
  WallTime since{};
  std::string error;
};

// What a node's workers of a job computed on, the last one.
struct JobDevice {
  std::string node_id;
  std::string name;  // "cuda Orin", "cpu neon"; empty: not known yet
  std::string note;  // why not, or no longer, on a GPU; a part of a sentence
  friend bool operator==(const JobDevice&, const JobDevice&) = default;
};

struct JobEvent {
  std::uint64_t seq = 0;
  WallTime at{};
  std::string kind;  // began, lost, joined, moved, paused, checkpoint, ended, …
  std::string node_id;
  std::string text;
};

// What a job asked for of the power, and how it stands with it.
struct JobPower {
  trainer::PowerSpec asked;
  std::optional<WallTime> deadline;
  std::optional<double> watts;  // what the box may draw for it now; nothing: no limit, or it does not run
  bool late = false;            // the deadline cannot be kept within its limits
  std::optional<double> needed_watts;  // late: what would do
};

// The record with what is known of its progress.
struct Job {
  cluster::JobRecord record;
  JobState state = JobState::queued;
  std::string step;        // trainer/train.hpp, "saving" at the end
  double share = 0;        // 0 to 1
  std::uint64_t rows = 0;  // trained on, each pass counted
  std::uint32_t pass = 0;
  double rows_per_second = 0;
  double seconds = 0;  // of running, all attempts since the last start from nothing
  double joules = 0;   // of this node above its idle power while it ran
  bool joules_estimated = true;
  double joules_error = 0;  // how far off they may be
  std::optional<double> seconds_left;
  std::string metric;  // the one that decides: "valid_loss", …
  std::optional<double> best;
  unsigned queue_position = 0;
  std::optional<WallTime> started_at;
  std::string waiting_for;  // a sentence while too few nodes are there
  std::vector<JobWorker> workers;
  std::vector<JobDevice> devices;   // by node
  std::vector<JobEvent> events;     // the last ones
  std::optional<JobPower> power;    // nothing: it asked for nothing
  std::optional<double> box_watts;  // all nodes, with those at rest, on average while it ran
};

struct JobMetrics {                          // columnar, for charts
  std::vector<std::string> names;            // "step", "seconds", "rows", "train_loss", …
  std::vector<std::vector<double>> columns;  // NaN: not known at that point
  std::uint32_t worker = 0;                  // whose; 0: the job's
  std::string node_id = {};                  // of the worker
  std::vector<JobMetrics> workers = {};      // of a job that trains on several nodes
};

struct JobLogLine {
  std::uint64_t seq = 0;
  WallTime at{};
  std::string level;
  std::string text;
};

struct Estimate {
  double seconds = 0;
  double watt_hours = 0;
  std::uint64_t memory_bytes = 0;
  std::string basis;  // "measured": jobs of this kind ran here; "guessed": none did yet
  // Of a job that asks something of the power, or under a budget.
  std::optional<double> watts;  // all nodes, with those at rest, while it runs
  std::optional<WallTime> deadline;
  std::optional<WallTime> ends_at;  // if it begins now
  std::optional<bool> in_time;
  std::optional<double> needed_watts;  // not in time: what would do; nothing: not even all there is
};

struct PredictRequest {
  std::string model;
  std::uint32_t version = 0;  // 0: the one in production, else the latest
  trainer::RawTable rows;
  bool reasons = false;
};

struct PredictAnswer {
  std::string model;
  std::uint32_t version = 0;
  std::vector<std::string> classes;
  std::vector<trainer::Prediction> predictions;
  std::vector<trainer::InputWarning> warnings;
};

struct ScoringRequest {
  std::string model;
  std::uint32_t version = 0;
  std::string dataset_id;  // or an upload
  std::uint32_t dataset_version = 0;
  std::string upload_id;
  std::vector<std::string> keep;  // columns copied into the result; empty: all that are not sensitive
};

struct Scoring {
  std::string id;  // "scr_…"
  std::string owner_id;
  std::string model;
  std::uint32_t version = 0;
  std::string dataset_id, upload_id;
  JobState state = JobState::queued;
  std::uint64_t rows = 0;
  std::uint64_t rows_total = 0;
  std::uint64_t result_bytes = 0;
  std::string error;
  std::vector<trainer::InputWarning> warnings;
  WallTime created_at{};
  std::optional<WallTime> ended_at;  // the result is kept for 7 days
};

class ModelService {
 public:
  virtual ~ModelService() = default;

  // ---- jobs ----
  // The spec against the data set: all faults at once.
  virtual Result<trainer::ParsedSpec> check(const cluster::Actor& actor,
                                            const nlohmann::json& spec) const = 0;
  // Things to know before starting: an identifier that may be a group, a column that tells too much, …
  virtual Task<Result<std::vector<std::string>>> advise(cluster::Call call, trainer::JobSpec spec) = 0;
  virtual Task<Result<Estimate>> estimate(cluster::Call call, trainer::JobSpec spec) = 0;
  virtual Task<Result<Job>> start(cluster::Call call, trainer::JobSpec spec, int priority) = 0;
  virtual std::vector<Job> jobs(const cluster::Actor& actor, const cluster::JobFilter& filter) const = 0;
  virtual Result<Job> job(const cluster::Actor& actor, std::string_view id) const = 0;
  virtual Result<JobMetrics> metrics(const cluster::Actor& actor, std::string_view id) const = 0;
  // Those after `after`, at most `limit`.
  virtual Result<std::vector<JobLogLine>> logs(const cluster::Actor& actor, std::string_view id,
                                               std::uint64_t after, std::size_t limit) const = 0;
  // Errc::conflict when its state does not allow it.
  virtual Task<Result<Job>> pause(cluster::Call call, std::string id) = 0;
  virtual Task<Result<Job>> resume(cluster::Call call, std::string id) = 0;
  virtual Task<Result<Job>> cancel(cluster::Call call, std::string id) = 0;  // keeps the last checkpoint
  virtual Task<Result<Job>> retry(cluster::Call call, std::string id) = 0;   // from the last checkpoint
  virtual Task<Result<Job>> protect(cluster::Call call, std::string id, bool on) = 0;
  // Of one that waits or is paused; of one that runs it counts once that waits again.
  virtual Task<Result<Job>> prioritize(cluster::Call call, std::string id, int priority) = 0;
  virtual Task<Result<void>> remove(cluster::Call call, std::string id) = 0;
  // On the loop, for each change and at most twice a second for progress; metric points as they come.
  struct Listener {
    std::function<void(const Job&)> job;
    std::function<void(const std::string& job_id, const JobMetrics& point)> metric;
    std::function<void(const std::string& job_id, const JobLogLine&)> log;
    std::function<void(const std::string& model)> model;
    std::function<void(const Scoring&)> scoring;
  };
  virtual void listen(Listener listener) = 0;

  // ---- models ----
  virtual std::vector<cluster::Model> models(const cluster::Actor& actor) const = 0;
  virtual Result<cluster::Model> model(const cluster::Actor& actor, std::string_view name) const = 0;
  virtual Result<std::vector<cluster::ModelVersion>> versions(
      const cluster::Actor& actor,
      std::string_view name) const = 0;  // newest first
  virtual Task<Result<nlohmann::json>> evaluation(cluster::Call call, std::string name,
                                                  std::uint32_t version) = 0;
  virtual Task<Result<cluster::Model>> change(cluster::Call call, std::string name,
                                              cluster::ModelChange change,
                                              std::optional<std::uint64_t> if_revision) = 0;
  virtual Task<Result<cluster::Model>> promote(cluster::Call call, std::string name,
                                               std::uint32_t version) = 0;
  virtual Task<Result<cluster::Model>> rollback(cluster::Call call, std::string name) = 0;
  virtual Task<Result<cluster::Model>> grant(cluster::Call call, std::string name, std::string user_id,
                                             bool on) = 0;
  virtual Task<Result<void>> protect_version(cluster::Call call, std::string name, std::uint32_t version,
                                             bool on) = 0;
  // Errc::conflict while it serves or is protected. The key is destroyed with it.
  virtual Task<Result<void>> remove_version(cluster::Call call, std::string name, std::uint32_t version) = 0;
  // Audited with the reason that was given.
  virtual Task<Result<trainer::Export>> export_version(cluster::Call call, std::string name,
                                                       std::uint32_t version, trainer::ExportKind kind,
                                                       std::string reason) = 0;
  virtual Task<Result<cluster::ModelVersion>> import_json(cluster::Call call, std::string name,
                                                          std::string json) = 0;

  // ---- predictions ----
  // May the actor use it at all; else not_found.
  virtual Task<Result<PredictAnswer>> predict(cluster::Call call, PredictRequest request) = 0;
  virtual bool ready_to_predict(const cluster::Actor& actor, std::string_view model,
                                std::uint32_t version) = 0;
  virtual Task<Result<Scoring>> start_scoring(cluster::Call call, ScoringRequest request) = 0;
  virtual std::vector<Scoring> scorings(const cluster::Actor& actor) const = 0;
  virtual Result<Scoring> scoring(const cluster::Actor& actor, std::string_view id) const = 0;
  virtual Task<Result<void>> remove_scoring(cluster::Call call, std::string id) = 0;  // also ends it
  // CSV: the kept columns, then "prediction", and "probability_<class>" each when there are classes.
  virtual Task<Result<std::unique_ptr<ByteStream>>> scoring_result(cluster::Call call, std::string id) = 0;
};

}  // namespace samovar::jobs
