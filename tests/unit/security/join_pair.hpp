// A cluster and a node that meet: what every test of the handshake begins with.
#pragma once
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "security/join.hpp"

namespace samovar::security {

struct TestCluster {
  std::string id = "clu_01JTEST0000000000000000000";
  PrivateKey ca_key = *PrivateKey::generate();
  Certificate ca = *make_cluster_ca(ca_key, id);
  NodeIdentity member = *make_identity();

  JoinCluster offer(JoinForm form = JoinForm::code) const {
    return {id, "Städtische Klinik", member.node_id, ca, "1.2.3", form};
  }
  JoinGrant grant(const JoinCandidate& candidate) const {
    JoinGrant grant;
    grant.certificate = *issue_node_certificate(ca, ca_key, candidate.tls_public_key, candidate.node_id);
    grant.ca = ca;
    grant.cluster_id = id;
    grant.members = to_bytes("the members");
    grant.key_generation = 7;
    grant.keyring = to_bytes("a keyring");
    grant.cmk = SecretBytes::copy_of(Bytes(32, 0x5a));
    grant.key_file = true;
    return grant;
  }
};

inline JoinFacts test_facts() {
  return {"board-7",
          "Jetson TX1",
          "aarch64",
          "1.2.3",
          4ull << 30,
          128ull << 30,
          {"10.0.0.7:7443", "[fe80::1]:7443"},
          1'700'000'000'000'000};
}

}  // namespace samovar::security
