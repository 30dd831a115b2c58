// Single requests: the model is opened once and stays warm, a few rows are answered at once on the loop, more
// on the cpu pool.
#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/local_models_work.hpp"

namespace samovar::jobs {
namespace {

constexpr std::uint32_t kInlineRowsMax = 64;

}  // namespace

// Asked for by many at once it is opened once.
Task<Result<ScorerPtr>> LocalModels::warm(Found found) {
  if (auto ready = warm_.find(found.store_id)) co_return ready;
  if (const auto others = loading_.find(found.store_id); others != loading_.end()) {
    auto join = [&others](std::function<void(Result<ScorerPtr>)> done) {
      others->second.push_back(std::move(done));
    };
    co_return co_await from_callback<Result<ScorerPtr>>(std::move(join));
  }
  SAMOVAR_CO_TRY(const Key key, key_of(found));
  const std::string id = found.store_id;
  loading_[id];
  auto hold = co_await bring(found, "model");
  struct Opened {
    ScorerPtr scorer;
    std::uint64_t bytes = 0;
  };
  auto open = [disk = &disk_, key, id,
               path = dir_->work_file(Work::models, id, "model")]() -> Result<Opened> {
    SAMOVAR_TRY(const Bytes bytes,
                security::read_sealed_file(*disk, path, *key, output_place(id, OutputKind::model, 0),
                                           kModelBytesMax));
    SAMOVAR_TRY(auto scorer, trainer::Scorer::open(bytes));
    return Opened{std::move(scorer), bytes.size()};
  };
  auto opened = Result<Opened>(Error{Errc::unavailable, ""});
  if (hold)
    opened = co_await run_on(io_, loop_, std::move(open));
  else
    opened = std::move(hold).error();
  auto result = opened ? Result<ScorerPtr>(opened->scorer) : Result<ScorerPtr>(opened.error());
  // Removed while it was opened: not kept.
  const bool there = cluster_.model_version(found.model.name, found.version.version).has_value();
  if (opened && there) warm_.add(id, opened->scorer, opened->bytes);
  auto waiting = std::move(loading_[id]);
  loading_.erase(id);
  for (auto& done : waiting) done(result);
  co_return result;
}

Task<Result<PredictAnswer>> LocalModels::predict(cluster::Call call, PredictRequest request) {
  SAMOVAR_CO_TRY(Found found, find_version(call.actor, request.model, request.version));
  if (!cluster::may_use_model(call.actor, found.model))
    co_return Error{Errc::denied, "you may see this model but not use it: its owner can grant you that"};
  PredictAnswer answer;
  answer.model = found.model.name;
  answer.version = found.version.version;
  auto opened = co_await warm(std::move(found));
  if (!opened) co_return std::move(opened).error();
  const ScorerPtr scorer = std::move(*opened);
  answer.classes = scorer->classes();
  trainer::ScoreOptions options;
  options.reasons = request.reasons;
  if (request.rows.rows <= kInlineRowsMax) {
    SAMOVAR_CO_TRY(answer.predictions, scorer->score(request.rows, options, answer.warnings));
    co_return answer;
  }
  struct Scored {
    std::vector<trainer::Prediction> predictions;
    std::vector<trainer::InputWarning> warnings;
  };
  auto work = [scorer, options, rows = std::move(request.rows)]() -> Result<Scored> {
    Scored scored;
    SAMOVAR_TRY(scored.predictions, scorer->score(rows, options, scored.warnings));
    return scored;
  };
  auto scored = co_await run_on(cpu_, loop_, std::move(work));
  if (!scored) co_return std::move(scored).error();
  answer.predictions = std::move(scored->predictions);
  answer.warnings = std::move(scored->warnings);
  co_return answer;
}

// Asking is also a way to have it warm when the first request comes.
bool LocalModels::ready_to_predict(const cluster::Actor& actor, std::string_view model,
                                   std::uint32_t version) {
  auto found = find_version(actor, std::string(model), version);
  if (!found || !cluster::may_use_model(actor, found->model)) return false;
  if (warm_.find(found->store_id) == nullptr && loading_.count(found->store_id) == 0) {
    const std::function<void(Result<ScorerPtr>)> done = [](Result<ScorerPtr> opened) {
      if (!opened) SAMOVAR_LOG(warn, jobs, "a model does not open", kv("error", opened.error().message()));
    };
    spawn<Result<ScorerPtr>>(warm(std::move(*found)), done);
  }
  return true;
}

}  // namespace samovar::jobs
