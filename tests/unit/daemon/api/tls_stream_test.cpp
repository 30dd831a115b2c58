#include "daemon/api/tls_stream.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "tests/unit/daemon/api/tls_wire.hpp"

namespace samovar::test {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kBulkBytes = 256 * 1024;

// No part of it looks like another.
std::string long_text(std::size_t bytes) {
  std::string text(bytes, ' ');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

class TlsStreamOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, TlsStreamOf, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](const auto& version) {
                           return version.param == TLS1_2_VERSION ? "Tls12" : "Tls13";
                         });

TEST_P(TlsStreamOf, CarriesBytesBothWays) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  const auto reading = wire.read();
  EXPECT_FALSE(reading->ended) << "it waits";
  wire.deliver(wire.seal("hello"));
  wire.run();
  ASSERT_TRUE(reading->ended);
  EXPECT_FALSE(*reading->ended);
  EXPECT_EQ(reading->text, "hello");
  const auto writing = wire.write("and back");
  ASSERT_TRUE(*writing);
  EXPECT_FALSE(**writing);
  EXPECT_EQ(wire.opened(), "and back");
}

TEST_P(TlsStreamOf, TakesHandshakeAndRecordsByteByByte) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake(1));
  const auto reading = wire.read();
  const std::string record = wire.seal("drop by drop");
  for (std::size_t i = 0; i < record.size(); ++i) {
    EXPECT_FALSE(reading->ended) << i;
    wire.deliver(record.substr(i, 1));
    wire.run();
  }
  EXPECT_EQ(reading->text, "drop by drop");
}

TEST_P(TlsStreamOf, ReadsRecordsThatAreTornAtAnyPlace) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  for (const bool bulk : {false, true}) {
    if (bulk) wire.stream().expect_bulk(kBulkBytes);
    std::size_t size = 2;
    for (std::size_t cut = 1; cut < size; ++cut) {
      std::string records = wire.seal("one");
      records += wire.seal("two");
      size = records.size();
      wire.deliver(std::string_view(records).substr(0, cut));
      std::string got = wire.read_all_now().text;
      wire.deliver(std::string_view(records).substr(cut));
      got += wire.read_all_now().text;
      ASSERT_EQ(got, "onetwo") << cut;
    }
  }
}

TEST_P(TlsStreamOf, RefusesToNegotiateAgain) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  if (GetParam() == TLS1_3_VERSION) {
    EXPECT_EQ(SSL_renegotiate(wire.client()), 0) << "there is no such thing";
    return;
  }
  ASSERT_EQ(SSL_renegotiate(wire.client()), 1);
  SSL_do_handshake(wire.client());
  const auto reading = wire.read();
  wire.deliver(wire.sealed());
  wire.run();
  wire.take();
  EXPECT_NE(SSL_do_handshake(wire.client()), 1);
  EXPECT_EQ(SSL_is_init_finished(wire.client()), 0) << "the server answered with an alert, not with a hello";
  EXPECT_EQ(reading->text, "");
}

TEST_P(TlsStreamOf, GoodbyeIsTheEndOfReadingOnly) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  std::string last = wire.seal("last words");
  SSL_shutdown(wire.client());
  wire.deliver(last + wire.sealed());
  wire.stop_sending();
  EXPECT_EQ(wire.read()->text, "last words");
  for (int i = 0; i < 2; ++i) {
    const auto reading = wire.read();
    ASSERT_TRUE(reading->ended);
    EXPECT_EQ(*reading->ended, asio::error::eof);
  }
  ASSERT_FALSE(wire.write("the answer")->value());
  EXPECT_EQ(wire.opened(), "the answer");
  EXPECT_FALSE(wire.shutdown()->value()) << "both have said goodbye";
}

TEST_P(TlsStreamOf, AnEndWithoutGoodbyeIsTold) {
  for (const bool inside_a_record : {false, true}) {
    TlsWire wire(GetParam());
    ASSERT_TRUE(wire.handshake());
    const std::string record = wire.seal("half");
    if (inside_a_record) wire.deliver(record.substr(0, record.size() - 1));
    wire.stop_sending();
    for (int i = 0; i < 2; ++i) {
      const auto reading = wire.read();
      ASSERT_TRUE(reading->ended);
      EXPECT_EQ(*reading->ended, asio::ssl::error::stream_truncated);
      EXPECT_EQ(reading->text, "");
    }
    EXPECT_EQ(*wire.read_all_now().ended, asio::ssl::error::stream_truncated);
    ASSERT_FALSE(wire.write("the answer")->value()) << "who stopped sending may still read";
    EXPECT_EQ(wire.opened(), "the answer");
  }
}

