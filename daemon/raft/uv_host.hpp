// The ground of the running daemon: libraft's own files through libuv, inside our loop thread.
//
// Threading: loop only.
// Format:    docs/formats/raft-directory.md
#pragma once
#include <memory>

#include "daemon/raft/log_host.hpp"

namespace samovar::raft {

class UvHost final : public LogHost {
 public:
  static Result<std::unique_ptr<UvHost>> create(Loop& loop);
  ~UvHost() override;
  UvHost(const UvHost&) = delete;
  UvHost& operator=(const UvHost&) = delete;

  Result<LogFound> prepare(const ConsensusOptions& options, const Sealer& sealer) override;
  Result<::raft_io*> open_io(const ConsensusOptions& options) override;
  void close_io() override;
  Loop& loop() override;
  Rng& rng() override;
  void start(std::function<bool()> turn) override;
  void stop() override;
  void kick() override;
  bool busy() const override;
  void drain(const std::function<bool()>& finished) override;
  bool witness_busy() const override;
  void write_witness(const Sealer& sealer, const Witness& witness,
                     std::function<void(Result<void>)> written) override;

 private:
  struct State;
  explicit UvHost(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// While nothing has the folder open: adds an entry that makes `node_id` the only member, and its only voter.
Result<void> make_only_member(const std::string& dir, const std::string& node_id);

}  // namespace samovar::raft
