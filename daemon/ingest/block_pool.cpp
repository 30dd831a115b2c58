#include "daemon/ingest/block_pool.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/thread_name.hpp"

namespace samovar::ingest {

Result<std::unique_ptr<BlockPool>> BlockPool::create(const BlockRules& rules, unsigned threads,
                                                     Deliver deliver) {
  std::unique_ptr<BlockPool> pool(new BlockPool(std::move(deliver)));
  for (unsigned i = 0; i < std::max(1u, threads); ++i) {
    SAMOVAR_TRY(auto parser, BlockParser::create(rules));
    pool->parsers_.push_back(std::move(parser));
  }
  if (threads <= 1) return pool;
  pool->slots_.resize(threads + 1);
  for (unsigned i = 0; i < threads; ++i) {
    BlockPool* const self = pool.get();
    pool->threads_.emplace_back([self, i] {
      set_thread_name(fmt::format("ingest-{}", i));
      self->run(*self->parsers_[i]);
    });
  }
  return pool;
}

BlockPool::~BlockPool() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BlockPool::run(BlockParser& parser) {
  while (true) {
    Slot* slot = nullptr;
    {
      MutexLock lock(mutex_);
      while (next_ == waiting_end_ && !stop_) work_.wait(mutex_);
      if (stop_) return;
      slot = &slots_[next_++ % slots_.size()];
      slot->state = State::running;
    }
    try {
      slot->failure.clear();
      parser.parse(slot->text, slot->block);
    } catch (const std::exception& error) {
      slot->failure = error.what();
    }
    {
      MutexLock lock(mutex_);
      slot->state = State::done;
    }
    done_.notify_one();
  }
}

Result<void> BlockPool::deliver_oldest(bool wait, bool& delivered) {
  delivered = false;
  if (oldest_ == submitted_) return {};
  Slot& slot = slots_[oldest_ % slots_.size()];
  {
    MutexLock lock(mutex_);
    while (wait && slot.state != State::done) done_.wait(mutex_);
    if (slot.state != State::done) return {};
    slot.state = State::empty;
  }
  ++oldest_;
  delivered = true;
  if (!slot.failure.empty()) return Error{Errc::internal, "parsing stopped: " + slot.failure};
  return deliver_(slot.block);
}

Result<void> BlockPool::submit(ShardText& text) {
  if (threads_.empty()) {
    parsers_[0]->parse(text, single_);
    text.clear();
    return deliver_(single_);
  }
  bool delivered = true;
  while (delivered) SAMOVAR_CHECK(deliver_oldest(submitted_ - oldest_ == slots_.size(), delivered));
  Slot& slot = slots_[submitted_ % slots_.size()];
  std::swap(slot.text, text);
  text.clear();
  {
    MutexLock lock(mutex_);
    slot.state = State::waiting;
    waiting_end_ = ++submitted_;
  }
  work_.notify_one();
  return {};
}

Result<void> BlockPool::finish() {
  while (oldest_ != submitted_) {
    bool delivered = false;
    SAMOVAR_CHECK(deliver_oldest(true, delivered));
  }
  return {};
}

}  // namespace samovar::ingest
