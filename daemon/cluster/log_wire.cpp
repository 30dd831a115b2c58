#include "daemon/cluster/log_wire.hpp"

#include <utility>

namespace samovar::cluster {

LogWire::~LogWire() { exchange_.on_tell(net::Topic::raft, {}); }

void LogWire::send(const std::string& node_id, Bytes message) {
  ignore(exchange_.tell(node_id, net::Topic::raft, std::move(message)),
         "a message of the log may be lost: it is sent again with the next heartbeat");
}

void LogWire::on_message(std::function<void(const std::string& node_id, Bytes message)> handler) {
  exchange_.on_tell(net::Topic::raft, std::move(handler));
}

}  // namespace samovar::cluster
