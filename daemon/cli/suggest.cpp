#include "daemon/cli/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samovar::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cell((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cell[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replace, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  // A word from a hostile or broken script must not cost quadratic time.
  if (word.empty() || word.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // The singular of a noun ("user") and a started word ("comp") are no slips, but just as clear.
    const bool started = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = started ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view prefix) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string() : fmt::format(" (did you mean \"{}{}\"?)", prefix, near);
}

std::vector<std::string_view> split_words(std::string_view words, char separator) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    const std::size_t end = words.find(separator);
    list.push_back(words.substr(0, end));
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
  }
  return list;
}

}  // namespace samovar::cli
