// The consensus log's messages over the exchange between nodes.
//
// Threading: loop only.
// Ownership: borrows the Exchange, which outlives it; the log it serves is closed before it goes.
#pragma once
#include <functional>
#include <string>

#include "daemon/net/exchange.hpp"
#include "daemon/raft/consensus_log.hpp"

namespace samovar::cluster {

class LogWire final : public raft::Wire {
 public:
  explicit LogWire(net::Exchange& exchange) : exchange_(exchange) {}
  ~LogWire() override;
  LogWire(const LogWire&) = delete;
  LogWire& operator=(const LogWire&) = delete;

  void send(const std::string& node_id, Bytes message) override;
  void on_message(std::function<void(const std::string& node_id, Bytes message)> handler) override;

 private:
  net::Exchange& exchange_;
};

}  // namespace samovar::cluster
