#include "daemon/api/http.hpp"

#include <algorithm>

#include "daemon/api/text.hpp"

namespace samovar::api {

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::del:
      return "DELETE";
    case Method::options:
      return "OPTIONS";
  }
  return "GET";
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(list_, [&](const auto& field) { return equal_no_case(field.first, name); });
  list_.emplace_back(std::move(name), std::move(value));
}

void Headers::add(std::string name, std::string value) {
  list_.emplace_back(std::move(name), std::move(value));
}

std::string_view Headers::get(std::string_view name) const noexcept {
  for (const auto& [key, value] : list_) {
    if (equal_no_case(key, name)) return value;
  }
  return {};
}

bool Headers::has(std::string_view name) const noexcept {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const auto& field) { return equal_no_case(field.first, name); });
}

namespace {
std::string_view find_pair(const std::vector<std::pair<std::string, std::string>>& list,
                           std::string_view name) noexcept {
  for (const auto& [key, value] : list) {
    if (key == name) return value;
  }
  return {};
}
}  // namespace

std::string_view Request::param(std::string_view name) const noexcept { return find_pair(params, name); }

std::string_view Request::query_value(std::string_view name) const noexcept { return find_pair(query, name); }

// Cookie names have case, and a client may send several Cookie fields. The first match counts.
std::string_view Request::cookie(std::string_view name) const noexcept {
  for (const auto& [key, list] : headers.all()) {
    if (!equal_no_case(key, "cookie")) continue;
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = trim(rest.substr(0, end));
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

}  // namespace samovar::api
