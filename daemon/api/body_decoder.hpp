// A request's body out of its framing: nothing, Content-Length bytes, or chunks. Our own and strict:
// chunk lines and trailers are bounded, and any doubt about where the body ends is an error.
//
// Threading: one thread at a time. Knows no socket.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "daemon/api/refusal.hpp"
#include "daemon/api/request_head.hpp"

namespace samovar::api {

class BodyDecoder {
 public:
  BodyDecoder(const RequestHead& head, std::uint64_t bytes_max);

  // 413 when Content-Length alone exceeds the limit: ask before reading.
  std::optional<Refusal> check_length() const;
  bool done() const noexcept { return state_ == State::done; }

  struct Step {
    std::size_t used = 0;  // of `in`; the rest is to be offered again, with more behind it
    std::optional<Refusal> refusal;
  };
  // Appends to `out` until it holds `out_bytes_max`, the body ends or `in` has nothing complete left.
  Step decode(std::string_view in, Bytes& out, std::size_t out_bytes_max);

  // Bytes of the body that come next without any framing between them.
  std::uint64_t plain_bytes() const noexcept {
    return state_ == State::fixed || state_ == State::chunk_data ? left_ : 0;
  }

  // `in` this long without progress cannot be a chunk line: at most one line is ever held back.
  static constexpr std::size_t kLineBytesMax = 512;

 private:
  //          chunk_line → chunk_data → chunk_end → chunk_line …
  // (start)      └─ size 0 → trailer (each line) ── empty line ─┐
  //          fixed ────────────────────────────────────────────┴→ done
  enum class State : std::uint8_t { fixed, chunk_line, chunk_data, chunk_end, trailer, done };
  std::optional<Refusal> take_line(std::string_view line);
  void took(std::uint64_t bytes) noexcept;

  State state_;
  std::uint64_t length_ = 0;  // Content-Length
  std::uint64_t left_ = 0;    // of the fixed body or of this chunk
  std::uint64_t room_ = 0;    // until the limit
  std::uint64_t bytes_max_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace samovar::api
