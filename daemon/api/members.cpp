// A box that is alone: no links, no neighbours, nobody to ask.
#include "daemon/api/members.hpp"

#include "daemon/api/node_report.hpp"
#include "daemon/api/services.hpp"

namespace samovar::api {
namespace {

class NoMembers : public Members {
 public:
  Task<void> refresh() override { co_return; }
  const NodeReport* report(std::string_view) const override { return nullptr; }
  Contact contact(std::string_view) const override { return {}; }
  std::vector<cluster::StorageNode> storage_nodes() const override { return {}; }
  std::vector<LinkReport> links() const override { return {}; }
  Task<Result<LinkReport>> test_link(std::string) override { co_return alone(); }
  Task<Result<power::HistoryTable>> history_of(std::string, power::HistoryQuery) override {
    co_return alone();
  }
  std::vector<PeerEntry> peers() const override { return {}; }
  std::vector<std::string> blocked() const override { return {}; }
  Task<Result<PeerEntry>> add_peer(std::string) override { co_return alone(); }
  Task<Result<PendingJoin>> approve(cluster::Call, std::string, security::SecretBytes) override {
    co_return alone();
  }
  Task<Result<Confirmation>> confirm(cluster::Call, std::string, std::string) override { co_return alone(); }
  Task<Result<void>> cancel_join(cluster::Call, std::string) override { co_return alone(); }
  Task<Result<void>> block(cluster::Call, std::string, bool) override { co_return alone(); }
  Task<Result<Invitation>> invite(cluster::Call, security::SecretBytes) override { co_return alone(); }
  GuestView guest() const override { return {}; }
  Task<Result<void>> expect_words(std::string, std::string) override { co_return alone(); }
  Task<DoctorReport> doctor() override { co_return DoctorReport{}; }
  Task<std::vector<DoctorCheck>> probe(std::string) override { co_return std::vector<DoctorCheck>{}; }

 private:
  static Error alone() { return {Errc::unavailable, "this box does not talk to other nodes"}; }
};

}  // namespace

Members& NodeControl::members() {
  static NoMembers none;
  return none;
}

}  // namespace samovar::api
