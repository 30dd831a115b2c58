// In what two specs, evaluations or other JSON documents differ.
//
// Threading: pure functions.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>

namespace samovar::trainer {

// [{"path": JSON pointer, "a": value, "b": value}…] in the order of the paths, null for what one of them
// lacks. Lists of numbers and texts are compared whole, others element by element.
nlohmann::json differences(const nlohmann::json& a, const nlohmann::json& b, std::size_t most = 1000);

}  // namespace samovar::trainer
