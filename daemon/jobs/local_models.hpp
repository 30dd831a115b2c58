// Training and prediction: jobs in workers of this and other nodes, models in the store, both in the
// replicated state.
//
//   local_models.cpp          birth, recovery after a cut, keys, listeners
//   local_models_jobs.cpp     checking, accepting, pausing, showing jobs
//   local_models_queue.cpp    which jobs run here, and whose home is gone
//   local_models_crew.cpp     a job that this node looks after: its workers on all nodes
//   local_models_member.cpp   a worker of this node, from its order to its end
//   local_models_train.cpp    what comes of a worker: checkpoints and the model version
//   local_models_power.cpp    what it takes, and what it wants of the power budget
//   local_models_live.cpp     how jobs stand, told to the other nodes
//   local_models_history.cpp  curves and logs
//   local_models_keep.cpp     the registry: stages, grants, exports, imports, removal
//   local_models_predict.cpp  warm models and single requests
//   local_models_score.cpp    batches: data sets and uploads
//
// Threading: loop only; disk and cipher work on the io pool, large predictions on the cpu pool, workers are
// awaited on the models pool.
// Ownership: borrows Loop, Rng, Cluster, Disk, LocalData and the pools, which outlive it.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/pool.hpp"
#include "base/rng.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/jobs/device_probe.hpp"
#include "daemon/jobs/energy_meter.hpp"
#include "daemon/jobs/job_estimate.hpp"
#include "daemon/jobs/job_history.hpp"
#include "daemon/jobs/job_message.hpp"
#include "daemon/jobs/job_power.hpp"
#include "daemon/jobs/local_data.hpp"
#include "daemon/jobs/model_service.hpp"
#include "daemon/jobs/peer_relay.hpp"
#include "daemon/jobs/power_work.hpp"
#include "daemon/jobs/train_runner.hpp"
#include "daemon/jobs/warm_models.hpp"
#include "daemon/power/sample.hpp"
#include "daemon/store/data_dir.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {

struct LocalModelsOptions {
  std::string root;  // the data folder
  std::uint32_t key_generation = 1;
  unsigned threads = 1;                   // of one training
  std::uint64_t memory_mib = 2048;        // of one worker
  std::uint64_t warm_bytes = 256u << 20;  // of models in use
  std::uint32_t checkpoint_ms = 30'000;
  std::uint64_t checkpoint_steps = 0;  // tests: after so many updates instead
  std::string version;                 // of the program, for the lineage
  WorkerOptions worker;
  store::SpaceRules space;
  net::Exchange* exchange = nullptr;                         // also of a box alone: it speaks to itself
  std::function<std::vector<cluster::StorageNode>()> nodes;  // members, and who can be reached
  std::function<DeviceFound()> device;                       // what this node has besides its processors
  unsigned jobs_at_once = 2;                                 // that this node looks after
  ZoneOffset zone_offset;                                    // of the box's time zone
  std::function<PowerFacts()> power_facts;
  std::function<const power::CapAnswer*()> power_told;  // by the leader; null while nobody says anything
  Duration home_lost = std::chrono::seconds(8);  // a job whose home is away so long is given to another node
};

class LocalModels final : public ModelService {
 public:
  // Opens the store and removes what nothing names. Blocks on the disk.
  static Result<std::unique_ptr<LocalModels>> open(Loop& loop, Rng& rng, cluster::Cluster& cluster,
                                                   Disk& disk, Pool& io, Pool& cpu, LocalData& data,
                                                   security::SecretBytes wrap_key,
                                                   LocalModelsOptions options);
  ~LocalModels() override;
  LocalModels(const LocalModels&) = delete;
  LocalModels& operator=(const LocalModels&) = delete;

  // Begins with the work that was accepted before the restart.
  void start();
  // Ends the workers; what they were doing stays accepted. Nothing begins after this.
  void stop();
  // Each second: what the node takes now.
  void on_sample(const power::Sample& sample);
  PowerWork power_work() const;
  // The record changed, perhaps from elsewhere: a job whose owner is gone is not worked on.
  void on_job_changed(const std::string& id);

