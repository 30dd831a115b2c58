// Who is let in: certificates, membership, clones, and those who only hold connections open.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "daemon/net/mesh.hpp"
#include "tests/unit/daemon/net/mesh_fixture.hpp"
#include "tests/unit/daemon/net/relay.hpp"

namespace samovar::net::testing {
namespace {

class MeshIdentityTest : public MeshFixture {};

// Shakes hands and reads one byte, so that a refusal after the client's own part shows, too.
std::string shake_hands(std::uint16_t port, int version) {
  const int fd = connect_raw(port);
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, version);
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, fd);
  ERR_clear_error();
  char byte = 0;
  std::string what = "accepted";
  if (SSL_connect(ssl) != 1 || SSL_read(ssl, &byte, 1) != 1) {
    const char* reason = ERR_reason_error_string(ERR_peek_error());
    what = reason != nullptr ? reason : "closed";
  }
  SSL_free(ssl);
  SSL_CTX_free(context);
  ::close(fd);
  return what;
}

TEST_F(MeshIdentityTest, WithoutACertificateThereIsNoConnection) {
  Node a(ca_);
  a.open(loop_);
  EXPECT_NE(shake_hands(a.port, TLS1_3_VERSION).find("certificate required"), std::string::npos)
      << shake_hands(a.port, TLS1_3_VERSION);
  EXPECT_NE(shake_hands(a.port, TLS1_2_VERSION).find("protocol version"), std::string::npos)
      << shake_hands(a.port, TLS1_2_VERSION);
}

TEST_F(MeshIdentityTest, AnotherClustersNodeIsRefusedByBothSides) {
  const Ca other("clu_test");  // the same name, another key
  Node a(ca_);
  Node stranger(other);
  a.open(loop_);
  stranger.open(loop_);
  introduce(a, stranger);
  ASSERT_TRUE(a.mesh->send(stranger.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return !a.lost.empty(); }));
  EXPECT_NE(a.link(stranger.id()).trouble.find("certificate"), std::string::npos)
      << a.link(stranger.id()).trouble;
  ASSERT_TRUE(stranger.mesh->send(a.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return !stranger.lost.empty(); }));
  EXPECT_TRUE(a.got.empty() && stranger.got.empty());
}

TEST_F(MeshIdentityTest, AKnownCertificateIsNotEnough) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  b.mesh->set_peers({a.peer()});  // and a knows nobody
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("let me in")));
  ASSERT_TRUE(until([&] { return !b.lost.empty(); }));
  EXPECT_TRUE(a.got.empty());
  EXPECT_FALSE(b.mesh->up(a.id()));
  EXPECT_NE(b.link(a.id()).trouble.find("does not count this node as a member"), std::string::npos)
      << b.link(a.id()).trouble;
  // It becomes one.
  a.mesh->set_peers({b.peer()});
  ASSERT_TRUE(until([&] { return b.mesh->up(a.id()); }));
}

TEST_F(MeshIdentityTest, WhoeverAnswersMustBeTheOneWhoWasCalled) {
  Node a(ca_);
  Node b(ca_);
  Node c(ca_);
  a.open(loop_);
  b.open(loop_);
  c.open(loop_);
  // b's address is c's by now; c is a member, too.
  a.mesh->set_peers({{b.id(), {c.address()}}, c.peer()});
  c.mesh->set_peers({a.peer()});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("for b only")));
  ASSERT_TRUE(until([&] { return !a.lost.empty(); }));
  EXPECT_TRUE(c.got.empty());
  EXPECT_NE(a.link(b.id()).trouble.find("was expected"), std::string::npos) << a.link(b.id()).trouble;
}

TEST_F(MeshIdentityTest, ARemovedMemberIsCutAtOnceAndStaysOut) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("x"), Lane::bulk));
  ASSERT_TRUE(until([&] { return b.got.size() == 1 && a.got.size() == 1; }));
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("you were removed")));
  a.mesh->set_peers({});
  EXPECT_EQ(a.mesh->send(b.id(), to_bytes("x")).error().code(), Errc::unavailable);
  ASSERT_TRUE(until([&] { return !b.mesh->up(a.id()) && a.mesh->links().empty(); }));
  ignore(b.mesh->send(a.id(), to_bytes("still here")), "it may know already");
  ASSERT_TRUE(until([&] { return b.link(a.id()).trouble.find("member") != std::string::npos; }))
      << b.link(a.id()).trouble;
  EXPECT_EQ(a.got.size(), 1u);
  ASSERT_EQ(b.got.size(), 2u) << "what was sent before still went";
  EXPECT_EQ(b.got[1].second, "you were removed");
}

