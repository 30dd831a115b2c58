#include "daemon/ingest/sensitive.hpp"

#include <algorithm>
#include <array>

#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

// The value without the signs that group it. False when it holds anything but those, digits and letters.
bool compact(std::string_view value, std::string_view groups, std::string& out) {
  out.clear();
  for (const char c : value) {
    if (is_digit(c) || is_letter(c))
      out += c;
    else if (groups.find(c) == groups.npos)
      return false;
  }
  return true;
}

bool all_digits(std::string_view text) noexcept { return std::all_of(text.begin(), text.end(), is_digit); }

// "Patient-Name", "patientName" and "PATIENT NAME" are the words patient, name.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = '\0';
  for (const char c : name) {
    const bool joins = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!joins || (is_upper(c) && is_letter(before) && !is_upper(before))) {
      if (!words.back().empty()) words.emplace_back();
    }
    if (joins) words.back() += lower(c);
    before = c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

struct NameRule {
  std::string_view words;  // all of them, one after the other
  std::string_view what;
};
constexpr NameRule kNameRules[] = {
    {"ssn", "a social security number"},
    {"social security", "a social security number"},
    {"ahv", "a social security number"},
    {"avs", "a social security number"},
    {"nin", "a national identity number"},
    {"nino", "a national identity number"},
    {"national id", "a national identity number"},
    {"passport", "a passport number"},
    {"mrn", "a medical record number"},
    {"medical record", "a medical record number"},
    {"patient id", "a patient's number"},
    {"patient nr", "a patient's number"},
    {"patient no", "a patient's number"},
    {"patient number", "a patient's number"},
    {"patientid", "a patient's number"},
    {"insurance number", "an insurance number"},
    {"policy holder", "a person's name"},
    {"first name", "a person's name"},
    {"firstname", "a person's name"},
    {"given name", "a person's name"},
    {"last name", "a person's name"},
    {"lastname", "a person's name"},
    {"family name", "a person's name"},
    {"full name", "a person's name"},
    {"fullname", "a person's name"},
    {"maiden name", "a person's name"},
    {"surname", "a person's name"},
    {"patient name", "a person's name"},
    {"customer name", "a person's name"},
    {"client name", "a person's name"},
    {"employee name", "a person's name"},
    {"doctor name", "a person's name"},
    {"physician name", "a person's name"},
    {"vorname", "a person's name"},
    {"nachname", "a person's name"},
    {"familienname", "a person's name"},
    {"prenom", "a person's name"},
    {"birth", "a date of birth"},
    {"birthdate", "a date of birth"},
    {"birthday", "a date of birth"},
    {"dob", "a date of birth"},
    {"geburtsdatum", "a date of birth"},
    {"email", "an e-mail address"},
    {"e mail", "an e-mail address"},
    {"phone", "a telephone number"},
    {"telephone", "a telephone number"},
    {"mobile number", "a telephone number"},
    {"street", "an address"},
    {"address", "an address"},
    {"home address", "an address"},
    {"adresse", "an address"},
    {"iban", "a bank account"},
    {"account number", "a bank account"},
    {"credit card", "a card number"},
    {"card number", "a card number"},
    {"ip address", "an IP address"},
    {"license plate", "a number plate"},
};

// Names that hold such a word and mean something else: "birth_weight", "phone_calls", "Telephone" yes/no.
constexpr std::string_view kHarmless[] = {"weight", "rate", "order", "country", "place", "calls",  "count",
                                          "type",   "hash", "year",  "month",   "plan",  "length", "service"};

std::string reason_by_name(std::string_view name) {
  const auto words = words_of(name);
  for (const auto& word : words)
    if (std::find(std::begin(kHarmless), std::end(kHarmless), word) != std::end(kHarmless)) return {};
  for (const auto& rule : kNameRules) {
    const auto wanted = words_of(rule.words);
    if (std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end())
      return "its name suggests " + std::string(rule.what);
  }
  return {};
}

// Numbers that only tell yes from no or hold a handful of levels identify nobody, whatever the name says.
bool few_levels(const std::vector<std::string_view>& values) {
  constexpr std::size_t kLooked = 1000;
  constexpr std::size_t kFew = 5;
  if (values.size() < 4 * kFew) return false;
  std::vector<std::string_view> seen;
  for (std::size_t i = 0; i < std::min(values.size(), kLooked); ++i) {
    if (std::find(seen.begin(), seen.end(), values[i]) == seen.end()) seen.push_back(values[i]);
    if (seen.size() > kFew) return false;
  }
  return true;
}

// French NIR: 13 digits and a key of 97 minus their remainder.
bool is_nir(std::string_view digits) noexcept {
  if (digits.size() != 15 || (digits[0] != '1' && digits[0] != '2')) return false;
  std::uint64_t number = 0;
  for (const char c : digits.substr(0, 13)) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  const auto key = static_cast<std::uint64_t>((digits[13] - '0') * 10 + (digits[14] - '0'));
  return 97 - number % 97 == key;
}