TEST_P(TlsStreamOf, AnAlteredRecordEndsIt) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  std::string record = wire.seal("true words");
  record[record.size() - 3] = static_cast<char>(record[record.size() - 3] ^ 1);
  wire.deliver(record);
  wire.deliver(wire.seal("more"));
  for (int i = 0; i < 2; ++i) {
    const auto reading = wire.read();
    ASSERT_TRUE(reading->ended);
    EXPECT_TRUE(*reading->ended);
    EXPECT_EQ(reading->text, "");
  }
  EXPECT_TRUE(wire.write("never")->value());
  EXPECT_TRUE(wire.shutdown()->value());
}

TEST_P(TlsStreamOf, BulkGivesTheSameBytes) {
  const std::string text = long_text(3 << 20);
  for (const std::size_t fragment : {1009U, 16384U, 70001U, 150000U}) {
    TlsWire wire(GetParam());
    ASSERT_TRUE(wire.handshake());
    wire.stream().expect_bulk(kBulkBytes);
    std::string sealed = wire.seal(text);
    std::string got;
    for (std::string_view rest = sealed; !rest.empty(); rest.remove_prefix(std::min(fragment, rest.size()))) {
      wire.deliver(rest.substr(0, fragment));
      const auto part = wire.read_all_now();
      ASSERT_EQ(*part.ended, asio::error::would_block);
      got += part.text;
    }
    EXPECT_TRUE(got == text) << fragment;
    EXPECT_EQ(wire.read_all_now().text, "");
  }
}

// What was read ahead of need is not in the kernel any more: nothing would wake us for it.
TEST_P(TlsStreamOf, WhatBulkReadAheadIsNotForgotten) {
  TlsWire wire(GetParam());
  ASSERT_TRUE(wire.handshake());
  wire.stream().expect_bulk(kBulkBytes);
  wire.deliver(wire.seal("begin"));
  EXPECT_EQ(wire.read_all_now().text, "begin");
  for (const char* text : {"body", "next request", "and one more"}) wire.deliver(wire.seal(text));
  EXPECT_EQ(wire.read(2)->text, "bo");
  wire.stream().end_bulk();
  EXPECT_EQ(wire.read()->text, "dy");
  EXPECT_EQ(wire.read()->text, "next request");
  wire.stream().expect_bulk(kBulkBytes);
  EXPECT_EQ(wire.read_all_now().text, "and one more");
  wire.stream().end_bulk();
  const auto reading = wire.read();
  EXPECT_FALSE(reading->ended);
  wire.deliver(wire.seal("end"));
  wire.run();
  EXPECT_EQ(reading->text, "end");
}

TEST(TlsStream, HoldsItsLargeBufferOnlyWhileBulkIsExpected) {
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const std::string record = wire.seal("some");
  const std::string another = wire.seal("more");
  const std::size_t before = allocated();
  wire.stream().expect_bulk(kBulkBytes);
  wire.deliver(record);
  (void)wire.read_all_now();
  const std::size_t during = allocated();
  if (during < before + kBulkBytes / 2) GTEST_SKIP() << "this allocator does not tell";
  wire.stream().end_bulk();
  wire.deliver(another);
  (void)wire.read_all_now();
  EXPECT_LT(allocated(), before + kBulkBytes / 4);
}

TEST(TlsStream, CancelEndsWhatWaitsAndNothingElse) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const auto reading = wire.read();
  const std::string text = long_text(8 << 20);  // more than the socket's buffers take
  const auto writing = wire.write(text);
  EXPECT_FALSE(reading->ended);
  EXPECT_FALSE(*writing);
  wire.stream().cancel();
  wire.run();
  ASSERT_TRUE(reading->ended && *writing);
  EXPECT_EQ(*reading->ended, asio::error::operation_aborted);
  EXPECT_EQ(**writing, asio::error::operation_aborted);
  const auto again = wire.read();
  wire.deliver(wire.seal("still here"));
  wire.run();
  EXPECT_EQ(again->text, "still here");
}

TEST(TlsStream, CloseEndsWhatWaits) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const auto reading = wire.read();
  const auto writing = wire.write(long_text(8 << 20));
  boost::system::error_code ignored;
  wire.stream().next_layer().close(ignored);
  wire.run();
  ASSERT_TRUE(reading->ended && *writing);
  EXPECT_TRUE(*reading->ended);
  EXPECT_TRUE(**writing);
  EXPECT_TRUE(*wire.read()->ended) << "a closed socket's number is not read from again";
  EXPECT_TRUE(wire.write("never")->value());
}

