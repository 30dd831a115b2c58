// One JSON object, told member by member: each scalar with its path, and the value as the line has it.
//
// Not nlohmann's parser: that one makes a copy of every string and a double of every number, while a row
// wants views into its line and numbers as they were written.
//
// Threading: one scanner per thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace samovar::ingest {

enum class JsonKind : std::uint8_t { text, number, boolean, null, array };

class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // `value`: a text without its quotes and, if `escaped`, still with backslashes; an array whole, as written.
  virtual void member(std::string_view path, JsonKind kind, std::string_view value, bool escaped) = 0;
};

class JsonScanner {
 public:
  // False with a reason when the line is not one JSON object. Nested objects give paths "a.b".
  bool scan(std::string_view line, JsonVisitor& visitor, std::string& reason);

 private:
  bool object(unsigned depth);
  bool value(unsigned depth);
  bool skip_value(unsigned depth);
  bool string(std::string_view& out, bool& escaped);
  bool number(std::string_view& out);
  bool word(std::string_view text);
  void blanks();
  bool fail(std::string_view why);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string path_;
  JsonVisitor* visitor_ = nullptr;
  std::string* reason_ = nullptr;
};

// What the text between the quotes means; half a surrogate pair becomes U+FFFD.
std::string json_unescape(std::string_view text);

}  // namespace samovar::ingest
