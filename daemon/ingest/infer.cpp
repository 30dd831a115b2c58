#include "daemon/ingest/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "daemon/ingest/sensitive.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

using trainer::ColumnType;

constexpr std::size_t kValuesForTolerance = 100;
constexpr std::size_t kExamples = 5;
constexpr std::size_t kExampleBytesMax = 80;

struct Census {
  std::size_t values = 0;
  std::size_t integers = 0;
  std::size_t numbers = 0;  // integers too
  std::size_t times = 0;
  std::size_t leading_zero = 0;  // "007"
  std::size_t too_long = 0;      // digits beyond 64 bits
  std::size_t words = 0;         // all together
  std::size_t bytes = 0;
  std::size_t bytes_max = 0;
  std::size_t with_blank = 0;
  bool rising = true;  // whole numbers, each greater than the one before
  std::int64_t integer_min = std::numeric_limits<std::int64_t>::max();
  std::int64_t integer_max = std::numeric_limits<std::int64_t>::min();
  double number_min = std::numeric_limits<double>::infinity();
  double number_max = -std::numeric_limits<double>::infinity();
  std::string_view time_first, time_last;
  std::int64_t time_min = std::numeric_limits<std::int64_t>::max();
  std::int64_t time_max = std::numeric_limits<std::int64_t>::min();
  std::string_view odd;       // a value that is no number
  std::string_view odd_time;  // one that is no time
  std::unordered_set<std::string_view> distinct;

  bool all_but_few(std::size_t count) const {
    if (count == 0) return false;
    return values < kValuesForTolerance ? count == values : count * 100 >= values * 99;
  }
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool bare_digits(std::string_view value) noexcept {
  if (!value.empty() && (value[0] == '-' || value[0] == '+')) value.remove_prefix(1);
  return !value.empty() && std::all_of(value.begin(), value.end(), is_digit);
}

void count_number(std::string_view value, const InferRules& rules, Census& census) {
  std::int64_t integer = 0;
  double number = 0;
  if (parse_integer(value, rules.style, integer)) {
    ++census.integers;
    ++census.numbers;
    if (census.integers > 1 && integer <= census.integer_max) census.rising = false;
    census.integer_min = std::min(census.integer_min, integer);
    census.integer_max = std::max(census.integer_max, integer);
    number = static_cast<double>(integer);
    const std::string_view digits = value[0] == '-' || value[0] == '+' ? value.substr(1) : value;
    if (digits.size() > 1 && digits[0] == '0') ++census.leading_zero;
  } else if (parse_real(value, rules.style, number)) {
    ++census.numbers;
    if (bare_digits(value)) ++census.too_long;
  } else {
    census.odd = value;
    return;
  }
  census.number_min = std::min(census.number_min, number);
  census.number_max = std::max(census.number_max, number);
}

void count_time(std::string_view value, const InferRules& rules, Census& census) {
  std::int64_t time = 0;
  // Digits alone are a number: the person may say otherwise.
  if (bare_digits(value) || !parse_time(value, rules.date_order, time)) {
    census.odd_time = value;
    return;
  }
  ++census.times;
  if (time < census.time_min) census.time_first = value;
  if (time > census.time_max) census.time_last = value;
  census.time_min = std::min(census.time_min, time);
  census.time_max = std::max(census.time_max, time);
}

void count_words(std::string_view value, Census& census) {
  census.bytes += value.size();
  census.bytes_max = std::max(census.bytes_max, value.size());
  std::size_t words = 0;
  bool in_word = false;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank && !in_word) ++words;
    in_word = !blank;
  }
  census.words += words;
  if (words > 1) ++census.with_blank;
}

Census take_census(const ColumnSample& column, const InferRules& rules) {
  Census census;
  for (const auto value : column.values) {
    ++census.values;
    count_number(value, rules, census);
    if (census.numbers < census.values) count_time(value, rules, census);
    count_words(value, census);
    census.distinct.insert(value);
  }
  return census;
}

