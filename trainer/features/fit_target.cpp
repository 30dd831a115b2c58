#include "trainer/features/fit_target.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"
#include "trainer/features/values.hpp"

namespace samovar::trainer {

namespace {

// The answer that is asked for, when one of two classes is called so.
bool sounds_positive(std::string_view level) {
  constexpr std::array<std::string_view, 14> kWords = {"1",        "true", "yes",     "y",     "t",
                                                       "positive", "pos",  "bad",     "churn", "fraud",
                                                       "died",     "dead", "default", "case"};
  std::string lower;
  for (const char c : level) {
    if (c == ' ') continue;
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

}  // namespace

TargetFit::TargetFit(const Schema& schema, const JobSpec& spec, std::size_t column)
    : column_(column), type_(schema.columns[column].type), name_(spec.target), family_("auto") {
  if (!spec.parameters.is_object()) return;
  const auto family = spec.parameters.find("family");
  if (family != spec.parameters.end() && family->is_string()) family_ = family->get<std::string>();
}

Error TargetFit::invalid(const std::string& what) const {
  return {Errc::invalid, "the target \"" + name_ + "\" " + what};
}

void TargetFit::present(const BlockView& block, std::vector<std::uint8_t>& out) {
  out.assign(block.rows(), 1);
  if (type_ == ColumnType::category) {
    for (std::uint32_t row = 0; row < block.rows(); ++row)
      out[row] = block.text(column_, row).empty() ? 0 : 1;
  } else {
    std::vector<double> values(block.rows());
    block.reals(column_, 0, values);
    for (std::uint32_t row = 0; row < block.rows(); ++row) out[row] = std::isfinite(values[row]) ? 1 : 0;
  }
  missing_ += static_cast<std::uint64_t>(std::count(out.begin(), out.end(), 0));
}

void TargetFit::add(const BlockView& block, std::span<const std::uint8_t> use) {
  if (type_ == ColumnType::category) {
    std::vector<std::uint64_t> counts(block.levels(column_) + std::size_t{1});
    std::vector<std::uint32_t> codes(block.rows());
    block.codes(column_, 0, codes);
    for (std::size_t row = 0; row < codes.size(); ++row)
      counts[std::min<std::size_t>(codes[row], counts.size() - 1)] += use[row];
    for (std::uint32_t level = 0; level + 1 < counts.size(); ++level) {
      if (counts[level] == 0) continue;
      training_ += counts[level];
      if (levels_.size() <= kClassesMax) levels_[std::string(block.level(column_, level))] += counts[level];
    }
    return;
  }
  std::vector<double> values(block.rows());
  block.reals(column_, 0, values);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (use[row] == 0) continue;
    const double value = values[row] + 0.0;
    if (type_ == ColumnType::boolean) ++(value != 0 ? high_ : low_);
    min_ = training_ == 0 ? value : std::min(min_, value);
    max_ = training_ == 0 ? value : std::max(max_, value);
    ++training_;
    if (type_ != ColumnType::boolean) count(value, 1);
  }
}

void TargetFit::count(double value, std::uint64_t rows) {
  if (many_) return;
  values_[value] += rows;
  if (values_.size() <= kClassesMax) return;
  many_ = true;
  values_.clear();
}

void TargetFit::put(StateWriter& out) const {
  for (const std::uint64_t number : {missing_, training_, low_, high_}) out.put(number);
  out.put(min_);
  out.put(max_);
  out.put(static_cast<std::uint8_t>(many_));
  out.put(std::uint64_t{levels_.size()});
  for (const auto& [level, rows] : levels_) {
    out.put(std::string_view(level));
    out.put(rows);
  }
  out.put(std::uint64_t{values_.size()});
  for (const auto& [value, rows] : values_) {
    out.put(value);
    out.put(rows);
  }
}

void TargetFit::merge(StateReader& in) {
  missing_ += in.get<std::uint64_t>();
  const auto training = in.get<std::uint64_t>();
  low_ += in.get<std::uint64_t>();
  high_ += in.get<std::uint64_t>();
  const auto min = in.get<double>();
  const auto max = in.get<double>();
  if (training != 0) {
    min_ = training_ == 0 ? min : std::min(min_, min);
    max_ = training_ == 0 ? max : std::max(max_, max);
  }
  training_ += training;
  if (in.get<std::uint8_t>() != 0) {
    many_ = true;
    values_.clear();
  }
  const auto levels = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < levels && !in.failed(); ++i) {
    const std::string level = in.text();
    const auto rows = in.get<std::uint64_t>();
    if (levels_.size() <= kClassesMax) levels_[level] += rows;
  }
  const auto values = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < values && !in.failed(); ++i) {
    const auto value = in.get<double>();
    count(value, in.get<std::uint64_t>());
  }
}

