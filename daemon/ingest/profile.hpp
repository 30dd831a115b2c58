// What a data set looks like: counts, moments, quantiles, levels; gathered while it is ingested.
//
// Workers make the statistics of a block from its columns; since rows are dealt and shuffled, the first rows
// of a block are a fair sample of the file, which is all that quantiles, histograms and correlations need.
// The builder takes them in order, so the profile does not depend on the number of threads.
//
// Threading: ProfileBuilder on one thread; the functions below it are pure.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/block_stats.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

class ProfileBuilder {
 public:
  ProfileBuilder(const trainer::Schema& schema, DistinctCounters& distinct);

  // In the order of the blocks.
  void add(std::uint32_t rows, BlockStats&& stats);
  // A row of the file as text; the first kHeadRows are kept.
  static constexpr std::size_t kHeadRows = 100;
  void add_head(std::vector<std::string> cells) { head_.push_back(std::move(cells)); }
  std::size_t head_rows() const noexcept { return head_.size(); }

  // `schema` as it turned out. The "profile" object, as JSON.
  std::string finish(const trainer::Schema& schema, std::uint64_t bad_rows, const CellRules& rules);

 private:
  // Counts by hash; open addressing, since every block asks for every level.
  struct Level {
    std::uint64_t hash = 0;
    std::uint64_t count = 0;
    std::string text;
  };
  class Levels {
   public:
    std::size_t size() const noexcept { return levels_.size(); }
    const std::vector<Level>& all() const noexcept { return levels_; }
    void look_for(const std::vector<LevelCount>& levels) const noexcept;
    void add(LevelCount&& level);
    void keep_common(std::size_t count);

   private:
    void index(std::size_t slots);
    std::vector<Level> levels_;
    std::vector<std::uint32_t> slots_;  // 1 + place of a level; 0: none
  };
  struct Column {
    ColumnStats total;
    std::vector<double> sample;
    std::uint64_t sample_stride = 1;  // of the rows offered, every so-manieth is kept
    std::uint64_t sample_offered = 0;
    Levels levels;
    bool levels_exact = true;
    std::vector<std::int64_t> values;  // distinct ones of an integer column, sorted, while few
    bool values_exact = true;
  };
  void add_sample(Column& column, const std::vector<double>& values);
  void add_levels(Column& column, std::vector<LevelCount>&& levels, bool complete);
  void add_values(Column& column, const ColumnStats& stats);
  nlohmann::json column_json(const trainer::ColumnSpec& spec, std::size_t index);
  void add_rows(RowSample&& rows);
  nlohmann::json moments_json() const;

  DistinctCounters& distinct_;
  const std::size_t sample_max_;
  const std::size_t levels_max_;
  std::uint64_t rows_ = 0;
  std::uint64_t sampled_rows_ = 0;
  std::vector<Column> columns_;
  Comoments comoments_;
  const AssociationPlan association_;
  RowSample row_sample_;
  std::vector<std::vector<std::string>> head_;
};

// For people who may see the data set but not its rows: levels and bins of fewer than `count_min` rows are
// gone, smallest and largest numbers are the 1 % and 99 % quantiles, no row is shown.
void suppress_small_cells(nlohmann::json& profile, std::uint64_t count_min = 10);

// For everybody: of columns that the schema marks sensitive no value is told, only how many there are.
void mask_sensitive(nlohmann::json& profile, const trainer::Schema& schema);

// Gives every column "correlation" with the target (null where there is none) and drops the "moments" they
// come from: Pearson's between numbers; where one is a category the correlation ratio, where both are
// Cramér's V, neither ever negative. Errc::invalid when there is no such column. An empty target only drops
// them.
Result<void> correlate(nlohmann::json& profile, std::string_view target);

}  // namespace samovar::ingest
