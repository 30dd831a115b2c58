// Jobs: accepted, kept going over restarts, ended. Their progress is not in the state.
//
//            ┌──────── pause ────────┐
//            ▼                       │
//   begin → queued ──────────────→ paused ──→ cancelled
//            │ ▲  └─ model.commit → done        │
//            ▼ └──────── retry ─────────────────┤
//          failed, cancelled ───────────────────┘
#include <limits>

#include <fmt/format.h>

#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/model_commands.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/rows_datasets.hpp"
#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kErrorBytesMax = 2048;
constexpr std::int64_t kQueuedPerUserMax = 100;
constexpr std::int64_t kQueuedMax = 1000;
constexpr std::int64_t kJobsMax = 20'000;
constexpr std::int64_t kEpochMax = std::int64_t{1} << 62;

std::int64_t count_jobs(Db& db, std::string_view state, std::string_view owner_id) {
  Query row(db, "SELECT count(*) FROM jobs WHERE (?1 = '' OR state = ?1) AND (?2 = '' OR owner_id = ?2)",
            state, owner_id);
  return row.next() ? row.number(0) : 0;
}

bool may_become(std::string_view from, std::string_view to) {
  if (from == "queued") return to == "paused" || to == "failed" || to == "cancelled";
  if (from == "paused") return to == "queued" || to == "cancelled";
  return (from == "failed" || from == "cancelled") && to == "queued";
}

Result<void> check_room(Context& context, const std::string& owner_id) {
  if (count_jobs(context.db, "queued", owner_id) >= kQueuedPerUserMax)
    return Error{Errc::busy, "too many of your jobs are waiting: wait for some of them, or cancel some"};
  if (count_jobs(context.db, "queued", {}) >= kQueuedMax)
    return Error{Errc::busy, "too many jobs are waiting: try again later"};
  return {};
}

Result<void> check_data(Context& context, const std::string& dataset_id, std::uint32_t version) {
  const auto dataset = find_dataset(context.db, dataset_id);
  if (!dataset) return Error{Errc::not_found, "there is no such data set"};
  if (dataset->binned_at) return refuse(Refusal::dataset_binned);
  if (!find_summary(context.db, dataset_id, version))
    return Error{Errc::not_found, "the data set has no such version"};
  return {};
}

Fields details_of(const JobRecord& job) {
  Fields details;
  details.set("kind", job.kind).set("model", job.name).set("dataset", job.dataset_id);
  details.set("dataset_version", std::int64_t{job.dataset_version});
  return details;
}

std::string checkpoint_key(const JobRecord& job) { return job.id + "/" + job.checkpoint_name; }

// The row that says how it is carried out, to be changed.
void need_run(Context& context, const std::string& id) {
  run(context.db, "INSERT OR IGNORE INTO job_runs VALUES (?, 0, 0, '', '')", id);
}

// Its files are nobody's from here on.
void forget_checkpoint(Context& context, const JobRecord& job) {
  if (job.checkpoint_name.empty()) return;
  forget_file(context.db, checkpoint_key(job));
  run(context.db, "UPDATE job_runs SET checkpoint_name = '' WHERE id = ?", job.id);
}

// To the node that takes it up again. A checkpoint goes with it when there are copies of it, or it is only
// where it was made.
Result<void> hand_to(Context& context, const JobRecord& job) {
  if (!context.body.has("node_id")) return {};
  SAMOVAR_TRY(const std::string node_id, context.body.text("node_id", 64, 1));
  if (node_id == job.node_id) return {};
  if (job.checkpoint_name.empty() || holders_of(context.db, checkpoint_key(job)).empty()) {
    run(context.db, "UPDATE jobs SET checkpoint_step = 0, checkpoint_hash = x'' WHERE id = ?", job.id);
    forget_checkpoint(context, job);
  }
  return set_carrier(context, job.id);
}

// The checkpoint as a stored file with copies; what was kept before is nobody's any more.
Result<void> keep_file(Context& context, const JobRecord& job) {
  if (!context.body.has("name")) {
    forget_checkpoint(context, job);
    return {};
  }
  SAMOVAR_TRY(const std::string name, context.body.text("name", 40, 1));
  SAMOVAR_TRY(const std::int64_t bytes,
              context.body.number("bytes", 1, std::numeric_limits<std::int64_t>::max()));
  SAMOVAR_TRY(const std::int64_t made_by, context.body.number("run", 0, kEpochMax));
  SAMOVAR_TRY(const auto holders, context.body.texts("holders", kCopiesMax, 64));
  SAMOVAR_TRY(const Bytes hash, context.body.bytes("hash", kJobHashBytes, kJobHashBytes));
  if (!name.starts_with("checkpoint-")) return Error{Errc::invalid, "name: is not a checkpoint's"};
  if (static_cast<std::uint64_t>(made_by) < job.run) return refuse(Refusal::job_state);
  forget_checkpoint(context, job);
  need_run(context, job.id);
  run(context.db, "UPDATE job_runs SET checkpoint_name = ? WHERE id = ?", name, job.id);
  const std::string key = job.id + "/" + name;
  record_file(context.db, key, static_cast<std::uint64_t>(bytes), hash);
  add_holders(context.db, key, holders);
  forget_holders_removed(context.db);
  // The checkpoint before it is still where it was, and is better than none.
  return check_held(context.body, context.db, {key});
}