bool two_words(const Census& census, std::string_view yes, std::string_view no, bool both) {
  bool seen_yes = false;
  bool seen_no = false;
  for (const auto value : census.distinct) {
    std::string low(value);
    for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    if (low == yes)
      seen_yes = true;
    else if (low == no)
      seen_no = true;
    else
      return false;
  }
  return both ? seen_yes && seen_no : seen_yes || seen_no;
}

bool is_boolean(const ColumnSample& column, const InferRules& rules, const Census& census) {
  if (census.distinct.empty() || census.distinct.size() > 6) return false;
  struct Pair {
    std::string_view yes, no;
    bool both;  // a single letter alone may mean anything
  };
  constexpr Pair kPairs[] = {{"true", "false", false}, {"yes", "no", true},     {"t", "f", true},
                             {"y", "n", true},         {"on", "off", true},     {"ja", "nein", true},
                             {"oui", "non", true},     {"vrai", "faux", false}, {"wahr", "falsch", false},
                             {"si", "no", true}};
  for (const auto& pair : kPairs)
    if (two_words(census, pair.yes, pair.no, pair.both)) return true;
  if (!two_words(census, "1", "0", true)) return false;
  if (rules.whole) return true;
  // In a larger file a count may begin with 0 and 1 for long: only where both are common is it yes and no.
  const auto ones = static_cast<std::size_t>(std::count(column.values.begin(), column.values.end(), "1"));
  return std::min(ones, census.values - ones) * 100 >= census.values;
}

bool is_category(const Census& census) {
  if (census.values == 0 || census.bytes_max > 1000) return false;
  const double words = static_cast<double>(census.words) / static_cast<double>(census.values);
  const double bytes = static_cast<double>(census.bytes) / static_cast<double>(census.values);
  // Few different ones: levels, however long. Up to 1,000 that each come back ten times on average.
  if (census.distinct.size() <= 1000 && census.distinct.size() * 10 <= census.values) return true;
  const bool nearly_unique = census.distinct.size() * 10 >= census.values * 9 && census.values >= 20;
  if (nearly_unique && census.with_blank * 2 >= census.values) return false;
  return words <= 3 && bytes <= 40;
}

std::string span_of(const Census& census, ColumnType type) {
  if (type == ColumnType::integer)
    return fmt::format(" from {} to {}", census.integer_min, census.integer_max);
  if (type == ColumnType::real)
    return fmt::format(" from {:.6g} to {:.6g}", census.number_min, census.number_max);
  if (type == ColumnType::time)
    return fmt::format(" from {} to {}", printable(census.time_first, 40), printable(census.time_last, 40));
  return {};
}

std::string all_or_most(const Census& census, std::size_t count, std::string_view what,
                        std::string_view span) {
  if (count == census.values && count == 1) return fmt::format("the one value: {}{}", what, span);
  if (count == census.values) return fmt::format("all {} values are {}{}", grouped(count), what, span);
  return fmt::format("{} of {} values are {}{}; the others, like \"{}\", will be bad rows", grouped(count),
                     grouped(census.values), what, span,
                     printable(count == census.times ? census.odd_time : census.odd, 40));
}

std::string levels_evidence(const Census& census) {
  return fmt::format("{} different value{} in {}", grouped(census.distinct.size()),
                     census.distinct.size() == 1 ? "" : "s", grouped(census.values));
}

struct Verdict {
  ColumnType type;
  std::string evidence;
};

