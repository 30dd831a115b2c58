#include "daemon/ingest/options.hpp"

#include <array>

#include "base/json.hpp"
#include "daemon/ingest/options_json.hpp"

namespace samovar::ingest {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kFormats{"csv", "libsvm", "arff", "jsonl", "pairs"};
constexpr std::array<std::string_view, 5> kCompressions{"none", "gzip", "zstd", "xz", "zip"};
constexpr std::array<std::string_view, 5> kEncodings{"utf8", "latin1", "utf16le", "utf16be", "idx"};
constexpr std::size_t kMissingTokensMax = 64;
constexpr std::size_t kMissingTokenBytesMax = 64;

Error wrong(std::string_view member, std::string_view may_be) {
  return Error{Errc::invalid, std::string(member) + ": " + std::string(may_be)};
}

template <class Enum, std::size_t n>
Result<Enum> word_of(const json& value, std::string_view member,
                     const std::array<std::string_view, n>& words) {
  std::string may_be = "one of";
  for (std::size_t i = 0; i < n; ++i) {
    if (value.is_string() && value.get_ref<const std::string&>() == words[i]) return static_cast<Enum>(i);
    may_be += (i == 0 ? " " : ", ") + std::string(words[i]);
  }
  return wrong(member, may_be);
}

}  // namespace

std::string_view to_string(Format format) noexcept { return kFormats[static_cast<std::size_t>(format)]; }
std::string_view to_string(Compression compression) noexcept {
  return kCompressions[static_cast<std::size_t>(compression)];
}
std::string_view to_string(Encoding encoding) noexcept {
  return kEncodings[static_cast<std::size_t>(encoding)];
}

std::string_view to_string(DateOrder order) noexcept {
  return order == DateOrder::day_first ? "day_first" : "month_first";
}

Result<Format> format_member(const json& value) { return word_of<Format>(value, "format", kFormats); }
Result<Encoding> encoding_member(const json& value) {
  return word_of<Encoding>(value, "encoding", kEncodings);
}

Result<char> delimiter_member(const json& value) {
  constexpr std::string_view may_be =
      "a single sign that separates the columns, or one of comma, semicolon, tab, pipe, space";
  if (!value.is_string()) return wrong("delimiter", may_be);
  const auto& text = value.get_ref<const std::string&>();
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "comma") return ',';
  if (text == "semicolon") return ';';
  if (text == "pipe") return '|';
  if (text == "space") return ' ';
  if (text.size() != 1) return wrong("delimiter", may_be);
  const char sign = text[0];
  // A letter, a digit or what numbers are written with would cut the values themselves.
  const bool letter = (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
  const bool digit = sign >= '0' && sign <= '9';
  const bool plain = sign == '\t' || sign == '\x01' || (sign >= ' ' && sign <= '~');
  if (letter || digit || !plain || std::string_view("\"'.+-\\").find(sign) != std::string_view::npos)
    return wrong("delimiter", may_be);
  return sign;
}

Result<bool> flag_member(const json& value, std::string_view member) {
  if (!value.is_boolean()) return wrong(member, "true or false");
  return value.get<bool>();
}

Result<char> decimal_member(const json& value) {
  if (value.is_string() && value.get_ref<const std::string&>() == ".") return '.';
  if (value.is_string() && value.get_ref<const std::string&>() == ",") return ',';
  return wrong("decimal", "\".\" or \",\"");
}

Result<DateOrder> date_order_member(const json& value) {
  if (value.is_string() && value.get_ref<const std::string&>() == "day_first") return DateOrder::day_first;
  if (value.is_string() && value.get_ref<const std::string&>() == "month_first")
    return DateOrder::month_first;
  return wrong("date_order", "day_first or month_first");
}

Result<std::uint64_t> skip_lines_member(const json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kSkipLinesMax)
    return wrong("skip_lines", "a whole number from 0 to " + std::to_string(kSkipLinesMax));
  return value.get<std::uint64_t>();
}

Result<std::vector<std::string>> missing_member(const json& value) {
  const auto may_be = "a list of up to 64 texts of up to 64 bytes";
  if (!value.is_array() || value.size() > kMissingTokensMax) return wrong("missing", may_be);
  std::vector<std::string> tokens;
  for (const auto& token : value) {
    if (!token.is_string() || token.get_ref<const std::string&>().size() > kMissingTokenBytesMax)
      return wrong("missing", may_be);
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

static Result<std::vector<std::string>> fields_of(const json& value) {
  constexpr std::size_t kFieldBytesMax = 1024;
  const auto may_be = "a list of texts, one a column";
  if (!value.is_array() || value.size() > trainer::kColumnsMax) return wrong("fields", may_be);
  std::vector<std::string> fields;
  for (const auto& field : value) {
    if (!field.is_string() || field.get_ref<const std::string&>().size() > kFieldBytesMax)
      return wrong("fields", may_be);
    fields.push_back(field.get<std::string>());
  }
  return fields;
}

json to_json(const ParseOptions& options) {
  json out{{"format", to_string(options.format)},
           {"compression", to_string(options.compression)},
           {"encoding", to_string(options.encoding)},
           {"delimiter", std::string(1, options.delimiter)},
           {"quote", nullptr},
           {"header", options.header},
           {"decimal", std::string(1, options.decimal)},
           {"thousands", options.thousands},
           {"date_order", to_string(options.date_order)},
           {"missing", options.missing},
           {"skip_lines", options.skip_lines},
           {"fields", options.fields}};
  if (options.quote) out["quote"] = std::string(1, *options.quote);
  return out;
}

Result<ParseOptions> parse_options(const json& value, ParseOptions base) {
  if (!value.is_object()) return wrong("options", "an object");
  for (const auto& [name, member] : value.items()) {
    if (name == "format") {
      SAMOVAR_TRY(base.format, format_member(member));
    } else if (name == "compression") {
      SAMOVAR_TRY(base.compression, word_of<Compression>(member, "compression", kCompressions));
    } else if (name == "encoding") {
      SAMOVAR_TRY(base.encoding, encoding_member(member));
    } else if (name == "delimiter") {
      SAMOVAR_TRY(base.delimiter, delimiter_member(member));
    } else if (name == "quote") {
      if (member.is_null()) {
        base.quote.reset();
      } else if (member.is_string() && (member.get_ref<const std::string&>() == "\"" ||
                                        member.get_ref<const std::string&>() == "'")) {
        base.quote = member.get_ref<const std::string&>()[0];
      } else {
        return wrong("quote", "a double or a single quotation mark, or null");
      }
    } else if (name == "header") {
      SAMOVAR_TRY(base.header, flag_member(member, name));
    } else if (name == "decimal") {
      SAMOVAR_TRY(base.decimal, decimal_member(member));
    } else if (name == "thousands") {
      SAMOVAR_TRY(base.thousands, flag_member(member, name));
    } else if (name == "date_order") {
      SAMOVAR_TRY(base.date_order, date_order_member(member));
    } else if (name == "missing") {
      SAMOVAR_TRY(base.missing, missing_member(member));
    } else if (name == "skip_lines") {
      SAMOVAR_TRY(base.skip_lines, skip_lines_member(member));
    } else if (name == "fields") {
      SAMOVAR_TRY(base.fields, fields_of(member));
    } else {
      return wrong(name, "not known as an option");
    }
  }
  return base;
}

}  // namespace samovar::ingest
