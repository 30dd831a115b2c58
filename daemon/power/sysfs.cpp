#include "daemon/power/sysfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <memory>

namespace samovar::power {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const noexcept { ::closedir(dir); }
};

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

// hwmon2 before hwmon10: runs of digits compare as numbers, the rest as text.
bool natural_less(const std::string& a, const std::string& b) noexcept {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t i_end = i;
      std::size_t j_end = j;
      while (i_end < a.size() && digit(a[i_end])) ++i_end;
      while (j_end < b.size() && digit(b[j_end])) ++j_end;
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      if (const int order = a.compare(i, i_end - i, b, j, j_end - j); order != 0) return order < 0;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::optional<std::string> read_bounded(const std::string& path, std::size_t bytes_max) {
  // O_NONBLOCK: whatever stands at this path, opening and reading it must not hang the sampler.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::string text(bytes_max, '\0');
  std::size_t used = 0;
  bool failed = false;
  while (used < bytes_max) {
    const ssize_t got = ::read(fd, text.data() + used, bytes_max - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed = true;  // EAGAIN, EINVAL, ENODATA: the unit is off
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (failed) return std::nullopt;
  text.resize(used);
  return text;
}

}  // namespace

std::optional<std::string> Sysfs::text(std::string_view path, std::size_t bytes_max) const {
  auto text = read_bounded(root_ + std::string(path), bytes_max);
  if (!text) return std::nullopt;
  while (!text->empty() && is_blank(text->back())) text->pop_back();
  if (text->empty()) return std::nullopt;
  return text;
}

std::optional<std::int64_t> Sysfs::number(std::string_view path) const {
  const auto whole = text(path);
  if (!whole) return std::nullopt;
  const auto begin = std::find_if_not(whole->begin(), whole->end(), is_blank);
  const auto end = std::find_if(begin, whole->end(), is_blank);
  return parse_number(std::string_view(*whole).substr(static_cast<std::size_t>(begin - whole->begin()),
                                                      static_cast<std::size_t>(end - begin)));
}

std::vector<std::string> Sysfs::strings(std::string_view path) const {
  std::vector<std::string> all;
  const auto whole = text(path);
  if (!whole) return all;
  std::size_t begin = 0;
  while (begin <= whole->size()) {
    const std::size_t end = std::min(whole->find('\0', begin), whole->size());
    if (end > begin) all.push_back(whole->substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

std::vector<std::string> Sysfs::list(std::string_view dir) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDir> open_dir(::opendir((root_ + std::string(dir)).c_str()));
  if (!open_dir) return names;
  while (const dirent* entry = ::readdir(open_dir.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kEntriesMax) break;
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

bool Sysfs::exists(std::string_view path) const {
  return ::access((root_ + std::string(path)).c_str(), F_OK) == 0;
}

std::optional<std::int64_t> parse_number(std::string_view text) noexcept {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace samovar::power