Verdict judge(const ColumnSample& column, const InferRules& rules, const Census& census) {
  if (census.values == 0) return {ColumnType::text, "no value in the sample: choose the type yourself"};
  if (is_boolean(column, rules, census)) {
    std::vector<std::string_view> words(census.distinct.begin(), census.distinct.end());
    std::sort(words.begin(), words.end());
    return {ColumnType::boolean,
            all_or_most(census, census.values, fmt::format("{}", fmt::join(words, " or ")), "")};
  }
  if (census.all_but_few(census.integers + census.too_long) && census.too_long > 0)
    return {ColumnType::category, "whole numbers too long for 64 bits: kept as they are written"};
  if (census.all_but_few(census.integers) && census.leading_zero > 0)
    return {ColumnType::category, fmt::format("{} of {} whole numbers begin with 0: kept as they are written",
                                              grouped(census.leading_zero), grouped(census.values))};
  if (census.all_but_few(census.integers) && census.integers == census.numbers)
    return {ColumnType::integer,
            all_or_most(census, census.integers, "whole numbers", span_of(census, ColumnType::integer))};
  if (census.all_but_few(census.numbers))
    return {ColumnType::real,
            all_or_most(census, census.numbers, "numbers", span_of(census, ColumnType::real))};
  if (census.all_but_few(census.times))
    return {ColumnType::time,
            all_or_most(census, census.times, "dates or times", span_of(census, ColumnType::time))};
  if (is_category(census)) return {ColumnType::category, levels_evidence(census)};
  return {ColumnType::text,
          fmt::format("free text, {:.1f} words on average; {}",
                      static_cast<double>(census.words) / static_cast<double>(census.values),
                      levels_evidence(census))};
}

bool named_like_an_id(std::string_view name) {
  std::string low;
  for (const char c : name) low += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  constexpr std::string_view kWords[] = {"id",  "uuid", "guid", "key",    "index",
                                         "idx", "nr",   "no",   "number", "rowid"};
  for (const auto word : kWords) {
    if (low == word) return true;
    if (low.size() > word.size() && low.compare(low.size() - word.size(), word.size(), word) == 0) {
      const char before = low[low.size() - word.size() - 1];
      const char itself = name[name.size() - word.size()];
      if (before == '_' || before == '-' || before == ' ' || before == '.' ||
          (itself >= 'A' && itself <= 'Z'))
        return true;
    }
    // IDpol, id_policy
    if (word == "id" && low.rfind("id", 0) == 0 && (name.substr(0, 2) == "ID" || low[2] == '_')) return true;
  }
  return false;
}

bool is_identifier(const ColumnSample& column, ColumnType type, const Census& census) {
  constexpr std::size_t kValuesMin = 20;
  if (census.values < kValuesMin || census.distinct.size() * 100 < census.values * 99) return false;
  if (type == ColumnType::integer) return census.rising || named_like_an_id(column.name);
  return type == ColumnType::category || type == ColumnType::text;
}

void add_examples(const ColumnSample& column, ColumnFinding& finding) {
  std::vector<std::string_view> seen;
  for (const auto value : column.values) {
    if (seen.size() == kExamples) break;
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;
    seen.push_back(value);
    finding.examples.push_back(finding.spec.sensitive ? mask(value) : printable(value, kExampleBytesMax));
  }
}

ColumnFinding finish(const ColumnSample& column, Verdict verdict, const Census& census) {
  ColumnFinding finding;
  finding.spec.name = std::string(column.name);
  finding.spec.type = verdict.type;
  finding.evidence = std::move(verdict.evidence);
  finding.missing = column.missing;
  if (column.missing > 0) finding.evidence += fmt::format("; {} missing", grouped(column.missing));
  finding.constant = census.distinct.size() <= 1;
  finding.identifier = is_identifier(column, verdict.type, census);
  finding.sensitive_reason = sensitive_reason(column.name, column.values);
  finding.spec.sensitive = !finding.sensitive_reason.empty();
  // Extremes of such a column are somebody's.
  if (finding.spec.sensitive && verdict.type == ColumnType::time) finding.evidence = "dates or times";
  add_examples(column, finding);
  return finding;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

ColumnFinding infer_column(const ColumnSample& column, const InferRules& rules) {
  const Census census = take_census(column, rules);
  return finish(column, judge(column, rules, census), census);
}

ColumnFinding describe_column(const ColumnSample& column, ColumnType type, std::string evidence) {
  const Census census = take_census(column, InferRules{});
  return finish(column, {type, std::move(evidence)}, census);
}

}  // namespace samovar::ingest
