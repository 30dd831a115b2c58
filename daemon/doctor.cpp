#include "daemon/doctor.hpp"

#include <charconv>

#include "daemon/doctor_checks.hpp"

namespace samovar::daemon {

std::string_view to_string(CheckState state) noexcept {
  switch (state) {
    case CheckState::ok:
      return "ok";
    case CheckState::info:
      return "info";
    case CheckState::warn:
      return "warn";
    case CheckState::fail:
      return "fail";
  }
  return "info";
}

std::vector<Check> examine(const DoctorFacts& facts) {
  Checks out;
  check_interfaces(facts, out);
  check_multicast(facts, out);
  check_neighbours(facts, out);
  check_seeds(facts, out);
  check_name(facts, out);
  check_listen(facts, out);
  check_door(facts, out);
  check_links(facts, out);
  check_certificate(facts, out);
  check_duplicates(facts, out);
  check_clusters(facts, out);
  check_versions(facts, out);
  check_clocks(facts, out);
  check_mtu(facts, out);
  check_quorum(facts, out);
  return out;
}

bool versions_work_together(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a == b) return true;
  const auto numbers = [](std::string_view text) {
    std::pair<int, int> out{-1, -1};
    const char* end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, out.first);
    if (major.ec == std::errc{} && major.ptr != end && *major.ptr == '.')
      std::from_chars(major.ptr + 1, end, out.second);
    return out;
  };
  const auto [a_major, a_minor] = numbers(a);
  const auto [b_major, b_minor] = numbers(b);
  return a_major == b_major && a_minor - b_minor <= 1 && b_minor - a_minor <= 1;
}

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace samovar::daemon
