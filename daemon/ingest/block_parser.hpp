// The text of one block's rows → columns → a packed block, its bad rows and its statistics.
//
// Threading: one parser per thread; it keeps its memory from block to block.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/block_dictionary.hpp"
#include "daemon/ingest/block_stats.hpp"
#include "daemon/ingest/column_stage.hpp"
#include "daemon/ingest/line_parser.hpp"
#include "daemon/ingest/row_splitter.hpp"
#include "daemon/ingest/shard_text.hpp"
#include "trainer/data/block_encode.hpp"

namespace samovar::ingest {

// What is the same for all blocks. Outlives the parsers.
struct BlockRules {
  BlockRules(const ParseOptions& parse, const trainer::Schema& columns, std::uint64_t deal_seed,
             bool as_in_file = false)
      : options(parse),
        schema(columns),
        seed(deal_seed),
        in_order(as_in_file),
        split(split_rules(parse)),
        cells(parse),
        distinct(columns.columns.size()) {}
  const ParseOptions options;
  const trainer::Schema schema;
  const std::uint64_t seed;
  const bool in_order;  // rows of a block stay as they are
  const SplitRules split;
  const CellRules cells;
  mutable DistinctCounters distinct;  // shared by all threads
};

struct BadRow {
  static constexpr std::size_t kTextBytesMax = 1000;
  static constexpr std::size_t kNoColumn = ~std::size_t{0};
  std::uint64_t line = 0;
  std::string reason;
  std::string text;  // cut to kTextBytesMax, as it may be printed
  std::size_t column = kNoColumn;
  std::string value;  // of that column, as it may be printed
};

struct ParsedBlock {
  std::uint32_t shard = 0;
  std::uint32_t rows = 0;  // 0: all were bad, and there is no block
  Bytes room;              // kept from block to block
  ByteView encoded;        // of it
  std::vector<BadRow> bad_rows;
  std::vector<trainer::ColumnType> types;  // by column: a number may have had to be of a wider type here
  BlockStats stats;
};

class BlockParser {
 public:
  static Result<std::unique_ptr<BlockParser>> create(const BlockRules& rules);
  // `in` is used up: quoted rows are unquoted behind its text.
  void parse(ShardText& in, ParsedBlock& out);

 private:
  explicit BlockParser(const BlockRules& rules);
  void parse_csv();
  void parse_lines();
  void parse_group(std::uint32_t first, std::uint32_t rows);
  bool split_plainly(std::uint32_t first, std::uint32_t rows);
  void split_carefully(std::uint32_t first, std::uint32_t rows);
  bool split_one(std::uint32_t row, std::uint32_t* marks);
  void stage_group(std::uint32_t first, std::uint32_t rows);
  void stage_line(std::uint32_t row);
  bool well_formed(std::uint32_t row);
  void set_bad(std::uint32_t row, std::string reason);
  void set_unfit(std::uint32_t row, std::size_t column, std::string_view value);
  std::string_view row_text(std::uint32_t row) const;

  void shuffle_good_rows();
  const trainer::BlockColumn& finish_column(std::size_t column);
  void finish_category(std::size_t column, trainer::BlockColumn& out);
  void finish_text(const ColumnStage& stage, trainer::BlockColumn& out);
  void finish_sparse(const ColumnStage& stage, trainer::BlockColumn& out);

  const BlockRules& rules_;
  const std::size_t columns_;
  std::unique_ptr<LineParser> lines_;  // null: CSV
  LineCells line_cells_;

  // Of the block at hand.
  ShardText* in_ = nullptr;
  ParsedBlock* out_ = nullptr;
  std::size_t tail_ = 0;  // end of what was unquoted behind the text
  std::vector<ColumnStage> stages_;
  std::vector<std::uint8_t> skip_;  // rows that are none
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> marks_;
  std::size_t stride_ = 0;
  bool trim_ = false;
  std::vector<std::uint32_t> unfit_;
  BlockDictionary dictionary_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::uint32_t> levels_;  // by column: how many the block before had
  std::vector<std::uint8_t> no_hex_;   // by column: it has other levels than eight hexadecimal digits
  // One of each type is enough: a column is packed before the next is made.
  static constexpr auto kTypes = static_cast<std::size_t>(trainer::ColumnType::sparse) + 1;
  std::array<trainer::BlockColumn, kTypes> finished_;
  trainer::BlockEncoder encoder_;
  StatsMaker stats_;
};

}  // namespace samovar::ingest
