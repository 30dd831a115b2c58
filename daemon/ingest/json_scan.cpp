#include "daemon/ingest/json_scan.hpp"

namespace samovar::ingest {
namespace {

constexpr unsigned kDepthMax = 32;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint32_t hex4(std::string_view text, std::size_t at) noexcept {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < 4; ++i)
    code = code << 4 | (at + i < text.size() ? static_cast<std::uint32_t>(hex_digit(text[at + i]) & 15) : 0);
  return code;
}

void put(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

bool JsonScanner::scan(std::string_view line, JsonVisitor& visitor, std::string& reason) {
  text_ = line;
  at_ = 0;
  path_.clear();
  visitor_ = &visitor;
  reason_ = &reason;
  blanks();
  if (at_ == text_.size() || text_[at_] != '{') return fail("the line is no JSON object");
  if (!object(0)) return false;
  blanks();
  return at_ == text_.size() || fail("there is text behind the JSON object");
}

bool JsonScanner::fail(std::string_view why) {
  *reason_ = std::string(why) + " (character " + std::to_string(at_ + 1) + ")";
  return false;
}

void JsonScanner::blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
}

bool JsonScanner::object(unsigned depth) {
  if (depth == kDepthMax) return fail("objects are nested too deep");
  ++at_;
  blanks();
  if (at_ < text_.size() && text_[at_] == '}') return ++at_, true;
  const std::size_t path_size = path_.size();
  for (;;) {
    std::string_view key;
    bool escaped = false;
    blanks();
    if (!string(key, escaped)) return false;
    if (path_size > 0) path_ += '.';
    path_ += escaped ? json_unescape(key) : std::string(key);
    blanks();
    if (at_ == text_.size() || text_[at_] != ':') return fail("a colon is missing");
    ++at_;
    if (!value(depth)) return false;
    path_.resize(path_size);
    blanks();
    if (at_ == text_.size()) return fail("the object is not closed");
    const char next = text_[at_++];
    if (next == '}') return true;
    if (next != ',') return fail("a comma is missing");
  }
}

bool JsonScanner::value(unsigned depth) {
  blanks();
  if (at_ == text_.size()) return fail("a value is missing");
  const std::size_t begin = at_;
  std::string_view found;
  bool escaped = false;
  switch (text_[at_]) {
    case '"':
      if (!string(found, escaped)) return false;
      visitor_->member(path_, JsonKind::text, found, escaped);
      return true;
    case '{':
      return object(depth + 1);
    case '[':
      if (!skip_value(depth)) return false;
      visitor_->member(path_, JsonKind::array, text_.substr(begin, at_ - begin), false);
      return true;
    case 't':
    case 'f':
      if (!word(text_[at_] == 't' ? "true" : "false")) return false;
      visitor_->member(path_, JsonKind::boolean, text_.substr(begin, at_ - begin), false);
      return true;
    case 'n':
      if (!word("null")) return false;
      visitor_->member(path_, JsonKind::null, {}, false);
      return true;
    default:
      if (!number(found)) return false;
      visitor_->member(path_, JsonKind::number, found, false);
      return true;
  }
}

// Inside an array: checked, and told to nobody.
bool JsonScanner::skip_value(unsigned depth) {
  if (depth == kDepthMax) return fail("arrays are nested too deep");
  blanks();
  if (at_ == text_.size()) return fail("a value is missing");
  std::string_view found;
  bool escaped = false;
  const char first = text_[at_];
  if (first == '"') return string(found, escaped);
  if (first == 't') return word("true");
  if (first == 'f') return word("false");
  if (first == 'n') return word("null");
  if (first != '[' && first != '{') return number(found);
  const char close = first == '[' ? ']' : '}';
  ++at_;
  blanks();
  if (at_ < text_.size() && text_[at_] == close) return ++at_, true;
  for (;;) {
    if (first == '{') {
      blanks();
      if (!string(found, escaped)) return false;
      blanks();
      if (at_ == text_.size() || text_[at_++] != ':') return fail("a colon is missing");
    }
    if (!skip_value(depth + 1)) return false;
    blanks();
    if (at_ == text_.size()) return fail("a bracket is not closed");
    const char next = text_[at_++];
    if (next == close) return true;
    if (next != ',') return fail("a comma is missing");
  }
}

bool JsonScanner::string(std::string_view& out, bool& escaped) {
  if (at_ == text_.size() || text_[at_] != '"') return fail("a quotation mark is missing");
  const std::size_t begin = ++at_;
  escaped = false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      out = text_.substr(begin, at_ - begin);
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return fail("a control character inside a text");
    if (c == '\\') {
      escaped = true;
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (next == '\0' || std::string_view("\"\\/bfnrtu").find(next) == std::string_view::npos)
        return fail("an unknown escape inside a text");
      if (next == 'u') {
        for (std::size_t i = 2; i < 6; ++i)
          if (at_ + i >= text_.size() || hex_digit(text_[at_ + i]) < 0) return fail("\\u needs four digits");
        at_ += 4;
      }
      ++at_;
    }
    ++at_;
  }
  return fail("a quotation mark is not closed");
}

// -?digits[.digits][e±digits], RFC 8259 but for leading zeros.
bool JsonScanner::number(std::string_view& out) {
  const std::size_t begin = at_;
  const auto digits = [&] {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > first;
  };
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  if (!digits()) return fail("a value is no JSON");
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    if (!digits()) return fail("digits are missing behind the point");
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (!digits()) return fail("digits are missing in the exponent");
  }
  out = text_.substr(begin, at_ - begin);
  return true;
}

bool JsonScanner::word(std::string_view text) {
  if (text_.substr(at_, text.size()) != text) return fail("a value is no JSON");
  at_ += text.size();
  return true;
}

std::string json_unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        std::uint32_t code = hex4(text, i + 1);
        i += 4;
        if (code >= 0xd800 && code < 0xe000) {
          const bool pair =
              code < 0xdc00 && text.substr(i + 1 < text.size() ? i + 1 : text.size(), 2) == "\\u";
          const std::uint32_t low = pair ? hex4(text, i + 3) : 0;
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            i += 6;
          } else {
            code = 0xfffd;
          }
        }
        // The rest of the way promises no NUL in a cell.
        put(out, code == 0 ? 0xfffd : code);
        break;
      }
      default:
        out += text[i];
    }
  }
  return out;
}

}  // namespace samovar::ingest
