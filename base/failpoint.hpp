// Failpoints: places where a test can make the world fail, by name.
//
//   SAMOVAR_FAILPOINT("raft.append.before");        crash or delay when armed so
//   SAMOVAR_FAILPOINT_ERROR("store.write");         also returns an Error from the enclosing function when
//   armed so n = SAMOVAR_FAILPOINT_SHORT("disk.write", n);   a smaller n when armed so
//
// Armed by `name=action[:argument][@hit]`, e.g. "raft.append.before=crash@3", from the daemon's
// --failpoints option (comma separated) or failpoint::arm in unit tests. Packages compile them out
// (SAMOVAR_FAILPOINTS=0); disarmed, a point costs one relaxed load of its own flag.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "failpoints_switch.hpp"

namespace samovar::failpoint {

struct Point {
  const char* name;
  std::atomic<std::uint32_t> armed;  // 0: nothing to do
};

// Actions: crash (SIGKILL to ourselves), error, delay:<ms>, short:<bytes>, panic (abort with a message).
Result<void> arm(std::string_view spec);
void disarm_all();
// Every point compiled into this program, sorted.
std::vector<std::string> names();

Result<void> hit(Point& point);                           // slow path
std::size_t hit_short(Point& point, std::size_t wanted);  // slow path

}  // namespace samovar::failpoint

#if SAMOVAR_FAILPOINTS
// Each point lives in its own linker section entry so that names() can list all of them.
#define SAMOVAR_FAILPOINT_DEFINE_(point_name)                                                             \
  [[gnu::section("samovar_failpoints"), gnu::used]] static ::samovar::failpoint::Point samovar_point_ = { \
      point_name, {0}}
#define SAMOVAR_FAILPOINT(point_name)                                                     \
  do {                                                                                    \
    SAMOVAR_FAILPOINT_DEFINE_(point_name);                                                \
    if (samovar_point_.armed.load(std::memory_order_relaxed) != 0)                        \
      ::samovar::ignore(::samovar::failpoint::hit(samovar_point_), "no error path here"); \
  } while (false)
#define SAMOVAR_FAILPOINT_ERROR(point_name)                                             \
  do {                                                                                  \
    SAMOVAR_FAILPOINT_DEFINE_(point_name);                                              \
    if (samovar_point_.armed.load(std::memory_order_relaxed) != 0)                      \
      if (auto samovar_hit_ = ::samovar::failpoint::hit(samovar_point_); !samovar_hit_) \
        return std::move(samovar_hit_).error();                                         \
  } while (false)
#define SAMOVAR_FAILPOINT_SHORT(point_name, wanted)                                \
  [](std::size_t samovar_wanted_) {                                                \
    SAMOVAR_FAILPOINT_DEFINE_(point_name);                                         \
    return samovar_point_.armed.load(std::memory_order_relaxed) == 0               \
               ? samovar_wanted_                                                   \
               : ::samovar::failpoint::hit_short(samovar_point_, samovar_wanted_); \
  }(wanted)
#else
#define SAMOVAR_FAILPOINT(point_name) static_cast<void>(0)
#define SAMOVAR_FAILPOINT_ERROR(point_name) static_cast<void>(0)
#define SAMOVAR_FAILPOINT_SHORT(point_name, wanted) (wanted)
#endif
