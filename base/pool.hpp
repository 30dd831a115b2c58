// A few named threads with one bounded queue: the `cpu` pool hashes, the `io` pool waits for disks.
//
// Threading: submit() from any thread. Work reaches the loop again by loop.post, which run_on does.
// Ownership: destroy a pool before the loop its work posts to; the destructor runs what is queued.
#pragma once
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace samovar {

class Pool {
 public:
  // With 0 threads submit() runs the work at once, on the caller's thread: simulations need that order.
  Pool(std::string name, unsigned threads, std::size_t queue_max);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // False when the queue is full; the work is then not run.
  [[nodiscard]] bool submit(std::function<void()> work);
  const std::string& name() const noexcept { return name_; }

 private:
  void run(unsigned number);

  // Constant after construction.
  const std::string name_;
  BoundedQueue<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
};

namespace detail {
template <class T>
struct AsResult {
  using type = Result<T>;
};
template <class T>
struct AsResult<Result<T>> {
  using type = Result<T>;
};

// A library's exception becomes an Error here, at the root of the work.
template <class R, class F>
R call_caught(F& work) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      work();
      return R{};
    } else {
      return R(work());
    }
  } catch (const std::exception& e) {
    return Error{Errc::internal, std::string("work on a pool threw: ") + e.what()};
  }
}
}  // namespace detail

// Runs `work` on the pool; the awaiting coroutine goes on, on the loop, with its Result:
//   auto work = [password] { return hash(password); };
//   Result<Hash> h = co_await run_on(cpu, loop, std::move(work));
// (Named first: g++ 12 destroys a lambda with captured values twice when it is written inside co_await.)
// Work may return T, void or Result<T>. Errc::busy when the pool's queue is full.
// Await it on the loop thread. What `work` captures is destroyed on the pool's thread.
template <class F>
auto run_on(Pool& pool, Loop& loop, F work)
    -> Task<typename detail::AsResult<std::invoke_result_t<F&>>::type> {
  using R = typename detail::AsResult<std::invoke_result_t<F&>>::type;
  // Shared because std::function copies, and work may be move-only.
  auto shared = std::make_shared<F>(std::move(work));
  auto start = [&pool, &loop, shared = std::move(shared)](std::function<void(R)> done) mutable {
    auto job = [&loop, shared = std::move(shared), done]() mutable {
      auto result = std::make_shared<R>(detail::call_caught<R>(*shared));
      shared.reset();
      loop.post([result = std::move(result), done = std::move(done)] { done(std::move(*result)); });
    };
    if (!pool.submit(std::move(job)))
      done(Error{Errc::busy, "the " + pool.name() + " pool is full: try again later"});
  };
  co_return co_await from_callback<R>(std::move(start));
}

}  // namespace samovar
