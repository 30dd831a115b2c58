// Blocks that go round among the workers between passes.
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "tests/unit/trainer/sync/together.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

JobSpec streaming(unsigned passes, bool in_step) {
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", passes}, {"early_stop", false}});
  spec.strategy.sync = in_step;
  return spec;
}

// What one worker reads, in its order. Some blocks come later than they are wanted.
class WatchedTable final : public BlockSource {
 public:
  explicit WatchedTable(BlockSource& table) : table_(table) {}
  std::size_t blocks() const override { return table_.blocks(); }
  std::uint32_t rows(std::size_t block) const override { return table_.rows(block); }
  Result<void> read(std::size_t block, Bytes& out) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(block < late_from_ || asked_ > kLate) << block;
    reads_.push_back(static_cast<std::uint32_t>(block));
    return table_.read(block, out);
  }
  bool here(std::size_t block) const override {
    const std::lock_guard lock(mutex_);
    return block < late_from_ || ++asked_ > kLate;
  }
  void late_from(std::size_t block) { late_from_ = block; }
  std::vector<std::uint32_t> reads() const {
    const std::lock_guard lock(mutex_);
    return reads_;
  }
  unsigned asked() const { return asked_; }

 private:
  static constexpr unsigned kLate = 5;
  BlockSource& table_;
  std::size_t late_from_ = 1u << 30;
  mutable std::mutex mutex_;
  mutable unsigned asked_ = 0;
  std::vector<std::uint32_t> reads_;
};

struct Outcome {
  std::vector<Result<Trained>> trained;
  std::map<std::uint64_t, Bytes> checkpoints;
  Bytes model() const { return trained[0] ? trained[0]->model : Bytes(); }
  double auc() const {
    return json::parse(trained[0]->evaluation_json)["metrics"]["test"]["auc"]["value"].get<double>();
  }
};

