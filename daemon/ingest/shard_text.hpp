// The rows of one shard as text, until there are enough of them for a block.
//
// Rows are dealt as text, not as values: a row is one copy, however many columns it has, and everything that
// costs (splitting, numbers, dictionaries, packing) then happens a block at a time, on any thread.
//
// Threading: values; moved from the thread that deals to one that parses, and back for the next block.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "daemon/ingest/stage_loops.hpp"
#include "daemon/ingest/text_marks.hpp"

namespace samovar::ingest {

// Text with readable room before and after it. Grows without being cleared.
class TextBuffer {
 public:
  // Numbers are read eight bytes at a time, ending with their last digit.
  static constexpr std::size_t kFront = 64;

  char* data() noexcept { return memory_.get() + kFront; }
  const char* data() const noexcept { return memory_.get() + kFront; }
  std::size_t capacity() const noexcept { return capacity_; }

  void reserve(std::size_t bytes) {
    if (bytes <= capacity_ && memory_) return;
    if (memory_) bytes = std::max(bytes, capacity_ + capacity_ / 2);
    std::size_t whole = kFront + bytes + kBehind;
    // Rows go to all shards in turn: with small pages nearly every one would miss the address cache. Only
    // where a large page is filled nearly whole: it takes its memory at once.
    const bool large =
        bytes % kLargePage >= kLargePage - (64u << 10) && whole % kLargePage >= bytes % kLargePage;
    if (large) whole = (whole + kLargePage - 1) / kLargePage * kLargePage;
    void* const grown = large ? std::aligned_alloc(kLargePage, whole) : std::malloc(whole);
    SAMOVAR_ASSERT(grown != nullptr);
    if (large) static_cast<void>(::madvise(grown, whole, MADV_HUGEPAGE));  // only advice: it may be refused
    if (memory_)
      std::memcpy(grown, memory_.get(), kFront + capacity_);
    else
      std::memset(grown, 0, kFront);
    memory_.reset(static_cast<char*>(grown));
    capacity_ = whole - kFront - kBehind;
  }

 private:
  static constexpr std::size_t kLargePage = 2u << 20;
  static constexpr std::size_t kBehind = kRowSlack + kTextSlack;
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::size_t capacity_ = 0;
};

struct ShardText {
  TextBuffer text;
  std::size_t size = 0;              // bytes of text; each row ends with '\n'
  std::vector<std::uint32_t> ends;   // where that stands
  std::vector<std::uint64_t> lines;  // of the file, for the rows that turn out bad
  std::uint32_t shard = 0;
  std::uint64_t sequence = 0;  // blocks are handed on in this order
  double sample_share = 1;     // of the rows, for the costly parts of the statistics (StatsPlan)
  double moments_share = 1;

  std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(ends.size()); }

  // `row` may be read for kRowSlack bytes past its end.
  void append(const char* row, std::size_t bytes, std::uint64_t line) {
    char* out = text.data() + size;
    stage_loops::copy_row(row, bytes, out);
    out[bytes] = '\n';
    ends.push_back(static_cast<std::uint32_t>(size + bytes));
    lines.push_back(line);
    size += bytes + 1;
    // The next row comes here after those of the other shards: by then its lines are at hand.
    for (std::size_t i = 64; i <= 256; i += 64) __builtin_prefetch(out + bytes + i, 1);
  }
  void clear() noexcept {
    size = 0;
    ends.clear();
    lines.clear();
  }
};

}  // namespace samovar::ingest
