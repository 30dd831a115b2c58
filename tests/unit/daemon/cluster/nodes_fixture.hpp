// A box that grew to three nodes, and bodies of commands on them.
#pragma once
#include <string>
#include <vector>

#include "daemon/cluster/copies.hpp"
#include "tests/unit/daemon/cluster/model_fixture.hpp"

namespace samovar::cluster::testing {

using Ids = std::vector<std::string>;

inline Fields node_body(const std::string& id, std::int64_t level = kCommandVersion) {
  Fields body;
  body.set("id", id).set("name", "box-" + id).set("hostname", "box-" + id).set("model", "Jetson Nano");
  body.set("version", "0.2.0").set("arch", "aarch64").set("level", level);
  body.set("addresses", Ids{"10.0.0.7:7443", "[fe80::1]:7443"}).set("disk_bytes", std::int64_t{1} << 40);
  body.set("sign_public", Bytes(32, static_cast<std::uint8_t>(id.back()))).set("box_public", Bytes(32, 2));
  return body;
}

inline Fields change(const std::string& key, const std::string& node, bool there = true) {
  return Fields().set("key", key).set("node", node).set("there", there);
}

class NodesFixture : public ModelFixture {
 protected:
  // As one node made it, then two more.
  void grow() {
    must(apply("node.put", node_body("nod_1")));
    must(apply("node.admit", node_body("nod_2")));
    must(apply("node.admit", node_body("nod_3")));
  }
  Result<Fields> copies(std::vector<Fields> changes) {
    return apply("copies.change", Fields().set("changes", changes));
  }
  Fields checkpoint_body(const std::string& job, std::int64_t step, Ids nodes) {
    Fields body = id(job).set("step", step).set("hash", hash_of(1)).set("bytes", std::int64_t{100});
    body.set("name", "checkpoint-" + std::to_string(step)).set("run", std::int64_t{0});
    return body.set("holders", nodes);
  }
  Ids holders(const std::string& key) { return holders_of(db(), key); }
};

}  // namespace samovar::cluster::testing
