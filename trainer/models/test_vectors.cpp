#include "trainer/models/test_vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/data/order.hpp"
#include "trainer/features/tokens.hpp"
#include "trainer/models/row_scores.hpp"
#include "trainer/models/strict_json.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kRowsMost = 32;
constexpr std::uint32_t kRowsLeast = 10;
constexpr std::size_t kCellsUsual = 8192;
constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;

// The first rows; those after them are ordinary.
enum Kind : std::uint32_t {
  all_missing,
  typical,
  unseen,
  largest,
  smallest,
  beyond,
  below,
  alternating,
  ordinary
};

// Any float is a double: a runtime that takes floats gets the same number.
double as_float(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<double>(static_cast<float>(std::clamp(value, -kMost, kMost)));
}

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : order_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return order_.next() % bound; }
  double share() { return static_cast<double>(order_.next() >> 11) * 0x1p-53; }

 private:
  SeededOrder order_;
};

RawValue whole_or_real(ColumnType type, double value) {
  if (type == ColumnType::boolean) return value >= 0.5;
  if (type == ColumnType::real) return as_float(value);
  const double rounded = std::nearbyint(std::clamp(value, -0x1p62, 0x1p62));
  return static_cast<std::int64_t>(rounded);
}

RawValue number_cell(const InputPlan& input, std::uint32_t kind, Drawer& draw) {
  const double low = input.seen_range ? input.min : -1;
  const double high = input.seen_range ? input.max : 1;
  const double reach = std::max(high - low, 1.0);
  switch (kind) {
    case typical:
      if (!input.frequent_numbers.empty())
        return whole_or_real(input.type, Tokens::least_number(input.frequent_numbers.front()));
      return whole_or_real(input.type, input.treatment == Treatment::number ? input.fill : low);
    case largest:
      return whole_or_real(input.type, high);
    case smallest:
      return whole_or_real(input.type, low);
    case beyond:
      return whole_or_real(input.type, input.type == ColumnType::real ? 1e30 : high + 1000 * reach);
    case below:
      return whole_or_real(input.type, input.type == ColumnType::real ? -1e30 : low - 1000 * reach);
    default:
      return whole_or_real(input.type, low + draw.share() * (high - low));
  }
}

RawValue time_cell(const InputPlan& input, std::uint32_t kind, Drawer& draw) {
  constexpr std::int64_t kDay = 86'400'000'000;
  // A file that is brought may say anything: held where days can be added and differences taken.
  const auto at = [](double value) { return static_cast<std::int64_t>(std::clamp(value, -4e18, 4e18)); };
  const std::int64_t low = input.seen_range ? at(input.min) : 0;
  const std::int64_t high = input.seen_range ? std::max(at(input.max), low) : 2'000'000'000'000'000;
  switch (kind) {
    case largest:
      return high;
    case smallest:
      return low;
    case beyond:
      return high + 4000 * kDay;
    case below:
      return -3 * kDay - 1;  // before 1970: division must round down
    default:
      return low + static_cast<std::int64_t>(draw.share() * static_cast<double>(high - low));
  }
}

RawValue level_cell(const InputPlan& input, std::uint32_t kind, Drawer& draw) {
  if (kind == unseen || (kind == ordinary && draw.below(12) == 0))
    return std::string("a level that was never seen \xe2\x98\x83");
  if (kind == below) return std::string("NA");  // missing, unless training knew it for a level
  const std::vector<std::string>& levels =
      input.treatment == Treatment::level_hash ? input.frequent : input.levels;
  // Of a hash, frequent levels and others by turns.
  if (levels.empty() || (input.treatment == Treatment::level_hash && kind != typical && draw.below(2) == 0)) {
    // Lengths on both sides of the hash's eight bytes.
    std::string made(static_cast<std::size_t>(draw.below(20)) + 1, 'a');
    for (char& c : made) c = static_cast<char>('a' + draw.below(26));
    return made;
  }
  if (kind == typical) return levels.front();
  if (kind == largest) return levels.back();
  return levels[draw.below(levels.size())];
}