void set_priority(Context& context, const std::string& id, std::int64_t priority) {
  run(context.db, "INSERT OR REPLACE INTO job_priorities VALUES (?, ?)", id, priority);
}

std::string_view action_of(std::string_view from, std::string_view to) {
  if (to == "queued") return from == "paused" ? "job.resume" : "job.retry";
  if (to == "paused") return "job.pause";
  return to == "cancelled" ? "job.cancel" : "job.end";
}

}  // namespace

Result<JobRecord> need_job(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  auto job = find_job(context.db, id);
  if (!job) return Error{Errc::not_found, "there is no such job"};
  return *std::move(job);
}

Result<std::string> read_document(const Fields& body, std::string_view field, std::size_t bytes_max) {
  SAMOVAR_TRY(const Bytes bytes, body.bytes(field, 2, bytes_max));
  auto document = canonical_json_object(as_text(bytes), bytes_max);
  if (!document) return Error{Errc::invalid, fmt::format("{}: {}", field, document.error().message())};
  return document;
}

Result<void> finish_job(Context& context, const JobRecord& job, std::string_view model, std::uint32_t version,
                        const std::string& summary_json) {
  if (job.state != "queued") return refuse(Refusal::job_state);
  // Its checkpoint is not needed any more: without a record its file is collected.
  run(context.db,
      "UPDATE jobs SET state = 'done', error = '', model_name = ?, model_version = ?, summary_json = ?, "
      "ended_us = ?, checkpoint_step = 0, checkpoint_hash = x'', revision = revision + 1 WHERE id = ?",
      model, version, summary_json, context.now, job.id);
  forget_checkpoint(context, job);
  context.changed(Change::Kind::jobs, job.id);
  return {};
}

