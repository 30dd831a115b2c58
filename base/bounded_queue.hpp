// A queue between threads with a capacity: when it is full, the producer is told and decides.
//
// Threading: any thread.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/mutex.hpp"

namespace samovar {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) { SAMOVAR_ASSERT(capacity > 0); }

  // False when full or closed; the item is then left as it was.
  [[nodiscard]] bool try_push(T&& item) {
    {
      MutexLock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
    return true;
  }

  // Waits for an item; nothing once the queue is closed and empty.
  std::optional<T> pop() {
    MutexLock lock(mutex_);
    while (items_.empty() && !closed_) changed_.wait(mutex_);
    return take();
  }

  std::optional<T> try_pop() {
    MutexLock lock(mutex_);
    return take();
  }

  // No more pushes; what is queued can still be popped.
  void close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  std::size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::optional<T> take() SAMOVAR_REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  // Constant after construction.
  const std::size_t capacity_;
  // Guarded.
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<T> items_ SAMOVAR_GUARDED_BY(mutex_);
  bool closed_ SAMOVAR_GUARDED_BY(mutex_) = false;
};

}  // namespace samovar
