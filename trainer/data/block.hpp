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
inline constexpr std::size_t kBlockBytesMax = 64u << 20;  // by block_bytes_max; a decoder refuses more

// How many rows a block of so many columns is to have at most: numbers take 8 bytes while it is filled, even
// where a row of the file says nothing about them, and 16 MiB of them are enough.
constexpr std::uint32_t block_rows_max(std::size_t columns) noexcept {
  const std::size_t fit = (std::size_t{16} << 20) / 8 / (columns == 0 ? 1 : columns);
  return static_cast<std::uint32_t>(fit < kBlockRowsMax ? fit : kBlockRowsMax);
}
static_assert(block_rows_max(kColumnsMax) > 0);

// One column while it is filled. Vectors not named for the type stay empty.
struct BlockColumn {
  ColumnType type = ColumnType::text;
  // One byte a row, 1: present, 0: missing; or empty: all are present. A missing value also holds a slot
  // below, whatever is in it.
  std::vector<std::uint8_t> valid;
  std::vector<double> reals;           // real
  std::vector<std::int64_t> integers;  // integer, boolean (0, 1), time
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

// What the block takes at most, packed or not. Whoever fills one ends it before this passes kBlockBytesMax.
std::size_t block_bytes_max(const BlockColumns& block) noexcept;
// Appends to `out`. The caller's columns fit together (asserted): as many slots as rows, codes below the
// number of levels, ends that do not fall and end with the last character or pair, indices that rise.
void encode_block(const BlockColumns& block, Bytes& out);

class BlockView {
 public:
  // Borrows `bytes`. Errc::corrupt when they are not a block of this schema's types (see stands_for).
  // `scratch`, when given, holds what had to be unpacked and is borrowed too: a reader of many blocks uses
  // the same one again.
  static Result<BlockView> open(ByteView bytes, const Schema& schema, Bytes* scratch = nullptr);

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
  // The same for these rows, in this order; each is below rows().
  void reals(std::size_t column, std::span<const std::uint32_t> rows, std::span<float> out) const;
  void reals(std::size_t column, std::span<const std::uint32_t> rows, std::span<double> out) const;
  void codes(std::size_t column, std::span<const std::uint32_t> rows, std::span<std::uint32_t> out) const;

  // What `table` has for each row's code, and as its last entry, the one after the levels, for a missing
  // value; to out[0], out[stride], … Rows [first, first + count), or those named.
  void map_codes(std::size_t column, std::uint32_t first, std::uint32_t count,
                 std::span<const std::uint32_t> table, std::uint32_t* out, std::size_t stride) const;
  void map_codes(std::size_t column, std::span<const std::uint32_t> rows,
                 std::span<const std::uint32_t> table, std::uint32_t* out, std::size_t stride) const;

  // Numbers by the topmost bits of what they are as a double: sign, exponent and two more. What `table` has
  // for them, and for `none` where the value is missing; to out[0], out[stride], … False, and nothing is
  // written, where the column's form has no quick way to them.
  bool map_numbers(std::size_t column, std::uint32_t first, std::uint32_t count, const std::uint32_t* table,
                   std::uint16_t none, std::uint32_t* out, std::size_t stride) const;

  std::uint32_t levels(std::size_t column) const noexcept;                        // category
  std::string_view level(std::size_t column, std::uint32_t code) const noexcept;  // category
  // Calls back with the number and the text of every level.
  template <class Do>
  void each_level(std::size_t column, Do work) const {
    const ColumnView& view = columns_[column];
    const std::uint32_t count = levels(column);
    const char* const chars = view.chars.data();
    if (view.ends_width == 0) {  // all of one length
      for (std::uint32_t level = 0; level < count; ++level)
        work(level, std::string_view(chars + std::size_t{level} * view.extra, view.extra));
      return;
    }
    std::uint32_t first = 0;
    for (std::uint32_t level = 0; level < count; ++level) {
      const std::uint32_t last = end(view, level);
      work(level, std::string_view(chars + first, last - first));
      first = last;
    }
  }
  // All levels one after the other, when each has so many bytes; else nothing.
  std::string_view levels_of_one_length(std::size_t column, std::uint32_t bytes) const noexcept {
    const ColumnView& view = columns_[column];
    if (view.ends_width != 0 || view.extra != bytes) return {};
    return view.chars.substr(0, std::size_t{levels(column)} * bytes);
  }
  std::string_view text(std::size_t column, std::uint32_t row) const noexcept;  // text and category
  struct SparseRow {
    std::span<const std::uint32_t> indices;
    std::span<const float> values;
  };
  SparseRow sparse(std::size_t column, std::uint32_t row) const noexcept;

 private:
  friend class BlockOpener;
  struct ColumnView {
    ColumnType type = ColumnType::text;  // as the block has it
    std::uint8_t encoding = 0;
    std::uint8_t width = 0;
    std::uint8_t ends_width = 0;
    bool has_missing = false;
    std::int64_t base = 0;    // frame of reference of packed integers
    std::uint32_t extra = 0;  // stride of ends, scale of decimals
    std::uint32_t count = 0;  // levels, or pairs of a sparse column
    ByteView valid;           // bitmap; empty: all present, or the codes tell
    ByteView fixed;           // values or codes
    ByteView ends;            // of levels, texts or rows of pairs
    std::string_view chars;   // of levels or texts
    const std::uint32_t* indices = nullptr;
    const float* values = nullptr;
  };
  std::uint32_t end(const ColumnView& column, std::size_t index) const noexcept;
  std::uint32_t code(const ColumnView& column, std::size_t row) const noexcept;
  template <class Real>
  void read_reals(const ColumnView& column, std::uint32_t first, std::span<Real> out) const;
  template <class Real>
  void gather_reals(std::size_t column, std::span<const std::uint32_t> rows, std::span<Real> out) const;

  std::uint32_t rows_ = 0;
  std::vector<ColumnView> columns_;
  std::shared_ptr<const Bytes> unpacked_;  // shared: a view is copied freely, and nothing writes here
};

}  // namespace samovar::trainer
