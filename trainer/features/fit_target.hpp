// What is to be predicted: a number, or which classes.
//
// Threading: values.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trainer/features/column_stats.hpp"
#include "trainer/features/pipeline.hpp"

namespace samovar::trainer {

class TargetFit {
 public:
  TargetFit(const Schema& schema, const JobSpec& spec, std::size_t column);

  // 1 for the rows of the block whose target is there, 0 for others; counts them.
  void present(const BlockView& block, std::vector<std::uint8_t>& out);
  void add(const BlockView& block, std::span<const std::uint8_t> use);
  // Whether more rows could still change the answer, for a target of yes and no.
  bool seen_both() const { return type_ == ColumnType::boolean && low_ != 0 && high_ != 0; }

  void put(StateWriter& out) const;
  void merge(StateReader& in);

  // `whole`: all rows were looked at. Errc::invalid: one class, a number that the family does not allow, …
  Result<TargetPlan> finish(bool whole, std::vector<std::string>& notes) const;

 private:
  Result<void> finish_numbers(TargetPlan& plan) const;
  Result<void> finish_levels(TargetPlan& plan) const;
  Error invalid(const std::string& what) const;

  void count(double value, std::uint64_t rows);

  const std::size_t column_;
  const ColumnType type_;
  const std::string name_;
  std::string family_;
  std::uint64_t missing_ = 0;         // of all rows
  std::uint64_t training_ = 0;        // rows to learn from
  std::uint64_t low_ = 0, high_ = 0;  // yes and no
  std::map<std::string, std::uint64_t, std::less<>> levels_;
  std::map<double, std::uint64_t> values_;  // until there are too many for classes
  bool many_ = false;
  double min_ = 0, max_ = 0;
};

}  // namespace samovar::trainer
