#include "trainer/train.hpp"

#include <cmath>

#include "tests/unit/trainer/training.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

double metric(const json& evaluation, const char* part, const char* name) {
  return evaluation["metrics"][part][name]["value"].get<double>();
}

TEST(Train, FindsThePlantedEffects) {
  tests::MemoryTable table = logistic_table(4000, 1);
  JobSpec spec = job("yes");
  spec.inputs = {"x", "z", "city"};
  const json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["model"]["solver"], "irls");
  EXPECT_EQ(evaluation["task"], "binary");
  std::map<std::string, json> lines;
  for (const auto& line : evaluation["coefficients"])
    lines[line["input"].get<std::string>() + line.value("level", json("")).dump()] = line;
  EXPECT_NEAR(lines["xnull"]["estimate"].get<double>(), 1.2, 0.2);
  EXPECT_NEAR(lines["znull"]["estimate"].get<double>(), 0.05, 0.02);
  EXPECT_LT(lines["xnull"]["p"].get<double>(), 1e-20);
  EXPECT_GT(metric(evaluation, "test", "auc"), 0.75);
  EXPECT_LT(metric(evaluation, "test", "log_loss"), evaluation["baseline"]["log_loss"].get<double>());
  EXPECT_EQ(evaluation["importance"][0]["input"], "x");
  EXPECT_EQ(evaluation["thresholds"].size(), 101u);
  EXPECT_FALSE(evaluation["subgroups"].empty());
}

// All ways to the same optimum give the same loss.
class Solvers : public testing::TestWithParam<const char*> {};
TEST_P(Solvers, ReachTheSameLossAsIrls) {
  tests::MemoryTable table = logistic_table(6000, 2);
  JobSpec spec = job("yes", {{"solver", "irls"}, {"l2", 1}});
  spec.inputs = {"x", "z", "city"};
  const double best = metric(evaluation_of(table, spec), "train", "log_loss");
  spec.parameters = {{"solver", GetParam()}, {"l2", 1}, {"l1", 0}, {"passes", 100}, {"early_stop", false}};
  const json evaluation = evaluation_of(table, spec);
  const bool exact = std::string(GetParam()) == "lbfgs";
  EXPECT_NEAR(metric(evaluation, "train", "log_loss"), best, best * (exact ? 1e-6 : 3e-3));
}
INSTANTIATE_TEST_SUITE_P(Train, Solvers, testing::Values("lbfgs", "adagrad", "ftrl", "sgd", "adam"),
                         [](const auto& one) { return std::string(one.param); });

struct Way {
  const char* name;
  const char* target;
  json parameters;
  bool hashed = false;
  bool folds = false;
};
class Resume : public testing::TestWithParam<Way> {};

