#include "daemon/ingest/bad_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samovar::ingest {
namespace {

constexpr std::size_t kHeldBytesMax = 8u << 20;

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out += '"';
}

}  // namespace

Result<void> BadRows::add(BadRow&& row) {
  ++count_;
  Cause& cause = row.column < by_column_.size() ? by_column_[row.column] : shape_;
  if (cause.count++ == 0) cause.example = row.column < by_column_.size() ? row.value : row.reason;
  if (kept_ == plan_.bad_rows_kept_max) return {};
  ++kept_;
  held_bytes_ += sizeof row + row.reason.size() + row.text.size();
  held_.push_back(std::move(row));
  return held_bytes_ > kHeldBytesMax ? write() : Result<void>();
}

Result<void> BadRows::write() {
  std::stable_sort(held_.begin(), held_.end(),
                   [](const BadRow& a, const BadRow& b) { return a.line < b.line; });
  if (!header_written_ && !held_.empty()) {
    header_written_ = true;
    SAMOVAR_CHECK(sink_.bad_row("line,reason,text\n"));
  }
  for (const BadRow& row : held_) {
    SAMOVAR_CHECK(
        sink_.bad_row(fmt::format("{},{},{}\n", row.line, in_quotes(row.reason), in_quotes(row.text))));
  }
  held_.clear();
  held_bytes_ = 0;
  return {};
}

Result<void> BadRows::check(std::uint64_t good_rows) const {
  const double limit = plan_.bad_rows_share_max * static_cast<double>(good_rows + count_);
  if (count_ <= plan_.bad_rows_free || static_cast<double>(count_) <= limit) return {};
  return Error{Errc::invalid, sentence(good_rows)};
}

std::string BadRows::sentence(std::uint64_t good_rows) const {
  std::string text = fmt::format("{} of the first {} rows could not be read", count_, good_rows + count_);
  const auto worst = std::max_element(by_column_.begin(), by_column_.end(),
                                      [](const Cause& a, const Cause& b) { return a.count < b.count; });
  if (worst != by_column_.end() && worst->count >= shape_.count && worst->count > 0) {
    const trainer::ColumnSpec& spec =
        plan_.schema.columns[static_cast<std::size_t>(worst - by_column_.begin())];
    return text +
           fmt::format(
               ", {} of them because of the column \"{}\": \"{}\" {}. Set its type to category or text, "
               "or correct the file",
               worst->count, spec.name, worst->example, unfit_reason(spec.type));
  }
  return text +
         fmt::format(
             ", most of them because of their form: {}. Check delimiter, quotes and encoding, or correct "
             "the file",
             shape_.example);
}

Result<void> BadRows::finish(std::uint64_t good_rows) {
  SAMOVAR_CHECK(check(good_rows));
  if (good_rows == 0 && count_ > 0) return Error{Errc::invalid, sentence(0)};
  if (good_rows == 0) return Error{Errc::invalid, "the file holds no rows: choose another one"};
  return write();
}

}  // namespace samovar::ingest
