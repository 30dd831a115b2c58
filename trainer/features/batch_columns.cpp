#include "trainer/features/batch_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"
#include "trainer/features/values.hpp"

namespace samovar::trainer {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_number(ColumnType type) {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}
bool is_text(ColumnType type) { return type == ColumnType::category || type == ColumnType::text; }

BoundColumns::Way way_of(Treatment treatment, ColumnType type) {
  using Way = BoundColumns::Way;
  switch (treatment) {
    case Treatment::number:
    case Treatment::number_hash:
    case Treatment::weekday:
    case Treatment::hour:
      return is_number(type) ? Way::direct : is_text(type) ? Way::written : Way::absent;
    case Treatment::levels:
    case Treatment::level_hash:
      return type == ColumnType::category ? Way::direct
             : type == ColumnType::sparse ? Way::absent
                                          : Way::written;
    case Treatment::words:
      return is_text(type) ? Way::direct : type == ColumnType::sparse ? Way::absent : Way::written;
    case Treatment::places:
    case Treatment::place_hash:
      return type == ColumnType::sparse ? Way::direct : Way::absent;
  }
  return Way::absent;
}

// A number of a column that holds them, by its name.
std::optional<std::size_t> numbers_in(const Schema& schema, const std::string& name) {
  const auto column = name.empty() ? std::nullopt : schema.find(name);
  return column && is_number(schema.columns[*column].type) ? column : std::nullopt;
}

// Hashed numbers of a data set whose places are looked up: 64 KiB each.
constexpr std::size_t kNumberPlacesMax = 32;

}  // namespace

BoundColumns::BoundColumns(const PipelinePlan& plan, const LevelCodes& codes, const Schema& schema)
    : codes_(codes),
      inputs_(plan.inputs.size()),
      number_places_(plan.inputs.size()),
      input_of_(schema.columns.size(), kNone) {
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) by_name.emplace(schema.columns[i].name, i);
  std::size_t looked_up = 0;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto found = by_name.find(plan.inputs[i].name);
    if (found == by_name.end()) continue;
    Input& input = inputs_[i];
    input.column = found->second;
    input.type = schema.columns[input.column].type;
    input.way = way_of(plan.inputs[i].treatment, input.type);
    if (plan.inputs[i].treatment == Treatment::number_hash && input.way == Way::direct &&
        looked_up < kNumberPlacesMax) {
      ++looked_up;
      number_places_[i] = codes.number_places(i);
    }
    const bool levels =
        plan.inputs[i].treatment == Treatment::levels || plan.inputs[i].treatment == Treatment::level_hash;
    if (levels && input.way == Way::direct) {
      input.place = categories_.size();
      categories_.push_back(input.column);
      input_of_[input.column] = static_cast<std::uint32_t>(i);
    }
  }
  target_ = schema.find(plan.target.name);
  if (target_) target_type_ = schema.columns[*target_].type;
  weight_ = numbers_in(schema, plan.weight);
  offset_ = numbers_in(schema, plan.offset);
  exposure_ = numbers_in(schema, plan.exposure);
}

std::uint32_t BoundColumns::code(std::size_t column, std::string_view level) const {
  return input_of_[column] == kNone ? BlockView::kMissingCode : codes_.weight(input_of_[column], level);
}
std::uint32_t BoundColumns::missing(std::size_t column) const {
  return input_of_[column] == kNone ? BlockView::kMissingCode : codes_.missing(input_of_[column]);
}

void BoundColumns::codes(std::size_t column, const BlockView& block, std::span<std::uint32_t> out) const {
  if (input_of_[column] == kNone) return LevelCoder::codes(column, block, out);
  codes_.weights(input_of_[column], block, column, out);
}

