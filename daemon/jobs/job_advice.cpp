#include "daemon/jobs/job_advice.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace samovar::jobs {
namespace {

using nlohmann::json;

constexpr std::uint64_t kFewRows = 200;
constexpr std::uint64_t kOwnersMin = 10;
constexpr double kTellsAll = 0.98;  // correlation with the target
// Words that name whom a row belongs to.
constexpr std::string_view kOwners[] = {"patient", "customer", "client", "person", "user",  "account",
                                        "member",  "subject",  "card",   "device", "house", "household"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool names_an_owner(const std::string& name) {
  const std::string text = lower(name);
  if (text == "id" || text.ends_with("_id") || text.ends_with(" id")) return true;
  return std::any_of(std::begin(kOwners), std::end(kOwners),
                     [&text](std::string_view word) { return text.find(word) != std::string::npos; });
}

// Long columns have their different values estimated, some percent off: near one for each row is taken for
// that, and only clearly fewer for several rows of one owner.
constexpr double kSurelyOneEach = 0.95;
constexpr double kSurelyFewer = 0.9;

enum class Values : std::uint8_t { one_each, unclear, repeated };

Values values_of(const json& column, std::uint64_t distinct, std::uint64_t present) {
  if (column.value("distinct_exact", true)) return distinct == present ? Values::one_each : Values::repeated;
  const double share =
      static_cast<double>(distinct) / static_cast<double>(std::max<std::uint64_t>(present, 1));
  if (share >= kSurelyOneEach) return Values::one_each;
  return share < kSurelyFewer ? Values::repeated : Values::unclear;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::uint64_t count(const json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

}  // namespace

std::vector<std::string> advise_job(const trainer::JobSpec& spec, const json& profile) {
  std::vector<std::string> advice;
  const std::uint64_t rows = count(profile, "rows");
  if (rows > 0 && rows < kFewRows)
    advice.push_back(
        fmt::format("There are only {} rows: the evaluation will be coarse. Folds use them better.", rows));
  const auto columns = profile.find("columns");
  if (columns == profile.end() || !columns->is_array()) return advice;
  for (const auto& column : *columns) {
    const auto at = column.find("name");
    if (at == column.end() || !at->is_string()) continue;
    const std::string name = at->get<std::string>();
    const std::uint64_t distinct = count(column, "distinct");
    const std::uint64_t present = rows - std::min(rows, count(column, "missing"));
    const Values values = values_of(column, distinct, present);
    if (name == spec.target) {
      if (distinct == 1)
        advice.push_back(fmt::format("The target \"{}\" has the same value in all rows.", name));
      if (present < rows)
        advice.push_back(fmt::format("The target \"{}\" is missing in {} rows: these are left out.", name,
                                     rows - present));
      continue;
    }
    const std::string type = column.value("type", "");
    const bool is_input = spec.inputs.empty() ? !contains(spec.ignore, name) : contains(spec.inputs, name);
    // Rows of one owner on both sides of a random split make a model look better than it is.
    if (names_an_owner(name) && type != "real" && distinct >= kOwnersMin && values == Values::repeated &&
        spec.split.kind == trainer::SplitSpec::Kind::random)
      advice.push_back(
          fmt::format("\"{}\" says whose a row is, and owners have several rows: split by it "
                      "(group), or the model is tested on people it has seen.",
                      name));
    if (!is_input) continue;
    if (present > kFewRows && values == Values::one_each && (type == "category" || type == "integer"))
      advice.push_back(fmt::format(
          "\"{}\" has another value in each row: it names rows and teaches nothing. Leave it out.", name));
    const auto correlation = column.find("correlation");
    if (correlation != column.end() && correlation->is_number() &&
        std::fabs(correlation->get<double>()) > kTellsAll)
      advice.push_back(
          fmt::format("\"{}\" alone tells the target almost exactly: is it known before the target is? If "
                      "not, leave it out.",
                      name));
  }
  return advice;
}

}  // namespace samovar::jobs