  Result<trainer::ParsedSpec> check(const cluster::Actor& actor, const nlohmann::json& spec) const override;
  Task<Result<std::vector<std::string>>> advise(cluster::Call call, trainer::JobSpec spec) override;
  Task<Result<Estimate>> estimate(cluster::Call call, trainer::JobSpec spec) override;
  Task<Result<Job>> start(cluster::Call call, trainer::JobSpec spec, int priority) override;
  std::vector<Job> jobs(const cluster::Actor& actor, const cluster::JobFilter& filter) const override;
  Result<Job> job(const cluster::Actor& actor, std::string_view id) const override;
  Result<JobMetrics> metrics(const cluster::Actor& actor, std::string_view id) const override;
  Result<std::vector<JobLogLine>> logs(const cluster::Actor& actor, std::string_view id, std::uint64_t after,
                                       std::size_t limit) const override;
  Task<Result<Job>> pause(cluster::Call call, std::string id) override;
  Task<Result<Job>> resume(cluster::Call call, std::string id) override;
  Task<Result<Job>> cancel(cluster::Call call, std::string id) override;
  Task<Result<Job>> retry(cluster::Call call, std::string id) override;
  Task<Result<Job>> protect(cluster::Call call, std::string id, bool on) override;
  Task<Result<Job>> prioritize(cluster::Call call, std::string id, int priority) override;
  Task<Result<void>> remove(cluster::Call call, std::string id) override;
  void listen(Listener listener) override;

  std::vector<cluster::Model> models(const cluster::Actor& actor) const override;
  Result<cluster::Model> model(const cluster::Actor& actor, std::string_view name) const override;
  Result<std::vector<cluster::ModelVersion>> versions(const cluster::Actor& actor,
                                                      std::string_view name) const override;
  Task<Result<nlohmann::json>> evaluation(cluster::Call call, std::string name,
                                          std::uint32_t version) override;
  Task<Result<cluster::Model>> change(cluster::Call call, std::string name, cluster::ModelChange change,
                                      std::optional<std::uint64_t> if_revision) override;
  Task<Result<cluster::Model>> promote(cluster::Call call, std::string name, std::uint32_t version) override;
  Task<Result<cluster::Model>> rollback(cluster::Call call, std::string name) override;
  Task<Result<cluster::Model>> grant(cluster::Call call, std::string name, std::string user_id,
                                     bool on) override;
  Task<Result<void>> protect_version(cluster::Call call, std::string name, std::uint32_t version,
                                     bool on) override;
  Task<Result<void>> remove_version(cluster::Call call, std::string name, std::uint32_t version) override;
  Task<Result<trainer::Export>> export_version(cluster::Call call, std::string name, std::uint32_t version,
                                               trainer::ExportKind kind, std::string reason) override;
  Task<Result<cluster::ModelVersion>> import_json(cluster::Call call, std::string name,
                                                  std::string json) override;

  Task<Result<PredictAnswer>> predict(cluster::Call call, PredictRequest request) override;
  bool ready_to_predict(const cluster::Actor& actor, std::string_view model, std::uint32_t version) override;
  Task<Result<Scoring>> start_scoring(cluster::Call call, ScoringRequest request) override;
  std::vector<Scoring> scorings(const cluster::Actor& actor) const override;
  Result<Scoring> scoring(const cluster::Actor& actor, std::string_view id) const override;
  Task<Result<void>> remove_scoring(cluster::Call call, std::string id) override;
  Task<Result<std::unique_ptr<ByteStream>>> scoring_result(cluster::Call call, std::string id) override;

 private:
  using Key = std::shared_ptr<const security::SecretBytes>;  // shared: work on a pool is copied
  using Work = store::DataDir::Work;

  LocalModels(Loop& loop, Rng& rng, cluster::Cluster& cluster, Disk& disk, Pool& io, Pool& cpu,
              LocalData& data, security::SecretBytes wrap_key, LocalModelsOptions options,
              store::DataDir dir);

  // local_models.cpp
  Result<void> recover();
  Result<void> collect();
  void begin_accepted();
  std::string self() const { return data_.replicas().self(); }
  bool is_mine(const cluster::JobRecord& record) const;
  Bytes wrap(std::string_view purpose, std::string_view id, const security::SecretBytes& key) const;
  Result<Key> unwrap(std::string_view purpose, std::string_view id, ByteView wrapped) const;
  cluster::Call call_for(const std::string& owner_id, std::string request_id) const;
  // The rows of a version, for a worker, if the actor may read them.
  struct Rows {
    cluster::DatasetVersion version;
    std::vector<std::string> paths;
    std::vector<std::string> keys;  // of the shards
    Key key;
  };
  Result<Rows> open_rows(const cluster::Actor& actor, const std::string& dataset_id,
                         std::uint32_t version) const;

