#include "security/hash_gate.hpp"

#include <deque>

#include "base/assert.hpp"
#include "security/password.hpp"

namespace samovar::security {

struct HashGate::State : std::enable_shared_from_this<HashGate::State> {
  struct Job {
    std::function<void()> work;
    std::function<void(bool)> finished;
  };

  State(Pool& p, Loop& l, HashGateOptions o) : pool(p), loop(l), options(o) {}

  void start(Job job) {
    ++running;
    auto on_pool = [self = shared_from_this(), work = std::move(job.work),
                    finished = job.finished]() mutable {
      work();
      work = nullptr;  // its secrets end here, not when the loop gets round to it
      Loop& back = self->loop;
      back.post([state = std::move(self), done = std::move(finished)] { state->leave(done); });
    };
    if (pool.submit(std::move(on_pool))) return;
    --running;
    job.finished(false);
  }

  void leave(const std::function<void(bool)>& finished) {
    --running;
    // Room goes to those who wait before the finished caller may ask again.
    while (!closed && running < options.running_max && !waiting.empty()) {
      Job next = std::move(waiting.front());
      waiting.pop_front();
      start(std::move(next));
    }
    finished(true);
  }

  // Constant after construction.
  Pool& pool;
  Loop& loop;
  const HashGateOptions options;
  // Loop only.
  std::size_t running = 0;
  std::deque<Job> waiting;
  bool closed = false;
};

HashGate::HashGate(Pool& pool, Loop& loop, HashGateOptions options)
    : state_(std::make_shared<State>(pool, loop, options)) {
  SAMOVAR_ASSERT(options.running_max > 0);
}

HashGate::~HashGate() {
  state_->closed = true;
  // Posted, not called: those who wait may be owned by whoever is destroying us.
  for (State::Job& job : state_->waiting)
    state_->loop.post([finished = std::move(job.finished)] { finished(false); });
  state_->waiting.clear();
}

void HashGate::enter(std::function<void()> work, std::function<void(bool)> finished) {
  if (state_->running < state_->options.running_max) {
    state_->start({std::move(work), std::move(finished)});
  } else if (state_->waiting.size() < state_->options.waiting_max) {
    state_->waiting.push_back({std::move(work), std::move(finished)});
  } else {
    finished(false);
  }
}

Error HashGate::busy() {
  return Error{Errc::busy, "too many passwords are being checked right now: try again in a few seconds"};
}

std::size_t HashGate::running() const noexcept { return state_->running; }
std::size_t HashGate::waiting() const noexcept { return state_->waiting.size(); }
const HashGateOptions& HashGate::options() const noexcept { return state_->options; }

Task<Result<std::string>> HashGate::hash_password(SecretBytes password, const SecretBytes& pepper) {
  // shared: std::function copies what it captures, and a secret cannot be copied.
  auto secrets = std::make_shared<std::pair<SecretBytes, SecretBytes>>(std::move(password), pepper.clone());
  return run<std::string>([secrets, cost = options().password_cost] {
    return security::hash_password(secrets->first.view(), secrets->second, cost);
  });
}

Task<Result<bool>> HashGate::verify_password(std::optional<std::string> stored, SecretBytes password,
                                             const SecretBytes& pepper) {
  auto secrets = std::make_shared<std::pair<SecretBytes, SecretBytes>>(std::move(password), pepper.clone());
  return run<bool>([secrets, stored = std::move(stored), cost = options().password_cost] {
    return stored ? security::verify_password(*stored, secrets->first.view(), secrets->second)
                  : security::verify_nobody(secrets->first.view(), secrets->second, cost);
  });
}

}  // namespace samovar::security
