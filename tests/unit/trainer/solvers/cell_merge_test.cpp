#include "trainer/solvers/cell_merge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/optimizer.hpp"

namespace samovar::trainer {
namespace {

using kernels::Optimizer;
using kernels::Rule;
using Pair = std::vector<float>;

Optimizer alone(Rule rule, float l1 = 0) {
  Optimizer o;
  o.rule = rule;
  o.rate = 0.1f;
  o.l1 = l1;
  o.l2 = rule == Rule::ftrl ? 1.0f : 0;
  o.epsilon = rule == Rule::adam ? 1e-8f : 1.0f;
  return o;
}

// As Stream::rescale has it: a member's cells stand for one of `parts`.
Optimizer member_of(Optimizer o, float parts) {
  const float root = std::sqrt(parts);
  if (o.rule == Rule::adam) return o;
  o.rate *= root;
  o.epsilon /= o.rule == Rule::ftrl ? root : parts;
  if (o.rule == Rule::ftrl) {
    o.l1 /= parts;
    o.l2 /= parts;
  }
  return o;
}

float merged(const Optimizer& rule, const std::vector<Pair>& pairs) {
  const auto parts = static_cast<float>(pairs.size());
  const CellMerge merge(member_of(rule, parts), rule, 1);
  std::vector<const float*> members;
  for (const Pair& one : pairs) members.push_back(one.data());
  float weight = 0;
  merge.merge(members, 1, &weight);
  return weight;
}
float own(const Optimizer& rule, std::size_t members, const Pair& pair) {
  float weight = 0;
  CellMerge(member_of(rule, static_cast<float>(members)), rule, 1).own(pair.data(), 1, &weight);
  return weight;
}

// Steps on a target of 1 with errors of `noise`, until the weight stands.
Pair learn(const Optimizer& rule, std::size_t members, int steps) {
  const Optimizer o = member_of(rule, static_cast<float>(members));
  const kernels::ops::Rates rates = kernels::ops::rates_of(o);
  Pair cell(2);
  for (int i = 0; i < steps; ++i) {
    const float weight = own(rule, members, cell);
    const float gradient = weight - 1 + (i % 2 == 0 ? 0.5f : -0.5f);
    if (rule.rule == Rule::ftrl)
      kernels::ops::step_cell<Rule::ftrl>(cell.data(), gradient, o, rates);
    else
      kernels::ops::step_cell<Rule::adagrad>(cell.data(), gradient, o, rates);
  }
  return cell;
}

TEST(CellMerge, WhatAllLearnedAlikeStaysAsItIs) {
  for (const Rule rule : {Rule::ftrl, Rule::adagrad, Rule::adam}) {
    for (const std::size_t members : {2u, 8u}) {
      const Pair pair{rule == Rule::ftrl ? -3.0f : 0.7f, 4.0f};
      const float weight = own(alone(rule), members, pair);
      EXPECT_NEAR(merged(alone(rule), std::vector<Pair>(members, pair)), weight, 1e-5 * std::abs(weight));
    }
  }
}

// The mean of weights would leave an eighth of it.
TEST(CellMerge, AWeightThatOneMemberAloneKnowsIsKept) {
  for (const Rule rule : {Rule::ftrl, Rule::adagrad}) {
    std::vector<Pair> pairs(8, Pair(2));
    pairs[3] = learn(alone(rule), 8, 4000);
    const float weight = own(alone(rule), 8, pairs[3]);
    ASSERT_NEAR(weight, 1, 0.15);
    EXPECT_GT(merged(alone(rule), pairs), 0.7f * weight) << static_cast<int>(rule);
    EXPECT_LE(merged(alone(rule), pairs), weight) << static_cast<int>(rule);
  }
  EXPECT_FLOAT_EQ(merged(alone(Rule::adam), {{0, 0}, {0.4f, 0.01f}, {0, 0}}), 0.4f);
  EXPECT_FLOAT_EQ(merged(alone(Rule::adam), {{0.6f, 0}, {0, 0}}), 0.3f) << "nobody knows how much it saw";
}

// One look each: nothing held the weights yet, so gradients and squares are all there is.
TEST(CellMerge, OfWhatAllSawLittleItIsWhatOneWorkerWouldHaveMade) {
  const Optimizer rule = alone(Rule::ftrl, 0.5f);
  const std::vector<Pair> looks = {{-0.6f, 0.36f}, {-0.6f, 0.36f}, {-0.6f, 0.36f}, {-0.6f, 0.36f}};
  float one = 0;
  const Pair all{-2.4f, 1.44f};
  CellMerge(rule, rule, 1).own(all.data(), 1, &one);
  EXPECT_NEAR(merged(rule, looks), one, 1e-6);
  // Chance alone: the members would each have a weight, of one side or the other.
  const std::vector<Pair> chance = {{-0.4f, 0.16f}, {0.3f, 0.09f}, {-0.3f, 0.09f}, {0.2f, 0.04f}};
  for (const Pair& look : chance) EXPECT_NE(own(rule, 4, look), 0);
  EXPECT_EQ(merged(rule, chance), 0) << "the penalty is for what all saw together";
}

TEST(CellMerge, WeightsComeInTheUnitAskedFor) {
  const Optimizer rule = alone(Rule::adagrad);
  const Pair pair{2, 1};
  const float* const members[] = {pair.data(), pair.data()};
  float weight = 0;
  CellMerge(rule, rule, 3).merge(members, 1, &weight);
  EXPECT_FLOAT_EQ(weight, 6);
  EXPECT_FALSE(CellMerge::knows(Rule::sgd));
}

}  // namespace
}  // namespace samovar::trainer
