// Where a text has its delimiters and line ends: 64 bytes at a time with the widest vectors of this CPU.
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>

namespace samovar::ingest {

// Vector loads may go this far past the end of a text: it must be readable, its content does not matter.
inline constexpr std::size_t kTextSlack = 64;
// And so far past the end of a row that is copied.
inline constexpr std::size_t kRowSlack = 256;

struct TextMarks {
  char first = ',';
  char second = '\n';
  char quote = '\0';  // only looked for; the same as `first` when there is none to look for
};

// What else the text holds.
struct TextTraits {
  bool quote = false;
  bool nul = false;
  bool high = false;   // a byte that is not ASCII
  bool blank = false;  // a space, or a tab that is no mark
};

// Writes begin + i for each i in [begin, end) where text[i] is one of the two, rising; `out` has room for
// end - begin + 64 of them. Returns how many.
std::size_t find_marks(const char* text, std::size_t begin, std::size_t end, const TextMarks& marks,
                       std::uint32_t* out, TextTraits& traits) noexcept;

// The same for line ends alone, which are rarer, and without the traits but for `quote` (the same as
// `newline` when there is none to look for).
std::size_t find_line_ends(const char* text, std::size_t begin, std::size_t end, char newline, char quote,
                           std::uint32_t* out, bool& quote_seen) noexcept;

// The variants, for tests: false when this CPU lacks one.
enum class MarksVariant : std::uint8_t { portable, narrow, avx2, avx512 };
bool marks_variant_runs(MarksVariant variant) noexcept;
std::size_t find_marks_with(MarksVariant variant, const char* text, std::size_t begin, std::size_t end,
                            const TextMarks& marks, std::uint32_t* out, TextTraits& traits) noexcept;

}  // namespace samovar::ingest
