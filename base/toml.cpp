#include "base/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/utf8.hpp"

namespace samovar {
namespace {

constexpr std::size_t kListMax = 1000;
constexpr std::size_t kSectionDepthMax = 8;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  std::variant<std::vector<TomlEntry>, TomlFault> parse() {
    check_characters();
    while (fault_.text.empty() && !text_.empty()) {
      skip_spaces();
      if (at('[')) {
        parse_section();
      } else if (!text_.empty() && text_[0] != '#' && text_[0] != '\n' && text_[0] != '\r') {
        parse_entry();
      }
      if (fault_.text.empty()) end_line();
    }
    if (!fault_.text.empty()) return fault_;
    return std::move(entries_);
  }

 private:
  bool at(char c) const { return !text_.empty() && text_[0] == c; }
  void fail(std::string text) {
    if (fault_.text.empty()) fault_ = {line_, std::move(text)};
  }
  bool failed() const { return !fault_.text.empty(); }

  // Whatever stands where: a file of settings is readable text.
  void check_characters() {
    const auto control = [](unsigned char c) {
      return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    };
    const auto* bad = std::find_if(text_.begin(), text_.end(), control);
    std::size_t good = static_cast<std::size_t>(bad - text_.begin());
    const char* what = "a control character, as if it were no text file";
    if (bad == text_.end()) {
      if (is_utf8(text_)) return;
      what = "letters that are not UTF-8: save the file as UTF-8";
      // The first line that is not.
      good = 0;
      for (std::size_t end = text_.find('\n');
           end != std::string_view::npos && is_utf8(text_.substr(good, end - good));
           end = text_.find('\n', good))
        good = end + 1;
    }
    line_ += static_cast<std::size_t>(
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(good), '\n'));
    fail(what);
  }

