// The data service of one node: uploads in its store, ingests by its worker, data sets in the replicated
// state, their files on as many nodes as are wanted.
//
// In a cluster a node carries out its own operations only, and touches what an interruption left only once
// its state is as new as the leader's: until then it serves, but does not clean up.
//
//   local_data.cpp          birth, recovery after a cut, uploads, rights, operations
//   local_data_ingest.cpp   accepting work, the queue, from worker to manifest
//   local_data_read.cpp     profile, preview, download, bad rows
//   local_data_keep.cpp     bin, destruction, scrub, the daily sweep
//
// Threading: loop only; disk and cipher work on the io pool, workers are awaited on the jobs pool.
// Ownership: borrows Loop, Rng, Cluster, Disk and the io pool, which outlive it.
#pragma once
#include <atomic>
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
#include "daemon/jobs/data_service.hpp"
#include "daemon/jobs/ingest_runner.hpp"
#include "daemon/jobs/ingest_spec.hpp"
#include "daemon/jobs/operations.hpp"
#include "daemon/jobs/replicas.hpp"
#include "daemon/jobs/uploads.hpp"
#include "daemon/store/data_dir.hpp"
#include "daemon/store/scrub.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::jobs {

struct LocalDataOptions {
  std::string root;  // the data folder
  std::string node_id;
  std::uint32_t key_generation = 1;
  unsigned threads = 1;  // of one ingest
  WorkerOptions worker;
  store::SpaceRules space;
  // The other nodes; without an exchange the box is alone.
  net::Exchange* exchange = nullptr;
  std::function<std::vector<cluster::StorageNode>()> nodes;  // as ReplicaWorld's; empty: this one only
  Duration repair_grace = std::chrono::seconds(60);          // a node that went away still counts so long
};

struct DataKeys {
  security::SecretBytes wrap;    // wraps data keys
  security::SecretBytes upload;  // wraps the one-off keys of uploads
};

class LocalData final : public DataService {
 public:
  // Opens the store, gives interrupted work back its upload, removes what nothing names. Blocks on the disk.
  static Result<std::unique_ptr<LocalData>> open(Loop& loop, Rng& rng, cluster::Cluster& cluster, Disk& disk,
                                                 Pool& io, DataKeys keys, LocalDataOptions options);
  ~LocalData() override;
  LocalData(const LocalData&) = delete;
  LocalData& operator=(const LocalData&) = delete;

  // Begins with the work that was accepted before the restart, and with the sweeps.
  void start();
  // Ends the worker; what it was doing stays accepted. Nothing begins after this.
  void stop();

  std::uint64_t damaged_shards() const;  // for the alerts
  Replicas& replicas() noexcept { return *replicas_; }
  // The state changed, or who can be reached did (Change::Kind::nodes): whoever listens to the cluster tells.
  void on_change(const cluster::Change& change);
  // What an interruption left is put right; at once on a box alone. Called once then, or now.
  void when_settled(std::function<void()> then);
  bool settled() const noexcept { return settled_; }

  // An upload that somebody else reads, with their own right: held until it is released.
  struct HeldUpload {
    std::string path;
    std::string file_name;
    std::uint64_t bytes = 0;
    security::SecretBytes key;
  };
  Result<HeldUpload> hold_upload(const cluster::Actor& actor, const std::string& upload_id);
  void release_upload(const std::string& upload_id);

  Task<Result<Upload>> create_upload(cluster::Call call, NewUpload upload) override;
  Result<Upload> upload(const cluster::Actor& actor, std::string_view id) const override;
  std::vector<Upload> uploads(const cluster::Actor& actor) const override;
  Task<Result<Upload>> append(cluster::Call call, std::string id, std::uint64_t offset,
                              NextPiece next) override;
  Task<Result<void>> delete_upload(cluster::Call call, std::string id) override;
  Task<Result<ingest::Detection>> inspect(cluster::Call call, std::string upload_id,
                                          ingest::ParseHints hints) override;

  Task<Result<Operation>> start_ingest(cluster::Call call, std::string upload_id,
                                       IngestRequest request) override;
  Task<Result<Operation>> start_version(cluster::Call call, std::string dataset_id,
                                        IngestRequest request) override;
  Task<Result<Operation>> start_sample(cluster::Call call) override;
  std::vector<Operation> operations(const cluster::Actor& actor) const override;
  std::optional<Operation> operation(const cluster::Actor& actor, std::string_view id) const override;
  Task<Result<void>> cancel(cluster::Call call, std::string operation_id) override;
  void on_operation(std::function<void(const Operation&)> listener) override;

  bool may_see(const cluster::Actor& actor, const cluster::Dataset& dataset) const override;
  bool may_read_rows(const cluster::Actor& actor, const cluster::Dataset& dataset) const override;
  Task<Result<nlohmann::json>> profile(cluster::Actor actor, std::string dataset_id, std::uint32_t version,
                                       std::string target) override;
  Task<Result<Preview>> preview(cluster::Call call, std::string dataset_id, std::uint32_t version) override;
  Task<Result<std::unique_ptr<ByteStream>>> download(cluster::Call call, std::string dataset_id,
                                                     std::uint32_t version) override;
  Task<Result<std::unique_ptr<ByteStream>>> bad_rows(cluster::Call call, std::string dataset_id,
                                                     std::uint32_t version) override;

