// A block: up to 65,536 rows, columnar and typed. What shards are made of, and what training reads.
//
// BlockColumns is what a parser fills; encode_block packs it (narrow integers, dictionaries, bitmaps);
// BlockView reads the packed bytes in place: nothing is copied until a batch is asked for.
//
// The bytes come from a process that parsed outside input: decoding checks every length and offset
// before it is used, and a view that was made is safe to read.
//
// Threading: values; a view may be read from many threads.
// Format:    docs/formats/block.md
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::trainer {

inline constexpr std::uint32_t kBlockRowsMax = 65'536;
inline constexpr std::size_t kBlockBytesMax = 64u << 20;  // encoded; a decoder refuses more

// One column while it is filled. Vectors not named for the type stay empty.
struct BlockColumn {
  ColumnType type = ColumnType::text;
  std::vector<std::uint8_t> valid;     // one byte a row, 1: present. A missing value also holds a slot below.
  std::vector<double> reals;           // real
  std::vector<std::int64_t> integers;  // integer, boolean, time
  std::vector<std::uint32_t> codes;    // category: number of the row's level
  std::vector<std::uint32_t> ends;  // category: end of each level in `chars`; text: end of each row's value;
                                    // sparse: end of each row's pairs in `indices`
  std::vector<char> chars;          // category, text
  std::vector<std::uint32_t> indices;  // sparse, rising within a row
  std::vector<float> values;           // sparse
};

struct BlockColumns {
  std::uint32_t rows = 0;
  std::vector<BlockColumn> columns;  // as the schema has them
};

// Appends to `out`. The caller's columns fit together (asserted).
void encode_block(const BlockColumns& block, Bytes& out);

class BlockView {
 public:
  // Borrows `bytes`. Errc::corrupt when they are not a block of this schema's types; an integer column
  // stands for a real one (a column widened after its first blocks were written).
  static Result<BlockView> open(ByteView bytes, const Schema& schema);

  std::uint32_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_.size(); }
  bool all_valid(std::size_t column) const noexcept;
  bool valid(std::size_t column, std::uint32_t row) const noexcept;

  // Rows [first, first + out.size()). Missing values are NaN, 0 (look at valid) or code kMissingCode.
  void reals(std::size_t column, std::uint32_t first,
             std::span<double> out) const;  // real, integer, boolean, time
  void reals(std::size_t column, std::uint32_t first, std::span<float> out) const;
  void integers(std::size_t column, std::uint32_t first, std::span<std::int64_t> out) const;
  void codes(std::size_t column, std::uint32_t first, std::span<std::uint32_t> out) const;  // category
  static constexpr std::uint32_t kMissingCode = 0xffffffff;

  std::uint32_t levels(std::size_t column) const noexcept;                        // category
  std::string_view level(std::size_t column, std::uint32_t code) const noexcept;  // category
  std::string_view text(std::size_t column, std::uint32_t row) const noexcept;    // text and category
  struct SparseRow {
    std::span<const std::uint32_t> indices;
    std::span<const float> values;
  };
  SparseRow sparse(std::size_t column, std::uint32_t row) const noexcept;

 private:
  struct ColumnView {
    ColumnType type = ColumnType::text;
    std::uint8_t encoding = 0;
    std::int64_t base = 0;  // frame of reference of packed integers
    ByteView valid;         // bitmap; empty: all present
    ByteView fixed;         // values, codes, or ends
    ByteView ends;          // of levels
    ByteView data;          // chars, or sparse values
    std::uint32_t levels = 0;
  };
  std::uint32_t rows_ = 0;
  std::vector<ColumnView> columns_;
};

}  // namespace samovar::trainer
