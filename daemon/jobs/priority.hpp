// How urgent a job is, as people write it: a word or a number.
#pragma once
#include <cstdint>
#include <optional>

#include "base/json.hpp"
#include "daemon/cluster/model_types.hpp"

namespace samovar::jobs {

inline constexpr int kPriorityLow = -10;
inline constexpr int kPriorityHigh = 10;
inline constexpr const char* kPriorityFault =
    "This must be low, normal, high or a whole number from -100 to 100.";

// Nothing for anything else.
inline std::optional<int> parse_priority(const nlohmann::json& json) {
  if (json == "low") return kPriorityLow;
  if (json == "normal") return 0;
  if (json == "high") return kPriorityHigh;
  if (!json.is_number_integer()) return std::nullopt;
  // What does not fit a signed number is far above.
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > 1'000'000) return std::nullopt;
  const auto number = json.get<std::int64_t>();
  if (number < -cluster::kPriorityMost || number > cluster::kPriorityMost) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace samovar::jobs