TEST_P(Resume, AtEveryStepEndsInTheSameBits) {
  const Way& way = GetParam();
  tests::MemoryTable table = logistic_table(2000, 3, 400);
  JobSpec spec = job(way.target, way.parameters);
  spec.inputs = {"x", "z", "city"};
  if (way.hashed) {
    spec.features.categories = FeatureOptions::Categories::hash;
    spec.features.numbers = FeatureOptions::Numbers::hash;
    spec.features.hash_bits = 12;
  }
  if (way.folds) {
    spec.split.kind = SplitSpec::Kind::folds;
    spec.split.folds = 3;
  }
  TrainOptions options;
  options.checkpoint_steps = 1;
  Recorder whole;
  const auto trained = train(table, table.schema(), spec, std::nullopt, options, whole);
  ASSERT_TRUE(trained.has_value()) << trained.error().message();
  ASSERT_GE(whole.checkpoints.size(), 3u);
  std::size_t tried = 0;
  for (const auto& [step, checkpoint] : whole.checkpoints) {
    Recorder again;
    const auto resumed = train(table, table.schema(), spec, ByteView(checkpoint), options, again);
    ASSERT_TRUE(resumed.has_value()) << step << ": " << resumed.error().message();
    ASSERT_EQ(resumed->model, trained->model) << "from step " << step;
    ASSERT_EQ(resumed->evaluation_json, trained->evaluation_json) << "from step " << step;
    // What it saves on the way is what the whole run saved, but for the time it took.
    for (const auto& [later, bytes] : again.checkpoints) {
      ASSERT_GT(later, step);
      ASSERT_EQ(bytes.size(), whole.checkpoints.at(later).size());
    }
    if (++tried == 60) break;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Train, Resume,
    testing::Values(
        Way{"irls", "yes", {{"solver", "irls"}}}, Way{"lbfgs", "yes", {{"solver", "lbfgs"}}},
        Way{"classes", "class", {{"solver", "lbfgs"}, {"passes", 20}}},
        Way{"folds", "yes", {{"solver", "irls"}}, false, true},
        Way{"path", "yes", {{"lambda_path", 4}, {"passes", 15}}},
        // 50 steps and more: 2,000 rows in batches of 125, blocks of 400
        Way{"adagrad", "yes", {{"solver", "adagrad"}, {"passes", 3}, {"early_stop", false}}},
        Way{"ftrl_hashed", "yes", {{"solver", "ftrl"}, {"passes", 3}, {"early_stop", false}}, true},
        Way{"adam_classes", "class", {{"solver", "adam"}, {"passes", 2}}},
        Way{"sgd_amount", "amount", {{"solver", "sgd"}, {"passes", 2}}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Train, SameSeedSameBitsOtherSeedOthers) {
  tests::MemoryTable table = logistic_table(1500, 4);
  JobSpec spec = job("yes", {{"solver", "adagrad"}});
  spec.inputs = {"x", "z", "city"};
  const auto one = train_on(table, spec);
  const auto two = train_on(table, spec);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->model, two->model);
  spec.seed = 2;
  const auto three = train_on(table, spec);
  ASSERT_TRUE(three);
  EXPECT_NE(one->model, three->model);
}

// Of several workers' rows some may have been missing when the inputs were made: then the weights mean
// others.
TEST(Train, ACheckpointOfOtherInputsBeginsAnew) {
  tests::MemoryTable first = logistic_table(2000, 3, 400);
  tests::MemoryTable second = logistic_table(2000, 4, 400);
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 2}, {"early_stop", false}});
  spec.inputs = {"x", "z", "city"};
  spec.features.categories = FeatureOptions::Categories::hash;
  spec.features.hash_bits = 12;
  TrainOptions options;
  options.checkpoint_steps = 1;
  Recorder before;
  ASSERT_TRUE(train(first, first.schema(), spec, std::nullopt, options, before).has_value());
  const Bytes checkpoint = before.checkpoints.rbegin()->second;
  Recorder after;
  const auto resumed = train(second, second.schema(), spec, ByteView(checkpoint), options, after);
  ASSERT_TRUE(resumed.has_value()) << resumed.error().message();
  const auto anew = train_on(second, spec);
  ASSERT_TRUE(anew.has_value());
  EXPECT_EQ(resumed->model, anew->model);
}

TEST(Train, RefusesACheckpointOfAnotherJobOrVersion) {
  tests::MemoryTable table = logistic_table(800, 5);
  JobSpec spec = job("yes", {{"solver", "lbfgs"}});
  spec.inputs = {"x", "z"};
  TrainOptions options;
  options.checkpoint_steps = 1;
  Recorder recorder;
  ASSERT_TRUE(train(table, table.schema(), spec, std::nullopt, options, recorder).has_value());
  Bytes checkpoint = recorder.checkpoints.begin()->second;
  JobSpec other = spec;
  other.parameters["l2"] = 3;
  auto refused = train(table, table.schema(), other, ByteView(checkpoint), options, recorder);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::conflict);
  EXPECT_NE(refused.error().message().find("another job"), std::string::npos);
  Bytes later = checkpoint;
  later[4] ^= 0xff;
  refused = train(table, table.schema(), spec, ByteView(later), options, recorder);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("another version"), std::string::npos);
  for (std::size_t bytes = 0; bytes < checkpoint.size(); bytes += 97) {
    refused = train(table, table.schema(), spec, ByteView(checkpoint).first(bytes), options, recorder);
    ASSERT_FALSE(refused.has_value()) << bytes;
  }
}

