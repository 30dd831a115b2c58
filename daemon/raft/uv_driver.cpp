#include "daemon/raft/uv_driver.hpp"

#include <chrono>
#include <utility>

#include <uv.h>

#include "base/assert.hpp"

namespace samovar::raft {

UvDriver::UvDriver(Loop& loop, std::function<bool()> turn)
    : loop_(loop), turn_(std::move(turn)), uv_(std::make_unique<uv_loop_s>()) {}

Result<std::unique_ptr<UvDriver>> UvDriver::create(Loop& loop, std::function<bool()> turn) {
  std::unique_ptr<UvDriver> driver(new UvDriver(loop, std::move(turn)));
  if (const int rc = uv_loop_init(driver->uv_.get()); rc != 0)
    return Error{Errc::io, std::string("cannot make an event loop for the log: ") + uv_strerror(rc)};
  driver->ready_ = true;
  return driver;
}

UvDriver::~UvDriver() {
  stop();
  *alive_ = false;
  if (!ready_) return;
  drain([] { return false; });
  const int rc = uv_loop_close(uv_.get());
  SAMOVAR_ASSERT(rc == 0);
}

void UvDriver::start() {
  watch_ = loop_.watch(uv_backend_fd(uv_.get()), [this, alive = alive_] {
    if (*alive) pump();
  });
  kick();
}

void UvDriver::stop() {
  if (watch_ != 0) loop_.unwatch(std::exchange(watch_, 0));
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
}

void UvDriver::kick() {
  if (std::exchange(kicked_, true)) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    kicked_ = false;
    pump();
  });
}

void UvDriver::pump() {
  if (running_ || watch_ == 0) return;
  running_ = true;
  const auto alive = alive_;
  bool again = true;
  // A few rounds at most: others wait for the loop too.
  for (int round = 0; again && round < 4; ++round) {
    uv_run(uv_.get(), UV_RUN_NOWAIT);
    again = turn_();
    if (!*alive) return;  // a callback closed and destroyed us
  }
  running_ = false;
  if (again) kick();
  arm();
}

void UvDriver::arm() {
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
  if (watch_ == 0) return;
  uv_update_time(uv_.get());
  const int wait_ms = uv_backend_timeout(uv_.get());
  if (wait_ms == 0) return kick();
  if (wait_ms < 0) return;
  timer_ = loop_.after(std::chrono::milliseconds(wait_ms), [this, alive = alive_] {
    if (!*alive) return;
    timer_ = 0;
    pump();
  });
}

void UvDriver::drain(const std::function<bool()>& finished) {
  while (!finished() && uv_run(uv_.get(), UV_RUN_ONCE) != 0) {
  }
}

}  // namespace samovar::raft
