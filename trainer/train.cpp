#include "trainer/train.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/json.hpp"
#include "trainer/evaluate/evaluate.hpp"
#include "trainer/evaluate/folds.hpp"
#include "trainer/features/advice.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/models/glm_choice.hpp"
#include "trainer/models/glm_report.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/session.hpp"
#include "trainer/solvers/gradient_stream.hpp"
#include "trainer/solvers/irls.hpp"
#include "trainer/solvers/lbfgs.hpp"
#include "trainer/solvers/stream.hpp"
#include "trainer/sync/council.hpp"
#include "trainer/sync/own_blocks.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

using nlohmann::json;

// Shares of the whole at which training begins and ends.
constexpr double kTrainFrom = 0.1;
constexpr double kTrainTo = 0.85;
// Rows of one read; small sets get smaller ones, so that there are steps to speak of.
constexpr std::uint32_t kBatchRows = 4096;
// On a device: as many steps as a pass has at least, before they become larger.
constexpr std::uint64_t kStepsPerPassLeast = 2048;
// Below this many rows each pass takes them in another order; above, blocks do.
constexpr std::uint64_t kShuffleRowsMax = 200'000;

struct Outcome {
  Fit fit;
  Problem problem;  // as it was solved
  std::vector<PathPoint> path;
};

class Training {
 public:
  // `splitter` says which fold, if any, is held out.
  Training(BlockSource& source, const Schema& schema, const JobSpec& spec, const TrainOptions& options,
           TrainObserver& observer, Session& session, const Splitter& splitter, Council* council,
           const BlockSource& whole)
      : source_(source),
        schema_(schema),
        spec_(spec),
        options_(options),
        observer_(observer),
        session_(session),
        splitter_(splitter),
        council_(council),
        whole_(whole) {}

  // `folds`: what cross-validation showed, if there was one.
  Result<Trained> run(std::optional<Resume> resume, const json& folds) {
    SAMOVAR_TRY(Outcome outcome, fit(std::move(resume)));
    SAMOVAR_TRY(json evaluation, evaluate(outcome, true));
    if (!folds.empty()) add_folds(folds, evaluation);
    if (council_ != nullptr) return finish_together(outcome, evaluation);
    return finish(std::move(outcome), std::move(evaluation));
  }

  // The figures of the rows that are held out, and nothing else.
  Result<json> run_fold(std::optional<Resume> resume) {
    SAMOVAR_TRY(Outcome outcome, fit(std::move(resume)));
    SAMOVAR_TRY(const json evaluation, evaluate(outcome, false));
    return fold_figures(evaluation);
  }

 private:
  // The lead makes the model; the others stay until it is made, as one of them has to when the lead is lost.
  Result<Trained> finish_together(const Outcome& outcome, const json& evaluation) {
    std::optional<Trained> made;
    const auto make = [&]() -> Result<void> {
      if (!council_->membership().leads() || made) return {};
      SAMOVAR_TRY(made, finish(outcome, evaluation));
      return {};
    };
    SAMOVAR_TRY(const Bytes done, council_->agree(
                                      "done",
                                      [&]() -> Result<Bytes> {
                                        SAMOVAR_CHECK(make());
                                        return Bytes();
                                      },
                                      [](const std::vector<Bytes>&) -> Result<Bytes> { return Bytes(); }));
    static_cast<void>(done);
    SAMOVAR_CHECK(make());
    return made ? *std::move(made) : Trained{};
  }

  Result<Outcome> fit(std::optional<Resume> resume) {
    std::vector<SpecFault> faults;
    parameters_ = parse_glm_parameters(spec_.parameters, "/parameters", faults);
    if (!faults.empty()) return Error{Errc::invalid, faults.front().detail};
    if (resume) {
      resume_ = *std::move(resume);
      resumed_ = true;
    }
    SAMOVAR_CHECK(prepare());
    return solve();
  }