BatchColumns::BatchColumns(const PipelinePlan& plan, const LevelCodes& codes, const BoundColumns& bound,
                           const Batch& batch, std::span<const std::uint32_t> rows)
    : plan_(plan),
      codes_(codes),
      bound_(bound),
      batch_(batch),
      rows_(static_cast<std::uint32_t>(rows.size())) {
  chosen_.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    SAMOVAR_ASSERT(row < batch.rows());
    chosen_.push_back(batch.block_row(row));
  }
  order_ = chosen_;
}

void BatchColumns::column_numbers(std::size_t column, std::uint32_t first, std::span<double> out) const {
  const BlockView& block = batch_.block();
  if (order_.empty()) return block.reals(column, batch_.block_row(0) + first, out);
  const auto rows = order_.subspan(first, out.size());
  if (!batch_.block_rows().empty() || 2 * out.size() < batch_.rows()) return block.reals(column, rows, out);
  // Most rows of a batch that lies in one piece: all of them, by vectors, and then those that are chosen.
  std::vector<double> all(batch_.rows());
  const std::uint32_t begin = batch_.block_row(0);
  block.reals(column, begin, std::span(all));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = all[rows[i] - begin];
}

// False when it is missing.
bool BatchColumns::written(const BoundColumns::Input& from, std::uint32_t row) const {
  const BlockView& block = batch_.block();
  const std::uint32_t place = at(row);
  if (!block.valid(from.column, place)) return false;
  if (is_text(from.type)) {
    written_ = block.text(from.column, place);
    return true;
  }
  double value = 0;
  block.reals(from.column, place, std::span(&value, 1));
  if (!std::isfinite(value)) return false;
  written_ = from.type == ColumnType::boolean ? level_of(value != 0) : level_of(value);
  return true;
}

void BatchColumns::numbers(std::size_t input, std::uint32_t first, std::span<double> out) const {
  const BoundColumns::Input& from = bound_.input(input);
  if (from.way == BoundColumns::Way::direct) return column_numbers(from.column, first, out);
  std::fill(out.begin(), out.end(), kNan);
  if (from.way == BoundColumns::Way::absent) return;
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    if (written(from, first + i)) out[i] = read_value(plan_.inputs[input].type, written_).value_or(kNan);
  }
}

void BatchColumns::slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
                         std::size_t stride) const {
  const BoundColumns::Input& from = bound_.input(input);
  if (from.way == BoundColumns::Way::direct) {
    const auto table = batch_.level_codes(from.place);
    if (order_.empty()) {
      batch_.block().map_codes(from.column, batch_.block_row(0) + first, rows, table, out, stride);
    } else {
      batch_.block().map_codes(from.column, order_.subspan(first, rows), table, out, stride);
    }
    return;
  }
  const std::uint32_t missing = codes_.missing(input);
  for (std::uint32_t i = 0; i < rows; ++i) {
    const bool there = from.way == BoundColumns::Way::written && written(from, first + i);
    out[i * stride] = there ? codes_.weight(input, written_) : missing;
  }
}

bool BatchColumns::number_slots(std::size_t input, std::uint32_t first, std::uint32_t rows,
                                std::uint32_t* out, std::size_t stride) const {
  const BoundColumns::Input& from = bound_.input(input);
  const std::uint32_t* const places = bound_.number_places(input);
  if (places == nullptr || !order_.empty() || from.way != BoundColumns::Way::direct) return false;
  return batch_.block().map_numbers(from.column, batch_.block_row(0) + first, rows, places, Tokens::kNoNumber,
                                    out, stride);
}

std::string_view BatchColumns::text(std::size_t input, std::uint32_t row) const {
  const BoundColumns::Input& from = bound_.input(input);
  if (from.way == BoundColumns::Way::direct) return batch_.block().text(from.column, at(row));
  return from.way == BoundColumns::Way::written && written(from, row) ? std::string_view(written_)
                                                                      : std::string_view();
}

BlockView::SparseRow BatchColumns::sparse(std::size_t input, std::uint32_t row) const {
  const BoundColumns::Input& from = bound_.input(input);
  if (from.way != BoundColumns::Way::direct) return {};
  return batch_.block().sparse(from.column, at(row));
}

