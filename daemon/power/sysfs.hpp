// Small text files of the kernel (/sys, /proc, /etc) below a root that tests replace by a fake tree.
//
// Every read is bounded and never blocks for good: these files come and go with the hardware, so any
// trouble (missing, no permission, EAGAIN or EINVAL of a power-gated unit, garbage) is just "no value".
//
// Threading: const after construction; any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samovar::power {

class Sysfs {
 public:
  static constexpr std::size_t kTextBytesMax = 4096;
  static constexpr std::size_t kEntriesMax = 1024;

  // root is put in front of every path; "" is the running system.
  explicit Sysfs(std::string root = {}) : root_(std::move(root)) {}

  // Without trailing blanks, newlines and NULs; empty files give no value. Longer files are cut.
  std::optional<std::string> text(std::string_view path, std::size_t bytes_max = kTextBytesMax) const;
  // The first token as a decimal number ("32760 ma" is 32760); out of range is no value.
  std::optional<std::int64_t> number(std::string_view path) const;
  // NUL-separated strings of a device tree property.
  std::vector<std::string> strings(std::string_view path) const;
  // Names, sorted with numbers in their order (hwmon2 before hwmon10); empty when there is no such folder.
  std::vector<std::string> list(std::string_view dir) const;
  bool exists(std::string_view path) const;
  const std::string& root() const noexcept { return root_; }

 private:
  std::string root_;
};

// Whole text as a decimal number, else nothing.
std::optional<std::int64_t> parse_number(std::string_view text) noexcept;

}  // namespace samovar::power