TEST_F(MeshIdentityTest, AClonedDiskIsRefusedByName) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("the first")));
  ASSERT_TRUE(until([&] { return a.got.size() == 1; }));
  Node clone(ca_, *security::decode_identity(security::encode_identity(b.identity).view()));
  clone.host = "127.0.0.2";
  clone.open(loop_);
  clone.mesh->set_peers({a.peer()});
  ASSERT_TRUE(clone.mesh->send(a.id(), to_bytes("the second")));
  ASSERT_TRUE(until([&] { return !a.clones.empty() && !clone.lost.empty(); }));
  EXPECT_EQ(a.clones.front(), b.id());
  EXPECT_EQ(a.got.size(), 1u);
  EXPECT_TRUE(a.mesh->up(b.id())) << "the first goes on";
  EXPECT_NE(a.link(b.id()).trouble.find("cloned"), std::string::npos) << a.link(b.id()).trouble;
  EXPECT_NE(clone.link(a.id()).trouble.find("cloned"), std::string::npos) << clone.link(a.id()).trouble;
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("still me")));
  ASSERT_TRUE(until([&] { return a.got.size() == 2; }));
}

TEST_F(MeshIdentityTest, AMachineWithOurOwnIdentityIsReported) {
  Node a(ca_);
  a.open(loop_);
  Node clone(ca_, *security::decode_identity(security::encode_identity(a.identity).view()));
  clone.host = "127.0.0.2";
  Node b(ca_);
  clone.open(loop_);
  // It takes a's address for b's.
  clone.mesh->set_peers({{b.id(), {a.address()}}});
  ASSERT_TRUE(clone.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return !clone.clones.empty(); })) << "who calls sees it first";
  EXPECT_EQ(clone.clones.front(), a.id());
  ASSERT_TRUE(until([&] { return !clone.lost.empty(); }));
  EXPECT_NE(clone.link(b.id()).trouble.find("cloned"), std::string::npos);
}

TEST_F(MeshIdentityTest, ANodeThatMovedIsNoClone) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return a.got.size() == 1; }));
  b.mesh.reset();
  b.host = "127.0.0.2";
  b.open(loop_);
  b.mesh->set_peers({a.peer()});
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("moved")));
  ASSERT_TRUE(until([&] { return a.got.size() == 2; }));
  EXPECT_TRUE(a.clones.empty());
}

TEST_F(MeshIdentityTest, HalfOpenConnectionsAreBoundedAndTimed) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.half_open_max = 4;
  options.handshake_max = 1h;
  a.open(loop_, options);
  b.open(loop_);
  std::vector<int> silent;
  for (int i = 0; i < 12; ++i) silent.push_back(connect_raw(a.port));
  // The oldest are pushed out; a member still gets in.
  for (int i = 0; i < 8; ++i) {
    char byte = 0;
    EXPECT_EQ(::read(silent[static_cast<std::size_t>(i)], &byte, 1), 0) << i;
  }
  introduce(a, b);
  ASSERT_TRUE(b.mesh->send(a.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return a.got.size() == 1; }));
  for (const int fd : silent) ::close(fd);

  Node c(ca_);
  MeshOptions hasty;
  hasty.handshake_max = 20ms;
  c.open(loop_, hasty);
  const int mute = connect_raw(c.port);
  char byte = 0;
  EXPECT_EQ(::read(mute, &byte, 1), 0) << "closed from there";
  ::close(mute);
}

TEST_F(MeshIdentityTest, OnesOwnAddressInAnothersListIsNoClone) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  a.mesh->set_peers({{b.id(), {a.address()}}});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return !a.lost.empty(); }));
  EXPECT_NE(a.link(b.id()).trouble.find("itself"), std::string::npos) << a.link(b.id()).trouble;
  EXPECT_TRUE(a.clones.empty());
}

}  // namespace
}  // namespace samovar::net::testing