  void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }

  // Spaces, a comment and the end of the line.
  void end_line() {
    skip_spaces();
    if (at('#')) text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
    if (text_.starts_with("\r\n")) text_.remove_prefix(1);
    if (text_.empty()) return;
    if (text_[0] != '\n') return fail(fmt::format("nothing may follow here, but {} does", here()));
    text_.remove_prefix(1);
    ++line_;
  }

  // What stands here, short enough for a message.
  std::string here() const {
    const std::string_view rest = text_.substr(0, text_.find_first_of("\r\n"));
    if (rest.empty()) return "the end of the line";
    std::size_t size = std::min<std::size_t>(rest.size(), 20);
    while (size < rest.size() && (static_cast<unsigned char>(rest[size]) & 0xC0) == 0x80) --size;
    return fmt::format("'{}{}'", rest.substr(0, size), size < rest.size() ? "…" : "");
  }

  std::string parse_name(const char* what) {
    if (at('"') || at('\'')) return parse_text();
    const auto* end = std::find_if_not(text_.begin(), text_.end(), is_bare);
    std::string name(text_.begin(), end);
    if (name.empty()) fail(fmt::format("{} is expected, not {}", what, here()));
    text_.remove_prefix(name.size());
    return name;
  }

  void parse_section() {
    text_.remove_prefix(1);
    if (at('[')) return fail("lists of sections, [[ ]], are not used here");
    section_.clear();
    for (;;) {
      skip_spaces();
      section_.push_back(parse_name("the name of a section"));
      if (section_.size() > kSectionDepthMax) fail("too many dots in the name of a section");
      skip_spaces();
      if (failed() || !at('.')) break;
      text_.remove_prefix(1);
    }
    if (!failed() && !at(']')) fail(fmt::format("a ']' is expected, not {}", here()));
    if (failed()) return;
    text_.remove_prefix(1);
    if (!sections_.insert(section_).second) fail("this section is in the file twice");
  }

  void parse_entry() {
    TomlEntry entry;
    entry.section = section_;
    entry.line = line_;
    entry.name = parse_name("the name of a setting");
    skip_spaces();
    if (!failed() && !at('='))
      fail(fmt::format("a '=' is expected after {}, not {}", entry.name.substr(0, 80), here()));
    if (failed()) return;
    text_.remove_prefix(1);
    skip_spaces();
    entry.value = parse_value();
    if (failed()) return;
    if (!names_.emplace(section_, entry.name).second)
      return fail(fmt::format("{} is set twice", entry.name.substr(0, 80)));
    entries_.push_back(std::move(entry));
  }

  TomlEntry::Value parse_value() {
    if (at('"') || at('\'')) return parse_text();
    if (at('[')) return parse_list();
    const std::string_view word = text_.substr(0, text_.find_first_of(" \t\r\n#,]"));
    if (word == "true" || word == "false") {
      text_.remove_prefix(word.size());
      return word == "true";
    }
    return parse_number(word);
  }

  TomlEntry::Value parse_number(std::string_view word) {
    std::string digits(word.substr(word.starts_with('+') ? 1 : 0));
    const bool is_number = !digits.empty() && digits != "-" &&
                           std::all_of(digits.begin() + (digits[0] == '-' ? 1 : 0), digits.end(),
                                       [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number) {
      fail(fmt::format("a text in quotes, a whole number, true, false or a [list] is expected, not {}",
                       here()));
      return false;
    }
    std::int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{})
      fail("this number is too large");
    text_.remove_prefix(word.size());
    return value;
  }

  std::vector<std::string> parse_list() {
    std::vector<std::string> list;
    const std::size_t began = line_;
    text_.remove_prefix(1);
    for (;;) {
      skip_lines();
      if (at(']')) break;
      if (text_.empty()) {
        line_ = began;
        fail("this list has no ']' at its end");
      } else if (!at('"') && !at('\'')) {
        fail(fmt::format("a text in quotes or a ']' is expected in the list, not {}", here()));
      } else {
        list.push_back(parse_text());
        if (list.size() > kListMax) fail("this list is too long");
      }
      skip_lines();
      if (!failed() && at(',')) {
        text_.remove_prefix(1);
      } else if (!failed() && !at(']') && !text_.empty()) {
        fail(fmt::format("a ',' or a ']' is expected in the list, not {}", here()));
      }
      if (failed()) return list;
    }
    text_.remove_prefix(1);
    return list;
  }

  void skip_lines() {
    for (;;) {
      skip_spaces();
      if (at('#')) text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      if (text_.starts_with("\r\n")) text_.remove_prefix(1);
      if (!at('\n')) return;
      text_.remove_prefix(1);
      ++line_;
    }
  }

  std::string parse_text() {
    const char quote = text_[0];
    if (text_.starts_with(std::string(3, quote))) {
      fail("a text over several lines: write it in one");
      return {};
    }
    text_.remove_prefix(1);
    std::string out;
    while (!failed()) {
      if (text_.empty() || text_[0] == '\n' || text_[0] == '\r') {
        fail("a quote that does not end on its line");
        break;
      }
      const char c = text_[0];
      text_.remove_prefix(1);
      if (c == quote) break;
      if (c == '\\' && quote == '"') {
        parse_escape(out);
      } else {
        out.push_back(c);
      }
    }
    return out;
  }

  void parse_escape(std::string& out) {
    constexpr std::string_view kLetters = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    const char c = text_.empty() ? '\0' : text_[0];
    if (const std::size_t found = kLetters.find(c); c != '\0' && found != std::string_view::npos) {
      text_.remove_prefix(1);
      out.push_back(kMeanings[found]);
      return;
    }
    const std::size_t size = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const std::string_view digits = size > 0 ? text_.substr(1, size) : std::string_view{};
    std::uint32_t code = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    const bool whole =
        size > 0 && digits.size() == size && read.ec == std::errc{} && read.ptr == digits.data() + size;
    if (!whole || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return fail("a backslash that means nothing here: write \\\\ for one, or the text in 'single quotes'");
    text_.remove_prefix(1 + size);
    append_utf8(out, code);
  }

  std::string_view text_;
  std::size_t line_ = 1;
  TomlFault fault_;
  std::vector<std::string> section_;
  std::vector<TomlEntry> entries_;
  std::set<std::vector<std::string>> sections_;
  std::set<std::pair<std::vector<std::string>, std::string>> names_;
};

}  // namespace

std::variant<std::vector<TomlEntry>, TomlFault> parse_toml(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace samovar