// Each worker has a source of its own.
Outcome run(std::vector<std::unique_ptr<WatchedTable>>& sources, const Schema& schema, const JobSpec& spec,
            const std::vector<std::vector<std::uint32_t>>& dealt, bool rotate,
            std::uint64_t checkpoint_steps = 0, const std::optional<Bytes>& from = std::nullopt) {
  LocalGroup group(dealt, rotate ? LocalGroup::Blocks::go_round : LocalGroup::Blocks::stay);
  std::vector<StepObserver> observers(dealt.size());
  Outcome out;
  for (std::size_t i = 0; i < dealt.size(); ++i) out.trained.emplace_back(Error{Errc::internal, "not run"});
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < dealt.size(); ++i) {
    threads.emplace_back([&, i] {
      TrainOptions options;
      options.group = &group.member(i);
      options.checkpoint_steps = checkpoint_steps;
      std::optional<ByteView> checkpoint;
      if (from) checkpoint = ByteView(*from);
      out.trained[i] = train(*sources[i], schema, spec, checkpoint, options, observers[i]);
      for (std::uint32_t other = 0; !out.trained[i] && other < dealt.size(); ++other) group.stop(other);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : out.trained) EXPECT_TRUE(one.has_value()) << (one ? "" : one.error().message());
  out.checkpoints = observers[0].checkpoints;
  return out;
}

std::vector<std::unique_ptr<WatchedTable>> sources_for(BlockSource& table, std::size_t members) {
  std::vector<std::unique_ptr<WatchedTable>> out;
  for (std::size_t i = 0; i < members; ++i) out.push_back(std::make_unique<WatchedTable>(table));
  return out;
}

std::vector<std::vector<std::uint32_t>> in_runs(std::size_t blocks, std::size_t members) {
  std::vector<std::vector<std::uint32_t>> out(members);
  for (std::uint32_t block = 0; block < blocks; ++block) out[block * members / blocks].push_back(block);
  return out;
}

TEST(Rotate, EachRowBelongsToOneWorkerInEachPass) {
  auto table = logistic_table(3000, 31, 250);
  SharedTable shared(table);
  const auto dealt = in_runs(shared.blocks(), 3);
  auto sources = sources_for(shared, 3);
  // In step all make as many passes.
  const Outcome all = run(sources, table.schema(), streaming(3, true), dealt, true);
  for (std::size_t worker = 0; worker < 3; ++worker) {
    std::map<std::uint32_t, int> times;
    for (const std::uint32_t block : sources[worker]->reads()) ++times[block];
    // Its own blocks it also reads to prepare and to evaluate; those of the others once in three passes.
    for (std::uint32_t block = 0; block < shared.blocks(); ++block) {
      const bool own = std::count(dealt[worker].begin(), dealt[worker].end(), block) != 0;
      if (own) {
        EXPECT_GE(times[block], 2) << worker << " " << block;
      } else {
        EXPECT_EQ(times[block], 1) << worker << " " << block;
      }
    }
  }
}

TEST(Rotate, WithoutItAWorkerReadsItsOwnAlone) {
  auto table = logistic_table(3000, 31, 250);
  SharedTable shared(table);
  const auto dealt = in_runs(shared.blocks(), 3);
  auto sources = sources_for(shared, 3);
  run(sources, table.schema(), streaming(3, true), dealt, false);
  for (const std::uint32_t block : sources[1]->reads())
    EXPECT_EQ(std::count(dealt[1].begin(), dealt[1].end(), block), 1) << block;
}

TEST(Rotate, WaitsForWhatIsStillOnItsWay) {
  auto table = logistic_table(3000, 32, 250);
  SharedTable shared(table);
  const auto dealt = in_runs(shared.blocks(), 3);
  for (const bool in_step : {false, true}) {
    auto sources = sources_for(shared, 3);
    // Of the first worker, all that is not its own.
    sources[0]->late_from(dealt[1].front());
    run(sources, table.schema(), streaming(4, in_step), dealt, true);
    EXPECT_GT(sources[0]->asked(), 5u) << in_step;
  }
}

TEST(Rotate, GoesOnFromAnyStepWithTheSameBits) {
  auto table = logistic_table(2400, 33, 100);
  SharedTable shared(table);
  const auto dealt = deal(shared.blocks(), 3);
  JobSpec spec = streaming(3, true);
  spec.strategy.tau = 1;
  auto sources = sources_for(shared, 3);
  const Outcome whole = run(sources, table.schema(), spec, dealt, true, 1);
  ASSERT_GE(whole.checkpoints.size(), 20u);
  const Outcome again = run(sources, table.schema(), spec, dealt, true);
  EXPECT_EQ(whole.model(), again.model());
  for (const auto& [step, bytes] : whole.checkpoints)
    ASSERT_EQ(whole.model(), run(sources, table.schema(), spec, dealt, true, 0, bytes).model())
        << "from step " << step;
}

// A state that was made with other turns is no one's own: all go on from the lead's.
TEST(Rotate, GoesOnFromACheckpointWithoutTurns) {
  auto table = logistic_table(2400, 33, 100);
  SharedTable shared(table);
  const auto dealt = deal(shared.blocks(), 3);
  const JobSpec spec = streaming(3, true);
  auto sources = sources_for(shared, 3);
  const Outcome whole = run(sources, table.schema(), spec, dealt, false, 4);
  ASSERT_FALSE(whole.checkpoints.empty());
  const Outcome after = run(sources, table.schema(), spec, dealt, true, 0, whole.checkpoints.begin()->second);
  EXPECT_NEAR(after.auc(), whole.auc(), 0.01);
}

TEST(Rotate, TrainsAsWellWhileMembersChange) {
  auto table = logistic_table(6000, 34, 250);
  SharedTable shared(table);
  LocalGroup group(deal(shared.blocks(), 3), LocalGroup::Blocks::go_round);
  const JobSpec spec = streaming(20, false);
  Workers workers(shared, table.schema(), spec, group);
  workers.observer(0).at = [&](std::uint64_t step) {
    if (step == 20) group.cut(2, 1);
  };
  for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
  workers.join();
  ASSERT_TRUE(workers.of(0).has_value());
  const json evaluation = json::parse(workers.of(0)->evaluation_json);
  EXPECT_GT(evaluation["metrics"]["test"]["auc"]["value"].get<double>(), 0.75);
}

}  // namespace
}  // namespace samovar::trainer
