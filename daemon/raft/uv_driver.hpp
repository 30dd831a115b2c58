// Runs a libuv loop inside our loop thread.
//
// libuv's backend fd becomes readable when something is ready, and uv_backend_timeout says when its
// next timer is due: both are watched through Loop, and every wake-up is one uv_run that does not wait.
// libuv registers new watchers only inside uv_run, so whoever called into libuv or libraft kicks.
//
// Threading: loop only.
#pragma once
#include <functional>
#include <memory>

#include "base/loop.hpp"
#include "base/result.hpp"

struct uv_loop_s;

namespace samovar::raft {

class UvDriver {
 public:
  // `turn` runs after each uv_run, outside libuv's callbacks; true asks for another uv_run at once.
  static Result<std::unique_ptr<UvDriver>> create(Loop& loop, std::function<bool()> turn);
  ~UvDriver();  // every handle must be closed: see drain
  UvDriver(const UvDriver&) = delete;
  UvDriver& operator=(const UvDriver&) = delete;

  uv_loop_s* uv() { return uv_.get(); }
  void start();
  void stop();
  // Runs soon, from the loop.
  void kick();
  // Runs libuv here, waiting for events, until `finished` says so or nothing is left to wait for.
  void drain(const std::function<bool()>& finished);

 private:
  UvDriver(Loop& loop, std::function<bool()> turn);
  void pump();
  void arm();

  // Constant after construction.
  Loop& loop_;
  std::function<bool()> turn_;
  std::unique_ptr<uv_loop_s> uv_;
  // Loop only.
  bool ready_ = false;
  bool running_ = false;
  bool kicked_ = false;
  Loop::Id watch_ = 0;
  Loop::Id timer_ = 0;
  // Callbacks already queued on the loop outlive us by a moment; they look here first.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace samovar::raft
