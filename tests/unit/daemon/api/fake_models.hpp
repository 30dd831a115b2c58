// The model service as the handlers see it, in memory: jobs and models are in the box's real state, with the
// real rights; what a worker would do is done by the test. A prediction is the row's "age" over 100.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api::test {

class FakeModels : public jobs::ModelService {
 public:
  explicit FakeModels(Clock& clock) : clock_(clock) {}

  Result<trainer::ParsedSpec> check(const cluster::Actor& actor, const nlohmann::json& spec) const override;
  Task<Result<std::vector<std::string>>> advise(cluster::Call call, trainer::JobSpec spec) override;
  Task<Result<jobs::Estimate>> estimate(cluster::Call call, trainer::JobSpec spec) override;
  Task<Result<jobs::Job>> start(cluster::Call call, trainer::JobSpec spec, int priority) override;
  std::vector<jobs::Job> jobs(const cluster::Actor& actor, const cluster::JobFilter& filter) const override;
  Result<jobs::Job> job(const cluster::Actor& actor, std::string_view id) const override;
  Result<jobs::JobMetrics> metrics(const cluster::Actor& actor, std::string_view id) const override;
  Result<std::vector<jobs::JobLogLine>> logs(const cluster::Actor& actor, std::string_view id,
                                             std::uint64_t after, std::size_t limit) const override;
  Task<Result<jobs::Job>> pause(cluster::Call call, std::string id) override;
  Task<Result<jobs::Job>> resume(cluster::Call call, std::string id) override;
  Task<Result<jobs::Job>> cancel(cluster::Call call, std::string id) override;
  Task<Result<jobs::Job>> retry(cluster::Call call, std::string id) override;
  Task<Result<jobs::Job>> protect(cluster::Call call, std::string id, bool on) override;
  Task<Result<jobs::Job>> prioritize(cluster::Call call, std::string id, int priority) override;
  Task<Result<void>> remove(cluster::Call call, std::string id) override;
  void listen(Listener wanted) override { listener = std::move(wanted); }

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

  Task<Result<jobs::PredictAnswer>> predict(cluster::Call call, jobs::PredictRequest request) override;
  bool ready_to_predict(const cluster::Actor& actor, std::string_view model, std::uint32_t version) override;
  Task<Result<jobs::Scoring>> start_scoring(cluster::Call call, jobs::ScoringRequest request) override;
  std::vector<jobs::Scoring> scorings(const cluster::Actor& actor) const override;
  Result<jobs::Scoring> scoring(const cluster::Actor& actor, std::string_view id) const override;
  Task<Result<void>> remove_scoring(cluster::Call call, std::string id) override;
  Task<Result<std::unique_ptr<jobs::ByteStream>>> scoring_result(cluster::Call call, std::string id) override;

  // What a worker's success would do.
  Task<Result<cluster::ModelVersion>> finish(std::string job_id);

  cluster::Cluster* state = nullptr;
  Listener listener;
  jobs::PredictRequest seen;           // the last one
  jobs::ScoringRequest seen_scoring;   // the last one
  std::string seen_reason;             // of the last export
  std::optional<Error> predict_error;  // the next prediction fails so
  std::optional<Error> export_error;   // the next export fails so
  std::map<std::string, jobs::Scoring, std::less<>> batches;

 private:
  jobs::Job shown(const cluster::JobRecord& record) const;
  Task<Result<jobs::Job>> end(cluster::Call call, std::string id, std::string state_wanted);

  Clock& clock_;
};

}  // namespace samovar::api::test
