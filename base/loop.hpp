// The loop thread owns all control state; everything reaches it through post().
//
// Threading: post() from any thread; all else, and every callback, on the loop thread only.
#pragma once
#include <cstdint>
#include <functional>

#include "base/clock.hpp"

namespace samovar {

class Loop {
 public:
  using Work = std::function<void()>;
  using Id = std::uint64_t;  // never 0

  virtual ~Loop() = default;
  virtual Clock& clock() = 0;
  virtual bool in_loop() const = 0;
  virtual void post(Work work) = 0;
  virtual Id after(Duration delay, Work work) = 0;
  // A timer that already ran or was cancelled is ignored.
  virtual void cancel(Id timer) = 0;
  // Calls `readable` whenever fd has input, until unwatch. The fd stays the caller's.
  virtual Id watch(int fd, Work readable) = 0;
  virtual void unwatch(Id watch) = 0;
};

}  // namespace samovar