  // local_models_jobs.cpp
  Result<cluster::JobRecord> find_job(const cluster::Actor& actor, std::string_view id) const;
  Job shown(const cluster::JobRecord& record) const;
  void tell(const std::string& id);
  std::vector<PastJob> past_jobs() const;
  Task<Result<Job>> requeue(cluster::Call call, std::string id, bool (*allowed)(std::string_view state));
  Task<void> until_ended(std::string id);

  struct Run;                                 // a training that this node looks after
  struct Member;                              // a worker of this node
  using RunPtr = std::shared_ptr<Run>;        // shared: tasks end after it
  using MemberPtr = std::shared_ptr<Member>;  // shared with the thread beside the worker

  // local_models_queue.cpp
  void adopt(const std::string& id);
  void enqueue(const std::string& id);
  bool is_known(const std::string& id) const;
  RunPtr run_of(std::string_view id) const;
  void run_next();
  Task<void> run(RunPtr run);
  Task<void> conclude(RunPtr run, Result<void> done);
  unsigned units_of(const cluster::JobRecord& record) const;
  unsigned units_used() const;
  void arm_watch();
  void watch();
  Task<void> move_job(cluster::JobRecord record, std::string to);
  void tidy_checkpoints(const std::string& id);

  // local_models_crew.cpp
  Task<Result<void>> carry_out(RunPtr run);
  Task<Result<void>> carry_out_once(RunPtr run, cluster::JobRecord record);
  Result<void> settle(Run& run, const cluster::JobRecord& record);
  Task<void> order(RunPtr run, std::uint32_t number, std::string node, Bytes message);
  Task<Result<void>> announce(RunPtr run);
  Task<void> until_quiet(RunPtr run);
  Task<void> until_worked(RunPtr run);
  void stop_workers(const RunPtr& run, bool save);
  bool is_of_our_version(const std::string& node_id) const;
  std::vector<std::string> nodes_up(const Run& run) const;
  std::string node_name(const std::string& id) const;
  void on_news(const std::string& from, const JobNews& news);
  void leave_out(Run& run, std::uint32_t number, const std::string& node, Error why);
  void take_metric(Run& run, JobWorker& worker, const MetricMessage& metric);
  void wake(Run& run);
  // local_models_power.cpp
  const power::JobGrant* grant_of(const std::string& id) const;
  void watch_power(Run& run);
  void tell_power_end(const Run& run);
  // Says so when it is another than at first.
  void log_deadline(const cluster::JobRecord& record);
  std::optional<WallTime> deadline_of_job(const trainer::PowerSpec& power,
                                          const cluster::JobRecord& record) const;
  void show_power(Job& job) const;
  void sum_energy(const Run& run);

  // local_models_member.cpp
  Task<Result<Bytes>> on_ask(std::string from, Bytes body);
  void on_tell(const std::string& from, Bytes body);
  Task<Result<Bytes>> on_prepare(std::string from, JobPrepare order);
  Result<Bytes> on_epoch(const std::string& from, const JobEpoch& order);
  Result<Bytes> on_stop(const std::string& from, const JobStop& order);
  Result<Bytes> add_shards(const MemberPtr& member, const std::string& from, JobPrepare order);
  Task<void> bring_more(MemberPtr member, std::vector<std::uint32_t> shards, std::uint64_t turn);
  using Turns = std::vector<std::vector<std::uint32_t>>;
  Task<void> bring_ahead(MemberPtr member, Turns turns);
  Task<Result<void>> bring_shards(MemberPtr member, std::vector<std::uint32_t> shards);
  Task<Result<void>> bring_fresh(MemberPtr member, std::vector<std::uint32_t> shards);
  void tell_ready(Member& member);
  Task<void> work(MemberPtr member, JobPrepare order);
  Task<Result<bool>> work_until_end(MemberPtr member, JobPrepare order);
  void choose_device(Member& member, unsigned attempt, TrainTask& task);
  Result<TrainTask> prepare(Member& member, const cluster::JobRecord& record) const;
  TrainHooks hooks_for(const MemberPtr& member);
  void tell_home(const Member& member, JobNews news);
  void tell_alive(const MemberPtr& member);
  bool end_members(const WorkerRef& before);

  // local_models_train.cpp
  Task<Result<void>> commit_checkpoint(MemberPtr member, SavedFile file, std::string name);
  Task<Result<void>> commit_model(MemberPtr member, TrainedMessage trained);
  std::string summary_of(const std::string& job_id, const JobSize& size, std::string_view trained_json) const;

