// Messages between nodes as a seam: unordered between peers, possibly lost, never altered.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar {

// Two ways to a peer, so that a file on its way never makes a vote wait.
enum class Lane : std::uint8_t { control, bulk };

class Transport {
 public:
  using OnMessage = std::function<void(const std::string& from, Bytes message)>;
  using OnLost = std::function<void(const std::string& peer, Lane lane)>;

  virtual ~Transport() = default;
  virtual const std::string& self() const = 0;
  // Ok means handed over, not received: whoever needs to know asks for an answer. Errc::unavailable: there is
  // no way to it now; Errc::busy: too much waits on this lane already; Errc::invalid: too long for the lane.
  virtual Result<void> send(const std::string& to, Bytes message, Lane lane = Lane::control) = 0;
  virtual void on_message(OnMessage handler) = 0;
  // Something handed over on this lane will never arrive, as far as is known: who waits for an answer to it
  // need not wait longer. A transport that cannot know never calls.
  virtual void on_lost(OnLost) {}
};

}  // namespace samovar