RawValue text_cell(std::uint32_t kind, Drawer& draw) {
  constexpr std::array<std::string_view, 12> kWords = {"the",
                                                       "Good",
                                                       "SERVICE",
                                                       "was",
                                                       "caf\xc3\xa9",
                                                       "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",
                                                       "e-mail",
                                                       "x",
                                                       "3.5",
                                                       "don't",
                                                       "word_with_more_than_sixteen_bytes",
                                                       "\xe6\x97\xa5\xe6\x9c\xac"};
  if (kind == typical) return std::string();
  if (kind == unseen) return std::string(" \t.,;!?\n ");
  std::string text;
  const std::uint64_t words = kind == largest ? 300 : 1 + draw.below(12);
  for (std::uint64_t i = 0; i < words; ++i) {
    if (i != 0) text += i % 5 == 4 ? ", " : " ";
    text += kWords[draw.below(kWords.size())];
  }
  return text;
}

RawValue sparse_cell(const InputPlan& input, std::uint32_t kind, Drawer& draw) {
  if (kind == typical) return std::string();
  std::string text;
  const std::uint64_t most = std::max<std::uint64_t>(input.count, 8);
  std::uint64_t index = kind == unseen ? most + 7 : 0;
  for (int i = 0; i < 6; ++i) {
    index += draw.below(std::max<std::uint64_t>(most / 6, 1));
    text += (i == 0 ? "" : " ") + std::to_string(index++) + ":" + (i % 2 == 0 ? "1" : "-2.5");
  }
  return text;
}

RawValue cell(const InputPlan& input, std::uint32_t kind, Drawer& draw) {
  // Drawn for every cell, so that one input more does not change what the others get.
  Drawer own(draw.below(std::numeric_limits<std::uint64_t>::max()));
  if (kind == all_missing || (kind >= ordinary && own.below(10) == 0)) return std::monostate{};
  const std::uint32_t as = std::min<std::uint32_t>(kind, ordinary);
  switch (input.type) {
    case ColumnType::category:
      return level_cell(input, as, own);
    case ColumnType::text:
      return text_cell(as, own);
    case ColumnType::sparse:
      return sparse_cell(input, as, own);
    case ColumnType::time:
      return time_cell(input, as, own);
    default:
      return number_cell(input, as, own);
  }
}

// Offset and exposure count in the predictor, though they have no weight.
RawValue offset_cell(bool exposure, std::uint32_t kind, Drawer& draw) {
  if (kind == all_missing) return std::monostate{};
  const double value = as_float(draw.share());
  return exposure ? value + 0.25 : value - 0.5;
}

Json cell_to_json(const RawValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return nullptr;
        else
          return held;
      },
      value);
}

Result<RawValue> cell_from_json(const Json& json) {
  if (json.is_null()) return RawValue{std::monostate{}};
  if (json.is_boolean()) return RawValue{json.get<bool>()};
  if (json.is_number_float()) return RawValue{json.get<double>()};
  if (json.is_number_integer() &&
      (!json.is_number_unsigned() ||
       json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}))
    return RawValue{json.get<std::int64_t>()};
  if (json.is_string() && json.get_ref<const std::string&>().size() <= kTextBytesMax)
    return RawValue{json.get<std::string>()};
  return Error{Errc::invalid, "a test vector has a value that is neither null, a number nor a text"};
}

}  // namespace

RawTable test_rows(const PipelinePlan& plan) {
  RawTable table;
  const std::size_t fit = kCellsUsual / std::max<std::size_t>(plan.inputs.size(), 1);
  table.rows = static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, kRowsLeast, kRowsMost));
  for (std::uint32_t row = 0; row < table.rows; ++row) {
    Drawer draw(row);
    std::set<std::string_view> done;  // a time has several inputs of one name
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      const InputPlan& input = plan.inputs[i];
      if (!done.insert(input.name).second) continue;
      const std::uint32_t kind = row == alternating ? (i % 2 == 0 ? all_missing : largest) : row;
      table.columns[input.name].push_back(cell(input, kind, draw));
    }
    if (!plan.offset.empty() && done.insert(plan.offset).second)
      table.columns[plan.offset].push_back(offset_cell(false, row, draw));
    if (!plan.exposure.empty() && done.insert(plan.exposure).second)
      table.columns[plan.exposure].push_back(offset_cell(true, row, draw));
  }
  return table;
}

