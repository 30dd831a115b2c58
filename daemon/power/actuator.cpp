#include "daemon/power/actuator.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "base/log.hpp"
#include "daemon/power/gpu.hpp"

namespace samovar::power {
namespace {

constexpr std::size_t kLevels = 6;
constexpr double kShareLeast = 0.4;  // of the found clock, at the last level
constexpr std::size_t kKeepBytesMax = 16 * 1024;
constexpr const char* kPolicies = "/sys/devices/system/cpu/cpufreq";
constexpr const char* kDevfreq = "/sys/class/devfreq";

double share_of(std::size_t level) {
  return 1 - (1 - kShareLeast) * static_cast<double>(level) / static_cast<double>(kLevels - 1);
}

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> out;
  std::istringstream in(text);
  for (std::string token; in >> token;)
    if (const auto number = parse_number(token)) out.push_back(*number);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Actuator::Actuator(const Sysfs& sys, Disk& disk, std::string keep_path)
    : sys_(sys), disk_(disk), keep_path_(std::move(keep_path)) {
  put_back_after_crash();
  for (const std::string& policy : sys_.list(kPolicies)) {
    if (!policy.starts_with("policy")) continue;
    const std::string dir = std::string(kPolicies) + "/" + policy;
    add("cpufreq " + policy, dir + "/scaling_max_freq", dir + "/scaling_available_frequencies",
        dir + "/cpuinfo_min_freq");
  }
  if (const auto gpu = Gpu::detect(sys_)) {
    const std::string dir = std::string(kDevfreq) + "/" + gpu->name();
    add(gpu->name(), dir + "/max_freq", dir + "/available_frequencies", dir + "/min_freq");
  }
  levels_ = knobs_.empty() ? 1 : kLevels;
}

Actuator::~Actuator() { restore(); }

void Actuator::add(std::string name, std::string path, const std::string& steps_path,
                   const std::string& least_path) {
  const auto found = sys_.number(path);
  if (!found || *found <= 0) return;
  if (::access((sys_.root() + path).c_str(), W_OK) != 0) {
    read_only_ = true;
    return;
  }
  Knob knob{std::move(name), std::move(path), *found, numbers_of(sys_.text(steps_path).value_or("")), true};
  std::erase_if(knob.steps, [&](std::int64_t step) { return step > *found || step <= 0; });
  if (knob.steps.empty()) {
    const auto least = sys_.number(least_path);
    if (!least || *least <= 0 || *least >= *found) return;
    knob.steps = {*least, *found};
    knob.exact = false;
  }
  if (knob.steps.size() > 1) knobs_.push_back(std::move(knob));
}

std::int64_t Actuator::value_at(const Knob& knob, double share) {
  if (share >= 1) return knob.found;
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(knob.found) * share);
  if (!knob.exact) return std::max(wanted, knob.steps.front());
  const auto above = std::upper_bound(knob.steps.begin(), knob.steps.end(), wanted);
  return above == knob.steps.begin() ? knob.steps.front() : *std::prev(above);
}

Result<void> Actuator::write(const Knob& knob, std::int64_t value) const {
  // Not through Disk: a file of the kernel is neither made nor replaced.
  const int fd = ::open((sys_.root() + knob.path).c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  if (fd < 0) return Error{Errc::denied, knob.path + ": " + std::generic_category().message(errno)};
  const std::string text = std::to_string(value);
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  if (!whole) return Error{Errc::denied, knob.path + ": " + std::generic_category().message(error)};
  return {};
}

Result<void> Actuator::write_down() {
  if (written_down_) return {};
  std::string text;
  for (const Knob& knob : knobs_) text += fmt::format("{} {}\n", knob.path, knob.found);
  SAMOVAR_CHECK(disk_.write_file(keep_path_, as_bytes(text)));
  written_down_ = true;
  return {};
}

Result<void> Actuator::set(std::size_t level) {
  level = std::min(level, levels_ - 1);
  if (level == level_) return {};
  SAMOVAR_CHECK(write_down());
  level_ = level;
  for (const Knob& knob : knobs_) {
    auto done = write(knob, value_at(knob, share_of(level)));
    if (done) continue;
    refused_ = true;
    restore();
    levels_ = 1;
    return done;
  }
  return {};
}

void Actuator::restore() {
  if (!written_down_) return;
  bool all = true;
  for (const Knob& knob : knobs_) {
    if (auto done = write(knob, knob.found); !done) {
      all = false;
      SAMOVAR_LOG(warn, power, "a clock cap could not be taken back; a restart of the board does it",
                  kv("error", done.error().message()));
    }
  }
  level_ = 0;
  written_down_ = false;
  if (all) ignore(disk_.remove(keep_path_), "putting back twice does no harm");
}

// Only files that could be ours: the path is compared, not trusted.
void Actuator::put_back_after_crash() {
  const auto bytes = disk_.read_file(keep_path_, kKeepBytesMax);
  if (!bytes) return;
  std::istringstream in{std::string(as_text(*bytes))};
  std::string path;
  std::int64_t value = 0;
  while (in >> path >> value) {
    const bool ours = (path.starts_with(kPolicies) && path.ends_with("/scaling_max_freq")) ||
                      (path.starts_with(kDevfreq) && path.ends_with("/max_freq"));
    if (!ours || path.find("..") != std::string::npos || value <= 0) continue;
    Knob knob;
    knob.path = path;
    if (auto done = write(knob, value); !done)
      SAMOVAR_LOG(warn, power, "a clock cap of an earlier run could not be taken back",
                  kv("error", done.error().message()));
  }
  ignore(disk_.remove(keep_path_), "putting back twice does no harm");
}

std::string Actuator::describe() const {
  std::string out;
  if (levels_ == 1) return out;
  for (const Knob& knob : knobs_) out += (out.empty() ? "" : ", ") + knob.name;
  return out;
}

std::string Actuator::advice(const Board& board) const {
  std::string out;
  if (levels_ == 1 && (read_only_ || refused_))
    out = "The kernel does not let samovard set clock caps here; workers are paced by duty cycle alone.";
  if (board.is_jetson()) {
    const auto status = sys_.text("/var/lib/nvpmodel/status").value_or("");
    out += fmt::format(
        "{}nvpmodel{} is left as it is; a lower mode (nvpmodel -p --verbose lists them, nvpmodel -m "
        "<id> sets one) lowers what this board can draw at most.",
        out.empty() ? "" : " ", status.empty() ? "" : " (" + status + ")");
  }
  return out;
}

}  // namespace samovar::power