  Result<void> prepare() {
    session_.enter("preparing", 0, kTrainFrom, 0);
    SAMOVAR_CHECK(session_.progress(0));
    std::vector<std::string> notes;
    SAMOVAR_TRY(pipeline_, FeaturePipeline::fit(source_, schema_, spec_, splitter_, notes, council_));
    for (std::string& note : notes) {
      observer_.log("info", note);
      pipeline_notes_.push_back(std::move(note));
    }
    session_.set_plan(pipeline_->to_json().dump());
    // Of several workers one may have been missing when it was made, then or now: the weights would be
    // others'.
    if (resumed_ && !resume_.solver.empty() && resume_.plan != session_.plan()) {
      observer_.log("warning",
                    "The rows that could be read give other inputs than when the checkpoint was made: this "
                    "training begins anew.");
      resume_.solver = {};
      resume_.stage = 0;
      resume_.curve.clear();
      resume_.notes.clear();
      resume_.steps = resume_.steps_before;
      resume_.rows = resume_.rows_before;
    }
    RowSourceOptions rows;
    rows.cache_bytes = static_cast<std::size_t>(options_.memory_bytes / 4);
    std::uint64_t all = 0;
    for (std::size_t block = 0; block < whole_.blocks(); ++block) all += whole_.rows(block);
    all_rows_ = all;
    if (council_ != nullptr) {
      rows.council = council_;
      auto& own = static_cast<OwnBlocks&>(source_);
      rows.refresh = [&own] { return own.refresh(); };
      rows.whole = &own.whole();
    }
    rows.batch_rows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all / 16, 64, kBatchRows));
    rows_ = std::make_unique<RowSource>(source_, schema_, *pipeline_, splitter_, std::move(rows));
    const double held_out =
        spec_.split.kind == SplitSpec::Kind::folds ? 0 : spec_.split.valid + spec_.split.test;
    train_rows_ = static_cast<double>(all) * std::max(1 - held_out, 0.0);
    SAMOVAR_TRY(choice_, choose_glm(parameters_, spec_, *pipeline_, train_rows_));
    observer_.log("info", std::string(to_string(choice_.problem.family)) + " with link " +
                              std::string(to_string(choice_.problem.link)) + ", solver " +
                              std::string(to_string(choice_.solver)) + ", " +
                              std::to_string(choice_.problem.width) + " weights");
    return session_.progress(1);
  }

  bool needs_survey() const {
    return !streams(choice_.solver) || parameters_.balanced || choice_.problem.family != Family::binomial;
  }

  Result<void> survey() {
    if (!needs_survey()) return {};
    SAMOVAR_TRY(survey_, survey_rows(*rows_, choice_.problem.width, choice_.problem.classes,
                                     !streams(choice_.solver)));
    SAMOVAR_CHECK(check_target(choice_.problem, survey_, spec_.target));
    if (!parameters_.balanced || choice_.problem.classes == 0) return {};
    std::vector<double> weights;
    for (const double share : survey_.shares)
      weights.push_back(share > 0 ? 1 / (share * static_cast<double>(survey_.shares.size())) : 0);
    rows_->set_class_weights(std::move(weights));
    SAMOVAR_TRY(survey_, survey_rows(*rows_, choice_.problem.width, choice_.problem.classes,
                                     !streams(choice_.solver)));
    return {};
  }

  Result<Outcome> solve() {
    SAMOVAR_CHECK(survey());
    if (resumed_) session_.go_on_from(resume_);
    session_.enter("training", kTrainFrom, kTrainTo, resume_.stage);
    Outcome outcome;
    outcome.problem = choice_.problem;
    if (resume_.stage == 0) {
      SAMOVAR_CHECK(solve_once(outcome));
      if (!outcome.fit.runaway) return outcome;
      const std::string what = "The coefficient of \"" + *outcome.fit.runaway +
                               "\" has no end: it tells some rows apart without exception.";
      if (!choice_.l2_chosen)
        return Error{Errc::invalid, what + " Set an l2 above 0, or leave the column out."};
      session_.add_note(what + " An l2 of 1 was set to hold it.");
      observer_.log("warning", session_.notes().back());
      session_.enter("training", kTrainFrom, kTrainTo, 1);
    }
    outcome = Outcome{};
    outcome.problem = choice_.problem;
    outcome.problem.l2 = 1;
    SAMOVAR_CHECK(solve_once(outcome));
    return outcome;
  }

  Result<void> solve_once(Outcome& outcome) {
    std::optional<StateReader> state;
    // Workers that go in step begin in step.
    const bool fits = council_ == nullptr || streams(choice_.solver);
    if (resumed_ && !resume_.solver.empty() && fits) state.emplace(resume_.solver);
    resumed_ = false;
    StateReader* from = state ? &*state : nullptr;
    if (streams(choice_.solver)) {
      const StreamOptions stream = stream_options();
      const auto solve = strategy_of_gradients(spec_.strategy) ? solve_by_gradients : solve_by_stream;
      if (solve == solve_by_gradients)
        computes_on_cpu("the strategy " + std::string(spec_.strategy.kind) + " computes on the CPU");
      SAMOVAR_TRY(outcome.fit, solve(*rows_, outcome.problem, stream, session_, from));
      return {};
    }
    computes_on_cpu("the solver " + std::string(to_string(choice_.solver)) + " computes on the CPU");
    if (choice_.solver == SolverKind::irls) {
      IrlsOptions irls;
      irls.iterations = std::min(choice_.passes, 100u);
      irls.tolerance = parameters_.tolerance;
      irls.estimate_theta = !parameters_.theta;
      SAMOVAR_TRY(outcome.fit, solve_by_irls(*rows_, outcome.problem, survey_, irls, session_, from));
      outcome.problem.theta = outcome.fit.theta;
      return {};
    }
    LbfgsOptions lbfgs;
    lbfgs.iterations = choice_.passes;
    lbfgs.tolerance = parameters_.tolerance;
    lbfgs.path = parameters_.lambda_path;
    SAMOVAR_TRY(LbfgsFit fit, solve_by_lbfgs(*rows_, outcome.problem, survey_, lbfgs, session_, from));
    outcome.fit = std::move(fit.fit);
    outcome.path = std::move(fit.path);
    outcome.problem.l1 = fit.l1;
    outcome.problem.l2 = fit.l2;
    return {};
  }

  // Though a device was given.
  void computes_on_cpu(const std::string& why) {
    if (options_.table != nullptr) observer_.computes_on(kernels::cpu().name, why);
  }

  StreamOptions stream_options() const {
    StreamOptions out;
    out.solver = choice_.solver;
    out.rate = choice_.rate;
    out.passes = choice_.passes;
    out.batch_rows = choice_.batch_rows;
    out.table = options_.table;
    // A device wants many rows at once; where there are many of them, larger steps end in as good a model.
    if (out.table != nullptr && !parameters_.batch_rows)
      out.batch_rows = static_cast<unsigned>(
          std::clamp<std::uint64_t>(all_rows_ / kStepsPerPassLeast, out.batch_rows, kernels::kStepRowsMax));
    out.early_stop = parameters_.early_stop;
    out.seed = spec_.seed;
    out.train_rows = train_rows_;
    out.shuffle_rows = all_rows_ <= kShuffleRowsMax;
    out.strategy = spec_.strategy;
    out.all_rows = all_rows_;
    out.joining = options_.joining;
    if (needs_survey()) out.intercepts = starting_intercepts(choice_.problem, survey_);
    if (choice_.problem.family == Family::gaussian && choice_.problem.link == Link::identity) {
      out.target_center = survey_.target_mean;
      out.target_scale = std::max(std::sqrt(survey_.target_variance), 1e-12);
    }
    // Sums over all rows differ in their last bits with the number of workers; where that must not matter,
    // they are not looked at.
    if (strategy_of_gradients(spec_.strategy)) {
      for (double* number : {&out.target_center, &out.target_scale}) *number = static_cast<float>(*number);
      for (double& intercept : out.intercepts) intercept = static_cast<float>(intercept);
    }
    return out;
  }

  Result<json> evaluate(Outcome& outcome, bool explain) {
    session_.enter("evaluating", kTrainTo, 1, 2);
    model_.family = outcome.problem.family;
    model_.link = outcome.problem.link;
    model_.classes = outcome.problem.classes;
    model_.width = outcome.problem.width;
    model_.weights = std::move(outcome.fit.weights);
    model_.intercepts = outcome.fit.intercepts;
    model_.dispersion = outcome.fit.dispersion;
    model_.theta = outcome.problem.family == Family::negative_binomial ? outcome.problem.theta : 0;
    model_.power = outcome.problem.family == Family::tweedie ? outcome.problem.power : 0;
    model_.inference = std::move(outcome.fit.inference);
    EvaluateOptions options;
    options.seed = spec_.seed;
    options.explain = explain;
    options.sample_bytes = static_cast<std::size_t>(options_.memory_bytes / 16);
    double told = -1;
    options.progress = [this, &told](double share) {
      if (share - told < 0.05 && share < 1) return true;
      told = share;
      return session_.progress(share).has_value();
    };
    return evaluate_model(*rows_, model_, options);
  }

  Result<Trained> finish(Outcome outcome, json evaluation) {
    if (evaluation["rows"]["train"] == 0)
      return Error{Errc::invalid, "no row is left to train on: the split leaves none"};
    if (outcome.problem.classes == 2 && !needs_survey() && one_class(evaluation))
      return Error{Errc::invalid,
                   "the target \"" + spec_.target +
                       "\" has one class only among the rows to train on: choose another target or "
                       "another split"};
    json notes = evaluation.value("notes", json::array());
    for (const std::string& note : pipeline_notes_) notes.push_back(note);
    for (const std::string& note : session_.notes()) notes.push_back(note);
    for (const std::string& note : outcome.fit.notes) notes.push_back(note);
    add_coefficients(model_, *pipeline_, evaluation);
    evaluation["notes"] = notes;
    evaluation["curve"] = session_.curve();
    SAMOVAR_TRY(const std::vector<std::string> advice,
                advise(source_, schema_, spec_, *pipeline_, splitter_));
    evaluation["leakage"] = advice;
    for (const std::string& sentence : advice) observer_.log("warning", sentence);
    if (!outcome.path.empty()) {
      json path = json::array();
      for (const PathPoint& point : outcome.path)
        path.push_back({{"lambda", point.lambda},
                        {"l1", point.l1},
                        {"l2", point.l2},
                        {"train_loss", point.train_loss},
                        {"valid_loss", point.valid_loss},
                        {"nonzero", point.nonzero}});
      evaluation["path"] = std::move(path);
    }
    const double seconds = session_.seconds();
    json about = {{"target", spec_.target},
                  {"rows", evaluation["rows"]},
                  {"solver", to_string(choice_.solver)},
                  {"l1", outcome.problem.l1},
                  {"l2", outcome.problem.l2}};
    // Which model of several workers it is.
    if (outcome.fit.workers > 1)
      about["together"] = {
          {"workers", outcome.fit.workers}, {"strategy", spec_.strategy.kind}, {"taken", outcome.fit.taken}};
    evaluation["model"] = {{"family", to_string(model_.family)},
                           {"link", to_string(model_.link)},
                           {"solver", to_string(choice_.solver)},
                           {"l1", outcome.problem.l1},
                           {"l2", outcome.problem.l2},
                           {"weights", model_.weights.size()},
                           {"converged", outcome.fit.converged},
                           {"dispersion", model_.dispersion}};
    if (about.contains("together")) evaluation["model"]["together"] = about["together"];
    Trained trained;
    SAMOVAR_TRY(trained.model, encode_model(model_, *pipeline_, about));
    trained.evaluation_json = evaluation.dump();
    trained.headline_json = headline(evaluation).dump();
    trained.signature_json = pipeline_->signature().dump();
    trained.summary_json = json{
        {"seconds", seconds},
        {"rows", outcome.fit.rows},
        {"passes", outcome.fit.passes},
        {"steps", outcome.fit.steps},
        {"rows_per_second", seconds > 0 ? static_cast<double>(outcome.fit.rows) / seconds : 0},
        {"notes", notes}}.dump();
    return trained;
  }

  static bool one_class(const json& evaluation) {
    const json& metrics = evaluation["metrics"]["train"];
    return !metrics.contains("auc");
  }

  // Constant after construction.
  BlockSource& source_;
  const Schema& schema_;
  const JobSpec& spec_;
  const TrainOptions& options_;
  TrainObserver& observer_;
  Session& session_;
  const Splitter& splitter_;
  Council* const council_;  // null: this worker is alone
  const BlockSource& whole_;
  std::uint64_t all_rows_ = 0;

  // In the order they come to be.
  GlmParameters parameters_;
  Resume resume_;
  bool resumed_ = false;
  std::unique_ptr<FeaturePipeline> pipeline_;
  std::vector<std::string> pipeline_notes_;
  std::unique_ptr<RowSource> rows_;
  double train_rows_ = 0;
  GlmChoice choice_;
  Survey survey_;
  GlmModel model_;
};

}  // namespace