  // local_models_live.cpp
  struct Live;  // a job of another node, as that node told
  static const std::string& home_of(const Live& live);
  void tell_live(Run& run, bool over);
  void on_live(const std::string& from, const JobLive& message);
  void forget_live();
  Task<void> fetch_history(std::string from, std::string job_id);
  Result<Bytes> on_history(const JobHistoryAsk& asked) const;
  void show_live(const cluster::JobRecord& record, Job& job) const;
  void show_run(const Run& run, Job& job) const;

  // local_models_history.cpp
  void log_line(const std::string& job_id, std::string level, std::string text);
  void save_history(const std::string& job_id);
  Task<void> write_history(std::string job_id);
  Task<void> load_histories();
  JobHistory& history_of(const std::string& job_id);

  // local_models_keep.cpp
  struct Found {  // a version that the actor may see
    cluster::Model model;
    cluster::ModelVersion version;
    std::string store_id;
  };
  Result<Found> find_version(const cluster::Actor& actor, const std::string& name,
                             std::uint32_t version) const;
  Result<cluster::Model> manageable(const cluster::Actor& actor, const std::string& name) const;
  Result<Key> key_of(const Found& found) const;
  Task<Result<Bytes>> read_model(const Found& found) const;
  Task<Result<Replicas::HoldPtr>> bring(const Found& found, std::string file) const;
  // Has a version's files copied to those who shall hold them; `files` then says who does.
  Task<void> spread(std::string store_id, cluster::ModelVersion& version);
  void tell_model(const std::string& name) const;

  // local_models_predict.cpp
  Task<Result<ScorerPtr>> warm(Found found);

  // local_models_score.cpp
  struct Batch;  // one scoring, as it is known here
  void recover_scorings();
  void run_next_scoring();
  Task<void> run_scoring(std::shared_ptr<Batch> batch);
  Task<Result<void>> carry_out_scoring(std::shared_ptr<Batch> batch);
  Task<void> sweep_scorings();
  void arm_sweep();
  std::shared_ptr<Batch> find_batch(const cluster::Actor& actor, std::string_view id) const;
  void tell(const Batch& batch) const;

  // Constant after construction.
  Loop& loop_;
  Rng& rng_;
  cluster::Cluster& cluster_;
  Disk& disk_;
  Pool& io_;
  Pool& cpu_;
  LocalData& data_;
  const security::SecretBytes wrap_key_;
  const LocalModelsOptions options_;

  // Loop only.
  std::unique_ptr<store::DataDir> dir_;
  Listener listener_;
  std::deque<std::string> queue_;  // of job ids, by priority
  std::map<std::string, RunPtr, std::less<>> runs_;
  std::uint64_t last_run_ = 0;  // the highest number that this node gave to one
  std::map<WorkerRef, MemberPtr> members_;
  // Jobs that a GPU here failed: in which attempt, and why.
  std::map<std::string, std::pair<unsigned, std::string>, std::less<>> without_device_;
  std::unique_ptr<PeerRelay> relay_;
  std::map<std::string, std::shared_ptr<Live>, std::less<>> live_;
  std::map<std::string, MonoTime> away_since_;  // nodes that cannot be reached, for the leader
  std::set<std::string> moving_;                // jobs that are being given to another node
  std::set<std::string> tidying_;
  Loop::Id watch_timer_ = 0;
  power::Sample sample_;
  std::map<std::string, JobHistory, std::less<>> histories_;
  std::set<std::string> unsaved_;  // histories that changed since they were written
  std::set<std::string> saving_;   // those that are being written
  EnergyMeter meter_;
  WarmModels warm_;
  std::map<std::string, std::vector<std::function<void(Result<ScorerPtr>)>>> loading_;
  std::map<std::string, std::shared_ptr<Batch>, std::less<>> batches_;
  std::deque<std::string> batch_queue_;
  bool batch_running_ = false;
  bool stopping_ = false;
  Loop::Id sweep_timer_ = 0;

  // Last: its threads end first.
  Pool workers_;
};

// Where a version's files lie below models/, from the name of its evaluation; empty for no such name.
std::string store_id_of(const cluster::ModelVersion& version);
std::string store_id_of(std::string_view evaluation_name);
std::string evaluation_name_of(std::string_view store_id);

}  // namespace samovar::jobs
