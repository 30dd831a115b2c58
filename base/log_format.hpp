// How one log record looks in each format. Pure functions; what strangers wrote into a value can
// not begin a new line, move a terminal's cursor or close a quote.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace samovar::log {

struct Record {
  WallTime time;
  Level level;
  Category category;
  std::string_view message;
  std::span<const Field> fields;
  std::string_view file;
  int line;
};

// 2026-01-02T03:04:05.000006Z info  jobs: round done job="a b" loss=0.25
std::string format_text(const Record& record);
// {"time":…,"level":…,"category":…,"message":…,"file":…,"line":…,"fields":{…}}
std::string format_json(const Record& record);
// "MESSAGE=…", "PRIORITY=…", "SAMOVAR_CATEGORY=…", one per field with its key as "SAMOVAR_<KEY>=…".
std::vector<std::string> format_journal(const Record& record);

}  // namespace samovar::log