bool is_ahv(std::string_view digits) noexcept {
  if (digits.size() != 13 || digits.substr(0, 3) != "756") return false;
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (digits[i] - '0') * (i % 2 == 0 ? 1 : 3);
  return (10 - sum % 10) % 10 == digits[12] - '0';
}

}  // namespace

bool is_email(std::string_view value) noexcept {
  const std::size_t at = value.find('@');
  if (at == value.npos || at == 0 || value.find('@', at + 1) != value.npos) return false;
  const std::size_t dot = value.rfind('.');
  if (dot == value.npos || dot < at + 2 || dot + 2 >= value.size()) return false;
  return value.find_first_of(" \t,;<>\"") == value.npos;
}

bool is_phone(std::string_view value) noexcept {
  std::size_t digits = 0;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (is_digit(c))
      ++digits;
    else if (c == '+' && i == 0)
      groups += 2;
    else if (c == ' ' || c == '-' || c == '/' || c == '(' || c == ')' || c == '.')
      ++groups;
    else
      return false;
  }
  // With one sign only it may be a date, a range or a number with a fraction.
  return digits >= 7 && digits <= 15 && groups >= 2 &&
         (value[0] == '+' || value[0] == '0' || value[0] == '(' || digits >= 10);
}

bool is_iban(std::string_view value) noexcept {
  std::string text;
  if (value.size() < 15 || value.size() > 42 || !compact(value, " ", text)) return false;
  if (text.size() < 15 || text.size() > 34 || !is_letter(text[0]) || !is_letter(text[1]) ||
      !is_digit(text[2]) || !is_digit(text[3]))
    return false;
  std::rotate(text.begin(), text.begin() + 4, text.end());
  unsigned remainder = 0;
  for (const char c : text) {
    const auto number = static_cast<unsigned>(is_digit(c) ? c - '0' : lower(c) - 'a' + 10);
    remainder = (remainder * (number > 9 ? 100 : 10) + number) % 97;
  }
  return remainder == 1;
}

bool is_card_number(std::string_view value) noexcept {
  std::string digits;
  if (value.size() < 13 || value.size() > 23 || !compact(value, " -", digits)) return false;
  if (digits.size() < 13 || digits.size() > 19 || !all_digits(digits)) return false;
  if (digits[0] < '2' || digits[0] > '6') return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

bool is_national_id(std::string_view value) noexcept {
  // US: 078-05-1120
  if (value.size() == 11 && value[3] == '-' && value[6] == '-' && all_digits(value.substr(0, 3)) &&
      all_digits(value.substr(4, 2)) && all_digits(value.substr(7)))
    return value.substr(0, 3) != "000" && value.substr(0, 3) != "666" && value[0] != '9';
  std::string text;
  if (value.size() > 24 || !compact(value, ". -", text)) return false;
  if (all_digits(text)) return is_ahv(text) || is_nir(text);
  // UK: AB 12 34 56 C
  return text.size() == 9 && is_upper(text[0]) && is_upper(text[1]) &&
         all_digits(std::string_view(text).substr(2, 6)) && text[8] >= 'A' && text[8] <= 'D';
}

bool is_ip_address(std::string_view value) noexcept {
  int parts = 0;
  int number = -1;
  for (const char c : value) {
    if (is_digit(c)) {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
      if (number > 255) return false;
    } else if (c == '.' && number >= 0) {
      ++parts;
      number = -1;
    } else {
      return false;
    }
  }
  return parts == 3 && number >= 0;
}

std::string sensitive_reason(std::string_view name, const std::vector<std::string_view>& values) {
  struct Pattern {
    bool (*matches)(std::string_view) noexcept;
    std::string_view what;
    unsigned percent;  // of the values
  };
  // One number in ten passes Luhn by chance: nearly all must.
  constexpr std::array<Pattern, 6> kPatterns{{{is_email, "e-mail addresses", 50},
                                              {is_iban, "bank accounts (IBAN)", 50},
                                              {is_national_id, "national identity numbers", 60},
                                              {is_card_number, "card numbers", 90},
                                              {is_ip_address, "IP addresses", 80},
                                              {is_phone, "telephone numbers", 80}}};
  constexpr std::size_t kLooked = 2000;
  const std::size_t looked = std::min(values.size(), kLooked);
  for (const auto& pattern : kPatterns) {
    if (looked == 0) break;
    const auto count = static_cast<std::size_t>(
        std::count_if(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(looked), pattern.matches));
    if (count > 0 && count * 100 >= looked * pattern.percent)
      return "looks like " + std::string(pattern.what);
  }
  std::string reason = reason_by_name(name);
  if (!reason.empty() && few_levels(values)) return {};
  return reason;
}

std::string mask(std::string_view value) {
  constexpr std::size_t kShownMax = 16;
  std::string out;
  std::size_t shown = 0;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) continue;  // inside a character
    if (++shown > kShownMax) return out + "\u2026";
    const bool hidden = is_digit(c) || is_letter(c) || byte >= 0x80;
    if (hidden)
      out += "\u2022";
    else
      out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

}  // namespace samovar::ingest
