#include <algorithm>
#include <cstring>
#include <string>

#include "trainer/data/block.hpp"
#include "trainer/data/block_format.hpp"
#include "trainer/data/chars.hpp"
#include "trainer/data/pack.hpp"

namespace samovar::trainer {

using namespace block_format;

// Checks a block from front to back, then unpacks what cannot be read in place. A step returns false at the
// first thing that is not as the encoder writes it.
class BlockOpener {
 public:
  BlockOpener(ByteView bytes, const Schema& schema, BlockView& view)
      : bytes_(bytes), schema_(schema), view_(view) {}

  bool check() {
    BlockHead head;
    if (bytes_.size() < sizeof head || bytes_.size() > kBlockBytesMax) return false;
    std::memcpy(&head, bytes_.data(), sizeof head);
    const std::size_t columns = schema_.columns.size();
    if (head.magic != kMagic || head.version != kVersion || head.columns != columns) return false;
    if (head.rows > kBlockRowsMax || head.bytes != bytes_.size()) return false;
    rows_ = head.rows;
    view_.rows_ = rows_;
    at_ = sizeof head + columns * sizeof(ColumnHead);
    if (bytes_.size() < at_) return false;
    heads_.resize(columns);
    if (columns != 0) std::memcpy(heads_.data(), bytes_.data() + sizeof head, columns * sizeof(ColumnHead));
    view_.columns_.resize(columns);
    for (column_ = 0; column_ < columns; ++column_) {
      if (!column(heads_[column_], view_.columns_[column_], schema_.columns[column_].type)) return false;
    }
    return at_ == bytes_.size();
  }

  // What check() could not leave in place.
  std::size_t unpacked_bytes() const noexcept { return unpacked_bytes_; }
  std::size_t column_at_fault() const noexcept { return column_; }

  bool unpack(std::uint8_t* out) {
    for (column_ = 0; column_ < heads_.size(); ++column_) {
      const ColumnHead& head = heads_[column_];
      BlockView::ColumnView& view = view_.columns_[column_];
      if (view.encoding == static_cast<std::uint8_t>(Encoding::sparse)) {
        out = unpack_sparse(head, view, out);
        if (!indices_rise(view)) return false;
      } else if (has_packed_chars(head)) {
        const std::span<char> chars(reinterpret_cast<char*>(out), head.chars);
        if (!unpack_chars(static_cast<Chars>(head.packing), as_bytes(view.chars), chars)) return false;
        view.chars = {chars.data(), chars.size()};
        out += padded(head.chars);
      }
    }
    return true;
  }

 private:
  static bool has_packed_chars(const ColumnHead& head) {
    return head.encoding != static_cast<std::uint8_t>(Encoding::sparse) &&
           head.packing != static_cast<std::uint8_t>(Chars::plain);
  }

  // The next part of the block; what pads it must be zeros, so that a block has no room for anything else.
  bool part(std::size_t bytes, ByteView& out) {
    const std::size_t whole = padded(bytes);
    if (bytes_.size() - at_ < whole) return false;
    out = bytes_.subspan(at_, bytes);
    for (std::size_t i = bytes; i < whole; ++i) {
      if (bytes_[at_ + i] != 0) return false;
    }
    at_ += whole;
    return true;
  }
  bool bits(ByteView& out) {
    if (!part(bitmap_bytes(rows_), out)) return false;
    return rows_ % 8 == 0 || out.back() >> (rows_ % 8) == 0;
  }

  bool column(const ColumnHead& head, BlockView::ColumnView& view, ColumnType expected) {
    const auto type = static_cast<ColumnType>(head.type);
    if (!stands_for(type, expected)) return false;
    if (head.zero != 0 || head.flags > kHasMissing) return false;
    view.type = type;
    view.encoding = head.encoding;
    view.width = head.width;
    view.ends_width = head.ends_width;
    view.has_missing = (head.flags & kHasMissing) != 0;
    view.base = head.base;
    view.extra = head.extra;
    view.count = head.count;
    if (view.has_missing && type != ColumnType::category && !bits(view.valid)) return false;
    switch (static_cast<Encoding>(head.encoding)) {
      case Encoding::packed:
        return packed(head, view, type == ColumnType::integer || type == ColumnType::time);
      case Encoding::decimal:
        return decimal(head, view, type == ColumnType::real);
      case Encoding::f32:
        return floats(head, view, type == ColumnType::real, sizeof(float));
      case Encoding::f64:
        return floats(head, view, type == ColumnType::real, sizeof(double));
      case Encoding::bits:
        return type == ColumnType::boolean && head.width == 0 && head.base == 0 && no_more(head) &&
               bits(view.fixed);
      case Encoding::codes:
        return type == ColumnType::category && codes(head, view);
      case Encoding::text:
        return type == ColumnType::text && text(head, view);
      case Encoding::sparse:
        return type == ColumnType::sparse && sparse(head, view);
    }
    return false;
  }

