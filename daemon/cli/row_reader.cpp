#include "daemon/cli/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "daemon/cli/suggest.hpp"
#include "daemon/cli/text_table.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kRecordBytesMax = 1 << 20;

// As the box reads files: daemon/ingest/options.hpp.
constexpr std::array<std::string_view, 11> kMissing = {"",     "NA",   "N/A", "NaN", "nan", "NULL",
                                                       "null", "None", "?",   "-",   "\\N"};

std::optional<json> number_of(std::string_view cell, char decimal) {
  std::string text(cell);
  if (decimal != '.') std::replace(text.begin(), text.end(), decimal, '.');
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (auto done = std::from_chars(begin, end, whole); done.ec == std::errc() && done.ptr == end)
    return json(whole);
  double real = 0;
  if (auto done = std::from_chars(begin, end, real);
      done.ec == std::errc() && done.ptr == end && std::isfinite(real))
    return json(real);
  return std::nullopt;
}

char frequent_delimiter(std::string_view header) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char c : {',', ';', '\t', '|'}) {
    const std::ptrdiff_t count = std::count(header.begin(), header.end(), c);
    if (count > most) {
      most = count;
      best = c;
    }
  }
  return best;
}

std::string text_of(const json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

InputTypes input_types(const json& signature) {
  InputTypes types;
  if (!signature.is_object()) return types;
  for (const json& input : signature.value("inputs", json::array())) {
    if (input.is_object() && input.value("name", json()).is_string())
      types[input["name"].get<std::string>()] = input.value("type", "");
  }
  return types;
}

json cell_value(std::string_view cell, std::string_view type, char decimal) {
  for (const std::string_view word : kMissing) {
    if (cell == word) return {};
  }
  if (type == "category" || type == "text" || type == "time") return std::string(cell);
  if (type == "boolean" && (cell == "true" || cell == "false")) return cell == "true";
  // Of an input whose type is not known a number is most likely meant as one.
  if (auto number = number_of(cell, decimal)) return *std::move(number);
  return std::string(cell);
}

RowReader::RowReader(Read read, RowFormat format, InputTypes types, std::vector<std::string> keep)
    : read_(std::move(read)), format_(format), types_(std::move(types)), keep_(std::move(keep)) {}

Error RowReader::fault(std::uint64_t line, std::string what) const {
  return Error{Errc::invalid, fmt::format("line {}: {}", line, what)};
}

Result<bool> RowReader::fill() {
  if (at_ < buffer_.size()) return true;
  if (ended_) return false;
  buffer_.resize(kReadBytes);
  at_ = 0;
  auto count = read_(buffer_.data(), buffer_.size());
  buffer_.resize(count ? *count : 0);
  if (!count) return std::move(count).error();
  ended_ = *count == 0;
  return !ended_;
}

Result<std::optional<char>> RowReader::peek() {
  SAMOVAR_TRY(bool more, fill());
  if (!more) return std::optional<char>();
  return std::optional<char>(buffer_[at_]);
}

// Up to the line's end, which is not part of it; quoted line ends are for record().
Result<bool> RowReader::line(std::string& text) {
  text.clear();
  SAMOVAR_TRY(bool more, fill());
  if (!more) return false;
  while (more) {
    const std::size_t end = buffer_.find('\n', at_);
    text.append(buffer_, at_, end == std::string::npos ? end : end - at_);
    at_ = end == std::string::npos ? buffer_.size() : end + 1;
    if (text.size() > kRecordBytesMax) return fault(line_, "the line is longer than 1 MiB");
    if (end != std::string::npos) break;
    SAMOVAR_TRY(more, fill());
  }
  if (!text.empty() && text.back() == '\r') text.pop_back();
  ++line_;
  return true;
}

// RFC 4180: quotes around a cell, "" for a quote in it, line ends within quotes.
Result<bool> RowReader::record(std::vector<std::string>& cells) {
  cells.clear();
  const std::uint64_t first = line_;
  std::string cell;
  std::size_t bytes = 0;
  bool quoted = false, was_quoted = false;
  SAMOVAR_TRY(bool more, fill());
  if (!more) return false;
  for (;;) {
    SAMOVAR_TRY(more, fill());
    if (!more) {
      if (quoted) return fault(first, "a quotation mark is opened here and never closed");
      break;
    }
    const char c = buffer_[at_++];
    if (++bytes > kRecordBytesMax)
      return fault(first, "the row is longer than 1 MiB: is a quotation mark missing?");
    if (c == '\n') ++line_;
    if (quoted && c == '"') {
      SAMOVAR_TRY(std::optional<char> after, peek());
      if (after == '"') {
        cell.push_back(c);
        ++at_;
      } else {
        quoted = false;
      }
    } else if (quoted) {
      cell.push_back(c);
    } else if (c == '"' && cell.empty() && !was_quoted) {
      quoted = was_quoted = true;
    } else if (c == format_.delimiter) {
      cells.push_back(std::move(cell));
      cell.clear();
      was_quoted = false;
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      cell.push_back(c);
    }
  }
  cells.push_back(std::move(cell));
  return true;
}

Result<void> RowReader::read_header() {
  if (format_.delimiter == 0) {
    SAMOVAR_TRY(bool more, fill());
    if (!more) return fault(1, "the file is empty");
    format_.delimiter =
        frequent_delimiter(std::string_view(buffer_).substr(at_, buffer_.find('\n', at_) - at_));
  }
  SAMOVAR_TRY(bool more, record(header_));
  if (!more) return fault(1, "the file is empty");
  std::vector<std::string_view> names(header_.begin(), header_.end());
  for (const std::string& name : keep_) {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end())
      return fault(1, fmt::format("there is no column \"{}\" to keep{}", name, did_you_mean(name, names)));
    kept_columns_.push_back(static_cast<std::size_t>(found - header_.begin()));
  }
  if (types_.empty()) return {};
  const bool any = std::any_of(header_.begin(), header_.end(),
                               [&](const std::string& name) { return types_.find(name) != types_.end(); });
  if (!any)
    return fault(1, fmt::format("no column is an input of the model; it takes {}{}", types_.begin()->first,
                                types_.size() > 1 ? ", …: is the first line the header?" : ""));
  return {};
}