TEST(TlsStream, ReadsWhileALongAnswerWaitsToBeTaken) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const std::string text = long_text(4 << 20);
  const auto writing = wire.write(text);
  EXPECT_FALSE(*writing);
  wire.deliver(wire.seal("meanwhile"));
  EXPECT_EQ(wire.read()->text, "meanwhile");
  std::string got;
  for (int turn = 0; turn < 10000 && !*writing; ++turn) {
    got += wire.opened();
    wire.run();
  }
  ASSERT_TRUE(*writing);
  EXPECT_FALSE(**writing);
  got += wire.opened();
  EXPECT_TRUE(got == text);
}

// TLS 1.3 lets either side ask for new keys at any time; the answer goes out with what is written next.
TEST(TlsStream, NewKeysInTheMiddleOfBothDirections) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const std::string text = long_text(4 << 20);
  const auto writing = wire.write(text);
  EXPECT_FALSE(*writing);
  ASSERT_EQ(SSL_key_update(wire.client(), SSL_KEY_UPDATE_REQUESTED), 1);
  wire.deliver(wire.seal("with new keys"));
  EXPECT_EQ(wire.read()->text, "with new keys");
  std::string got;
  for (int turn = 0; turn < 10000 && !*writing; ++turn) {
    got += wire.opened();
    wire.run();
  }
  ASSERT_FALSE(wire.write("end")->value());
  got += wire.opened();
  EXPECT_TRUE(got == text + "end");
}

// TLS 1.3 sets no limit to them, and OpenSSL takes all there are within one call.
TEST(TlsStream, NewKeysWithoutEndAreRefused) {
  for (const bool bulk : {false, true}) {
    TlsWire wire;
    ASSERT_TRUE(wire.handshake());
    if (bulk) wire.stream().expect_bulk(kBulkBytes);
    const auto reading = wire.read();
    for (int i = 0; i < 6000 && !reading->ended; ++i) {
      ASSERT_EQ(SSL_key_update(wire.client(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      ASSERT_EQ(SSL_do_handshake(wire.client()), 1);
      wire.deliver(wire.sealed());
      if (i % 100 == 0) wire.run();
    }
    wire.run();
    ASSERT_TRUE(reading->ended);
    EXPECT_TRUE(*reading->ended);
    EXPECT_EQ(reading->text, "");
  }
}

TEST(TlsStream, NewKeysNowAndThenAreNotCountedTogether) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  for (int i = 0; i < 6000; ++i) {
    ASSERT_EQ(SSL_key_update(wire.client(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    wire.deliver(wire.seal("a word"));
    ASSERT_EQ(wire.read_all_now().text, "a word") << i;
  }
}

TEST(TlsStream, GoodbyeWaitsForTheOtherUntilItIsCancelled) {
  TlsWire wire;
  ASSERT_TRUE(wire.handshake());
  const auto parting = wire.shutdown();
  EXPECT_FALSE(*parting);
  EXPECT_EQ(wire.opened(), "");
  EXPECT_EQ(SSL_get_shutdown(wire.client()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
  wire.stream().cancel();
  wire.run();
  ASSERT_TRUE(*parting);
  EXPECT_EQ(**parting, asio::error::operation_aborted);
}

TEST(TlsStream, GoodbyeEndsWithTheOthersWhateverCrossesIt) {
  for (const int crossing : {0, 1, 2}) {
    TlsWire wire;
    ASSERT_TRUE(wire.handshake());
    if (crossing == 1) wire.deliver(wire.seal("a late request"));
    const auto parting = wire.shutdown();
    if (crossing == 2) wire.hang_up();
    if (crossing == 0) {
      EXPECT_FALSE(*parting);
      (void)wire.opened();
      SSL_shutdown(wire.client());
      wire.deliver(wire.sealed());
    }
    wire.run();
    ASSERT_TRUE(*parting) << crossing;
    EXPECT_EQ(!**parting, crossing == 0);
  }
}

TEST(TlsStream, NonsenseInsteadOfAHandshakeIsAnError) {
  for (const bool cut : {false, true}) {
    TlsWire wire;
    const auto shaking = wire.handshake_alone();
    EXPECT_FALSE(*shaking);
    wire.deliver(cut ? std::string("\x16\x03\x01", 3) : std::string(64, '\x7f'));
    if (cut) wire.stop_sending();
    wire.run();
    ASSERT_TRUE(*shaking);
    EXPECT_TRUE(**shaking);
  }
}

}  // namespace
}  // namespace samovar::test