Result<TargetPlan> TargetFit::finish(bool whole, std::vector<std::string>& notes) const {
  TargetPlan plan;
  plan.name = name_;
  plan.type = type_;
  if (training_ == 0)
    return invalid("is missing in every row that could train: choose another target or a smaller test share");
  if (missing_ != 0)
    notes.push_back((whole ? std::to_string(missing_) + " rows" : std::string("Rows")) +
                    " are left out because their target is missing.");
  if (type_ == ColumnType::category) {
    SAMOVAR_CHECK(finish_levels(plan));
  } else {
    SAMOVAR_CHECK(finish_numbers(plan));
  }
  if (type_ != ColumnType::boolean && plan.classes.size() == 2)
    notes.push_back("\"" + plan.classes[1] + "\" is taken as the positive class of \"" + name_ + "\".");
  return plan;
}

Result<void> TargetFit::finish_levels(TargetPlan& plan) const {
  if (levels_.size() < 2)
    return invalid("has one class only, \"" + levels_.begin()->first + "\": there is nothing to tell apart");
  if (levels_.size() > kClassesMax)
    return invalid("has more than " + std::to_string(kClassesMax) + " classes: is it an identifier?");
  if (family_ == "binomial" && levels_.size() != 2)
    return invalid("has " + std::to_string(levels_.size()) + " classes: the family must be multinomial");
  if (family_ != "auto" && family_ != "binomial" && family_ != "multinomial")
    return invalid("holds categories: the family must be binomial or multinomial");
  for (const auto& [level, count] : levels_) plan.classes.push_back(level);
  if (plan.classes.size() == 2) {
    // The positive one second: by its name, else the rarer one.
    const bool first = sounds_positive(plan.classes[0]);
    const bool second = sounds_positive(plan.classes[1]);
    const bool rarer = levels_.begin()->second < levels_.rbegin()->second;
    if (first != second ? first : rarer) std::swap(plan.classes[0], plan.classes[1]);
  }
  return {};
}

Result<void> TargetFit::finish_numbers(TargetPlan& plan) const {
  const bool classes = family_ == "auto" || family_ == "binomial" || family_ == "multinomial";
  if (type_ == ColumnType::boolean) {
    if (low_ == 0 || high_ == 0)
      return invalid(std::string("is ") + (low_ == 0 ? "yes" : "no") +
                     " in every row of the training data: there is nothing to tell apart");
    if (classes) plan.classes = {"false", "true"};
    return {};
  }
  if (min_ == max_)
    return invalid("is " + level_of(min_) +
                   " in every row of the training data: there is nothing to predict");
  const bool two = !many_ && values_.size() == 2;
  if (family_ == "multinomial" && many_)
    return invalid("has more than " + std::to_string(kClassesMax) +
                   " different values: that is no set of classes");
  if (family_ == "binomial" && !two && (min_ < 0 || max_ > 1))
    return invalid("has more than two values, some beyond 0 and 1: the family cannot be binomial");
  if (family_ == "multinomial" || (classes && two)) {
    for (const auto& [value, count] : values_) plan.classes.push_back(level_of(value));
    return {};
  }
  const bool positive = family_ == "gamma";
  const bool counts = family_ == "poisson" || family_ == "negative_binomial" || family_ == "tweedie";
  if (positive && min_ <= 0)
    return invalid("has the value " + level_of(min_) + ": a gamma model needs numbers above 0");
  if (counts && min_ < 0)
    return invalid("has the value " + level_of(min_) + ": a " + family_ +
                   " model needs numbers of 0 and above");
  return {};
}

}  // namespace samovar::trainer
