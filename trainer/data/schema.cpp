#include "trainer/data/schema.hpp"
#include "base/json.hpp"

#include <array>
#include <set>
#include <utility>

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kNameBytesMax = 256;
// Every column at its longest, each byte of a name escaped.
constexpr std::size_t kSchemaBytesMax = kColumnsMax * (6 * kNameBytesMax + 64) + 64;

constexpr std::array<std::pair<ColumnType, std::string_view>, 7> kTypes = {{
    {ColumnType::real, "real"},
    {ColumnType::integer, "integer"},
    {ColumnType::boolean, "boolean"},
    {ColumnType::category, "category"},
    {ColumnType::text, "text"},
    {ColumnType::time, "time"},
    {ColumnType::sparse, "sparse"},
}};

// Reads the schema as the parser meets it: a member that is there twice, or anything beside what
// encode_schema writes, ends it at once, and nothing is kept of input that is refused.
class SchemaReader final : public nlohmann::json_sax<Json> {
 public:
  Result<Schema> take() {
    if (!problem_.empty()) return Error{Errc::invalid, problem_};
    if (where_ != Where::end) return Error{Errc::invalid, "the schema is not a JSON object"};
    return std::move(schema_);
  }

  bool start_object(std::size_t) override {
    if (where_ == Where::start) return go(Where::top);
    if (where_ != Where::columns) return refuse_value();
    if (schema_.columns.size() == kColumnsMax) return refuse(kHowMany);
    schema_.columns.emplace_back();
    seen_ = 0;
    return go(Where::column);
  }
  bool end_object() override {
    if (where_ == Where::column) {
      if (seen_ != (kName | kType | kSensitive))
        return refuse_column("it has \"name\", \"type\" and \"sensitive\"");
      return go(Where::columns);
    }
    return schema_.columns.empty() ? refuse(kHowMany) : go(Where::end);
  }
  bool start_array(std::size_t) override {
    return where_ == Where::list ? go(Where::columns) : refuse_value();
  }
  bool end_array() override { return go(Where::top); }

  bool key(std::string& name) override {
    if (where_ == Where::top)
      return name == "columns" && std::exchange(listed_, true) == false ? go(Where::list) : refuse(kWhole);
    member_ = name == "name" ? kName : name == "type" ? kType : name == "sensitive" ? kSensitive : 0u;
    if (member_ == 0) return refuse_column("unknown member \"" + name + "\"");
    if ((seen_ & member_) != 0) return refuse_column("\"" + name + "\" is there twice");
    seen_ |= member_;
    return true;
  }
  bool string(std::string& value) override {
    if (where_ != Where::column) return refuse_value();
    if (member_ == kName) return take_name(value);
    const auto type = member_ == kType ? parse_column_type(value) : std::nullopt;
    if (!type) return refuse_value();
    schema_.columns.back().type = *type;
    return true;
  }
  bool boolean(bool value) override {
    if (where_ != Where::column || member_ != kSensitive) return refuse_value();
    schema_.columns.back().sensitive = value;
    return true;
  }
  bool null() override { return refuse_value(); }
  bool number_integer(Json::number_integer_t) override { return refuse_value(); }
  bool number_unsigned(Json::number_unsigned_t) override { return refuse_value(); }
  bool number_float(Json::number_float_t, const std::string&) override { return refuse_value(); }
  bool binary(Json::binary_t&) override { return refuse_value(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("the schema is not JSON in UTF-8");
  }

 private:
  enum class Where : std::uint8_t { start, top, list, columns, column, end };
  static constexpr unsigned kName = 1, kType = 2, kSensitive = 4;
  static constexpr const char* kWhole = "the schema must hold \"columns\", a list, and nothing else";
  static constexpr const char* kHowMany = "a schema has 1 to 4096 columns";
  static_assert(kColumnsMax == 4096);

  bool go(Where where) {
    where_ = where;
    return true;
  }
  bool refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool refuse_column(const std::string& what) {
    return refuse("column " + std::to_string(schema_.columns.size()) + " of the schema: " + what);
  }
  bool refuse_value() {
    if (where_ != Where::column) return refuse(kWhole);
    if (member_ == kName) return refuse_column("\"name\" must be a string");
    if (member_ == kSensitive) return refuse_column("\"sensitive\" must be true or false");
    return refuse_column("type must be real, integer, boolean, category, text, time or sparse");
  }
  bool take_name(std::string& name) {
    if (name.empty() || name.size() > kNameBytesMax)
      return refuse_column("a name has 1 to " + std::to_string(kNameBytesMax) + " bytes");
    if (!names_.insert(name).second) return refuse_column("the name \"" + name + "\" is there twice");
    schema_.columns.back().name = std::move(name);
    return true;
  }

  Where where_ = Where::start;
  bool listed_ = false;
  unsigned member_ = 0;
  unsigned seen_ = 0;
  Schema schema_;
  std::set<std::string> names_;
  std::string problem_;
};

}  // namespace

std::string_view to_string(ColumnType type) noexcept {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  return "unknown";
}

std::optional<ColumnType> parse_column_type(std::string_view text) noexcept {
  for (const auto& [type, name] : kTypes) {
    if (name == text) return type;
  }
  return std::nullopt;
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::string encode_schema(const Schema& schema) {
  Json columns = Json::array();
  for (const ColumnSpec& column : schema.columns)
    columns.push_back(
        {{"name", column.name}, {"type", to_string(column.type)}, {"sensitive", column.sensitive}});
  const Json json = {{"columns", std::move(columns)}};
  // A name that is not UTF-8 is the caller's mistake; a replacement character beats an exception.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Schema> decode_schema(std::string_view text) {
  if (text.size() > kSchemaBytesMax) return Error{Errc::invalid, "the schema is too long"};
  SchemaReader reader;
  // False is what the reader knows better.
  static_cast<void>(Json::sax_parse(text, &reader));
  return reader.take();
}

}  // namespace samovar::trainer
