#include "trainer/features/identifiers.hpp"

#include <array>
#include <string>

namespace samovar::trainer {

namespace {

std::string lowered(std::string_view name) {
  std::string out;
  for (const char c : name) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace

bool sounds_like_identifier(std::string_view name) {
  const std::string lower = lowered(name);
  for (const std::string_view whole : {"id", "key", "uuid", "guid", "index", "nr", "no"}) {
    if (lower == whole) return true;
  }
  for (const std::string_view tail : {"_id", " id", "-id", ".id", "_key", "uuid", "guid", "_no", "_nr"}) {
    if (lower.ends_with(tail)) return true;
  }
  if (name.starts_with("ID") || lower.starts_with("id_")) return true;
  return lower.starts_with("unnamed") || (name.size() > 2 && (name.ends_with("ID") || name.ends_with("Id")));
}

bool sounds_like_owner(std::string_view name) {
  if (sounds_like_identifier(name)) return true;
  constexpr std::array<std::string_view, 13> kOwners = {
      "patient", "customer", "client",    "user",    "subject",  "person",  "account",
      "member",  "device",   "household", "student", "employee", "policyno"};
  const std::string lower = lowered(name);
  for (const std::string_view owner : kOwners) {
    if (lower == owner || lower == std::string(owner) + "s") return true;
  }
  return false;
}

}  // namespace samovar::trainer
