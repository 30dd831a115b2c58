#include "daemon/raft/consensus_log.hpp"

#include "daemon/raft/consensus_log_impl.hpp"
#include "daemon/raft/uv_host.hpp"

namespace samovar::raft {

ConsensusLog::ConsensusLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConsensusLog::~ConsensusLog() = default;

Result<std::unique_ptr<ConsensusLog>> ConsensusLog::open(Loop& loop, ConsensusOptions options,
                                                         security::SecretBytes metadata_key,
                                                         StateMachine& machine) {
  SAMOVAR_TRY(std::unique_ptr<LogHost> host, UvHost::create(loop));
  return open_on(std::move(host), std::move(options), std::move(metadata_key), machine);
}

Result<std::unique_ptr<ConsensusLog>> ConsensusLog::open_on(std::unique_ptr<LogHost> host,
                                                            ConsensusOptions options,
                                                            security::SecretBytes metadata_key,
                                                            StateMachine& machine) {
  auto impl = std::make_unique<Impl>(std::move(host), std::move(options), std::move(metadata_key), machine);
  SAMOVAR_CHECK(impl->open());
  return std::unique_ptr<ConsensusLog>(new ConsensusLog(std::move(impl)));
}

void ConsensusLog::propose(Bytes command, std::function<void(Result<Bytes>)> done) {
  impl_->propose(std::move(command), std::move(done));
}
void ConsensusLog::link_changed(const std::string& node_id, bool up) { impl_->link_changed(node_id, up); }

void ConsensusLog::when_applied(std::uint64_t index, Duration deadline,
                                std::function<void(Result<void>)> done) {
  impl_->when_applied(index, deadline, std::move(done));
}
void ConsensusLog::add_member(std::string node_id, std::function<void(Result<void>)> done) {
  impl_->add_member(node_id, std::move(done));
}
void ConsensusLog::set_voice(std::string node_id, Voice voice, std::function<void(Result<void>)> done) {
  impl_->set_voice(node_id, voice, std::move(done));
}
void ConsensusLog::remove_member(std::string node_id, std::function<void(Result<void>)> done) {
  impl_->remove_member(node_id, std::move(done));
}
void ConsensusLog::hand_over(std::string node_id, std::function<void(Result<void>)> done) {
  impl_->hand_over(node_id, std::move(done));
}
std::vector<LogMember> ConsensusLog::members() const { return impl_->members(); }
void ConsensusLog::on_leader(std::function<void(const ConsensusStatus&)> listener) {
  impl_->on_leader(std::move(listener));
}
void ConsensusLog::compact_soon() { impl_->compact_soon(); }
ConsensusStatus ConsensusLog::status() const { return impl_->status(); }
void ConsensusLog::close(std::function<void()> done) { impl_->close(std::move(done)); }

}  // namespace samovar::raft
