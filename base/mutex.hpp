// std::mutex and condition_variable with clang's thread-safety annotations, which libstdc++ lacks.
//
// Mutexes are few here (queues, log, metrics, failpoints): control state belongs to the loop thread
// and needs none.
#pragma once
#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define SAMOVAR_THREAD_ATTR(x) __attribute__((x))
#else
#define SAMOVAR_THREAD_ATTR(x)
#endif
#define SAMOVAR_GUARDED_BY(mutex) SAMOVAR_THREAD_ATTR(guarded_by(mutex))
#define SAMOVAR_REQUIRES(...) SAMOVAR_THREAD_ATTR(requires_capability(__VA_ARGS__))

namespace samovar {

class SAMOVAR_THREAD_ATTR(capability("mutex")) Mutex {
 public:
  void lock() SAMOVAR_THREAD_ATTR(acquire_capability()) { mutex_.lock(); }
  void unlock() SAMOVAR_THREAD_ATTR(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SAMOVAR_THREAD_ATTR(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SAMOVAR_THREAD_ATTR(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SAMOVAR_THREAD_ATTR(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Spurious wake-ups happen: wait in a while loop around the condition.
  void wait(Mutex& mutex) SAMOVAR_THREAD_ATTR(requires_capability(mutex)) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace samovar
