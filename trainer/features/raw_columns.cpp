#include "trainer/features/raw_columns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "trainer/features/values.hpp"

namespace samovar::trainer {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t kShownMax = 5;  // rows that are named; of the rest, how many they are
constexpr std::size_t kQuotedMax = 40;

std::string in_quotes(std::string_view text) {
  if (text.size() <= kQuotedMax) return "\"" + std::string(text) + "\"";
  std::size_t end = kQuotedMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return "\"" + std::string(text.substr(0, end)) + "…\"";
}

// The warnings of one kind about one input.
class Complaints {
 public:
  Complaints(std::vector<InputWarning>& out, const std::string& input, const char* code)
      : out_(out), input_(input), code_(code) {}
  ~Complaints() {
    if (count_ > kShownMax)
      out_.push_back(
          {code_, input_, std::nullopt, "and so in " + std::to_string(count_ - kShownMax) + " more rows"});
  }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;
  void add(std::uint32_t row, std::string detail) {
    if (count_++ < kShownMax) out_.push_back({code_, input_, row, std::move(detail)});
  }

 private:
  std::vector<InputWarning>& out_;
  const std::string& input_;
  const char* const code_;
  std::uint32_t count_ = 0;
};

const char* wanted(ColumnType type) {
  switch (type) {
    case ColumnType::boolean:
      return "is neither yes nor no";
    case ColumnType::time:
      return "is no time";
    default:
      return "is no number";
  }
}

// NaN: missing, or nothing that can be read, which `bad` tells.
double number_of(ColumnType type, const RawValue& value, bool& bad) {
  bad = false;
  double out = kNan;
  if (const auto* yes = std::get_if<bool>(&value)) {
    out = *yes ? 1 : 0;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    out = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    out = *real;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    if (says_missing(*text)) return kNan;
    out = read_value(type, *text).value_or(kNan);
    bad = std::isnan(out);
  }
  return std::isfinite(out) ? out : kNan;
}

// False: missing.
bool text_of(const RawValue& value, std::string& out) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    out = *text;
    return true;
  }
  if (const auto* yes = std::get_if<bool>(&value)) {
    out = level_of(*yes);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    out = std::to_string(*whole);
  } else if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) {
    out = level_of(*real);
  } else {
    return false;
  }
  return true;
}

// "3:0.5 17:1", with the indices rising. False when it is something else.
bool read_pairs(std::string_view text, std::vector<std::uint32_t>& indices, std::vector<float>& values) {
  const std::size_t begin = indices.size();
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto undo = [&] {
    indices.resize(begin);
    values.resize(begin);
    return false;
  };
  for (;;) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    if (at == end) return true;
    std::uint32_t index = 0;
    float value = 0;
    auto read = std::from_chars(at, end, index);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != ':') return undo();
    const auto number = std::from_chars(read.ptr + 1, end, value);
    if (number.ec != std::errc() || !std::isfinite(value)) return undo();
    at = number.ptr;
    if (at != end && *at != ' ' && *at != '\t') return undo();
    if (indices.size() > begin && indices.back() >= index) return undo();
    indices.push_back(index);
    values.push_back(value);
  }
}

bool read_alike(ColumnType a, ColumnType b) {
  const auto number = [](ColumnType type) {
    return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean;
  };
  return a == b || (number(a) && number(b));
}

}  // namespace

std::vector<InputWarning> column_warnings(const PipelinePlan& plan, const Schema& schema) {
  std::vector<InputWarning> out;
  std::set<std::string_view> seen;
  for (const InputPlan& input : plan.inputs) {
    if (!seen.insert(input.name).second) continue;
    const auto column = schema.find(input.name);
    if (!column) {
      out.push_back({"missing_column", input.name, std::nullopt,
                     "the data has no column \"" + input.name + "\": it counts as missing in every row"});
    } else if (!read_alike(schema.columns[*column].type, input.type)) {
      out.push_back({"other_type", input.name, std::nullopt,
                     "\"" + input.name + "\" was of type " + std::string(to_string(input.type)) +
                         " in training and is " + std::string(to_string(schema.columns[*column].type)) +
                         " here: values that cannot be read so count as missing"});
    }
  }
  return out;
}

