// Members on real sockets: who gets through, who does not, and what is said about it.
#include "daemon/net/mesh.hpp"

#include "tests/unit/daemon/net/mesh_fixture.hpp"

namespace samovar::net::testing {
namespace {

class MeshTest : public MeshFixture {};

TEST_F(MeshTest, TwoNodesTalkOnBothLanes) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  EXPECT_FALSE(a.mesh->up(b.id())) << "nobody has anything to say";
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("one")));
  ASSERT_TRUE(a.mesh->send(b.id(), Bytes(1'500'000, 'x'), Lane::bulk));
  ASSERT_TRUE(until([&] { return b.got.size() == 2; }));
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("two")));
  ASSERT_TRUE(until([&] { return a.got.size() == 1; }));
  EXPECT_EQ(a.got[0], std::pair(b.id(), std::string("two")));
  EXPECT_TRUE(until([&] { return a.link(b.id()).rtt_ms && a.link(b.id()).up; }));
  EXPECT_TRUE(a.link(b.id()).trouble.empty());
  EXPECT_EQ(a.link(b.id()).version, SAMOVAR_VERSION);
  EXPECT_TRUE(until([&] { return a.link(b.id()).rates.sent_bytes > 1'500'000; }));
}

}  // namespace
}  // namespace samovar::net::testing
