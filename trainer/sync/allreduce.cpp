// Synchronous all-reduce (ChainerMN): what is exchanged are sums over rows, gradients and losses; every
// member gets the sum of all of them.
//
// Cells of two floats are one double each. What they hold is rounded beforehand so that their sum is exact
// (trainer/solvers/exact_sum.hpp): it does not depend on how the rows are dealt to the members. Cells of one
// float, for codecs that are not exact, are added as they are, in the order of the members.
#include <cstring>

#include "trainer/sync/rules.hpp"

namespace samovar::trainer {

namespace {

class AllreduceRule final : public SliceRule {
 public:
  double parts(std::size_t) const override { return 1; }
  bool waits() const override { return true; }
  bool sets() const override { return true; }
  bool anew() const override { return true; }
  std::uint32_t tau() const override { return 1; }

  void begin(std::span<const float>, std::size_t, CellKind cell) override { doubles_ = cell.floats == 2; }
  void meet(std::size_t, Given&) override {}
  void close(std::size_t, std::span<Given> all) override {
    if (all.empty()) return;
    if (doubles_) {
      add<double>(all, doubles_sum_);
    } else {
      add<float>(all, floats_sum_);
    }
  }

 private:
  template <class T>
  static void add(std::span<Given> all, std::vector<T>& sum) {
    const std::size_t count = all.front().x.size_bytes() / sizeof(T);
    sum.assign(count, 0);
    for (const Given& one : all) {
      for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, reinterpret_cast<const std::uint8_t*>(one.x.data()) + i * sizeof(T), sizeof(T));
        sum[i] += value;
      }
    }
    for (Given& one : all) std::memcpy(one.x.data(), sum.data(), one.x.size_bytes());
  }

  bool doubles_ = false;
  std::vector<double> doubles_sum_;
  std::vector<float> floats_sum_;
};

}  // namespace

std::unique_ptr<SliceRule> make_allreduce_rule(const StrategySpec&) {
  return std::make_unique<AllreduceRule>();
}

}  // namespace samovar::trainer
