// What Downpour and SSP have in common: the owner of a slice adds up what each member changed since it last
// had the slice, and the member goes on from the sum.
//
// Of solvers whose cells are sums (AdaGrad, FTRL) whole cells are added: the owners then keep the sums of
// squares of all workers. Of others only the weights: the velocity of a member is its own.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "trainer/sync/slice_rule.hpp"

namespace samovar::trainer {

class AdditiveRule : public SliceRule {
 public:
  // Everybody has what all found.
  double parts(std::size_t) const override { return 1; }

  void begin(std::span<const float> own, std::size_t, CellKind cell) override {
    cell_ = cell;
    sum_.assign(own.begin(), own.end());
    bases_.clear();
    heard_.clear();
  }
  void meet(std::size_t at, Given& one) override {
    take(at, one);
    give(at, one);
  }
  void take(std::size_t at, Given& one) override {
    std::vector<float>& base = bases_[{at, one.member}];
    float* const sum = sum_.data() + at;
    if (base.size() != one.x.size()) {
      // The first word of a member in this epoch: the slice is the mean of those heard.
      base.assign(one.x.size(), 0);
      const auto weight = 1 / static_cast<float>(++heard_[at]);
      for (std::size_t i = 0; i < one.x.size(); ++i) sum[i] += weight * (one.x[i] - sum[i]);
      return;
    }
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (shared(at + i)) sum[i] += scaled(at + i, one.x[i] - base[i]);
    }
    if (!cell_.sums()) return;
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if ((at + i) % cell_.floats == cell_.squares_at) sum[i] = std::max(sum[i], 0.0f);
    }
  }
  void give(std::size_t at, Given& one) override {
    std::vector<float>& base = bases_[{at, one.member}];
    const float* const sum = sum_.data() + at;
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      base[i] = sum[i];
      one.x[i] = shared(at + i) ? one.x[i] - sum[i] : 0;
    }
  }

  // What the member did not hear of is no change of its own.
  void left_out(std::size_t at, std::uint32_t member, std::span<const float> by) override {
    std::vector<float>& base = bases_[{at, member}];
    for (std::size_t i = 0; i < std::min(base.size(), by.size()); ++i) base[i] += by[i];
  }

  std::span<const float> centre() const override { return sum_; }

 protected:
  // What is added of a change of one float of the slice.
  virtual float scaled(std::size_t, float change) { return change; }
  bool sums() const noexcept { return cell_.sums(); }

 private:
  bool shared(std::size_t i) const noexcept { return cell_.sums() || i % cell_.floats == 0; }

  CellKind cell_;
  std::vector<float> sum_;
  // By piece and member: what the member had when it began.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<float>> bases_;
  std::map<std::size_t, std::uint32_t> heard_;
};

}  // namespace samovar::trainer
