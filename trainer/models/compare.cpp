#include "trainer/models/compare.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

// As JSON pointers have it (RFC 6901).
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

bool holds_objects(const Json& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& value) { return value.is_structured(); });
}

class Walk {
 public:
  explicit Walk(std::size_t most) : most_(most) {}

  void compare(const Json& a, const Json& b, const std::string& path) {
    if (found_.size() >= most_ || a == b) return;
    if (a.is_object() && b.is_object()) return members(a, b, path);
    if (a.is_array() && b.is_array() && a.size() == b.size() && (holds_objects(a) || holds_objects(b))) {
      for (std::size_t i = 0; i < a.size(); ++i) compare(a[i], b[i], path + "/" + std::to_string(i));
      return;
    }
    found_.push_back({{"path", path}, {"a", a}, {"b", b}});
  }
  Json take() { return std::move(found_); }

 private:
  void members(const Json& a, const Json& b, const std::string& path) {
    std::set<std::string> names;
    for (const auto& [name, value] : a.items()) names.insert(name);
    for (const auto& [name, value] : b.items()) names.insert(name);
    for (const std::string& name : names)
      compare(a.value(name, Json()), b.value(name, Json()), path + "/" + escaped(name));
  }

  const std::size_t most_;
  Json found_ = Json::array();
};

}  // namespace

Json differences(const Json& a, const Json& b, std::size_t most) {
  Walk walk(most);
  walk.compare(a, b, "");
  return walk.take();
}

}  // namespace samovar::trainer
