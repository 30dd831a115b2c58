#include "daemon/api/json_body.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace samovar::api {
namespace {

using nlohmann::json;

// Before the parser: a body of a million brackets must not become a million nested values.
bool too_deep(std::string_view text) {
  unsigned depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kJsonDepthMax) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::size_t count_chars(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool has_control(std::string_view text, bool lines) {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    if (lines && (c == '\n' || c == '\t')) return false;
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// RFC 6901: ~ and / are escaped.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<json> parse_json(std::string_view text) {
  if (too_deep(text))
    return Error{Errc::invalid, fmt::format("the JSON is nested more than {} levels deep", kJsonDepthMax)};
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.empty()) {
      const auto& name = value.get_ref<const std::string&>();
      if (!keys.back().insert(name).second) twice = name;
    }
    return true;
  };
  try {
    json value = json::parse(text.begin(), text.end(), watch);
    if (!twice.empty())
      return Error{Errc::invalid, "the JSON has the member \"" + twice.substr(0, 64) + "\" twice"};
    return value;
  } catch (const json::exception&) {
    // The library's message quotes the input, which may hold a password.
    return Error{Errc::invalid, "the body is not valid JSON"};
  }
}

Result<json> take_object(Request& request, std::optional<Response>& refused) {
  auto parsed = parse_json(request.body);
  security::wipe(request.body);
  if (!parsed) {
    refused = problem(request, 400, "malformed_json", parsed.error().message() + ".");
    return std::move(parsed).error();
  }
  if (!parsed->is_object()) {
    refused = validation_problem(request, {{"", "type", "The body must be a JSON object."}});
    return Error{Errc::invalid, "not an object"};
  }
  return parsed;
}

Fields::Fields(json& object, std::string pointer, std::vector<FieldError>& errors)
    : object_(object), pointer_(std::move(pointer)), errors_(errors) {}

std::string Fields::pointer_to(std::string_view name) const { return pointer_ + "/" + escaped(name); }

void Fields::fail(std::string_view name, std::string_view code, std::string_view detail) {
  errors_.push_back({pointer_to(name), std::string(code), std::string(detail)});
}

bool Fields::has(std::string_view name) const { return object_.contains(std::string(name)); }

json* Fields::find(std::string_view name, Need need) {
  read_.emplace_back(name);
  const auto it = object_.find(std::string(name));
  if (it == object_.end()) {
    if (need == Need::required) fail(name, "required", fmt::format("{} is missing.", name));
    return nullptr;
  }
  return &*it;
}

bool Fields::is_null(std::string_view name) {
  const json* value = find(name, Need::optional);
  return value == nullptr || value->is_null();
}

std::optional<std::string> Fields::text(std::string_view name, Need need, TextRule rule) {
  const json* value = find(name, need);
  if (value == nullptr) return std::nullopt;
  const auto refuse = [&](std::string_view code, const std::string& detail) {
    fail(name, code, detail);
    return std::nullopt;
  };
  if (!value->is_string()) return refuse("type", fmt::format("{} must be text.", name));
  const auto& text = value->get_ref<const std::string&>();
  const std::size_t chars = count_chars(text);
  if (chars < rule.chars_min)
    return refuse("too_short", rule.chars_min == 1
                                   ? fmt::format("{} must not be empty.", name)
                                   : fmt::format("{} needs at least {} characters.", name, rule.chars_min));
  if (chars > rule.chars_max)
    return refuse("too_long", fmt::format("{} may have at most {} characters.", name, rule.chars_max));
  if (has_control(text, rule.lines))
    return refuse("format", fmt::format("{} must not hold control characters.", name));
  return text;
}

std::optional<security::SecretBytes> Fields::secret(std::string_view name, Need need) {
  json* value = find(name, need);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    fail(name, "type", fmt::format("{} must be text.", name));
    return std::nullopt;
  }
  auto& text = value->get_ref<std::string&>();
  if (text.size() > 1024) {
    security::wipe(text);
    fail(name, "too_long", fmt::format("{} may have at most 1024 bytes.", name));
    return std::nullopt;
  }
  return security::SecretBytes::take(text);
}

std::optional<bool> Fields::flag(std::string_view name, Need need) {
  const json* value = find(name, need);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    fail(name, "type", fmt::format("{} must be true or false.", name));
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::int64_t> Fields::integer(std::string_view name, Need need, std::int64_t min,
                                            std::int64_t max) {
  const json* value = find(name, need);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) {
    fail(name, "type", fmt::format("{} must be a whole number.", name));
    return std::nullopt;
  }
  const bool huge = value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX;
  if (huge || value->get<std::int64_t>() < min || value->get<std::int64_t>() > max) {
    fail(name, "range", fmt::format("{} must be {} to {}.", name, min, max));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name, Need need,
                                                      std::size_t count_max) {
  const json* value = find(name, need);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> out;
  bool good = value->is_array() && value->size() <= count_max;
  if (good) {
    for (const auto& item : *value) {
      good = good && item.is_string();
      if (good) out.push_back(item.get<std::string>());
    }
  }
  if (!good) {
    fail(name, "type", fmt::format("{} must be a list of at most {} texts.", name, count_max));
    return std::nullopt;
  }
  return out;
}

json* Fields::object(std::string_view name, Need need) {
  json* value = find(name, need);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) {
    fail(name, "type", fmt::format("{} must be an object.", name));
    return nullptr;
  }
  return value;
}

void Fields::finish() {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(read_.begin(), read_.end(), name) == read_.end())
      fail(name.substr(0, 64), "unknown", fmt::format("There is no field {} here.", name.substr(0, 64)));
  }
}

Response json_response(int status, const nlohmann::ordered_json& body) {
  Response response;
  response.status = status;
  response.headers.set("Content-Type", "application/json");
  response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return response;
}

Response no_content() {
  Response response;
  response.status = 204;
  return response;
}

}  // namespace samovar::api