  Task<Result<cluster::Dataset>> bin(cluster::Call call, std::string dataset_id) override;
  Task<Result<cluster::Dataset>> restore(cluster::Call call, std::string dataset_id) override;
  Task<Result<void>> destroy(cluster::Call call, std::string dataset_id) override;
  Task<Result<Operation>> start_scrub(cluster::Call call) override;

 private:
  LocalData(Loop& loop, Rng& rng, cluster::Cluster& cluster, Disk& disk, Pool& io, DataKeys keys,
            LocalDataOptions options, store::DataDir dir);

  // local_data.cpp
  Result<void> recover();
  Result<void> open_uploads();
  Result<void> return_sources();
  Result<void> hold_accepted();
  Task<void> settle();
  void begin_accepted();
  bool is_mine(const cluster::OperationRecord& record) const;
  void on_operation_changed(const cluster::OperationRecord& record);
  store::DataDir::Known known() const;
  Operation shown(const cluster::OperationRecord& record) const;
  Result<void> take_upload(const std::string& upload_id);
  void give_back_upload(const cluster::OperationRecord& record);
  static bool may_see_operation(const cluster::Actor& actor, std::string_view owner_id);
  cluster::Call call_for(const std::string& owner_id, std::string request_id) const;

  // local_data_ingest.cpp
  struct Work;  // one ingest under way
  Result<void> check_name(const std::string& name) const;
  Task<Result<Operation>> accept(cluster::Call call, OperationKind kind, std::string title, IngestSpec spec);
  void run_next();
  Task<void> run(std::string operation_id);
  Task<Result<void>> carry_out(std::shared_ptr<Work> work);
  Result<void> find_source(Work& work);
  Task<Result<ingest::WorkerReport>> read_in(std::shared_ptr<Work> work);
  Task<Result<void>> place(std::shared_ptr<Work> work, ingest::WorkerReport report);
  Task<void> spread(std::shared_ptr<Work> work, cluster::NewDataset& manifest);
  cluster::NewDataset manifest_of(const Work& work, const ingest::WorkerReport& report) const;
  Task<Result<cluster::Dataset>> commit(const Work& work, cluster::NewDataset manifest);
  Task<void> undo_place(std::shared_ptr<Work> work);
  Task<void> conclude(std::string operation_id, Result<void> done, bool cancelled);

  // local_data_read.cpp
  struct Opened;  // a version that the actor may see, and its key
  Result<Opened> open_version(const cluster::Actor& actor, const std::string& dataset_id,
                              std::uint32_t version) const;
  Task<Result<nlohmann::json>> read_profile(const Opened& opened);
  Task<Result<nlohmann::json>> read_profile_once(const Opened& opened);
  Task<bool> mend_shard(std::string key);
  Task<Result<void>> record_read(cluster::Call call, std::string action, const Opened& opened);
  Task<Result<Replicas::HoldPtr>> bring(const cluster::DatasetVersion& version, std::string file);

  // local_data_keep.cpp
  Task<Result<void>> destroy_now(cluster::Call call, std::string dataset_id);
  void arm_sweep(Duration delay);
  Task<void> sweep();
  Task<void> run_scrub(std::string operation_id);
  Task<Result<std::uint64_t>> scrub_all(std::string operation_id);
  std::vector<store::ScrubTarget> scrub_list() const;
  std::set<std::string> marked_shards() const;
  // A copy here is said to be damaged: mended from another one, or marked when there is none.
  Task<Replicas::Mended> on_damage(std::string key);
  Task<void> mark(std::string key, bool damaged);

  Result<security::SecretBytes> unwrap(std::string_view purpose, std::string_view id, ByteView wrapped) const;
  Bytes wrap(std::string_view purpose, std::string_view id, const security::SecretBytes& key) const;

  // Constant after construction.
  Loop& loop_;
  Rng& rng_;
  cluster::Cluster& cluster_;
  Disk& disk_;
  Pool& io_;
  const DataKeys keys_;
  const LocalDataOptions options_;

  // Loop only.
  std::unique_ptr<store::DataDir> dir_;
  std::unique_ptr<Replicas> replicas_;
  std::unique_ptr<Uploads> uploads_;
  OperationBook book_;
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> cancels_;  // of work that runs
  std::string running_;                                                // the ingest under way
  std::set<std::string> taken_;                                        // uploads that become data sets
  bool scrubbing_ = false;
  bool settled_ = false;
  bool stopping_ = false;
  std::vector<std::function<void()>> on_settled_;
  Loop::Id sweep_timer_ = 0;

  // Last: its threads end first.
  Pool jobs_;
};

}  // namespace samovar::jobs