namespace {

Result<Trained> train_parts(BlockSource& source, const BlockSource& all, const Schema& schema,
                            const JobSpec& spec, std::optional<Resume> resume, const TrainOptions& options,
                            TrainObserver& observer, Session& session, Council* council) {
  SAMOVAR_TRY(const auto whole, Splitter::make(source, schema, spec, std::nullopt, council));
  const unsigned folds = whole->folds();
  // Workers that train several models after each other begin with the first.
  if (council != nullptr && folds != 0) resume.reset();
  std::uint32_t part = resume ? resume->part : 0;
  json figures = json::array();
  if (resume && !resume->kept.empty()) figures = json::parse(resume->kept, nullptr, false);
  if (part > folds || figures.is_discarded() || figures.size() != part)
    return Error{Errc::corrupt, "the checkpoint is damaged: start the job anew"};
  for (; part < folds; ++part) {
    session.begin_part(part, folds + 1, figures.dump());
    if (council != nullptr) council->set_prefix("fold " + std::to_string(part) + " ");
    SAMOVAR_TRY(const auto splitter, Splitter::make(source, schema, spec, part, council));
    Training training(source, schema, spec, options, observer, session, *splitter, council, all);
    auto fold = training.run_fold(std::exchange(resume, std::nullopt));
    if (!fold && fold.error().code() == Errc::invalid)
      return Error{Errc::invalid, "fold " + std::to_string(part + 1) + " of " + std::to_string(folds) + ": " +
                                      fold.error().message()};
    if (!fold) return fold.error();
    observer.log("info", "fold " + std::to_string(part + 1) + " of " + std::to_string(folds) + " is done");
    figures.push_back(*std::move(fold));
  }
  if (council != nullptr) council->set_prefix("");
  session.begin_part(folds, folds + 1, folds > 0 ? figures.dump() : "");
  Training training(source, schema, spec, options, observer, session, *whole, council, all);
  return training.run(std::move(resume), figures);
}

Result<Trained> train_together(BlockSource& source, const Schema& schema, const JobSpec& spec,
                               std::optional<ByteView> checkpoint, const TrainOptions& options,
                               TrainObserver& observer) {
  Council council(*options.group, options.joining);
  OwnBlocks own(source, council);
  council.set_before_part([&own] { own.refresh(); });
  Session session(observer, options, job_mark(source, schema, spec, false));
  const bool in_step = strategy_in_step(spec.strategy);
  // In step all are saved together, by the solver; unless all are the same.
  const bool saves = !in_step || strategy_of_gradients(spec.strategy);
  session.set_saves([&council, saves] { return council.membership().leads() && saves; });
  council.set_waiting([&session] { return session.waiting(); });
  std::optional<Resume> resume;
  // The lead's is the one that counts: the others take from it what it has. In step everybody has its own
  // part.
  if (checkpoint && (council.membership().leads() || in_step)) {
    auto opened = session.open(*checkpoint);
    if (opened) resume = *std::move(opened);
    if (!opened && council.membership().leads())
      observer.log("warning", "the job begins anew: " + opened.error().message());
  }
  return train_parts(own, source, schema, spec, std::move(resume), options, observer, session, &council);
}

}  // namespace

Result<Trained> train(BlockSource& source, const Schema& schema, const JobSpec& spec,
                      std::optional<ByteView> checkpoint, const TrainOptions& options,
                      TrainObserver& observer) {
  if (options.group != nullptr) return train_together(source, schema, spec, checkpoint, options, observer);
  Session session(observer, options, job_mark(source, schema, spec));
  std::optional<Resume> resume;
  if (checkpoint) {
    SAMOVAR_TRY(resume, session.open(*checkpoint));
  }
  return train_parts(source, source, schema, spec, std::move(resume), options, observer, session, nullptr);
}

}  // namespace samovar::trainer