void BatchColumns::labels(bool with_target, EncodedBatch& out) const {
  out.target.clear();
  out.weight.clear();
  out.offset.clear();
  if (rows_ == 0) return;
  if (with_target) target(out);
  offset(out);
}

void BatchColumns::target(EncodedBatch& out) const {
  const std::uint32_t rows = rows_;
  const auto& classes = plan_.target.classes;
  std::vector<double> values(rows, kNan);
  if (bound_.target() && is_number(bound_.target_type())) {
    column_numbers(*bound_.target(), 0, values);
    // The classes of numbers are numbers, written; those of yes and no are 0 and 1 as they are.
    if (!classes.empty() && plan_.target.type != ColumnType::boolean) {
      std::vector<std::pair<double, double>> known;
      for (std::size_t c = 0; c < classes.size(); ++c)
        known.emplace_back(read_value(ColumnType::real, classes[c]).value_or(kNan), static_cast<double>(c));
      std::sort(known.begin(), known.end());
      for (double& value : values) {
        const auto at = std::lower_bound(known.begin(), known.end(), std::pair(value, -1.0));
        value = at != known.end() && at->first == value ? at->second : kNan;
      }
    }
  } else if (bound_.target() && bound_.target_type() == ColumnType::category && !classes.empty()) {
    const BlockView& block = batch_.block();
    std::vector<std::uint32_t> table(block.levels(*bound_.target()) + 1, kNoSlot);
    for (std::uint32_t level = 0; level + 1 < table.size(); ++level) {
      const auto at = std::find(classes.begin(), classes.end(), block.level(*bound_.target(), level));
      if (at != classes.end()) table[level] = static_cast<std::uint32_t>(at - classes.begin());
    }
    std::vector<std::uint32_t> numbered(rows);
    if (order_.empty()) {
      block.map_codes(*bound_.target(), batch_.block_row(0), rows, table, numbered.data(), 1);
    } else {
      block.map_codes(*bound_.target(), order_, table, numbered.data(), 1);
    }
    for (std::uint32_t row = 0; row < rows; ++row)
      values[row] = numbered[row] == kNoSlot ? kNan : numbered[row];
  }

  out.target.resize(rows);
  bool all = true;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const bool there = std::isfinite(values[row]);
    out.target[row] = there ? static_cast<float>(values[row]) : 0.0f;
    all = all && there;
  }
  if (all && !bound_.weight()) return;
  out.weight.assign(rows, 1.0f);
  if (bound_.weight()) {
    std::vector<double> weights(rows);
    column_numbers(*bound_.weight(), 0, weights);
    for (std::uint32_t row = 0; row < rows; ++row)
      out.weight[row] = std::isfinite(weights[row]) ? static_cast<float>(std::max(weights[row], 0.0)) : 0.0f;
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (!std::isfinite(values[row])) out.weight[row] = 0;
  }
}

void BatchColumns::offset(EncodedBatch& out) const {
  if (!bound_.offset() && !bound_.exposure()) return;
  const std::uint32_t rows = rows_;
  out.offset.assign(rows, 0.0f);
  std::vector<double> values(rows);
  const auto add = [&](std::size_t column, bool logarithm) {
    column_numbers(column, 0, values);
    for (std::uint32_t row = 0; row < rows; ++row) out.offset[row] += offset_part(values[row], logarithm);
  };
  if (bound_.offset()) add(*bound_.offset(), false);
  if (bound_.exposure()) add(*bound_.exposure(), true);
}

float offset_part(double value, bool logarithm) noexcept {
  if (!std::isfinite(value) || (logarithm && value <= 0)) return 0;
  constexpr double kMost = 700;  // beyond it no expected value is a number
  return static_cast<float>(std::clamp(logarithm ? std::log(value) : value, -kMost, kMost));
}

}  // namespace samovar::trainer
