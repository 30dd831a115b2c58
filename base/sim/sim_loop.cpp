#include "base/sim/sim_loop.hpp"

#include <poll.h>

#include <algorithm>

#include "base/assert.hpp"

namespace samovar {

bool SimScheduler::next_time(MonoTime& when) {
  bool any = false;
  for (SimLoop* loop : loops_) {
    loop->poll_watches();
    if (loop->events_.empty()) continue;
    const MonoTime due = loop->events_.begin()->first.first;
    if (!any || due < when) when = due;
    any = true;
  }
  return any;
}

bool SimScheduler::step() {
  MonoTime when{};
  if (!next_time(when)) return false;
  std::vector<SimLoop*> ready;
  for (SimLoop* loop : loops_) {
    if (!loop->events_.empty() && loop->events_.begin()->first.first == when) ready.push_back(loop);
  }
  SimLoop* chosen = ready.size() == 1 ? ready.front() : ready[rng_.below(ready.size())];
  if (when > clock_.mono()) clock_.set_mono(when);
  auto event = chosen->events_.extract(chosen->events_.begin());
  chosen->timers_.erase(event.key().second);
  mix(static_cast<std::uint64_t>(clock_.mono().count()));
  mix(chosen->number_);
  mix(event.key().second);
  // The work may destroy its own loop: `chosen` is not touched afterwards.
  const SimLoop* outer = std::exchange(running_, chosen);
  event.mapped()();
  running_ = outer;
  return true;
}

void SimScheduler::run_for(Duration span) {
  const MonoTime end = clock_.mono() + span;
  MonoTime when{};
  while (next_time(when) && when <= end) step();
  clock_.set_mono(std::max(end, clock_.mono()));
}

bool SimScheduler::run_until(const std::function<bool()>& done, Duration limit) {
  const MonoTime end = clock_.mono() + limit;
  MonoTime when{};
  while (!done()) {
    if (!next_time(when) || when > end) return false;
    step();
  }
  return true;
}

void SimScheduler::note(std::string_view what) {
  for (const char c : what) mix(static_cast<unsigned char>(c));
  mix(what.size());
}

// FNV-1a over the value's bytes.
void SimScheduler::mix(std::uint64_t value) {
  for (int i = 0; i < 8; ++i, value >>= 8) trace_ = (trace_ ^ (value & 0xff)) * 0x100000001b3;
}

SimLoop::SimLoop(SimScheduler& scheduler, SimLoopOptions options)
    : scheduler_(scheduler), options_(options), number_(++scheduler.born_), clock_(&scheduler.clock_) {
  scheduler_.loops_.push_back(this);
}

SimLoop::~SimLoop() {
  std::erase(scheduler_.loops_, this);
  if (scheduler_.running_ == this) scheduler_.running_ = nullptr;
  // Captured objects may call cancel or unwatch as they go: let them find empty maps.
  timers_.clear();
  auto events = std::move(events_);
  events_.clear();
  auto watches = std::move(watches_);
  watches_.clear();
}

bool SimLoop::in_loop() const {
  return std::this_thread::get_id() == thread_ &&
         (scheduler_.running_ == nullptr || scheduler_.running_ == this);
}

void SimLoop::post_in(Duration delay, Work work) {
  SAMOVAR_ASSERT(std::this_thread::get_id() == thread_);
  events_.emplace(Due{scheduler_.clock_.mono() + delay, ++last_id_}, std::move(work));
}

Loop::Id SimLoop::after(Duration delay, Work work) {
  SAMOVAR_ASSERT(in_loop());
  delay = std::clamp<Duration>(delay, Duration::zero(), std::chrono::hours(876'000));
  if (options_.timer_late_max > Duration::zero()) {
    delay += Duration(scheduler_.rng_.below(static_cast<std::uint64_t>(options_.timer_late_max.count()) + 1));
  }
  const Id id = ++last_id_;
  const MonoTime due = scheduler_.clock_.mono() + delay;
  events_.emplace(Due{due, id}, std::move(work));
  timers_.emplace(id, due);
  return id;
}

// Not in_loop(): a node that another loop's work crashes cancels its timers as it goes.
void SimLoop::cancel(Id timer) {
  SAMOVAR_ASSERT(std::this_thread::get_id() == thread_);
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  auto event = events_.extract({found->second, timer});  // destroyed last: it may call back here
  timers_.erase(found);
}

Loop::Id SimLoop::watch(int fd, Work readable) {
  SAMOVAR_ASSERT(in_loop());
  const Id id = ++last_id_;
  watches_.emplace(id, Watch{fd, std::move(readable)});
  return id;
}

void SimLoop::unwatch(Id watch) {
  SAMOVAR_ASSERT(std::this_thread::get_id() == thread_);
  auto gone = watches_.extract(watch);
}

void SimLoop::poll_watches() {
  for (const auto& entry : watches_) {
    const Id id = entry.first;
    const Due now{scheduler_.clock_.mono(), id};
    // The event takes the watch's own id, so that one is queued at most once.
    if (timers_.contains(id)) continue;
    pollfd poll_one{entry.second.fd, POLLIN, 0};
    if (::poll(&poll_one, 1, 0) <= 0) continue;
    timers_.emplace(id, now.first);
    events_.emplace(now, [this, id] {
      const auto found = watches_.find(id);
      if (found == watches_.end()) return;           // unwatched meanwhile
      const Work readable = found->second.readable;  // a copy: it may unwatch itself
      readable();
    });
  }
}

}  // namespace samovar
