// What the handshake takes and refuses.
#include <openssl/ssl.h>

#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

class HttpTls : public HttpFixture {};

TEST_F(HttpTls, SpeaksModernVersionsOnly) {
  start(loose());
  Client modern = client();
  ASSERT_TRUE(modern.handshake());
  EXPECT_EQ(modern.tls_version(), "TLSv1.3");
  Client older = client({.tls_max = TLS1_2_VERSION});
  ASSERT_TRUE(older.handshake());
  EXPECT_EQ(older.tls_version(), "TLSv1.2");
  EXPECT_EQ(older.request("GET", "/api/v1/hello").status, 200);
  EXPECT_FALSE(client({.tls_min = TLS1_VERSION, .tls_max = TLS1_1_VERSION, .weak = true}).handshake());
  EXPECT_FALSE(client({.tls_min = TLS1_VERSION, .tls_max = TLS1_VERSION, .weak = true}).handshake());
}

TEST_F(HttpTls, Takes12OnlyWithForwardSecrecyAndAnAead) {
  start(loose());
  for (const char* good :
       {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
    Client one = client({.tls_max = TLS1_2_VERSION, .ciphers = good});
    EXPECT_TRUE(one.handshake()) << good;
    EXPECT_EQ(one.cipher(), good);
  }
  for (const char* weak :
       {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-CCM", "AES128-GCM-SHA256",
        "DHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-NULL-SHA", "PSK-AES128-GCM-SHA256"}) {
    EXPECT_FALSE(client({.tls_max = TLS1_2_VERSION, .ciphers = weak, .weak = true}).handshake()) << weak;
  }
}

TEST_F(HttpTls, AlpnIsHttp11OrNothing) {
  start(loose());
  Client plain = client({.alpn = "http/1.1"});
  ASSERT_TRUE(plain.handshake());
  EXPECT_EQ(plain.alpn(), "http/1.1");
  EXPECT_FALSE(client({.alpn = "h2"}).handshake());
}

TEST_F(HttpTls, PlainHttpIsToldToUseHttps) {
  start(loose());
  Client plain = client();
  plain.send_plain("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = plain.receive_plain();
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 400");
  EXPECT_NE(answer.find("https://"), std::string::npos);
}

TEST_F(HttpTls, NonsenseIsClosed) {
  auto options = loose();
  options.limits.handshake_time_max = 1s;
  start(options);
  Client noise = client();
  constexpr char kNoise[] = "\x16\x03\x01\xff\xff\x00\x01\x02 nothing of sense";
  noise.send_plain(std::string(kNoise, sizeof kNoise - 1));
  noise.receive_plain();
  Client other = client();
  other.send_plain(std::string("\0\1\2\3", 4));
  other.receive_plain();
  EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpTls, StalledHandshakesAreCut) {
  auto options = loose();
  options.limits.handshake_time_max = 300ms;
  start(options);
  Client silent = client();
  Client half = client();
  half.send_plain(std::string("\x16\x03\x01\x02\x00\x01", 6));
  EXPECT_EQ(silent.receive_plain(), "");
  EXPECT_EQ(half.receive_plain(), "");
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST_F(HttpTls, TheCertificateIsReplacedAtRunTime) {
  start(loose());
  Client before = client();
  ASSERT_TRUE(before.handshake());
  EXPECT_EQ(before.certificate_name(), "first");
  const Pem second = make_certificate("second");
  ASSERT_TRUE(server->set_certificate({second.chain, second.key}));
  Client after = client();
  ASSERT_TRUE(after.handshake());
  EXPECT_EQ(after.certificate_name(), "second");
  EXPECT_EQ(before.request("GET", "/api/v1/hello").status, 200) << "running connections go on";
  // A pair that does not fit changes nothing.
  const Pem third = make_certificate("third");
  EXPECT_FALSE(server->set_certificate({third.chain, second.key}));
  EXPECT_FALSE(server->set_certificate({"nonsense", second.key}));
  Client still = client();
  ASSERT_TRUE(still.handshake());
  EXPECT_EQ(still.certificate_name(), "second");
}

}  // namespace
}  // namespace samovar::test
