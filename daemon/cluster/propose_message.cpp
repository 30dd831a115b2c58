#include "daemon/cluster/propose_message.hpp"

#include <cstddef>

namespace samovar::cluster {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kAnswerHead = 1 + 8 + 8;

void put_u64(Bytes& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

std::uint64_t get_u64(ByteView bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

Result<void> check_version(ByteView bytes) {
  if (bytes.empty()) return Error{Errc::invalid, "an empty message"};
  if (bytes[0] != kVersion)
    return Error{Errc::unsupported, "a message of another version: install the same version on all nodes"};
  return {};
}

}  // namespace

Bytes encode_question(const ProposeQuestion& question) {
  Bytes out = {kVersion, static_cast<std::uint8_t>(question.kind)};
  out.insert(out.end(), question.body.begin(), question.body.end());
  return out;
}

Result<ProposeQuestion> decode_question(ByteView bytes) {
  SAMOVAR_CHECK(check_version(bytes));
  if (bytes.size() < 2 || bytes[1] > static_cast<std::uint8_t>(ProposeKind::command))
    return Error{Errc::invalid, "no question to a leader"};
  ProposeQuestion question;
  question.kind = static_cast<ProposeKind>(bytes[1]);
  question.body = to_bytes(bytes.subspan(2));
  if (question.kind == ProposeKind::clock && !question.body.empty())
    return Error{Errc::invalid, "bytes behind a question for the time"};
  return question;
}

Bytes encode_answer(const ProposeAnswer& answer) {
  Bytes out = {kVersion};
  put_u64(out, answer.index);
  put_u64(out, static_cast<std::uint64_t>(answer.time.time_since_epoch().count()));
  out.insert(out.end(), answer.reply.begin(), answer.reply.end());
  return out;
}

Result<ProposeAnswer> decode_answer(ByteView bytes) {
  SAMOVAR_CHECK(check_version(bytes));
  if (bytes.size() < kAnswerHead) return Error{Errc::invalid, "no answer of a leader"};
  ProposeAnswer answer;
  answer.index = get_u64(bytes, 1);
  const auto time_us = static_cast<std::int64_t>(get_u64(bytes, 9));
  // The years 1970 to 9999, as in commands: sums of such times do not overflow.
  if (time_us < 0 || time_us > 253'402'300'799'999'999)
    return Error{Errc::invalid, "an answer with an impossible time"};
  answer.time = WallTime(std::chrono::microseconds(time_us));
  answer.reply = to_bytes(bytes.subspan(kAnswerHead));
  return answer;
}

}  // namespace samovar::cluster
