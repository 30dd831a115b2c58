// What a column is, from a sample of its cells, and why.
//
// The rules, in this order (docs/reference/formats.md has them for people):
//   boolean   two words that mean yes and no, or only 0 and 1
//   category  whole numbers of which some begin with 0, or are too long for 64 bits: they are names
//   integer   whole numbers           real   numbers
//   time      dates, with or without a time of day; never bare digits
//   category  short values, of one or two words, or few different ones
//   text      the rest
// One value in a hundred may be none of the type when there are at least 100: it will make a bad row.
//
// Threading: any thread; pure.
#pragma once
#include <string_view>
#include <vector>

#include "daemon/ingest/options.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {

struct InferRules {
  NumberStyle style;
  DateOrder date_order = DateOrder::day_first;
  bool whole = false;  // the sample is the file: nothing can come that was not seen
};

struct ColumnSample {
  std::string_view name;
  std::vector<std::string_view> values;  // without the missing ones, in the file's order
  std::uint64_t missing = 0;
};

ColumnFinding infer_column(const ColumnSample& column, const InferRules& rules);
// The same when the format itself gives the type: evidence and flags for it.
ColumnFinding describe_column(const ColumnSample& column, trainer::ColumnType type, std::string evidence);

// "12,345"
std::string grouped(std::uint64_t number);

}  // namespace samovar::ingest
