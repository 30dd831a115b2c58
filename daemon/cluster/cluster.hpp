// The replicated state of the box: typed commands through the consensus log, queries from memory.
//
// Every command is one sealed log entry that holds the act and its audit entry, so nothing happens
// unrecorded. Rules that must hold under races (one admin is left, names are unique, nobody edits
// their own role) are checked where commands are applied, not here.
//
// Threading: loop only. Commands are tasks that resume on the loop thread once durable and applied;
//            queries answer at once from memory.
// Ownership: borrows Loop and Rng, which outlive it.
// Format:    docs/formats/command.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/model_types.hpp"
#include "daemon/cluster/placement.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/raft/consensus_log.hpp"

namespace samovar::net {
class Exchange;
}

namespace samovar::cluster {

// The way to the other members; without one the box is alone. Borrowed, outlives the Cluster.
struct ClusterLinks {
  net::Exchange* exchange = nullptr;
  // Is there a way to this node now? Only for sentences about how many see each other; may be empty.
  std::function<bool(const std::string& node_id)> up = {};
  // Our clock minus the one that most members agree with, for while we lead: a leader whose clock is years
  // ahead must not take the cluster's time along. Nothing while no other member has said its time. May be
  // empty.
  std::function<std::optional<Duration>()> clock_ahead = {};
};

struct ClusterOptions {
  std::string dir;  // the raft folder
  ClusterLinks links;
  bool join = false;       // the state comes from the leader: info() is empty until then
  std::string cluster_id;  // "clu_…", kept beside the keyring
  std::string node_id;
  std::uint32_t key_generation = 1;
  bool bootstrap = false;  // a new log: initialise() must be the first command
  // The rest of the log's options (thresholds, planted bug) for tests; dir and ids above win.
  raft::ConsensusOptions log;
};

class Cluster {
 public:
  // Errors are those of ConsensusLog::open, made to be shown to an administrator.
  static Result<std::unique_ptr<Cluster>> open(Loop& loop, Rng& rng, ClusterOptions options,
                                               security::SecretBytes metadata_key);
  // On other ground than files: for simulations.
  static Result<std::unique_ptr<Cluster>> open_on(std::unique_ptr<raft::LogHost> host, Loop& loop, Rng& rng,
                                                  ClusterOptions options, security::SecretBytes metadata_key);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Finishes what is in flight (Errc::unavailable), then closes the log. Destroy only after it.
  Task<void> close();

  // ---- commands ----
  // Common errors: invalid (a field), not_found, denied, conflict (see refusal_of), busy, no_space,
  // unavailable (outcome unknown: repeat with the same request id).
  Task<Result<ClusterInfo>> initialise(Call call, NewCluster cluster);
  Task<Result<ClusterInfo>> update_cluster(Call call, ClusterChange change,
                                           std::optional<std::uint64_t> if_revision);

  Task<Result<User>> create_user(Call call, NewUser user);
  Task<Result<User>> update_user(Call call, std::string user_id, UserChange change,
                                 std::optional<std::uint64_t> if_revision);
  Task<Result<void>> delete_user(Call call, std::string user_id, std::optional<std::uint64_t> if_revision);
  // Ends the user's other sessions; `keep_session_id` (may be empty) stays.
  Task<Result<User>> set_password(Call call, std::string user_id, std::string password_hash,
                                  std::string keep_session_id);
  Task<Result<User>> unlock_user(Call call, std::string user_id);

  // The password was right. Resets the failure count, remembers the device.
  Task<Result<Session>> login(Call call, NewSession session);
  // The password was wrong, or the name unknown. Counts and records.
  Task<Result<void>> login_failed(Call call, LoginFailure failure);
  Task<Result<Session>> reauthenticate(Call call, std::string session_id);
  // Log-out, or the end of somebody's session by an administrator.
  Task<Result<void>> end_session(Call call, std::string session_id);
  // At most one command per kTouchInterval and session; answers at once in between. Not audited.
  Task<Result<void>> touch_session(std::string session_id);

  Task<Result<Token>> create_token(Call call, NewToken token);
  Task<Result<void>> delete_token(Call call, std::string token_id);
  Task<Result<void>> touch_token(std::string token_id);

