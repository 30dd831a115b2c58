// Reading one object of a spec: each member is taken once, with its bounds; what is left over is a fault.
//
// Threading: values.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "trainer/spec.hpp"
#include "trainer/spec_columns.hpp"

namespace samovar::trainer {

inline constexpr std::size_t kColumnBytesMax = 256;

template <class T, std::size_t N>
std::string_view word_of(const std::array<std::pair<T, std::string_view>, N>& choices, T value) {
  for (const auto& [known, word] : choices) {
    if (known == value) return word;
  }
  return "";
}

inline bool spec_printable(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

// The members of one object, each taken once; what is left over is a fault.
class SpecMembers {
 public:
  SpecMembers(const nlohmann::json& json, std::string pointer, std::vector<SpecFault>& faults)
      : json_(json), pointer_(std::move(pointer)), faults_(faults) {
    if (!json_.is_object()) fault("", "type", "this must be an object");
  }

  const nlohmann::json* find(std::string_view name) {
    names_.push_back(name);
    if (!json_.is_object()) return nullptr;
    const auto at = json_.find(name);
    // Null is what a form sends for a field that was left empty.
    return at == json_.end() || at->is_null() ? nullptr : &*at;
  }
  void fault(std::string_view name, const char* code, std::string detail) {
    if (faults_.size() >= kFaultsMax) return;
    faults_.push_back(
        {name.empty() ? pointer_ : pointer_ + "/" + escape_pointer(name), code, std::move(detail)});
  }
  bool has(std::string_view name) const { return json_.is_object() && json_.contains(name); }

  void text(std::string_view name, std::size_t most, std::string& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return fault(name, "type", "this must be a text");
    const auto& text = value->get_ref<const std::string&>();
    if (text.size() > most || !spec_printable(text))
      return fault(name, "range",
                   "this must be at most " + std::to_string(most) + " bytes without control characters");
    out = text;
  }
  void yes_no(std::string_view name, bool& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return fault(name, "type", "this must be true or false");
    out = value->get<bool>();
  }
  template <class T>
  void whole(std::string_view name, std::uint64_t least, std::uint64_t most, T& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number_integer()) return fault(name, "type", "this must be a whole number");
    const bool negative = !value->is_number_unsigned() && value->get<std::int64_t>() < 0;
    if (negative || value->get<std::uint64_t>() < least || value->get<std::uint64_t>() > most)
      return fault(name, "range",
                   "this must be from " + std::to_string(least) + " to " + std::to_string(most));
    out = static_cast<T>(value->get<std::uint64_t>());
  }
  void number(std::string_view name, double least, double most, double& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return fault(name, "type", "this must be a number");
    const double number = value->get<double>();
    if (!(number >= least && number <= most)) {
      const std::string range = nlohmann::json(least).dump() + " to " + nlohmann::json(most).dump();
      return fault(name, "range", "this must be from " + range);
    }
    out = number;
  }
  void share(std::string_view name, double most, double& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return fault(name, "type", "this must be a number");
    const double share = value->get<double>();
    if (!(share >= 0 && share <= most)) return fault(name, "range", "this must be a share from 0 to 0.9");
    out = share;
  }
  template <class T, std::size_t N>
  void choice(std::string_view name, const std::array<std::pair<T, std::string_view>, N>& choices, T& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return fault(name, "type", "this must be a text");
    std::string all;
    for (const auto& [known, word] : choices) {
      if (value->get_ref<const std::string&>() == word) {
        out = known;
        return;
      }
      all += (all.empty() ? "" : ", ") + std::string(word);
    }
    fault(name, "choice", "this must be one of: " + all);
  }
  void columns(std::string_view name, std::vector<std::string>& out) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > kColumnsMax)
      return fault(name, "type", "this must be a list of at most 4096 column names");
    for (const nlohmann::json& column : *value) {
      if (!column.is_string() || column.get_ref<const std::string&>().size() > kColumnBytesMax)
        return fault(name, "type", "this must be a list of column names");
      out.push_back(column.get<std::string>());
    }
  }
  void refuse_others() {
    if (!json_.is_object()) return;
    for (const auto& [name, value] : json_.items()) {
      bool known = false;
      for (const std::string_view each : names_) known = known || each == name;
      if (!known) fault(name.substr(0, kColumnBytesMax), "unknown", "there is no such setting");
    }
  }

 private:
  static constexpr std::size_t kFaultsMax = 200;
  const nlohmann::json& json_;
  const std::string pointer_;
  std::vector<SpecFault>& faults_;
  std::vector<std::string_view> names_;
};

}  // namespace samovar::trainer
