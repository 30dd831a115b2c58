// check_password_policy of password.hpp: length first, then how much of it a guesser gets for free.
#include <algorithm>
#include <set>

#include "security/common_passwords.hpp"
#include "security/password.hpp"

namespace samovar::security {
namespace {

// Each guessable part (word, run of keys, year) counts one, like each other character. A password of
// twelve characters that comes to less than this is a few guesses per person.
constexpr std::size_t kScoreMin = 6;
constexpr std::size_t kDistinctMin = 5;
constexpr std::size_t kRunMin = 3;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

// The usual disguises: p4ssw0rd.
bool same_letter(char typed, char letter) noexcept {
  if (typed == letter) return true;
  switch (letter) {
    case 'a':
      return typed == '4' || typed == '@';
    case 'b':
      return typed == '8';
    case 'e':
      return typed == '3';
    case 'g':
      return typed == '9';
    case 'i':
      return typed == '1' || typed == '!';
    case 'l':
      return typed == '1';
    case 'o':
      return typed == '0';
    case 's':
      return typed == '5' || typed == '$';
    case 't':
      return typed == '7' || typed == '+';
    case 'z':
      return typed == '2';
    default:
      return false;
  }
}

bool starts_with_word(std::string_view text, std::string_view word) noexcept {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char letter, char typed) { return same_letter(typed, letter); });
}

std::size_t longest_word(std::string_view text) noexcept {
  std::size_t best = 0;
  for (const std::string_view word : kCommonWords)
    if (word.size() > best && starts_with_word(text, word)) best = word.size();
  return best;
}

// The longest beginning of `text` that walks along `row` in either direction.
std::size_t run_along(std::string_view text, std::string_view row) noexcept {
  std::size_t best = 0;
  for (std::size_t at = 0; at < row.size(); ++at) {
    std::size_t up = 0;
    while (up < text.size() && at + up < row.size() && text[up] == row[at + up]) ++up;
    std::size_t down = 0;
    while (down < text.size() && down <= at && text[down] == row[at - down]) ++down;
    best = std::max({best, up, down});
  }
  return best;
}

std::size_t longest_run(std::string_view text) noexcept {
  std::size_t best = 0;
  while (best < text.size() && text[best] == text[0]) ++best;
  for (const std::string_view row : kKeyRuns) best = std::max(best, run_along(text, row));
  return best < kRunMin ? 0 : best;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::size_t year(std::string_view text) noexcept {
  const bool four = text.size() >= 4 && std::all_of(text.begin(), text.begin() + 4, is_digit);
  return four && (text.substr(0, 2) == "19" || text.substr(0, 2) == "20") ? 4 : 0;
}

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t score(std::string_view text) {
  std::set<std::string_view> parts;
  std::size_t singles = 0;
  while (!text.empty()) {
    const std::size_t guessed = std::max({longest_word(text), longest_run(text), year(text)});
    if (guessed > 0) parts.insert(text.substr(0, guessed));
    // A character of several bytes counts once.
    if (guessed == 0 && !continues_character(text.front())) ++singles;
    text.remove_prefix(std::max<std::size_t>(guessed, 1));
  }
  return parts.size() + singles;
}

// The code points, or nothing when it is not UTF-8.
Result<std::vector<char32_t>> code_points(std::string_view text) {
  const Error broken{Errc::invalid, "the password is not valid UTF-8 text"};
  std::vector<char32_t> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80       ? 1
                             : lead >> 5 == 6  ? 2
                             : lead >> 4 == 14 ? 3
                             : lead >> 3 == 30 ? 4
                                               : 0;
    if (size == 0 || at + size > text.size()) return broken;
    char32_t value = size == 1 ? lead : lead & (0xffU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
      if (!continues_character(text[at + i])) return broken;
      value = (value << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kLeast[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return broken;
    out.push_back(value);
    at += size;
  }
  return out;
}

// "abcabcabcabc" is as good as "abc".
bool repeats_short_piece(const std::vector<char32_t>& text) {
  for (std::size_t piece = 1; piece < kPasswordCharsMin && piece * 2 <= text.size(); ++piece) {
    if (text.size() % piece == 0 &&
        std::equal(text.begin() + static_cast<std::ptrdiff_t>(piece), text.end(), text.begin()))
      return true;
  }
  return false;
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

// Short names occur inside words by chance, so they only count when little else is left.
bool leans_on_name(const std::string& password, const std::string& name, bool any_use) {
  if (name.size() < 3 || password.find(name) == std::string::npos) return false;
  return (any_use && name.size() >= 4) || score(without(password, name)) < kScoreMin;
}

Result<void> check(std::string_view what, std::string_view password, std::string_view username,
                   std::string_view other_name) {
  const std::string the = "the " + std::string(what);
  if (password.size() > kPasswordBytesMax) return Error{Errc::invalid, the + " is longer than 1024 bytes"};
  SAMOVAR_TRY(const std::vector<char32_t> points, code_points(password));
  if (points.size() < kPasswordCharsMin)
    return Error{Errc::invalid, the + " is too short: use at least 12 characters, e.g. four unrelated words"};
  if (std::any_of(points.begin(), points.end(), [](char32_t c) { return c < 0x20 || c == 0x7f; }))
    return Error{Errc::invalid, the + " has a control character that cannot be typed everywhere"};
  if (std::set<char32_t>(points.begin(), points.end()).size() < kDistinctMin || repeats_short_piece(points))
    return Error{Errc::invalid, the + " repeats itself: use more different characters"};
  const std::string text = lowered(password);
  if (leans_on_name(text, lowered(username), true))
    return Error{Errc::invalid, the + " contains the user name: choose one without it"};
  if (leans_on_name(text, lowered(other_name), false))
    return Error{Errc::invalid, the + " is little more than a name that others know: choose another"};
  if (score(text) < kScoreMin)
    return Error{Errc::invalid,
                 the + " is easy to guess (a common word, a row of keys or a year): add unrelated words"};
  return {};
}

}  // namespace

Result<void> check_password_policy(std::string_view password, std::string_view username,
                                   std::string_view other_name) {
  return check("password", password, username, other_name);
}

Result<void> check_passphrase_policy(std::string_view passphrase, std::string_view box_name) {
  return check("passphrase", passphrase, {}, box_name);
}

}  // namespace samovar::security
