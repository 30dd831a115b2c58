#include "daemon/api/body_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

constexpr std::size_t kTrailerBytesMax = 4096;
// Of all chunks together: nobody sends any, and each byte of a body could carry hundreds of them.
constexpr std::size_t kExtensionBytesMax = 16 * 1024;
constexpr std::size_t kSizeDigitsMax = 15;  // no overflow, and far beyond any limit

Refusal bad_chunk(std::string_view what) {
  return {400, "bad_chunk", fmt::format("The chunked body is malformed: {}.", what)};
}

}  // namespace

BodyDecoder::BodyDecoder(const RequestHead& head, std::uint64_t bytes_max)
    : state_(State::done), room_(bytes_max), bytes_max_(bytes_max) {
  if (head.framing == Framing::chunked) state_ = State::chunk_line;
  if (head.framing == Framing::length && head.content_length > 0) {
    state_ = State::fixed;
    length_ = left_ = head.content_length;
  }
}

std::optional<Refusal> BodyDecoder::check_length() const {
  if (length_ <= bytes_max_) return std::nullopt;
  return Refusal{413, "body_too_large",
                 fmt::format("The body has {} bytes; this address accepts {}.", length_, bytes_max_)};
}

// A line without its CR LF, in the states that read lines.
std::optional<Refusal> BodyDecoder::take_line(std::string_view line) {
  if (std::any_of(line.begin(), line.end(), [](char c) { return is_control(c) && c != '\t'; })) {
    return bad_chunk("a control character in a line");
  }
  if (state_ == State::chunk_end) {
    if (!line.empty()) return bad_chunk("no line end after a chunk");
    state_ = State::chunk_line;
    return std::nullopt;
  }
  if (state_ == State::trailer) {
    trailer_bytes_ += line.size() + 2;
    if (trailer_bytes_ > kTrailerBytesMax) return bad_chunk("the trailer is too long");
    // Trailer fields are dropped: none of ours has a meaning there.
    if (line.empty()) state_ = State::done;
    return std::nullopt;
  }
  std::size_t digits = 0;
  std::uint64_t size = 0;
  while (digits < line.size() && hex_digit(line[digits]) >= 0) {
    if (digits == kSizeDigitsMax) return bad_chunk("a chunk size is too long");
    size = size * 16 + static_cast<std::uint64_t>(hex_digit(line[digits++]));
  }
  const std::string_view rest = trim(line.substr(digits));
  if (digits == 0 || (!rest.empty() && rest.front() != ';'))
    return bad_chunk("a chunk size is not a hex number");
  extension_bytes_ += line.size() - digits;
  if (extension_bytes_ > kExtensionBytesMax) return bad_chunk("its chunks have too many extensions");
  if (size > room_) {
    return Refusal{413, "body_too_large",
                   fmt::format("The body is larger than the {} bytes this address accepts.", bytes_max_)};
  }
  room_ -= size;
  left_ = size;
  state_ = size == 0 ? State::trailer : State::chunk_data;
  return std::nullopt;
}

void BodyDecoder::took(std::uint64_t bytes) noexcept {
  left_ -= bytes;
  if (left_ == 0) state_ = state_ == State::fixed ? State::done : State::chunk_end;
}

BodyDecoder::Step BodyDecoder::decode(std::string_view in, Bytes& out, std::size_t out_bytes_max) {
  Step step;
  while (state_ != State::done && step.used < in.size()) {
    const std::string_view rest = in.substr(step.used);
    if (state_ == State::fixed || state_ == State::chunk_data) {
      if (out.size() >= out_bytes_max) break;
      const std::size_t take =
          static_cast<std::size_t>(std::min<std::uint64_t>({left_, rest.size(), out_bytes_max - out.size()}));
      const ByteView bytes = as_bytes(rest.substr(0, take));
      out.insert(out.end(), bytes.begin(), bytes.end());
      step.used += take;
      took(take);
      continue;
    }
    const std::size_t end = rest.substr(0, kLineBytesMax).find('\n');
    if (end == std::string_view::npos) {
      if (rest.size() >= kLineBytesMax) step.refusal = bad_chunk("a line is too long");
      break;
    }
    if (end == 0 || rest[end - 1] != '\r') {
      step.refusal = bad_chunk("a line does not end with CR LF");
      break;
    }
    step.refusal = take_line(rest.substr(0, end - 1));
    if (step.refusal) break;
    step.used += end + 1;
  }
  return step;
}

}  // namespace samovar::api
