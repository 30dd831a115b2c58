// "Did you mean": the nearest known word, when it is near enough to be a slip of the finger.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace samovar::cli {

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// Empty when nothing is near: at most one slip for each three letters, and at least one.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

// ` (did you mean "users"?)`, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view prefix = {});

// "a|b|c" → a, b, c
std::vector<std::string_view> split_words(std::string_view words, char separator = '|');

}  // namespace samovar::cli