Result<Fields> apply_job_begin(Context& context) {
  JobRecord job;
  SAMOVAR_TRY(job.id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(job.kind, context.body.text("kind", 32, 1));
  SAMOVAR_TRY(job.name, context.body.text("name", kModelNameBytesMax));
  SAMOVAR_CHECK(check_model_name(job.name));
  SAMOVAR_TRY(const User owner, need_user(context, "owner_id"));
  SAMOVAR_TRY(job.dataset_id, context.body.text("dataset_id", 64, 1));
  SAMOVAR_TRY(const std::int64_t version, context.body.number("dataset_version", 1, kVersionsMax));
  job.dataset_version = static_cast<std::uint32_t>(version);
  SAMOVAR_TRY(job.spec_json, read_document(context.body, "spec", kSpecBytesMax));
  SAMOVAR_TRY(job.wrapped_key, context.body.bytes("wrapped_key", kModelKeyBytesMin, kModelKeyBytesMax));
  SAMOVAR_CHECK(check_data(context, job.dataset_id, job.dataset_version));
  SAMOVAR_CHECK(check_model_owner(context, job.name, owner.id));
  SAMOVAR_CHECK(check_room(context, owner.id));
  if (count_jobs(context.db, {}, {}) >= kJobsMax)
    return Error{Errc::busy, "there are as many jobs as a box can keep: delete some that are done"};
  if (find_job(context.db, job.id)) return Error{Errc::conflict, "id: is in use"};
  run(context.db,
      "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', '', 1, '', 0, '{}', 0, ?, NULL, 0, x'', ?, 1)",
      job.id, job.kind, job.name, owner.id, job.dataset_id, job.dataset_version, job.spec_json, context.now,
      job.wrapped_key);
  SAMOVAR_CHECK(set_carrier(context, job.id));
  if (context.body.has("priority")) {
    SAMOVAR_TRY(const std::int64_t priority, context.body.number("priority", -kPriorityMost, kPriorityMost));
    set_priority(context, job.id, priority);
  }
  context.audit("job.begin", job.id, details_of(job));
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_checkpoint(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const std::int64_t step,
              context.body.number("step", 0, std::numeric_limits<std::int64_t>::max()));
  SAMOVAR_TRY(const Bytes hash, context.body.bytes("hash", 0, kJobHashBytes));
  if (hash.size() != (step == 0 ? 0 : kJobHashBytes)) return Error{Errc::invalid, "hash: has a wrong length"};
  const bool stored = context.body.has("name");
  // The last one of a job that was asked to pause comes when it is paused.
  if (job.state != "queued" && !(stored && job.state == "paused")) return refuse(Refusal::job_state);
  SAMOVAR_CHECK(keep_file(context, job));
  run(context.db,
      "UPDATE jobs SET checkpoint_step = ?, checkpoint_hash = ?, revision = revision + 1 WHERE id = ?", step,
      hash, job.id);
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_plan(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const std::string node_id, context.body.text("node_id", 64, 1));
  SAMOVAR_TRY(const std::int64_t run_number, context.body.number("run", 1, kEpochMax));
  SAMOVAR_TRY(const std::int64_t epoch, context.body.number("epoch", 1, kEpochMax));
  SAMOVAR_TRY(const std::string plan, read_document(context.body, "plan", kPlanBytesMax));
  const auto later = [](std::int64_t one, std::uint64_t other) {
    return static_cast<std::uint64_t>(one) > other;
  };
  if (job.state != "queued" || job.node_id != node_id || !later(epoch, job.epoch) ||
      (job.run > 0 && !later(run_number, job.run - 1)))
    return refuse(Refusal::job_state);
  need_run(context, job.id);
  run(context.db, "UPDATE job_runs SET run = ?, epoch = ?, plan_json = ? WHERE id = ?", run_number, epoch,
      plan, job.id);
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_take(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const std::string from, context.body.text("from", 64));
  SAMOVAR_TRY(const std::string node_id, context.body.text("node_id", 64, 1));
  if (job.node_id != from || job.state != "queued" || from == node_id) return Fields().set("id", job.id);
  SAMOVAR_CHECK(hand_to(context, job));
  run(context.db, "UPDATE jobs SET revision = revision + 1 WHERE id = ?", job.id);
  context.audit("job.take", job.id, details_of(job).set("from", from).set("to", node_id));
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_end(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const std::string state, context.body.text("state", 16, 1));
  SAMOVAR_TRY(const std::string error, context.body.text("error", kErrorBytesMax));
  SAMOVAR_TRY(const std::string summary, read_document(context.body, "summary", kSummaryBytesMax));
  if (!may_become(job.state, state)) return refuse(Refusal::job_state);
  const bool goes_on = state == "queued";
  const bool again = goes_on && job.state != "paused";
  if (goes_on) {
    SAMOVAR_CHECK(check_data(context, job.dataset_id, job.dataset_version));
    SAMOVAR_CHECK(check_model_owner(context, job.name, job.owner_id));
    SAMOVAR_CHECK(check_room(context, job.owner_id));
  }
  const bool over = state == "failed" || state == "cancelled";
  // Nothing new to say about it ("{}") leaves what was known.
  run(context.db,
      "UPDATE jobs SET state = ?, error = ?, attempt = ?, summary_json = ?, ended_us = ?, revision = "
      "revision "
      "+ 1 WHERE id = ?",
      state, error, job.attempt + (again ? 1u : 0u), summary == "{}" ? job.summary_json : summary,
      over ? std::optional<WallTime>(context.now) : std::nullopt, job.id);
  if (goes_on) SAMOVAR_CHECK(hand_to(context, job));
  // Why it failed may quote the data; the log keeps only that it did.
  context.audit(action_of(job.state, state), job.id, details_of(job).set("state", state),
                state == "failed" ? "failed" : "ok");
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

// Of one that has ended nothing waits any more.
Result<Fields> apply_job_priority(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const std::int64_t priority, context.body.number("priority", -kPriorityMost, kPriorityMost));
  if (job.state != "queued" && job.state != "paused") return refuse(Refusal::job_state);
  if (priority == job.priority) return Fields().set("id", job.id);
  set_priority(context, job.id, priority);
  run(context.db, "UPDATE jobs SET revision = revision + 1 WHERE id = ?", job.id);
  context.audit("job.priority", job.id, details_of(job).set("priority", priority));
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_protect(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  SAMOVAR_TRY(const bool on, context.body.flag("protect"));
  if (on == job.protect) return Fields().set("id", job.id);
  run(context.db, "UPDATE jobs SET protect = ?, revision = revision + 1 WHERE id = ?", on, job.id);
  context.audit("job.protect", job.id, details_of(job).set("protect", on));
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

Result<Fields> apply_job_remove(Context& context) {
  SAMOVAR_TRY(const JobRecord job, need_job(context));
  if (job.state == "queued") return refuse(Refusal::job_state);
  if (job.protect) return refuse(Refusal::job_protected);
  forget_checkpoint(context, job);
  run(context.db, "DELETE FROM job_runs WHERE id = ?", job.id);
  run(context.db, "DELETE FROM job_priorities WHERE id = ?", job.id);
  run(context.db, "DELETE FROM jobs WHERE id = ?", job.id);
  run(context.db, "DELETE FROM carriers WHERE id = ?", job.id);
  context.audit("job.remove", job.id, details_of(job).set("state", job.state));
  context.changed(Change::Kind::jobs, job.id);
  return Fields().set("id", job.id);
}

}  // namespace samovar::cluster
