// Members on real sockets: what arrives, what is bounded, and what happens when a peer goes and comes.
#include "daemon/net/mesh.hpp"

#include <set>

#include "daemon/net/exchange.hpp"
#include "tests/unit/daemon/net/mesh_fixture.hpp"
#include "tests/unit/daemon/net/relay.hpp"

namespace samovar::net::testing {
namespace {

class MeshTest : public MeshFixture {};

TEST_F(MeshTest, TwoNodesTalkOnBothLanes) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.silence_max = 400ms;  // and a look at the rates eight times as often
  a.open(loop_, options);
  b.open(loop_, options);
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
  EXPECT_TRUE(until([&] { return b.link(a.id()).rates.receive_bytes_per_second > 0; }));
}

TEST_F(MeshTest, SevenNodesTalkEachWithEach) {
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 7; ++i) {
    nodes.push_back(make(ca_));
    nodes.back()->open(loop_);
  }
  std::vector<Peer> all;
  for (const auto& node : nodes) all.push_back(node->peer());
  for (const auto& node : nodes) node->mesh->set_peers(all);  // its own name among them does no harm
  for (const auto& node : nodes) ASSERT_TRUE(until([&] { return node->mesh->links().size() == 6; }));
  for (const auto& from : nodes) {
    for (const auto& to : nodes) {
      if (from != to) {
        ASSERT_TRUE(from->mesh->send(to->id(), to_bytes("hello")));
      }
    }
  }
  for (const auto& node : nodes) {
    ASSERT_TRUE(until([&] { return node->got.size() == 6; }));
    std::set<std::string> senders;
    for (const auto& [from, text] : node->got) senders.insert(from);
    EXPECT_EQ(senders.size(), 6u);
  }
  EXPECT_EQ(nodes[0]->mesh->send(nodes[0]->id(), {}).error().code(), Errc::unavailable);
}

// Both call at the same moment, again and again: of two connections one stays, and nothing is lost.
TEST_F(MeshTest, CallsThatCrossLoseNothing) {
  for (int round = 0; round < 20; ++round) {
    Node a(ca_);
    Node b(ca_);
    a.open(loop_);
    b.open(loop_);
    introduce(a, b);
    ASSERT_TRUE(until([&] { return a.mesh->links().size() == 1 && b.mesh->links().size() == 1; }));
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(a.mesh->send(b.id(), to_bytes(std::to_string(i))));
      ASSERT_TRUE(b.mesh->send(a.id(), to_bytes(std::to_string(i))));
      ASSERT_TRUE(a.mesh->send(b.id(), to_bytes(std::to_string(i)), Lane::bulk));
      ASSERT_TRUE(b.mesh->send(a.id(), to_bytes(std::to_string(i)), Lane::bulk));
    }
    ASSERT_TRUE(until([&] { return a.got.size() == 20 && b.got.size() == 20; }));
    EXPECT_TRUE(a.lost.empty() && b.lost.empty());
  }
}

TEST_F(MeshTest, ManySmallMessagesArriveInOrder) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(a.mesh->send(b.id(), to_bytes(std::to_string(i))));
  ASSERT_TRUE(until([&] { return b.got.size() == 20'000; }));
  for (std::size_t i = 0; i < b.got.size(); ++i) ASSERT_EQ(b.got[i].second, std::to_string(i));
}

TEST_F(MeshTest, MessagesOfEverySizeArriveWhole) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  std::vector<std::string> sent;
  for (const std::size_t size : {0, 1, 16379, 16380, 16381, 16384, 32764, 32768, 100'000, 1 << 20, 4 << 20}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + size);
    sent.push_back(text);
    ASSERT_TRUE(a.mesh->send(b.id(), to_bytes(text)));
  }
  ASSERT_TRUE(until([&] { return b.got.size() == sent.size(); }));
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_TRUE(b.got[i].second == sent[i]) << sent[i].size();
}

TEST_F(MeshTest, TooLongIsSaidBeforeItIsSent) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  EXPECT_EQ(a.mesh->send(b.id(), Bytes((4u << 20) + 1)).error().code(), Errc::invalid);
  EXPECT_EQ(a.mesh->send(b.id(), Bytes((2u << 20) + 1), Lane::bulk).error().code(), Errc::invalid);
}

// A member that does not keep to the limits is told so and cut, and what it sent is not kept in memory.
TEST_F(MeshTest, AFrameLongerThanTheLaneEndsTheConnection) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions generous;
  generous.control_bytes_max = 8u << 20;
  a.open(loop_, generous);
  b.open(loop_);
  introduce(a, b);
  ASSERT_TRUE(a.mesh->send(b.id(), Bytes(5u << 20)));
  ASSERT_TRUE(until([&] { return !a.lost.empty(); }));
  EXPECT_TRUE(b.got.empty());
  EXPECT_TRUE(until([&] { return a.link(b.id()).trouble.find("longer than") != std::string::npos; }))
      << a.link(b.id()).trouble;
}

