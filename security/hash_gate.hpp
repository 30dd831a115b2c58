// Bounds password hashing: a few run, a few wait, the rest are told to come back. Without it a burst
// of log-ins is 64 MiB each until the box is out of memory.
//
// Threading: loop only; the work itself runs on the pool. Work may outlive the gate: what it needs it owns.
// Ownership: borrows Pool and Loop, which outlive it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/loop.hpp"
#include "base/pool.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "security/argon2.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

struct HashGateOptions {
  std::size_t running_max = 2;
  std::size_t waiting_max = 16;
  Argon2Cost password_cost = kPasswordCost;
};

class HashGate {
 public:
  HashGate(Pool& pool, Loop& loop, HashGateOptions options = {});
  ~HashGate();
  HashGate(const HashGate&) = delete;
  HashGate& operator=(const HashGate&) = delete;

  // Errc::busy "… try again in a few seconds" when the queue is full. The pepper is copied.
  Task<Result<std::string>> hash_password(SecretBytes password, const SecretBytes& pepper);
  // `stored` empty: an unknown user; costs the same and is false.
  Task<Result<bool>> verify_password(std::optional<std::string> stored, SecretBytes password,
                                     const SecretBytes& pepper);

  // Any other costly derivation, e.g. Keyring::unlock.
  template <class T>
  Task<Result<T>> run(std::function<Result<T>()> work) {
    // shared: written on the pool's thread, read on the loop after `finished` was posted there.
    auto result = std::make_shared<std::optional<Result<T>>>();
    // NOLINTBEGIN(performance-unnecessary-value-param): `done` is moved from
    std::function<void(std::function<void(bool)>)> start = [this, work,
                                                            result](std::function<void(bool)> done) {
      enter([work, result]() mutable { result->emplace(samovar::detail::call_caught<Result<T>>(work)); },
            std::move(done));
    };
    // NOLINTEND(performance-unnecessary-value-param)
    const bool ran = co_await from_callback<bool>(std::move(start));
    if (!ran) co_return busy();
    co_return std::move(**result);
  }

  // Callback form: `finished(true)` on the loop after `work` ran on the pool; `finished(false)` at once
  // when there is no room.
  void enter(std::function<void()> work, std::function<void(bool ran)> finished);
  static Error busy();

  std::size_t running() const noexcept;
  std::size_t waiting() const noexcept;
  const HashGateOptions& options() const noexcept;

 private:
  struct State;
  // shared: completions posted by the pool may arrive after the gate is gone.
  std::shared_ptr<State> state_;
};

}  // namespace samovar::security
