// Raw deflate or gzip members, a piece at a time. zlib stays in the .cpp.
//
// Threading: one thread at a time.
#pragma once
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/packed_input.hpp"

namespace samovar::ingest {

class Inflater {
 public:
  enum class Wrap : std::uint8_t { gzip, none };
  explicit Inflater(Wrap wrap);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // 0 only when the stream ended. Errc::invalid: the input ends in the middle; Errc::corrupt: it is damaged.
  Result<std::size_t> read(PackedInput& input, MutableBytes out);
  bool ended() const { return ended_; }
  void restart();  // for the next member

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool ended_ = false;
};

}  // namespace samovar::ingest
