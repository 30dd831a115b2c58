#include "base/pool.hpp"

#include "base/log.hpp"
#include "base/thread_name.hpp"

namespace samovar {
namespace {

void run_caught(const std::string& pool, std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    SAMOVAR_LOG(error, base, "work on a pool threw", kv("pool", pool), kv("what", e.what()));
  }
}

}  // namespace

Pool::Pool(std::string name, unsigned threads, std::size_t queue_max)
    : name_(std::move(name)), queue_(queue_max) {
  threads_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { run(i); });
}

Pool::~Pool() {
  queue_.close();
  for (auto& thread : threads_) thread.join();
}

bool Pool::submit(std::function<void()> work) {
  if (!threads_.empty()) return queue_.try_push(std::move(work));
  run_caught(name_, work);
  return true;
}

void Pool::run(unsigned number) {
  set_thread_name(name_ + "-" + std::to_string(number));
  while (auto work = queue_.pop()) run_caught(name_, *work);
}

}  // namespace samovar
