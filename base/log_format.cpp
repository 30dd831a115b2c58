#include "base/log_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/ids.hpp"

namespace samovar::log {
namespace {

constexpr char32_t kInvalid = 0xffffffff;

// Takes one code point off the front, or one byte that is not UTF-8 (kInvalid).
char32_t take_code_point(std::string_view& text, std::string_view& raw) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 1;
  char32_t point = first;
  char32_t smallest = 0;
  if (first >= 0x80) {
    if (first >= 0xc2 && first <= 0xdf) {
      length = 2, point = first & 0x1fU, smallest = 0x80;
    } else if ((first & 0xf0U) == 0xe0) {
      length = 3, point = first & 0x0fU, smallest = 0x800;
    } else if (first >= 0xf0 && first <= 0xf4) {
      length = 4, point = first & 0x07U, smallest = 0x10000;
    } else {
      point = kInvalid;
    }
    for (std::size_t i = 1; i < length; ++i) {
      if (i >= text.size() || (byte(i) & 0xc0U) != 0x80) {
        point = kInvalid;
        break;
      }
      point = point << 6 | (byte(i) & 0x3fU);
    }
    if (point < smallest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) point = kInvalid;
    if (point == kInvalid) length = 1;
  }
  raw = text.substr(0, length);
  text.remove_prefix(length);
  return point;
}

// Control characters, line separators and the marks that reorder text on a screen.
bool unprintable(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x2028 || point == 0x2029 ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e ||
         point == 0x200f || point == 0xfeff;
}

void escape_text(std::string& out, std::string_view text, bool quotes) {
  std::string_view raw;
  while (!text.empty()) {
    const char32_t point = take_code_point(text, raw);
    if (point == '\n') {
      out += "\\n";
    } else if (point == '\\' || (point == '"' && quotes)) {
      out += '\\';
      out += raw;
    } else if (point == kInvalid || (point < 0x100 && unprintable(point))) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                     point == kInvalid ? static_cast<unsigned char>(raw[0]) : static_cast<unsigned>(point));
    } else if (unprintable(point)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(point));
    } else {
      out += raw;
    }
  }
}

void json_string(std::string& out, std::string_view text) {
  out += '"';
  std::string_view raw;
  while (!text.empty()) {
    const char32_t point = take_code_point(text, raw);
    if (point == kInvalid) {
      out += "\\ufffd";
    } else if (point == '"' || point == '\\') {
      out += '\\';
      out += raw;
    } else if (unprintable(point)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(point));
    } else {
      out += raw;
    }
  }
  out += '"';
}

bool plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/@+,%").find(c) != std::string_view::npos;
  });
}

// std::to_string writes "nan" and "inf", which JSON does not know.
bool json_literal(const Field& field) {
  if (field.quoted || field.value.empty()) return false;
  if (field.value == "true" || field.value == "false") return true;
  return std::isfinite(std::strtod(field.value.c_str(), nullptr));
}

int priority(Level level) {
  switch (level) {
    case Level::debug:
      return 7;
    case Level::info:
      return 6;
    case Level::warn:
      return 4;
    case Level::error:
      return 3;
  }
  return 6;
}

// journald takes A-Z, 0-9 and _ in a field's name.
std::string journal_key(std::string_view key) {
  std::string out = "SAMOVAR_";
  for (const char c : key.substr(0, 48)) {
    if (c >= 'a' && c <= 'z') {
      out += static_cast<char>(c - 'a' + 'A');
    } else {
      out += (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }
  }
  return out;
}

void message_and_fields(std::string& out, const Record& record) {
  escape_text(out, record.message, false);
  for (const Field& field : record.fields) {
    out += ' ';
    escape_text(out, field.key, false);
    out += '=';
    if (plain(field.value)) {
      out += field.value;
    } else {
      out += '"';
      escape_text(out, field.value, true);
      out += '"';
    }
  }
}

}  // namespace

std::string format_text(const Record& record) {
  std::string out = fmt::format("{} {:<5} {}: ", format_time(record.time), to_string(record.level),
                                to_string(record.category));
  message_and_fields(out, record);
  if (record.level != Level::info)
    fmt::format_to(std::back_inserter(out), " ({}:{})", record.file, record.line);
  return out;
}

std::string format_json(const Record& record) {
  std::string out =
      fmt::format(R"({{"time":"{}","level":"{}","category":"{}","message":)", format_time(record.time),
                  to_string(record.level), to_string(record.category));
  json_string(out, record.message);
  out += ",\"file\":";
  json_string(out, record.file);
  fmt::format_to(std::back_inserter(out), ",\"line\":{},\"fields\":{{", record.line);
  bool first = true;
  for (const Field& field : record.fields) {
    if (!std::exchange(first, false)) out += ',';
    json_string(out, field.key);
    out += ':';
    if (json_literal(field)) {
      out += field.value;
    } else {
      json_string(out, field.value);
    }
  }
  out += "}}";
  return out;
}

std::vector<std::string> format_journal(const Record& record) {
  std::vector<std::string> out;
  out.reserve(record.fields.size() + 5);
  std::string& message = out.emplace_back("MESSAGE=");
  message_and_fields(message, record);  // people read only MESSAGE
  out.push_back(fmt::format("PRIORITY={}", priority(record.level)));
  out.push_back(fmt::format("SAMOVAR_CATEGORY={}", to_string(record.category)));
  out.push_back(fmt::format("CODE_FILE={}", record.file));
  out.push_back(fmt::format("CODE_LINE={}", record.line));
  for (const Field& field : record.fields) out.push_back(journal_key(field.key) + '=' + field.value);
  return out;
}

}  // namespace samovar::log
