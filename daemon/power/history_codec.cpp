// History::encode and decode. Format: docs/formats/history.md
#include <bit>
#include <cmath>

#include "daemon/power/history.hpp"
#include "daemon/power/history_metrics.hpp"

namespace samovar::power {
namespace {

constexpr std::string_view kMagic = "SMVH";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kFileColumnsMax = 32;  // one bit each in a slot
constexpr std::uint8_t kRingsMax = 8;

class Writer {
 public:
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) { out_.insert(out_.end(), value.begin(), value.end()); }
  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

// Past the end every read gives zero and bad() turns true; callers check it before they use a count.
class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}
  std::uint64_t number(std::size_t bytes) {
    if (!need(bytes)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{rest_[i]} << (8 * i);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  std::string_view text(std::size_t bytes) {
    if (!need(bytes)) return {};
    const std::string_view value = as_text(rest_.first(bytes));
    rest_ = rest_.subspan(bytes);
    return value;
  }
  bool bad() const { return bad_; }
  bool at_end() const { return rest_.empty() && !bad_; }

 private:
  bool need(std::size_t bytes) {
    if (rest_.size() < bytes) bad_ = true;
    return !bad_;
  }
  ByteView rest_;
  bool bad_ = false;
};

void write_slot(Writer& out, const HistorySlot& slot) {
  std::uint32_t present = 0;
  bool all_known = true;  // the usual case: every sample knew every metric that is there
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (std::isnan(slot.cells[i])) continue;
    present |= 1U << i;
    if (is_mean(i) && slot.counts[i] != slot.samples) all_known = false;
  }
  out.number(slot.number, 4);
  out.number(slot.samples, 2);
  out.number(present, 4);
  out.number(all_known ? 0 : 1, 1);
  for (std::size_t i = 0; i < kColumns; ++i) {
    if ((present >> i & 1U) == 0) continue;
    if (!all_known) out.number(is_mean(i) ? slot.counts[i] : slot.samples, 2);
    out.number(std::bit_cast<std::uint32_t>(slot.cells[i]), 4);
  }
}

using ColumnMap = std::vector<std::optional<std::size_t>>;  // the file's column → ours, or none

bool read_slot(Reader& in, const ColumnMap& columns, HistorySlot& slot) {
  slot.number = static_cast<std::uint32_t>(in.number(4));
  slot.samples = static_cast<std::uint16_t>(in.number(2));
  const auto present = static_cast<std::uint32_t>(in.number(4));
  const auto counted = in.number(1);
  if (in.bad() || slot.samples == 0 || counted > 1) return false;
  if (columns.size() < kFileColumnsMax && (present >> columns.size()) != 0) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if ((present >> i & 1U) == 0) continue;
    const auto count = counted != 0 ? static_cast<std::uint16_t>(in.number(2)) : slot.samples;
    const auto cell = std::bit_cast<float>(static_cast<std::uint32_t>(in.number(4)));
    if (in.bad() || !std::isfinite(cell) || count == 0 || count > slot.samples) return false;
    if (!columns[i]) continue;
    slot.cells[*columns[i]] = cell;
    if (is_mean(*columns[i])) slot.counts[*columns[i]] = count;
  }
  return true;
}

Error damaged(const char* what) {
  return Error{Errc::corrupt, std::string("the history is damaged: ") + what};
}

Result<ColumnMap> read_columns(Reader& in) {
  const auto count = in.number(1);
  if (in.bad() || count == 0 || count > kFileColumnsMax) return damaged("its list of columns does not fit");
  ColumnMap columns;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto column = find_history_column(in.text(static_cast<std::size_t>(in.number(1))));
    if (in.bad()) return damaged("it ends within its columns");
    for (const auto& other : columns)
      if (column && other == column) return damaged("a column is named twice");
    columns.push_back(column);
  }
  return columns;
}

}  // namespace

Bytes History::encode() const {
  Writer out;
  out.reserve(kHistoryBytes);
  out.text(kMagic);
  out.number(kVersion, 1);
  out.number(kColumns, 1);
  for (const HistoryColumn& column : kHistoryColumns) {
    out.number(column.name.size(), 1);
    out.text(column.name);
  }
  out.number(rings_.size(), 1);
  for (const HistoryRing& ring : rings_) {
    std::uint32_t used = 0;
    for (const HistorySlot& slot : ring.slots()) used += slot.samples != 0 ? 1 : 0;
    out.number(ring.step_s(), 4);
    out.number(used, 4);
    for (const HistorySlot& slot : ring.slots())
      if (slot.samples != 0) write_slot(out, slot);
  }
  return out.take();
}

Result<History> History::decode(ByteView bytes) {
  Reader in(bytes);
  if (in.text(kMagic.size()) != kMagic) return damaged("it does not begin like one");
  if (const auto version = in.number(1); version != kVersion)
    return Error{Errc::unsupported, "the history has version " + std::to_string(version) +
                                        ", this program reads " + std::to_string(kVersion)};
  SAMOVAR_TRY(const ColumnMap columns, read_columns(in));
  const auto rings = in.number(1);
  if (in.bad() || rings > kRingsMax) return damaged("its number of rings does not fit");

  History history;
  for (std::uint64_t r = 0; r < rings; ++r) {
    const auto step = in.number(4);
    const auto used = in.number(4);
    HistoryRing* ring = nullptr;  // a resolution that we do not keep is read past
    for (HistoryRing& ours : history.rings_)
      if (ours.step_s() == step) ring = &ours;
    for (std::uint64_t i = 0; i < used; ++i) {
      HistorySlot slot;
      if (!read_slot(in, columns, slot)) return damaged("a slot does not read");
      if (ring != nullptr) ring->add_older(slot);
    }
  }
  if (!in.at_end()) return damaged("there is something before or after its end");
  return history;
}

}  // namespace samovar::power
