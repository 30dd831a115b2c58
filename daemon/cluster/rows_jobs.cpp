#include <fmt/format.h>

#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

constexpr const char* kColumns =
    "jobs.id, kind, name, owner_id, dataset_id, dataset_version, spec_json, state, error, attempt, "
    "model_name, "
    "model_version, summary_json, protect, created_us, ended_us, checkpoint_step, checkpoint_hash, "
    "wrapped_key, revision, coalesce((SELECT node_id FROM carriers c WHERE c.id = jobs.id), ''), "
    "coalesce(r.run, 0), coalesce(r.epoch, 0), coalesce(r.plan_json, ''), coalesce(r.checkpoint_name, ''), "
    "coalesce((SELECT priority FROM job_priorities p WHERE p.id = jobs.id), 0)";
constexpr const char* kFrom = "jobs LEFT JOIN job_runs r ON r.id = jobs.id";

JobRecord job_of(const Query& row) {
  JobRecord job;
  job.id = row.text(0);
  job.kind = row.text(1);
  job.name = row.text(2);
  job.owner_id = row.text(3);
  job.dataset_id = row.text(4);
  job.dataset_version = static_cast<std::uint32_t>(row.number(5));
  job.spec_json = row.text(6);
  job.state = row.text(7);
  job.error = row.text(8);
  job.attempt = static_cast<unsigned>(row.number(9));
  job.model_name = row.text(10);
  job.model_version = static_cast<std::uint32_t>(row.number(11));
  job.summary_json = row.text(12);
  job.protect = row.number(13) != 0;
  job.created_at = row.time(14);
  job.ended_at = row.optional_time(15);
  job.checkpoint_step = static_cast<std::uint64_t>(row.number(16));
  job.checkpoint_hash = row.bytes(17);
  job.wrapped_key = row.bytes(18);
  job.revision = static_cast<std::uint64_t>(row.number(19));
  job.node_id = row.text(20);
  job.run = static_cast<std::uint64_t>(row.number(21));
  job.epoch = static_cast<std::uint64_t>(row.number(22));
  job.plan_json = row.text(23);
  job.checkpoint_name = row.text(24);
  job.priority = static_cast<int>(row.number(25));
  return job;
}

}  // namespace

std::optional<JobRecord> find_job(Db& db, std::string_view id) {
  Query row(db, fmt::format("SELECT {} FROM {} WHERE jobs.id = ?", kColumns, kFrom), id);
  if (!row.next()) return std::nullopt;
  return job_of(row);
}

// Ids are ULIDs: their order is that of their making.
std::vector<JobRecord> list_jobs(Db& db, const JobFilter& filter) {
  std::vector<JobRecord> jobs;
  for (Query row(
           db,
           fmt::format("SELECT {} FROM {} WHERE (?1 = '' OR state = ?1) AND (?2 IS NULL OR owner_id = "
                       "?2 OR (model_version > 0 AND EXISTS (SELECT 1 FROM model_grants g WHERE "
                       "g.model_key = lower(jobs.model_name) AND g.user_id = ?2))) ORDER BY jobs.id DESC",
                       kColumns, kFrom),
           filter.state, filter.user_id);
       row.next();)
    jobs.push_back(job_of(row));
  return jobs;
}

std::vector<JobRef> list_job_refs(Db& db) {
  std::vector<JobRef> refs;
  for (Query row(db, "SELECT id, checkpoint_step, checkpoint_hash FROM jobs ORDER BY id"); row.next();)
    refs.push_back({row.text(0), static_cast<std::uint64_t>(row.number(1)), row.bytes(2)});
  return refs;
}

bool is_dataset_needed(Db& db, std::string_view dataset_id) {
  Query row(db,
            "SELECT 1 FROM jobs WHERE dataset_id = ?1 AND state IN ('queued', 'paused') UNION ALL SELECT 1 "
            "FROM model_versions v JOIN models m ON m.key = v.model_key AND m.serving = v.version WHERE "
            "v.dataset_id = ?1",
            dataset_id);
  return row.next();
}

}  // namespace samovar::cluster
