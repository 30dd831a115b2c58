#include "trainer/models/strict_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  Result<Json> take() {
    if (!problem_.empty()) return Error{Errc::invalid, problem_};
    return std::move(root_);
  }

  bool null() override { return put(Json()) != nullptr; }
  bool boolean(bool value) override { return put(Json(value)) != nullptr; }
  bool number_integer(Json::number_integer_t value) override { return put(Json(value)) != nullptr; }
  bool number_unsigned(Json::number_unsigned_t value) override { return put(Json(value)) != nullptr; }
  bool number_float(Json::number_float_t value, const std::string&) override {
    if (!std::isfinite(value)) return refuse("a number is beyond what a double holds");
    return put(Json(value)) != nullptr;
  }
  bool string(std::string& value) override { return put(Json(std::move(value))) != nullptr; }
  bool binary(Json::binary_t&) override { return refuse("it holds bytes"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [at, fresh] = open_.back()->get_ref<Json::object_t&>().emplace(name, Json());
    if (!fresh) return refuse("the member \"" + name + "\" is there twice");
    member_ = &at->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("it is not JSON in UTF-8 (near byte " + std::to_string(position) + ")");
  }

 private:
  bool refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  // Where an open container was moved to stays true: only the innermost one grows.
  Json* put(Json value) {
    if (++values_ > limits_.values) {
      refuse("it holds more than " + std::to_string(limits_.values) + " values");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      auto& list = open_.back()->get_ref<Json::array_t&>();
      list.push_back(std::move(value));
      return &list.back();
    }
    *member_ = std::move(value);
    return member_;
  }
  bool open(Json container) {
    if (open_.size() >= limits_.depth) return refuse("it is nested too deeply");
    Json* at = put(std::move(container));
    if (at == nullptr) return false;
    open_.push_back(at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  Json* member_ = nullptr;
  std::vector<Json*> open_;
  std::size_t values_ = 0;
  std::string problem_;
};

Error wrong(std::string_view member, std::string_view kind) {
  return Error{Errc::invalid, "\"" + std::string(member) + "\" must be " + std::string(kind)};
}

}  // namespace

Result<Json> parse_strict_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    return Error{Errc::invalid, "it has more than " + std::to_string(limits.bytes) + " bytes"};
  Builder builder(limits);
  // False is what the builder knows better.
  static_cast<void>(Json::sax_parse(text, &builder));
  return builder.take();
}

Result<void> require_members(const Json& json, std::span<const std::string_view> members,
                             std::string_view what) {
  if (!json.is_object()) return Error{Errc::invalid, std::string(what) + " must be a JSON object"};
  for (const std::string_view member : members) {
    if (!json.contains(member))
      return Error{Errc::invalid, std::string(what) + " lacks \"" + std::string(member) + "\""};
  }
  for (const auto& [name, value] : json.items()) {
    if (std::find(members.begin(), members.end(), name) == members.end())
      return Error{Errc::invalid, std::string(what) + " has an unknown member \"" + name + "\""};
  }
  return {};
}

Result<double> finite_number(const Json& json, std::string_view member) {
  const Json& value = json.at(std::string(member));
  if (!value.is_number() || !std::isfinite(value.get<double>())) return wrong(member, "a number");
  return value.get<double>();
}

Result<std::uint64_t> whole_number(const Json& json, std::string_view member, std::uint64_t most) {
  const Json& value = json.at(std::string(member));
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    return wrong(member, "a whole number up to " + std::to_string(most));
  return value.get<std::uint64_t>();
}

Result<std::string> short_text(const Json& json, std::string_view member, std::size_t bytes_max) {
  const Json& value = json.at(std::string(member));
  if (!value.is_string() || value.get_ref<const std::string&>().size() > bytes_max)
    return wrong(member, "a text of at most " + std::to_string(bytes_max) + " bytes");
  return value.get<std::string>();
}

}  // namespace samovar::trainer
