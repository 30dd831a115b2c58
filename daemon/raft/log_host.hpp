// What a log stands on: its files, its clock, and somebody who wakes it. The real one is UvHost; simulations
// bring their own.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <functional>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "daemon/raft/sealer.hpp"

struct raft_io;

namespace samovar::raft {

struct ConsensusOptions;

struct LogFound {
  bool whole = false;  // `head` is the last entry; false: a host that does not look ahead
  Position head;
  Witness witness;
};

class LogHost {
 public:
  virtual ~LogHost() = default;

  // Begins a log, or judges the one that is there. An error leaves everything as it was.
  virtual Result<LogFound> prepare(const ConsensusOptions& options, const Sealer& sealer) = 0;
  // Ready for raft_init; valid until close_io, which comes after raft_close has finished.
  virtual Result<::raft_io*> open_io(const ConsensusOptions& options) = 0;
  virtual void close_io() = 0;

  virtual Loop& loop() = 0;
  virtual Rng& rng() = 0;
  // `turn` runs after each round of the host's own work, outside libraft; true asks for another at once.
  virtual void start(std::function<bool()> turn) = 0;
  virtual void stop() = 0;
  virtual void kick() = 0;
  // Something of libraft is still under way: after raft_close has finished, too.
  virtual bool busy() const = 0;
  // Waits here until `finished`.
  virtual void drain(const std::function<bool()>& finished) = 0;

  virtual bool witness_busy() const = 0;
  // Not while busy. `written` runs inside the host's work, after the slot is durable.
  virtual void write_witness(const Sealer& sealer, const Witness& witness,
                             std::function<void(Result<void>)> written) = 0;
};

}  // namespace samovar::raft
