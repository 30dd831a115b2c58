// The ground of a consensus log in a simulation: libraft's storage on a SimDisk, its time and luck from the
// simulated world.
//
// One append-only file holds entries and cuts, each record with its checksum; term and vote, the snapshot and
// the witness are files that are replaced whole. What libraft asks to write is written at once and synced
// after a while, drawn from the seed: what was not synced when the node dies is there, gone or torn.
//
// Threading: one thread, the simulation's.
// Ownership: borrows the loop and the disk of its node.
#pragma once
#include <memory>
#include <string>

#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "daemon/raft/log_host.hpp"

namespace samovar::test {

struct SimLogTimes {
  Duration sync_min = std::chrono::microseconds(200);
  Duration sync_max = std::chrono::milliseconds(8);
};

class SimLogHost final : public raft::LogHost {
 public:
  SimLogHost(SimLoop& loop, Disk& disk, SimRng rng, SimLogTimes times);
  ~SimLogHost() override;

  Result<raft::LogFound> prepare(const raft::ConsensusOptions& options, const raft::Sealer& sealer) override;
  Result<::raft_io*> open_io(const raft::ConsensusOptions& options) override;
  void close_io() override;
  Loop& loop() override;
  Rng& rng() override;
  void start(std::function<bool()> turn) override;
  void stop() override;
  void kick() override;
  bool busy() const override;
  void drain(const std::function<bool()>& finished) override;
  bool witness_busy() const override;
  void write_witness(const raft::Sealer& sealer, const raft::Witness& witness,
                     std::function<void(Result<void>)> written) override;

  struct State;

 private:
  std::shared_ptr<State> state_;  // shared: what is pending on the loop looks whether it is still there
};

}  // namespace samovar::test
