// Threads that parse blocks. What they make is delivered in the order it was handed in, on the thread that
// hands it in, so the outcome is the same for any number of threads.
//
// Threading: submit() and finish() on one thread, which also runs `deliver`. With one thread there is none
// besides it. Threads are named ingest-<n>.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "daemon/ingest/block_parser.hpp"
#include "daemon/ingest/shard_text.hpp"

namespace samovar::ingest {

class BlockPool {
 public:
  using Deliver = std::function<Result<void>(ParsedBlock&)>;

  // `rules` outlive the pool.
  static Result<std::unique_ptr<BlockPool>> create(const BlockRules& rules, unsigned threads,
                                                   Deliver deliver);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Takes the text and leaves an empty one with room in its place. Waits while every slot is busy.
  Result<void> submit(ShardText& text);
  // Delivers all that is left.
  Result<void> finish();

 private:
  enum class State : std::uint8_t { empty, waiting, running, done };
  struct Slot {
    State state = State::empty;
    ShardText text;
    ParsedBlock block;
    std::string failure;  // a library threw
  };

  explicit BlockPool(Deliver deliver) : deliver_(std::move(deliver)) {}
  void run(BlockParser& parser);
  Result<void> deliver_oldest(bool wait, bool& delivered);

  const Deliver deliver_;
  std::vector<std::unique_ptr<BlockParser>> parsers_;
  std::vector<std::thread> threads_;
  // The submitting thread's.
  std::uint64_t oldest_ = 0;
  std::uint64_t submitted_ = 0;
  ParsedBlock single_;
  // A slot's content belongs to whom its state says; the rest is guarded.
  std::vector<Slot> slots_;
  Mutex mutex_;
  CondVar work_;
  CondVar done_;
  std::uint64_t waiting_end_ SAMOVAR_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ SAMOVAR_GUARDED_BY(mutex_) = 0;
  bool stop_ SAMOVAR_GUARDED_BY(mutex_) = false;
};

}  // namespace samovar::ingest
