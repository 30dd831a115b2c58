// Members that options and hints share: each checked, each named in its error.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/options.hpp"

namespace samovar::ingest {

inline constexpr std::uint64_t kSkipLinesMax = 1'000'000;

Result<Format> format_member(const nlohmann::json& value);
Result<Encoding> encoding_member(const nlohmann::json& value);
Result<char> delimiter_member(const nlohmann::json& value);
Result<bool> flag_member(const nlohmann::json& value, std::string_view member);
Result<char> decimal_member(const nlohmann::json& value);
Result<DateOrder> date_order_member(const nlohmann::json& value);
Result<std::uint64_t> skip_lines_member(const nlohmann::json& value);
Result<std::vector<std::string>> missing_member(const nlohmann::json& value);

}  // namespace samovar::ingest
