// What a node asks the leader, and what it hears: a command and its reply, or the time.
//
// Threading: values.
// Format:    docs/formats/command.md, "To the leader"
#pragma once
#include <cstdint>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace samovar::cluster {

enum class ProposeKind : std::uint8_t {
  clock = 0,    // nothing but the answer's time
  command = 1,  // body: encode_command; the leader puts in its own time
};

struct ProposeQuestion {
  ProposeKind kind = ProposeKind::clock;
  Bytes body;
};

struct ProposeAnswer {
  std::uint64_t index = 0;  // applied there: at least that of the command
  WallTime time;            // cluster time when the leader answered
  Bytes reply;              // decode_reply; empty for clock
};

Bytes encode_question(const ProposeQuestion& question);
// Errc::unsupported: of a later version. Errc::invalid: none at all.
Result<ProposeQuestion> decode_question(ByteView bytes);
Bytes encode_answer(const ProposeAnswer& answer);
Result<ProposeAnswer> decode_answer(ByteView bytes);

}  // namespace samovar::cluster
