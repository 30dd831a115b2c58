// The words of a text: runs of letters and digits, lower-cased; each character of Chinese and Japanese is a
// word of its own.
//
// Threading: pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace samovar::trainer {

inline constexpr std::size_t kWordsMax = 10'000;   // of one text; the rest is not read
inline constexpr std::size_t kWordBytesMax = 128;  // longer ones are cut

class Words {
 public:
  explicit Words(std::string_view text) noexcept : left_(text) {}
  // The next word, valid until the next call; empty at the end.
  std::string_view next();

 private:
  std::string_view left_;
  std::string word_;
  std::size_t count_ = 0;
};

}  // namespace samovar::trainer
