#include "base/asio_loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <map>
#include <thread>
#include <unordered_map>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace samovar {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

}  // namespace

struct AsioLoop::Impl {
  struct Watch {
    explicit Watch(asio::io_context& context) : fd(context) {}
    stream_descriptor fd;
    Work readable;
  };
  using Due = std::pair<MonoTime, Id>;  // the id breaks ties: first made, first run

  Impl();
  ~Impl();
  void arm();
  void wait_timer();
  void run_due();
  void wait_watch(Id id);

  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  stream_descriptor timer{context};
  std::atomic<std::thread::id> owner{std::this_thread::get_id()};

  // Loop only.
  Id last_id = 0;
  std::map<Due, Work> timers;
  std::unordered_map<Id, MonoTime> deadlines;
  MonoTime armed_for{-1};  // the deadline the timerfd is set to; -1: none
  // Shared: a wait in flight keeps its watch alive past unwatch.
  std::unordered_map<Id, std::shared_ptr<Watch>> watches;
};

AsioLoop::Impl::Impl() {
  const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  SAMOVAR_ASSERT(fd >= 0);
  timer.assign(fd);
  wait_timer();
}

AsioLoop::Impl::~Impl() {
  // The watched fds are not ours to close.
  for (auto& [id, watch] : watches) watch->fd.release();
}

// Sets the timerfd to the first deadline, if that changed.
void AsioLoop::Impl::arm() {
  const MonoTime first = timers.empty() ? MonoTime{-1} : timers.begin()->first.first;
  if (first == armed_for) return;
  armed_for = first;
  itimerspec spec{};
  if (!timers.empty()) {
    // An all-zero time would disarm.
    const auto ns = std::max<std::int64_t>(first.count(), 1);
    spec.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  }
  SAMOVAR_ASSERT(::timerfd_settime(timer.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
}

void AsioLoop::Impl::wait_timer() {
  timer.async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& failed) {
    if (failed) return;
    std::uint64_t expirations = 0;
    // Spurious readiness is harmless: run_due looks at the clock.
    [[maybe_unused]] const auto got = ::read(timer.native_handle(), &expirations, sizeof expirations);
    wait_timer();
    run_due();
  });
}

void AsioLoop::Impl::run_due() {
  const MonoTime now = real_clock().mono();
  // One at a time out of the map: work may cancel its neighbours. Timers made meanwhile wait for the
  // next round even when due, so that a zero delay can not starve the rest of the loop.
  const Id newest = last_id;
  auto next = timers.begin();
  while (next != timers.end() && next->first.first <= now) {
    if (next->first.second > newest) {
      ++next;
      continue;
    }
    auto node = timers.extract(next);
    deadlines.erase(node.key().second);
    armed_for = MonoTime{-2};  // unknown: arm() below must set it
    try {
      node.mapped()();
    } catch (...) {
      arm();
      throw;
    }
    next = timers.begin();
  }
  arm();
}

void AsioLoop::Impl::wait_watch(Id id) {
  const auto watch = watches.at(id);
  watch->fd.async_wait(stream_descriptor::wait_read,
                       [this, id, watch](const boost::system::error_code& failed) {
                         if (failed || !watches.contains(id)) return;
                         // Waiting again before the call keeps the watch going if the callback throws.
                         wait_watch(id);
                         watch->readable();
                       });
}

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::run() {
  impl_->owner = std::this_thread::get_id();
  for (;;) {
    try {
      impl_->context.run();
      impl_->context.restart();  // tests run it again after a stop
      return;
    } catch (const std::exception& e) {
      SAMOVAR_LOG(error, base, "work on the loop threw", kv("what", e.what()));
    }
  }
}

void AsioLoop::stop() { impl_->context.stop(); }
Clock& AsioLoop::clock() { return real_clock(); }
bool AsioLoop::in_loop() const { return impl_->owner.load() == std::this_thread::get_id(); }
void AsioLoop::post(Work work) { asio::post(impl_->context, std::move(work)); }

Loop::Id AsioLoop::after(Duration delay, Work work) {
  SAMOVAR_ASSERT(in_loop());
  const Id id = ++impl_->last_id;
  // A century stands for "never": the sum must not overflow.
  const MonoTime due =
      real_clock().mono() + std::clamp<Duration>(delay, Duration::zero(), std::chrono::hours(876'000));
  impl_->timers.emplace(Impl::Due{due, id}, std::move(work));
  impl_->deadlines.emplace(id, due);
  impl_->arm();
  return id;
}

void AsioLoop::cancel(Id timer) {
  SAMOVAR_ASSERT(in_loop());
  const auto found = impl_->deadlines.find(timer);
  if (found == impl_->deadlines.end()) return;
  impl_->timers.erase({found->second, timer});
  impl_->deadlines.erase(found);
  impl_->arm();
}

Loop::Id AsioLoop::watch(int fd, Work readable) {
  SAMOVAR_ASSERT(in_loop());
  const Id id = ++impl_->last_id;
  auto watch = std::make_shared<Impl::Watch>(impl_->context);
  boost::system::error_code failed;
  watch->fd.assign(fd, failed);
  SAMOVAR_ASSERT(!failed);  // a regular file, a closed fd, or one watched already
  watch->readable = std::move(readable);
  impl_->watches.emplace(id, std::move(watch));
  impl_->wait_watch(id);
  return id;
}

void AsioLoop::unwatch(Id watch) {
  SAMOVAR_ASSERT(in_loop());
  const auto found = impl_->watches.find(watch);
  if (found == impl_->watches.end()) return;
  found->second->fd.release();  // cancels the wait; the fd stays open
  impl_->watches.erase(found);
}

}  // namespace samovar
