#include "trainer/features/advice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "trainer/data/order.hpp"
#include "trainer/features/advice_scores.hpp"
#include "trainer/features/column_stats.hpp"
#include "trainer/features/identifiers.hpp"

namespace samovar::trainer {

namespace {

constexpr double kTooGood = 0.98;

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
      columns_.push_back({i, input, {}, {}});
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
    const std::size_t fit = options.values_max / std::max<std::size_t>(columns_.size() + 3, 1);
    const std::size_t rows_max = std::min<std::size_t>(options.rows_max, fit);
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
    SAMOVAR_TRY(const auto reader, BatchReader::open(source, schema_, std::move(plan)));
    EncodedBatch labels;
    std::vector<RowRole> roles;
    for (;;) {
      SAMOVAR_TRY(const Batch* const batch, reader->next());
      if (batch == nullptr || roles_.size() >= rows_max) return {};
      pipeline_.encode(*batch, true, labels);
      splitter_.roles(*batch, roles);
      const auto rows =
          static_cast<std::uint32_t>(std::min<std::size_t>(batch->rows(), rows_max - roles_.size()));
      keep(batch->block(), rows, labels, roles);
    }
  }

  void keep(const BlockView& block, std::uint32_t rows, const EncodedBatch& labels,
            const std::vector<RowRole>& roles) {
    // Rows without a target say nothing about it.
    std::vector<std::uint32_t> use;
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (!labels.weight.empty() && labels.weight[row] == 0) continue;
      use.push_back(row);
      roles_.push_back(roles[row]);
      target_.push_back(labels.target[row]);
    }
    std::vector<std::uint64_t> hashes(block.rows(), 0);
    std::vector<double> numbers(block.rows());
    std::vector<std::uint64_t> level_hashes;
    for (const std::size_t column : inputs_) hash_column(block, column, hashes, numbers);
    for (const std::uint32_t row : use) hashes_.push_back(hashes[row]);
    for (Sampled& sampled : columns_) {
      if (is_number(schema_.columns[sampled.column].type)) {
        block.reals(sampled.column, 0, numbers);
        for (const std::uint32_t row : use) sampled.numbers.push_back(static_cast<float>(numbers[row]));
      } else {
        level_hashes.assign(block.levels(sampled.column) + std::size_t{1}, 0);
        for (std::uint32_t level = 0; level + 1 < level_hashes.size(); ++level)
          level_hashes[level] = hash_of(block.level(sampled.column, level));
        std::vector<std::uint32_t> codes(block.rows());
        block.codes(sampled.column, 0, codes);
        for (const std::uint32_t row : use) {
          const std::size_t code = std::min<std::size_t>(codes[row], level_hashes.size() - 1);
          sampled.codes.push_back(static_cast<std::uint32_t>(level_hashes[code]));
        }
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
      const std::vector<std::uint32_t> codes =
          sampled.numbers.empty() ? sampled.codes : quantile_codes(sampled.numbers);
      std::string how;
      if (classes == 2) {
        const double auc = auc_alone(codes, target_);
        if (auc > kTooGood) how = "AUC " + rounded(auc, 3);
      } else if (classes > 2) {
        const double right = accuracy_alone(codes, target_);
        if (right > kTooGood && most_frequent_class() < 0.9) how = rounded(100 * right, 1) + " % right";
      } else {
        const double r2 = std::max(r2_alone(codes, target_),
                                   sampled.numbers.empty() ? 0.0 : r2_linear(sampled.numbers, target_));
        if (r2 > kTooGood) how = "R² " + rounded(r2, 3);
      }
      if (!how.empty())
        sentences_.push_back("\"" + name + "\" alone predicts the target almost perfectly (" + how +
                             "): is it known before the target is? If not, ignore it.");
    }
  }

  double most_frequent_class() const {
    std::unordered_map<int, std::size_t> counts;
    std::size_t most = 0;
    for (const float value : target_) most = std::max(most, ++counts[static_cast<int>(value)]);
    return static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(target_.size(), 1));
  }

  void duplicates() {
    std::unordered_set<std::uint64_t> train;
    std::unordered_set<std::uint64_t> distinct;
    std::size_t test = 0;
    std::size_t known = 0;
    for (std::size_t row = 0; row < hashes_.size(); ++row) {
      distinct.insert(hashes_[row]);
      if (roles_[row] == RowRole::train) train.insert(hashes_[row]);
    }
    for (std::size_t row = 0; row < hashes_.size(); ++row) {
      if (roles_[row] == RowRole::train) continue;
      ++test;
      known += train.contains(hashes_[row]) ? 1 : 0;
    }
    // A few categories make equal rows by themselves: only where most rows differ are they a wonder.
    const bool rows_differ = static_cast<double>(distinct.size()) > 0.5 * static_cast<double>(hashes_.size());
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
      if (!sounds_like_owner(column.name)) continue;
      if (column.type != ColumnType::integer && column.type != ColumnType::category) continue;
      DistinctCount distinct;
      for (const float value : sampled.numbers)
        distinct.add(SeededOrder::mix(std::bit_cast<std::uint32_t>(value)));
      for (const std::uint32_t code : sampled.codes) distinct.add(SeededOrder::mix(code));
      const double rows = static_cast<double>(roles_.size());
      const double each = rows / std::max(distinct.estimate(), 1.0);
      if (each < 1.2 || distinct.estimate() < 20) continue;
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
  std::vector<RowRole> roles_;
  std::vector<float> target_;
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
