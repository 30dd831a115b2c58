// JSON from outside, read with bounds: a member that is there twice, too much depth or too many values end it
// at once, before they take room.
//
// Threading: pure functions.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace samovar::trainer {

struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 16;
  std::size_t values = std::size_t{1} << 24;
};
// Errc::invalid, saying where it went wrong.
Result<nlohmann::json> parse_strict_json(std::string_view text, const JsonLimits& limits);

// Errc::invalid when `json` is no object, lacks one of the members or has one beside them; `what` is named.
Result<void> require_members(const nlohmann::json& json, std::span<const std::string_view> members,
                             std::string_view what);
// The members of an object that require_members let pass. Errc::invalid names the one of the wrong kind.
Result<double> finite_number(const nlohmann::json& json, std::string_view member);
Result<std::uint64_t> whole_number(const nlohmann::json& json, std::string_view member, std::uint64_t most);
Result<std::string> short_text(const nlohmann::json& json, std::string_view member, std::size_t bytes_max);

}  // namespace samovar::trainer
