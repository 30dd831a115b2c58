// One connection between a member and a node that is no member yet: TLS that hides, but proves nothing. What
// it carries proves itself (security/join.hpp). Messages of at most 64 KiB, one connection at a time at the
// door.
//
// Threading: loop only from outside. Ownership: a JoinDoor or a line is closed by destroying it.
// Format:    docs/formats/join.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace samovar::net {

inline constexpr std::size_t kJoinMessageBytesMax = 64 * 1024;

class JoinLine {
 public:
  virtual ~JoinLine() = default;
  virtual std::string remote() const = 0;  // "10.0.0.7:41234"
  virtual Result<void> send(Bytes message) = 0;
  // Errc::timeout, after which one may ask again, or Errc::unavailable once the other end is gone. One at a
  // time. The line outlives it.
  virtual Task<Result<Bytes>> receive(Duration deadline) = 0;
  // Sends what was handed over, then ends. A receive that waits gets Errc::unavailable, on the loop and not
  // from inside this call.
  virtual void close() = 0;
};

// The unclaimed node's side: listens where the mesh will listen once it is a member.
class JoinDoor {
 public:
  using OnLine = std::function<void(std::unique_ptr<JoinLine>)>;
  static Result<std::unique_ptr<JoinDoor>> open(Loop& loop, std::vector<std::string> listen, OnLine on_line);
  virtual ~JoinDoor() = default;
  virtual std::vector<std::uint16_t> ports() const = 0;
};

// The member's side; without a port in the address 7443 holds. The error's sentence says which step failed
// and why; its code tells them apart: invalid (no address), not_found (no such name), io (no route),
// unavailable (refused: nothing listens, or a firewall rejects), timeout (a firewall drops, or the wrong
// address), unsupported (no TLS), busy (it hung up at once: it talks with another member, or is none to be
// joined).
Task<Result<std::unique_ptr<JoinLine>>> dial_join(Loop& loop, std::string address, Duration deadline);

}  // namespace samovar::net
