// Curves and logs of jobs: in memory for the newest, in a sealed file each.
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "security/sealed_file.hpp"

namespace samovar::jobs {
namespace {

constexpr std::size_t kHistoriesMax = 200;

security::SealedFileId history_place(const std::string& job_id) {
  constexpr std::uint64_t kHistoryNumber = (std::uint64_t{1} << 63) | 100;  // beside output_place's
  return {job_id, kHistoryNumber, 1};
}

}  // namespace

JobHistory& LocalModels::history_of(const std::string& job_id) {
  const auto found = histories_.find(job_id);
  if (found != histories_.end()) return found->second;
  if (histories_.size() >= kHistoriesMax) {
    // Ids sort by age; the oldest that is not at work goes, and is in its file.
    for (auto it = histories_.begin(); it != histories_.end(); ++it) {
      if (runs_.contains(it->first) || live_.contains(it->first)) continue;
      histories_.erase(it);
      break;
    }
  }
  return histories_[job_id];
}

void LocalModels::log_line(const std::string& job_id, std::string level, std::string text) {
  const JobLogLine& line = history_of(job_id).log(cluster_.now(), std::move(level), std::move(text));
  if (listener_.log) listener_.log(job_id, line);
}

void LocalModels::save_history(const std::string& job_id) {
  const bool idle = unsaved_.insert(job_id).second && saving_.count(job_id) == 0;
  if (idle) spawn(write_history(job_id));
}

// One write at a time; what changed meanwhile is written after it.
Task<void> LocalModels::write_history(std::string job_id) {
  saving_.insert(job_id);
  while (unsaved_.erase(job_id) > 0) {
    const auto history = histories_.find(job_id);
    const auto record = cluster_.job(job_id);
    if (history == histories_.end() || !record || record->wrapped_key.empty()) break;
    auto key = unwrap("job-key", job_id, record->wrapped_key);
    if (!key) break;
    auto work = [disk = &disk_, key = *key, path = dir_->work_file(Work::jobs, job_id, kHistoryName), job_id,
                 text = history->second.encode(), dir = dir_.get()]() -> Result<void> {
      SAMOVAR_CHECK(dir->make_work(Work::jobs, job_id, false));
      SAMOVAR_CHECK(security::write_sealed_file(*disk, path, *key, history_place(job_id), text));
      return {};
    };
    auto written = co_await run_on(io_, loop_, std::move(work));
    if (!written)
      SAMOVAR_LOG(debug, jobs, "the history of a job was not written",
                  kv("error", written.error().message()));
  }
  saving_.erase(job_id);
}

// Before the first job runs: it goes on with its own.
Task<void> LocalModels::load_histories() {
  auto refs = cluster_.jobs({});  // newest first
  if (refs.size() > kHistoriesMax) refs.resize(kHistoriesMax);
  for (const auto& record : refs) {
    if (stopping_) co_return;
    if (record.wrapped_key.empty()) continue;
    auto key = unwrap("job-key", record.id, record.wrapped_key);
    if (!key) continue;
    auto work = [disk = &disk_, key = *key, path = dir_->work_file(Work::jobs, record.id, kHistoryName),
                 id = record.id]() -> Result<JobHistory> {
      SAMOVAR_TRY(const Bytes bytes,
                  security::read_sealed_file(*disk, path, *key, history_place(id), JobHistory::kBytesMax));
      return JobHistory::decode(bytes);
    };
    auto history = co_await run_on(io_, loop_, std::move(work));
    if (history && histories_.find(record.id) == histories_.end())
      histories_.emplace(record.id, std::move(*history));
  }
  run_next();
}

}  // namespace samovar::jobs
