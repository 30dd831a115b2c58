#include "security/join_words.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "security/hash.hpp"
#include "security/join_word_list.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kPrefix = 3;
constexpr std::size_t kTypedBytesMax = 256;
constexpr std::size_t kDigestBytes = 8;
constexpr std::size_t kDigestChars = 12;

using Words = std::array<std::string_view, kWordListSize>;

const Words& all_words() {
  static const Words words = [] {
    Words out{};
    std::string_view rest = kJoinWordList;
    for (std::string_view& word : out) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      word = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    SAMOVAR_ASSERT(rest.empty() && !out.back().empty());
    return out;
  }();
  return words;
}

// The word that begins like this, if it is that word or the beginning of it.
std::string_view word_of(std::string_view typed) {
  if (typed.size() < kPrefix) return {};
  const Words& words = all_words();
  const auto found = std::lower_bound(words.begin(), words.end(), typed.substr(0, kPrefix));
  return found != words.end() && found->starts_with(typed) ? *found : std::string_view{};
}

std::vector<std::string> typed_words(std::string_view typed) {
  std::vector<std::string> out(1);
  for (const char c : typed) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool gap = c == ' ' || c == '-' || c == ',' || c == '.' || c == '\t' || c == '\n' || c == '\r';
    if (gap && !out.back().empty()) out.emplace_back();
    if (!gap) out.back().push_back(letter ? static_cast<char>(c | 0x20) : c);
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

std::string digest_text(const Certificate& ca) {
  return base32_encode(ByteView(blake2b(32, ca.der)).first(kDigestBytes)).substr(0, kDigestChars);
}

}  // namespace

std::string_view join_word(std::size_t index) { return all_words()[index]; }

std::string make_join_words(Rng& rng) {
  std::string out;
  for (std::size_t i = 0; i < kJoinWords; ++i) {
    if (i > 0) out.push_back('-');
    out += join_word(rng.below(kWordListSize));
  }
  return out;
}

Result<std::string> parse_join_words(std::string_view typed) {
  if (typed.size() > kTypedBytesMax) return Error{Errc::invalid, "an invitation has five words"};
  std::string out;
  const std::vector<std::string> words = typed_words(typed);
  for (const std::string& word : words) {
    const std::string_view known = word_of(word);
    if (known.empty())
      return Error{Errc::invalid,
                   "\"" + word.substr(0, 24) + "\" is not a word of an invitation: look at it again"};
    if (!out.empty()) out.push_back('-');
    out += known;
  }
  if (words.size() != kJoinWords)
    return Error{Errc::invalid, "an invitation has five words; these are " + std::to_string(words.size())};
  return out;
}

Result<SecretBytes> words_key(std::string_view words, const Argon2Cost& cost) {
  constexpr Argon2Salt kSalt = {'s', 'a', 'm', 'o', 'v', 'a', 'r', '-',
                                'w', 'o', 'r', 'd', 's', '-', 'v', '1'};
  return argon2id(as_bytes(words), kSalt, cost);
}

std::string ca_digest(const Certificate& ca) {
  std::string text = digest_text(ca);
  text.insert(8, 1, '-');
  text.insert(4, 1, '-');
  return text;
}

bool ca_digest_matches(std::string_view typed, const Certificate& ca) {
  return typed.size() <= 4 * kDigestChars && base32_normalize(typed) == digest_text(ca);
}

}  // namespace samovar::security