Result<TestVectors> make_test_vectors(const GlmModel& model, const FeaturePipeline& pipeline) {
  TestVectors vectors{test_rows(pipeline.plan()), {}};
  EncodedBatch batch;
  std::vector<InputWarning> warnings;
  SAMOVAR_CHECK(pipeline.encode(vectors.rows, batch, warnings));
  SAMOVAR_TRY(vectors.scores, row_scores(model, batch));
  return vectors;
}

Json to_json(const TestVectors& vectors) {
  Json columns = Json::array();
  for (const auto& [name, values] : vectors.rows.columns) columns.push_back(name);
  Json rows = Json::array();
  Json scores = Json::array();
  const std::size_t outputs = vectors.rows.rows == 0 ? 0 : vectors.scores.size() / vectors.rows.rows;
  for (std::uint32_t row = 0; row < vectors.rows.rows; ++row) {
    Json cells = Json::array();
    for (const auto& [name, values] : vectors.rows.columns) cells.push_back(cell_to_json(values[row]));
    rows.push_back(std::move(cells));
    const auto* first = vectors.scores.data() + row * outputs;
    scores.push_back(std::vector<double>(first, first + outputs));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}, {"scores", std::move(scores)}};
}

Result<TestVectors> test_vectors_from_json(const Json& json, std::size_t outputs) {
  constexpr std::array<std::string_view, 3> kMembers = {"columns", "rows", "scores"};
  SAMOVAR_CHECK(require_members(json, kMembers, "the test vectors"));
  const Error wrong{Errc::invalid, "the test vectors do not fit together"};
  const Json &columns = json["columns"], &rows = json["rows"], &scores = json["scores"];
  if (!columns.is_array() || !rows.is_array() || !scores.is_array() || rows.size() != scores.size() ||
      rows.size() > kRowsMost || columns.size() > kColumnsMax)
    return wrong;
  TestVectors out;
  out.rows.rows = static_cast<std::uint32_t>(rows.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].is_string()) return wrong;
    std::vector<RawValue>& values = out.rows.columns[columns[c].get<std::string>()];
    if (!values.empty()) return wrong;
    for (const Json& row : rows) {
      if (!row.is_array() || row.size() != columns.size()) return wrong;
      SAMOVAR_TRY(RawValue value, cell_from_json(row[c]));
      values.push_back(std::move(value));
    }
  }
  for (const Json& row : scores) {
    if (!row.is_array() || row.size() != outputs) return wrong;
    for (const Json& score : row) {
      if (!score.is_number()) return wrong;
      out.scores.push_back(score.get<double>());
    }
  }
  return out;
}

Result<void> compare_scores(const TestVectors& expected, std::span<const double> scores, double tolerance) {
  const auto mismatch = [](const std::string& what) {
    return Error{Errc::internal, "export_mismatch: " + what};
  };
  if (scores.size() != expected.scores.size()) return mismatch("not every test row was answered");
  std::vector<double> sizes;
  for (const double score : expected.scores) sizes.push_back(std::abs(score));
  std::sort(sizes.begin(), sizes.end());
  const double usual = sizes.empty() ? 0 : sizes[sizes.size() / 2];
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double want = expected.scores[i];
    // Written so that NaN is a difference.
    if (std::abs(scores[i] - want) <= tolerance * std::max(std::abs(want), 1e-3 * usual)) continue;
    return mismatch("test row " + std::to_string(i / (scores.size() / expected.rows.rows) + 1) + " scores " +
                    Json(scores[i]).dump() + " instead of " + Json(want).dump());
  }
  return {};
}

}  // namespace samovar::trainer