// The receiver's loop stands still: its socket is not read, the sender's queue fills, and the sender is told.
TEST_F(MeshTest, ASlowReceiverMakesTheSenderBusy) {
  AsioLoop slow;
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.queue_bytes_max = 4u << 20;
  options.unread_bytes_max = 1u << 20;
  options.silence_max = 1h;
  a.open(loop_, options);
  b.open(slow, options);
  introduce(a, b);
  const std::size_t piece = 256 * 1024;
  std::size_t taken = 0;
  std::uint64_t before = 0;
  int still = 0;
  // Everything between the two is bounded: queue, the kernel's buffers on both ends, what b has read ahead.
  ASSERT_TRUE(until([&] {
    for (;;) {
      const auto sent = a.mesh->send(b.id(), Bytes(piece, 'x'), Lane::bulk);
      if (!sent) {
        EXPECT_EQ(sent.error().code(), Errc::busy);
        break;
      }
      ++taken;
    }
    // Full, and it stays full: nothing has moved for a while.
    const std::uint64_t now = a.link(b.id()).rates.sent_bytes;
    still = now > 0 && now == before ? still + 1 : 0;
    before = now;
    return still > 300;
  }));
  EXPECT_LT(taken * piece, 64u << 20);
  EXPECT_TRUE(b.got.empty());
  // The receiver wakes up: all that was taken arrives.
  std::function<void()> look = [&] {
    if (b.got.size() == taken) return slow.stop();
    slow.after(2ms, look);
  };
  slow.post(look);
  slow.run();
  EXPECT_EQ(b.got.size(), taken);
  EXPECT_TRUE(a.lost.empty());
}

TEST_F(MeshTest, WhatIsSentBetweenTwoChangesArrives) {
  Node a(ca_);
  Node b(ca_);
  Node c(ca_);
  a.open(loop_);
  b.open(loop_);
  c.open(loop_);
  b.mesh->set_peers({a.peer()});
  a.mesh->set_peers({b.peer()});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("one")));
  a.mesh->set_peers({b.peer(), c.peer()});
  ASSERT_TRUE(until([&] { return b.got.size() == 1; }));
}

// Its queue is counted anew, too: else nothing could be sent to it any more once it was full.
TEST_F(MeshTest, AMemberTakenBackAtOnceIsReached) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.queue_bytes_max = 100'000;
  a.open(loop_, options);
  b.open(loop_, options);
  introduce(a, b);
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("one")));
  ASSERT_TRUE(until([&] { return b.got.size() == 1; }));
  a.mesh->set_peers({});
  a.mesh->set_peers({b.peer()});
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(until([&] { return a.mesh->send(b.id(), Bytes(60'000, 'x')).has_value(); }));
    ASSERT_TRUE(until([&] { return b.got.size() == 2 + i; }));
  }
}

TEST_F(MeshTest, ARestartedPeerIsFoundAgain) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("before")));
  ASSERT_TRUE(until([&] { return b.got.size() == 1; }));
  b.mesh.reset();
  ASSERT_TRUE(until([&] { return !a.mesh->up(b.id()) && !a.lost.empty(); }));
  b.open(loop_);
  b.mesh->set_peers({a.peer()});
  ASSERT_TRUE(until([&] { return a.mesh->up(b.id()); })) << "it is called without anybody sending";
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("after")));
  ASSERT_TRUE(until([&] { return b.got.size() == 2; }));
  EXPECT_EQ(b.got[1].second, "after");
}

TEST_F(MeshTest, WhatWaitsForAnUnreachablePeerIsLostAndSaidSo) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  const Peer gone = b.peer();
  b.mesh.reset();
  a.mesh->set_peers({gone});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return !a.lost.empty(); }));
  EXPECT_EQ(a.mesh->send(b.id(), to_bytes("y")).error().code(), Errc::unavailable);
  EXPECT_EQ(a.mesh->send(b.id(), to_bytes("y"), Lane::bulk).error().code(), Errc::unavailable);
  EXPECT_NE(a.link(b.id()).trouble.find("nothing listens"), std::string::npos) << a.link(b.id()).trouble;
}

TEST_F(MeshTest, AHintLeadsToANewAddressAtOnce) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions patient;
  patient.retry_min = patient.retry_max = 1h;
  a.open(loop_, patient);
  b.open(loop_);
  introduce(a, b);
  b.mesh->set_peers({{a.id(), {}}});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return b.got.size() == 1; }));
  // It moves to another port, and knows nobody's address.
  b.mesh.reset();
  b.port = 0;
  ASSERT_TRUE(until([&] { return !a.mesh->up(b.id()); }));
  MeshOptions elsewhere;
  elsewhere.listen = {"127.0.0.1:0"};
  b.open(loop_, elsewhere);
  b.mesh->set_peers({{a.id(), {}}});
  a.mesh->hint(b.id(), b.address());
  ASSERT_TRUE(until([&] { return a.mesh->up(b.id()); }));
  EXPECT_EQ(a.link(b.id()).address, b.address());
}

