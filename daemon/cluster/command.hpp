// A command as it goes through the log, and its reply: CBOR, decoded strictly.
//
// The one who proposes puts in everything that is not the same everywhere: the time, new ids, hashes.
// Applying is then the same on every node and at every replay.
//
// Threading: values.
// Format:    docs/formats/command.md
#pragma once
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "daemon/cluster/fields.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::cluster {

struct Command {
  std::string type;  // "user.create"; see command_table.cpp
  WallTime time;     // the leader's wall clock
  Actor actor;
  std::string request_id;  // empty: may happen twice
  Fields body;
};

// What this program understands. A command says the version it needs, so that one an older node can read
// stays readable for it; docs/formats/command.md, "Versions".
inline constexpr std::int64_t kCommandVersion = 7;
std::int64_t command_level(std::string_view type, const Fields& body);

Bytes encode_command(const Command& command);
// Errc::invalid names what is wrong; Errc::unsupported is a command of a newer version.
Result<Command> decode_command(ByteView bytes);

// {ok:true, …} or {ok:false, code, message}.
Bytes encode_reply(const Result<Fields>& reply);
Result<Fields> decode_reply(ByteView bytes);

// The messages by which refusal_of knows a refusal.
Error refuse(Refusal refusal);
// Refusal::no_quorum, which is Errc::unavailable: this side has too few nodes, or none leads for the moment.
Error refuse_without_leader(std::string_view why);
// Refusal::last_copies; `what`: "3 files, of the data set …".
Error refuse_losses(std::string_view what);

}  // namespace samovar::cluster
