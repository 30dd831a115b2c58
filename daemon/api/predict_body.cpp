#include "daemon/api/predict_body.hpp"
#include "base/json.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace samovar::api {
namespace {

using nlohmann::json;
using trainer::RawValue;

constexpr std::size_t kNameBytesMax = 1024;

// Events of the parser, turned into columns as they come: the tree of a large body would cost ten times its
// size, and the values are needed by column anyway.
class Reader : public json::json_sax_t {
 public:
  bool null() override { return take(RawValue{}); }
  bool boolean(bool value) override {
    if (place_ == Place::member && member_ == "reasons") {
      body.reasons = value;
      place_ = Place::body;
      return true;
    }
    return take(RawValue{value});
  }
  bool number_integer(number_integer_t value) override { return take_integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return take_integer(static_cast<std::int64_t>(value));
    return take(RawValue{static_cast<double>(value)});
  }
  bool number_float(number_float_t value, const string_t&) override { return take(RawValue{value}); }
  bool string(string_t& value) override { return take(RawValue{std::move(value)}); }
  bool binary(binary_t&) override { return fail("type", "Bytes are no JSON."); }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::body;
      return true;
    }
    if (place_ != Place::rows) return fail("type", what_is_wanted());
    if (body.rows.rows == kPredictRowsMax)
      return fail("too_long",
                  fmt::format("At most {} rows in one request: a scoring takes more.", kPredictRowsMax));
    place_ = Place::row;
    next_ = 0;
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::body) return begin_member(name);
    return begin_column(name);
  }

  bool end_object() override {
    if (place_ == Place::row) {
      ++body.rows.rows;
      place_ = Place::rows;
    } else {
      place_ = Place::outside;
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::member || member_ != "rows") return fail("type", what_is_wanted());
    place_ = Place::rows;
    return true;
  }
  bool end_array() override {
    place_ = Place::body;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    // The library's message quotes the input: somebody's data.
    if (fault.detail.empty()) fault.detail = "The body is not valid JSON.";
    return false;
  }

  // After the last event: columns of one length, and what must be there.
  bool finish() {
    if (!has_rows_) return fail_at("/rows", "required", "Send rows: a list of objects.");
    if (body.rows.rows == 0) return fail_at("/rows", "too_short", "Send at least one row.");
    for (auto& [name, values] : body.rows.columns) values.resize(body.rows.rows);
    return true;
  }

  PredictBody body;
  FieldError fault;

 private:
  enum class Place : std::uint8_t { outside, body, member, rows, row, value };
  using Columns = decltype(trainer::RawTable::columns);

  bool begin_member(const std::string& name) {
    member_ = name;
    if (name == "rows" ? has_rows_ : name == "version" ? has_version_ : name == "reasons" && has_reasons_)
      return fail("format", "The member is there twice.");
    if (name == "rows") {
      has_rows_ = true;
    } else if (name == "version") {
      has_version_ = true;
    } else if (name == "reasons") {
      has_reasons_ = true;
    } else {
      return fail("unknown", "There is no such field.");
    }
    place_ = Place::member;
    return true;
  }

  // Rows of one client name their columns in one order: the next one is mostly as in the first row.
  bool begin_column(const std::string& name) {
    Columns& columns = body.rows.columns;
    if (next_ < order_.size() && order_[next_]->first == name) {
      at_ = order_[next_];
    } else {
      if (name.size() > kNameBytesMax) return fail_row("too_long", "The name of a column is too long.");
      at_ = columns.find(name);
      if (at_ == columns.end()) at_ = columns.emplace(name, std::vector<RawValue>()).first;
      if (body.rows.rows == 0) order_.push_back(at_);
    }
    ++next_;
    if (columns.size() > kPredictColumnsMax ||
        columns.size() * (std::size_t{body.rows.rows} + 1) > kPredictCellsMax)
      return fail_row("too_long", "The rows have too many different columns.");
    if (at_->second.size() > body.rows.rows) return fail_row("format", "The column is in the row twice.");
    at_->second.resize(body.rows.rows);
    place_ = Place::value;
    return true;
  }

  bool take(RawValue value) {
    if (place_ != Place::value) return fail("type", what_is_wanted());
    at_->second.push_back(std::move(value));
    place_ = Place::row;
    return true;
  }

  bool take_integer(std::int64_t value) {
    if (place_ != Place::member || member_ != "version") return take(RawValue{value});
    if (value < 1 || value > std::numeric_limits<std::int32_t>::max())
      return fail("range", "A version is 1 or more.");
    body.version = static_cast<std::uint32_t>(value);
    place_ = Place::body;
    return true;
  }

  std::string what_is_wanted() const {
    switch (place_) {
      case Place::outside:
        return "The body must be a JSON object.";
      case Place::rows:
        return "A row must be an object: {\"column\": value, …}.";
      case Place::row:
      case Place::value:
        return "A value must be a text, a number, true, false or null.";
      case Place::body:
      case Place::member:
        break;
    }
    if (member_ == "rows") return "rows must be a list of objects.";
    return member_ == "version" ? "version must be a number." : "reasons must be true or false.";
  }

  bool fail(std::string_view code, std::string_view detail) {
    if (place_ == Place::rows || place_ == Place::row || place_ == Place::value)
      return fail_row(code, detail);
    return fail_at(place_ == Place::outside ? "" : "/" + member_.substr(0, kNameBytesMax), code, detail);
  }
  bool fail_row(std::string_view code, std::string_view detail) {
    std::string pointer = fmt::format("/rows/{}", body.rows.rows);
    if (place_ == Place::value && at_ != body.rows.columns.end()) pointer += "/" + at_->first;
    return fail_at(std::move(pointer), code, detail);
  }
  bool fail_at(std::string pointer, std::string_view code, std::string_view detail) {
    fault = {std::move(pointer), std::string(code), std::string(detail)};
    return false;
  }

  Place place_ = Place::outside;
  std::string member_;
  bool has_rows_ = false, has_version_ = false, has_reasons_ = false;
  Columns::iterator at_ = body.rows.columns.end();
  std::vector<Columns::iterator> order_;  // of the first row
  std::size_t next_ = 0;                  // into it
};

}  // namespace

std::variant<PredictBody, FieldError> parse_predict(std::string_view text) {
  Reader reader;
  const bool parsed = json::sax_parse(text.begin(), text.end(), &reader);
  if (!parsed || !reader.finish()) {
    if (reader.fault.detail.empty()) reader.fault.detail = "The body is not valid JSON.";
    return std::move(reader.fault);
  }
  return std::move(reader.body);
}

}  // namespace samovar::api