// The first line whole, as long as it is not too long: what the file is, is seen in it. A pipe may bring it
// in pieces.
Result<void> RowReader::read_first_line() {
  SAMOVAR_TRY(bool more, fill());
  while (more && buffer_.size() < kReadBytes && buffer_.find('\n') == std::string::npos) {
    std::string next(kReadBytes, '\0');
    auto count = read_(next.data(), next.size());
    if (!count) return std::move(count).error();
    more = *count > 0;
    ended_ = !more;
    buffer_.append(next, 0, *count);
  }
  return {};
}

Result<void> RowReader::begin() {
  begun_ = true;
  SAMOVAR_CHECK(read_first_line());
  if (std::string_view(buffer_).substr(at_).starts_with("\xEF\xBB\xBF")) at_ += 3;
  if (format_.kind == RowFormat::Kind::found) {
    const std::size_t sign = buffer_.find_first_not_of(" \t\r\n", at_);
    const char c = sign == std::string::npos ? ',' : buffer_[sign];
    if (c == '[')
      return fault(1, "this is a JSON array; give JSON lines, an object on each: jq -c '.[]' FILE");
    format_.kind = c == '{' ? RowFormat::Kind::jsonl : RowFormat::Kind::csv;
  }
  if (format_.kind == RowFormat::Kind::csv) return read_header();
  return {};
}

Result<std::optional<InputRow>> RowReader::next_csv() {
  std::vector<std::string> cells;
  std::uint64_t first = line_;
  do {
    first = line_;
    SAMOVAR_TRY(bool more, record(cells));
    if (!more) return std::optional<InputRow>();
  } while (cells.size() == 1 && cells[0].empty() && header_.size() > 1);  // an empty line
  if (cells.size() != header_.size())
    return fault(first, fmt::format("{} cells, but the header has {}", cells.size(), header_.size()));
  InputRow row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto type = types_.find(header_[i]);
    if (type == types_.end() && !types_.empty()) continue;
    row.values[header_[i]] =
        cell_value(cells[i], type == types_.end() ? std::string() : type->second, format_.decimal);
  }
  for (const std::size_t column : kept_columns_) row.kept.push_back(cells[column]);
  return std::optional<InputRow>(std::move(row));
}

Result<std::optional<InputRow>> RowReader::next_json() {
  std::string text;
  std::uint64_t first = line_;
  do {
    first = line_;
    SAMOVAR_TRY(bool more, line(text));
    if (!more) return std::optional<InputRow>();
  } while (text.find_first_not_of(" \t") == std::string::npos);
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return fault(first, "this is no JSON object");
  InputRow row;
  for (const auto& entry : object.items()) {
    if (types_.empty() || types_.find(entry.key()) != types_.end()) row.values[entry.key()] = entry.value();
  }
  for (const std::string& name : keep_) row.kept.push_back(text_of(object.value(name, json())));
  return std::optional<InputRow>(std::move(row));
}

Result<std::optional<InputRow>> RowReader::next() {
  if (!begun_) SAMOVAR_CHECK(begin());
  return format_.kind == RowFormat::Kind::csv ? next_csv() : next_json();
}

}  // namespace samovar::cli
