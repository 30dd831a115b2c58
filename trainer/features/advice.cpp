#include "trainer/features/advice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>

#include "trainer/data/order.hpp"
#include "trainer/features/advice_scores.hpp"
#include "trainer/features/column_stats.hpp"
#include "trainer/features/identifiers.hpp"
#include "trainer/features/labels.hpp"

namespace samovar::trainer {

namespace {

constexpr double kTooGood = 0.98;
// Columns are judged by so many rows, spread over the sample; those that show nothing on the first few are
// not looked at further.
constexpr std::size_t kJudgedRows = 20'000;
constexpr std::size_t kFirstRows = 2'000;
constexpr double kWorthALook = 0.9;

bool is_number(ColumnType type) {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// One column of the sample.
struct Sampled {
  std::size_t column = 0;
  bool input = false;
  std::vector<float> numbers;
  std::vector<std::uint32_t> codes;  // of levels, by their hash
  bool owner = false;                // may be what several rows share
  DistinctCount distinct;            // of an owner, over all rows
};

class Adviser {
 public:
  Adviser(const Schema& schema, const JobSpec& spec, const FeaturePipeline& pipeline,
          const Splitter& splitter)
      : schema_(schema), spec_(spec), pipeline_(pipeline), splitter_(splitter) {
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
      const ColumnSpec& column = schema.columns[i];
      const bool input = pipeline.inputs().find(column.name).has_value();
      if (input) inputs_.push_back(i);
      const bool plain = is_number(column.type) || column.type == ColumnType::category;
      const bool owner = (column.type == ColumnType::integer || column.type == ColumnType::category) &&
                         sounds_like_owner(column.name);
      if (column.name == spec.target || !plain || !(input || owner)) continue;
      columns_.push_back({i, input, {}, {}, owner, {}});
    }
  }

  Result<std::vector<std::string>> run(BlockSource& source, const AdviceOptions& options) {
    SAMOVAR_CHECK(read(source, options));
    leakage();
    duplicates();
    owners();
    return std::move(sentences_);
  }

 private:
  Result<void> read(BlockSource& source, const AdviceOptions& options) {
    const std::size_t rows_max = options.rows_max;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < source.blocks(); ++i) all += source.rows(i);
    ReadPlan plan = pipeline_.read_plan(schema_);
    plan.shuffle_blocks = false;
    plan.batch_rows = kBlockRowsMax;
    // Evenly over the data set, which may be sorted.
    std::uint64_t seen = 0;
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < source.blocks(); ++i) {
      const std::uint64_t due = all <= rows_max ? seen : seen * rows_max / all;
      if (taken <= due) {
        plan.blocks.push_back(static_cast<std::uint32_t>(i));
        taken += source.rows(i);
      }
      seen += source.rows(i);
    }
    every_ = std::max<std::uint64_t>(
        (std::min<std::uint64_t>(taken, rows_max) + kJudgedRows - 1) / kJudgedRows, 1);
    SAMOVAR_TRY(const auto reader, BatchReader::open(source, schema_, std::move(plan)));
    EncodedBatch labels;
    std::vector<RowRole> roles;
    for (;;) {
      SAMOVAR_TRY(const Batch* const batch, reader->next());
      if (batch == nullptr || roles_.size() >= rows_max) return {};
      encode_labels(pipeline_, *batch, labels);
      splitter_.roles(*batch, roles);
      const auto rows =
          static_cast<std::uint32_t>(std::min<std::size_t>(batch->rows(), rows_max - roles_.size()));
      keep(batch->block(), rows, labels, roles);
    }
  }

