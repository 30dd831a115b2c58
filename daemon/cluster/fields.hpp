// Named values, as commands and replies carry them: a CBOR object on the log, typed getters here.
// The JSON library stays in the .cpp.
//
// Getters name the field in their error, so that whoever made the command finds it.
//
// Threading: a value; one thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace samovar::cluster {

class Fields {
 public:
  Fields();
  Fields(const Fields& other);
  Fields(Fields&& other) noexcept;
  Fields& operator=(const Fields& other);
  Fields& operator=(Fields&& other) noexcept;
  ~Fields();

  // Errc::invalid: no CBOR object, too deep, or bytes behind it.
  static Result<Fields> decode(ByteView cbor);
  // The same from JSON text.
  static Result<Fields> parse(std::string_view text);
  Bytes encode() const;
  std::string to_json() const;            // one spelling: keys sorted
  bool has(std::string_view name) const;  // and not null
  std::vector<std::string> names() const;

  // Lengths are in bytes; text is UTF-8 without control characters.
  Result<std::string> text(std::string_view name, std::size_t bytes_max, std::size_t bytes_min = 0) const;
  Result<std::optional<std::string>> optional_text(std::string_view name, std::size_t bytes_max) const;
  Result<std::vector<std::string>> texts(std::string_view name, std::size_t count_max,
                                         std::size_t bytes_max) const;
  std::size_t items(std::string_view name) const;  // of a list; 0 when it is none
  Result<std::int64_t> number(std::string_view name, std::int64_t min, std::int64_t max) const;
  Result<std::optional<std::int64_t>> optional_number(std::string_view name) const;
  Result<bool> flag(std::string_view name) const;
  Result<std::optional<bool>> optional_flag(std::string_view name) const;
  Result<Bytes> bytes(std::string_view name, std::size_t size_min, std::size_t size_max) const;
  Result<WallTime> time(std::string_view name) const;
  Result<Fields> object(std::string_view name) const;
  Result<std::vector<Fields>> objects(std::string_view name, std::size_t count_max) const;

  Fields& set(std::string_view name, std::string_view value);
  Fields& set(std::string_view name, const char* value) { return set(name, std::string_view(value)); }
  Fields& set(std::string_view name, const std::string& value) { return set(name, std::string_view(value)); }
  Fields& set(std::string_view name, std::int64_t value);
  Fields& set(std::string_view name, std::uint64_t value) {
    return set(name, static_cast<std::int64_t>(value));
  }
  Fields& set(std::string_view name, bool value);
  Fields& set(std::string_view name, const Bytes& value);
  Fields& set(std::string_view name, WallTime value) { return set(name, value.time_since_epoch().count()); }
  Fields& set(std::string_view name, const std::vector<std::string>& value);
  Fields& set(std::string_view name, const Fields& value);
  Fields& set(std::string_view name, const std::vector<Fields>& value);
  template <class T>
  Fields& set(std::string_view name, const std::optional<T>& value) {
    return value ? set(name, *value) : *this;
  }

 private:
  explicit Fields(nlohmann::json json);
  const nlohmann::json* find(std::string_view name) const;

  std::unique_ptr<nlohmann::json> json_;  // always an object
};

// The one spelling of a JSON object given as text. Errc::invalid when it is none, or too deep or long.
Result<std::string> canonical_json_object(std::string_view text, std::size_t bytes_max);
// Cut to bytes_max, with '?' for what is no plain text: for input that is recorded, not judged.
std::string clean_text(std::string_view text, std::size_t bytes_max);
bool is_utf8_text(std::string_view text) noexcept;  // valid, and without control characters

}  // namespace samovar::cluster