TEST(Train, StopsWhenAskedAfterACheckpoint) {
  class Stopper final : public TrainObserver {
   public:
    bool progress(const TrainProgress& progress) override { return progress.step != "training"; }
    bool metric(const TrainMetric&) override { return true; }
    void log(std::string_view, std::string_view) override {}
    Result<void> checkpoint(std::uint64_t, const CheckpointPieces& pieces) override {
      return join(pieces, last);
    }
    Bytes last;
  };
  tests::MemoryTable table = logistic_table(1500, 6);
  JobSpec spec = job("yes", {{"solver", "adagrad"}});
  spec.inputs = {"x", "z", "city"};
  Stopper stopper;
  const auto stopped = train(table, table.schema(), spec, std::nullopt, {}, stopper);
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code(), Errc::conflict);
  ASSERT_FALSE(stopper.last.empty());
  Recorder recorder;
  const auto resumed = train(table, table.schema(), spec, ByteView(stopper.last), {}, recorder);
  ASSERT_TRUE(resumed.has_value());
  EXPECT_EQ(resumed->model, train_on(table, spec)->model);
}

TEST(Train, EndsWhenACheckpointCannotBeKept) {
  class FullDisk final : public TrainObserver {
   public:
    bool progress(const TrainProgress&) override { return true; }
    bool metric(const TrainMetric&) override { return true; }
    void log(std::string_view, std::string_view) override {}
    Result<void> checkpoint(std::uint64_t, const CheckpointPieces& pieces) override {
      return pieces([this](ByteView) -> Result<void> {
        if (++taken == 3) return Error{Errc::no_space, "full"};
        return {};
      });
    }
    int taken = 0;
  };
  tests::MemoryTable table = logistic_table(1500, 6);
  JobSpec spec = job("yes", {{"solver", "adagrad"}});
  spec.inputs = {"x", "z", "city"};
  TrainOptions options;
  options.checkpoint_steps = 1;
  FullDisk disk;
  const auto ended = train(table, table.schema(), spec, std::nullopt, options, disk);
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code(), Errc::no_space);
  EXPECT_EQ(disk.taken, 3);  // nothing more is handed over
}

TEST(Train, SaysWhichCoefficientRunsAway) {
  tests::MemoryTable table(
      {{{"x", ColumnType::real}, {"mark", ColumnType::real}, {"yes", ColumnType::boolean}}});
  Luck luck(7);
  for (int row = 0; row < 400; ++row) {
    const double x = luck.normal();
    const double mark = luck.normal();
    table.add({x, mark, mark > 0.1});
  }
  JobSpec spec = job("yes", {{"solver", "irls"}, {"l2", 0}});
  const auto refused = train_on(table, spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("\"mark\""), std::string::npos) << refused.error().message();
  // Left to us, it is held and said.
  spec.parameters = json::object();
  const json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["model"]["l2"], 1.0);
  EXPECT_NE(evaluation["notes"].dump().find("mark"), std::string::npos);
  EXPECT_GT(metric(evaluation, "test", "auc"), 0.98);
}

TEST(Train, ALevelThatNeverSaysYesRunsAway) {
  tests::MemoryTable table = logistic_table(1500, 8);
  for (std::uint32_t row = 0; row < table.all_rows(); ++row) {
    if (std::get<std::string>(table.column(2)[row]) == "Odesa") table.column(3)[row] = false;
  }
  JobSpec spec = job("yes", {{"l2", 0}});
  spec.inputs = {"x", "city"};
  const auto refused = train_on(table, spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("city"), std::string::npos) << refused.error().message();
}

TEST(Train, RefusesATargetWithOneClass) {
  tests::MemoryTable table = logistic_table(600, 9);
  for (auto& value : table.column(3)) value = true;
  for (const char* solver : {"irls", "ftrl"}) {
    JobSpec spec = job("yes", {{"solver", solver}});
    spec.inputs = {"x", "z"};
    const auto refused = train_on(table, spec);
    ASSERT_FALSE(refused.has_value()) << solver;
    EXPECT_EQ(refused.error().code(), Errc::invalid);
    EXPECT_NE(refused.error().message().find("nothing to tell apart"), std::string::npos)
        << refused.error().message();
  }
}

TEST(Train, RefusesValuesThatTheFamilyCannotHave) {
  tests::MemoryTable table = logistic_table(600, 10);
  for (const char* family : {"poisson", "gamma", "tweedie", "negative_binomial"}) {
    JobSpec spec = job("amount", {{"family", family}});
    spec.inputs = {"x", "z"};
    const auto refused = train_on(table, spec);
    ASSERT_FALSE(refused.has_value()) << family;
    EXPECT_EQ(refused.error().code(), Errc::invalid);
  }
}