  void keep(const BlockView& block, std::uint32_t rows, const EncodedBatch& labels,
            const std::vector<RowRole>& roles) {
    // Rows without a target say nothing about it.
    std::vector<std::uint64_t> hashes(block.rows(), 0);
    std::vector<double> numbers(block.rows());
    for (const std::size_t column : inputs_) hash_column(block, column, hashes, numbers);
    std::vector<std::uint32_t> judged;
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (!labels.weight.empty() && labels.weight[row] == 0) continue;
      if (roles_.size() % every_ == 0) {
        judged.push_back(row);
        target_.push_back(labels.target[row]);
      }
      roles_.push_back(roles[row]);
      hashes_.push_back(hashes[row]);
    }
    for (Sampled& sampled : columns_) {
      if (is_number(schema_.columns[sampled.column].type)) {
        block.reals(sampled.column, 0, numbers);
        for (const std::uint32_t row : judged) sampled.numbers.push_back(static_cast<float>(numbers[row]));
        for (std::uint32_t row = 0; sampled.owner && row < rows; ++row)
          sampled.distinct.add(SeededOrder::mix(std::bit_cast<std::uint64_t>(numbers[row])));
      } else {
        for (const std::uint32_t row : judged)
          sampled.codes.push_back(static_cast<std::uint32_t>(hash_of(block.text(sampled.column, row))));
        if (sampled.owner)
          block.each_level(sampled.column, [&](std::uint32_t, std::string_view text) {
            sampled.distinct.add(hash_of(text));
          });
      }
    }
  }

  void hash_column(const BlockView& block, std::size_t column, std::vector<std::uint64_t>& hashes,
                   std::vector<double>& numbers) const {
    const ColumnType type = schema_.columns[column].type;
    if (is_number(type)) {
      block.reals(column, 0, numbers);
      for (std::uint32_t row = 0; row < block.rows(); ++row) {
        const double value =
            std::isnan(numbers[row]) ? std::numeric_limits<double>::quiet_NaN() : numbers[row] + 0.0;
        hashes[row] = SeededOrder::derive(hashes[row], std::bit_cast<std::uint64_t>(value));
      }
      return;
    }
    if (type == ColumnType::category) {
      std::vector<std::uint64_t> levels(block.levels(column) + std::size_t{1}, 0);
      block.each_level(column,
                       [&](std::uint32_t level, std::string_view text) { levels[level] = hash_of(text); });
      std::vector<std::uint32_t> codes(block.rows());
      block.codes(column, 0, codes);
      for (std::uint32_t row = 0; row < block.rows(); ++row)
        hashes[row] =
            SeededOrder::derive(hashes[row], levels[std::min<std::size_t>(codes[row], levels.size() - 1)]);
      return;
    }
    for (std::uint32_t row = 0; row < block.rows(); ++row) {
      std::uint64_t here = 0;
      if (type == ColumnType::sparse) {
        const auto pairs = block.sparse(column, row);
        for (std::size_t i = 0; i < pairs.indices.size(); ++i)
          here = SeededOrder::derive(
              here, std::uint64_t{pairs.indices[i]} << 32 | std::bit_cast<std::uint32_t>(pairs.values[i]));
      } else {
        here = hash_of(block.text(column, row));
      }
      hashes[row] = SeededOrder::derive(hashes[row], here);
    }
  }

  void leakage() {
    const std::size_t classes = pipeline_.classes().size();
    for (const Sampled& sampled : columns_) {
      if (!sampled.input) continue;
      const std::string& name = schema_.columns[sampled.column].name;
      const std::size_t step = std::max<std::size_t>(target_.size() / kFirstRows, 1);
      const double first = alone(sampled, step);
      const double score = first > kWorthALook && step > 1 ? alone(sampled, 1) : first;
      if (score <= kTooGood) continue;
      const std::string how = classes == 2  ? "AUC " + rounded(score, 3)
                              : classes > 2 ? rounded(100 * score, 1) + " % right"
                                            : "R² " + rounded(score, 3);
      sentences_.push_back("\"" + name + "\" alone predicts the target almost perfectly (" + how +
                           "): is it known before the target is? If not, ignore it.");
    }
  }

  // How well the column tells the target, by one row in `step` of those judged; from 0 to 1.
  double alone(const Sampled& sampled, std::size_t step) const {
    std::vector<float> target;
    std::vector<float> numbers;
    std::vector<std::uint32_t> codes;
    for (std::size_t row = 0; row < target_.size(); row += step) {
      target.push_back(target_[row]);
      if (sampled.numbers.empty()) {
        codes.push_back(sampled.codes[row]);
      } else {
        numbers.push_back(sampled.numbers[row]);
      }
    }
    if (!numbers.empty()) codes = quantile_codes(numbers);
    const std::size_t classes = pipeline_.classes().size();
    if (classes == 2) return auc_alone(codes, target);
    if (classes > 2) return most_frequent_class() < kWorthALook ? accuracy_alone(codes, target) : 0;
    const double curve = r2_alone(codes, target);
    return numbers.empty() ? curve : std::max(curve, r2_linear(numbers, target));
  }

  double most_frequent_class() const {
    std::unordered_map<int, std::size_t> counts;
    std::size_t most = 0;
    for (const float value : target_) most = std::max(most, ++counts[static_cast<int>(value)]);
    return static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(target_.size(), 1));
  }

  void duplicates() {
    std::vector<std::uint64_t> train;
    for (std::size_t row = 0; row < hashes_.size(); ++row) {
      if (roles_[row] == RowRole::train) train.push_back(hashes_[row]);
    }
    std::sort(train.begin(), train.end());
    const auto all = static_cast<double>(train.size());
    train.erase(std::unique(train.begin(), train.end()), train.end());
    std::size_t test = 0;
    std::size_t known = 0;
    for (std::size_t row = 0; row < hashes_.size(); ++row) {
      if (roles_[row] == RowRole::train) continue;
      ++test;
      known += std::binary_search(train.begin(), train.end(), hashes_[row]) ? 1 : 0;
    }
    // A few categories make equal rows by themselves: only where most rows differ are they a wonder.
    const bool rows_differ = static_cast<double>(train.size()) > 0.5 * all;
    const double share = static_cast<double>(known) / static_cast<double>(std::max<std::size_t>(test, 1));
    if (test >= 50 && rows_differ && share > 0.01)
      sentences_.push_back(
          rounded(100 * share, 1) +
          " % of the rows for validation and test have the same inputs as a row for training: "
          "the evaluation is too kind. Remove duplicate rows, or split by group.");
  }

  void owners() {
    const bool torn = spec_.split.kind == SplitSpec::Kind::random ||
                      (spec_.split.kind == SplitSpec::Kind::folds && spec_.split.column.empty());
    if (!torn) return;
    for (const Sampled& sampled : columns_) {
      const ColumnSpec& column = schema_.columns[sampled.column];
      if (!sampled.owner) continue;
      const double different = sampled.distinct.estimate();
      const double each = static_cast<double>(roles_.size()) / std::max(different, 1.0);
      if (each < 1.2 || different < 20) continue;
      sentences_.push_back(
          "\"" + column.name + "\" comes again, in about " + rounded(each, 1) +
          " rows each: a random split puts rows of one into training and test. Split by group \"" +
          column.name + "\" unless the model is only asked about those it knows.");
    }
  }

  const Schema& schema_;
  const JobSpec& spec_;
  const FeaturePipeline& pipeline_;
  const Splitter& splitter_;
  std::vector<std::size_t> inputs_;  // columns of the schema
  std::vector<Sampled> columns_;
  std::uint64_t every_ = 1;  // so many rows there is one whose columns are judged
  std::vector<RowRole> roles_;
  std::vector<float> target_;          // of those
  std::vector<std::uint64_t> hashes_;  // of all inputs of a row
  std::vector<std::string> sentences_;
};

}  // namespace

Result<std::vector<std::string>> advise(BlockSource& source, const Schema& schema, const JobSpec& spec,
                                        const FeaturePipeline& pipeline, const Splitter& splitter,
                                        const AdviceOptions& options) {
  return Adviser(schema, spec, pipeline, splitter).run(source, options);
}

}  // namespace samovar::trainer
