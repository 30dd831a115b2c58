// Which rows train, validate and test.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "trainer/data/order.hpp"
#include "trainer/features/pipeline.hpp"
#include "trainer/features/values.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

namespace {

using Kind = SplitSpec::Kind;

// What tells the draws apart.
constexpr std::uint64_t kForRoles = 0x5350'4c54;
constexpr std::uint64_t kForValid = 0x5641'4c44;
constexpr std::uint64_t kForSample = 0x5341'4d50;
constexpr std::size_t kSampleMax = 200'000;
constexpr std::size_t kFoldsMax = 100;

constexpr double unit(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

bool is_number(ColumnType type) {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}

std::uint64_t hash_text(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = SeededOrder::derive(seed, text.size());
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t eight = 0;
    for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i)
      eight |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - at));
    hash = SeededOrder::derive(hash, eight);
  }
  return hash;
}

void read_numbers(const Batch& batch, std::size_t column, std::vector<double>& out) {
  out.resize(batch.rows());
  if (batch.block_rows().empty()) {
    batch.block().reals(column, batch.block_row(0), out);
  } else {
    batch.block().reals(column, batch.block_rows(), out);
  }
}

class RowSplitter final : public Splitter {
 public:
  RowSplitter(const SplitSpec& split, std::uint64_t seed, std::optional<unsigned> fold)
      : split_(split),
        seed_(SeededOrder::derive(seed, kForRoles)),
        valid_seed_(SeededOrder::derive(seed, kForValid)),
        fold_(fold) {}

  Result<void> learn(BlockSource& source, const Schema& schema, std::uint64_t seed, Council* council) {
    if (split_.column.empty()) return {};
    const auto column = schema.find(split_.column);
    if (!column)
      return Error{Errc::invalid, "the data set has no column \"" + split_.column + "\" to split by"};
    column_ = *column;
    type_ = schema.columns[column_].type;
    if (type_ == ColumnType::sparse) return Error{Errc::invalid, "rows cannot be split by a sparse column"};
    if (split_.kind == Kind::time) return learn_cuts(source, schema, seed, council);
    if (split_.kind == Kind::folds) return learn_folds(source, schema, council);
    return {};
  }

  // Everything is looked up in the block itself.
  void add_columns(const Schema&, ReadPlan&) const override {}

  unsigned folds() const override {
    if (split_.kind != Kind::folds) return 0;
    return split_.column.empty() ? split_.folds : static_cast<unsigned>(fold_values_.size());
  }

  void roles(const Batch& batch, std::vector<RowRole>& out) const override {
    out.resize(batch.rows());
    switch (split_.kind) {
      case Kind::random:
        return random(batch, out);
      case Kind::group:
        return group(batch, out);
      case Kind::time:
        return time(batch, out);
      case Kind::folds:
        return by_folds(batch, out);
    }
  }

 private:
  // The row's own number in the data set, whatever order it is read in.
  static std::uint64_t row_number(const Batch& batch, std::uint32_t row) {
    return std::uint64_t{batch.block_number()} << 32 | batch.block_row(row);
  }
  RowRole role_of(std::uint64_t hash) const {
    const double at = unit(hash);
    return at < split_.test                  ? RowRole::test
           : at < split_.test + split_.valid ? RowRole::valid
                                             : RowRole::train;
  }