  Task<Result<Setting>> put_setting(Call call, std::string key, std::string json,
                                    std::optional<std::uint64_t> if_revision);
  // This node's row; writes (and records) only when something differs. State and keys stay as they are.
  Task<Result<NodeRecord>> put_node(Call call, NodeRecord node);
  // A new member; Refusal::node_known when one with this id is, or ever was, a member.
  Task<Result<NodeRecord>> admit_node(Call call, NodeRecord node);
  Task<Result<NodeRecord>> drain_node(Call call, std::string node_id, bool on);
  // Refusal::last_node, last_active; Refusal::last_copies when it alone holds more than `losses_max` files.
  // Its copies are forgotten with the same command.
  Task<Result<NodeRecord>> remove_node(Call call, std::string node_id, std::uint64_t losses_max = 0);
  // Until what the leader knew when it was asked is known here, too: before somebody is told that something
  // is not there. Errc::unavailable: it could not be asked.
  Task<Result<void>> catch_up();
  // False while a node that was started, or was away, has not caught up with the leader. One that hears of
  // no leader for long shows what it has.
  Task<bool> is_current();
  // Holders of files of the store, changed after the fact is durable there. Not audited. A file that is gone
  // meanwhile is skipped.
  Task<Result<void>> change_copies(Call call, std::vector<CopyChange> changes);

  // A new data set when dataset.name is given, else a new version of the one with that id.
  Task<Result<Dataset>> commit_dataset(Call call, NewDataset manifest);
  Task<Result<Dataset>> update_dataset(Call call, std::string dataset_id, DatasetChange change,
                                       std::optional<std::uint64_t> if_revision);
  Task<Result<Dataset>> bin_dataset(Call call, std::string dataset_id,
                                    std::optional<std::uint64_t> if_revision = {});
  // Refusal::dataset_name_taken when its name was given to another one meanwhile.
  Task<Result<Dataset>> restore_dataset(Call call, std::string dataset_id);
  // From the bin only. The keys and all records are gone with it; the certificate is in the audit log.
  Task<Result<void>> destroy_dataset(Call call, std::string dataset_id);
  Task<Result<Dataset>> grant_dataset(Call call, std::string dataset_id, std::string user_id);
  Task<Result<Dataset>> ungrant_dataset(Call call, std::string dataset_id, std::string user_id);
  // Writes (and records) only when it was not known.
  Task<Result<void>> mark_shard(Call call, ShardMark mark);

  // id, kind, owner_id, title, spec_json, dataset_id; an empty id is filled in.
  Task<Result<OperationRecord>> begin_operation(Call call, OperationRecord operation);
  Task<Result<OperationRecord>> end_operation(Call call, OperationEnd end);

  // id, kind, name, owner_id, dataset_id, dataset_version, spec_json, wrapped_key; an empty id is filled in.
  // Refusal::model_name_taken when another user's model has the name.
  Task<Result<JobRecord>> begin_job(Call call, JobRecord job);
  // queued → paused, failed, cancelled; paused → queued, cancelled; failed or cancelled → queued, which
  // counts as a new attempt. Anything else is Refusal::job_state. A job can be cancelled from elsewhere (its
  // owner was deleted): Change::Kind::jobs tells.
  Task<Result<JobRecord>> end_job(Call call, JobEnd end);
  // Of a queued job, or one that was just paused. Not audited.
  Task<Result<JobRecord>> checkpoint_job(Call call, JobCheckpoint checkpoint);
  // Who works on what from this epoch on. Refusal::job_state when somebody else carries it out by now, or it
  // is not queued. Not audited.
  Task<Result<JobRecord>> plan_job(Call call, JobPlan plan);
  // Another node carries it out from now on, from its last checkpoint.
  Task<Result<JobRecord>> take_job(Call call, JobTake take);
  Task<Result<JobRecord>> prioritize_job(Call call, std::string job_id, int priority);
  Task<Result<JobRecord>> protect_job(Call call, std::string job_id, bool on);
  // Refusal::job_state while it is queued, Refusal::job_protected. A model it made stays.
  Task<Result<void>> remove_job(Call call, std::string job_id);

  // A version, and its job done (version.job_id; empty for an imported one), in one command. The owner of an
  // existing model must be version.created_by: else Refusal::model_name_taken.
  Task<Result<ModelVersion>> commit_model(Call call, NewModelVersion model);
  Task<Result<Model>> change_model(Call call, std::string name, ModelChange change,
                                   std::optional<std::uint64_t> if_revision);
  // Into production; the one that was there is archived. Version 0: none serves any more.
  Task<Result<Model>> promote_model(Call call, std::string name, std::uint32_t version);
  // To the one that served before; Refusal::no_rollback when there is none.
  Task<Result<Model>> rollback_model(Call call, std::string name);
  Task<Result<Model>> grant_model(Call call, std::string name, std::string user_id);
  Task<Result<Model>> ungrant_model(Call call, std::string name, std::string user_id);
  Task<Result<ModelVersion>> protect_model_version(Call call, std::string name, std::uint32_t version,
                                                   bool on);
  // Its key goes with it, also the job's; the model goes with its last version. Refusal::model_serving,
  // Refusal::model_protected.
  Task<Result<void>> remove_model_version(Call call, std::string name, std::uint32_t version);

