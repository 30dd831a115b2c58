#include "base/failpoint.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <thread>

#include "base/mutex.hpp"

// The linker makes these two around the section of all points. Weak: a program may have none.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming): its
// names
extern "C" {
[[gnu::weak]] extern samovar::failpoint::Point __start_samovar_failpoints[];
[[gnu::weak]] extern samovar::failpoint::Point __stop_samovar_failpoints[];
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

namespace samovar::failpoint {
namespace {

enum class Action : std::uint8_t { crash, error, delay, shorten, panic };

struct Armed {
  std::string name;
  Action action = Action::error;
  Errc error = Errc::io;
  std::uint64_t argument = 0;
  std::uint64_t only_hit = 0;  // 0: every hit
  std::uint64_t hits = 0;
};

Mutex mutex;
// A point's flag is 1 + its index here. Several places may share a name and then share the count.
std::vector<Armed>& table() SAMOVAR_REQUIRES(mutex) {
  static std::vector<Armed> armed;
  return armed;
}

std::span<Point> points() {
  if (__start_samovar_failpoints == nullptr) return {};
  return {__start_samovar_failpoints, __stop_samovar_failpoints};
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Errc> error_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    if (to_string(static_cast<Errc>(i)) == name) return static_cast<Errc>(i);
  }
  return std::nullopt;
}

Error bad_spec(std::string_view spec) {
  return {Errc::invalid, "failpoint \"" + std::string(spec) +
                             "\": write name=crash|panic|error[:code]|delay:<ms>|short:<bytes>[@hit]"};
}

Result<Armed> parse(std::string_view spec) {
  const auto equals = spec.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad_spec(spec);
  Armed armed;
  armed.name = spec.substr(0, equals);
  std::string_view action = spec.substr(equals + 1);
  if (const auto at = action.find('@'); at != std::string_view::npos) {
    const auto hit_number = number(action.substr(at + 1));
    if (!hit_number || *hit_number == 0) return bad_spec(spec);
    armed.only_hit = *hit_number;
    action = action.substr(0, at);
  }
  std::string_view argument;
  const auto colon = action.find(':');
  if (colon != std::string_view::npos) {
    argument = action.substr(colon + 1);
    action = action.substr(0, colon);
  }
  const bool has_argument = colon != std::string_view::npos;
  if (action == "delay" || action == "short") {
    armed.action = action == "delay" ? Action::delay : Action::shorten;
    const auto value = number(argument);
    if (!value) return bad_spec(spec);
    armed.argument = *value;
  } else if (action == "error") {
    armed.action = Action::error;
    const auto code = has_argument ? error_named(argument) : Errc::io;
    if (!code) return bad_spec(spec);
    armed.error = *code;
  } else if ((action == "crash" || action == "panic") && !has_argument) {
    armed.action = action == "crash" ? Action::crash : Action::panic;
  } else {
    return bad_spec(spec);
  }
  return armed;
}

// What to do at this hit; nothing when it is not the one asked for.
std::optional<Armed> take(Point& point) {
  MutexLock lock(mutex);
  const std::uint32_t flag = point.armed.load(std::memory_order_relaxed);
  if (flag == 0 || flag > table().size()) return std::nullopt;  // disarmed meanwhile
  Armed& armed = table()[flag - 1];
  ++armed.hits;
  if (armed.only_hit != 0 && armed.only_hit != armed.hits) return std::nullopt;
  return armed;
}

void act(const Armed& armed) {
  switch (armed.action) {
    case Action::crash:
      // As a power cut: no destructors, no flushing.
      ::kill(::getpid(), SIGKILL);
      for (;;) ::pause();
    case Action::panic:
      std::fprintf(stderr, "samovar: failpoint %s: panic\n", armed.name.c_str());
      std::abort();
    case Action::delay:
      std::this_thread::sleep_for(std::chrono::milliseconds(armed.argument));
      return;
    case Action::error:
    case Action::shorten:
      return;  // the caller's part
  }
}

}  // namespace

Result<void> arm(std::string_view spec) {
  while (!spec.empty()) {
    const auto comma = spec.find(',');
    SAMOVAR_TRY(Armed armed, parse(spec.substr(0, comma)));
    spec = comma == std::string_view::npos ? std::string_view{} : spec.substr(comma + 1);
    MutexLock lock(mutex);
    bool known = false;
    for (Point& point : points()) {
      if (armed.name != point.name) continue;
      point.armed.store(static_cast<std::uint32_t>(table().size() + 1), std::memory_order_relaxed);
      known = true;
    }
    if (!known) return Error{Errc::not_found, "no failpoint \"" + armed.name + "\" in this program"};
    table().push_back(std::move(armed));
  }
  return {};
}

void disarm_all() {
  MutexLock lock(mutex);
  for (Point& point : points()) point.armed.store(0, std::memory_order_relaxed);
  table().clear();
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const Point& point : points()) unique.insert(point.name);
  return {unique.begin(), unique.end()};
}

Result<void> hit(Point& point) {
  const auto armed = take(point);
  if (!armed) return {};
  act(*armed);
  if (armed->action == Action::error) return Error{armed->error, "failpoint " + armed->name};
  return {};
}

std::size_t hit_short(Point& point, std::size_t wanted) {
  const auto armed = take(point);
  if (!armed) return wanted;
  act(*armed);
  return armed->action == Action::shorten ? std::min<std::size_t>(wanted, armed->argument) : wanted;
}

}  // namespace samovar::failpoint
