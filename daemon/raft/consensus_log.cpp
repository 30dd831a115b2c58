#include "daemon/raft/consensus_log.hpp"

#include "daemon/raft/consensus_log_impl.hpp"

namespace samovar::raft {

ConsensusLog::ConsensusLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConsensusLog::~ConsensusLog() = default;

Result<std::unique_ptr<ConsensusLog>> ConsensusLog::open(Loop& loop, ConsensusOptions options,
                                                         security::SecretBytes metadata_key,
                                                         StateMachine& machine) {
  auto impl = std::make_unique<Impl>(loop, std::move(options), std::move(metadata_key), machine);
  SAMOVAR_CHECK(impl->open());
  return std::unique_ptr<ConsensusLog>(new ConsensusLog(std::move(impl)));
}

void ConsensusLog::propose(Bytes command, std::function<void(Result<Bytes>)> done) {
  impl_->propose(std::move(command), std::move(done));
}
void ConsensusLog::compact_soon() { impl_->compact_soon(); }
ConsensusStatus ConsensusLog::status() const { return impl_->status(); }
void ConsensusLog::close(std::function<void()> done) { impl_->close(std::move(done)); }

}  // namespace samovar::raft
