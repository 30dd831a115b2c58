// Writing to a descriptor, past the page cache where that spares a copy: what is sealed is seldom read again
// soon, and copying it costs as much as sealing it.
//
// The whole blocks of a large piece go past the cache when they begin at a multiple of kDiskBlockBytes both
// in the file and in memory (BlockBuffer). What is left before and behind them, and everything else, goes
// through the cache as ever. Where the file system cannot do it (tmpfs of older kernels), all of it does.
//
// Threading: one descriptor is used by one thread at a time.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/bytes.hpp"

namespace samovar {

inline constexpr std::size_t kDiskBlockBytes = 4096;
inline constexpr std::size_t kDirectBytesMin = 128u << 10;

class DirectWriter {
 public:
  // All of it. 0, or the errno of what failed.
  int write(int fd, std::uint64_t offset, ByteView data) noexcept;

 private:
  int write_blocks(int fd, std::uint64_t offset, ByteView data, std::size_t& done) noexcept;
  bool refused_ = false;  // by this file system
};

// Memory that begins where a block of the disk may.
class BlockBuffer {
 public:
  explicit BlockBuffer(std::size_t bytes);
  MutableBytes bytes() noexcept { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const noexcept { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<std::uint8_t, Free> memory_;
};

}  // namespace samovar
