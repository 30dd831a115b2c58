#include "trainer/features/words.hpp"

namespace samovar::trainer {

namespace {

// One character off the front. What is no UTF-8 is taken byte by byte as separators.
char32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const unsigned size = lead < 0x80                   ? 1
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                        : lead >= 0xe0                ? 3
                        : lead >= 0xc2                ? 2
                                                      : 0;
  if (lead >= 0xf5 || size == 0 || text.size() < size) {
    text.remove_prefix(1);
    return 0;
  }
  char32_t code = size == 1 ? lead : lead & (0x7f >> size);
  for (unsigned i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      text.remove_prefix(1);
      return 0;
    }
    code = code << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(size);
  return code;
}

void put(std::string& out, char32_t code) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f)), add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

// The alphabets whose capitals lie at a fixed distance. A fixed table of ours, not the library's: a model
// must read the same words on every machine.
char32_t lower(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c < 0xc0) return c;
  if (c <= 0xde && c != 0xd7) return c + 32;
  if (c >= 0x100 && c <= 0x137) return c | 1;
  if (c >= 0x139 && c <= 0x148) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x14a && c <= 0x177) return c | 1;
  if (c == 0x178) return 0xff;
  if (c >= 0x179 && c <= 0x17e) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3ab && c != 0x3a2) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x460 && c <= 0x481) return c | 1;
  return c;
}

bool in_word(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  if (c < 0xc0) return c == 0xaa || c == 0xb5 || c == 0xba;
  if (c == 0xd7 || c == 0xf7) return false;
  // General punctuation to dingbats, and the marks of East Asia.
  return !(c >= 0x2000 && c <= 0x2bff) && !(c >= 0x3000 && c <= 0x303f) && !(c >= 0xff00 && c <= 0xff0f) &&
         !(c >= 0xfe00 && c <= 0xfe6f) && c != 0xfeff && c != 0xfffd;
}

bool stands_alone(char32_t c) {
  return (c >= 0x3040 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
         c >= 0x1f000;
}

}  // namespace

std::string_view Words::next() {
  word_.clear();
  if (count_ == kWordsMax) return {};
  while (!left_.empty()) {
    const std::string_view before = left_;
    const char32_t code = take(left_);
    if (!in_word(code)) {
      if (word_.empty()) continue;
      break;
    }
    if (stands_alone(code)) {
      if (!word_.empty()) {
        left_ = before;
        break;
      }
      put(word_, code);
      break;
    }
    if (word_.size() + 4 <= kWordBytesMax) put(word_, lower(code));
  }
  if (!word_.empty()) ++count_;
  return word_;
}

}  // namespace samovar::trainer