  // As role_of, by whole numbers and without a jump: it would be guessed wrong at every row held out.
  void random(const Batch& batch, std::vector<RowRole>& out) const {
    static_assert(static_cast<int>(RowRole::train) == 0 && static_cast<int>(RowRole::valid) == 1 &&
                  static_cast<int>(RowRole::test) == 2);
    const auto below = [](double share) {
      return static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * 0x1p53));
    };
    const std::uint64_t test = below(split_.test);
    const std::uint64_t held_out = below(split_.test + split_.valid);
    const std::uint64_t block = std::uint64_t{batch.block_number()} << 32;
    const auto order = batch.block_rows();
    const std::uint32_t first = order.empty() ? batch.block_row(0) : 0;
    for (std::uint32_t row = 0; row < out.size(); ++row) {
      const std::uint32_t in_block = order.empty() ? first + row : order[row];
      const std::uint64_t at = SeededOrder::derive(seed_, block | in_block) >> 11;
      const int role = static_cast<int>(at < held_out) + static_cast<int>(at < test);
      out[row] = static_cast<RowRole>(role);
    }
  }

  // The hash of what stands in the column; of the row itself where nothing does: it belongs to no group.
  std::uint64_t value_hash(const Batch& batch, std::uint32_t row, const std::vector<double>& numbers) const {
    if (is_number(type_)) {
      const double value = numbers[row] + 0.0;  // zero has one sign
      if (!std::isnan(value)) return SeededOrder::derive(seed_, std::bit_cast<std::uint64_t>(value));
    } else if (batch.block().valid(column_, batch.block_row(row))) {
      return hash_text(seed_, batch.block().text(column_, batch.block_row(row)));
    }
    return SeededOrder::derive(seed_ + 1, row_number(batch, row));
  }

  void group(const Batch& batch, std::vector<RowRole>& out) const {
    std::vector<double> numbers;
    if (is_number(type_)) read_numbers(batch, column_, numbers);
    for (std::uint32_t row = 0; row < out.size(); ++row) out[row] = role_of(value_hash(batch, row, numbers));
  }

  void time(const Batch& batch, std::vector<RowRole>& out) const {
    std::vector<double> numbers;
    read_numbers(batch, column_, numbers);
    for (std::uint32_t row = 0; row < out.size(); ++row) {
      const double value = numbers[row];
      out[row] = value >= test_from_ ? RowRole::test : value >= valid_from_ ? RowRole::valid : RowRole::train;
    }
  }

  void by_folds(const Batch& batch, std::vector<RowRole>& out) const {
    std::vector<double> numbers;
    if (!split_.column.empty() && is_number(type_)) read_numbers(batch, column_, numbers);
    const double valid = split_.valid / (fold_ ? std::max(1 - 1.0 / std::max(folds(), 2u), 0.1) : 1.0);
    for (std::uint32_t row = 0; row < out.size(); ++row) {
      const bool held_out = fold_ && fold_of(batch, row, numbers) == *fold_;
      const bool valid_row = unit(SeededOrder::derive(valid_seed_, row_number(batch, row))) < valid;
      out[row] = held_out ? RowRole::test : valid_row ? RowRole::valid : RowRole::train;
    }
  }
  // folds() for a row that belongs to none: it is never held out.
  unsigned fold_of(const Batch& batch, std::uint32_t row, const std::vector<double>& numbers) const {
    if (split_.column.empty())
      return static_cast<unsigned>(
          (SeededOrder::derive(seed_, row_number(batch, row)) >> 32) * split_.folds >> 32);
    std::string value;
    if (is_number(type_)) {
      if (std::isnan(numbers[row])) return folds();
      value = level_of(numbers[row]);
    } else {
      if (!batch.block().valid(column_, batch.block_row(row))) return folds();
      value = batch.block().text(column_, batch.block_row(row));
    }
    return static_cast<unsigned>(std::find(fold_values_.begin(), fold_values_.end(), value) -
                                 fold_values_.begin());
  }

  static Result<std::unique_ptr<BatchReader>> open(BlockSource& source, const Schema& schema) {
    ReadPlan plan;
    plan.batch_rows = kBlockRowsMax;
    plan.shuffle_blocks = false;
    plan.codes_only = true;
    return BatchReader::open(source, schema, std::move(plan));
  }

  // The newest rows test, those before them validate: two quantiles, of a sample when there are many rows.
  struct Sample {
    std::uint64_t share = std::numeric_limits<std::uint64_t>::max();  // hashes up to this are kept
    std::vector<std::uint64_t> hashes;
    std::vector<double> values;

    void add(std::uint64_t hash, double value) {
      if (hash > share) return;
      hashes.push_back(hash);
      values.push_back(value);
    }
    // Half of what is drawn goes: the share is the same for rows that came and rows to come.
    void make_room() {
      while (values.size() > kSampleMax) keep_share(share / 2);
    }
    void keep_share(std::uint64_t most) {
      share = std::min(share, most);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (hashes[i] > share) continue;
        hashes[kept] = hashes[i];
        values[kept++] = values[i];
      }
      hashes.resize(kept);
      values.resize(kept);
    }
  };
  static Bytes put(const Sample& sample) {
    StateWriter out;
    out.put(sample.share);
    out.put(sample.hashes);
    out.put(sample.values);
    return out.take();
  }
  static Result<Sample> sample_of(ByteView bytes) {
    Sample sample;
    StateReader in(bytes);
    sample.share = in.get<std::uint64_t>();
    in.get(sample.hashes);
    in.get(sample.values);
    if (in.failed() || in.left() != 0 || sample.hashes.size() != sample.values.size())
      return Error{Errc::corrupt, "what another worker drew to split the rows by is damaged"};
    return sample;
  }

  Result<Sample> draw_sample(BlockSource& source, const Schema& schema, std::uint64_t seed) const {
    SAMOVAR_TRY(const auto reader, open(source, schema));
    std::vector<double> numbers;
    Sample sample;
    const std::uint64_t draw = SeededOrder::derive(seed, kForSample);
    for (;;) {
      SAMOVAR_TRY(const Batch* const batch, reader->next());
      if (batch == nullptr) break;
      read_numbers(*batch, column_, numbers);
      for (std::uint32_t row = 0; row < numbers.size(); ++row) {
        if (std::isfinite(numbers[row]))
          sample.add(SeededOrder::derive(draw, row_number(*batch, row)), numbers[row]);
      }
      sample.make_room();
    }
    return sample;
  }

  Result<void> learn_cuts(BlockSource& source, const Schema& schema, std::uint64_t seed, Council* council) {
    Sample drawn;
    if (council == nullptr) {
      SAMOVAR_TRY(drawn, draw_sample(source, schema, seed));
    } else {
      const auto part = [&]() -> Result<Bytes> {
        SAMOVAR_TRY(const Sample own, draw_sample(source, schema, seed));
        return put(own);
      };
      const auto merge = [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
        Sample all;
        for (const Bytes& bytes : parts) {
          SAMOVAR_TRY(Sample one, sample_of(bytes));
          all.keep_share(one.share);
          for (std::size_t i = 0; i < one.values.size(); ++i) all.add(one.hashes[i], one.values[i]);
        }
        all.make_room();
        return put(all);
      };
      SAMOVAR_TRY(const Bytes told, council->agree("cuts", part, merge));
      SAMOVAR_TRY(drawn, sample_of(told));
    }
    std::vector<double>& sample = drawn.values;
    if (sample.empty())
      return Error{Errc::invalid, "the column \"" + split_.column + "\" has no values to split by"};
    std::sort(sample.begin(), sample.end());
    const auto quantile = [&](double share_above) {
      if (share_above <= 0) return std::numeric_limits<double>::infinity();
      const double at = static_cast<double>(sample.size()) * (1 - share_above);
      return sample[std::min(static_cast<std::size_t>(at), sample.size() - 1)];
    };
    test_from_ = quantile(split_.test);
    valid_from_ = split_.valid > 0 ? quantile(split_.test + split_.valid) : test_from_;
    if (sample.front() >= valid_from_)
      return Error{Errc::invalid,
                   "the column \"" + split_.column +
                       "\" has too few different values to split by: no row would be left to train on"};
    return {};
  }

  static Result<Bytes> put(const std::set<std::string>& values) {
    StateWriter out;
    out.put(std::uint64_t{values.size()});
    for (const std::string& value : values) out.put(std::string_view(value));
    return out.take();
  }
  static Result<void> add(ByteView bytes, std::set<std::string>& values) {
    StateReader in(bytes);
    const auto count = in.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) values.insert(in.text());
    if (in.failed()) return Error{Errc::corrupt, "the folds that another worker found are damaged"};
    return {};
  }

  Result<void> learn_folds(BlockSource& source, const Schema& schema, Council* council) {
    std::set<std::string> values;
    if (council == nullptr) {
      SAMOVAR_CHECK(find_folds(source, schema, values));
    } else {
      const auto part = [&]() -> Result<Bytes> {
        std::set<std::string> own;
        SAMOVAR_CHECK(find_folds(source, schema, own));
        return put(own);
      };
      const auto merge = [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
        std::set<std::string> all;
        for (const Bytes& bytes : parts) SAMOVAR_CHECK(add(bytes, all));
        if (all.size() > kFoldsMax) return too_many_folds();
        return put(all);
      };
      SAMOVAR_TRY(const Bytes told, council->agree("folds", part, merge));
      SAMOVAR_CHECK(add(told, values));
    }
    if (values.size() < 2)
      return Error{Errc::invalid, "the column \"" + split_.column +
                                      "\" has fewer than two values: there is no fold to hold out"};
    fold_values_.assign(values.begin(), values.end());
    return {};
  }

  Error too_many_folds() const {
    return {Errc::invalid, "the column \"" + split_.column +
                               "\" has more than 100 different values: it does not name folds"};
  }

  Result<void> find_folds(BlockSource& source, const Schema& schema, std::set<std::string>& values) const {
    SAMOVAR_TRY(const auto reader, open(source, schema));
    std::set<double> seen;
    std::vector<double> numbers;
    for (;;) {
      SAMOVAR_TRY(const Batch* const batch, reader->next());
      if (batch == nullptr) break;
      if (is_number(type_)) {
        read_numbers(*batch, column_, numbers);
        for (const double value : numbers) {
          if (std::isfinite(value) && seen.insert(value).second) values.insert(level_of(value));
          if (values.size() > kFoldsMax) break;
        }
      } else {
        const BlockView& block = batch->block();
        for (std::uint32_t row = 0; row < batch->rows() && values.size() <= kFoldsMax; ++row) {
          if (block.valid(column_, row)) values.emplace(block.text(column_, row));
        }
      }
      if (values.size() > kFoldsMax) return too_many_folds();
    }
    return {};
  }

  const SplitSpec split_;
  const std::uint64_t seed_;
  const std::uint64_t valid_seed_;
  const std::optional<unsigned> fold_;
  std::size_t column_ = 0;
  ColumnType type_ = ColumnType::real;
  double valid_from_ = std::numeric_limits<double>::infinity();
  double test_from_ = std::numeric_limits<double>::infinity();
  std::vector<std::string> fold_values_;
};

}  // namespace

Result<std::unique_ptr<Splitter>> Splitter::make(BlockSource& source, const Schema& schema,
                                                 const JobSpec& spec, std::optional<unsigned> fold,
                                                 Council* council) {
  auto splitter = std::make_unique<RowSplitter>(spec.split, spec.seed, fold);
  SAMOVAR_CHECK(splitter->learn(source, schema, spec.seed, council));
  return std::unique_ptr<Splitter>(std::move(splitter));
}

}  // namespace samovar::trainer