RawColumns::RawColumns(const PipelinePlan& plan, const LevelCodes& codes, const RawTable& table,
                       std::vector<InputWarning>& warnings)
    : plan_(plan), columns_(plan.inputs.size()) {
  std::set<std::string_view> used;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    Column& column = columns_[i];
    const bool again = !used.insert(input.name).second;  // weekday and hour warn of nothing new
    const auto found = table.columns.find(input.name);
    const std::vector<RawValue> none(found == table.columns.end() ? table.rows : 0);
    const std::vector<RawValue>& from = found == table.columns.end() ? none : found->second;
    if (found == table.columns.end() && !again && table.rows != 0)
      warnings.push_back({"missing_column", input.name, std::nullopt,
                          "there is no \"" + input.name + "\": it counts as missing"});
    switch (input.treatment) {
      case Treatment::number:
      case Treatment::number_hash:
      case Treatment::weekday:
      case Treatment::hour: {
        std::vector<InputWarning> unheard;
        Complaints bad_values(again ? unheard : warnings, input.name, "not_a_number");
        for (std::uint32_t row = 0; row < table.rows; ++row) {
          bool bad = false;
          column.numbers.push_back(number_of(input.type, from[row], bad));
          if (bad)
            bad_values.add(row, in_quotes(std::get<std::string>(from[row])) + " " + wanted(input.type) +
                                    ": it counts as missing");
        }
        break;
      }
      case Treatment::levels:
      case Treatment::level_hash: {
        Complaints unseen(warnings, input.name, "unseen_level");
        std::string level;
        for (std::uint32_t row = 0; row < table.rows; ++row) {
          const bool there = text_of(from[row], level);
          column.slots.push_back(there ? codes.weight(i, level) : codes.missing(i));
          if (there && !codes.known(i, level))
            unseen.add(row, in_quotes(level) + " has no weight of its own: training never or hardly saw it");
        }
        break;
      }
      case Treatment::words:
        column.texts.resize(table.rows);
        for (std::uint32_t row = 0; row < table.rows; ++row) {
          if (!text_of(from[row], column.texts[row])) column.texts[row].clear();
        }
        break;
      case Treatment::places:
      case Treatment::place_hash: {
        Complaints bad(warnings, input.name, "not_a_number");
        std::string text;
        for (std::uint32_t row = 0; row < table.rows; ++row) {
          if (text_of(from[row], text) && !says_missing(text) &&
              !read_pairs(text, column.indices, column.values))
            bad.add(row, in_quotes(text) + " is no list of index:value pairs: it counts as missing");
          column.ends.push_back(static_cast<std::uint32_t>(column.indices.size()));
        }
        break;
      }
    }
  }
  for (const auto& [name, values] : table.columns) {
    if (used.contains(name) || name == plan.target.name || name == plan.weight || name == plan.offset ||
        name == plan.exposure)
      continue;
    if (std::find(plan.unused.begin(), plan.unused.end(), name) != plan.unused.end()) continue;
    warnings.push_back({"extra_column", name, std::nullopt,
                        "the model has no input " + in_quotes(name) + ": it is not looked at"});
  }
}

void RawColumns::numbers(std::size_t input, std::uint32_t first, std::span<double> out) const {
  std::copy_n(columns_[input].numbers.begin() + first, out.size(), out.begin());
}
void RawColumns::slots(std::size_t input, std::uint32_t first, std::uint32_t rows, std::uint32_t* out,
                       std::size_t stride) const {
  for (std::uint32_t i = 0; i < rows; ++i) out[i * stride] = columns_[input].slots[first + i];
}
std::string_view RawColumns::text(std::size_t input, std::uint32_t row) const {
  return columns_[input].texts[row];
}
BlockView::SparseRow RawColumns::sparse(std::size_t input, std::uint32_t row) const {
  const Column& column = columns_[input];
  const std::uint32_t first = row == 0 ? 0 : column.ends[row - 1];
  const std::size_t size = column.ends[row] - first;
  return {{column.indices.data() + first, size}, {column.values.data() + first, size}};
}

void RawColumns::offset(const RawTable& table, EncodedBatch& out) const {
  out.offset.clear();
  for (const auto& [name, logarithm] : {std::pair(&plan_.offset, false), std::pair(&plan_.exposure, true)}) {
    const auto found = name->empty() ? table.columns.end() : table.columns.find(*name);
    if (found == table.columns.end()) continue;
    out.offset.resize(table.rows, 0.0f);
    for (std::uint32_t row = 0; row < table.rows; ++row) {
      bool bad = false;
      out.offset[row] += offset_part(number_of(ColumnType::real, found->second[row], bad), logarithm);
    }
  }
}

}  // namespace samovar::trainer