  static bool no_more(const ColumnHead& head) {
    return head.ends_width == 0 && head.packing == 0 && head.count == 0 && head.chars == 0 &&
           head.stored == 0 && head.extra == 0;
  }

  bool packed(const ColumnHead& head, BlockView::ColumnView& view, bool fits) {
    const unsigned w = head.width;
    if (!fits || !(w == 0 || w == 1 || w == 2 || w == 4 || w == 8) || !no_more(head)) return false;
    return part(rows_ * std::size_t{w}, view.fixed);
  }
  bool decimal(const ColumnHead& head, BlockView::ColumnView& view, bool fits) {
    const unsigned w = head.width;
    if (!fits || !(w == 0 || w == 1 || w == 2 || w == 4) || head.extra > kScaleMax) return false;
    if (head.base < INT32_MIN || head.base > INT32_MAX) return false;
    ColumnHead rest = head;
    rest.extra = 0;
    return no_more(rest) && part(rows_ * std::size_t{w}, view.fixed);
  }
  bool floats(const ColumnHead& head, BlockView::ColumnView& view, bool fits, std::size_t width) {
    if (!fits || head.width != width || head.base != 0 || !no_more(head)) return false;
    return part(rows_ * width, view.fixed);
  }

  // `count` ends of parts that together are `total`.
  bool ends(const ColumnHead& head, BlockView::ColumnView& view, std::size_t count, std::uint32_t total) {
    const unsigned w = head.ends_width;
    if (w == 0) return std::uint64_t{head.extra} * count == total && (count != 0 || head.extra == 0);
    if (!(w == 1 || w == 2 || w == 4) || head.extra != 0 || count == 0) return false;
    if (!part(count * w, view.ends)) return false;
    std::uint32_t last = 0;
    std::memcpy(&last, view.ends.data() + (count - 1) * w, w);
    return last == total && loops_.never_falls(view.ends.data(), w, count);
  }
  bool chars(const ColumnHead& head, BlockView::ColumnView& view) {
    if (head.packing > static_cast<std::uint8_t>(Chars::hex)) return false;
    if (!chars_sizes_fit(static_cast<Chars>(head.packing), head.stored, head.chars)) return false;
    ByteView stored;
    if (!part(head.stored, stored)) return false;
    view.chars = as_text(stored);
    return !has_packed_chars(head) || claim(head.chars);
  }
  bool claim(std::size_t bytes) {
    unpacked_bytes_ += padded(bytes);
    return unpacked_bytes_ <= kBlockBytesMax;
  }

  bool codes(const ColumnHead& head, BlockView::ColumnView& view) {
    const unsigned w = head.width;
    if (!(w == 0 || w == 1 || w == 2 || w == 4) || head.base != 0 || head.count > kBlockRowsMax) return false;
    if (!part(rows_ * std::size_t{w}, view.fixed)) return false;
    // One more code than levels when values are missing; without codes there is one level for all rows.
    const std::uint32_t codes = head.count + (view.has_missing ? 1 : 0);
    if (w == 0 ? rows_ != 0 && codes != 1 : loops_.max_packed(view.fixed.data(), w, rows_) >= codes)
      return false;
    return ends(head, view, head.count, head.chars) && chars(head, view);
  }
  bool text(const ColumnHead& head, BlockView::ColumnView& view) {
    if (head.width != 0 || head.base != 0 || head.count != 0) return false;
    return ends(head, view, rows_, head.chars) && chars(head, view);
  }

