#include "daemon/cluster/fields.hpp"
#include "base/json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <utility>

namespace samovar::cluster {
namespace {

using nlohmann::json;
constexpr std::size_t kDepthMax = 16;

// Stops a parser that recurses: input decides how deep it would go.
class DepthGuard : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDepthMax; }
  bool key(json::string_t&) override { return true; }
  bool end_object() override { return depth_-- > 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kDepthMax; }
  bool end_array() override { return depth_-- > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::size_t depth_ = 0;
};

Error wrong(std::string_view name, std::string_view why) {
  return Error{Errc::invalid, fmt::format("{}: {}", name, why)};
}

// Length of the UTF-8 sequence at `at`, 0 when it is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  if (length < 3) return length;
  const unsigned char second = byte(at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool outside = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

Result<std::string> checked_text(const json& value, std::string_view name, std::size_t min, std::size_t max) {
  if (!value.is_string()) return wrong(name, "must be text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() < min || text.size() > max)
    return wrong(name, fmt::format("must have {} to {} bytes", min, max));
  if (!is_utf8_text(text)) return wrong(name, "must be plain text without control characters");
  return text;
}

}  // namespace

bool is_utf8_text(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    const auto lead = static_cast<unsigned char>(text[at]);
    if (length == 1 && (lead < 0x20 || lead == 0x7f)) return false;
    at += length;
  }
  return true;
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
    if (out.size() + length > bytes_max) break;
    const std::string_view part = text.substr(at, length);
    out += is_utf8_text(part) ? part : "?";
    at += length;
  }
  return out;
}

Fields::Fields() : json_(std::make_unique<json>(json::object())) {}
Fields::Fields(json value) : json_(std::make_unique<json>(std::move(value))) {}
Fields::Fields(const Fields& other) : json_(std::make_unique<json>(*other.json_)) {}
Fields::Fields(Fields&& other) noexcept = default;
Fields& Fields::operator=(const Fields& other) {
  *this = Fields(other);
  return *this;
}
Fields& Fields::operator=(Fields&& other) noexcept = default;
Fields::~Fields() = default;

Result<Fields> Fields::decode(ByteView cbor) {
  DepthGuard guard;
  if (!json::sax_parse(cbor.begin(), cbor.end(), &guard, json::input_format_t::cbor))
    return Error{Errc::invalid, "not an object in CBOR"};
  json value = json::from_cbor(cbor.begin(), cbor.end(), true, false);
  if (!value.is_object()) return Error{Errc::invalid, "not an object in CBOR"};
  return Fields(std::move(value));
}

Bytes Fields::encode() const { return json::to_cbor(*json_); }
std::string Fields::to_json() const { return json_->dump(-1, ' ', false, json::error_handler_t::replace); }

const json* Fields::find(std::string_view name) const {
  const auto found = json_->find(name);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

bool Fields::has(std::string_view name) const { return find(name) != nullptr; }

std::vector<std::string> Fields::names() const {
  std::vector<std::string> names;
  for (const auto& item : json_->items()) names.push_back(item.key());
  return names;
}

Result<std::string> Fields::text(std::string_view name, std::size_t bytes_max, std::size_t bytes_min) const {
  const json* value = find(name);
  if (value == nullptr) return wrong(name, "is missing");
  return checked_text(*value, name, bytes_min, bytes_max);
}

Result<std::optional<std::string>> Fields::optional_text(std::string_view name, std::size_t bytes_max) const {
  if (!has(name)) return std::optional<std::string>();
  SAMOVAR_TRY(std::string value, text(name, bytes_max));
  return std::optional<std::string>(std::move(value));
}

Result<std::vector<std::string>> Fields::texts(std::string_view name, std::size_t count_max,
                                               std::size_t bytes_max) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_array()) return wrong(name, "must be a list");
  if (value->size() > count_max) return wrong(name, fmt::format("must have at most {} items", count_max));
  std::vector<std::string> out;
  for (const json& item : *value) {
    SAMOVAR_TRY(std::string one, checked_text(item, name, 1, bytes_max));
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::int64_t> Fields::number(std::string_view name, std::int64_t min, std::int64_t max) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_number_integer()) return wrong(name, "must be a whole number");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return wrong(name, "is too large");
  const auto number = value->get<std::int64_t>();
  if (number < min || number > max) return wrong(name, fmt::format("must be {} to {}", min, max));
  return number;
}