  // An act outside this state that must be recorded: unlock, export, a refused request. `details` is
  // a JSON object as text. Returns its seq.
  Task<Result<std::uint64_t>> record(Call call, std::string action, std::string object, std::string result,
                                     std::string details);
  // expires_at is ignored: 24 hours from now.
  Task<Result<void>> save_response(SavedResponse response);

  // ---- queries ----
  std::optional<ClusterInfo> info() const;
  // Cluster time: the leader's clock as far as this node knows it. Never before what the log has seen, and it
  // goes on from there even on a board whose own clock stands in 1970.
  WallTime now() const;
  // This node's clock minus the leader's; none while that is not known, and on a leader, unless its clock was
  // far off before. Above kSkewWarns people should hear of it, above kSkewBlocks no token or session should
  // be issued here.
  std::optional<Duration> clock_skew() const;

  std::optional<User> user(std::string_view id) const;
  std::optional<User> user_by_name(std::string_view username) const;  // any case
  Page<User> users(const PageQuery& page) const;                      // by name

  LoginGate login_gate(std::string_view username, ByteView device_hash) const;

  // Expired sessions and tokens, and those of disabled users, are not found.
  std::optional<Session> session(std::string_view id) const;
  std::optional<Session> session_by_hash(ByteView secret_hash) const;
  Page<Session> sessions(const std::optional<std::string>& user_id,
                         const PageQuery& page) const;  // newest first

  std::optional<Token> token(std::string_view id) const;
  std::optional<Token> token_by_lookup(std::string_view lookup) const;
  Page<Token> tokens(const std::optional<std::string>& user_id, const PageQuery& page) const;  // newest first

  // Revision 0 and "{}" when never set.
  Setting setting(std::string_view key) const;
  std::vector<NodeRecord> nodes() const;  // members first, then those that were; by name
  std::optional<NodeRecord> node(std::string_view id) const;
  // Every sealed file that must exist somewhere, and who has it.
  std::vector<StoredFile> stored_files() const;
  std::optional<StoredFile> stored_file(std::string_view key) const;
  std::optional<SavedResponse> saved_response(std::string_view user_id, std::string_view key) const;

  std::optional<Dataset> dataset(std::string_view id) const;
  // Among those that are not in the bin, in any case.
  std::optional<Dataset> dataset_by_name(std::string_view name) const;
  Page<Dataset> datasets(const DatasetFilter& filter, const PageQuery& page) const;  // newest first
  // The manifest; version 0 is the latest.
  std::optional<DatasetVersion> dataset_version(std::string_view id, std::uint32_t version = 0) const;
  std::optional<VersionSummary> version_summary(std::string_view id, std::uint32_t version = 0) const;
  std::vector<VersionSummary> dataset_versions(std::string_view id) const;  // newest first
  std::vector<VersionRef> version_refs() const;                             // all there are, also in the bin
  std::optional<Bytes> wrapped_source_key(std::string_view dataset_id) const;
  // Of one user, or all; newest first.
  std::vector<OperationRecord> operations(const std::optional<std::string>& owner_id = {}) const;
  std::optional<OperationRecord> operation(std::string_view id) const;

  std::optional<JobRecord> job(std::string_view id) const;
  std::vector<JobRecord> jobs(const JobFilter& filter) const;  // newest first
  std::optional<Model> model(std::string_view name) const;     // in any case
  std::vector<Model> models(
      const std::optional<std::string>& user_id = {}) const;  // by name; own and granted
  // Version 0: the one in production, else the latest there is.
  std::optional<ModelVersion> model_version(std::string_view name, std::uint32_t version = 0) const;
  std::vector<ModelVersion> model_versions(std::string_view name) const;  // newest first
  std::vector<JobRef> job_refs() const;
  std::vector<ModelRef> model_refs() const;

  AuditPage audit(const AuditQuery& query) const;
  // Walks the whole chain, giving way to other work now and then.
  Task<Result<AuditVerdict>> verify_audit() const;

  raft::ConsensusStatus status() const;
  std::vector<raft::LogMember> log_members() const;
  raft::ConsensusLog& log();  // for those who change its members
  // Is there a leader that can be reached, as far as this node knows? Without one, changes are refused with
  // Refusal::no_quorum (Errc::unavailable) and reads stay.
  bool writable() const;
  // Why this program is too old to follow its cluster; empty while it can. Then its state is not the others'.
  const std::string& behind() const;
  // The version of commands that every member understands; a later one is refused with Errc::unsupported.
  unsigned level() const;
  // Equal on all nodes that applied the same log. Costs a walk over all rows: for tests and diagnosis.
  Bytes state_hash() const;

  // One listener; called after each applied command, before the command's task resumes.
  void on_change(std::function<void(const Change&)> listener);

 private:
  struct Impl;
  explicit Cluster(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::cluster