  bool sparse(const ColumnHead& head, BlockView::ColumnView& view) {
    const unsigned w = head.width;
    if (head.chars != 0 || head.stored != 0 || !ends(head, view, rows_, head.count)) return false;
    if (head.count == 0) return w == 0 && head.packing == 0 && head.base == 0;
    if (!(w == 1 || w == 2 || w == 4) || !part(head.count * std::size_t{w}, view.fixed)) return false;
    if ((w != 4 || !aligned()) && !claim(head.count * sizeof(std::uint32_t))) return false;
    switch (static_cast<SparseValues>(head.packing)) {
      case SparseValues::same:
        return head.base >= 0 && head.base <= 0xffff'ffff && claim(head.count * sizeof(float));
      case SparseValues::f32: {
        ByteView values;
        if (head.base != 0 || !part(head.count * sizeof(float), values)) return false;
        view.chars = as_text(values);
        return aligned() || claim(head.count * sizeof(float));
      }
    }
    return false;
  }
  // Of the block; each of its parts lies at a multiple of 8.
  bool aligned() const {
    return reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignof(std::uint64_t) == 0;
  }

  std::uint8_t* unpack_sparse(const ColumnHead& head, BlockView::ColumnView& view, std::uint8_t* out) {
    constexpr std::uint32_t kAll = 0xffff'ffff;  // no code is missing here
    const std::size_t count = head.count;
    if (count == 0) return out;
    if (head.width == 4 && aligned()) {
      view.indices = reinterpret_cast<const std::uint32_t*>(view.fixed.data());
    } else {
      auto* indices = reinterpret_cast<std::uint32_t*>(out);
      loops_.widen_codes(view.fixed.data(), head.width, kAll, kAll, count, indices);
      view.indices = indices;
      out += padded(count * sizeof(std::uint32_t));
    }
    auto* values = reinterpret_cast<float*>(out);
    if (head.packing == static_cast<std::uint8_t>(SparseValues::same)) {
      float value = 0;
      const auto bits = static_cast<std::uint32_t>(head.base);
      std::memcpy(&value, &bits, sizeof value);
      std::fill_n(values, count, value);
    } else if (aligned()) {
      view.values = reinterpret_cast<const float*>(view.chars.data());
      return out;
    } else {
      std::memcpy(values, view.chars.data(), count * sizeof(float));
    }
    view.values = values;
    return out + padded(count * sizeof(float));
  }

  // Falls are allowed only where a row ends: as many there as in all.
  bool indices_rise(const BlockView::ColumnView& view) const {
    std::size_t falls = 0;
    for (std::size_t i = 1; i < view.count; ++i) falls += view.indices[i] <= view.indices[i - 1] ? 1 : 0;
    std::uint32_t before = 0;
    for (std::size_t row = 0; row < rows_ && falls != 0; ++row) {
      const std::uint32_t end = view_.end(view, row);
      if (end != before && end < view.count && view.indices[end] <= view.indices[end - 1]) --falls;
      before = end;
    }
    return falls == 0;
  }

  const pack::Table& loops_ = pack::table();
  const ByteView bytes_;
  const Schema& schema_;
  BlockView& view_;
  std::vector<ColumnHead> heads_;
  std::uint32_t rows_ = 0;
  std::size_t at_ = 0;
  std::size_t column_ = 0;
  std::size_t unpacked_bytes_ = 0;
};

Result<BlockView> BlockView::open(ByteView bytes, const Schema& schema, Bytes* scratch) {
  BlockView view;
  BlockOpener opener(bytes, schema, view);
  const auto damaged = [&] {
    const std::size_t column = opener.column_at_fault();
    std::string where = column < schema.columns.size() ? " (column " + std::to_string(column + 1) + ")" : "";
    return Error{Errc::corrupt, "a block of the dataset is damaged or of another schema" + where};
  };
  if (!opener.check()) return damaged();
  std::shared_ptr<Bytes> own;
  if (scratch == nullptr && opener.unpacked_bytes() != 0) scratch = (own = std::make_shared<Bytes>()).get();
  std::uint8_t* room = nullptr;
  if (opener.unpacked_bytes() != 0) {
    if (scratch->size() < opener.unpacked_bytes()) scratch->resize(opener.unpacked_bytes());
    room = scratch->data();
  }
  if (!opener.unpack(room)) return damaged();
  view.unpacked_ = std::move(own);
  return view;
}

}  // namespace samovar::trainer
