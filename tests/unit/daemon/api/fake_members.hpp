// Other nodes that are not there: what the handlers are told of them is the test's.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "daemon/api/members.hpp"
#include "daemon/api/node_report.hpp"

namespace samovar::api::test {

class FakeMembers : public Members {
 public:
  Task<void> refresh() override {
    ++refreshed;
    co_return;
  }
  const NodeReport* report(std::string_view id) const override {
    const auto at = reports.find(std::string(id));
    return at == reports.end() ? nullptr : &at->second;
  }
  Contact contact(std::string_view id) const override {
    const auto at = contacts.find(std::string(id));
    return at == contacts.end() ? Contact{} : at->second;
  }
  std::vector<cluster::StorageNode> storage_nodes() const override { return storage; }
  std::vector<LinkReport> links() const override { return link_rows; }
  Task<Result<LinkReport>> test_link(std::string to) override {
    if (link_rows.empty()) co_return Error{Errc::unavailable, "no way to it"};
    LinkReport link = link_rows.front();
    link.to = to;
    link.measured_bytes_per_second = 5e8;
    co_return link;
  }
  Task<Result<power::HistoryTable>> history_of(std::string node, power::HistoryQuery) override {
    if (!contact(node).reachable) co_return Error{Errc::timeout, "no answer"};
    power::HistoryTable table;
    table.step_s = 1;
    table.names = {"t", "cpu"};
    table.cols = {{1, 2}, {0.25, 0.5}};
    co_return table;
  }
  std::vector<PeerEntry> peers() const override { return peer_rows; }
  std::vector<std::string> blocked() const override { return blocked_ids; }
  Task<Result<PeerEntry>> add_peer(std::string address) override {
    if (address != "10.0.0.9") co_return Error{Errc::unavailable, "nobody takes connections at " + address};
    PeerEntry peer;
    peer.id = "k7q2m4xp000000000000000000000000aa";
    peer.address = "10.0.0.9:7443";
    co_return peer;
  }
  Task<Result<PendingJoin>> approve(cluster::Call call, std::string node_id,
                                    security::SecretBytes key) override {
    approved_by = call.actor.username;
    ca_key = std::move(key);
    PendingJoin join;
    join.id = "joi_1";
    join.node_id = node_id;
    join.tries_left = 3;
    co_return join;
  }
  Task<Result<Confirmation>> confirm(cluster::Call, std::string node_id, std::string code) override {
    if (tries == 0) co_return Error{Errc::conflict, "three wrong codes were typed"};
    Confirmation out;
    if (code == "418 902") {
      out.node.emplace();
      out.node->id = node_id;
      out.node->name = "urn";
    } else {
      out.tries_left = --tries;
    }
    co_return out;
  }
  Task<Result<void>> cancel_join(cluster::Call, std::string) override { co_return Result<void>{}; }
  Task<Result<void>> block(cluster::Call, std::string node_id, bool on) override {
    std::erase(blocked_ids, node_id);
    if (on) blocked_ids.push_back(node_id);
    co_return Result<void>{};
  }
  Task<Result<Invitation>> invite(cluster::Call, security::SecretBytes key) override {
    ca_key = std::move(key);
    Invitation made;
    made.words = "acid-bench-coral-fern-wagon";
    co_return made;
  }
  GuestView guest() const override { return guest_view; }
  Task<Result<void>> expect_words(std::string words, std::string) override {
    if (words == "no such words") co_return Error{Errc::invalid, "there are five words"};
    typed_words = words;
    co_return Result<void>{};
  }
  Task<DoctorReport> doctor() override { co_return doctor_report; }
  Task<std::vector<DoctorCheck>> probe(std::string) override { co_return doctor_report.checks; }

  unsigned refreshed = 0;
  unsigned tries = 3;
  std::map<std::string, NodeReport> reports;
  std::map<std::string, Contact> contacts;
  std::vector<cluster::StorageNode> storage;
  std::vector<LinkReport> link_rows;
  std::vector<PeerEntry> peer_rows;
  std::vector<std::string> blocked_ids;
  GuestView guest_view;
  DoctorReport doctor_report;
  std::string approved_by;
  std::string typed_words;
  security::SecretBytes ca_key;
};

}  // namespace samovar::api::test