TEST_F(MeshTest, ASilentCutIsNoticedWhileSomethingWaits) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.silence_max = 200ms;
  a.open(loop_, options);
  b.open(loop_, options);
  Relay cable(b.port);
  a.mesh->set_peers({{b.id(), {cable.address()}}});
  b.mesh->set_peers({{a.id(), {}}});
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return b.got.size() == 1 && a.mesh->up(b.id()); }));
  cable.cut();
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("into the void")));
  ASSERT_TRUE(until([&] { return !a.mesh->up(b.id()); }));
  EXPECT_FALSE(a.lost.empty());
  EXPECT_NE(a.link(b.id()).trouble.find("no sign of life"), std::string::npos) << a.link(b.id()).trouble;
}

// Nothing is said for longer than the limit of silence: nobody waits, so nobody is cut.
TEST_F(MeshTest, QuietIsNoSilence) {
  Node a(ca_);
  Node b(ca_);
  MeshOptions options;
  options.silence_max = 150ms;
  a.open(loop_, options);
  b.open(loop_, options);
  introduce(a, b);
  ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return b.got.size() == 1; }));
  const MonoTime start = loop_.clock().mono();
  ASSERT_TRUE(until([&] { return loop_.clock().mono() - start > 500ms; }));
  EXPECT_TRUE(a.mesh->up(b.id()) && b.mesh->up(a.id()));
  EXPECT_TRUE(a.lost.empty() && b.lost.empty());
}

TEST_F(MeshTest, AHandlerMayEndItsOwnMesh) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  introduce(a, b);
  int calls = 0;
  b.mesh->on_message([&](const std::string&, Bytes) {
    ++calls;
    b.mesh.reset();
  });
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(a.mesh->send(b.id(), to_bytes("x")));
  ASSERT_TRUE(until([&] { return b.mesh == nullptr; }));
  EXPECT_EQ(calls, 1);
}

TEST_F(MeshTest, TheExchangeWorksOverIt) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  b.open(loop_);
  Exchange asks(loop_, *a.mesh);
  Exchange answers(loop_, *b.mesh);
  introduce(a, b);
  answers.on_ask(Topic::blob_read, [](std::string, Bytes body) -> Task<Result<Bytes>> {
    Bytes answer(1u << 20, body.at(0));
    co_return answer;
  });
  std::size_t right = 0;
  std::size_t ended = 0;
  loop_.post([&] {
    for (std::uint8_t i = 0; i < 32; ++i) {
      spawn<Result<Bytes>>(
          asks.ask(b.id(), Topic::blob_read, Bytes{i}, {.deadline = 30s, .lane = Lane::bulk}),
          [&, i](Result<Bytes> result) {
            ++ended;
            if (result && *result == Bytes(1u << 20, i)) ++right;
          });
    }
  });
  ASSERT_TRUE(until([&] { return ended == 32; }));
  EXPECT_EQ(right, 32u);
  // The peer goes while a question is open: the asker is told before its deadline.
  std::function<void(Result<Bytes>)> later;
  answers.on_ask(Topic::propose, [&](std::string, Bytes) -> Task<Result<Bytes>> {
    loop_.post([&] { b.mesh->set_peers({}); });
    std::function<void(std::function<void(Result<Bytes>)>)> wait = [&](auto done) { later = done; };
    Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(wait));
    co_return result;
  });
  std::optional<Result<Bytes>> cut;
  loop_.post([&] {
    spawn<Result<Bytes>>(asks.ask(b.id(), Topic::propose, {}, {.deadline = 1h}),
                         [&](Result<Bytes> result) { cut.emplace(std::move(result)); });
  });
  ASSERT_TRUE(until([&] { return cut.has_value(); }));
  EXPECT_EQ(cut->error().code(), Errc::unavailable);
  later(Bytes{});  // its work ends; nobody is there for the answer
}

TEST_F(MeshTest, AnAddressInUseIsSaidWithTheRemedy) {
  Node a(ca_);
  Node b(ca_);
  a.open(loop_);
  MeshOptions options;
  options.listen = {a.address()};
  const auto second = Mesh::open(loop_, options, b.identity, b.own, b.ca_certificate);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::conflict);
  EXPECT_NE(second.error().message().find("ss -ltnp"), std::string::npos);
  options.listen = {"127.0.0.1"};
  EXPECT_EQ(Mesh::open(loop_, options, b.identity, b.own, b.ca_certificate).error().code(), Errc::invalid);
  options.listen = {"127.0.0.1:0"};
  EXPECT_FALSE(Mesh::open(loop_, options, b.identity, a.own, b.ca_certificate))
      << "another node's certificate";
}

}  // namespace
}  // namespace samovar::net::testing
