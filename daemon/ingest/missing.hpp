// The words that stand for "no value" in a file.
//
// Threading: a value; any thread once made.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samovar::ingest {

class MissingTokens {
 public:
  explicit MissingTokens(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
    for (const auto& token : tokens_) lengths_ |= bit(token.size());
  }
  bool contains(std::string_view cell) const noexcept {
    // Most cells are told apart by their length alone.
    if ((lengths_ & bit(cell.size())) == 0) return false;
    return std::find(tokens_.begin(), tokens_.end(), cell) != tokens_.end();
  }

 private:
  static std::uint64_t bit(std::size_t length) noexcept {
    return std::uint64_t{1} << std::min<std::size_t>(length, 63);
  }
  std::vector<std::string> tokens_;
  std::uint64_t lengths_ = 0;
};

}  // namespace samovar::ingest