Result<std::optional<std::int64_t>> Fields::optional_number(std::string_view name) const {
  if (!has(name)) return std::optional<std::int64_t>();
  SAMOVAR_TRY(const std::int64_t value, number(name, INT64_MIN, INT64_MAX));
  return std::optional<std::int64_t>(value);
}

Result<bool> Fields::flag(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_boolean()) return wrong(name, "must be true or false");
  return value->get<bool>();
}

Result<std::optional<bool>> Fields::optional_flag(std::string_view name) const {
  if (!has(name)) return std::optional<bool>();
  SAMOVAR_TRY(const bool value, flag(name));
  return std::optional<bool>(value);
}

Result<Bytes> Fields::bytes(std::string_view name, std::size_t size_min, std::size_t size_max) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_binary()) return wrong(name, "must be bytes");
  const auto& binary = value->get_binary();
  if (binary.size() < size_min || binary.size() > size_max) return wrong(name, "has a wrong length");
  return Bytes(binary.begin(), binary.end());
}

Result<WallTime> Fields::time(std::string_view name) const {
  // The years 1970 to 9999: what RFC 3339 can say, and sums of which do not overflow.
  SAMOVAR_TRY(const std::int64_t value, number(name, 0, 253'402'300'799'999'999));
  return WallTime(std::chrono::microseconds(value));
}

Result<Fields> Fields::object(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_object()) return wrong(name, "must be an object");
  return Fields(*value);
}

Result<std::vector<Fields>> Fields::objects(std::string_view name, std::size_t count_max) const {
  const json* value = find(name);
  if (value == nullptr || !value->is_array()) return wrong(name, "must be a list");
  if (value->size() > count_max) return wrong(name, fmt::format("must have at most {} items", count_max));
  std::vector<Fields> out;
  for (const json& item : *value) {
    if (!item.is_object()) return wrong(name, "must be a list of objects");
    out.push_back(Fields(item));
  }
  return out;
}

std::size_t Fields::items(std::string_view name) const {
  const json* value = find(name);
  return value != nullptr && value->is_array() ? value->size() : 0;
}

Fields& Fields::set(std::string_view name, std::string_view value) {
  (*json_)[std::string(name)] = value;
  return *this;
}
Fields& Fields::set(std::string_view name, std::int64_t value) {
  (*json_)[std::string(name)] = value;
  return *this;
}
Fields& Fields::set(std::string_view name, bool value) {
  (*json_)[std::string(name)] = value;
  return *this;
}
Fields& Fields::set(std::string_view name, const Bytes& value) {
  (*json_)[std::string(name)] = json::binary(value);
  return *this;
}
Fields& Fields::set(std::string_view name, const std::vector<std::string>& value) {
  (*json_)[std::string(name)] = value;
  return *this;
}
Fields& Fields::set(std::string_view name, const Fields& value) {
  (*json_)[std::string(name)] = *value.json_;
  return *this;
}

Fields& Fields::set(std::string_view name, const std::vector<Fields>& value) {
  json list = json::array();
  for (const Fields& item : value) list.push_back(*item.json_);
  (*json_)[std::string(name)] = std::move(list);
  return *this;
}

Result<Fields> Fields::parse(std::string_view text) {
  DepthGuard guard;
  if (!json::sax_parse(text.begin(), text.end(), &guard))
    return Error{Errc::invalid, "the document is no JSON object"};
  json value = json::parse(text.begin(), text.end(), nullptr, false);
  if (!value.is_object()) return Error{Errc::invalid, "the document is no JSON object"};
  return Fields(std::move(value));
}

Result<std::string> canonical_json_object(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return Error{Errc::invalid, fmt::format("the document has more than {} bytes", bytes_max)};
  SAMOVAR_TRY(const Fields fields, Fields::parse(text));
  return fields.to_json();
}

}  // namespace samovar::cluster
