// Workers of one job as threads of a test.
#pragma once
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/trainer/training.hpp"
#include "trainer/sync/local_group.hpp"

namespace samovar::trainer {

// Blocks dealt out in turn.
inline std::vector<std::vector<std::uint32_t>> deal(std::size_t blocks, std::size_t members) {
  std::vector<std::vector<std::uint32_t>> out(members);
  for (std::uint32_t block = 0; block < blocks; ++block) out[block % members].push_back(block);
  return out;
}

// Reads of several threads: each member has a source of its own in the product.
class SharedTable final : public BlockSource {
 public:
  explicit SharedTable(tests::MemoryTable& table) : table_(table) {
    for (std::size_t block = 0; block < table.blocks(); ++block) {
      Bytes bytes;
      EXPECT_TRUE(table.read(block, bytes));
      blocks_.push_back(std::move(bytes));
    }
  }
  std::size_t blocks() const override { return blocks_.size(); }
  std::uint32_t rows(std::size_t block) const override { return table_.rows(block); }
  Result<void> read(std::size_t block, Bytes& out) override {
    out = blocks_[block];
    return {};
  }

 private:
  const tests::MemoryTable& table_;
  std::vector<Bytes> blocks_;
};

// Something a member does at a step of its training.
struct StepObserver final : TrainObserver {
  std::function<void(std::uint64_t)> at;
  std::map<std::uint64_t, Bytes> checkpoints;
  std::map<std::string, double> last;
  std::uint64_t steps = 0;
  bool progress(const TrainProgress&) override { return true; }
  bool metric(const TrainMetric& metric) override {
    for (const auto& [name, value] : metric.values) last[name] = value;
    last["seconds"] = metric.seconds;
    if (at) at(++steps);
    return true;
  }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t step, const CheckpointPieces& pieces) override {
    return join(pieces, checkpoints[step]);
  }
};

class Workers {
 public:
  Workers(BlockSource& source, const Schema& schema, const JobSpec& spec, LocalGroup& group)
      : source_(source), schema_(schema), spec_(spec), group_(group) {}
  ~Workers() { join(); }

  StepObserver& observer(std::uint32_t member) {
    auto& one = observers_[member];
    if (!one) one = std::make_unique<StepObserver>();
    return *one;
  }
  TrainOptions options;
  void start(std::uint32_t member, bool joining = false, std::optional<Bytes> from = std::nullopt) {
    StepObserver& own = observer(member);
    auto& result = results_[member];
    threads_.emplace_back([this, member, joining, &own, &result, from = std::move(from)] {
      TrainOptions with = options;
      with.group = &group_.member(member);
      with.joining = joining;
      std::optional<ByteView> checkpoint;
      if (from) checkpoint = *from;
      result = std::make_unique<Result<Trained>>(train(source_, schema_, spec_, checkpoint, with, own));
    });
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  const Result<Trained>& of(std::uint32_t member) { return *results_[member]; }

 private:
  BlockSource& source_;
  const Schema& schema_;
  const JobSpec& spec_;
  LocalGroup& group_;
  std::map<std::uint32_t, std::unique_ptr<StepObserver>> observers_;
  std::map<std::uint32_t, std::unique_ptr<Result<Trained>>> results_;
  std::vector<std::thread> threads_;
};

}  // namespace samovar::trainer