TEST(Train, InfinitiesAndHugeValuesGiveNoNan) {
  tests::MemoryTable table = logistic_table(900, 11);
  table.column(0)[3] = std::numeric_limits<double>::infinity();
  table.column(0)[8] = -std::numeric_limits<double>::infinity();
  table.column(1)[5] = 1e300;
  for (const char* solver : {"irls", "lbfgs", "adagrad", "ftrl"}) {
    JobSpec spec = job("yes", {{"solver", solver}});
    spec.inputs = {"x", "z", "city"};
    const auto trained = train_on(table, spec);
    if (!trained) {
      EXPECT_EQ(trained.error().code(), Errc::invalid) << trained.error().message();
      continue;
    }
    EXPECT_EQ(trained->evaluation_json.find("nan"), std::string::npos);
    const auto scorer = Scorer::open(trained->model);
    ASSERT_TRUE(scorer.has_value());
    std::vector<InputWarning> warnings;
    const auto scored = (*scorer)->score(table.raw(), {}, warnings);
    if (!scored) continue;
    for (const Prediction& one : *scored) ASSERT_TRUE(std::isfinite(one.value));
  }
}

TEST(Train, ADivergingRateIsSaid) {
  tests::MemoryTable table = logistic_table(900, 12);
  JobSpec spec = job("amount", {{"solver", "sgd"}, {"learning_rate", 500}});
  spec.inputs = {"x", "z"};
  const auto refused = train_on(table, spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("diverged"), std::string::npos);
}

TEST(Train, L1LeavesOutWhatSaysNothing) {
  tests::MemoryTable table = logistic_table(3000, 13);
  JobSpec spec = job("yes", {{"l1", 60}, {"l2", 0}});
  spec.inputs = {"x", "z", "city"};
  const json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["model"]["solver"], "lbfgs");
  std::size_t zeros = 0;
  for (const auto& line : evaluation["coefficients"]) {
    zeros += line["estimate"] == 0.0 ? 1 : 0;
    if (line["input"] == "x") {
      EXPECT_GT(line["estimate"].get<double>(), 0.5);
    }
  }
  EXPECT_GE(zeros, 2u);
}

TEST(Train, APathKeepsThePenaltyThatValidatesBest) {
  tests::MemoryTable table = logistic_table(3000, 14);
  JobSpec spec = job("yes", {{"lambda_path", 12}});
  spec.inputs = {"x", "z", "city"};
  const json evaluation = evaluation_of(table, spec);
  const json& path = evaluation["path"];
  ASSERT_GE(path.size(), 3u);
  EXPECT_EQ(path[0]["nonzero"], 0);
  double best = 1e300;
  double l1 = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) {
      EXPECT_LE(path[i]["train_loss"].get<double>(), path[i - 1]["train_loss"].get<double>() + 1e-9);
    }
    if (path[i]["valid_loss"].get<double>() < best) {
      best = path[i]["valid_loss"].get<double>();
      l1 = path[i]["l1"].get<double>();
    }
  }
  EXPECT_EQ(evaluation["model"]["l1"].get<double>(), l1);
  spec.split.valid = 0;
  const auto refused = train_on(table, spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("validation"), std::string::npos);
}

TEST(Train, BoundsHold) {
  tests::MemoryTable table = logistic_table(2000, 15);
  JobSpec spec = job("yes", {{"bounds", {{"x", {nullptr, 0.3}}, {"z", {0, nullptr}}}}});
  spec.inputs = {"x", "z", "city"};
  const json evaluation = evaluation_of(table, spec);
  for (const auto& line : evaluation["coefficients"]) {
    if (line["input"] == "x") {
      EXPECT_NEAR(line["estimate"].get<double>(), 0.3, 1e-5);
    }
    if (line["input"] == "z") {
      EXPECT_GT(line["estimate"].get<double>(), 0);
    }
  }
}

TEST(Train, BalancedClassesMoveTheIntercept) {
  tests::MemoryTable table = logistic_table(3000, 16);
  Luck luck(1);
  for (auto& value : table.column(3)) {
    if (luck.unit() < 0.8) value = false;
  }
  JobSpec spec = job("yes");
  spec.inputs = {"x", "z"};
  const double plain = evaluation_of(table, spec)["intercept"].get<double>();
  spec.parameters = {{"class_weight", "balanced"}};
  EXPECT_GT(evaluation_of(table, spec)["intercept"].get<double>(), plain + 1);
}

}  // namespace
}  // namespace samovar::trainer
