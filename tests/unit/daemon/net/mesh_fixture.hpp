// Nodes of one cluster with real certificates and sockets on loopback, all on one loop.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/asio_loop.hpp"
#include "daemon/net/mesh.hpp"
#include "security/init.hpp"

namespace samovar::net::testing {

using namespace std::chrono_literals;

struct Ca {
  explicit Ca(const std::string& cluster = "clu_test")
      : key(*security::PrivateKey::generate()), certificate(*security::make_cluster_ca(key, cluster)) {}
  security::PrivateKey key;
  security::Certificate certificate;
};

struct Node {
  Node(const Ca& ca, security::NodeIdentity who)
      : identity(std::move(who)),
        own(*security::issue_node_certificate(ca.certificate, ca.key, identity.tls_key.public_key(),
                                              identity.node_id)),
        ca_certificate(ca.certificate) {}
  explicit Node(const Ca& ca) : Node(ca, *security::make_identity()) {}

  const std::string& id() const { return identity.node_id; }
  std::string address() const { return host + ":" + std::to_string(mesh->ports().front()); }
  Peer peer() const { return {id(), {address()}}; }
  // Everything that arrives is kept.
  void open(Loop& loop, MeshOptions options = {}) {
    if (options.listen.empty()) options.listen = {host + ":" + std::to_string(port)};
    auto opened = Mesh::open(loop, std::move(options), identity, own, ca_certificate);
    ASSERT_TRUE(opened) << opened.error().message();
    mesh = *std::move(opened);
    port = mesh->ports().front();
    mesh->on_message([this](const std::string& from, Bytes message) {
      got.emplace_back(from, std::string(as_text(message)));
    });
    mesh->on_lost([this](const std::string& peer, Lane) { lost.push_back(peer); });
    mesh->on_clone([this](const std::string& node, const std::string&) { clones.push_back(node); });
  }
  LinkState link(const std::string& peer) const {
    for (const LinkState& state : mesh->links()) {
      if (state.node_id == peer) return state;
    }
    return {};
  }

  security::NodeIdentity identity;
  security::Certificate own;
  security::Certificate ca_certificate;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::unique_ptr<Mesh> mesh;
  std::vector<std::pair<std::string, std::string>> got;
  std::vector<std::string> lost;
  std::vector<std::string> clones;
};

class MeshFixture : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(security::init()); }

  // Runs the loop until `done`; false when that takes absurdly long.
  bool until(const std::function<bool()>& done, Duration limit = 20s) {
    const MonoTime end = loop_.clock().mono() + limit;
    bool reached = false;
    std::function<void()> look = [&] {
      reached = done();
      if (reached || loop_.clock().mono() > end) return loop_.stop();
      loop_.after(2ms, look);
    };
    loop_.post(look);
    loop_.run();
    return reached;
  }
  std::unique_ptr<Node> make(const Ca& ca) { return std::make_unique<Node>(ca); }

  AsioLoop loop_;
  Ca ca_;
};

// Both know each other.
inline void introduce(Node& a, Node& b) {
  a.mesh->set_peers({b.peer()});
  b.mesh->set_peers({a.peer()});
}

}  // namespace samovar::net::testing
